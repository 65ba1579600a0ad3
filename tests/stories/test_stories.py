"""Stories: commands with what they print, checked word for word. They double as documentation.

A story is a ``.txt`` file: remarks that begin with ``#: ``, and commands that begin with ``$ ``, each followed by what
it prints. It starts in an empty folder beside a copy of ``examples``. To write all outputs anew:
``REWRITE_STORIES=1 make test``, then look at the difference.
"""

import contextlib
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from reme.faces.cli.entry import run

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
RUN_ID = re.compile(r"\b\d{8}-\d{6}-\d{6}-[0-9a-f]{6}\b")
VOLATILE = (
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "REVISION"),
    (re.compile(r"\baudit/\d{4}-\d\d-\d\d/"), "audit/TODAY/"),
    (re.compile(r"\brecency=\d\.\d\d\b"), "recency=…"),
)


class Transcript:
    """What was printed, with the ids of runs replaced by RUN1, RUN2, … in the order in which they appear."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: dict[str, str] = {}

    def shown(self, text: str) -> str:
        for run_id in RUN_ID.findall(text):
            self._runs.setdefault(run_id, f"RUN{len(self._runs) + 1}")
        text = RUN_ID.sub(lambda match: self._runs[match.group()], text).replace(str(self._folder), "STORY")
        for pattern, name in VOLATILE:
            text = pattern.sub(name, text)
        return text

    def meant(self, command: str) -> list[str]:
        names = {name: run_id for run_id, name in self._runs.items()}
        return [names.get(word, word) for word in shlex.split(command)]


def told(story: str, transcript: Transcript, capsys: pytest.CaptureFixture[str]) -> str:
    """The story with the output that its commands have now."""
    lines: list[str] = []
    for line in story.splitlines():
        if line.startswith("$ "):
            lines += [line, *output_of(transcript.meant(line[2:]), transcript, capsys), ""]
        elif line.startswith("#: "):
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"


def output_of(words: list[str], transcript: Transcript, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert words[0] == "reme"
    code = run(words[1:])
    printed = capsys.readouterr()
    lines = transcript.shown(printed.out + printed.err).rstrip("\n").splitlines()
    return [*lines, *([f"(exit code {code})"] if code else [])]


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda path: path.stem)
def test_story(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    monkeypatch.setenv("NO_COLOR", "1")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "story").mkdir()
    story = path.read_text("utf-8")
    with contextlib.chdir(tmp_path / "story"):
        now = told(story, Transcript(tmp_path), capsys)
    if os.environ.get("REWRITE_STORIES"):
        path.write_text(now, "utf-8")
    assert now == story or os.environ.get("REWRITE_STORIES")
