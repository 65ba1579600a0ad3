"""auto_dream: what days teach, worked into the digest without losing a word or a link."""

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Sequence
from datetime import date

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reme.actions import BUCKET_PRESETS, DreamReport, DreamSettings, auto_dream, auto_memory, dream_text
from reme.actions.dream_report import dream_summary
from reme.errors import InvalidInput
from reme.markdown import parse, words
from reme.reason import (
    Bucket,
    Candidate,
    Cite,
    Claim,
    Contradict,
    Create,
    Dispute,
    Elsewhere,
    Evidence,
    Extraction,
    Insert,
    Integration,
    OfflineReasoner,
    Relation,
    Skip,
    SourceLine,
    SourceNote,
    Supersede,
    Topic,
    Unit,
    Update,
)
from reme.revision import revision_of
from reme.vault import history, undo

from .conftest import MakeRoom, Room
from .test_memory import message

OFFLINE = OfflineReasoner()
NUMBERS = itertools.count()
NOTE = """\
---
name: JWT key rotation
description: How keys rotate
---

## Facts

- The JWT signing keys rotate every 90 days. (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L1|L1]]
- The JWT rotation job runs on the staging cluster. (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L2|L2]]
"""
SOURCE = "daily/2026-05-15/jwt.md"

Answer = Integration | Callable[[Sequence[Candidate]], Integration]


class Scripted:
    """Finds one unit of all lines in each source, and places it as it is told."""

    def __init__(
        self, *answers: Answer, bucket: str = "wiki", name: str = "JWT keys", units: Sequence[Unit] | None = None
    ) -> None:
        self.answers = list(answers)
        self.bucket = bucket
        self.name = name
        self.units = units
        self.extracted: list[Sequence[SourceNote]] = []
        self.offered: list[Sequence[Candidate]] = []

    async def extract(
        self, sources: Sequence[SourceNote], buckets: Sequence[Bucket], max_units: int, hint: str = ""
    ) -> Extraction:
        self.extracted.append(sources)
        evidence = tuple(Evidence(n, line.number) for n, source in enumerate(sources, 1) for line in source.lines)
        unit = Unit(self.name, "jwt-keys", self.bucket, "About keys", evidence)
        return Extraction(
            tuple(self.units) if self.units is not None else (unit,), (Topic("Keys", "busy", (), evidence),)
        )

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        self.offered.append(candidates)
        answer = self.answers.pop(0)
        return answer(candidates) if callable(answer) else answer


def dream(room: Room, reasoner: object = OFFLINE, **more: object) -> DreamReport:
    return asyncio.run(auto_dream(room.workspace, reasoner, **more))  # type: ignore[arg-type]


def claim(text: str, *evidence: int) -> Claim:
    return Claim(text, evidence or (1,))


def seeded(room: Room, node: str | None = None) -> str:
    """A day with a note, and a node if one is given."""
    room.write(SOURCE, NOTE)
    if node is not None:
        room.write("digest/wiki/jwt-keys.md", node)
    return SOURCE


NODE = """\
---
name: JWT keys
description: Keys
aliases:
  - signing keys
---

- The keys live in the vault. (Ana, 2026-05-01) — [[daily/2026-05-01/a.md]]
- The keys rotate every 30 days. (Ana, 2026-05-01) — [[daily/2026-05-01/a.md]]

derived_from:: [[daily/2026-05-01/a.md]]
"""


def test_a_changed_day_becomes_a_node(room: Room) -> None:
    seeded(room)
    report = dream(room)
    assert [unit.outcome for unit in report.units] == ["created"]
    node = report.units[0].node
    assert node is not None
    assert node.startswith("digest/wiki/")
    text = room.text(node)
    assert f"- The JWT signing keys rotate every 90 days. (Ana, 2026-05-15) — [[{SOURCE}]]" in text
    assert f"\nderived_from:: [[{SOURCE}]]\n" in text
    assert parse(text.encode()).properties["name"]
    assert "**wiki** (1)" in room.text("digest/_buckets.md")
    assert report.report is not None
    assert f"[[{node}]]" in room.text(report.report)


