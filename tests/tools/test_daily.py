"""The daily tools: events and their day's index change together, in either form of an event, in any script."""

import os
from datetime import timedelta

import pytest

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.markdown import fingerprint, parse
from reme.revision import revision_of
from reme.tools import (
    append,
    copy,
    daily_create,
    daily_list,
    daily_list_text,
    daily_read,
    daily_reindex,
    daily_status,
    daily_status_text,
    daily_write,
    delete,
    move,
    undo,
    write,
)
from tests.tools.house import NOW, House

INDEX = """---
name: 2026-05-15
description: What happened on this day
---

<!-- reme:begin index -->
- [[daily/2026-05-15/team-lunch.md|Team lunch]] — moved to Thursday
- [[daily/2026-05-15/北京之行.md|北京之行！]]
<!-- reme:end index -->
"""


def age(house: House, path: str, **ago: float) -> None:
    moment = (NOW - timedelta(**ago)).timestamp()
    os.utime(house.root / path, (moment, moment))


def test_an_event_and_its_day(house: House) -> None:
    made = daily_create(house.ask("agent"), "Team lunch", "moved to Thursday", "We decided.\n\n- Ana is away")
    assert (made.path, made.outcome) == ("daily/2026-05-15/team-lunch.md", "created")
    assert house.text(made.path) == (
        "---\nname: Team lunch\ndescription: moved to Thursday\n---\n\nWe decided.\n\n- Ana is away\n"
    )
    daily_create(house.ask(), "北京之行！")
    assert house.text("daily/2026-05-15.md") == INDEX
    again = daily_create(house.ask(), "Team lunch", "moved to Thursday", "We decided.\n\n- Ana is away")
    assert (again.outcome, again.run) == ("unchanged", "")
    with pytest.raises(Conflict, match=r"team-lunch\.md exists already"):
        daily_create(house.ask(), "TEAM lunch", "another")
    foreseen = undo(house.ask(), made.run, dry_run=True)
    assert foreseen.paths == ("daily/2026-05-15.md", "daily/2026-05-15/team-lunch.md")
    undo(house.ask(), made.run)
    assert sorted(house.tree()) == ["daily/2026-05-15.md", "daily/2026-05-15/北京之行.md"]
    assert house.text("daily/2026-05-15.md") == "".join(x for x in INDEX.splitlines(True) if "lunch" not in x)


def test_runs_that_changed_one_index_are_undone_newest_first(house: House) -> None:
    first = daily_create(house.ask(), "茶", "green")
    away = move(house.ask(), first.path, "new/茶.md")
    second = daily_create(house.ask(), "Lunch")
    for run in (second.run, away.run, first.run):
        undo(house.ask(), run)
    assert house.tree() == {}


def test_an_undo_makes_the_index_anew_and_does_not_restore_it(house: House) -> None:
    first = daily_create(house.ask(), "茶", "green").run
    second = daily_create(house.ask(), "Lunch").run
    house.lay({"daily/2026-05-15.md": "by hand\n\n" + house.text("daily/2026-05-15.md") + "\nbelow\n"})
    house.lay({"daily/2026-05-15/put.md": "---\nname: Put there\n---\n"})
    undo(house.ask(), second)
    index = house.text("daily/2026-05-15.md")
    assert index.startswith("by hand\n")
    assert index.endswith("\nbelow\n")
    assert "Put there" in index
    assert "Lunch" not in index
    undone = undo(house.ask(), first)
    assert "daily/2026-05-15.md" in undone.paths
    index = house.text("daily/2026-05-15.md")
    assert ("茶" not in index, "Put there" in index, index.startswith("by hand\n")) == (True, True, True)
    delete(house.ask(), "daily/2026-05-15/put")
    undo(house.ask(), undone.undo_run)
    assert "茶" in house.text("daily/2026-05-15.md")
    assert "Put there" not in house.text("daily/2026-05-15.md")


