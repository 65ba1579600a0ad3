"""Incremental ≡ rebuilt: however an index came to be, it holds the same."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reme.index.scan as scanning
from reme.index import rebuild
from tests.index.place import Place

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
    monkeypatch.setattr(scanning, "_BATCH_FILES", batch)
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
