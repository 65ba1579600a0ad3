"""The model as a user meets it: by environment and ``reme.yaml``, through the command line, over HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reme.testing import Asked, ChatServer, Failure, Spoken

pytestmark = pytest.mark.enable_socket
TALK = [
    {"role": "user", "name": "林晓", "content": text, "timestamp": f"2026-05-15T09:{n:02}:00+08:00"}
    for n, text in enumerate(("我们周四发布2.14版。", "门店盘点改到每周三晚上。"))
]
EVENT = {
    "name": "发布与盘点",
    "statements": [
        {"line": 1, "text": "我们周四发布2.14版。", "kind": "decision"},
        {"line": 2, "text": "门店盘点改到每周三晚上。", "kind": "fact"},
    ],
}
ENGLISH = {
    "name": "Release and stocktaking",
    "statements": [{"line": 1, "text": "We release version 2.14 on Thursday.", "kind": "decision"}],
}
EVENTS = {"events": [EVENT]}


def whole(**message: object) -> Failure:
    """An answer in the very form in which a server sends it."""
    ended = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "finish_reason": ended, "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 700, "completion_tokens": 30}
    return Failure(200, json.dumps({"choices": [choice], "usage": usage}), {"Content-Type": "application/json"})


def called(arguments: object) -> Failure:
    return whole(content=None, tool_calls=[{"type": "function", "function": {"name": "x", "arguments": arguments}}])


class Shell:
    """A vault and a command line whose model is at an address."""

    def __init__(self, root: Path, url: str, **variables: str) -> None:
        root.mkdir(exist_ok=True)
        self.root = root / "vault"
        self.talk = root / "talk.json"
        self.talk.write_text(json.dumps(TALK, ensure_ascii=False), "utf-8")
        kept = {key: value for key, value in os.environ.items() if not key.startswith("REME_")}
        self.environment = kept | {
            "REME_LLM_MODEL": "openai:tiny",
            "REME_LLM_URL": url,
            "TZ": "Asia/Shanghai",
            "NO_COLOR": "1",
            **variables,
        }
        self.run("init", str(self.root))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        vault = [] if arguments[0] == "init" else ["--vault", str(self.root)]
        command = [sys.executable, "-m", "reme", *arguments, *vault]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, encoding="utf-8", check=False
        )

    def remember(self) -> subprocess.CompletedProcess[str]:
        return self.run("auto_memory", str(self.talk), "s1")

    def costs(self) -> dict[str, Any]:
        return json.loads(self.run("cost", "--json").stdout)

    def notes(self) -> list[str]:
        return [path.read_text("utf-8") for path in sorted((self.root / "daily").glob("*/*.md"))]


@pytest.mark.parametrize(
    "reply",
    [
        f"好的！下面是整理结果：\n```json\n{json.dumps(EVENTS, ensure_ascii=False, indent=1)}\n```\n还需要别的吗？",
        f'<think>周四？{{"events": []}} 不对。</think>{json.dumps(EVENTS)}',
        json.dumps(json.dumps(EVENTS)),
        f'<tool_call>{{"name": "answer", "arguments": {json.dumps(EVENTS)}}}</tool_call>',
        called(json.dumps(EVENTS)),
        whole(content=[{"type": "text", "text": json.dumps(EVENTS)}]),
        whole(content=json.dumps(EVENTS), reasoning_content='{"events": []}'),
    ],
)
def test_an_answer_in_whatever_form_becomes_a_note(tmp_path: Path, reply: str | Failure) -> None:
    with ChatServer(lambda _: reply if isinstance(reply, Failure) else Spoken(reply)) as server:
        shell = Shell(tmp_path, server.url)
        done = shell.remember()
    assert (done.returncode, done.stderr) == (0, "")
    (note,) = shell.notes()
    assert "name: 发布与盘点" in note
    assert "- 门店盘点改到每周三晚上。 (林晓, 2026-05-15)" in note
    assert len(server.asked) == 1


def after(*before: Spoken | Failure) -> Callable[[Asked], Spoken | Failure]:
    left = iter(before)
    return lambda _: next(left, Spoken(json.dumps(EVENTS)))


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (Spoken(json.dumps(EVENTS)[:-20]), "it is not valid JSON"),
        (Spoken(json.dumps(EVENTS)[:60], ended="length"), "it was cut off"),
        (Spoken("抱歉，我不能处理这个请求。"), "there is no JSON object in it"),
        (Spoken(json.dumps({"events": [ENGLISH]})), "it is in another language than the material, which is in Chinese"),
    ],
)
def test_an_answer_of_no_use_is_asked_for_again_with_the_reason(tmp_path: Path, first: Spoken, told: str) -> None:
    with ChatServer(after(first)) as server:
        shell = Shell(tmp_path, server.url)
        assert shell.remember().returncode == 0
    assert "发布与盘点" in shell.notes()[0]
    assert len(server.asked) == 2
    assert told in server.asked[1].text
    spent = shell.costs()["total"]
    assert (spent["calls"], spent["tokens_in"], spent["tokens_out"]) == (2, 200, 20)


def test_a_model_that_knows_no_chinese_is_taken_at_its_word_in_the_end(tmp_path: Path) -> None:
    with ChatServer(lambda _: Spoken(json.dumps({"events": [ENGLISH]}))) as server:
        shell = Shell(tmp_path, server.url)
        assert shell.remember().returncode == 0
    assert len(server.asked) == 3
    assert "We release version 2.14 on Thursday." in shell.notes()[0]


def test_time_outs_retries_and_budgets_hold_from_the_command_line(tmp_path: Path) -> None:
    with ChatServer(after(Failure(503), Failure(how="hang"))) as server:
        shell = Shell(tmp_path, server.url, REME_LLM_TIMEOUT="1", REME_LLM_TRIES="3")
        assert shell.remember().returncode == 0
    assert len(server.asked) == 3
    assert "发布与盘点" in shell.notes()[0]
    with ChatServer(lambda _: Failure(how="hang")) as server:
        shell = Shell(tmp_path / "other", server.url, REME_LLM_TIMEOUT="1", REME_LLM_TRIES="1")
        done = shell.remember()
    assert done.returncode == 0
    assert "this was decided without a model" in done.stdout
    assert len(server.asked) == 1
    with ChatServer(after()) as server:
        shell = Shell(tmp_path / "poor", server.url)
        (shell.root / "reme.yaml").write_text("llm:\n  daily_tokens: 100\n", "utf-8")
        assert "this was decided without a model" in shell.remember().stdout
        dreamt = shell.run("auto_dream", "--date", "2026-05-15")
    assert server.asked == []
    assert (dreamt.returncode != 0, "tokens that models may use a day are spent" in dreamt.stderr) == (True, True)
