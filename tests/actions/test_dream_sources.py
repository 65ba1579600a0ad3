"""What a dream reads and keeps track of: resources, single files, stale nodes, topics, origin."""

import asyncio

import pytest
import yaml

from reme.actions import DreamSettings, auto_memory, dream_text, proactive, read_ledger, stale
from reme.errors import InvalidInput, NotFound
from reme.index import refresh
from reme.reason import (
    Create,
    Evidence,
    Extraction,
    Insert,
    OfflineReasoner,
    Skip,
    SourceLine,
    Supersede,
    Topic,
    Unit,
    Update,
)
from reme.search import search
from reme.tools import daily_create

from .conftest import Room
from .test_dream import NODE, NOTE, OFFLINE, SOURCE, Scripted, claim, dream, seeded
from .test_memory import message

TEXT = "# Handbook\n\nThe signing keys rotate every 90 days at Northwind.\nBackups run every night at 2:00.\n"


# Resources


def test_a_resource_without_a_card_is_read_once(room: Room) -> None:
    room.write("resource/2026-05-15/handbook.md", TEXT)
    report = dream(room, max_units=50)
    assert report.sources == ("resource/2026-05-15/handbook.md",)
    node = room.text(room.digest()[0])
    assert "derived_from:: [[resource/2026-05-15/handbook.md]]" in node
    assert dream(room).sources == ()


def test_a_resource_that_a_changed_note_links_is_read_whenever_it_is_of(room: Room) -> None:
    room.write("resource/2026-01-02/old.txt", TEXT)
    room.write("daily/2026-05-15/a.md", "- We read the handbook at Northwind. [[resource/2026-01-02/old.txt]]\n")
    assert "resource/2026-01-02/old.txt" in dream(room, max_units=50).sources


def test_a_resource_with_a_card_is_read_through_its_card(room: Room) -> None:
    room.write("resource/2026-05-15/handbook.md", TEXT)
    card = room.write("daily/2026-05-10/card.md", "source:: [[resource/2026-05-15/handbook.md]]\n")
    assert dream(room).sources == ()
    assert card


def test_large_and_binary_resources_are_left(room: Room) -> None:
    room.write("resource/2026-05-15/large.md", TEXT * 10)
    room.write("resource/2026-05-15/picture.png", "no picture")
    assert dream(room, settings=DreamSettings(resource_bytes=100)).sources == ()


# Descriptions


@pytest.mark.parametrize(
    ("name", "said"),
    [("Standup", "We agreed to ship the parcel service on Friday."), ("站会", "我们决定周五发布包裹服务。")],
)
def test_a_note_without_text_states_its_description(room: Room, name: str, said: str) -> None:
    daily_create(room.workspace, name, said)
    report = dream(room, max_units=50)
    assert report.dropped == ()
    (node,) = room.digest()
    assert said in room.text(node)
    assert dream(room).sources == ()
    assert stale(room.workspace).stale == ()


@pytest.mark.parametrize("said", ["We agreed to ship on Friday.", "我们决定周五发布。"])
def test_a_description_states_nothing_beside_a_text_or_of_another_origin(room: Room, said: str) -> None:
    room.write("daily/2026-05-15/a.md", f"---\ndescription: {said}\norigin: web\n---\n")
    room.write("daily/2026-05-15/b.md", f"---\ndescription: {said}\n---\n\nWe moved the shop to Ghent in May.\n")
    dream(room, max_units=50)
    assert not any(said in room.text(node).partition("\n---\n")[2] for node in room.digest())


# One file


def test_one_file_is_read_whenever_it_is_of(room: Room) -> None:
    room.write("daily/2025-01-01/old.md", NOTE)
    seeded(room)
    report = dream(room, Scripted(Create((claim("Keys rotate."),))), path="daily/2025-01-01/old.md")
    assert report.sources == ("daily/2025-01-01/old.md",)
    assert dream(room, Scripted(), path="daily/2025-01-01/old.md").sources == ()


def test_only_sources_can_be_dreamt_of(room: Room) -> None:
    room.write("notes/a.md", NOTE)
    with pytest.raises(InvalidInput, match="nothing to dream of"):
        dream(room, path="notes/a.md")
    with pytest.raises(NotFound):
        dream(room, path="daily/2026-05-15/absent.md")


# Stale nodes


