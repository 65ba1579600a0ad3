"""Notes as resources: their bytes, their revisions as entity tags, and paths that lead nowhere else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from reme.app import open_vault
from reme.errors import ReMeError

from .http_client import JSON, Answer, Face

TEA = "/notes/" + quote("茶.md")
OUTSIDE = [
    "../x.md",
    "a/../../x.md",
    "/etc/x.md",
    "C:\\x.md",
    "C:/x.md",
    "..\\x.md",
    "//h/s/x.md",
    "\\\\h\\s\\x.md",
    "%2e%2e%2fx.md",
    "%2e%2e/x.md",
    "%252e%252e%252fx.md",
    "a\0.md",
    "a\n.md",
    "~/x.md",
    ".git/config",
    ".reme/state.db",
    "a/./b.md",
    "..",
    "",
    "a//b.md",
]


@pytest.fixture
def face(vault: Path) -> Iterator[Face]:
    with Face(vault) as face:
        yield face


def files(root: Path) -> dict[str, bytes]:
    """Every file at or beside a vault, but those of its machinery."""
    found = (path for path in root.parent.rglob("*") if path.is_file() and ".reme" not in path.parts)
    return {str(path.relative_to(root.parent)): path.read_bytes() for path in found}


def test_a_note_is_its_bytes_under_its_revision(face: Face, vault: Path) -> None:
    answer = face.ask("GET", TEA)
    assert (answer.status, answer.body) == (200, (vault / "茶.md").read_bytes())
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["etag"] == f'"{face.call("read", path="茶").json["revision"]}"'
    short = face.ask("GET", "/notes/" + quote("茶"))
    assert (short.body, short.headers["content-location"]) == (answer.body, TEA)
    head = face.ask("HEAD", TEA)
    assert (head.status, head.headers) == (200, answer.headers)
    for known in (answer.headers["etag"], f'"x", W/{answer.headers["etag"]}', "*"):
        unchanged = face.ask("GET", TEA, headers={"If-None-Match": known})
        assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", answer.headers["etag"])
    assert face.ask("GET", TEA, headers={"If-None-Match": '"other"'}).status == 200
    missing = face.ask("GET", "/notes/" + quote("无.md"))
    assert (missing.status, missing.json["kind"]) == (404, "not_found")


def test_bytes_that_are_no_text_are_given_as_they_are(face: Face, vault: Path) -> None:
    (vault / "表.bin").write_bytes(bytes(range(256)))
    (vault / "gbk.txt").write_bytes("绿茶".encode("gb18030"))
    (vault / "page.html").write_text("<script>alert(1)</script>")
    answer = face.ask("GET", "/notes/" + quote("表.bin"))
    assert (answer.body, answer.headers["content-type"]) == (bytes(range(256)), "application/octet-stream")
    assert face.ask("GET", "/notes/gbk.txt").headers["content-type"] == "text/plain"
    assert face.ask("GET", "/notes/page.html").body == b"<script>alert(1)</script>"


def test_a_part_of_a_note_is_read_as_the_operation_reads_it(face: Face) -> None:
    for query, arguments in (
        ("heading=Tea", {"heading": "Tea"}),
        ("start_line=5&end_line=5", {"start_line": 5, "end_line": 5}),
    ):
        answer = face.ask("GET", f"{TEA}?{query}")
        assert answer.json == face.call("read", path="茶", **arguments).json
    words = face.ask("GET", TEA, headers={"Accept": "text/plain"})
    assert words.text.startswith("[茶.md lines 1-7 of 7, revision ")
    assert face.ask("GET", TEA, headers={"Accept": "application/json"}).json["path"] == "茶.md"
    assert face.ask("GET", f"{TEA}?headng=Tea").json["hint"].startswith("Did you mean 'heading'?")
    assert face.ask("GET", f"{TEA}?path=other.md").status == 400
    assert face.ask("GET", f"{TEA}?start_line=x").status == 422
    assert face.ask("GET", f"{TEA}?heading={quote('没有')}").status == 404


def test_a_note_is_made_once_and_replaced_only_by_who_knows_what_it_replaces(face: Face, vault: Path) -> None:
    made = face.ask("PUT", "/notes/" + quote("笔记/新 100% #1?🌱.md"), "# 新\n".encode(), {"If-None-Match": "*"})
    assert made.status == 422, "a name that Windows could not keep"
    place = "/notes/" + quote("笔记/新 100% #1🌱.md")
    made = face.ask("PUT", place, "# 新\n".encode(), {"If-None-Match": "*"})
    assert (made.status, made.headers["location"], made.json["outcome"]) == (201, place, "created")
    assert made.headers["location"].isascii()
    assert (vault / "笔记" / "新 100% #1🌱.md").read_text("utf-8") == "# 新\n"
    assert face.ask("GET", place).headers["etag"] == made.headers["etag"]

    again = face.ask("PUT", place, "# 新\n".encode(), {"If-None-Match": "*"})
    assert (again.status, again.json["outcome"]) == (200, "unchanged")
    other = face.ask("PUT", place, b"# other\n", {"If-None-Match": "*"})
    assert (other.status, other.json["kind"]) == (412, "conflict")
    blind = face.ask("PUT", place, b"# other\n")
    assert (blind.status, blind.json["hint"]) == (428, "Give the ETag that GET returned as If-Match.")

    revision = made.headers["etag"]
    changed = face.ask("PUT", place, "# 改\n".encode(), {"If-Match": revision})
    assert (changed.status, changed.json["outcome"]) == (200, "changed")
    stale = face.ask("PUT", place, b"# late\n", {"If-Match": revision})
    assert (stale.status, stale.json["details"]["actual_revision"]) == (412, changed.headers["etag"].strip('"'))
    assert face.ask("PUT", place, "# 任何\n".encode(), {"If-Match": "*"}).status == 200
    assert face.ask("PUT", "/notes/none.md", b"x", {"If-Match": "*"}).status == 412
    assert face.ask("PUT", "/notes/none.md", b"x", {"If-Match": revision}).status == 412
    assert not (vault / "none.md").exists()
    assert (vault / "笔记" / "新 100% #1🌱.md").read_text("utf-8") == "# 任何\n"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-Match": "abc"}, 400),
        ({"If-Match": '"a", "b"'}, 400),
        ({"If-Match": 'W/"a"'}, 412),
        ({"If-None-Match": '"a"'}, 400),
        ({"If-Match": '"a"', "If-None-Match": "*"}, 400),
        ({"Content-Type": "text/markdown; charset=gb18030"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
    ],
)
def test_conditions_and_types_that_are_not_understood_change_nothing(
    face: Face, vault: Path, headers: dict[str, str], status: int
) -> None:
    before = files(vault)
    for place in (TEA, "/notes/new.md"):
        assert face.ask("PUT", place, b"x", headers).status == status
    assert files(vault) == before


def test_a_note_is_text_in_utf8_whatever_is_said_of_it(face: Face, vault: Path) -> None:
    answer = face.ask("PUT", "/notes/x.md", "绿茶".encode("gb18030"))
    assert (answer.status, answer.json["kind"]) == (422, "invalid_input")
    for number, kind in enumerate(("", "text/markdown", "text/plain; charset=utf-8", "application/octet-stream")):
        assert face.ask("PUT", f"/notes/{number}.md", "\ufeff绿茶\r\n".encode(), {"Content-Type": kind}).status == 201
        assert (vault / f"{number}.md").read_bytes() == "\ufeff绿茶\r\n".encode()


def test_further_arguments_stand_in_the_query(face: Face, vault: Path) -> None:
    dry = face.ask("PUT", "/notes/x.md?dry_run=true", b"x")
    assert (dry.status, dry.json["dry_run"]) == (200, True)
    named = face.ask("PUT", f"/notes/x.md?name={quote('茶')}", b"x\n")
    assert (named.status, (vault / "x.md").read_text("utf-8")) == (201, "---\nname: 茶\n---\nx\n")
    for query in ("content=y", "path=y", "expected_revision=a&expected_revision=b", "nonsense=1"):
        assert face.ask("PUT", f"/notes/x.md?{query}", b"x").status in (400, 422)
    assert face.ask("PUT", "/notes/x.md?expected_revision=b", b"x", {"If-Match": '"a"'}).status == 400


def test_a_note_is_removed_if_it_is_the_one_that_is_known(face: Face, vault: Path) -> None:
    assert face.ask("DELETE", TEA, headers={"If-Match": '"0"'}).status == 412
    assert face.ask("DELETE", f"{TEA}?dry_run=true").json["paths"] == ["茶.md"]
    assert (vault / "茶.md").exists()
    removed = face.ask("DELETE", TEA, headers={"If-Match": face.ask("GET", TEA).headers["etag"]})
    assert (removed.status, removed.json["paths"]) == (200, ["茶.md"])
    assert not (vault / "茶.md").exists()
    assert face.ask("DELETE", TEA).status == 404
    for root in ("/notes/", "/notes/daily"):
        assert face.ask("DELETE", root).status in (403, 404)


def test_a_note_is_changed_in_its_place(face: Face, vault: Path) -> None:
    def patch(headers: dict[str, str] | None = None, **given: Any) -> Answer:
        return face.ask("PATCH", TEA, json.dumps(given).encode(), {**JSON, **(headers or {})})

    added = patch(operation="append", content="绿茶要新。")
    assert (added.status, added.json["outcome"]) == (200, "changed")
    assert added.headers["etag"] == face.ask("GET", TEA).headers["etag"]
    assert patch(operation="edit", find="80", replace="八十").status == 200
    assert patch(operation="frontmatter_update", key="topic", value="饮").status == 200
    text = (vault / "茶.md").read_text("utf-8")
    assert "brewed at 八十 degrees." in text
    assert text.endswith("绿茶要新。\n")
    assert "topic: 饮\n" in text
    assert patch({"If-Match": added.headers["etag"]}, operation="append", content="x").status == 412
    assert patch(operation="append").json["detail"] == "content is missing"
    assert patch(content="x").json["detail"] == "`operation` is missing"
    assert patch(operation="appnd", content="x").json["hint"] == "Did you mean 'append'?"
    for name in ("write", "delete", "read", "move", "reindex", 7, None, ["append"]):
        assert patch(operation=name, content="x").status == 422
    assert patch(operation="append", path="other.md", content="x").status == 400
    assert face.ask("PATCH", TEA, b"x", {"Content-Type": "text/plain"}).status == 415
    assert (vault / "茶.md").read_text("utf-8") == text


@pytest.mark.parametrize("path", OUTSIDE, ids=repr)
def test_no_address_leads_out_of_the_vault(face: Face, vault: Path, path: str) -> None:
    before = files(vault)
    body = json.dumps({"operation": "append", "content": "x"}).encode()
    addresses = {"/notes/" + quote(path), "/notes/" + quote(path, safe=""), "/notes/" + quote(path).replace("%25", "%")}
    for address in addresses:
        for method, sent, headers in (
            ("GET", b"", {}),
            ("HEAD", b"", {}),
            ("PUT", b"x", {}),
            ("DELETE", b"", {}),
            ("PATCH", body, JSON),
        ):
            answer = face.ask(method, address, sent, headers)
            assert (answer.status, answer.json["kind"]) == (403, "refused"), (method, address)
    assert files(vault) == before


ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("read", {}, "path"),
    ("write", {"content": "x"}, "path"),
    ("append", {"content": "x"}, "path"),
    ("edit", {"find": "a", "replace": "b"}, "path"),
    ("delete", {}, "path"),
    ("stat", {}, "path"),
    ("download", {}, "path"),
    ("read_image", {}, "path"),
    ("move", {"target": "new.md"}, "source"),
    ("move", {"source": "茶.md"}, "target"),
    ("copy", {"target": "new.md"}, "source"),
    ("copy", {"source": "茶.md"}, "target"),
    ("frontmatter_read", {}, "path"),
    ("frontmatter_update", {"key": "a", "value": "b"}, "path"),
    ("frontmatter_delete", {"key": "a"}, "path"),
    ("dream", {}, "path"),
]


@pytest.mark.parametrize("path", [path for path in OUTSIDE if path], ids=repr)
def test_no_argument_leads_out_of_the_vault(face: Face, vault: Path, path: str) -> None:
    before = files(vault)
    with open_vault(vault) as app:
        for name, others, parameter in ARGUMENTS:
            answer = face.call(name, **others, **{parameter: path})
            with pytest.raises(ReMeError) as caught:
                app.call(name, {**others, parameter: path}, role="agent", actor="x")
            expected = caught.value.kind, "refused"
            assert (answer.json["kind"], answer.json["kind"]) == expected, (name, parameter)
    assert files(vault) == before


@pytest.mark.parametrize(
    "path",
    ["a..b.md", "..hidden.md", "v1..2/n.md", "a%2Fb.md", "100%.md", "日記/100% #1.md", "a b+c&d=e.md", "a;b,c@d.md"],
)
def test_names_that_only_look_dangerous_are_names(face: Face, vault: Path, path: str) -> None:
    address = "/notes/" + quote(path)
    made = face.ask("PUT", address, "正文\n".encode())
    assert made.status == 201, made.text
    assert (vault / path).read_text("utf-8") == "正文\n"
    answer = face.ask("GET", address)
    assert (answer.status, answer.text) == (200, "正文\n")
    assert all(value.isascii() for value in answer.headers.values())


@pytest.mark.parametrize(
    ("address", "status"),
    [("a%", 400), ("a%zz.md", 400), ("a%e8%8c.md", 400), ("a%2Fb.md", 403), ("%ff", 400), ("a%00.md", 403)],
)
def test_an_address_that_is_not_rightly_encoded_is_refused(face: Face, address: str, status: int) -> None:
    for method in ("GET", "PUT", "DELETE"):
        assert face.ask(method, f"/notes/{address}", b"x").status == status


def test_the_same_rights_hold_as_everywhere(face: Face, vault: Path) -> None:
    digest = "/notes/digest/wiki/" + quote("茶.md")
    assert face.ask("PUT", digest, b"x").json["kind"] == "refused"
    (vault / "digest" / "wiki").mkdir(parents=True)
    (vault / "digest" / "wiki" / "茶.md").write_text("# 茶\n")
    tag = face.ask("GET", digest).headers["etag"]
    assert face.ask("PUT", digest, b"x", {"If-Match": tag}).status == 403
    assert face.ask("DELETE", digest).status == 403
    assert (vault / "digest" / "wiki" / "茶.md").read_text() == "# 茶\n"


def test_what_was_written_is_found_at_once_by_every_thread(face: Face) -> None:
    for number in range(8):
        face.ask("PUT", f"/notes/{number}.md", f"# 秘密{number}\n\nzqx{number}\n".encode())
        hits = face.call("search", query=f"zqx{number}").json["hits"]
        assert hits[0]["path"] == f"{number}.md"
