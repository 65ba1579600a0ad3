"""A reasoner that answers anything at all: whatever it says, laws hold and every run can be taken back.

The laws one by one are in `test_laws`.
"""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reme.actions import DreamSettings, read_ledger
from reme.actions.runs import NODE_LAWS, commit_as_system
from reme.errors import Refused, Unavailable
from reme.markdown import parse, words
from reme.paths import VaultPath
from reme.reason import (
    Bucket,
    Candidate,
    Claim,
    Create,
    Event,
    Evidence,
    Extraction,
    Insert,
    Integration,
    Message,
    OpenEvent,
    Relation,
    Skip,
    SourceLine,
    SourceNote,
    Statement,
    Supersede,
    Topic,
    Unit,
    Update,
)
from reme.revision import revision_of
from reme.vault import Put, undo

from .conftest import MakeRoom, Room
from .test_dream import CLAIMS, EDITS, NODE, NOTE, SOURCE, dream
from .test_memory import message, remember

NUMBERS = itertools.count()
NAMES = st.one_of(
    st.sampled_from(["JWT keys", "Other", "", "../x", "a/b", "密钥", "con", "x" * 300]), st.text(max_size=20)
)
EVIDENCE = st.lists(st.builds(Evidence, st.integers(-1, 3), st.integers(-1, 12)), max_size=4).map(tuple)
UNITS = st.builds(
    Unit, NAMES, NAMES, st.sampled_from(["wiki", "personal", "", "nowhere", "../up"]), NAMES, EVIDENCE,
    st.lists(NAMES, max_size=2).map(tuple),
)  # fmt: skip
RELATIONS = st.lists(
    st.builds(Relation, st.integers(-1, 4), st.sampled_from(["related", "", "no good", "a:: [[x]]"])), max_size=3
).map(tuple)
DECISIONS = st.one_of(
    st.builds(Create, st.lists(CLAIMS, max_size=3).map(tuple), RELATIONS),
    st.builds(Update, st.integers(-1, 4), st.sampled_from(["corroborate", "refine", "correct"]), EDITS, RELATIONS),
    st.builds(Skip, st.text(max_size=20)),
)
TOPICS = st.lists(st.builds(Topic, NAMES, NAMES, st.lists(NAMES, max_size=3).map(tuple), EVIDENCE), max_size=3).map(
    tuple
)


class Adversary:
    """Gives the answers that were drawn, one after the other."""

    def __init__(self, extraction: Extraction, decisions: Sequence[Integration]) -> None:
        self.extraction = extraction
        self.decisions = itertools.cycle(decisions)

    async def extract(
        self, sources: Sequence[SourceNote], buckets: Sequence[Bucket], max_units: int, hint: str = ""
    ) -> Extraction:
        return self.extraction

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        return next(self.decisions)


