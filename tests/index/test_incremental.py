"""Incremental ≡ rebuilt: however an index came to be, it holds the same."""

import tempfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reme.index.project as projecting
from reme.index import intake, rebuild
from reme.index.sqlite.connections import rows
from tests.index.place import Place, letters

NAMES = ["tea", "Tea", "绿茶", "plan b", "x.y", "a/b"]
FOLDERS = ["", "sub/", "daily/2026-05-15/", "sub/deep/"]
LINKS = [
    "[[tea]]",
    "[[sub/tea]]",
    "[[绿茶|茶]]",
    "[[plan b#Goals]]",
    "up:: [[x.y]]",
    "![[tea.md]]",
    "[t](../tea.md)",
    "[t](tea.md)",
    "[[a/b]]",
    "[[missing]]",
    "![[pic.png]]",
    "[[#self]]",
]

paths = st.builds(lambda folder, name: f"{folder}{name}.md", st.sampled_from(FOLDERS), st.sampled_from(NAMES))
bodies = st.builds(
    lambda aliases, title, links, words: (
        (f"---\naliases: {aliases}\n" + (f"title: {title}\n" if title else "") + "tags: [t]\n---\n").replace("'", '"')
        + f"# {words}\n\n"
        + " ".join(links)
        + "\n"
    ),
    st.lists(st.sampled_from(NAMES), max_size=2),
    st.sampled_from(["", *NAMES]),
    st.lists(st.sampled_from(LINKS), max_size=4),
    st.sampled_from(["Green tea", "季度预算讨论", "keys keys keys", ""]),
)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("write"), paths, bodies),
        st.tuples(st.just("delete"), paths, st.just("")),
        st.tuples(st.just("rename"), paths, paths),
        st.tuples(st.just("refresh"), st.just(""), st.just("")),
    ),
    max_size=25,
)


@pytest.mark.parametrize("batch", [1_000, 2])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations)
def test_incremental_is_rebuilt(batch: int, monkeypatch: pytest.MonkeyPatch, done: list[tuple[str, str, str]]) -> None:
    monkeypatch.setattr(intake, "_BATCH_FILES", batch)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "vault")
        try:
            for kind, path, argument in done:
                match kind:
                    case "write":
                        place.write(path, argument)
                    case "delete" if (place.root / path).exists():
                        place.delete(path)
                    case "rename" if (place.root / path).exists():
                        (place.root / argument).parent.mkdir(parents=True, exist_ok=True)
                        (place.root / path).replace(place.root / argument)
                    case _:
                        place.refresh()
            place.refresh()
            incremental = place.index.dump()
            assert {count for _, count in incremental["orphans"]} == {0}
            place.index.close()
            for file in place.store.parent.glob("index.db*"):
                file.unlink()
            fresh = Place(place.root)
            try:
                fresh.refresh()
                assert fresh.index.dump() == incremental
                rebuild(fresh.index, fresh.vault)
                assert fresh.index.dump() == incremental
            finally:
                fresh.close()
        finally:
            place.close()


SECTIONS = [
    "Green tea from [[tea]]",
    "季度预算讨论 [[绿茶|茶]]",
    "keys :: in the drawer",
    "A table of [[missing]] things",
]
pieces = st.lists(st.tuples(st.sampled_from(SECTIONS), st.integers(0, 40)), min_size=1, max_size=6)


def _note(title: str, tags: str, sections: list[tuple[str, int]]) -> str:
    body = "\n".join(f"## {said}\n\n{' '.join([said] * times)}\n" for said, times in sections)
    return f"---\ntitle: {title}\ntags: {tags}\n---\n{body}"


def _talk(turns: list[tuple[str, int]]) -> str:
    return "".join(f'{{"role": "user", "content": "{said} {times}"}}\n' for said, times in turns)


tags = st.sampled_from(["[a]", "[a, B, b]", "[b, B, a]", "[a"])
notes = st.builds(_note, st.sampled_from(["tea", "Tea time"]), tags, pieces)
talks = st.builds(_talk, pieces)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(notes, talks), min_size=2, max_size=5), st.sampled_from([500, 2]))
def test_what_stays_of_a_file_is_as_if_made_anew(
    monkeypatch: pytest.MonkeyPatch, versions: list[tuple[str, str]], batch: int
) -> None:
    monkeypatch.setattr(projecting, "_BATCH_CHUNKS", batch)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "vault")
        try:
            for note, talk in versions:
                place.write("a.md", note)
                place.write("session/dialog/t.jsonl", talk)
                place.refresh(deep=True)
            incremental = place.index.dump()
            assert {count for _, count in incremental["orphans"]} == {0}
            rebuild(place.index, place.vault)
            assert place.index.dump() == incremental
        finally:
            place.close()


def test_only_what_an_edit_changes_is_written_anew(tmp_path: Path) -> None:
    place = Place(tmp_path / "vault")
    sections = [f"## Part {letters(number)}\n\n{'tea 绿茶 ' * 100}\n" for number in range(5)]
    place.write("a.md", "\n".join(sections))
    place.refresh()
    sections[2] += "One more line.\n"
    place.write("a.md", "\n".join(sections))
    place.refresh()
    with closing(apsw.Connection(str(place.store))) as db:
        assert rows(db, "SELECT chunks FROM dead") == [(1,)]
        assert rows(db, "SELECT position, chunks FROM placed ORDER BY position") == [(0, 2), (2, 1), (3, 2)]
    place.close()