def test_the_ledger_says_what_came_from_where(room: Room) -> None:
    seeded(room)
    report = dream(room)
    lines = [json.loads(line) for line in room.text("audit/ledger.jsonl").splitlines()]
    assert [line["kind"] for line in lines] == ["derived", "digested"]
    derived, digested = lines
    assert derived["node"] == report.units[0].node
    assert derived["source"] == digested["source"] == SOURCE
    assert derived["revision"] == digested["revision"] == revision_of(NOTE.encode())
    for taken in derived["statements"]:
        assert taken["text"] in NOTE.splitlines()[taken["line"] - 1]
    sets = history(room.shared.vault)
    node_set = next(record for record in sets if report.units[0].node in record.paths)
    assert "audit/ledger.jsonl" in node_set.paths


def test_an_unchanged_day_asks_nobody_and_writes_nothing(room: Room) -> None:
    seeded(room)
    dream(room)
    before = room.files()
    silent = Scripted()
    report = dream(room, silent)
    assert silent.extracted == []
    assert room.files() == before
    assert report.report is None
    assert dream_text(report) == "nothing changed since the last dream"


def test_a_dream_tells_of_earlier_days_that_nothing_was_learnt_from(room: Room) -> None:
    seeded(room)
    room.write("daily/2026-05-02/旧.md", "- 密钥每九十天轮换一次。\n")
    dream(room)
    told = dream_text(dream(room))
    assert told.splitlines() == [
        "nothing changed since the last dream",
        "1 event of earlier days, not learnt from yet: more scan_days would reach it",
    ]
    dream(room, scan_days=14)
    assert dream_text(dream(room)) == "nothing changed since the last dream"


def test_woven_links_and_regenerated_parts_wake_nothing(room: Room) -> None:
    seeded(room)
    dream(room)
    room.write(
        SOURCE,
        NOTE.replace("staging cluster", "[[x|staging cluster]]")
        + "\n<!-- reme:begin x -->\nnew\n<!-- reme:end x -->\n",
    )
    assert dream(room, Scripted()).sources == ()


def test_added_lines_are_offered_with_the_known_ones_marked(room: Room) -> None:
    seeded(room)
    dream(room)
    room.write(SOURCE, NOTE + "- The JWT job failed. (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L3|L3]]\n")
    asked = Scripted(Skip("no"))
    dream(room, asked)
    assert [line.known for line in asked.extracted[0][0].lines] == [True, True, False]


def test_the_next_day_adds_to_the_node(room: Room) -> None:
    seeded(room)
    first = dream(room).units[0].node
    assert first is not None
    before = room.text(first)
    room.write(
        "daily/2026-05-15/more.md",
        "---\nname: JWT signing keys\ndescription: x\n---\n\n## Facts\n\n"
        "- The JWT signing keys rotate every 90 days. (Bo, 2026-05-15) — [[session/dialog/s2.jsonl#L1|L1]]\n"
        "- The JWT signing keys are stored in the HSM of the platform team. (Bo, 2026-05-15)"
        " — [[session/dialog/s2.jsonl#L2|L2]]\n",
    )
    report = dream(room)
    assert [(unit.outcome, unit.node) for unit in report.units] == [("refined", first)]
    after = room.text(first)
    assert (
        f"- The JWT signing keys rotate every 90 days. (Ana, 2026-05-15) — [[{SOURCE}]], [[daily/2026-05-15/more.md]]"
        in after
    )
    assert "HSM of the platform team. (Bo, 2026-05-15) — [[daily/2026-05-15/more.md]]" in after
    assert "derived_from:: [[daily/2026-05-15/more.md]]" in after
    assert len(after) > len(before)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The JWT signing keys rotate every 90 days.", "The JWT signing keys rotate every 30 days."),
        ("JWT 签名密钥每周一轮换一次。", "JWT 签名密钥改到每周四轮换一次。"),
    ],
)
def test_contradictions_stand_side_by_side(room: Room, old: str, new: str) -> None:
    room.write(SOURCE, NOTE.replace("The JWT signing keys rotate every 90 days.", old))
    node = dream(room).units[0].node
    assert node is not None
    later = "daily/2026-05-15/later.md"
    room.write(
        later,
        f"---\nname: JWT key rotation\n---\n\n## Facts\n\n- {new} (Bo, 2026-05-15)"
        " — [[session/dialog/s2.jsonl#L1|L1]]\n",
    )
    report = dream(room)
    assert report.units[0].outcome == "refined"
    text = room.text(node)
    assert f"- {old} (Ana, 2026-05-15) — [[{SOURCE}]]\n\n> [!conflict] {new} (Bo, 2026-05-15) — [[{later}]]\n" in text
    assert "superseded" not in text