def test_a_source_that_no_longer_says_it_makes_the_node_stale(room: Room) -> None:
    seeded(room)
    dream(room, Scripted(Create((claim("The JWT signing keys rotate every 90 days."),))))
    assert stale(room.workspace).stale == ()
    room.write(SOURCE, NOTE.replace("90 days", "60 days"))
    (entry,) = stale(room.workspace).stale
    assert (entry.state, entry.statements) == ("changed", ("The JWT signing keys rotate every 90 days.",))
    assert entry.node == "digest/wiki/jwt-keys.md"


def test_more_words_in_a_source_and_woven_links_make_nothing_stale(room: Room) -> None:
    seeded(room)
    dream(room, Scripted(Create((claim("The JWT signing keys rotate every 90 days."),))))
    room.write(
        SOURCE, NOTE.replace("signing keys", "[[digest/wiki/x.md|signing keys]]") + "- More. (Ana, 2026-05-15)\n"
    )
    assert stale(room.workspace).stale == ()


def test_a_source_that_is_gone_makes_the_node_stale(room: Room) -> None:
    seeded(room)
    dream(room, Scripted(Create((claim("The JWT signing keys rotate every 90 days."),))))
    (room.root / SOURCE).unlink()
    assert stale(room.workspace).stale[0].state == "gone"


def test_the_next_dream_reads_only_what_changed_again_however_old(room: Room) -> None:
    room.write("daily/2026-01-01/a.md", NOTE)
    room.write("daily/2026-01-01/b.md", NOTE.replace("JWT", "API"))
    for path in ("daily/2026-01-01/a.md", "daily/2026-01-01/b.md"):
        text = "The JWT signing keys rotate every 90 days." if path.endswith("a.md") else "The API job runs."
        dream(room, Scripted(Create((claim(text),)), name=path), path=path)
    room.write("daily/2026-01-01/a.md", NOTE.replace("90 days", "60 days"))
    report = dream(room, Scripted(Skip("seen")))
    assert report.sources == ("daily/2026-01-01/a.md",)
    assert report.stale[0].source == "daily/2026-01-01/a.md"
    assert dream(room, Scripted()).sources == ()


# Topics


class Occupied(Scripted):
    """Finds the topics that it is given."""

    def __init__(self, *topics: tuple[str, tuple[str, ...]]) -> None:
        super().__init__(units=())
        self.topics = topics

    async def extract(self, sources, buckets, max_units, hint=""):  # type: ignore[no-untyped-def,override]
        line = sources[0].lines[0].number
        return Extraction((), tuple(Topic(t, "asked twice", k, (Evidence(1, line),)) for t, k in self.topics))


def test_topics_are_kept_and_read(room: Room) -> None:
    seeded(room)
    report = dream(room, Occupied(("Key rotation", ("keys", "rotation"))))
    assert report.interests == "daily/2026-05-15/interests.yaml"
    result = proactive(room.workspace)
    (topic,) = result.topics
    assert (topic.title, topic.keywords, topic.paths) == ("Key rotation", ("keys", "rotation"), (SOURCE,))
    assert topic.evidence == ("The JWT signing keys rotate every 90 days.",)
    assert yaml.safe_load(room.text("daily/2026-05-15/interests.yaml"))[0]["reason"] == "asked twice"


def test_topics_of_recent_days_are_not_taken_up_again(room: Room) -> None:
    old = "- title: key ROTATION\n  keywords: []\n- title: Else\n  keywords: [runbook, pager]\n"
    room.write("daily/2026-05-12/interests.yaml", old)
    seeded(room)
    report = dream(room, Occupied(("Key rotation", ()), ("On call", ("pager", "runbook", "x")), ("Third", ("y",))))
    assert [topic.title for topic in report.topics] == ["Third"]
    assert report.report is not None
    assert [line for line in room.text(report.report).splitlines() if "topic:" in line] == [
        "- topic: Third (asked twice)"
    ]
    assert [topic.title for topic in proactive(room.workspace).topics] == ["Third"]
    assert [topic.title for topic in proactive(room.workspace, "2026-05-12").topics] == ["key ROTATION", "Else"]


