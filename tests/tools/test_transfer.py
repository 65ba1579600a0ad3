"""Bytes in and out: kept once, never changed, every bit as given; pictures told by what they are."""

import base64

import pytest
import yaml

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.revision import revision_of
from reme.search import Origin
from reme.tools import (
    append,
    copy,
    copy_text,
    download,
    edit,
    lint,
    move,
    picture_text,
    read_image,
    undo,
    upload,
    uploaded_text,
    write,
)
from reme.tools.sidecars import recorded_origin
from reme.vault import Role
from tests.tools.house import House

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
BYTES = bytes(range(256)) * 3


def sent(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_upload_and_download_keep_every_bit(house: House) -> None:
    made = upload(house.ask("agent"), sent(BYTES), "数据 1.bin", source="https://example.org/x?a=1: b")
    assert (made.path, made.outcome, made.size) == ("resource/2026-05-15/数据 1.bin", "added", len(BYTES))
    assert house.data(made.path) == BYTES
    assert base64.b64decode(download(house.ask(), made.path).data) == BYTES
    (sighting,) = yaml.safe_load(house.text("resource/2026-05-15/数据 1.bin.meta.yaml"))
    assert sighting["revision"] == revision_of(BYTES) == made.revision
    assert (sighting["name"], sighting["source"], sighting["actor"]) == (
        "数据 1.bin",
        "https://example.org/x?a=1: b",
        "test",
    )
    undo(house.ask(), made.run)
    assert house.tree() == {}


def test_known_content_is_seen_again_not_kept_again(house: House) -> None:
    house.lay({"resource/2026-05-01/old.bin": BYTES})
    first = upload(house.ask("agent"), sent(BYTES), "again.bin")
    second = upload(house.ask("agent"), sent(BYTES), "and again.bin")
    assert (first.path, first.outcome) == (second.path, second.outcome) == ("resource/2026-05-01/old.bin", "known")
    assert sorted(house.tree()) == ["resource/2026-05-01/old.bin", "resource/2026-05-01/old.bin.meta.yaml"]
    sightings = yaml.safe_load(house.text(first.sidecar))
    assert [sighting["name"] for sighting in sightings] == ["again.bin", "and again.bin"]
    assert uploaded_text(second).startswith("known already: resource/2026-05-01/old.bin (768 bytes")


@pytest.mark.parametrize(
    ("role", "said", "recorded"),
    [
        ("person", None, "person"),
        ("person", "web", "web"),
        ("person", "agent", "agent"),
        ("agent", None, "agent"),
        ("agent", "person", "agent"),
        ("agent", "web", "web"),
        ("system", None, "tool"),
        ("system", "agent", "tool"),
    ],
)
def test_who_brought_it_is_recorded_and_a_caller_may_only_lower_it(
    house: House, role: Role, said: Origin | None, recorded: str
) -> None:
    made = upload(house.ask(role), sent("密钥每月更换".encode()), "密钥.txt", origin=said)
    (sighting,) = yaml.safe_load(house.text(made.sidecar))
    assert sighting["origin"] == made.origin == recorded
    assert f"origin {recorded}" in uploaded_text(made)


@pytest.mark.parametrize(
    ("sidecar", "origin"),
    [
        ("- origin: person\n- origin: agent\n", "agent"),
        ("- origin: person\n- name: before origins\n", "web"),
        ("- origin: 人\n", "web"),
        ("origin: tool\n", "tool"),
        ("- : [", "web"),
        ("", "web"),
    ],
)
def test_the_lowest_recorded_origin_counts(sidecar: str, origin: str) -> None:
    assert recorded_origin(sidecar.encode()) == origin


def test_a_name_that_is_taken_is_refused(house: House) -> None:
    upload(house.ask(), sent(b"one"), "a.txt")
    for name in ("a.txt", "A.TXT"):
        with pytest.raises(Conflict):
            upload(house.ask(), sent(b"two"), name)
    assert house.data("resource/2026-05-15/a.txt") == b"one"


@pytest.mark.parametrize("name", ["../x", "a/b", "/x", "C:\\x", ".hidden", "a\0b", "~/x", "x.meta.yaml", "", None])
def test_b71_a_name_leads_nowhere_else(house: House, name: str | None) -> None:
    with pytest.raises((Refused, InvalidInput)):
        upload(house.ask(), sent(b"x"), name)
    assert house.tree() == {}


def test_what_is_no_base64_or_too_large(house: House) -> None:
    with pytest.raises(InvalidInput, match="no base64"):
        upload(house.ask(), "½", "a")
    with pytest.raises(InvalidInput, match="more than"):
        upload(house.ask(), "A" * 43_000_000, "a")
    with pytest.raises(Refused):
        upload(house.ask("curator"), sent(b"x"), "a")
    house.lay({"big.bin": BYTES})
    with pytest.raises(InvalidInput, match="768 bytes, more than 700"):
        download(house.ask(), "big.bin", max_bytes=700)
    with pytest.raises(NotFound):
        download(house.ask(), "gone")


def test_what_is_known_of_a_resource_is_added_to_its_sidecar(house: House) -> None:
    sidecar = upload(house.ask("agent"), sent(BYTES), "数据.bin").sidecar
    before = house.data(sidecar)
    with pytest.raises(InvalidInput, match="list of entries"):
        append(house.ask(), sidecar, "note: 读过了")
    with pytest.raises(Refused, match="only ever appended to"):
        edit(house.ask(), sidecar, "数据", "data")
    run = append(house.ask(), sidecar, "- note: 读过了\n  origin: person").run
    assert house.data(sidecar).startswith(before)
    assert yaml.safe_load(house.text(sidecar))[1] == {"note": "读过了", "origin": "person"}
    undo(house.ask(), run)
    assert house.data(sidecar) == before


def test_an_agent_does_not_say_itself_where_a_resource_is_from(house: House) -> None:
    claim = "- origin: person\n"
    house.lay({"claim.yaml": claim, "resource/2026-05-15/网页.md": "x"})
    sidecar = "resource/2026-05-15/网页.md.meta.yaml"
    for call in (
        lambda: write(house.ask("agent"), sidecar, claim),
        lambda: copy(house.ask("agent"), "claim.yaml", sidecar),
        lambda: move(house.ask("agent"), "claim.yaml", sidecar),
        lambda: write(house.ask("agent"), "resource/2026-05-15/other.md", "x"),
        lambda: copy(house.ask("agent"), "claim.yaml", "resource/2026-05-15/claim.yaml"),
        lambda: move(house.ask("agent"), "claim.yaml", "resource/2026-05-15/claim.yaml"),
    ):
        with pytest.raises(Refused, match=r"may not create .* comes by upload") as refused:
            call()
        assert refused.value.hint == "Bring it in with upload, or write a note in another layer: daily, other."
    assert sorted(house.tree()) == ["claim.yaml", "resource/2026-05-15/网页.md"]
    write(house.ask("person"), sidecar, claim)
    assert recorded_origin(house.data(sidecar)) == "person"


def test_a_resource_that_was_changed_is_told_by_lint(house: House) -> None:
    made = upload(house.ask(), sent(b"truth"), "a.txt")
    house.lay({"n.md": f"[[{made.path}]]\n"})
    assert not lint(house.ask(), rules=["provenance", "resources"]).findings
    house.lay({made.path: "lies"})
    (finding,) = lint(house.ask(), rules=["provenance"]).findings
    assert (finding.path, "changed by another program" in finding.message) == (made.path, True)


def test_pictures(house: House) -> None:
    house.lay(
        {"a.png": PNG, "really.png": b"\xff\xd8\xff\xe0jpeg", "fake.png": b"<svg/>", "w.webp": b"RIFF1234WEBPVP8 "}
    )
    seen = read_image(house.ask(), "a.png")
    assert (seen.media_type, base64.b64decode(seen.data), seen.size) == ("image/png", PNG, len(PNG))
    assert read_image(house.ask(), "really.png").media_type == "image/jpeg"
    assert read_image(house.ask(), "w.webp").media_type == "image/webp"
    assert picture_text(seen).startswith("a.png (")
    with pytest.raises(InvalidInput, match="is no PNG"):
        read_image(house.ask(), "fake.png")
    with pytest.raises(InvalidInput, match="more than 10"):
        read_image(house.ask(), "a.png", max_bytes=10)


def test_copy_of_a_file(house: House) -> None:
    house.lay({"daily/2026-05-15/b.md": "[[c]]\r\n", "resource/2026-05-15/data.csv": "a,b\n", "notes/x.md": "x"})
    result = copy(house.ask(), "daily/2026-05-15/b", "notes/")
    assert [file.target for file in result.files] == ["notes/b.md"]
    assert house.data("notes/b.md") == b"[[c]]\r\n"
    assert copy(house.ask(), "resource/2026-05-15/data.csv", "data").files[0].target == "data.csv"
    assert (
        copy_text(result)
        == f"copied daily/2026-05-15/b.md to notes/b.md (revision {result.files[0].revision}, run {result.run})"
    )


def test_copy_of_a_folder(house: House) -> None:
    house.lay({"d/a.md": "[[b]]\n", "d/子/b.bin": BYTES, "d/.hidden": "h", "e/x.md": "x", "f.md": ""})
    before = house.tree()
    plan = copy(house.ask(), "d", "e", dry_run=True)
    assert [file.target for file in plan.files] == ["e/d/a.md", "e/d/子/b.bin"]
    assert house.tree() == before
    result = copy(house.ask(), "d/", "g")
    assert (house.data("g/a.md"), house.data("g/子/b.bin")) == (b"[[b]]\n", BYTES)
    assert result.left_behind == ("d/.hidden",)
    for target, error in (("g", None), ("d/x", InvalidInput), ("f.md", Conflict), ("../x", Refused)):
        if error:
            with pytest.raises(error):
                copy(house.ask(), "d", target)
    assert copy(house.ask(), "d", "g").files[0].target == "g/d/a.md"
    for source in ("daily", ".", ""):
        (house.root / "daily").mkdir(exist_ok=True)
        with pytest.raises(Refused):
            copy(house.ask(), source, "z")
    with pytest.raises(InvalidInput):
        copy(house.ask(), "d", "z", expected_revision=revision_of(b""))
    undo(house.ask(), result.run)
    assert not [path for path in house.tree() if path.startswith("g/a")]