HABITS = """\
---
name: 习惯
description: 咖啡
---

- 我每天喝三杯咖啡。 (Ana, 2026-05-01) — [[daily/2026-05-01/a.md]]

derived_from:: [[daily/2026-05-01/a.md]]
"""
KITCHEN = """\
---
name: The kitchen
description: x
---

## Facts

- We repainted the kitchen on Saturday. (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L1|L1]]
- The kitchen walls are sage green. (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L2|L2]]
- 我现在每天只喝一杯咖啡。 (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L3|L3]]
- The keys rotate every 90 days. (Ana, 2026-05-15) — [[session/dialog/s1.jsonl#L4|L4]]
"""


def test_what_changed_amid_other_talk_is_told_where_it_stands(room: Room) -> None:
    room.write(SOURCE, KITCHEN)
    room.write("digest/wiki/jwt-keys.md", NODE)
    room.write("digest/personal/习惯.md", HABITS)
    before = {path: room.text(path) for path in ("digest/wiki/jwt-keys.md", "digest/personal/习惯.md")}
    report = dream(room)
    assert [(unit.outcome, unit.statements) for unit in report.units] == [("created", 2)]
    kitchen = report.units[0].node
    assert kitchen is not None
    assert {(unit.outcome, unit.node, unit.statements) for unit in report.elsewhere} == {
        ("refined", path, 1) for path in before
    }
    assert {(unit.bucket, unit.conflicts) for unit in report.elsewhere} == {("wiki", 1), ("personal", 1)}
    assert "2 other nodes told of" in dream_summary(report)
    assert "(personal): 1 statement, 1 in conflict with what is known" in dream_text(report)
    cited = f"(Ana, 2026-05-15) — [[{SOURCE}]]"
    assert f"> [!conflict] The keys rotate every 90 days. {cited}\n" in room.text("digest/wiki/jwt-keys.md")
    assert f"> [!conflict] 我现在每天只喝一杯咖啡。 {cited}\n" in room.text("digest/personal/习惯.md")
    assert "90 days" not in room.text(kitchen)
    assert "related:: [[digest/personal/习惯.md]]" in room.text(kitchen)
    (together,) = [record for record in history(room.shared.vault) if kitchen in record.paths]
    assert {*before, "audit/ledger.jsonl"} <= set(together.paths), "one change set holds all of a unit"
    assert dream(room).sources == ()
    undo(room.shared.vault, report.run, role="person", actor="test", new_run="undo")
    assert {path: room.text(path) for path in before} == before
    assert kitchen not in room.digest()


def test_edits_elsewhere_are_checked_like_all_others(room: Room) -> None:
    room.write(SOURCE, KITCHEN)
    room.write("digest/personal/习惯.md", HABITS)
    room.write("digest/wiki/jwt-keys.md", NODE)

    def answer(candidates: Sequence[Candidate]) -> Integration:
        keys, habits = (
            next(n for n, one in enumerate(candidates, start=1) if one.name == name) for name in ("JWT keys", "习惯")
        )
        told = (Supersede(1, claim("我现在每天只喝一杯咖啡。", 3)), Insert(9, claim("Walls.", 2)), Cite(1, (7,)))
        edits = (Insert(2, claim("The keys rotate every 90 days.", 4)),)
        elsewhere = (Elsewhere(habits, told), Elsewhere(9, edits), Elsewhere(habits, edits), Elsewhere(keys, edits))
        return Update(keys, "refine", edits, elsewhere=elsewhere)

    report = dream(room, Scripted(answer))
    assert [(unit.outcome, unit.statements) for unit in report.units] == [("refined", 1)]
    assert [(unit.outcome, unit.node) for unit in report.elsewhere] == [("corrected", "digest/personal/习惯.md")]
    told = "\n".join(report.problems)
    assert told.count("is given twice") == 2
    assert "candidate 9 was not offered" in told
    assert "insert: block 9 of digest/personal/习惯.md was not offered" in told
    assert "evidence 7 was not offered" in told
    assert "> [!superseded] 我每天喝三杯咖啡。 (Ana, 2026-05-01)" in room.text("digest/personal/习惯.md")


