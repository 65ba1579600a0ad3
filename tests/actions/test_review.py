"""Proposals: what a dream would write, decided of by a person or curator, as a whole or by file."""

import asyncio
import shutil
from dataclasses import replace

import pytest

from reme.actions import DreamSettings, accept, auto_dream, proposals, read_ledger, reject
from reme.errors import Conflict, NotFound
from reme.reason import Claim, Create, Evidence, Insert, Supersede, Unit, Update
from reme.vault import undo

from .conftest import Room
from .test_dream import NODE, OFFLINE, SOURCE, Scripted, claim, dream, seeded

PROPOSE = DreamSettings(mode="propose")


def proposed(room: Room, *answers: object, **more: object) -> str:
    report = asyncio.run(auto_dream(room.workspace, Scripted(*answers, **more), settings=PROPOSE))  # type: ignore[arg-type]
    assert report.proposed
    return report.run


def test_a_proposal_changes_nothing_but_the_record(room: Room) -> None:
    seeded(room, NODE)
    before = room.files()
    run = proposed(room, Update(1, "refine", (Insert(1, claim("Keys are JWT keys.")),)))
    changed = {path for path, data in room.files().items() if before.get(path) != data}
    assert all(path.startswith("audit/") or path.endswith("interests.yaml") for path in changed)
    (kept,) = proposals(room.workspace).proposals
    assert kept.run == run
    assert "Keys are JWT keys." in kept.files[0].text
    assert SOURCE not in read_ledger(room.shared.vault).digested


def test_accepting_writes_it_and_finishes_the_sources(room: Room) -> None:
    seeded(room, NODE)
    run = proposed(room, Update(1, "refine", (Insert(1, claim("Keys are JWT keys.")),)))
    done = accept(room.workspace, run)
    assert done.paths == ("digest/wiki/jwt-keys.md",)
    assert done.left == 0
    assert "Keys are JWT keys." in room.text("digest/wiki/jwt-keys.md")
    ledger = read_ledger(room.shared.vault)
    assert SOURCE in ledger.digested
    assert [entry.node for entry in ledger.derived] == ["digest/wiki/jwt-keys.md"]
    assert proposals(room.workspace).proposals == ()
    assert dream(room).sources == ()


def test_what_was_written_meanwhile_is_kept(room: Room) -> None:
    seeded(room, NODE)
    run = proposed(room, Update(1, "refine", (Insert(1, claim("Keys are JWT keys.")),)))
    room.write("digest/wiki/jwt-keys.md", NODE.replace("description: Keys", "description: By hand"))
    accept(room.workspace, run)
    text = room.text("digest/wiki/jwt-keys.md")
    assert "description: By hand" in text
    assert "Keys are JWT keys." in text


def test_where_both_touch_the_same_lines_nothing_is_written(room: Room) -> None:
    seeded(room, NODE)
    run = proposed(room, Update(1, "correct", (Supersede(2, claim("The keys rotate every 90 days.")),)))
    room.write("digest/wiki/jwt-keys.md", NODE.replace("every 30 days", "every 31 days"))
    before = room.files()
    with pytest.raises(Conflict):
        accept(room.workspace, run)
    assert room.files() == before
    assert len(proposals(room.workspace).proposals) == 1


def test_file_by_file(room: Room) -> None:
    seeded(room)
    units = [
        Unit(name, name.lower(), "wiki", "About it", (Evidence(1, line),)) for name, line in (("Keys", 8), ("Jobs", 9))
    ]
    answers = [Create((Claim("Keys rotate.", (1,)),)), *[Create((Claim("A job runs.", (1,)),))] * 2]
    run = proposed(room, *answers, units=units)
    assert accept(room.workspace, run, ["digest/wiki/keys.md"]).left == 1
    assert SOURCE not in read_ledger(room.shared.vault).digested
    assert reject(room.workspace, run, reason="not worth it").paths == ("digest/wiki/jobs.md",)
    assert SOURCE in read_ledger(room.shared.vault).digested
    assert [path for path in room.digest() if not path.endswith("_buckets.md")] == ["digest/wiki/keys.md"]
    assert '"reason": "not worth it"' in room.text("audit/ledger.jsonl")
    assert "wiki** (1)" in room.text("digest/_buckets.md")


def test_a_source_in_an_open_proposal_is_not_proposed_again(room: Room) -> None:
    seeded(room)
    proposed(room, Create((claim("Keys rotate."),)))
    assert dream(room, Scripted()).sources == ()


def test_without_the_state_folder_proposals_are_lost_and_decisions_are_not(room: Room) -> None:
    seeded(room)
    run = proposed(room, Create((claim("Keys rotate."),)))
    reject(room.workspace, run)
    shutil.rmtree(room.root / ".reme" / "proposals")
    assert proposals(room.workspace).proposals == ()
    assert dream(room, Scripted()).sources == ()


def test_a_proposal_decided_of_in_a_crash_is_closed_by_the_ledger(room: Room) -> None:
    seeded(room)
    run = proposed(room, Create((claim("Keys rotate."),)))
    kept = room.root / ".reme" / "proposals" / f"{run}.json"
    data = kept.read_bytes()
    accept(room.workspace, run)
    kept.write_bytes(data)
    assert proposals(room.workspace).proposals == ()
    with pytest.raises(NotFound):
        accept(room.workspace, run)


def test_accepting_can_be_undone(room: Room) -> None:
    seeded(room, NODE)
    run = proposed(room, Update(1, "refine", (Insert(1, claim("Keys are JWT keys.")),)))
    before = room.files()
    workspace = room.workspace
    accept(workspace, run)
    undo(room.shared.vault, workspace.caller.run, role="person", actor="test", new_run=room.shared.vault.new_id())
    assert room.files() == before


def test_what_is_not_there_is_named(room: Room) -> None:
    seeded(room)
    run = proposed(room, Create((claim("Keys rotate."),)))
    with pytest.raises(NotFound, match="no open proposal"):
        accept(room.workspace, "nothing")
    with pytest.raises(NotFound, match="not in the proposal"):
        reject(room.workspace, run, ["digest/wiki/other.md"])


def test_two_units_of_one_run_go_into_one_file_of_the_proposal(room: Room) -> None:
    seeded(room, NODE)
    units = [Unit("JWT keys", "jwt-keys", "wiki", "", (Evidence(1, line),)) for line in (8, 9)]
    answers = [Update(1, "refine", (Insert(1, Claim(text, (1,))),)) for text in ("First.", "Second.", "Second.")]
    run = proposed(room, *answers, units=units)
    (kept,) = proposals(room.workspace).proposals
    assert len(kept.files) == 1
    accept(room.workspace, run)
    assert all(text in room.text("digest/wiki/jwt-keys.md") for text in ("First.", "Second."))


def test_a_dry_run_shows_the_difference(room: Room) -> None:
    seeded(room, NODE)
    before = room.files()
    report = dream(room, Scripted(Update(1, "refine", (Insert(1, claim("Keys are JWT keys.")),))), dry_run=True)
    assert "+- Keys are JWT keys." in report.diff
    assert "--- digest/wiki/jwt-keys.md" in report.diff
    assert room.files() == before
    assert not report.proposed


def test_the_offline_reasoner_proposes_too(room: Room) -> None:
    room.write("daily/2026-05-15/a.md", "- I prefer pnpm over npm. (Bo, 2026-05-15)\n")
    report = asyncio.run(auto_dream(room.workspace, OFFLINE, settings=replace(PROPOSE, parallel=1)))
    assert report.proposed
    assert accept(room.workspace, report.run).paths[0].startswith("digest/personal/")
