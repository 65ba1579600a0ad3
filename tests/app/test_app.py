"""An open vault: its lifecycle, and the one way to run an operation in it."""

import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest

import reme.app
from reme.app import App, build_catalog, open_vault
from reme.catalog import Operation
from reme.config import Settings
from reme.errors import ConfigError, InvalidInput, Refused, Unavailable
from reme.tools import log_text, undo_text

from ..catalog.toys import ECHO, Echo

NOW = datetime(2026, 5, 15, 9, 30, tzinfo=UTC)


def keep(workspace: Any, text: Annotated[str, "What to keep"]) -> Echo:
    """Pretend to keep something."""
    if text == "typed":
        raise Refused("not this")
    if text == "disk":
        raise OSError(28, "No space left on device", "/secret/place/note.md")
    if text == "folder":
        raise PermissionError(13, "Permission denied", str(workspace.vault.root / "茶/dev"))
    if text == "bug":
        raise ValueError("nobody foresaw it")
    return Echo(f"kept {text}\nand more", (), 1, {"run": workspace.caller.run, "role": workspace.caller.role})


async def think(workspace: Any, reasoner: Any, text: Annotated[str, "About what"]) -> Echo:
    """Pretend to think."""
    return Echo(f"{text} by {type(reasoner).__name__}", (), 1, {})


KEEP = dataclasses.replace(ECHO, name="keep", function=keep, effects="write")
THINK = Operation("think", "learn", think, "write", lambda result: result.text, reasons=True)
PRIVATE = dataclasses.replace(ECHO, name="private", roles=frozenset({"person"}))


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    (tmp_path / "note.md").write_text("# Tea\n")
    with open_vault(tmp_path, instant=lambda: NOW) as opened:
        opened.catalog.add(ECHO, KEEP, THINK, PRIVATE)
        yield opened


def test_a_read_is_answered_and_not_logged(app: App) -> None:
    result = app.call("echo_back", {"text": "茶"}, role="agent", actor="test")
    assert result.text == "茶"
    assert app.state.runs() == []
    assert not app.state.path.exists()


def test_a_write_is_logged_with_its_run_and_outcome(app: App) -> None:
    result = app.call("keep", {"text": "x"}, role="person", actor="test")
    (run,) = app.state.runs()
    assert (run.operation, run.actor, run.role, run.outcome, run.summary) == ("keep", "test", "person", "ok", "kept x")
    assert result.extra == {"run": run.id, "role": "person"}
    assert run.started == NOW


@pytest.mark.parametrize(
    ("text", "error", "outcome"),
    [("typed", Refused, "refused"), ("disk", Unavailable, "unavailable"), ("bug", ValueError, "bug")],
)
def test_what_fails_is_logged_too(app: App, text: str, error: type[Exception], outcome: str) -> None:
    with pytest.raises(error):
        app.call("keep", {"text": text}, role="agent", actor="test")
    assert [run.outcome for run in app.state.runs()] == [outcome]


def test_an_error_of_the_system_is_named_without_the_place(app: App) -> None:
    with pytest.raises(Unavailable, match=r"^note\.md: No space left on device$"):
        app.call("keep", {"text": "disk"}, role="agent", actor="test")
    with pytest.raises(Unavailable, match=r"^茶/dev: Permission denied$"):
        app.call("keep", {"text": "folder"}, role="agent", actor="test")


def test_nothing_is_logged_of_what_was_not_begun(app: App) -> None:
    with pytest.raises(InvalidInput):
        app.call("keep", {}, role="agent", actor="test")
    with pytest.raises(InvalidInput, match="there is no operation"):
        app.call("kept", {}, role="agent", actor="test")
    with pytest.raises(Refused, match="not for the role agent"):
        app.call("private", {"text": "x"}, role="agent", actor="test")
    assert app.state.runs() == []


def test_a_reasoning_operation_gets_the_reasoner(app: App) -> None:
    assert app.call("think", {"text": "tea"}, role="agent", actor="test").text == "tea by OfflineReasoner"


def test_each_call_is_a_run_of_its_own(app: App) -> None:
    runs = {app.call("keep", {"text": "x"}, role="agent", actor="test").extra["run"] for _ in range(5)}
    assert len(runs) == 5


def test_several_threads_share_an_open_vault(tmp_path: Path) -> None:
    (tmp_path / "digest/wiki").mkdir(parents=True)

    def work(number: int) -> list[str]:
        made: list[str] = []
        for turn in range(6):
            path = f"digest/wiki/第{number}-{turn}号.md"
            text = f"# Note {number}-{turn}\n\nwords{number}x{turn} 第{number}之{turn}条记录\n"
            shared.call("write", {"path": path, "content": text}, role="person", actor=f"thread {number}")
            found = shared.call("search", {"query": f"words{number}x{turn}"}, role="person", actor="x")
            assert [hit.path for hit in found.hits][:1] == [path]
            made.append(path)
            shared.call("status", {}, role="person", actor="x")
        return made

    with open_vault(tmp_path) as shared, ThreadPoolExecutor(6) as threads:
        made = [path for paths in threads.map(work, range(6)) for path in paths]
        runs = shared.state.runs(limit=100)
        listed = shared.call("list", {"path": "digest/wiki"}, role="person", actor="x")
    assert {file.path for file in listed.files} == set(made)
    assert [run.outcome for run in runs] == ["ok"] * len(made)
    assert len({run.id for run in runs}) == len(made)


