"""What goes on while a dream runs, and between dreams: moves, edits, deletions, other dreams."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from reme.actions import DreamReport, DreamSettings, auto_dream, dream_text, read_ledger, stale
from reme.paths import VaultPath
from reme.reason import (
    Candidate,
    Create,
    Evidence,
    Insert,
    Integration,
    Skip,
    SourceLine,
    Unit,
    Update,
)
from reme.tools import daily_status, daily_write, move

from .conftest import MakeRoom, Room
from .test_dream import NODE, NOTE, SOURCE, Scripted, claim, dream, seeded
from .test_memory import Scripted as Speaking
from .test_memory import event, message, remember

PROMOTED = "daily/2026-05-15/jwt/jwt.md"
MORE = "- The JWT keys are held in a safe in Ghent. (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L3|L3]]\n"
OTHER = NOTE.replace(
    "The JWT signing keys rotate every 90 days.", "Sourdough needs twelve hours at 24 degrees."
).replace("The JWT rotation job runs on the staging cluster.", "The bakery opens at seven.")


def learnt(room: Room) -> DreamReport:
    """One night over the note, each line a statement of one node."""
    return dream(room, Scripted(Create((claim("Keys rotate.", 1), claim("The job runs on staging.", 2)))))


# Moves


def promoted(room: Room) -> None:
    """The event gets material, and so a folder of its own."""
    daily_write(room.workspace, "jwt", "A table of all the keys.", date="2026-05-15", material="keys.md")


@pytest.mark.parametrize(
    ("there", "carry"),
    [
        (PROMOTED, promoted),
        ("daily/2026-05-15/renamed.md", lambda room: move(room.workspace, SOURCE, "daily/2026-05-15/renamed.md")),
        (
            "daily/2026-05-15/by-hand.md",
            lambda room: (room.root / SOURCE).rename(room.root / "daily/2026-05-15/by-hand.md"),
        ),
    ],
)
def test_a_moved_event_is_not_dreamt_again(room: Room, there: str, carry: Callable[[Room], object]) -> None:
    seeded(room)
    learnt(room)
    carry(room)
    asked = Scripted(*[Skip("no")] * 3)
    report = dream(room, asked)
    assert there not in report.sources
    assert report.moved == ((SOURCE, there),)
    assert f"{SOURCE} is now {there}" in dream_text(report)
    assert all(source.name != "JWT key rotation" for sources in asked.extracted for source in sources)
    ledger = read_ledger(room.shared.vault)
    assert ledger.digested[VaultPath(there)].fingerprint == ledger.digested[VaultPath(SOURCE)].fingerprint
    assert ledger.taken[VaultPath(there)] == ledger.taken[VaultPath(SOURCE)]
    again = dream(room, Scripted())
    assert (again.sources, again.moved) == ((), ())


def test_only_what_is_new_in_a_moved_event_is_learnt(room: Room) -> None:
    seeded(room)
    learnt(room)
    promoted(room)
    room.write(PROMOTED, room.text(PROMOTED) + MORE)
    asked = Scripted(Skip("no"))
    dream(room, asked)
    lines = next(source.lines for source in asked.extracted[0] if source.name == "JWT key rotation")
    assert [line.known for line in lines] == [True, True, False]
    assert [entry.state for entry in stale(room.workspace).stale] == []


def test_the_provenance_of_a_moved_event_is_verified_under_its_new_path(room: Room) -> None:
    seeded(room)
    learnt(room)
    promoted(room)
    dream(room, Scripted(Skip("no")))
    room.write(PROMOTED, room.text(PROMOTED).replace("every 90 days", "every 30 days"))
    found = stale(room.workspace).stale
    assert [(entry.source, entry.state, entry.statements) for entry in found] == [
        (PROMOTED, "changed", ("Keys rotate.",))
    ]


def test_a_copy_is_another_source(room: Room) -> None:
    seeded(room)
    learnt(room)
    room.write("daily/2026-05-15/copy.md", room.text(SOURCE))
    report = dream(room, Scripted(Skip("no")))
    assert (report.sources, report.moved) == (("daily/2026-05-15/copy.md",), ())


def test_another_note_is_not_taken_for_one_that_is_gone(room: Room) -> None:
    seeded(room)
    learnt(room)
    (room.root / SOURCE).unlink()
    room.write("daily/2026-05-15/bread.md", OTHER)
    report = dream(room, Scripted(Skip("no")))
    assert (report.sources, report.moved) == (("daily/2026-05-15/bread.md",), ())


def test_a_promoted_event_counts_as_digested(room: Room) -> None:
    seeded(room)
    learnt(room)
    promoted(room)
    dream(room, Scripted(Skip("no")))
    assert daily_status(room.workspace).counts["digested"] == 1


# Materials


def test_materials_of_an_event_are_read_with_it(room: Room) -> None:
    room.write("daily/2026-05-15/jwt/jwt.md", NOTE)
    room.write("daily/2026-05-15/jwt/会议.md", "我们决定每季度轮换签名密钥。\n")
    room.write("daily/2026-05-15/jwt/notes.txt", "The keys are held in a safe in Ghent.\n")
    room.write("daily/2026-05-15/jwt/large.txt", "A word too many. " * 5000)
    room.write("daily/2026-05-15/jwt/photo.png", "no text")
    room.write("daily/2026-05-15/loose/left.md", "The gateway was bought in Ghent in 2019.\n")
    report = dream(room, Scripted(Skip("no")))
    assert report.sources == (
        "daily/2026-05-15/jwt/jwt.md",
        "daily/2026-05-15/jwt/notes.txt",
        "daily/2026-05-15/jwt/会议.md",
        "daily/2026-05-15/loose/left.md",
    )


def test_an_event_goes_on_in_its_folder_and_materials_are_no_events(room: Room) -> None:
    said = [message("We rotate the keys.", "2026-05-15T09:00:00+02:00")]
    remember(room, said, reasoner=Speaking([event(("We rotate the keys.", 1))]))
    daily_write(room.workspace, "keys", "All of the keys.", date="2026-05-15", material="about.md")
    asked = Speaking([event(("They rotate at night.", 2), continues=1), event(("Others.", 2))])
    report = remember(room, [*said, message("They rotate at night.", "2026-05-15T09:05:00+02:00")], reasoner=asked)
    assert [open_event.name for open_event in asked.asked[0][1]] == ["Keys"]
    assert [note.path for note in report.notes] == ["daily/2026-05-15/keys/keys.md", "daily/2026-05-15/keys-2.md"]
    assert room.text("daily/2026-05-15/keys/about.md") == "All of the keys."


@pytest.mark.parametrize("link", ["[[resource/../../x.txt]]", "[[resource/%2e%2e/x.txt]]", "[[resource/\x00.txt]]"])
def test_a_link_to_nowhere_does_not_stop_a_dream(room: Room, link: str) -> None:
    room.write(SOURCE, NOTE + f"\nSee {link}.\n")
    assert dream(room, Scripted(Skip("no"))).sources == (SOURCE,)


# Meanwhile


class Interrupted(Scripted):
    """Makes a node of each unit; what shall happen meanwhile happens when the first decision is asked for."""

    def __init__(self, room: Room, happens: Callable[[Room], object], *units: Unit) -> None:
        super().__init__(units=units)
        self.room = room
        self.happens = happens
        self.asked = 0

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        self.asked += 1
        if self.asked == 1:
            self.happens(self.room)
        return Create(tuple(claim(line.text, number) for number, line in enumerate(evidence, start=1)))


TWO = (
    Unit("Keys", "keys", "wiki", "", (Evidence(2, 8),)),
    Unit("Bread", "bread", "wiki", "", (Evidence(1, 8),)),
)


def deleted(room: Room) -> None:
    (room.root / SOURCE).unlink()


def carried_off(room: Room) -> None:
    move(room.workspace, SOURCE, "daily/2026-05-15/elsewhere.md")


def reworded(room: Room) -> None:
    room.write(SOURCE, NOTE.replace("every 90 days", "every month"))


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (deleted, "was moved or deleted while it was read"),
        (carried_off, "was moved or deleted while it was read"),
        (reworded, "was changed while it was read, and no longer says it"),
    ],
)
def test_a_source_that_goes_during_a_run_is_named_and_the_rest_is_done(
    room: Room, happens: Callable[[Room], object], reason: str
) -> None:
    seeded(room)
    room.write("daily/2026-05-15/bread.md", OTHER)
    report = dream(room, Interrupted(room, happens, *TWO))
    assert [(unit.name, unit.outcome) for unit in report.units] == [("Keys", "conflict"), ("Bread", "created")]
    assert report.units[0].reason == f"{SOURCE} {reason}"
    assert room.digest() == ["digest/wiki/bread.md"]
    assert SOURCE not in read_ledger(room.shared.vault).digested
    again = dream(room, Scripted(Skip("no")))
    there = [path for path in room.daily() if path.endswith(".md") and "bread" not in path]
    assert list(again.sources) == there


def test_a_source_that_grows_during_a_run_is_read_again_by_the_next(room: Room) -> None:
    seeded(room)
    only = Unit("Keys", "keys", "wiki", "", (Evidence(1, 8), Evidence(1, 9)))
    report = dream(room, Interrupted(room, lambda r: r.write(SOURCE, NOTE + MORE), only))
    assert [unit.outcome for unit in report.units] == ["created"]
    asked = Scripted(Skip("no"))
    dream(room, asked)
    assert [line.known for line in asked.extracted[0][0].lines] == [True, True, False]
    assert stale(room.workspace).stale == ()


def test_two_dreams_at_once_learn_everything_once(room: Room) -> None:
    seeded(room)
    room.write("daily/2026-05-15/bread.md", OTHER)

    class Named(Scripted):
        """Calls its nodes differently each time, so that no name tells them to be the same."""

        def __init__(self, mark: str) -> None:
            units = [replace(unit, name=f"{unit.name} {mark}", slug=f"{unit.slug}-{mark}") for unit in TWO]
            super().__init__(units=units)

        async def integrate(self, unit, evidence, candidates, complaint=""):  # type: ignore[no-untyped-def,override]
            await asyncio.sleep(0.02)
            return Create(tuple(claim(line.text, number) for number, line in enumerate(evidence, start=1)))

    async def both() -> list[DreamReport]:
        one = DreamSettings(parallel=1)
        runs = (auto_dream(room.workspace, Named(mark), settings=one) for mark in ("a", "b"))
        return list(await asyncio.gather(*runs))

    reports = asyncio.run(both())
    outcomes = sorted((unit.outcome, unit.reason) for report in reports for unit in report.units)
    learnt_elsewhere = ("skipped", "another run has learnt it meanwhile")
    assert outcomes == [("created", ""), ("created", ""), learnt_elsewhere, learnt_elsewhere]
    text = "".join(room.text(path) for path in room.digest() if not path.endswith("_buckets.md"))
    assert text.count("rotate every 90 days") == text.count("Sourdough needs twelve hours") == 1
    assert dream(room, Scripted()).sources == ()


def test_what_another_run_left_of_a_unit_is_decided_again(room: Room) -> None:
    seeded(room)

    def other(room: Room) -> None:
        half = Unit("Half", "half", "wiki", "", (Evidence(1, 8),))
        line = "The JWT signing keys rotate every 90 days."
        asyncio.run(auto_dream(room.workspace, Scripted(Create((claim(line),)), units=(half,))))

    whole = Unit("Whole", "whole", "wiki", "", (Evidence(1, 8), Evidence(1, 9)))
    told: list[str] = []

    class Whole(Interrupted):
        async def integrate(self, unit, evidence, candidates, complaint=""):  # type: ignore[no-untyped-def,override]
            told.append(" / ".join(line.text for line in evidence))
            if len(told) == 1:
                await asyncio.to_thread(other, room)
            return Create(tuple(claim(line.text, number) for number, line in enumerate(evidence, start=1)))

    report = dream(room, Whole(room, other, whole))
    assert [(unit.outcome, unit.statements) for unit in report.units] == [("created", 1)]
    assert told[1] == "The JWT rotation job runs on the staging cluster."
    assert "90 days" not in room.text("digest/wiki/whole.md")


class Steady(Scripted):
    """Adds one statement to the first candidate; the node is changed while it thinks, the first time."""

    def __init__(self, room: Room, change: Callable[[str], str], times: int = 1) -> None:
        super().__init__()
        self.room = room
        self.change = change
        self.times = times
        self.asked = 0

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        self.asked += 1
        if self.asked <= self.times:
            path = "digest/wiki/jwt-keys.md"
            self.room.write(path, self.change(self.room.text(path)))
        return Update(1, "refine", (Insert(len(candidates[0].blocks), claim(evidence[0].text)),))


def test_a_change_that_the_reasoner_does_not_see_is_no_reason_to_ask_again(room: Room) -> None:
    seeded(room, NODE)
    asked = Steady(room, lambda text: text.replace("description: Keys", "description: Keys\npinned: true"))
    report = dream(room, asked)
    assert [unit.outcome for unit in report.units] == ["refined"]
    assert asked.asked == 1
    text = room.text("digest/wiki/jwt-keys.md")
    assert "pinned: true" in text
    assert "every 90 days" in text


def test_a_node_whose_statements_changed_is_decided_again(room: Room) -> None:
    seeded(room, NODE)
    asked = Steady(room, lambda text: text.replace("every 30 days", "every 31 days"))
    report = dream(room, asked)
    assert [unit.outcome for unit in report.units] == ["refined"]
    assert asked.asked == 2
    assert "every 31 days" in room.text("digest/wiki/jwt-keys.md")


def test_a_node_that_keeps_changing_is_given_up_after_three_attempts(room: Room) -> None:
    seeded(room, NODE)
    asked = Steady(room, lambda text: text.replace(" days.", " more days."), times=9)
    report = dream(room, asked)
    assert [(unit.outcome, unit.reason) for unit in report.units] == [("conflict", "its files kept changing")]
    assert asked.asked == 3
    assert SOURCE not in read_ledger(room.shared.vault).digested


def test_a_node_with_a_byte_order_mark_is_updated(room: Room) -> None:
    seeded(room)
    (room.root / "digest/wiki").mkdir(parents=True)
    (room.root / "digest/wiki/jwt-keys.md").write_bytes(b"\xef\xbb\xbf" + NODE.encode())
    asked = Steady(room, lambda text: text, times=0)
    assert [unit.outcome for unit in dream(room, asked).units] == ["refined"]
    assert (room.root / "digest/wiki/jwt-keys.md").read_bytes().startswith(b"\xef\xbb\xbf")


# What nothing took up


def test_statements_that_nothing_took_up_are_listed(room: Room) -> None:
    seeded(room)
    report = dream(room, Scripted(Create((claim("Keys rotate.", 1),))))
    assert [(d.source, d.line, d.text) for d in report.dropped] == [
        (SOURCE, 9, "The JWT rotation job runs on the staging cluster.")
    ]
    assert report.report
    listed = f"not taken up: The JWT rotation job runs on the staging cluster. ({SOURCE}, line 9)"
    assert listed in room.text(report.report)
    assert listed in dream_text(report)


def test_the_list_of_what_nothing_took_up_is_bounded(make_room: MakeRoom) -> None:
    room = make_room(name="many")
    items = "".join(f"- Key number {n} is kept in Ghent. (Ana, 2026-05-15)\n" for n in range(100))
    room.write(SOURCE, "# Facts\n\n" + items)
    report = dream(room, Scripted(Skip("no")))
    assert (len(report.dropped), report.dropped_in_all) == (20, 100)
    assert report.report
    assert room.text(report.report).count("not taken up") == 20
    assert "and 80 more" in room.text(report.report)
