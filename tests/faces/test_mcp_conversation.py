"""The conversation with an MCP client: JSON-RPC, and the two eras of the protocol."""

import json
from typing import Any

import pytest

from reme.errors import InvalidInput
from reme.faces.mcp import conversation
from reme.faces.mcp.conversation import Conversation, Frame, Job, Tools

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER = "io.modelcontextprotocol/serverInfo"
ENVELOPE = {
    VERSION: "2026-07-28",
    CAPABILITIES: {},
    "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
}
RESULT = {"content": [{"type": "text", "text": "done"}], "isError": False}


class Talk:
    """A conversation whose jobs are carried out when told."""

    def __init__(self) -> None:
        self.sent: list[Frame] = []
        self.jobs: list[Job] = []
        tools = Tools(lambda: [{"name": "toy"}], self._check, lambda call: RESULT, lambda: None)
        self.conversation = Conversation(lambda: tools, self.jobs.append, self.sent.append)

    def _check(self, name: str) -> None:
        if name != "toy":
            raise InvalidInput("there is no tool", hint="There are: toy.")

    def receive(self, frame: object) -> None:
        self.conversation.receive(frame if isinstance(frame, bytes) else json.dumps(frame).encode())

    def ask(self, method: str, *, envelope: Any = None, **params: Any) -> Frame:
        """Send a request and return its answer."""
        if envelope is not None:
            params["_meta"] = envelope
        self.receive({"jsonrpc": "2.0", "id": len(self.sent) + 100, "method": method, "params": params})
        return self.sent[-1]

    def initialize(self, version: str = "2025-11-25") -> Frame:
        client = {"name": "old", "version": "1"}
        return self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)

    def run_jobs(self) -> None:
        for job in self.jobs:
            job.answer(RESULT if job.is_wanted() else {})
        self.jobs.clear()