@pytest.mark.parametrize("known", [False, True])
def test_what_was_corrected_in_one_conversation_stands_side_by_side(room: Room, known: bool) -> None:
    room.write(SOURCE, KITCHEN)
    stated, other = claim("The kitchen walls are sage green.", 2), claim("我现在每天只喝一杯咖啡。", 3)
    disputes = (Dispute(stated, other), Dispute(claim("Nobody said this.", 1), other), Dispute(stated, claim("x", 9)))
    path = "digest/wiki/jwt-keys.md"
    if known:
        room.write(path, NODE)
        report = dream(room, Scripted(Update(1, "refine", (Insert(2, stated),), disputes=disputes)))
    else:
        report = dream(room, Scripted(Create((stated,), disputes=disputes)))
    assert [(unit.node, unit.statements) for unit in report.units] == [(path, 2)]
    cited = f"(Ana, 2026-05-15) — [[{SOURCE}]]"
    assert f"- {stated.text} {cited}\n\n> [!conflict] {other.text} {cited}\n" in room.text(path)
    told = "\n".join(report.problems)
    assert "contradicts what is not stated" in told
    assert "evidence 9 was not offered" in told


@pytest.mark.parametrize("mode", ["dry run", "propose"])
def test_what_is_told_elsewhere_can_be_looked_at_first(room: Room, mode: str) -> None:
    room.write(SOURCE, KITCHEN)
    room.write("digest/personal/习惯.md", HABITS)
    wanted = {"dry_run": True} if mode == "dry run" else {"settings": DreamSettings(mode="propose")}
    report = dream(room, **wanted)
    assert room.text("digest/personal/习惯.md") == HABITS
    assert "+> [!conflict] 我现在每天只喝一杯咖啡。" in report.diff


def test_superseding_keeps_the_old_statement_and_its_source(room: Room) -> None:
    seeded(room, NODE)
    report = dream(
        room, Scripted(Update(1, "correct", (Supersede(2, claim("The JWT signing keys rotate every 90 days.")),)))
    )
    assert [unit.outcome for unit in report.units] == ["corrected"]
    assert (
        f"- The JWT signing keys rotate every 90 days. (Ana, 2026-05-15) — [[{SOURCE}]]\n\n"
        "> [!superseded] The keys rotate every 30 days. (Ana, 2026-05-01) — [[daily/2026-05-01/a.md]] "
        f"(until 2026-05-15) — [[{SOURCE}]]\n\n"
        f"derived_from:: [[daily/2026-05-01/a.md]]\nderived_from:: [[{SOURCE}]]\n"
    ) in room.text("digest/wiki/jwt-keys.md")


def test_a_node_with_crlf_and_own_text_keeps_them(room: Room) -> None:
    mine = NODE.replace("\n\nderived", "\n\nMy own paragraph,\nwith two lines.\n\nderived").replace("\n", "\r\n")
    seeded(room, mine)
    dream(
        room,
        Scripted(
            Update(1, "refine", (Insert(3, claim("The JWT job runs.")), Cite(1, (2,)), Contradict(2, claim("Never."))))
        ),
    )
    data = room.files()["digest/wiki/jwt-keys.md"]
    assert b"\n" not in data.replace(b"\r\n", b"")
    text = data.decode().replace("\r\n", "\n")
    assert "My own paragraph,\nwith two lines.\n\n- The JWT job runs. (Ana, 2026-05-15)" in text
    assert f"- The keys live in the vault. (Ana, 2026-05-01) — [[daily/2026-05-01/a.md]], [[{SOURCE}]]\n" in text


def test_b49_impossible_answers_are_refused_one_by_one_and_the_rest_applied(room: Room) -> None:
    seeded(room, NODE)
    answer = Update(
        1,
        "refine",
        (
            Insert(99, claim("Out of range.")),
            Insert(2, claim("Good.", 1)),
            Cite(7, (1,)),
            Cite(1, (42,)),
            Insert(1, claim("two\nlines")),
            Insert(1, claim("a bell\x00 rang")),
            Insert(1, claim("source:: [[x]]")),
            Supersede(2, claim("First.", 2)),
            Supersede(2, claim("Second.", 2)),
            Insert(1, Claim("No evidence.", ())),
        ),
        (Relation(1), Relation(9), Relation(0)),
    )
    report = dream(room, Scripted(answer))
    text = room.text("digest/wiki/jwt-keys.md")
    assert "- Good. (Ana, 2026-05-15)" in text
    assert "- First. (Ana, 2026-05-15)" in text
    for gone in ("Out of range", "two", "bell", "x]]", "Second", "No evidence"):
        assert gone not in text
    assert report.units[0].statements == 2
    assert len(report.problems) == 11
    assert set(room.digest()) == {"digest/wiki/jwt-keys.md"}
    assert report.report is not None
    assert room.text(report.report).count("not followed") == 11


