"""Refreshing: what is on disk is what is found, whatever happens to the files."""

import os
import shutil
import sys
import unicodedata

import pytest

from reme.errors import Unavailable
from reme.index import (
    Filter,
    IndexSettings,
    Refreshed,
    behind,
    large,
    open_index,
    project,
    rebuild,
    refresh,
    refresh_paths,
)
from reme.paths import VaultPath
from reme.vault import Layout, Vault
from tests.index.place import Place, holding, letters


def paths(place: Place) -> list[str]:
    return [note.path for note in place.index.notes()]


def test_added_modified_removed(place: Place) -> None:
    place.write("a.md", "# A\n\nalpha\n")
    place.write("b.md", "beta\n")
    first = place.refresh()
    assert (first.added, first.modified, first.removed) == (("a.md", "b.md"), (), ())
    place.write("a.md", "# A\n\nanother\n")
    place.delete("b.md")
    place.write("c/c.md", "gamma\n")
    second = place.refresh()
    assert (second.added, second.modified, second.removed) == (("c/c.md",), ("a.md",), ("b.md",))
    third = place.refresh()
    assert (third.added, third.modified, third.removed) == ((), (), ())


def test_nothing_changed_writes_nothing(place: Place) -> None:
    place.write("a.md", "alpha\n")
    place.refresh()
    position = place.index.status().position
    place.refresh()
    assert place.index.status().position == position


def test_who_looks_on_is_told_how_many_files_are_read(place: Place) -> None:
    place.write("a.md", "pear")
    place.write("梨.md", "梨")
    told: list[tuple[str, int, int]] = []
    refresh(place.index, place.vault, progress=lambda *said: told.append(said))
    refresh(place.index, place.vault, progress=lambda *said: told.append(said))
    assert told == [("reading files", 0, 2), ("reading files", 1, 2)]


def test_touch_changes_no_rows(place: Place) -> None:
    place.write("a.md", "alpha\n")
    place.refresh()
    os.utime(place.root / "a.md", (1, 1))
    assert place.refresh().modified == ()
    note = place.index.note(VaultPath("a.md"))
    assert note is not None
    assert note.mtime_ns == 1_000_000_000


def test_p05_indexing_never_writes_to_notes(place: Place) -> None:
    files = {"a.md": b"\xef\xbb\xbf---\r\nname: A\r\n---\r\n- x\r\n", "b.txt": b"\xff\xfe\x00x", "c.jsonl": b"{]\n"}
    for path, data in files.items():
        place.write(path, data)
    before = {path: (place.root / path).stat() for path in files}
    place.refresh()
    rebuild(place.index, place.vault)
    for path, data in files.items():
        after = (place.root / path).stat()
        assert (place.root / path).read_bytes() == data
        assert (after.st_mtime_ns, after.st_ino) == (before[path].st_mtime_ns, before[path].st_ino)
    assert {p.name for p in place.root.iterdir()} == {".reme", *files}


def test_p10_an_edit_that_keeps_size_and_times_is_found(place: Place) -> None:
    file = place.root / "a.md"
    place.write("a.md", "the word is alpha\n")
    place.refresh()
    stat = file.stat()
    with file.open("r+b") as stream:
        stream.write(b"the word is gamma\n")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    if sys.platform == "win32":  # where a change leaves no other trace
        assert place.refresh(deep=True).modified == ("a.md",)
    else:
        assert place.refresh().modified == ("a.md",)
    assert holding(place.index, "gamma")
    with file.open("r+b") as stream:
        stream.write(b"the word is delta\n")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    rebuild(place.index, place.vault)
    assert holding(place.index, "delta")