def test_an_index_that_only_was_generated_goes_with_its_last_event(house: House) -> None:
    runs = [daily_create(house.ask(), name).run for name in ("a", "b", "c")]
    for run in runs:
        undo(house.ask(), run)
    assert house.tree() == {}


def test_the_index_follows_whatever_changes_the_events_of_a_day(house: House) -> None:
    index, around = "daily/2026-05-15.md", "by hand [[daily/2026-05-15/茶|tea]]\n\n"
    for name in ("茶", "Lunch"):
        daily_create(house.ask(), name)
    house.lay({index: around + house.text(index), "a.md": "---\nname: An A\n---\n"})

    def listed() -> list[str]:
        return [line for line in house.text(index).splitlines() if line.startswith("- ")]

    tea, lunch = "- [[daily/2026-05-15/茶.md|茶]]", "- [[daily/2026-05-15/lunch.md|Lunch]]"
    assert listed() == [lunch, tea]
    told = delete(house.ask("agent"), "daily/2026-05-15/茶")
    assert listed() == [lunch]
    assert [(link.path, link.target) for link in told.inbound] == [(index, "daily/2026-05-15/茶")]
    undo(house.ask("agent"), told.run)
    assert listed() == [lunch, tea]
    away = move(house.ask(), "daily/2026-05-15/茶", "daily/2026-05-16/茶")
    assert house.text(index).startswith("by hand [[daily/2026-05-16/茶|tea]]\n")
    assert listed() == [lunch]
    undo(house.ask(), away.run)
    assert (house.text(index).startswith(around), listed()) == (True, [lunch, tea])
    copied = copy(house.ask(), "a", "daily/2026-05-15/a")
    assert listed() == ["- [[daily/2026-05-15/a.md|An A]]", lunch, tea]
    assert write(house.ask(), "daily/2026-05-15/b", "b\n", dry_run=True).run == ""
    made = write(house.ask(), "daily/2026-05-15/b", "---\nname: B\ndescription: of it\n---\n")
    assert listed()[1] == "- [[daily/2026-05-15/b.md|B]] — of it"
    move(house.ask(), "daily/2026-05-15/b", "daily/2026-05-15/c")
    assert listed()[1] == "- [[daily/2026-05-15/c.md|B]] — of it"
    daily_write(house.ask(), "c", "x", material="x.txt")
    assert listed()[1] == "- [[daily/2026-05-15/c/c.md|B]] — of it"
    delete(house.ask(), "daily/2026-05-15/c", recursive=True)
    undo(house.ask(), copied.run)
    assert listed() == [lunch, tea]
    assert made.run


def test_an_index_goes_with_the_event_that_was_the_last_and_a_day_without_one_gets_none(house: House) -> None:
    made = daily_create(house.ask(), "茶")
    gone = delete(house.ask(), made.path)
    assert (house.tree(), gone.inbound) == ({}, ())
    undo(house.ask(), gone.run)
    assert sorted(house.tree()) == ["daily/2026-05-15.md", "daily/2026-05-15/茶.md"]
    away = move(house.ask(), made.path, "notes/茶")
    assert (sorted(house.tree()), away.retargeted) == (["notes/茶.md"], ())
    undo(house.ask(), away.run)
    assert "茶" in house.text("daily/2026-05-15.md")
    write(house.ask(), "daily/2026-05-17/e", "e\n")
    assert "daily/2026-05-17.md" not in house.tree()
    daily_create(house.ask(), "f", date="2026-05-17")
    assert "2026-05-17/e.md|e]]" in house.text("daily/2026-05-17.md")


def test_a_daily_note_of_a_persons_own_is_no_index(house: House) -> None:
    house.lay({"daily/2026-05-15.md": "# Friday\n\nmy words\n", "daily/2026-05-15/e.md": "e\n"})
    run = append(house.ask(), "daily/2026-05-15", "more").run
    undo(house.ask(), run)
    assert house.text("daily/2026-05-15.md") == "# Friday\n\nmy words\n"


