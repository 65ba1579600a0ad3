"""``reme runtime`` keeps the index in step with the files until it is told to stop."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reme.app import open_vault

from .conftest import environment


@pytest.mark.skipif(sys.platform == "win32", reason="stops by a signal that Windows does not have")
def test_what_is_saved_is_indexed_without_a_question(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".reme").mkdir(parents=True)
    command = [sys.executable, "-m", "reme", "--vault", str(root), "runtime"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stderr
    assert process.stdout
    try:
        assert b"keeping the index" in process.stderr.readline()
        (root / "笔记.md").write_text("# 茶\n", encoding="utf-8")
        with open_vault(root) as app:
            deadline = time.monotonic() + 60
            while app.index.note("笔记.md") is None:
                assert time.monotonic() < deadline, "the saved note was not indexed"
                time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=60)
    assert rest == (b"", b"")
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="stops by a signal that Windows does not have")
def test_links_follow_what_other_programs_rename_where_that_is_set(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".reme").mkdir(parents=True)
    (root / "reme.yaml").write_text("links:\n  follow_renames: true\n", encoding="utf-8")
    (root / "a.md").write_text("# 茶\n", encoding="utf-8")
    (root / "b.md").write_text("see [[a]] today\n", encoding="utf-8")
    command = [sys.executable, "-m", "reme", "--vault", str(root), "runtime"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stderr
    try:
        assert b"keeping the index" in process.stderr.readline()
        with open_vault(root) as app:
            deadline = time.monotonic() + 60
            while app.index.note("b.md") is None:
                assert time.monotonic() < deadline, "the notes were not indexed"
                time.sleep(0.05)
            (root / "a.md").rename(root / "tea.md")
            while (root / "b.md").read_text("utf-8") != "see [[tea]] today\n":
                assert time.monotonic() < deadline, "the link did not follow"
                time.sleep(0.05)
            while not (runs := [run for run in app.state.runs() if run.outcome]):
                assert time.monotonic() < deadline, "the run was not logged"
                time.sleep(0.05)
            assert [(run.operation, run.actor, run.role, run.outcome) for run in runs] == [
                ("follow_renames", "runtime", "system", "ok")
            ]
            told = app.call("status", {}, role="person", actor="cli")
            assert told.keeper.pid == process.pid
            assert told.keeper.status.watching
            app.call("wait", {"timeout": 30}, role="agent", actor="cli")
            app.call("undo", {"run": runs[0].id}, role="person", actor="cli")
            assert (root / "b.md").read_text("utf-8") == "see [[a]] today\n"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
