"""A reasoner that answers anything at all: whatever it says, laws hold and every run can be taken back."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reme.actions import DreamSettings
from reme.actions.runs import NODE_LAWS, commit_as_system
from reme.errors import Refused
from reme.markdown import parse, words
from reme.paths import VaultPath
from reme.reason import (
    Bucket,
    Candidate,
    Create,
    Evidence,
    Extraction,
    Integration,
    Relation,
    Skip,
    SourceLine,
    SourceNote,
    Topic,
    Unit,
    Update,
)
from reme.revision import revision_of
from reme.vault import Put, undo

from .conftest import MakeRoom, Room
from .test_dream import CLAIMS, EDITS, NODE, NOTE, SOURCE, dream

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