def edges(data: bytes) -> set[tuple[str | None, str]]:
    return {(link.predicate, link.target) for link in parse(data).links}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(Extraction, st.lists(UNITS, max_size=4).map(tuple), TOPICS, st.just(())),
    st.lists(DECISIONS, min_size=1, max_size=4),
    st.sampled_from(["auto", "propose"]),
    st.booleans(),
)
def test_laws_hold_and_undo_restores_every_byte(
    make_room: MakeRoom, extraction: Extraction, decisions: list[Integration], mode: str, crlf: bool
) -> None:
    room = make_room(name=f"vault{next(NUMBERS)}")
    room.write(SOURCE, NOTE)
    node = NODE + "\nA paragraph\nof two lines with [text](other.md) and [[daily/2026-05-01/a.md]].\n"
    room.write("digest/wiki/jwt-keys.md", node.replace("\n", "\r\n") if crlf else node)
    room.write("digest/personal/other.md", "---\nname: Other\n---\n\nJWT keys of others. [[daily/2026-05-02/b.md]]\n")
    before = room.files()
    run = dream(room, Adversary(extraction, decisions), settings=DreamSettings(mode=mode)).run  # type: ignore[arg-type]
    after = room.files()
    for path, data in before.items():
        if path.startswith("digest/"):
            assert edges(data) <= edges(after[path]), "E-1"
            kept = words(after[path].decode())
            assert all(
                words(parse(data).text(block.span)) in kept for block in parse(data).blocks if block.kind != "quote"
            ), "E-4"
        else:
            assert after[path] == data, "E-3"
    for path in after.keys() - before.keys():
        assert path.startswith(("digest/", "audit/", "daily/2026-05-15/interests.yaml"))
        if path.startswith("digest/") and not path.endswith("_buckets.md"):
            assert path.split("/")[1] in ("wiki", "personal", "procedure", "unknown")
            assert any(target.startswith("daily/") for _, target in edges(after[path])), "P-1"
    undo(room.shared.vault, run, role="person", actor="test", new_run=room.shared.vault.new_id())
    assert room.files() == before


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (NODE.replace("The keys live in the vault.", "Keys."), "keep-words"),
        (NODE.replace("[[daily/2026-05-01/a.md]]", "a"), "keep-links"),
        (NODE.replace("derived_from:: ", ""), "keep-links"),
    ],
)
def test_a_body_that_keeps_every_link_but_drops_the_prose_is_refused(room: Room, broken: str, law: str) -> None:
    path = room.write("digest/wiki/jwt-keys.md", NODE)
    with pytest.raises(Refused) as refused:
        commit_as_system(room.workspace, [Put(path, broken.encode(), revision_of(NODE.encode()), NODE_LAWS)], "try")
    assert refused.value.details["rule"] == law
    assert room.text(VaultPath(path)) == NODE


# What a model may answer, played


class Failing(Adversary):
    """Answers so many times, and then not at all, as a provider does whose replies cannot be read."""

    def __init__(self, extraction: Extraction, decisions: Sequence[Integration], answers: int) -> None:
        super().__init__(extraction, decisions)
        self.left = answers

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        self.left -= 1
        if self.left < 0:
            raise Unavailable("the reply was cut off")
        return await super().integrate(unit, evidence, candidates, complaint)


def test_b47_a_reply_that_cannot_be_read_is_never_taken_for_nothing(room: Room) -> None:
    room.write(SOURCE, NOTE)
    units = tuple(Unit(f"U{n}", f"u{n}", "wiki", "", (Evidence(1, 8 + n),)) for n in range(2))
    failing = Failing(Extraction(units, ()), [Create((Claim("Kept.", (1,)),))], answers=1)
    with pytest.raises(Unavailable, match="cut off"):
        dream(room, failing, settings=DreamSettings(parallel=1))
    assert room.digest() == ["digest/wiki/u0.md"]
    assert SOURCE not in read_ledger(room.shared.vault).digested
    again = dream(room, Adversary(Extraction(units, ()), [Create((Claim("Kept.", (1,)),)), Skip("known")]))
    assert again.sources == (SOURCE,)
    assert SOURCE in read_ledger(room.shared.vault).digested


def test_b49_one_block_edited_twice_and_targets_that_are_not_there(room: Room) -> None:
    room.write(SOURCE, NOTE)
    room.write("digest/wiki/jwt-keys.md", NODE)
    before = room.files()
    edits = (
        Supersede(1, Claim("The keys live in a safe.", (1,))),
        Supersede(1, Claim("The keys live in a drawer.", (1,))),
        Insert(12, Claim("Out of range.", (1,))),
        Insert(2, Claim("Without evidence.", ())),
        Insert(2, Claim("With evidence that was not offered.", (9,))),
        Insert(2, Claim("The job runs on staging.", (2,))),
    )
    units = (
        Unit("JWT keys", "../x", "frobnicate", "", (Evidence(1, 8), Evidence(1, 9), Evidence(7, 1))),
        Unit("Nothing", "nothing", "wiki", "", (Evidence(1, 99),)),
    )
    update = Update(1, "correct", edits, (Relation(0, "is_a"), Relation(12, "is_a")))
    report = dream(room, Adversary(Extraction(units, ()), [update]))
    assert [(unit.outcome, unit.statements) for unit in report.units] == [("corrected", 2)]
    text = room.text("digest/wiki/jwt-keys.md")
    assert "- The keys live in a safe." in text
    assert "> [!superseded] The keys live in the vault." in text
    assert "drawer" not in text
    assert "- The job runs on staging." in text
    for named in (
        "frobnicate",
        "source 7",
        "line 99",
        "block 1",
        "block 12",
        "no evidence",
        "evidence 9",
        "candidate 12",
    ):
        assert any(named in problem for problem in report.problems), named
    assert {path for path in room.files() if path.startswith("digest/")} == {
        path for path in before if path.startswith("digest/")
    }
    assert report.report
    assert room.text(report.report).count("- not followed: ") == len(report.problems)


