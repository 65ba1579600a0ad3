"""Killed at any moment, and run again: nothing that was said is skipped, nothing is there twice."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from . import crashing

STRACE = shutil.which("strace")
CALLS = ("fsync", "rename", "renameat2", "ftruncate")
REPOSITORY = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux" or STRACE is None, reason="needs strace")


def killed(root: Path, *options: str) -> str:
    """Run it under strace and say what it printed."""
    command = [str(STRACE), "-f", "-qq", *options, sys.executable, "-m", "tests.actions.crashing", str(root)]
    return subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False).stdout


def statements(root: Path, layer: str) -> Counter[str]:
    """How often each statement stands in a layer's notes."""
    items = (
        line
        for path in sorted((root / layer).rglob("*.md"))
        if path.parent.name != layer
        for line in path.read_text("utf-8").splitlines()
        if line.startswith(("- ", "> "))
    )
    return Counter(re.split(r" \((?:user, )?\d{4}-", item)[0] for item in items)


def whole(base: Path) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """What comes of a run that nobody kills, and how often it makes each call."""
    root = base / "whole"
    root.mkdir()
    log = base / "calls.log"
    assert "dreamt" in killed(root, "-o", str(log), "-e", f"trace={','.join(CALLS)}")
    calls = Counter(match[1] for line in log.read_text().splitlines() if (match := re.search(r"\b(\w+)\(", line)))
    return statements(root, "daily"), statements(root, "digest"), calls


def check(base: Path, stride: int) -> None:
    daily, digest, calls = whole(base)
    assert len(daily) >= 4
    assert len(digest) >= 4
    points = [(call, n) for call in CALLS for n in range(1, calls[call] + 1)][::stride]
    assert len(points) >= 4, calls
    for call, n in points:
        root = base / f"{call}-{n}"
        root.mkdir()
        killed(root, "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={n}")
        crashing.act(root)
        assert statements(root, "daily") == daily, f"killed at {call} {n}"
        assert statements(root, "digest") == digest, f"killed at {call} {n}"
        spoken = [json.loads(line) for line in (root / "session/dialog/s1.jsonl").read_text("utf-8").splitlines()]
        assert [turn["text"] for turn in spoken] == [turn["content"] for turn in crashing.TALK], f"killed at {call} {n}"
        shutil.rmtree(root)


def test_killed_at_some_calls(tmp_path: Path) -> None:
    check(tmp_path, stride=19)


@pytest.mark.slow
def test_killed_at_every_call(tmp_path: Path) -> None:
    check(tmp_path, stride=1)
