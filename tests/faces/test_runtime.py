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