def test_a_day_has_the_date_of_the_vaults_zone_or_the_one_given(house: House) -> None:
    given = daily_create(house.ask(), "x", date="2026-02-28", slug="../../etc/passwd", session_id="s1")
    assert given.path == "daily/2026-02-28/etc-passwd.md"
    assert parse(house.data(given.path)).properties["session_id"] == "s1"
    assert daily_create(house.ask(), "y", date="昨天").path == "daily/2026-05-14/y.md"
    for wrong in ("2026-02-30", "Friday", "../2026-05-15"):
        with pytest.raises(InvalidInput, match="is no date"):
            daily_create(house.ask(), "x", date=wrong)


def test_text_with_frontmatter_of_its_own_keeps_it(house: House) -> None:
    made = daily_create(house.ask(), "Tea", "d", "---\nmood: calm  # kept\n---\nbody\n")
    assert house.text(made.path) == "---\nmood: calm  # kept\nname: Tea\ndescription: d\n---\nbody\n"


def test_what_a_person_wrote_around_the_index_stays(house: House) -> None:
    mine = "# 我的一天\r\n\r\n<!-- reme:begin index -->\r\n<!-- reme:end index -->\r\nafterwards"
    house.lay({"daily/2026-05-15.md": mine})
    daily_create(house.ask(), "Tea")
    line = "- [[daily/2026-05-15/tea.md|Tea]]\r\n"
    assert house.text("daily/2026-05-15.md") == mine.replace("<!-- reme:end", line + "<!-- reme:end")


def test_adding_to_an_event(house: House) -> None:
    daily_create(house.ask(), "Tea", "green", "one")
    for given in ("tea", "tea.md", "TEA", "daily/2026-05-15/tea", "daily/2026-05-15/tea.md"):
        daily_write(house.ask("agent"), given, given)
    data = house.text("daily/2026-05-15/tea.md")
    assert data.startswith("---\nname: Tea\ndescription: green\n---\n\none\n\ntea\n\ntea.md\n\nTEA\n\ndaily")
    result = daily_write(house.ask(), "tea", description="black")
    assert "— black" in house.text("daily/2026-05-15.md")
    with pytest.raises(Conflict):
        daily_write(house.ask(), "tea", "x", expected_revision=revision_of(b"old"))
    daily_write(house.ask(), "tea", "x", expected_revision=result.revision)
    with pytest.raises(InvalidInput, match="nothing to write"):
        daily_write(house.ask(), "tea", " ")
    with pytest.raises(NotFound, match="no event 'coffee'") as caught:
        daily_write(house.ask(), "coffee", "x")
    assert caught.value.details["events"] == ["tea"]
    with pytest.raises(Refused):
        daily_write(house.ask(), "../../x", "x")


def test_material_gives_an_event_a_folder(house: House) -> None:
    daily_create(house.ask(), "茶", content="see [[daily/2026-05-15.md]] and [up](../2026-05-15.md)")
    house.lay({"n.md": "[[daily/2026-05-15/茶.md|t]] [[茶]] [t](daily/2026-05-15/茶.md#x)\n"})
    before = house.tree()
    made = daily_write(house.ask("agent"), "茶", "a,b\n1,2\n", material="表.csv")
    assert made.path == "daily/2026-05-15/茶/表.csv"
    assert house.text("daily/2026-05-15/茶/茶.md").endswith(
        "see [[daily/2026-05-15.md]] and [up](../../2026-05-15.md)\n"
    )
    assert house.text("n.md") == "[[daily/2026-05-15/茶/茶.md|t]] [[茶]] [t](daily/2026-05-15/茶/茶.md#x)\n"
    assert "[[daily/2026-05-15/茶/茶.md|茶]]" in house.text("daily/2026-05-15.md")
    assert not (house.root / "daily/2026-05-15/茶.md").exists()
    more = daily_write(house.ask(), "茶", "more", description="d")
    notes = daily_write(house.ask(), "茶", "[[茶]]\n", material="notes.md")
    assert "- [[daily/2026-05-15/茶/茶.md|茶]] — d\n" in house.text("daily/2026-05-15.md")
    assert daily_read(house.ask(), "茶").path == "daily/2026-05-15/茶/茶.md"
    (day,) = daily_list(house.ask()).days
    assert [event.materials for event in day.events] == [("daily/2026-05-15/茶/notes.md", "daily/2026-05-15/茶/表.csv")]
    for wrong, error in (("表.csv", Conflict), ("茶.md", Conflict), ("a/b.md", InvalidInput), ("../x.md", Refused)):
        with pytest.raises(error):
            daily_write(house.ask(), "茶", "x", material=wrong)
    with pytest.raises(Conflict):
        daily_create(house.ask(), "茶", "again")
    for run in (notes.run, more.run, made.run):
        undo(house.ask(), run)
    assert house.tree() == before


