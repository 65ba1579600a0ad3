"""auto_memory: dialogues kept, event notes made, nothing learnt twice and nothing lost."""

import asyncio
import itertools
import json
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reme.actions import MemoryReport, MemorySettings, auto_memory, memory_text, read_ledger
from reme.actions.dialogue import Place, dialogue_path, read_kept, read_stretch
from reme.actions.statements import read_item
from reme.errors import InvalidInput, Unavailable
from reme.index import refresh
from reme.markdown import parse, words
from reme.paths import VaultPath
from reme.reason import Event, Message, OfflineReasoner, OpenEvent, Statement
from reme.vault import history, undo

from .conftest import MakeRoom, Room

OFFLINE = OfflineReasoner()
NUMBERS = itertools.count()


def message(text: str, at: str = "2026-05-15T09:30:00+02:00", role: str = "user", **extra: object) -> dict[str, object]:
    return {"role": role, "content": text, "timestamp": at, **extra}


JWT = [
    message("We decided to rotate the JWT signing keys every 90 days."),
    message("The JWT rotation job runs on the staging cluster.", role="assistant"),
    message("I prefer short token lifetimes of 15 minutes."),
]


def remember(
    room: Room, messages: Sequence[object] | str, session: str = "s1", reasoner: object = OFFLINE, **more: object
) -> MemoryReport:
    return asyncio.run(auto_memory(room.workspace, reasoner, messages, session, **more))  # type: ignore[arg-type]


class Scripted:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self, *answers: Sequence[Event] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Sequence[Message], Sequence[OpenEvent]]] = []

    async def segment(
        self, messages: Sequence[Message], open_events: Sequence[OpenEvent], hint: str = ""
    ) -> tuple[Event, ...]:
        self.asked.append((messages, open_events))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return tuple(answer)


def event(*statements: tuple[str, int], continues: int | None = None, name: str = "Keys", slug: str = "keys") -> Event:
    return Event(continues, name, slug, "About keys", tuple(Statement(text, line, "fact") for text, line in statements))


def test_a_conversation_becomes_a_dialogue_and_a_note(room: Room) -> None:
    report = remember(room, JWT)
    assert report.appended == 3
    records = [json.loads(line) for line in room.text("session/dialog/s1.jsonl").splitlines()]
    assert [r["text"] for r in records] == [m["content"] for m in JWT]
    note = room.text(report.notes[0].path)
    assert parse(note.encode()).properties["session_id"] == "s1"
    assert "source:: [[session/dialog/s1.jsonl]]" in note
    assert (
        "- We decided to rotate the JWT signing keys every 90 days. (user, 2026-05-15)"
        " — [[session/dialog/s1.jsonl#L1|L1]]"
    ) in note
    assert "## Decisions" in note
    assert "## Preferences" in note
    assert f"- [[{report.notes[0].path}|" in room.text("daily/2026-05-15.md")
    assert report.report is not None
    assert report.notes[0].path in room.text(report.report)


def test_one_run_holds_it_all_and_can_be_undone(room: Room) -> None:
    before = room.files()
    report = remember(room, JWT)
    assert {record.run for record in history(room.shared.vault)} == {report.run}
    assert {record.role for record in history(room.shared.vault)} == {"system"}
    undo(room.shared.vault, report.run, role="person", actor="test", new_run="undo")
    assert room.files() == before


def test_a_replay_adds_nothing(room: Room) -> None:
    remember(room, JWT)
    before = room.files()
    report = remember(room, JWT)
    assert (report.appended, report.learnt, report.notes, report.report) == (0, 0, (), None)
    assert room.files() == before
    assert "nothing new" in memory_text(report)


def test_only_what_is_new_is_learnt(room: Room) -> None:
    remember(room, JWT)
    asked = Scripted([event(("The JWT job failed.", 4))])
    report = remember(room, [*JWT, message("The JWT job failed.")], reasoner=asked)
    assert [m.line for m in asked.asked[0][0]] == [4]
    assert report.appended == 1
    assert read_ledger(room.shared.vault).watermarks == {"s1": 4}


def test_a_failed_reasoner_loses_nothing(room: Room) -> None:
    with pytest.raises(Unavailable):
        remember(room, JWT, reasoner=Scripted(Unavailable("the model does not answer")))
    assert room.text("session/dialog/s1.jsonl").count("\n") == 3
    report = remember(room, JWT)
    assert (report.appended, report.learnt) == (0, 3)
    assert report.notes