def test_a_day_has_few_topics_and_what_people_wrote_stays(room: Room) -> None:
    own = "# mine\n- title: Own\n  note: kept\n"
    room.write("daily/2026-05-15/interests.yaml", own)
    seeded(room)
    dream(room, Occupied(*((f"T{n}", ()) for n in range(5))))
    assert room.text("daily/2026-05-15/interests.yaml").startswith(own)
    assert len(proactive(room.workspace).topics) == 3


def test_a_day_without_topics_is_named(room: Room) -> None:
    with pytest.raises(NotFound, match="2026-05-01"):
        proactive(room.workspace, "2026-05-01")


# Long nights


class Counting(OfflineReasoner):
    """Keeps how many lines it was shown at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[int] = []

    async def extract(self, sources, buckets, max_units, hint=""):  # type: ignore[no-untyped-def,override]
        self.shown.append(sum(len(source.lines) for source in sources))
        return await super().extract(sources, buckets, max_units, hint)


def long_night(room: Room) -> None:
    for note, thing in enumerate(("kiln", "ferry", "orchard", "果园")):
        lines = (f"- The {thing} number {n} in Ghent needs {n + 7} liters of oil every month.\n" for n in range(600))
        room.write(f"daily/2026-05-15/{note}.md", "".join(lines))


def test_a_long_night_is_shown_in_portions_and_each_line_is_cited(room: Room) -> None:
    long_night(room)
    reasoner = Counting()
    report = dream(room, reasoner, max_units=100)
    assert reasoner.shown == [1200, 1200]
    assert len(report.finished) == 4
    for entry in read_ledger(room.shared.vault).derived:
        lines = room.text(entry.source).splitlines()
        assert all(taken.text in lines[taken.line - 1] for taken in entry.statements)
    assert {topic.paths[0] for topic in report.topics} <= set(report.sources)
    assert dream(room, Counting(), max_units=100).sources == ()


def test_what_is_behind_the_units_of_a_long_night_waits_for_the_next(room: Room) -> None:
    long_night(room)
    reasoner = Counting()
    report = dream(room, reasoner, max_units=1)
    assert reasoner.shown == [1200]
    assert len(report.units) == 1
    assert {"daily/2026-05-15/2.md", "daily/2026-05-15/3.md"}.isdisjoint(report.finished)
    assert "to be read again" in dream_text(report)


# Origin


@pytest.mark.parametrize(("given", "stated"), [({}, "agent"), ({"origin": "web"}, "web"), ({"origin": "tool"}, "tool")])
def test_the_lowest_origin_goes_from_the_conversation_to_the_digest(room: Room, given: dict, stated: str) -> None:
    talk = [
        message("I prefer pnpm over npm for every project."),
        message("Step 1, run pnpm install in version 9.2.", role="assistant"),
        message("Step 2, run pnpm test with version 9.2.", role="assistant"),
    ]
    asyncio.run(auto_memory(room.workspace, OFFLINE, talk, "s1", **given))
    assert f"origin: {stated}\n" in room.text(room.daily()[0])
    dream(room, max_units=20)
    assert all(f"origin: {stated}\n" in room.text(path) for path in room.digest())


def test_a_node_falls_to_the_origin_of_what_it_takes_up_and_never_rises(room: Room) -> None:
    seeded(room, NODE.replace("name: JWT keys\n", "name: JWT keys\norigin: agent\n"))
    room.write(SOURCE, NOTE.replace("name: JWT", "origin: tool\nname: JWT"))
    dream(room, Scripted(Update(1, "refine", (Insert(1, claim("Keys are JWT keys.")),))))
    assert "origin: tool\n" in room.text("digest/wiki/jwt-keys.md")
    room.write(SOURCE, NOTE + "- New words. (Ana, 2026-05-15)\n")
    dream(room, Scripted(Update(1, "refine", (Insert(1, claim("More words.")),))))
    assert "origin: tool\n" in room.text("digest/wiki/jwt-keys.md")


@pytest.mark.parametrize(
    ("beside", "stated"), [("origin: person\n", "person"), ("origin: tool\n", "tool"), ("", "web")]
)
def test_a_resource_is_of_the_web_unless_its_metadata_says_more(room: Room, beside: str, stated: str) -> None:
    room.write("resource/2026-05-15/handbook.md", TEXT)
    if beside:
        room.write("resource/2026-05-15/handbook.md.meta.yaml", beside)
    dream(room, max_units=20)
    assert f"origin: {stated}\n" in room.text(room.digest()[0])


def test_origin_can_be_searched_for(room: Room) -> None:
    asyncio.run(auto_memory(room.workspace, OFFLINE, [message("I prefer pnpm over npm for work.")], "s1"))
    refresh(room.shared.index, room.shared.vault)
    shared = room.shared
    found = search(shared.index, shared.clock, shared.search, "pnpm", layers=["daily"], where={"origin": "person"})
    assert len(found.hits) == 1


# Several supersessions


def test_several_blocks_are_superseded_at_once_and_again(room: Room) -> None:
    seeded(room, NODE)
    first = Update(
        1, "correct", (Supersede(1, claim("Keys live in the KMS.")), Supersede(2, claim("They rotate daily.", 2)))
    )
    assert dream(room, Scripted(first)).units[0].outcome == "corrected"
    room.write(SOURCE, NOTE + "- Newer words. (Ana, 2026-05-16)\n")
    second = Update(1, "correct", (Supersede(1, claim("Keys live in the HSM.", 3)),))
    dream(room, Scripted(second))
    text = room.text("digest/wiki/jwt-keys.md")
    lines = [line for line in text.splitlines() if line.startswith(("- ", "> "))]
    assert [line.split(" (")[0] for line in lines] == [
        "- Keys live in the HSM.",
        "> [!superseded] Keys live in the KMS.",
        "> [!superseded] The keys live in the vault.",
        "- They rotate daily.",
        "> [!superseded] The keys rotate every 30 days.",
    ]
    assert "(until 2026-05-16)" in text


def test_one_claim_may_supersede_several_blocks(room: Room) -> None:
    seeded(room, NODE)
    new = claim("Keys rotate daily in the KMS.")
    dream(room, Scripted(Update(1, "correct", (Supersede(1, new), Supersede(2, new)))))
    text = room.text("digest/wiki/jwt-keys.md")
    assert text.count("- Keys rotate daily in the KMS.") == 1
    assert text.count("> [!superseded]") == 2
    assert "every 30 days" in text
    assert "live in the vault" in text


def test_a_conflict_can_be_settled_by_superseding_it(room: Room) -> None:
    node = (
        NODE.replace("days. (Ana", "days. (Ana", 1)
        + "\n> [!conflict] The keys rotate every 60 days. (Bo, 2026-05-02) — [[daily/2026-05-02/b.md]]\n"
    )
    seeded(room, node)
    dream(
        room,
        Scripted(
            lambda found: Update(1, "correct", (Supersede(len(found[0].blocks), claim("They rotate every 90 days.")),))
        ),
    )
    text = room.text("digest/wiki/jwt-keys.md")
    assert "> [!superseded] The keys rotate every 60 days." in text
    assert "[!conflict]" not in text


# Several at once


class Slow(Scripted):
    """Counts how many decisions are asked for at the same time."""

    def __init__(self, units: list[Unit]) -> None:
        super().__init__(units=units)
        self.now = self.most = 0

    async def integrate(self, unit: Unit, evidence, candidates, complaint=""):  # type: ignore[no-untyped-def,override]
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        line: SourceLine = evidence[0]
        known = [n for n, c in enumerate(candidates, 1) if c.name == unit.name]
        said = claim(f"{unit.summary}: {line.text}")
        return Update(known[0], "refine", (Insert(0, said),)) if known else Create((said,))


@pytest.mark.parametrize("parallel", [1, 3, 8])
def test_units_are_decided_at_once_and_one_node_is_never_made_twice(room: Room, parallel: int) -> None:
    seeded(room)
    units = [
        Unit("Same" if n % 2 else f"Other {n}", "same" if n % 2 else f"o{n}", "wiki", f"U{n}", (Evidence(1, 8),))
        for n in range(6)
    ]
    reasoner = Slow(units)
    report = dream(room, reasoner, settings=DreamSettings(parallel=parallel, max_units=10))
    assert reasoner.most <= parallel
    assert (reasoner.most > 1) == (parallel > 1)
    assert [unit.outcome for unit in report.units].count("created") == 4
    assert sorted(room.digest()) == [f"digest/wiki/{slug}.md" for slug in ("o0", "o2", "o4", "same")]
    assert all(f"U{n}: " in room.text("digest/wiki/same.md") for n in (1, 3, 5))
    assert SOURCE in read_ledger(room.shared.vault).digested
