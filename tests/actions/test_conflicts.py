"""What is in conflict is listed with both statements, who said them, when and where."""

from pathlib import Path

import pytest

from reme.actions import conflicts, conflicts_text
from reme.errors import NotFound
from reme.faces.cli.entry import run
from reme.reason import Contradict, Create, Supersede, Update

from .conftest import Room
from .test_dream import SOURCE, Scripted, claim, dream, seeded

NODE = "digest/wiki/库房.md"
OLD = "- 库房钥匙在前台。 (林晓, 2026-05-11) — [[daily/2026-05-11/库房.md]]"
NEW = "库房钥匙在门卫那里。 (林晓, 2026-05-14) — [[daily/2026-05-14/库房.md]], [[daily/2026-05-15/库房.md]]"


def test_both_statements_are_told(room: Room) -> None:
    room.write(NODE, f"---\nname: 库房\n---\n\n{OLD}\n\n> [!conflict] {NEW}\n\n- 库房在二楼。\n")
    report = conflicts(room.workspace)
    (found,) = report.conflicts
    assert (found.node, found.name, report.total, report.truncated) == (NODE, "库房", 1, False)
    assert found.statement is not None
    assert (found.statement.line, found.statement.text) == (5, "库房钥匙在前台。")
    (against,) = found.against
    assert (against.line, against.text, against.speaker, against.date) == (
        7,
        "库房钥匙在门卫那里。",
        "林晓",
        "2026-05-14",
    )
    assert against.sources == ("daily/2026-05-14/库房.md", "daily/2026-05-15/库房.md")
    text = conflicts_text(report)
    assert f"{NODE}:5 库房\n  - 库房钥匙在前台。 (林晓, 2026-05-11) — daily/2026-05-11/库房.md\n  ! 库房" in text
    assert "To settle one" in text


def test_what_a_dream_flags_is_listed_until_a_model_decides(room: Room) -> None:
    seeded(room)
    dream(room, Scripted(Create((claim("The JWT signing keys rotate every 90 days."),))))
    assert conflicts(room.workspace).total == 0
    room.write(SOURCE, room.text(SOURCE).replace("90 days", "60 days"))
    dream(room, Scripted(Update(1, "correct", (Contradict(1, claim("The JWT signing keys rotate every 60 days.")),))))
    (found,) = conflicts(room.workspace).conflicts
    assert found.statement is not None
    assert (found.statement.text, found.against[0].text) == (
        "The JWT signing keys rotate every 90 days.",
        "The JWT signing keys rotate every 60 days.",
    )
    assert found.against[0].sources == (SOURCE,)


def test_what_is_superseded_is_in_no_conflict(room: Room) -> None:
    seeded(room)
    dream(room, Scripted(Create((claim("The keys rotate every 90 days."),))))
    room.write(SOURCE, room.text(SOURCE).replace("90 days", "60 days"))
    dream(room, Scripted(Update(1, "correct", (Supersede(1, claim("The keys rotate every 60 days.")),))))
    assert "[!superseded]" in room.text(room.digest()[0])
    assert conflicts(room.workspace).conflicts == ()


@pytest.mark.parametrize(
    "body",
    [
        f"> [!superseded] {OLD[2:]}\n\n> [!conflict] {NEW}\n",
        f"- 库房在二楼。\n\n> [!superseded] {OLD[2:]}\n\n> [!conflict] {NEW}\n",
        f"{OLD}\n\n> [!superseded] {NEW}\n",
        f"- {NEW}\n",
        f"Callouts are written `> [!conflict] {NEW}`.\n",
        f"```\n> [!conflict] {NEW}\n```\n",
    ],
    ids=["old one alone", "old one below another", "new one", "old one taken out", "code", "fence"],
)
def test_what_a_person_has_settled_is_not_listed(room: Room, body: str) -> None:
    room.write(NODE, body)
    assert conflicts(room.workspace).conflicts == ()


def test_several_against_one_and_a_value_that_was_replaced_before(room: Room) -> None:
    then = "> [!superseded] 在库房。 (林晓, 2026-05-10) (until 2026-05-11) — [[daily/2026-05-11/库房.md]]"
    room.write(NODE, f"{OLD}\n\n{then}\n\n> [!conflict] {NEW}\n\n> [!Conflict]- Mara has the key.\n\n- 库房在二楼。\n")
    (found,) = conflicts(room.workspace).conflicts
    assert found.statement is not None
    assert (found.statement.text, [said.text for said in found.against]) == (
        "库房钥匙在前台。",
        ["库房钥匙在门卫那里。", "Mara has the key."],
    )


def test_where_nothing_stands_above(room: Room) -> None:
    room.write(NODE, f"> [!conflict] {NEW}\n")
    (found,) = conflicts(room.workspace).conflicts
    assert found.statement is None
    assert conflicts_text(conflicts(room.workspace)).startswith(f"{NODE}:1 库房\n  ! 库房钥匙")


def test_scope_and_limit(room: Room) -> None:
    for number in range(3):
        room.write(f"digest/wiki/{number}.md", f"- A is {number}.\n\n> [!conflict] A is 7.\n")
    room.write("archive/old.md", "- A is 1.\n\n> [!conflict] A is 7.\n")
    assert [found.node for found in conflicts(room.workspace, ["digest/wiki/1"]).conflicts] == ["digest/wiki/1.md"]
    report = conflicts(room.workspace, limit=2)
    assert (len(report.conflicts), report.total, report.truncated) == (2, 3, True)
    assert "1 more: raise the limit" in conflicts_text(report)
    assert conflicts(room.workspace, ["archive"]).total == 1
    with pytest.raises(NotFound):
        conflicts(room.workspace, ["没有.md"])


def test_the_command_line_tells_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", str(tmp_path)]) == 0
    assert run(["--vault", str(tmp_path), "conflicts"]) == 0
    (tmp_path / "note.md").write_text(f"{OLD}\n\n> [!conflict] {NEW}\n", encoding="utf-8")
    capsys.readouterr()
    assert run(["--vault", str(tmp_path), "conflicts", "note.md"]) == 1
    assert "1 statement in conflict" in capsys.readouterr().out