def test_a_log_that_cannot_be_finished_does_not_lose_the_result(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Unavailable("full")

    monkeypatch.setattr(app.state, "finish", fail)
    assert app.call("keep", {"text": "x"}, role="agent", actor="test").text.startswith("kept x")


def test_opening_makes_nothing_but_the_state_folder(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Tea\n")
    with open_vault(tmp_path):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [".reme", "note.md"]


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    app = open_vault(tmp_path)
    with app:
        app.close()
    app.close()


def test_a_failed_start_closes_what_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    class Vault(reme.app.Vault):
        def close(self) -> None:
            closed.append("vault")
            super().close()

    class State(reme.app.State):
        def close(self) -> None:
            closed.append("state")
            super().close()

    def fail(*_: object) -> None:
        raise Unavailable("no index today")

    monkeypatch.setattr(reme.app, "Vault", Vault)
    monkeypatch.setattr(reme.app, "State", State)
    monkeypatch.setattr(reme.app, "open_index", fail)
    with pytest.raises(Unavailable, match="no index today"):
        open_vault(tmp_path)
    assert closed == ["state", "vault"]


def test_no_folder_is_no_vault(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        open_vault(tmp_path / "gone")
    assert list(tmp_path.iterdir()) == []


def test_where_the_state_cannot_be_kept_the_index_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reme.app.os, "access", lambda *_: False)
    with open_vault(tmp_path) as app:
        (notice,) = app.take_notices()
        assert "cannot be written" in notice
        assert app.take_notices() == ()
    assert not list(tmp_path.rglob("index.db*"))


def test_a_workspace_tells_what_brings_the_digests_views_up_to_date(app: App) -> None:
    (view,) = app.workspace("person", "test").views()
    assert view.path == "digest/_buckets.md"
    assert b"<!-- reme:begin buckets -->" in view.function(None)


@pytest.mark.parametrize(
    ("fact", "other"),
    [
        ("We decided to rotate the JWT signing keys every 90 days.", "The JWT job runs on the cluster in Ghent."),
        ("我们决定每90天轮换一次JWT签名密钥。", "JWT轮换任务跑在宁波的集群上。"),
    ],
)
def test_undoing_what_a_dream_has_used_tells_the_nodes_that_now_have_no_source(
    tmp_path: Path, fact: str, other: str
) -> None:
    with open_vault(tmp_path, instant=lambda: NOW) as app:

        def call(name: str, **given: Any) -> Any:
            return app.call(name, given, role="person", actor="test")

        said = [{"role": "user", "content": fact, "timestamp": NOW.isoformat()}]
        first = call("auto_memory", messages=said, session_id="s1")
        node = call("auto_dream").units[0].node
        more = [{"role": "user", "content": other, "timestamp": NOW.isoformat()}]
        second = call("auto_memory", messages=more, session_id="s1")
        unused = call("undo", run=second.run)
        assert unused.unsourced == ()
        would = call("undo", run=first.run, dry_run=True)
        assert would.unsourced == (node,)
        assert f"{node} states what was learnt from this and would have no source" in undo_text(would)
        undone = call("undo", run=first.run)
        assert undone.unsourced == (node,)
        assert undone.paths == would.paths
        assert f"{node} states what was learnt from this and now has no source" in undo_text(undone)
        assert call("stale").stale[0].node == node
        assert call("undo", run="last", dry_run=True).unsourced == ()
        assert call("undo", run=undone.undo_run).unsourced == ()
        assert [run.operation for run in call("log").runs][:3] == ["undo", "undo", "undo"]
        assert [run.operation for run in call("log").runs][3:] == ["auto_memory", "auto_dream", "auto_memory"]
        assert "auto_dream by test (system)" in log_text(call("log"))
        (change,) = call("show", run="last").changes
        assert (change.operation, change.undoes) == ("undo", undone.undo_run)


DAYS = [
    (operation.name, parameter.name)
    for operation in build_catalog(Settings())
    for parameter in operation.parameters
    if parameter.name == "date" or parameter.name.endswith("_date")
]


@pytest.mark.parametrize(("name", "parameter"), DAYS)
@pytest.mark.parametrize("given", ["2026-13-01", "五月"])
def test_every_day_is_read_in_one_way(tmp_path: Path, name: str, parameter: str, given: str) -> None:
    with open_vault(tmp_path, instant=lambda: NOW) as app:
        needed = [each.name for each in app.catalog[name].parameters if each.required and each.name != parameter]
        with pytest.raises(InvalidInput, match=f"^`{parameter}`: '{given}' is no date$") as caught:
            app.call(name, dict.fromkeys(needed, "x") | {parameter: given}, role="person", actor="test")
    assert caught.value.hint == "Give a day as 2026-05-15, or today, or yesterday."