@pytest.mark.parametrize("number", [0, 2, 99, -1])
def test_an_unknown_candidate_is_refused_and_the_source_read_again(room: Room, number: int) -> None:
    seeded(room, NODE)
    report = dream(room, Scripted(Update(number, "refine", (Insert(1, claim("x y z")),))))
    assert report.units[0].outcome == "refused"
    assert report.finished == ()
    assert room.text("digest/wiki/jwt-keys.md") == NODE
    assert json.loads(room.text("audit/ledger.jsonl").splitlines()[-1])["kind"] == "refused"
    assert dream(room, Scripted(Skip("nothing"))).finished == (SOURCE,)


def test_evidence_that_was_not_offered_is_refused(room: Room) -> None:
    seeded(room)
    units = [
        Unit("JWT keys", "../../x", "nonsense", "s", (Evidence(1, 8), Evidence(1, 77), Evidence(5, 8))),
        Unit("Nothing", "n", "wiki", "s", (Evidence(3, 3),)),
    ]
    report = dream(room, Scripted(Create((claim("The keys rotate."),)), units=units))
    assert [unit.node for unit in report.units] == ["digest/unknown/x.md"]
    assert len(report.problems) == 5


def test_slugs_are_unique_in_all_of_the_digest(room: Room) -> None:
    seeded(room)
    room.write("digest/personal/JWT-Keys.md", "---\nname: Other\n---\n")
    report = dream(room, Scripted(Create((claim("The keys rotate."),))))
    assert report.units[0].node == "digest/wiki/jwt-keys-2.md"


def test_candidates_come_from_all_buckets_and_one_link_further(room: Room) -> None:
    seeded(room, NODE)
    room.write(
        "digest/procedure/rotation.md",
        "---\nname: How to rotate\n---\n\n- Run the job. — [[daily/2026-05-01/a.md]]\n\n[[digest/personal/ana.md]]\n",
    )
    room.write(
        "digest/personal/ana.md",
        "---\nname: Zebra\n---\n\n- Likes tea.\n\nrelated:: [[digest/procedure/rotation.md]]\n",
    )
    asked = Scripted(Skip("no"), name="JWT rotation job")
    dream(room, asked)
    names = {candidate.name: candidate for candidate in asked.offered[0]}
    assert {"JWT keys", "How to rotate"} <= set(names)
    assert "Zebra" in names
    assert names["JWT keys"].blocks == ("The keys live in the vault.", "The keys rotate every 30 days.")
    assert names["JWT keys"].aliases == ("signing keys",)


def test_a_skipped_unit_is_done(room: Room) -> None:
    seeded(room)
    report = dream(room, Scripted(Skip("nothing new")))
    assert report.finished == (SOURCE,)
    assert room.digest() == []
    assert dream(room, Scripted()).sources == ()


def test_nothing_worth_keeping_is_done_too(room: Room) -> None:
    seeded(room)
    assert dream(room, Scripted(units=[])).finished == (SOURCE,)
    assert dream(room, Scripted()).sources == ()


def test_a_dry_run_writes_nothing(room: Room) -> None:
    seeded(room)
    before = room.files()
    report = dream(room, dry_run=True)
    assert report.dry_run
    assert report.units[0].outcome == "created"
    assert room.files() == before
    assert dream(room).units[0].outcome == "created"


def test_what_does_not_fit_waits_and_is_not_lost(room: Room) -> None:
    seeded(room)
    room.write(
        "daily/2026-05-15/bread.md", "## Facts\n\n- The sourdough starter needs rye flour every day. (Bo, 2026-05-15)\n"
    )
    first = dream(room, max_units=1)
    assert (len(first.units), len(first.finished)) == (1, 1)
    second = dream(room, max_units=1)
    assert (len(second.units), len(second.finished)) == (1, 1)
    assert len(room.digest()) == 2
    assert dream(room).sources == ()


