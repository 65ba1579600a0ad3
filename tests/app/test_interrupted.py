"""A process that is killed amid a change: whoever looks next sees all of it, and is told."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reme.app import App, open_vault
from reme.config import create_vault

SRC = Path(__file__).parents[2] / "src"
NOTES = 300
TRIES = 20

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")


def lay(root: Path) -> None:
    create_vault(root, {"TZ": "Asia/Shanghai"})
    (root / "茶 tea").mkdir()
    for number in range(NOTES):
        (root / f"茶 tea/{number}.md").write_text(f"# 茶 {number}\n\n[[茶 tea/{(number + 1) % NOTES}.md]]\n", "utf-8")


def names(root: Path) -> tuple[int, int]:
    return len(list(root.glob("茶 tea/*.md"))), len(list(root.glob("drinks/*.md")))


def half_moved(base: Path) -> Path:
    """A vault whose folder a killed process has moved in part."""
    for attempt in range(TRIES):
        root = base / str(attempt)
        lay(root)
        command = [sys.executable, "-m", "reme", "--vault", str(root), "--role", "person", "move", "茶 tea", "drinks"]
        environment = {**os.environ, "PYTHONPATH": str(SRC)}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not names(root)[1]:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if all(names(root)):
            assert (root / ".reme/journal/pending.zip").exists()
            return root
    raise AssertionError(f"{TRIES} moves were over before they could be killed")


def finished(root: Path) -> bool:
    return names(root) == (0, NOTES) and "[[drinks/1.md]]" in (root / "drinks/0.md").read_text("utf-8")


def status(app: App) -> tuple[str, ...]:
    app.call("status", {}, role="agent", actor="test")
    return app.take_notices()


def test_a_reader_finishes_it_and_tells(tmp_path: Path) -> None:
    root = half_moved(tmp_path)
    with open_vault(root) as app:
        assert any("has been finished" in notice and "drinks" in notice for notice in status(app))
        assert finished(root)
        assert app.call("read", {"path": "drinks/7.md"}, role="agent", actor="test").text.startswith("# 茶 7")
        assert not status(app)


def test_but_not_while_a_writer_is_at_work(tmp_path: Path) -> None:
    root = half_moved(tmp_path)
    with open_vault(root) as writer, open_vault(root) as app:
        before = names(root)
        assert writer.vault.lock.__enter__()
        assert not status(app)
        assert names(root) == before
        writer.vault.lock.__exit__(None, None, None)
        assert status(app)
        assert finished(root)


def test_a_runtime_finishes_it_by_itself(tmp_path: Path) -> None:
    root = half_moved(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    command = [sys.executable, "-m", "reme", "--vault", str(root), "runtime"]
    runtime = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not finished(root) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert finished(root)
    finally:
        runtime.send_signal(signal.SIGTERM)
        runtime.wait(20)
