"""A procedure on its way from what was said to the digest: whole, in order, each step with its source."""

import asyncio
import json
from datetime import date

import pytest

from reme.actions import auto_dream, auto_memory, dream_text, memory_text
from reme.actions.nodes import Citing, read_node, work_in
from reme.actions.statements import Item
from reme.paths import VaultPath
from reme.reason import Claim, Insert, OfflineReasoner

from .conftest import Room
from .test_memory import message

OFFLINE = OfflineReasoner()
ENGLISH = (
    "How we release the gateway:\n1. Freeze the branch\n2. Ana announces it\n3. Run `make smoke`; wait for 37 checks\n"
    "4. Tag\n5. Push the tag"
)
CHINESE = "门店盘点的步骤：\n第一步：停止收银\n第二步：清点货架\n第三步：周牧复核\n第四步：恢复收银"


def steps(text: str) -> list[tuple[str, str]]:
    """The numbered items of a note: number and statement."""
    items = (line.partition(". ") for line in text.splitlines() if line[:1].isdigit())
    return [(number, rest.partition(" (")[0]) for number, _, rest in items]


@pytest.mark.parametrize(
    ("told", "again", "node", "expected"),
    [
        (
            ENGLISH,
            ENGLISH.replace("2. Ana", "2. Tell Bo\n3. Ana").replace("37", "38"),
            "digest/procedure/release-the-gateway.md",
            [
                "Freeze the branch",
                "Tell Bo",
                "Ana announces it",
                "Run `make smoke`; wait for 37 checks",
                "Tag",
                "Push the tag",
            ],
        ),
        (
            CHINESE,
            CHINESE.replace("第四", "第五").replace("第三", "第四").replace("第二步：", "第二步：关闭大门\n第三步："),
            "digest/procedure/门店盘点的步骤.md",
            ["第一步：停止收银", "第二步：关闭大门", "第二步：清点货架", "第三步：周牧复核", "第四步：恢复收银"],
        ),
    ],
)
def test_a_procedure_that_recurs_stays_whole_and_in_order(
    room: Room, told: str, again: str, node: str, expected: list[str]
) -> None:
    asyncio.run(auto_memory(room.workspace, OFFLINE, [message(told)], "monday"))
    daily = next(path for path in room.daily() if path.startswith("daily/2026-05-15"))
    numbers = [int(number) for number, _ in steps(room.text(daily))]
    assert numbers == list(range(1, len(numbers) + 1))
    asyncio.run(auto_dream(room.workspace, OFFLINE))
    assert room.digest() == [node]
    later = [message(again, at="2026-05-15T11:30:00+02:00")]
    asyncio.run(auto_memory(room.workspace, OFFLINE, later, "tuesday"))
    asyncio.run(auto_dream(room.workspace, OFFLINE))
    assert room.digest() == [node]
    text = room.text(node)
    assert steps(text) == [(str(number), statement) for number, statement in enumerate(expected, start=1)]
    conflicts = [line.partition(" (")[0] for line in text.splitlines() if line.startswith("> [!conflict]")]
    assert conflicts == ["> [!conflict] Run `make smoke`; wait for 38 checks"] * (told is ENGLISH)


def test_steps_count_on_from_one_that_is_put_in_and_no_further() -> None:
    cited = "(Ana, 2026-05-01) — [[daily/2026-05-01/a.md]]"
    body = f"- Release: {cited}\n1. Tag {cited}\n2. Push {cited}\n\n> [!conflict] Pull {cited}\n\n3. Tell {cited}\n"
    body += f"- Back up: {cited}\n1. Stop {cited}\n2. Copy {cited}\n"
    node = read_node(VaultPath("digest/procedure/p.md"), body.encode())
    source = (VaultPath("daily/2026-05-02/b.md"),)
    citing = Citing(lambda claim: Item(claim.text, "Bo", date(2026, 5, 2), step=7), lambda _: source)
    worked = work_in(node, (Insert(2, Claim("Wait", (1,))), Insert(7, Claim("停", (1,)))), citing, ())
    assert steps(worked.data.decode()) == [
        ("1", "Tag"), ("2", "Wait"), ("3", "Push"), ("4", "Tell"), ("1", "Stop"), ("2", "停"), ("3", "Copy")
    ]  # fmt: skip