def test_the_window_is_scan_days_long(room: Room) -> None:
    for day in ("2026-05-13", "2026-05-14", "2026-05-15", "2026-05-16"):
        room.write(f"daily/{day}/n.md", f"- The build number of {day} is recorded in the wiki.\n")
    assert dream(room, dry_run=True).sources == ("daily/2026-05-14/n.md", "daily/2026-05-15/n.md")
    assert dream(room, dry_run=True, scan_days=3, day=date(2026, 5, 16)).sources == (
        "daily/2026-05-14/n.md",
        "daily/2026-05-15/n.md",
        "daily/2026-05-16/n.md",
    )
    with pytest.raises(InvalidInput):
        dream(room, scan_days=-1)


def test_a_node_changed_meanwhile_is_gathered_again(room: Room) -> None:
    seeded(room, NODE)

    def meddle(candidates: Sequence[Candidate]) -> Integration:
        room.write("digest/wiki/jwt-keys.md", NODE + "\nA person's word.\n")
        return Update(1, "refine", (Insert(2, claim("The JWT job runs.")),))

    report = dream(room, Scripted(meddle, Update(1, "refine", (Insert(2, claim("The JWT job runs.")),))))
    assert report.units[0].outcome == "refined"
    text = room.text("digest/wiki/jwt-keys.md")
    assert "A person's word." in text
    assert "The JWT job runs." in text


def test_a_node_that_keeps_changing_is_given_up_visibly(room: Room) -> None:
    seeded(room, NODE)

    def meddle(candidates: Sequence[Candidate]) -> Integration:
        room.write("digest/wiki/jwt-keys.md", NODE + f"\nWord {next(NUMBERS)}.\n")
        return Update(1, "refine", (Insert(2, claim("The JWT job runs.")),))

    report = dream(room, Scripted(meddle, meddle, meddle))
    assert [unit.outcome for unit in report.units] == ["conflict"]
    assert report.finished == ()
    assert '"kind": "conflict"' in room.text("audit/ledger.jsonl")


def test_vanished_sources_are_reported(room: Room) -> None:
    seeded(room)
    node = dream(room).units[0].node
    (room.root / SOURCE).unlink()
    room.write("daily/2026-05-15/other.md", "- The sourdough starter needs rye flour every day.\n")
    report = dream(room)
    assert report.vanished == ((node, SOURCE),)
    assert "which is gone" in dream_text(report)


def test_one_run_can_be_undone(room: Room) -> None:
    seeded(room)
    before = room.files()
    report = dream(room)
    assert {record.run for record in history(room.shared.vault)} == {report.run}
    undo(room.shared.vault, report.run, role="person", actor="test", new_run="undo")
    assert room.files() == before
    assert dream(room).units[0].outcome == "created"


def test_custom_and_preset_buckets(room: Room) -> None:
    seeded(room)
    room.write(
        "daily/2026-05-15/release.md",
        "## Procedure\n\n- Run the test suite (Ana, 2026-05-15)\n- Tag the commit and push it (Ana, 2026-05-15)\n",
    )
    report = dream(room, settings=DreamSettings(buckets=BUCKET_PRESETS["six"]))
    assert {unit.bucket for unit in report.units} == {"concept", "procedure"}
    room.write("daily/2026-05-15/taste.md", "## Preferences\n\n- I prefer cold brew coffee. (Bo, 2026-05-15)\n")
    odd = DreamSettings(buckets=(Bucket("recipes", "Dishes"),), fallback="misc")
    assert dream(room, settings=odd).units[0].node.startswith("digest/misc/")  # type: ignore[union-attr]


def test_conversations_to_nodes_in_two_languages(room: Room) -> None:
    talk = [
        message(
            "To release, follow these steps:\n"
            "1. Run the test suite\n2. Update the changelog\n3. Tag the commit\n4. Push the tag to GitHub"
        ),
        message("I prefer pnpm over npm for every project."),
        message("我最喜欢喝冷萃咖啡，不加糖。"),
        message("我们决定用 PostgreSQL 存储订单数据。"),
    ]
    asyncio.run(auto_memory(room.workspace, OFFLINE, talk, "s1"))
    report = dream(room, max_units=20)
    buckets = {unit.bucket for unit in report.units}
    assert {"procedure", "personal"} <= buckets
    procedure = next(unit.node for unit in report.units if unit.bucket == "procedure")
    assert procedure is not None
    assert procedure == "digest/procedure/release.md"
    body = room.text(procedure).split("---")[2]
    assert body.index("Run the test suite") < body.index("Update the changelog") < body.index("Push the tag to GitHub")