def test_broken_files_are_recorded_and_stop_nothing(place: Place) -> None:
    place.write("good.md", "good\n")
    place.write("yaml.md", "---\nname: [\n---\nbody word\n")
    place.write("latin.md", "caf\xe9 cr\xe8me br\xfbl\xe9e\n".encode("latin-1"))
    place.write("nul.txt", b"\0\1\2\xff\xfe\xfd")
    place.write("turns.jsonl", '{"role": "user", "text": "tea"}\n{"role": "us\n')
    place.write("picture.png", b"\x89PNG")
    result = place.refresh()
    assert len(result.added) == 6
    assert {problem.path for problem in place.index.problems()} >= {"yaml.md", "turns.jsonl"}
    assert holding(place.index, *place.index.terms("body"))
    picture = place.index.note(VaultPath("picture.png"))
    assert picture is not None
    assert (picture.format, picture.chunks) == ("binary", 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_tried_again(place: Place) -> None:
    place.write("a.md", "alpha\n")
    place.write("b.md", "beta\n")
    (place.root / "a.md").chmod(0)
    place.refresh()
    assert [problem.rule for problem in place.index.problems()] == ["unreadable"]
    position = place.index.position()
    assert place.refresh() == Refreshed()
    assert place.index.position() == position
    (place.root / "a.md").chmod(0o644)
    assert place.refresh().modified == ("a.md",)
    assert place.index.problems() == []


def test_a_file_that_the_disk_does_not_give_locks_nothing_until_it_does(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("a.md", "alpha 梨\n")
    place.write("b.md", "beta\n")

    def broken(_vault: Vault, path: VaultPath) -> object:
        raise Unavailable(f"{path} cannot be read: input/output error")

    with monkeypatch.context() as disk:
        disk.setattr(Vault, "open", broken)
        disk.setattr(Vault, "read", broken)
        place.refresh()
        assert [(p.path, p.rule) for p in place.index.problems()] == [("a.md", "unreadable"), ("b.md", "unreadable")]
        assert behind(place.index, place.vault.scan().files) == set()
        position = place.index.position()
        other = open_index(place.store, Layout(), timeout=0.05)
        with other.writing(settle=False):
            assert place.refresh() == Refreshed()
        other.close()
        refresh_paths(place.index, place.vault, [VaultPath("a.md")])
        assert place.index.position() == position
    assert place.refresh().modified == ("a.md", "b.md")
    assert place.index.problems() == []
    assert holding(place.index, *place.index.terms("梨"))


def test_a_file_that_vanishes_between_scan_and_read_is_no_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("a.md", "alpha\n")
    place.write("b.md", "beta\n")
    read = place.vault.read

    def vanishing(path: VaultPath) -> object:
        if path == "a.md":
            place.delete("a.md")
        return read(path)

    monkeypatch.setattr(place.vault, "read", vanishing)
    assert place.refresh().added == ("b.md",)


@pytest.mark.parametrize("name", ["large.md", "large.txt", "large.json", "large.csv", "large.jsonl", "large.html"])
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_p12_nothing_of_a_large_file_is_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str, encoding: str
) -> None:
    monkeypatch.setattr(large.windows, "__defaults__", (1000,))
    place.close()
    place.index = open_index(place.store, Layout(), IndexSettings(max_bytes=2000))
    lines = [f"第{number}行 {letters(number)} 记忆与知识 [[small]]" for number in range(300)]
    place.write(name, "\n".join(lines).encode(encoding))
    place.write("small.md", "word\n")
    place.refresh()
    for number in (1, 150, 299):
        (key,) = holding(place.index, *place.index.terms(letters(number)))
        chunk = place.index.chunks([key])[key]
        assert lines[number] in chunk.text
        assert chunk.line <= number + 1 <= chunk.end_line
    assert (note := place.index.note(VaultPath(name))) is not None
    assert place.index.status().chunks == note.chunks + 1
    told = {problem.rule for problem in place.index.problems()} - {"dialogue", "encoding"}
    assert told == ({"size"} if name == "large.md" else set())
    assert (VaultPath(name) in place.index.referrers(VaultPath("small.md"))) == (name == "large.md")
    before = place.index.dump()
    rebuild(place.index, place.vault)
    assert place.index.dump() == before
    place.write(name, "short\n")
    place.refresh()
    assert place.index.status().chunks == 2


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("meanwhile", ["edited", "removed", "renamed", "interrupted", "nothing"])
def test_a_large_file_is_taken_in_by_turns(
    place: Place, monkeypatch: pytest.MonkeyPatch, meanwhile: str, known: bool
) -> None:
    """Whatever happens to it between two batches, in the end the index is what a new one would be."""
    monkeypatch.setattr(project, "_BATCH_CHUNKS", 2)
    sections = "\n\n".join(f"# {number}\n\n" + f"{letters(number)} 梨 [[b]] " * 60 for number in range(20))
    place.write("b.md", "[[a]]\n")
    if known:
        place.write("a.md", sections.replace("梨", "桃") + " more" * 2000)
    place.refresh()
    place.write("a.md", sections)
    turns: list[bool] = []

    def between() -> None:
        turns.append(bool(behind(place.index, [file for file in place.vault.scan().files if file.path == "a.md"])))
        if len(turns) != 2:
            return
        match meanwhile:
            case "edited":
                place.write("a.md", sections + "\n\nquince\n")
                refresh_paths(place.index, place.vault, [VaultPath("a.md")])
            case "removed":
                place.delete("a.md")
                refresh_paths(place.index, place.vault, [VaultPath("a.md")])
            case "renamed":
                (place.root / "a.md").rename(place.root / "c.md")
                refresh_paths(place.index, place.vault, [VaultPath("a.md"), VaultPath("c.md")])
            case "interrupted":
                raise KeyboardInterrupt
            case _:
                refresh_paths(place.index, place.vault, [VaultPath("b.md")])

    if meanwhile == "interrupted":
        with pytest.raises(KeyboardInterrupt):
            refresh(place.index, place.vault, between=between)
    else:
        refresh(place.index, place.vault, between=between)
        assert (len(turns) > 2) == (meanwhile == "nothing")
    assert turns[:2] == [True, True]
    place.refresh()
    dump = place.index.dump()
    assert not behind(place.index, place.vault.scan().files)
    rebuild(place.index, place.vault)
    assert place.index.dump() == dump


def test_a_large_file_that_is_no_text_is_told(place: Place) -> None:
    place.close()
    place.index = open_index(place.store, Layout(), IndexSettings(max_bytes=1000))
    place.write("large.md", b"\x00\xff\xfe\x01" * 1000)
    place.refresh()
    assert [problem.rule for problem in place.index.problems()] == ["undecodable"]


def test_p11_symlinks_are_listed_as_skipped_and_not_read(place: Place) -> None:
    place.write("a.md", "alpha\n")
    (place.root / "b.md").symlink_to(place.root / "a.md")
    place.refresh()
    assert [path for path, _ in place.index.skipped()] == ["b.md"]
    (place.root / "b.md").unlink()
    place.refresh()
    assert place.index.skipped() == []


def test_a_path_is_nfc_whatever_the_disk_has(place: Place) -> None:
    name = "Café 北京.md"
    place.write(unicodedata.normalize("NFD", name), "alpha\n")
    place.refresh()
    assert paths(place) == [unicodedata.normalize("NFC", name)]


def test_a_removed_folder_is_forgotten(place: Place) -> None:
    for i in range(5):
        place.write(f"old/{i}.md", f"word{i} [[old/{(i + 1) % 5}]]\n")
    place.write("keep.md", "[[old/1]]\n")
    place.refresh()
    shutil.rmtree(place.root / "old")
    assert len(place.refresh().removed) == 5
    status = place.index.status()
    assert (status.files, status.chunks, status.links, status.unresolved) == (1, 1, 1, 1)


def test_bulk_loads_resolve_links_across_batches(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from reme.index import intake

    monkeypatch.setattr(intake, "_BATCH_FILES", 3)
    for i in range(10):
        place.write(f"n{i}.md", f"[[n{9 - i}]] [[N{(i + 1) % 10}.md]]\n")
    place.refresh()
    assert place.index.status().unresolved == 0
    assert place.index.referrers(VaultPath("n0.md")) == ["n9.md"]


def test_dialogues_are_cut_by_turn(place: Place) -> None:
    place.write(
        "session/dialog/x.jsonl",
        '{"role": "user", "speaker": "Ann", "text": "I adopted a puppy", "at": "2026-05-14T10:00:00"}\n'
        '{"role": "assistant", "text": "恭喜你！", "at": "2026-05-15T10:00:00"}\n',
    )
    place.refresh()
    keys = holding(place.index, "puppi")
    (chunk,) = place.index.chunks(keys).values()
    assert (chunk.speaker, chunk.date, chunk.line, chunk.end_line) == ("Ann", "2026-05-14", 1, 1)
    assert chunk.text.startswith('{"role": "user"')
    assert not holding(place.index, "puppi", wanted=Filter(start_date="2026-05-15"))
    assert len(holding(place.index, "恭喜", wanted=Filter(start_date="2026-05-15"))) == 1


def test_chunks_are_exact_slices_of_the_file(place: Place) -> None:
    text = "---\nname: X\n---\n# One\r\n\r\nalpha 北京\r\n\r\n## Two\n\n" + "gamma 🌱 word. " * 400 + "\nlast"
    place.write("x.md", text)
    place.write("lines.txt", "première ligne\n" * 500)
    place.refresh()
    dumped = place.index.dump()["chunks"]
    assert len(dumped) > 3
    for path, _, _, _, line, end_line, start, end, _, _, chunk in dumped:
        data = (place.root / path).read_bytes()
        assert data[start:end].decode() == chunk
        assert data[:start].count(b"\n") + 1 == line
        assert data[: max(end - 1, start)].count(b"\n") + 1 == end_line


def test_properties_dates_and_tags(place: Place) -> None:
    place.write("daily/2026-05-15/x.md", "---\nname: Event\ntags: [Work/Deep, 茶]\nowner: Ann\n---\n#later text\n")
    place.write("y.md", "---\ntitle: Why\ndate: 2026-01-02\nmeta: {owner: Bob}\n---\nstatus:: open\n")
    place.refresh()
    event, why = place.index.notes()
    assert (event.name, event.date, event.layer, event.tags) == (
        "Event",
        "2026-05-15",
        "daily",
        ("later", "Work/Deep", "茶"),
    )
    assert (why.name, why.date, why.properties["meta"]) == ("Why", "2026-01-02", {"owner": "Bob"})
    assert [n.path for n in place.index.notes(Filter(tags=("work",)))] == ["daily/2026-05-15/x.md"]
    assert [n.path for n in place.index.notes(Filter(where={"meta.owner": "bob"}))] == ["y.md"]
    assert [n.path for n in place.index.notes(Filter(where={"status": "open"}))] == ["y.md"]
    assert [n.path for n in place.index.notes(Filter(end_date="2026-02-01"))] == ["y.md"]
    assert place.index.tags() == [("later", 1), ("Work/Deep", 1), ("茶", 1)]


def test_p13_an_interrupted_first_load_keeps_what_was_done(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from reme.index import intake

    monkeypatch.setattr(intake, "_BATCH_FILES", 3)
    for i in range(10):
        place.write(f"n{i}.md", f"[[n{9 - i}]]\n")
    read = place.vault.read

    def dying(path: VaultPath) -> object:
        if path == "n7.md":
            raise KeyboardInterrupt
        return read(path)

    monkeypatch.setattr(place.vault, "read", dying)
    with pytest.raises(KeyboardInterrupt):
        place.refresh()
    monkeypatch.setattr(place.vault, "read", read)
    assert place.index.status().files == 6
    assert place.refresh().added == ("n6.md", "n7.md", "n8.md", "n9.md")
    assert place.index.status().unresolved == 0
    incremental = place.index.dump()
    rebuild(place.index, place.vault)
    assert place.index.dump() == incremental