@pytest.mark.parametrize(
    ("zone", "at", "day"),
    [
        ("Pacific/Auckland", "2026-07-01T13:10:00Z", "2026-07-02"),
        ("America/Los_Angeles", "2026-07-02T05:00:00Z", "2026-07-01"),
    ],
)
def test_b67_a_message_belongs_to_its_own_local_day(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch, zone: str, at: str, day: str
) -> None:
    for host in ("UTC", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", host)
        room = make_room(zone=zone, now="2026-07-05T00:00:00+00:00", name=host.replace("/", "-"))
        report = remember(room, [message("I moved the deployment to Frankfurt.", at)])
        assert report.notes[0].path.startswith(f"daily/{day}/")
        assert f"daily/{day}.md" in room.files()


def test_b67_a_conversation_over_midnight_goes_to_two_days(room: Room) -> None:
    report = remember(
        room,
        [
            message("I deployed the JWT rotation job to the staging cluster.", "2026-05-14T21:59:00Z"),
            message("The JWT rotation job on the staging cluster failed.", "2026-05-14T22:01:00Z"),
        ],
    )
    first, second = (note.path for note in report.notes)
    assert (first[:16], second[:16]) == ("daily/2026-05-14", "daily/2026-05-15")
    assert f"inherits:: [[{first}]]" in room.text(second)


def test_an_event_of_the_same_day_and_session_goes_on_in_its_note(room: Room) -> None:
    first = remember(room, JWT)
    second = remember(room, [message("The JWT rotation job on the staging cluster rotated the signing keys.")])
    assert [note.outcome for note in second.notes] == ["extended"]
    assert second.notes[0].path == first.notes[0].path


def test_an_event_of_another_session_or_day_is_inherited(room: Room) -> None:
    first = remember(room, JWT).notes[0].path
    other = remember(room, [message("The JWT rotation job on the staging cluster rotated the signing keys.")], "s2")
    assert other.notes[0].path != first
    assert f"inherits:: [[{first}]]" in room.text(other.notes[0].path)


def test_chinese_conversations(room: Room) -> None:
    report = remember(
        room,
        [
            message("我们决定用 PostgreSQL 存储订单。"),
            message("订单系统下周一上线，我负责数据迁移。"),
            message("谢谢你！"),
        ],
    )
    note = room.text(report.notes[0].path)
    assert "- 我们决定用 PostgreSQL 存储订单。 (user, 2026-05-15) — [[session/dialog/s1.jsonl#L1|L1]]" in note
    assert "订单系统下周一上线，我负责数据迁移。 (user, 2026-05-15, about 2026-05-18)" in note
    assert "## 决定" in note
    assert "谢谢" not in note


def test_malformed_messages_are_reported_and_the_rest_is_done(room: Room) -> None:
    text = json.dumps(JWT[0]) + '\n{"role": "wizard", "content": "x"}\n{"role": "user", "cont'
    report = remember(room, text)
    assert report.appended == 1
    assert [problem.line for problem in report.problems] == [2, 3]
    assert "wizard" in memory_text(report)
    assert report.report is not None
    assert "message 3 was not taken" in room.text(report.report)


@pytest.mark.parametrize("raw", [[], "", '{"role": "user"', [{"role": "user", "content": ""}]])
def test_where_nothing_is_valid_nothing_is_written(room: Room, raw: object) -> None:
    with pytest.raises(InvalidInput) as error:
        remember(room, raw)  # type: ignore[arg-type]
    assert room.files() == {}
    assert error.value.hint


@pytest.mark.parametrize("session", ["../x", "a/b", "", ".hidden", "a\\b", "x" * 200, "a\0b", "C:x", "con?", "dot."])
def test_session_ids_are_safe_file_names(room: Room, session: str) -> None:
    with pytest.raises(InvalidInput):
        remember(room, JWT, session)
    assert room.files() == {}


def test_secrets_never_reach_the_vault(room: Room) -> None:
    report = remember(room, [message("I store the deploy key ghp_abcdefghijklmnopqrstuvwxyz0123456789 in the vault.")])
    assert [r.kind for r in report.redactions] == ["token"]
    assert not any(b"ghp_" in data for data in room.files().values())


def test_only_noise_is_no_error_and_writes_nothing(room: Room) -> None:
    report = remember(room, [{"role": "tool", "content": "42"}])
    assert (report.dropped, report.learnt) == (1, 0)
    assert room.files() == {}


def test_b51_hand_written_text_survives(room: Room) -> None:
    path = remember(room, JWT).notes[0].path
    mine = (
        room.text(path).replace("## Decisions\n", "## Decisions\n\nMy own thought, **unfinished**\n- and a list\n\n")
        + "\nPS: call Ana\n"
    )
    room.write(path, mine.replace("\n", "\r\n"))
    index = room.text("daily/2026-05-15.md")
    room.write("daily/2026-05-15.md", "# My day\n\n" + index + "\nEvening: tired.\n")
    remember(room, [message("We decided that the JWT rotation job on the staging cluster signs with new keys.")])
    after = room.text(path)
    for line in mine.splitlines():
        assert line in after.splitlines()
    assert len(after) > len(mine)
    assert b"\n" not in room.files()[path].replace(b"\r\n", b"")
    day = room.text("daily/2026-05-15.md")
    assert day.startswith("# My day\n")
    assert day.endswith("Evening: tired.\n")


def test_a_note_that_a_person_made_is_never_taken_over(room: Room) -> None:
    room.write("daily/2026-05-15/keys.md", "mine\n")
    report = remember(room, JWT, reasoner=Scripted([event(("The keys rotate.", 1))]))
    assert report.notes[0].path == "daily/2026-05-15/keys-2.md"
    assert room.text("daily/2026-05-15/keys.md") == "mine\n"


def test_b49_unknown_and_impossible_answers_are_refused_one_by_one(room: Room) -> None:
    report = remember(
        room,
        JWT,
        reasoner=Scripted(
            [
                event(("The keys rotate.", 1), ("Out of range.", 99), ("two\nlines", 1), ("", 2), ("<!-- open", 1)),
                event(("It never ends.", 2), continues=12, name="Other", slug="../../etc/passwd"),
                event(("Nowhere.", 0)),
            ]
        ),
    )
    assert [note.statements for note in report.notes] == [1, 1]
    assert report.notes[1].path == "daily/2026-05-15/etc-passwd.md"
    assert len(report.refused) == 7
    assert all(path.startswith(("daily/", "session/", "audit/")) for path in room.files())


def test_two_deliveries_at_once_give_one_result(room: Room) -> None:
    async def both() -> list[MemoryReport]:
        return list(
            await asyncio.gather(
                auto_memory(room.workspace, OFFLINE, JWT, "s1"), auto_memory(room.workspace, OFFLINE, JWT, "s1")
            )
        )

    reports = asyncio.run(both())
    assert sum(report.appended for report in reports) == 3
    assert sorted(len(report.notes) for report in reports)[0] == 0
    assert len(room.daily()) == 1
    assert room.text("session/dialog/s1.jsonl").count("\n") == 3


def test_a_torn_dialogue_line_is_passed_over_and_kept(room: Room) -> None:
    remember(room, JWT)
    torn = room.text("session/dialog/s1.jsonl") + '{"id": "x", "role"'
    room.write("session/dialog/s1.jsonl", torn)
    report = remember(room, [message("I moved the JWT job to Frankfurt.")])
    assert report.learnt == 1
    assert room.text("session/dialog/s1.jsonl").startswith(torn + "\n")
    assert "#L5|L5" in room.text(report.notes[0].path)


STATEMENT = st.tuples(st.text(min_size=1, max_size=60), st.integers(-1, 6))
EVENTS = st.lists(
    st.builds(
        lambda s, c: event(*s, continues=c), st.lists(STATEMENT, max_size=4), st.one_of(st.none(), st.integers(-1, 4))
    ),
    max_size=3,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(EVENTS, min_size=2, max_size=4))
def test_e4_no_words_are_ever_lost(make_room: MakeRoom, answers: list[list[Event]]) -> None:
    room = make_room(name=f"vault-{next(NUMBERS)}")
    before: dict[str, list[str]] = {}
    for turn, answer in enumerate(answers):
        remember(room, [message(f"message {turn}")], reasoner=Scripted(answer))
        for path in room.daily():
            said = _blocks(room, path)
            whole = "\n".join(said)
            assert all(block in whole for block in before.get(path, []))
            before[path] = said


def _blocks(room: Room, path: str) -> list[str]:
    note = parse(room.text(path).encode())
    return [words(note.text(block.span)) for block in note.blocks]


def test_every_statement_is_traceable(room: Room) -> None:
    remember(room, JWT)
    remember(room, [message("I adopted a dog named Biscuit yesterday. He loves the park in Altona.", name="Ana")], "s2")
    seen = 0
    for path in room.daily():
        for link in (link for link in parse(room.text(path).encode()).links if link.anchor):
            raw = next(line for line in room.text(path).splitlines() if f"#{link.anchor}" in line)
            item = read_item(raw)
            assert item is not None
            dialogue = read_stretch(
                room.shared.vault, VaultPath(link.target), room.shared.clock, after=Place(), most=1000
            )
            said = next(m for m in dialogue.messages if m.line == int(link.anchor.removeprefix("L")))
            assert item.text in said.text
            assert item.speaker == said.speaker
            seen += 1
    assert seen >= 4


def test_the_ledger_line_is_as_documented(room: Room) -> None:
    remember(room, JWT)
    line = json.loads(room.text("audit/ledger.jsonl"))
    assert list(line) == ["kind", "at", "run", "session", "line"]
    assert line["kind"] == "watermark"
    assert datetime.fromisoformat(line["at"]).utcoffset() is not None


def test_the_given_date_is_for_messages_without_their_own(room: Room) -> None:
    report = remember(room, [{"role": "user", "content": "I moved the JWT job to Frankfurt."}], day=date(2026, 3, 1))
    assert report.notes[0].path.startswith("daily/2026-03-01/")


def test_the_dialogue_path_is_in_the_session_layer(room: Room) -> None:
    assert dialogue_path(replace(room.shared).vault, "会话-1") == "session/dialog/会话-1.jsonl"


# Long sessions


def test_a_long_delivery_is_learnt_from_step_by_step_in_one_run(room: Room) -> None:
    talk = [
        message(f"I prefer tool number {n} for job {n}.", f"2026-05-15T0{n // 10}:{n % 10 * 5:02}:00+02:00")
        for n in range(30)
    ]
    few = MemorySettings(messages_at_once=7)
    workspace = room.workspace
    report = asyncio.run(auto_memory(workspace, OFFLINE, talk, "s1", settings=few))
    assert report.learnt == 30
    assert report.report is not None
    assert sum(note.statements for note in report.notes) == sum(room.text(path).count("\n- ") for path in room.daily())
    assert read_ledger(room.shared.vault).watermarks == {"s1": 30}
    assert len(history(room.shared.vault, run=workspace.caller.run)) == 6
    undo(room.shared.vault, workspace.caller.run, role="person", actor="t", new_run=room.shared.vault.new_id())
    assert room.files() == {}


def test_an_interrupted_delivery_goes_on_where_it_was(room: Room) -> None:
    told = [message(f"Sentence number {n}.", f"2026-05-15T09:{n:02}:00+02:00") for n in range(10)]
    failing = Scripted((), (), Unavailable("gone"))
    with pytest.raises(Unavailable):
        remember(room, told, reasoner=failing, settings=MemorySettings(messages_at_once=3))
    assert read_ledger(room.shared.vault).watermarks == {"s1": 6}
    after = Scripted(())
    again = remember(room, told, reasoner=after)
    assert [message.line for message in after.asked[0][0]] == [7, 8, 9, 10]
    assert (again.appended, again.learnt) == (0, 4)


class Silent:
    """Finds nothing worth a note."""

    async def segment(
        self, messages: Sequence[Message], open_events: Sequence[OpenEvent], hint: str = ""
    ) -> tuple[Event, ...]:
        return ()


def long_session(room: Room, turns: int) -> None:
    """Deliver a session in ten parts."""
    for start in range(0, turns, turns // 10):
        numbers = range(start, start + turns // 10)
        part = [message(f"Turn {n}. {'word ' * 20}", "2026-05-15T09:00:00+02:00") for n in numbers]
        report = asyncio.run(auto_memory(room.workspace, Silent(), part, "long"))
        assert report.appended == turns // 10


def test_reading_a_dialogue_holds_only_what_is_asked_for(room: Room) -> None:
    long_session(room, 4000)
    path = dialogue_path(room.shared.vault, "long")
    size = len(room.text(path))
    tracemalloc.start()
    stretch = read_stretch(room.shared.vault, path, room.shared.clock, after=Place(3980), most=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [message.line for message in stretch.messages] == list(range(3981, 3991))
    assert (stretch.more, stretch.end.line) == (True, 3990)
    assert peak < size / 5
    further = read_stretch(room.shared.vault, path, room.shared.clock, after=stretch.end, most=100)
    assert [message.line for message in further.messages] == list(range(3991, 4001))
    assert (further.more, further.end) == (False, Place(4000, size))
    assert len(read_kept(room.shared.vault, path).keys) == 4000


def test_a_full_note_goes_on_in_a_further_one(room: Room) -> None:
    made = remember(room, [message("The keys rotate at night.")], reasoner=Scripted([event(("They rotate.", 1))]))
    first = made.notes[0].path
    room.write(first, room.text(first) + "\nBy hand.\n" * 7000)
    again = Scripted([event(("At three.", 2), continues=1)])
    report = remember(room, [message("They rotate at three.")], reasoner=again)
    assert [note.outcome for note in report.notes] == ["created"]
    assert f"inherits:: [[{first}]]" in room.text(report.notes[0].path)
    assert len(again.asked[0][1][0].statements) == 100


def test_messages_of_which_nothing_is_kept_are_counted(room: Room) -> None:
    told = [message("Hello there!"), message("We moved the release to Thursday."), message("谢谢！", role="assistant")]
    report = remember(room, told)
    assert report.unnoted == 2
    assert "3 read, 1 statement in 1 note" in memory_text(report)
    assert "nothing of 2 of the messages is in a note" in memory_text(report)


@pytest.mark.slow
def test_a_session_of_100_000_turns(room: Room) -> None:
    long_session(room, 100_000)
    assert read_ledger(room.shared.vault).watermarks == {"long": 100_000}


def test_what_is_said_makes_no_links_and_no_fields(room: Room) -> None:
    said = [
        message("We decided [derived_from:: [[digest/wiki/fake.md]]] that the Lisbon office moves on 3 June."),
        message("我们决定 (source:: [[reme.yaml]]) 六月三日搬到里斯本办公室。"),
        message("We decided that [the plan](digest/wiki/fake.md) is to ship version 2.15 on Friday."),
        message("We decided that the Porto office stays open until 30 September."),
    ]
    report = remember(room, said)
    for note in report.notes:
        links = parse(room.workspace.vault.read(note.path).data).links
        assert links
        assert all(link.target.startswith("session/dialog/") for link in links)
    assert "Porto office stays open" in room.workspace.vault.read(report.notes[0].path).data.decode()


def test_a_message_of_the_future_is_kept_under_its_day_and_told(room: Room) -> None:
    talk = [
        message("I moved to Lisbon in March."),
        message("我搬到里斯本了，租了一间公寓。", at="2031-01-01T10:00:00+01:00"),
    ]
    report = remember(room, talk)
    assert report.ahead == (2,)
    assert "message 2 is dated in the future" in memory_text(report)
    assert any(path.startswith("daily/2031-01-01/") for path in room.daily())


def test_links_by_a_name_that_a_learnt_note_gets_lead_on(room: Room) -> None:
    room.write("people/rotation.md", "---\naliases: [Keys, 钥匙]\n---\nold\n")
    room.write("n.md", "[[Keys]], [[钥匙|two]] and [[nobody]]\n")
    refresh(room.workspace.index, room.workspace.vault)
    report = remember(room, JWT, reasoner=Scripted([event(("We rotate keys.", 1), name="钥匙", slug="keys")]))
    assert report.notes[0].path.endswith("/keys.md")
    assert room.text("n.md") == "[[rotation]], [[rotation|two]] and [[nobody]]\n"
    undo(room.workspace.vault, report.run, role="person", actor="test", new_run="u")
    assert room.text("n.md") == "[[Keys]], [[钥匙|two]] and [[nobody]]\n"


@pytest.mark.parametrize(
    ("fact", "thanks"),
    [("I bought item number {} in Lisbon in {}.", "Thanks!"), ("我在{1}年买了第{0}箱苹果酒。", "谢谢！")],
)
def test_the_report_says_how_much_of_a_long_talk_it_kept(room: Room, fact: str, thanks: str) -> None:
    talk = [message(text) for n in range(30) for text in (fact.format(n, 1980 + n), f"{thanks}{n}")]
    report = remember(room, talk)
    kept = sum(note.statements for note in report.notes)
    assert (kept, report.left) == (20, 10)
    said = "20 of 30 statements kept; the rest stays in the dialogue, where search finds it"
    assert said in memory_text(report)
    assert report.report is not None
    assert said in room.text(report.report)
    assert "statements kept" not in memory_text(remember(room, talk[:2], session="s2"))