def test_s1_f1_and_f2_nothing_moves_and_nobody_elses_body_changes(room: Room) -> None:
    room.write(SOURCE, NOTE)
    others = {f"digest/wiki/other-{n}.md": f"---\nname: JWT other {n}\n---\n\nJWT keys {n}.\n" for n in range(3)}
    for path, text in others.items():
        room.write(path, text)
    before = room.files()
    unit = Unit("JWT keys", "jwt-keys", "wiki", "", (Evidence(1, 8),))
    create = Create((Claim("Keys rotate.", (1,)),), (Relation(1, "is_a"), Relation(2), Relation(3)))
    dream(room, Adversary(Extraction((unit,), ()), [create]))
    after = room.files()
    assert {path: after[path] for path in before} == before
    text = room.text("digest/wiki/jwt-keys.md")
    assert all(f"[[{path}]]" in text for path in others), "many belong to one, and one to many (F-7)"
    assert "#" not in "".join(link.anchor or "" for link in parse(text.encode()).links), "no anchors (F-10)"


def test_s1_f5_the_offline_reasoner_creates_where_it_is_unsure(room: Room) -> None:
    room.write(SOURCE, NOTE)
    room.write("digest/wiki/keys.md", "---\nname: Piano keys\n---\n\n- The keys of the piano are ivory.\n")
    report = dream(room)
    assert {unit.outcome for unit in report.units} == {"created"}
    assert "JWT" not in room.text("digest/wiki/keys.md")


MESSAGES = st.lists(
    st.sampled_from(["We rotate the keys.", "我们轮换密钥。", "Thanks!", "They rotate at night."]), max_size=6
)
STATEMENTS = st.lists(
    st.builds(Statement, st.text(max_size=40), st.integers(-1, 8), st.sampled_from(["fact", "decision", "procedure"])),
    max_size=4,
).map(tuple)
EVENTS = st.lists(
    st.builds(Event, st.one_of(st.none(), st.integers(-2, 5)), NAMES, NAMES, NAMES, STATEMENTS), max_size=3
).map(tuple)


class Segmenting:
    """Gives the events that were drawn, whatever it is told."""

    def __init__(self, events: Sequence[Sequence[Event]]) -> None:
        self.events = itertools.cycle(events)

    async def segment(
        self, messages: Sequence[Message], open_events: Sequence[OpenEvent], hint: str = ""
    ) -> tuple[Event, ...]:
        return tuple(next(self.events))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MESSAGES.filter(bool), min_size=1, max_size=3), st.lists(EVENTS, min_size=1, max_size=3))
def test_undo_of_any_conversation_restores_every_byte(
    make_room: MakeRoom, deliveries: list[list[str]], events: list[tuple[Event, ...]]
) -> None:
    room = make_room(name=f"spoken{next(NUMBERS)}")
    room.write("daily/2026-05-15.md", "# By hand\r\n")
    room.write("daily/2026-05-15/keys.md", "---\nname: Keys\nsession_id: s1\n---\nBy hand, without an end")
    states = [room.files()]
    runs: list[str] = []
    for number, texts in enumerate(deliveries):
        said = [message(text, f"2026-05-15T0{number}:{n:02}:00+02:00") for n, text in enumerate(texts)]
        runs.append(remember(room, said, reasoner=Segmenting(events)).run)
        states.append(room.files())
    for run, before in zip(reversed(runs), reversed(states[:-1]), strict=True):
        undo(room.shared.vault, run, role="person", actor="test", new_run=room.shared.vault.new_id())
        assert room.files() == before