def test_material_that_is_moved_in_promotes_in_the_same_change_set(house: House) -> None:
    daily_create(house.ask(), "茶")
    house.lay({"表.csv": "a,b\n", "n.md": "[[表.csv]] [[daily/2026-05-15/茶]]\n", "stuff/x.md": "[[n]]\n"})
    before = house.tree()
    would = move(house.ask("agent"), "表.csv", "daily/2026-05-15/茶/表.csv", dry_run=True)
    assert [file.target for file in would.files] == ["daily/2026-05-15/茶/表.csv", "daily/2026-05-15/茶/茶.md"]
    assert house.tree() == before
    done = move(house.ask("agent"), "表.csv", "daily/2026-05-15/茶/表.csv")
    assert [file.target for file in done.files] == [file.target for file in would.files]
    assert house.text("n.md") == "[[表.csv]] [[daily/2026-05-15/茶/茶]]\n"
    assert "[[daily/2026-05-15/茶/茶.md|茶]]" in house.text("daily/2026-05-15.md")
    (day,) = daily_list(house.ask()).days
    assert [event.materials for event in day.events] == [("daily/2026-05-15/茶/表.csv",)]
    undo(house.ask("agent"), done.run)
    assert house.tree() == before
    moved = move(house.ask(), "stuff", "daily/2026-05-15/茶")
    assert sorted(file.target for file in moved.files) == ["daily/2026-05-15/茶/x.md", "daily/2026-05-15/茶/茶.md"]
    beside = move(house.ask(), "表.csv", "daily/2026-05-15/表.csv")
    assert [file.target for file in beside.files] == ["daily/2026-05-15/表.csv"]


def test_material_that_comes_by_write_or_copy_promotes_too(house: House) -> None:
    daily_create(house.ask(), "a")
    daily_create(house.ask(), "b")
    house.lay({"x.md": "[[daily/2026-05-15/b.md]]\n"})
    made = write(house.ask(), "daily/2026-05-15/a/notes", "about [[daily/2026-05-15/a.md]]\n")
    assert house.text("daily/2026-05-15/a/notes.md") == "about [[daily/2026-05-15/a/a.md]]\n"
    assert made.revision == revision_of(house.data("daily/2026-05-15/a/notes.md"))
    copied = copy(house.ask(), "x", "daily/2026-05-15/b/x.md")
    assert house.text("x.md") == "[[daily/2026-05-15/b/b.md]]\n" == house.text(copied.files[0].target)
    assert sorted(p for p in house.tree() if "/b" in p) == ["daily/2026-05-15/b/b.md", "daily/2026-05-15/b/x.md"]