def test_every_step_is_traceable_to_the_line_that_tells_it(room: Room) -> None:
    asyncio.run(auto_memory(room.workspace, OFFLINE, [message(ENGLISH), message(CHINESE)], "s1"))
    asyncio.run(auto_dream(room.workspace, OFFLINE))
    derived = [json.loads(line) for line in room.text("audit/ledger.jsonl").splitlines()]
    taken = {s["text"]: (d["source"], s["line"]) for d in derived if d["kind"] == "derived" for s in d["statements"]}
    found = [statement for node in room.digest() for _, statement in steps(room.text(node))]
    assert len(found) == 9
    for statement in found:
        source, line = taken[statement]
        assert f". {statement} (user" in room.text(source).splitlines()[line - 1]
        assert "[[session/dialog/s1.jsonl#L" in room.text(source).splitlines()[line - 1]


def test_a_list_in_a_note_of_a_person_keeps_its_numbers_when_a_step_is_put_in(room: Room) -> None:
    note = "---\nname: 备份\n---\n\n1. 停掉写入服务\n2. 导出数据库\n3. 恢复写入服务\n"
    room.write("daily/2026-05-15/b.md", note)
    asyncio.run(auto_dream(room.workspace, OFFLINE))
    room.write("daily/2026-05-15/b.md", note.replace("3. 恢", "3. 通知周牧\n4. 恢"))
    asyncio.run(auto_dream(room.workspace, OFFLINE))
    assert room.digest() == ["digest/procedure/备份.md"]
    assert steps(room.text("digest/procedure/备份.md")) == [
        ("1", "停掉写入服务"),
        ("2", "导出数据库"),
        ("3", "通知周牧"),
        ("4", "恢复写入服务"),
    ]


def test_tables_code_and_quotations_are_told_as_left_out(room: Room) -> None:
    said = "The jobs run on the NAS in Ghent:\n\n| job | at |\n|---|---|\n| backup | 02:00 |\n\n```sh\nmake backup\n```"
    report = asyncio.run(auto_memory(room.workspace, OFFLINE, [message(said)], "s1"))
    assert report.unstated == ((1, "a table of 3 lines"), (1, "code of 3 lines"))
    assert "stays in the dialogue: a table of 3 lines (line 1)" in memory_text(report)
    assert "make backup" in room.text("session/dialog/s1.jsonl")
    room.write("daily/2026-05-15/own.md", f"{said}\n\n> Ana: move it to 03:00.\n")
    dreamt = asyncio.run(auto_dream(room.workspace, OFFLINE))
    left = {(dropped.line, dropped.text) for dropped in dreamt.dropped if dropped.source == "daily/2026-05-15/own.md"}
    assert {(3, "a table of 3 lines"), (7, "code of 3 lines"), (11, "a quotation of 1 line")} <= left
    assert "not taken up: code of 3 lines (daily/2026-05-15/own.md, line 7)" in dream_text(dreamt)


def test_a_list_below_a_heading_that_says_how_is_a_procedure(room: Room) -> None:
    room.write(
        "daily/2026-05-15/own.md",
        "---\nname: Friday\n---\n\n## How to restart the importer\n\n- Stop the job on the NAS\n- Clear the queue\n"
        "- Start the job again\n\n## 门店盘点的步骤\n\n- 停止收银\n- 清点货架\n- 周牧复核\n\n## Bought\n\n"
        "- 4 oil filters\n- 2 fuses\n",
    )
    asyncio.run(auto_dream(room.workspace, OFFLINE))
    nodes = [path for path in room.digest() if path.startswith("digest/procedure/")]
    assert nodes == ["digest/procedure/restart-the-importer.md", "digest/procedure/门店盘点的步骤.md"]
    first, second = (room.text(node) for node in nodes)
    assert first.index("Stop the job") < first.index("Clear the queue") < first.index("Start the job again")
    assert second.index("停止收银") < second.index("清点货架") < second.index("周牧复核")
    assert "filters" not in first + second
