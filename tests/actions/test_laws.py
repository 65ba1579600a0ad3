"""The laws of evolution, one test each: on vaults drawn at random, whatever an adversarial reasoner answers.

E-1   an update keeps every outgoing link with its predicate
E-2   a division keeps them jointly; a dream divides nothing
E-3   what links to a node goes on doing so, and leads where it led
E-4   words survive
P-1   a node that an action writes links a source
F-1   no file moves
F-2   nobody else's body changes
F-3   dreaming creates and updates, and nothing else: nothing is merged, divided or dissolved
F-4   one unit at a time: a change set changes one node, and those that its unit speaks of besides
F-5   unsure, it makes something new
F-7   a node may belong to many, and many to it
F-10  the targets of links stay as they are, and no link that is written has an anchor
F-11  links are part of the body: who keeps them and drops the prose is refused
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reme.actions import DreamReport, DreamSettings
from reme.actions.runs import NODE_LAWS, commit_as_system
from reme.errors import Refused
from reme.index import refresh
from reme.markdown import parse, words
from reme.paths import VaultPath
from reme.reason import (
    Candidate,
    Claim,
    Create,
    Elsewhere,
    Evidence,
    Extraction,
    Integration,
    Relation,
    Skip,
    Unit,
    Update,
)
from reme.revision import ABSENT, revision_of
from reme.vault import ChangeSet, Committed, Put, Split, commit, diff, history

from .conftest import MakeRoom, Room
from .test_adversarial import RELATIONS, TOPICS, UNITS, Adversary, edges
from .test_dream import CLAIMS, EDITS, NOTE, SOURCE, Scripted, dream

NUMBERS = itertools.count()
NAMES = ("jwt-keys", "keys", "staging-cluster", "密钥轮换")
BLOCKS = (
    "- The keys live in the vault. (Ana, 2026-05-01) — [[daily/2026-05-01/a.md]]",
    "- 密钥存放在保险库里。 (林晓, 2026-05-01) — [[daily/2026-05-01/b.md]]",
    "- By hand, with [[digest/wiki/keys.md|a link]].",
    "A paragraph about JWT keys\nof two lines, with [text](other.md).",
    "part_of:: [[digest/wiki/jwt-keys.md]]",
    "[is_a:: [[digest/personal/密钥轮换.md]]] and ![[daily/2026-05-01/a.md]]",
    "> [!conflict] The keys rotate every 30 days. — [[daily/2026-05-02/c.md]]",
    "## 部署\n\n1. 运行测试\n2. 推送标签",
    "| a | b |\n|---|---|\n| [[keys]] | 1 |",
)
BODIES = st.lists(st.sampled_from(BLOCKS), max_size=5).map("\n\n".join)
NODES = st.dictionaries(st.tuples(st.sampled_from(["wiki", "personal"]), st.sampled_from(NAMES)), BODIES, max_size=4)
BESIDES = st.lists(st.builds(Elsewhere, st.integers(-1, 4), EDITS), max_size=2).map(tuple)
LINKING = st.sampled_from(["See [[digest/wiki/keys.md#part]].", "在 [[daily/2026-05-01/a.md#节|这里]]。"])
WORDS = st.one_of(CLAIMS, st.builds(Claim, LINKING, st.just((1,))))
DECISIONS = st.one_of(
    st.builds(Create, st.lists(WORDS, max_size=3).map(tuple), RELATIONS, elsewhere=BESIDES),
    st.builds(
        Update,
        st.integers(-1, 4),
        st.sampled_from(["corroborate", "refine", "correct"]),
        EDITS,
        RELATIONS,
        elsewhere=BESIDES,
    ),
    st.builds(Skip, st.text(max_size=20)),
)
FINDING = st.builds(Unit, st.sampled_from(["JWT keys", "Keys"]), st.sampled_from(NAMES), st.just("wiki"), st.just(""),
    st.just((Evidence(1, 8), Evidence(1, 9))))  # fmt: skip
EXTRACTIONS = st.builds(
    Extraction, st.lists(st.one_of(FINDING, UNITS), min_size=1, max_size=4).map(tuple), TOPICS, st.just(())
)

Nodes = dict[tuple[str, str], str]
Told = list[Integration]


@dataclass(frozen=True)
class Night:
    """A dream: the files before and after it, and what it reports."""

    room: Room
    before: dict[str, bytes]
    after: dict[str, bytes]
    report: DreamReport

    @property
    def nodes(self) -> list[VaultPath]:
        """The nodes that there are afterwards."""
        return [VaultPath(path) for path in self.after if path.startswith("digest/") and path.count("/") == 2]

    @property
    def subjects(self) -> set[VaultPath]:
        """The nodes that the dream was about, by its report."""
        return {unit.node for unit in (*self.report.units, *self.report.elsewhere) if unit.node is not None}


def over(make_room: MakeRoom, nodes: Nodes, found: Extraction, told: list[Integration]) -> Night:
    """A night over nodes, with these answers."""
    room = vault_of(make_room, nodes)
    before = room.files()
    report = dream(room, Adversary(found, told))
    return Night(room, before, room.files(), report)


def vault_of(make_room: MakeRoom, nodes: Nodes) -> Room:
    room = make_room(name=f"law{next(NUMBERS)}")
    room.write(SOURCE, NOTE)
    for number, ((bucket, slug), body) in enumerate(nodes.items()):
        text = f"---\nname: JWT {slug}\ndescription: The keys\n---\n\n{body}\n"
        room.write(f"digest/{bucket}/{slug}.md", text.replace("\n", "\r\n") if number % 2 else text)
    room.write("other.md", "By hand: [[jwt-keys]], [[digest/wiki/keys.md]]\n")
    return room


def whatever_is_answered(test: Callable[..., None]) -> Callable[..., None]:
    limits = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    return limits(given(nodes=NODES, found=EXTRACTIONS, told=st.lists(DECISIONS, min_size=1, max_size=4))(test))


@whatever_is_answered
def test_e1_an_update_keeps_every_outgoing_link(
    make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told
) -> None:
    night = over(make_room, nodes, found, told)
    for path in night.before:
        assert edges(night.before[path]) <= edges(night.after[path])


@given(
    st.lists(st.sampled_from(BLOCKS), min_size=2, max_size=6),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_e2_a_division_keeps_the_links_jointly(make_room: MakeRoom, blocks: list[str], homes: list[int]) -> None:
    """Each block goes to the overview (0), to one of two children (1, 2), or is dropped (3)."""
    room = make_room(name=f"law{next(NUMBERS)}")
    whole = "\n\n".join(blocks) + "\n"
    source = room.write("digest/wiki/whole.md", whole)
    parts = [VaultPath(source), VaultPath("digest/wiki/one.md"), VaultPath("digest/wiki/two.md")]
    given_to = ["\n\n".join(b for b, home in zip(blocks, homes, strict=False) if home == n) + "\n" for n in range(3)]
    puts = [Put(parts[0], given_to[0].encode(), revision_of(whole.encode()))]
    puts += [Put(path, text.encode(), ABSENT) for path, text in zip(parts[1:], given_to[1:], strict=True)]
    division = ChangeSet(tuple(puts), "system", "test", "split", "r", splits=(Split(parts[0], tuple(parts)),))
    keeps = edges(whole.encode()) <= set().union(*(edges(text.encode()) for text in given_to))
    try:
        assert isinstance(commit(room.shared.vault, division), Committed)
        assert keeps
    except Refused:
        assert not keeps
        assert room.text(source) == whole


@whatever_is_answered
def test_e3_what_links_to_a_node_leads_where_it_led(
    make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told
) -> None:
    night = over(make_room, nodes, found, told)
    room = night.room
    twin = make_room(name=f"law{next(NUMBERS)}")
    for path, data in night.before.items():
        twin.write(path, data.decode())
    refresh(twin.shared.index, twin.shared.vault)
    refresh(room.shared.index, room.shared.vault)
    for path in night.before:
        led = {(edge.raw_target, edge.target) for edge in twin.shared.index.links_from(VaultPath(path))}
        leads = {(edge.raw_target, edge.target) for edge in room.shared.index.links_from(VaultPath(path))}
        assert {(raw, target) for raw, target in led if target is not None} <= leads


@whatever_is_answered
def test_e4_words_survive(make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told) -> None:
    night = over(make_room, nodes, found, told)
    for path in night.before:
        note, kept = parse(night.before[path]), words(night.after[path].decode())
        for block in note.blocks:
            assert all(words(line.lstrip("> ")) in kept for line in note.text(block.span).splitlines())


@whatever_is_answered
def test_p1_what_is_written_links_a_source(make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told) -> None:
    night = over(make_room, nodes, found, told)
    for path in night.nodes:
        if night.after[path] != night.before.get(path):
            assert any(target.startswith(("daily/", "resource/")) for _, target in edges(night.after[path]))


@whatever_is_answered
def test_f1_no_file_moves(make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told) -> None:
    night = over(make_room, nodes, found, told)
    assert night.before.keys() <= night.after.keys()
    if night.report.report is not None:
        assert "rename from" not in diff(night.room.shared.vault, night.report.run)


@whatever_is_answered
def test_f2_nobody_elses_body_changes(make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told) -> None:
    night = over(make_room, nodes, found, told)
    changed = {path for path in night.before if night.before[path] != night.after[path]}
    assert changed <= night.subjects


@whatever_is_answered
def test_f3_dreaming_creates_and_updates_and_nothing_else(
    make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told
) -> None:
    night = over(make_room, nodes, found, told)
    made = {unit.node for unit in night.report.units if unit.outcome == "created"}
    assert {path for path in night.nodes if path not in night.before} == made
    for path in night.before:
        kept = parse(night.before[path]).properties
        assert kept.items() <= parse(night.after[path]).properties.items()


@whatever_is_answered
def test_f4_one_unit_at_a_time(make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told) -> None:
    night = over(make_room, nodes, found, told)
    besides = {unit.node for unit in night.report.elsewhere}
    for record in history(night.room.shared.vault, run=night.report.run):
        touched = {path for path in record.paths if path in night.nodes}
        assert len(touched - besides) <= 1


WORDS_OF_NO_KEY = st.lists(
    st.sampled_from(["sourdough", "rye", "flour", "oven", "piano", "ivory", "pedal", "hammer", "orchard", "pear"]),
    min_size=3,
    max_size=8,
    unique=True,
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS_OF_NO_KEY, min_size=1, max_size=4))
def test_f5_unsure_it_makes_something_new(make_room: MakeRoom, bodies: list[list[str]]) -> None:
    """Nodes are found that share a word with what is learnt, in their name or place, and are about something else."""
    room = make_room(name=f"law{next(NUMBERS)}")
    room.write(SOURCE, NOTE)
    for number, body in enumerate(bodies):
        room.write(f"digest/wiki/keys-{number}.md", f"---\nname: Keys {number}\n---\n\n- The {' '.join(body)}.\n")
    before = room.files()
    report = dream(room)
    assert report.units
    assert {unit.outcome for unit in report.units} == {"created"}
    after = room.files()
    assert {path: after[path] for path in before} == before


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NODES.filter(bool), st.sampled_from(["is_a", "", "part_of"]))
def test_f7_a_node_may_belong_to_many_and_many_to_it(make_room: MakeRoom, nodes: Nodes, predicate: str) -> None:
    room = vault_of(make_room, nodes)
    told = Claim("The JWT keys rotate.", (1,))

    def to_all(offered: Sequence[Candidate]) -> Integration:
        return Create((told,), tuple(Relation(number, predicate) for number in range(1, len(offered) + 1)))

    units = [Unit(f"JWT {n}", f"new-{n}", "wiki", "JWT keys", (Evidence(1, 8 + n),)) for n in range(2)]
    reasoner = Scripted(to_all, to_all, units=units)
    dream(room, reasoner, settings=DreamSettings(parallel=1))
    old = {path for path in room.digest() if "/new-" not in path}
    for number, offered in enumerate(reasoner.offered):
        linked = {target for _, target in edges(room.files()[f"digest/wiki/new-{number}.md"])}
        assert len(linked & {*old, "digest/wiki/new-0.md"}) == len(offered)
    assert any(reasoner.offered)


@whatever_is_answered
def test_f10_targets_stay_and_no_link_that_is_written_has_an_anchor(
    make_room: MakeRoom, nodes: Nodes, found: Extraction, told: Told
) -> None:
    night = over(make_room, nodes, found, told)
    for path in night.nodes:
        links = parse(night.after[path]).links
        had = {(link.target, link.anchor) for link in parse(night.before.get(path, b"")).links}
        assert all(not link.anchor or (link.target, link.anchor) in had for link in links)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(BLOCKS[:7]), min_size=1, max_size=5, unique=True), st.data())
def test_f11_a_body_that_keeps_its_links_and_drops_its_prose_is_refused(
    make_room: MakeRoom, blocks: list[str], data: st.DataObject
) -> None:
    room = make_room(name=f"law{next(NUMBERS)}")
    body = "\n\n".join([*blocks, "derived_from:: [[daily/2026-05-01/a.md]]"]) + "\n"
    node = VaultPath(room.write("digest/wiki/node.md", body))
    told = [block for block in blocks if not block.startswith(("part_of", "[is_a"))]
    if not told:
        return
    dropped = data.draw(st.sampled_from(told))
    bare = " ".join(link_words(dropped))
    broken = body.replace(dropped, bare)
    assert edges(body.encode()) == edges(broken.encode())
    with pytest.raises(Refused) as refused:
        commit_as_system(room.workspace, [Put(node, broken.encode(), revision_of(body.encode()), NODE_LAWS)], "try")
    assert refused.value.details["rule"] == "keep-words"
    assert room.text(node) == body


def link_words(block: str) -> list[str]:
    """The links of a block, as they are written."""
    note = parse(block.encode())
    return [note.text(link.span) for link in note.links]