def test_reindex(house: House) -> None:
    daily_create(house.ask(), "gone")
    daily_create(house.ask(), "kept", "k")
    house.lay(
        {
            "daily/2026-05-15/dropped.md": "---\nname: Dropped in\n---\n",
            "daily/2026-05-15/big/big.md": "---\nname: Big [one]\ndescription: of\n---\n",
            "daily/2026-05-15/big/part.md": "part",
            "daily/2026-05-15/interests.yaml": "topics: []\n",
        }
    )
    (house.root / "daily/2026-05-15/gone.md").unlink()
    result = daily_reindex(house.ask())
    assert (result.outcome, result.events) == ("changed", 3)
    region = house.text("daily/2026-05-15.md").partition("index -->\n")[2]
    assert region == (
        "- [[daily/2026-05-15/big/big.md|Big one]] — of\n"
        "- [[daily/2026-05-15/dropped.md|Dropped in]]\n"
        "- [[daily/2026-05-15/kept.md|kept]] — k\n"
        "<!-- reme:end index -->\n"
    )
    assert daily_reindex(house.ask()).outcome == "unchanged"
    nothing = daily_reindex(house.ask(), "2020-01-01")
    assert (nothing.outcome, nothing.events) == ("unchanged", 0)
    assert not (house.root / "daily/2020-01-01.md").exists()


def test_reading_the_index_and_listing_days(house: House) -> None:
    with pytest.raises(NotFound):
        daily_read(house.ask())
    for day in ("2026-05-13", "2026-05-15", "2026-05-14"):
        daily_create(house.ask(), "Tea", date=day)
    house.lay({"daily/2026-05-12/bare.md": "x\n", "daily/notes/x.md": "no day\n", "daily/2026-13-01/x.md": "no day\n"})
    assert daily_read(house.ask()).path == "daily/2026-05-15.md"
    listing = daily_list(house.ask(), limit=3)
    assert ([day.day for day in listing.days], listing.truncated) == (["2026-05-15", "2026-05-14", "2026-05-13"], True)
    assert [day.index for day in daily_list(house.ask(), "2026-05-12").days] == [None]
    assert daily_list(house.ask(), "2020-01-01").days[0].events == ()
    assert "2026-05-12: 1 event, no index" in daily_list_text(daily_list(house.ask()))


def test_states(house: House) -> None:
    files = {
        "daily/2026-05-15/active.md": "---\nsession_id: a\n---\n",
        "daily/2026-05-15/done.md": "---\nsession_id: a\n---\n",
        "daily/2026-05-14/open.md": "---\nsession_id: b\n---\n",
        "daily/2026-05-01/stale.md": "---\nsession_id: c\n---\n",
        "daily/2026-05-01/digested.md": "words\n",
        "daily/2026-05-01/moved.md": "see [[n]]\n",
        "daily/2026-05-01/changed.md": "then\n",
    }
    lines = [
        f'{{"kind": "digested", "source": "{path}", "revision": "{revision_of(data.encode())}", '
        f'"fingerprint": "{fingerprint(parse(data.encode()))}"}}'
        for path, data in files.items()
        if path.rpartition("/")[2] in ("digested.md", "moved.md", "changed.md")
    ]
    house.lay(files | {"audit/ledger.jsonl": "\n".join([*lines, '{"kind": "digested"}', "{"])})
    house.lay({"daily/2026-05-01/moved.md": "see [[x/n]]\n", "daily/2026-05-01/changed.md": "now\n"})
    for path in files:
        age(house, path, days=10)
    age(house, "daily/2026-05-15/active.md", minutes=5)
    age(house, "daily/2026-05-15/done.md", hours=2)
    age(house, "daily/2026-05-14/open.md", days=2)
    states = {e.path.rpartition("/")[2]: e.state for day in daily_list(house.ask()).days for e in day.events}
    assert states == {
        "active.md": "active",
        "done.md": "done",
        "open.md": "open",
        "stale.md": "stale",
        "digested.md": "digested",
        "moved.md": "digested",
        "changed.md": "stale",
    }
    status = daily_status(house.ask(), limit=2)
    assert status.counts == {"active": 1, "open": 1, "done": 1, "stale": 2, "digested": 2}
    assert ([event.state for event in status.events], status.truncated) == (["active", "done"], True)
    assert daily_status_text(status).startswith("1 active, 1 open, 1 done, 2 stale, 2 digested\n  [active] daily/")