# Laws on random updates

EVIDENCE = st.lists(st.integers(0, 3), max_size=3).map(tuple)
CLAIMS = st.builds(
    Claim, st.one_of(st.sampled_from(["The keys live in the vault.", "New words."]), st.text(max_size=40)), EVIDENCE
)
BLOCKS = st.integers(-1, 6)
EDITS = st.lists(
    st.one_of(
        st.builds(Insert, BLOCKS, CLAIMS),
        st.builds(Cite, BLOCKS, EVIDENCE),
        st.builds(Supersede, BLOCKS, CLAIMS),
        st.builds(Contradict, BLOCKS, CLAIMS),
    ),
    max_size=6,
).map(tuple)  # fmt: skip
UPDATES = st.builds(
    Update,
    st.integers(1, 2),
    st.sampled_from(["corroborate", "refine", "correct"]),
    EDITS,
    st.lists(
        st.builds(Relation, st.integers(0, 3), st.sampled_from(["related", "part_of", "", "no good"])), max_size=2
    ).map(tuple),
)
BODIES = st.lists(
    st.sampled_from(
        [
            "- a claim (Ana, 2026-05-01) — [[daily/2026-05-01/a.md]]",
            "- [ ] a task with [[digest/wiki/other.md|a link]]",
            "A paragraph\nof two lines with [text](other.md).",
            "> [!conflict] said otherwise (Bo, 2026-05-02) — [[daily/2026-05-02/b.md]]",
            "> a quote\n> goes on",
            "## A heading",
            "1. first\n   - nested [[x]]\n2. second",
            "```\ncode [[no]]\n```",
            "| a | b |\n|---|---|\n| 1 | [[c]] |",
            "part_of:: [[digest/wiki/whole.md]]",
            "中文段落，没有空格。",
        ]
    ),
    max_size=6,
).map(lambda parts: "---\nname: JWT keys\n---\n\n" + "\n\n".join(parts) + ("\n" if len(parts) % 2 else ""))  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BODIES, UPDATES, st.booleans())
@example(
    "---\nname: JWT keys\n---\n\n- [ ] a task with [[digest/wiki/other.md|a link]]\n",
    Update(1, "correct", (Supersede(1, Claim("The keys live in the vault.", (1,))),)),
    False,
)
def test_e1_and_e4_hold_on_random_updates(make_room: MakeRoom, body: str, update: Update, crlf: bool) -> None:
    room = make_room(name=f"vault-{next(NUMBERS)}")
    before = (body.replace("\n", "\r\n") if crlf else body).encode()
    room.write(SOURCE, NOTE)
    (room.root / "digest/wiki").mkdir(parents=True)
    (room.root / "digest/wiki/jwt-keys.md").write_bytes(before)
    report = dream(room, Scripted(update, update, update))
    assert report.units[0].outcome != "conflict"
    assert not report.units[0].reason.startswith("digest/"), "a law was broken, so the edits were wrong"
    old, new = parse(before), parse(room.files()["digest/wiki/jwt-keys.md"])
    assert {(k.target, k.predicate) for k in old.links} <= {(k.target, k.predicate) for k in new.links}
    said = [words(new.text(block.span)) for block in new.blocks]
    for block in old.blocks:
        assert any(words(old.text(block.span)) in text for text in said)


def test_every_sentence_of_the_digest_is_traceable(room: Room) -> None:
    rng = random.Random(7)
    days = ["Monday", "Friday"]
    things = ["staging server", "billing importer", "key rotation job", "sourdough starter", "piano exam"]
    for turn in range(6):
        talk = [
            message(
                f"The {rng.choice(things)} needs {rng.randint(2, 64)} units of care on {rng.choice(days)}.",
                name="Ana",
            )
            for _ in range(6)
        ]
        asyncio.run(auto_memory(room.workspace, OFFLINE, talk, f"s{turn}"))
        dream(room, max_units=20)
    for raw in room.text("audit/ledger.jsonl").splitlines():
        entry = json.loads(raw)
        if entry["kind"] == "derived":
            assert entry["revision"] == revision_of(room.files()[entry["source"]])
            lines = room.text(entry["source"]).splitlines()
            node = room.text(entry["node"])
            for taken in entry["statements"]:
                assert taken["text"] in lines[taken["line"] - 1]
                assert taken["text"] in node
                assert f"[[{entry['source']}]]" in node
