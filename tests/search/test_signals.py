"""Signals: used where they are good, named where they are not, never required."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from reme.search import SearchResult, SearchSettings, Signals, search, search_text, traverse
from tests.index.place import NOW, Place

PLAIN = SearchSettings(alpha=None, tau_days=None)
ABSENT = {"communities": "absent", "archived": "absent", "access_log": "absent"}


@pytest.fixture
def place_with_notes(place: Place) -> Place:
    for name in ("a", "b", "c", "d", "e"):
        place.write(f"digest/wiki/{name}.md", "alpha " * (6 - ord(name) + ord("a")) + f"\n\n{name}\n")
    place.refresh()
    return place


def signal(folder: Path, **changes: object) -> None:
    folder.mkdir(exist_ok=True)
    made = {
        "version": 1,
        "computed_at": NOW.isoformat(),
        "communities": {"digest/wiki/a.md": 1, "digest/wiki/d.md": 1, "digest/wiki/e.md": 2},
    }
    (folder / "communities.json").write_text(json.dumps(made | changes))


def ask(place: Place, signals: Signals | None) -> SearchResult:
    return search(place.index, place.clock, PLAIN, "alpha", signals=signals)


def factors(result: SearchResult) -> dict[str, float | None]:
    return {hit.path[-4]: hit.evidence.community for hit in result.hits}


def test_communities_of_the_best_are_preferred(place_with_notes: Place, tmp_path: Path) -> None:
    signal(tmp_path / "meta")
    result = ask(place_with_notes, Signals(tmp_path / "meta"))
    assert factors(result) == {"a": 1.2, "b": 1.0, "c": 1.0, "d": 1.2, "e": 1.0}
    assert result.signals_freshness == ABSENT | {"communities": NOW.isoformat()}
    assert "community=1.20" in search_text(replace(result, full=True))
    best = result.hits[0]
    assert best.score == pytest.approx(best.evidence.base * 1.2)


def test_absent_signals_switch_the_factor_off(place_with_notes: Place, tmp_path: Path) -> None:
    result = ask(place_with_notes, Signals(tmp_path / "nowhere"))
    assert set(factors(result).values()) == {None}
    assert (result.signals_freshness, result.warnings) == (ABSENT, ())
    assert ask(place_with_notes, None).hits == result.hits


@pytest.mark.parametrize(
    "changes",
    [{"version": 2}, {"computed_at": "yesterday"}, {"computed_at": "2026-05-20T00:00:00"}, {"communities": [1]}],
)
def test_broken_foreign_and_new_signals_are_not_used(
    place_with_notes: Place, tmp_path: Path, changes: dict[str, object]
) -> None:
    signal(tmp_path / "meta", **changes)
    result = ask(place_with_notes, Signals(tmp_path / "meta"))
    assert set(factors(result).values()) == {None}
    assert result.signals_freshness == ABSENT | {"communities": "unusable"}
    assert len(result.warnings) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "\0", "[" * 100_000])
def test_what_is_no_json_is_not_used(place_with_notes: Place, tmp_path: Path, text: str) -> None:
    (tmp_path / "communities.json").write_text(text)
    freshness = ask(place_with_notes, Signals(tmp_path)).signals_freshness
    assert freshness == ABSENT | {"communities": "unusable"}


def test_old_signals_are_used_with_a_warning(place_with_notes: Place, tmp_path: Path) -> None:
    signal(tmp_path / "meta", computed_at=(NOW - timedelta(days=15)).isoformat())
    result = ask(place_with_notes, Signals(tmp_path / "meta"))
    assert factors(result)["a"] == 1.2
    assert result.warnings == ("communities are 15 days old",)


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(
    place_with_notes: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals = Signals(tmp_path / "meta")
    signal(tmp_path / "meta")
    assert factors(ask(place_with_notes, signals))["d"] == 1.2
    signal(tmp_path / "meta", communities={"digest/wiki/a.md": 1, "digest/wiki/e.md": "other"})
    assert factors(ask(place_with_notes, signals))["d"] == 1.0
    monkeypatch.setattr(Path, "read_bytes", None)
    assert factors(ask(place_with_notes, signals))["a"] == 1.2


def test_superseded_and_conflicting_statements_are_marked(place: Place) -> None:
    place.write("a.md", "The port is 9000.\n\n> [!superseded] The port is 8000. (until 2026-05-01)\n")
    place.write("b.md", "The port is open.\n\n> [!conflict] The port is closed. — [[daily/x]]\n")
    place.write("c.md", "The port of Hamburg, `[!conflict]`.\n")
    place.refresh()
    result = search(place.index, place.clock, PLAIN, "port")
    assert {hit.path: hit.chunks[0].marks for hit in result.hits} == {
        "a.md": ("superseded",),
        "b.md": ("conflict",),
        "c.md": (),
    }
    assert "--- @1-3 [!superseded] ---" in search_text(replace(result, full=True))
    lines = search_text(result).splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("b.md:1-3 "))
    assert lines[first].endswith(" b [!conflict]")
    assert lines[first + 1 : first + 3] == [
        "  The port is open.",
        "  > [!conflict] The port is closed. — [[daily/x]]",
    ]


@pytest.mark.parametrize(
    ("query", "marks"),
    [
        ("what is the rent", ()),
        ("which tool for the design system", ("conflict",)),
        ("房租", ()),
        ("停车费多少", ("conflict",)),
        ("where does the gym stand", ("superseded",)),
    ],
)
def test_a_mark_is_of_what_was_asked(place: Place, query: str, marks: tuple[str, ...]) -> None:
    place.write(
        "a.md",
        "- The rent is 850 euros a month.\n- We use Figma for the design system.\n\n"
        "> [!conflict] We use Penpot for the design system. — [[daily/the-rent-goes-up.md]]\n\n"
        "- 房租每月三千元。\n- 停车费每月300元。\n\n> [!conflict] 停车费涨到每月350元。 — [[daily/房租.md]]\n",
    )
    place.write("b.md", "- The gym stands on the corner.\n\n> [!superseded] The gym stands at the port.\n")
    place.refresh()
    hit = search(place.index, place.clock, PLAIN, query).hits[0]
    assert hit.chunks[0].marks == marks
    assert ("[!" in search_text(search(place.index, place.clock, PLAIN, query, limit=1))) == bool(marks)


def test_the_archive_is_searched_only_on_request(place: Place) -> None:
    place.write("archive/old.md", "alpha\n")
    place.write("new.md", "alpha\n")
    place.refresh()

    def found(**options: object) -> list[str]:
        result = search(place.index, place.clock, PLAIN, "alpha", **options)  # pyright: ignore[reportArgumentType]
        return [hit.path for hit in result.hits]

    assert found() == ["new.md"]
    assert found(include_archived=True) == ["new.md", "archive/old.md"]
    assert found(layers=["archive"]) == ["archive/old.md"]
    assert found(paths=["archive"]) == ["archive/old.md"]


def archived(folder: Path, *paths: str) -> None:
    folder.mkdir(exist_ok=True)
    made = {"version": 1, "computed_at": NOW.isoformat(), "archived": dict.fromkeys(paths, "2026-05-01")}
    (folder / "archived.json").write_text(json.dumps(made))


def test_what_is_marked_as_archived_is_searched_only_on_request(place: Place, tmp_path: Path) -> None:
    for i in range(400):
        place.write(f"old/n{i}.md", "pear pear pear\n")
    place.write("new.md", "pear and much else that is said in this place [[old/n1]] [[other]]\n")
    place.write("other.md", "nothing\n")
    place.refresh()
    folder = tmp_path / "meta"
    archived(folder, *(f"old/n{i}.md" for i in range(400)))

    def found(**options: object) -> SearchResult:
        return search(
            place.index,
            place.clock,
            PLAIN,
            "pear",
            signals=Signals(folder),
            **options,  # pyright: ignore[reportArgumentType]
        )

    assert found(paths=["old/n7.md"]).hits[0].path == "old/n7.md"
    assert len(found(include_archived=True, limit=50).hits) == 50
    archived(folder, "old/n0.md", "old/n1.md")
    assert "old/n0.md" not in [hit.path for hit in found(limit=100).hits]
    (hit,) = [hit for hit in found(limit=3, paths=["new.md"]).hits if hit.path == "new.md"]
    assert [linked.path for linked in hit.outlinks] == ["other.md"]
    assert found().signals_freshness["archived"] == NOW.isoformat()


def test_the_archive_by_mark_is_left_out_of_walks(place: Place) -> None:
    place.write("a.md", "[[b]] [[archive/c]]\n")
    place.write("b.md", "x\n")
    place.write("archive/c.md", "x\n")
    place.refresh()
    assert [n.path for n in traverse(place.index, ["a"], archived={"b.md"}).nodes] == ["a.md", "b.md", "archive/c.md"]
    walked = traverse(place.index, ["a"], archived={"b.md"}, exclude_archived=True)
    assert [n.path for n in walked.nodes] == ["a.md"]
