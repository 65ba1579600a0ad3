"""Proposals: what a dream would write, decided of by a person or curator, as a whole or by file."""

import asyncio
import base64
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest

from reme.actions import Decided, DreamSettings, accept, auto_dream, proposals, read_ledger, reject, stale
from reme.actions.proposals import proposals_text
from reme.actions.staleness import stale_text
from reme.errors import Conflict, NotFound
from reme.reason import Claim, Create, Evidence, Insert, Supersede, Unit, Update
from reme.search import Origin
from reme.tools import Caller, lint, recall, recall_text, search, search_text, upload
from reme.vault import Role, undo

from .conftest import Room
from .test_dream import NODE, NOTE, OFFLINE, SOURCE, Scripted, claim, dream, seeded

PROPOSE = DreamSettings(mode="propose")
DAY = date(2026, 5, 15)


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


def test_what_an_open_proposal_has_taken_is_not_proposed_again(room: Room) -> None:
    texts = ("Nadia is allergic to walnuts.", "The signing keys rotate every 90 days.", "我们决定每周四盘点仓库。")
    room.write(SOURCE, "".join(f"- {text} (Nadia, 2026-05-15) — [[x]]\n" for text in texts))
    for _ in texts:
        dream(room, OFFLINE, settings=PROPOSE, max_units=1)
    found = {each.run: [file.path for file in each.files] for each in proposals(room.workspace).proposals}
    assert len(found) > 1
    assert [accept(room.workspace, run).left for run in found] == [0] * len(found)
    for text in texts:
        assert sum(text in room.text(path) for paths in found.values() for path in paths) == 1


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


def take_back(room: Room, run: str) -> None:
    undo(room.shared.vault, run, role="person", actor="test", new_run=room.shared.vault.new_id())


@pytest.mark.parametrize("decide", [accept, reject])
@pytest.mark.parametrize("text", ["Keys are JWT keys.", "密钥是 JWT 密钥。"])
def test_what_was_undone_is_open_again(room: Room, decide: Callable[..., Decided], text: str) -> None:
    seeded(room, NODE)
    run = proposed(room, Update(1, "refine", (Insert(1, claim(text)),)))
    before = proposals(room.workspace)
    done = decide(room.workspace, run)
    assert proposals(room.workspace).proposals == ()
    take_back(room, done.run)
    assert proposals(room.workspace) == before
    assert dream(room, Scripted()).sources == ()
    assert text not in room.text("digest/wiki/jwt-keys.md")
    accept(room.workspace, run)
    assert text in room.text("digest/wiki/jwt-keys.md")
    assert proposals(room.workspace).proposals == ()


def test_one_file_of_a_proposal_is_open_again(room: Room) -> None:
    seeded(room)
    units = [Unit(name, name.lower(), "wiki", "", (Evidence(1, line),)) for name, line in (("Keys", 8), ("Jobs", 9))]
    answers = [Create((Claim("Keys rotate.", (1,)),)), *[Create((Claim("A job runs.", (1,)),))] * 2]
    run = proposed(room, *answers, units=units)
    first = reject(room.workspace, run, ["digest/wiki/keys.md"])
    accept(room.workspace, run, ["digest/wiki/jobs.md"])
    take_back(room, first.run)
    (left,) = proposals(room.workspace).proposals
    assert [file.path for file in left.files] == ["digest/wiki/keys.md"]


def test_a_proposal_is_dropped_when_its_decision_can_no_longer_be_undone(room: Room) -> None:
    seeded(room)
    run = proposed(room, Create((claim("Keys rotate."),)))
    kept = room.root / ".reme" / "proposals" / f"{run}.json"
    reject(room.workspace, run)
    room.write(SOURCE, NOTE + "- Newer words. (Ana, 2026-05-16)\n")
    second = proposed(room, Create((claim("Keys rotate."),)))
    assert kept.exists()
    room.hands.at += timedelta(days=400)
    reject(room.workspace, second)
    room.write(SOURCE, NOTE + "- Newest words. (Ana, 2026-05-16)\n")
    asyncio.run(auto_dream(room.workspace, Scripted(Create((claim("Keys."),))), settings=PROPOSE, day=DAY))
    assert not kept.exists()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("The signing keys rotate every 90 days at Northwind.\n", "signing keys rotate"),
        ("北风公司的签名密钥每九十天更换一次。\n", "签名密钥更换"),
    ],
)
@pytest.mark.parametrize(
    ("role", "said", "origin"),
    [("person", None, "person"), ("agent", None, "agent"), ("system", None, "tool"), ("person", "web", "web")],
)
def test_who_brought_a_resource_goes_all_the_way_to_the_answers(
    room: Room, text: str, asked: str, role: Role, said: Origin | None, origin: str
) -> None:
    caller = Caller(role, "test", room.shared.vault.new_id())
    content = base64.b64encode(text.encode()).decode()
    upload(replace(room.shared, caller=caller), content, "keys.md", origin=said)
    dream(room, max_units=20)
    (node,) = (path for path in room.digest() if not path.endswith("_buckets.md"))
    assert f"origin: {origin}\n" in room.text(node)
    found = search(room.workspace, asked)
    assert origin in {hit.origin for hit in found.hits if hit.path == node}
    assert f"(origin {origin})" in search_text(found)
    assert f"origin {origin}" in recall_text(recall(room.workspace, asked))


