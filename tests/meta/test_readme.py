"""The five-minute start of each README is carried out, line by line, as a reader would."""

import contextlib
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from reme.faces.cli.entry import run

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```\n(reme init .*?)^```", re.MULTILINE | re.DOTALL)


def commands(readme: str) -> list[list[str]]:
    (block,) = BLOCK.findall((ROOT / readme).read_text("utf-8"))
    return [words for line in block.splitlines() if (words := shlex.split(line, comments=True))]


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_five_minutes(
    readme: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    with contextlib.chdir(tmp_path):
        for words in commands(readme):
            if words[0] == "cd":
                contextlib.chdir(words[1]).__enter__()
                continue
            assert words[0] == "reme"
            given = [latest_run(capsys) if word == "RUN" else word for word in words[1:]]
            capsys.readouterr()
            code = run(given)
            assert code == 0, f"{shlex.join(given)}: {capsys.readouterr().err}"


def latest_run(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(["log", "--limit", "1", "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["runs"][0]["run"])