def test_a_modern_client_discovers_lists_and_calls() -> None:
    talk = Talk()
    found = talk.ask("server/discover", envelope=ENVELOPE)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    assert found["capabilities"] == {"tools": {}}
    assert found["_meta"][SERVER]["name"] == "reme"
    listed = talk.ask("tools/list", envelope=ENVELOPE)["result"]
    assert listed["tools"] == [{"name": "toy"}]
    assert {"ttlMs", "cacheScope", "resultType"} <= set(listed)
    talk.ask("tools/call", envelope=ENVELOPE, name="toy", arguments={"a": 1})
    assert (talk.jobs[0].call.tool, talk.jobs[0].call.arguments, talk.jobs[0].call.client) == ("toy", {"a": 1}, "host")
    talk.run_jobs()
    assert talk.sent[-1]["result"]["content"] == RESULT["content"]
    assert talk.sent[-1]["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_an_older_client_initializes_first(asked: str, agreed: str) -> None:
    talk = Talk()
    result = talk.initialize(asked)["result"]
    assert result["protocolVersion"] == agreed
    assert result["serverInfo"]["name"] == "reme"
    assert "resultType" not in result
    assert talk.ask("ping")["result"] == {}
    assert talk.ask("tools/list")["result"] == {"tools": [{"name": "toy"}]}
    talk.ask("tools/call", name="toy")
    assert talk.jobs[0].call.client == "old"
    talk.run_jobs()
    assert talk.sent[-1]["result"] == RESULT


def test_a_client_may_try_the_new_era_and_fall_back() -> None:
    talk = Talk()
    refused = talk.ask("server/discover", envelope={**ENVELOPE, VERSION: "2099-01-01"})["error"]
    assert refused["code"] == -32022
    assert refused["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}
    assert talk.initialize()["result"]["protocolVersion"] == "2025-11-25"
    assert talk.ask("tools/list")["result"]["tools"]


@pytest.mark.parametrize(
    ("envelope", "named"),
    [
        (None, VERSION),
        ({}, VERSION),
        ({"progressToken": 1}, CAPABILITIES),
        ({VERSION: "2026-07-28"}, CAPABILITIES),
        ({VERSION: 3, CAPABILITIES: {}}, VERSION),
    ],
)
def test_without_an_envelope_or_a_session_nothing_is_served(envelope: Any, named: str) -> None:
    talk = Talk()
    for method in ("server/discover", "tools/list", "tools/call"):
        error = talk.ask(method, envelope=envelope, name="toy")["error"]
        assert error["code"] == -32602
        assert named in error["message"]
    assert talk.jobs == []


def test_a_session_does_not_make_discover_an_older_method() -> None:
    talk = Talk()
    talk.initialize()
    assert talk.ask("server/discover")["error"]["code"] == -32602
    assert "result" in talk.ask("server/discover", envelope=ENVELOPE)


@pytest.mark.parametrize(
    ("frame", "request_id", "code"),
    [
        (b"{bad", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', None, -32700),
        (b"[]", None, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
        (b"3", None, -32600),
        ({"jsonrpc": "2.0", "id": 1}, 1, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 1, -32600),
        ({"id": "a", "method": "ping"}, "a", -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 2}, 1, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, 1, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "initialize"}, 1, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}, 1, -32602),
    ],
)
def test_a_malformed_frame_is_answered_with_an_error(frame: object, request_id: object, code: int) -> None:
    talk = Talk()
    talk.receive(frame)
    (answer,) = talk.sent
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", request_id, code)
    assert talk.ask("ping")["result"] == {}, "the conversation goes on"


@pytest.mark.parametrize(
    "frame",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/unheard_of", "params": {"a": 1}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    ],
)
def test_notifications_and_answers_are_not_answered(frame: Frame) -> None:
    talk = Talk()
    talk.receive(frame)
    assert talk.sent == []


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("resources/list", {}, -32601),
        ("ping", {}, -32601),
        ("nope", {}, -32601),
        ("tools/list", {"cursor": "2"}, -32602),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 5}, -32602),
        ("tools/call", {"name": "nope"}, -32602),
        ("tools/call", {"name": "toy", "arguments": "x"}, -32602),
        ("tools/call", {"name": "toy", "arguments": [1]}, -32602),
    ],
)
def test_what_cannot_be_served_is_a_protocol_error(method: str, params: dict[str, Any], code: int) -> None:
    talk = Talk()
    assert talk.ask(method, envelope=ENVELOPE, **params)["error"]["code"] == code
    assert talk.jobs == []


def test_a_cancelled_call_is_not_answered_and_its_id_may_be_used_again() -> None:
    talk = Talk()
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "toy", "_meta": ENVELOPE}}
    talk.receive(call)
    talk.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    talk.run_jobs()
    assert talk.sent == []
    talk.receive(call)
    talk.run_jobs()
    assert talk.sent[-1]["id"] == 7


def test_what_nobody_foresaw_is_an_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> Tools:
        raise RuntimeError("secret")

    sent: list[Frame] = []
    Conversation(broken, lambda job: None, sent.append).receive(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}).encode()
    )
    assert sent[0]["error"] == {"code": -32603, "message": "Internal error"}
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "secret" in captured.err


def test_a_client_that_gave_a_token_is_told_how_far_a_call_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "_PROGRESS_S", 0.0)
    talk = Talk()
    for number, token in enumerate(("读 1", 7, None, True)):
        meta = ENVELOPE if token is None else {**ENVELOPE, "progressToken": token}
        talk.receive({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "toy", "_meta": meta}})
    for job in talk.jobs:
        for what, done in (("reading", 0), ("reading", 3), ("reading", 2), ("learning", 1)):
            job.call.progress(what, done, 4)
    told = [frame["params"] for frame in talk.sent]
    assert {frame["method"] for frame in talk.sent} == {"notifications/progress"}
    assert told[:2] == [
        {"progressToken": "读 1", "progress": 3, "total": 4, "message": "reading"},
        {"progressToken": "读 1", "progress": 4, "total": 7, "message": "learning"},
    ]
    assert [said["progressToken"] for said in told] == ["读 1", "读 1", 7, 7]
    talk.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    talk.jobs[1].call.progress("learning", 4, 4)
    assert len(talk.sent) == 4