@pytest.mark.parametrize("words", ["We rotate the signing keys every 90 days.", "我们决定每九十天更换签名密钥。"])
def test_a_card_is_trusted_no_more_than_the_resource_that_it_is_of(room: Room, words: str) -> None:
    content = base64.b64encode(b"%PDF").decode()
    made = upload(room.workspace, content, "keys.pdf", origin="web")
    room.write("daily/2026-05-15/card.md", f"source:: [[{made.path}]]\n\n- {words} (Bo, 2026-05-15)\n")
    room.write("daily/2026-05-15/mention.md", f"- I prefer pnpm over npm. (Bo, 2026-05-15)\n\nSee [[{made.path}]].\n")
    dream(room, max_units=20)
    stated = {words in room.text(path): "origin: web\n" in room.text(path) for path in room.digest()}
    assert stated == {True: True, False: False}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "We decided to keep admin console sessions for half an hour.",
            "We decided to keep admin console sessions for two hours.",
        ),
        ("我们决定管理后台的会话保留半小时。", "我们决定管理后台的会话保留两小时。"),
    ],
)
def test_an_edited_source_is_taken_up_and_what_it_no_longer_says_is_told(room: Room, old: str, new: str) -> None:
    note = f"---\nname: Admin console\n---\n\n- {old} (Bo, 2026-05-15)\n"
    room.write(SOURCE, note)
    dream(room)
    (node,) = (path for path in room.digest() if not path.endswith("_buckets.md"))
    room.write(SOURCE, note.replace(old, new))
    report = stale(room.workspace)
    assert [(entry.node, entry.state, entry.statements) for entry in report.stale] == [(node, "changed", (old,))]
    assert "The next dream reads what has changed again" in stale_text(report)
    dream(room)
    assert any(new in room.text(path) for path in room.digest())
    assert f"- {old} (Bo, 2026-05-15) — [[{SOURCE}]]" in room.text(node)
    report = stale(room.workspace)
    assert report.stale == ()
    assert [(entry.node, entry.state, entry.statements) for entry in report.unsaid] == [(node, "unsaid", (old,))]
    assert "quote it as > [!superseded]" in stale_text(report)
    (finding,) = lint(room.workspace, rules=["provenance"]).findings
    assert (finding.path, "quote it as > [!superseded]" in finding.message) == (node, True)
    room.write(node, room.text(node).replace(f"- {old}", f"\n> [!superseded] {old}"))
    assert stale(room.workspace).unsaid == ()
    assert lint(room.workspace, rules=["provenance"]).findings == ()


@pytest.mark.parametrize("text", ["The keys rotate every 60 days.", "密钥每六十天更换一次。"])
def test_what_was_superseded_is_not_told(room: Room, text: str) -> None:
    seeded(room)
    dream(room, Scripted(Create((claim("The JWT signing keys rotate every 90 days."),))))
    room.write(SOURCE, NOTE.replace("90 days", "60 days"))
    dream(room, Scripted(Update(1, "correct", (Supersede(1, claim(text)),))))
    report = stale(room.workspace)
    assert (report.stale, report.unsaid) == ((), ())


def test_what_is_not_there_is_named(room: Room) -> None:
    seeded(room)
    run = proposed(room, Create((claim("Keys rotate."),)))
    with pytest.raises(NotFound, match="no open proposal"):
        accept(room.workspace, "nothing")
    with pytest.raises(NotFound, match="not in the proposal"):
        reject(room.workspace, run, ["digest/wiki/other.md"])


def test_a_proposal_is_named_by_how_its_id_begins_or_as_the_last(room: Room) -> None:
    seeded(room)
    first = proposed(room, Create((claim("Keys rotate."),)))
    room.write(SOURCE, NOTE.replace("90 days", "六十天"))
    last = proposed(room, Create((claim("密钥要轮换。"),)))
    assert proposals_text(proposals(room.workspace)).startswith(f"{first} ")
    with pytest.raises(Conflict, match=f"may mean 2 runs: {last}, {first}"):
        accept(room.workspace, first[:4])
    with pytest.raises(NotFound, match="no open proposal"):
        accept(room.workspace, first[:3])
    assert accept(room.workspace, "last", dry_run=True).proposal == last
    assert reject(room.workspace, "last").proposal == last
    assert accept(room.workspace, first[:4]).proposal == first


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
