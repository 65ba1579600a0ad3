"""MCP over standard input and output: nothing but frames, prompt answers, and the official client in both eras."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters

from .conftest import environment

ROOT = Path(__file__).parents[2]
Mode = Literal["auto", "legacy"]
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Server:
    """A server process that is spoken to frame by frame."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**environment(), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        )

    def send(self, method: str, request: int | None = None, **params: Any) -> None:
        frame = {"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": ENVELOPE}}
        self.send_line(json.dumps(frame if request is None else {**frame, "id": request}).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def finish(self) -> tuple[list[dict[str, Any]], str]:
        """Close its input; every frame that was not read yet, and its standard error."""
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err.decode()
        # splitlines, like some clients, takes U+2028 for the end of a line too
        return [json.loads(line) for line in out.decode("utf-8").splitlines()], err.decode()


@pytest.fixture
def server() -> Iterator[Callable[..., Server]]:
    started: list[Server] = []

    def start(*command: str) -> Server:
        started.append(Server(*command))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


@pytest.fixture
def noisy(server: Callable[..., Server], vault: Path) -> Server:
    return server("-W", "default", "-m", "tests.faces.noisy_server", str(vault))


@pytest.fixture
def quiet(server: Callable[..., Server], vault: Path) -> Server:
    return server("-m", "reme", "--vault", str(vault), "mcp")


def with_client(vault: Path, mode: Mode, use: Callable[[Client], Any], *options: str) -> Any:
    """What a function of a connected client of the official SDK comes to."""

    async def connected() -> Any:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "reme", "--vault", str(vault), "mcp", *options], env=environment()
        )
        async with Client(parameters, mode=mode, read_timeout_seconds=30) as client:
            return await use(client)

    return asyncio.run(connected())


# The official client


@ERAS
def test_the_official_client_lists_the_tools(vault: Path, mode: Mode) -> None:
    async def use(client: Client) -> None:
        assert client.server_info is not None
        assert client.server_info.name == "reme"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"list", "search", "traverse", "read", "write", "auto_memory", "auto_dream"} <= set(tools)
        assert "reindex" not in tools
        search = tools["search"]
        assert search.input_schema["required"] == ["query"]
        assert search.output_schema is not None
        assert search.annotations is not None
        assert search.annotations.read_only_hint is True
        assert tools["delete"].annotations is not None
        assert tools["delete"].annotations.destructive_hint is True

    with_client(vault, mode, use)


@ERAS
def test_b55_the_official_client_writes_and_reads_what_looks_like_json(vault: Path, mode: Mode) -> None:
    texts = ["12345", "007", "true", "null", '{"a":1}', "[1]", "预算 😀"]

    async def use(client: Client) -> None:
        for number, text in enumerate(texts):
            result = await client.call_tool("write", {"path": f"n{number}.txt", "content": text})
            assert not result.is_error, result
        listed = await client.call_tool("list", {"layers": '["other"]'})
        assert not listed.is_error
        assert listed.structured_content["total"] >= len(texts)
        await client.call_tool("write", {"path": "tea.md", "content": "---\ntags: [a, b]\n---\ntea\n"})
        for tags in ('["a", "b"]', "a", ["b"]):
            found = await client.call_tool("search", {"query": "tea", "tags": tags})
            assert not found.is_error, found
            assert [hit["path"] for hit in found.structured_content["hits"]] == ["tea.md"]
            assert found.content[0].text.startswith("tea.md:")
        full = await client.call_tool("search", {"query": "tea", "tags": ["a"], "full": True})
        assert full.content[0].text.startswith("========== tea.md ==========")

    with_client(vault, mode, use)
    for number, text in enumerate(texts):
        assert (vault / f"n{number}.txt").read_text("utf-8") == text


@ERAS
def test_p14_errors_are_errors(vault: Path, mode: Mode) -> None:
    async def use(client: Client) -> None:
        await client.list_tools()
        for tool, arguments, kind in [
            ("read", {"path": "gone.md"}, "not_found"),
            ("read", {"path": "../gone.md"}, "refused"),
            ("read", {}, "invalid_input"),
            ("search", {"query": "x", "limit": -5}, "invalid_input"),
            ("write", {"path": "茶.md", "content": "x"}, "conflict"),
            ("edit", {"path": "茶.md", "find": "no such", "replace": ""}, "not_found"),
        ]:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, tool
            assert result.content[0].text.startswith(f"{kind}: ")
            assert result.meta["reme/error"]["kind"] == kind

    with_client(vault, mode, use)


@pytest.mark.parametrize("path", [".", "", "/", "daily", "digest/", "resource", "..", ".reme", "./"])
def test_p01_nothing_vital_is_deleted(vault: Path, path: str) -> None:
    (vault / "daily").mkdir()
    (vault / "daily" / "note.md").write_text("x")
    before = sorted(vault.rglob("*.md"))

    async def use(client: Client) -> None:
        for recursive in (False, True):
            result = await client.call_tool("delete", {"path": path, "recursive": recursive})
            assert result.is_error

    with_client(vault, "auto", use)
    assert sorted(vault.rglob("*.md")) == before


def test_a_curator_is_offered_a_curators_tools(vault: Path) -> None:
    async def use(client: Client) -> None:
        assert (await client.list_tools()).tools
        result = await client.call_tool("write", {"path": "daily/2026-05-15/x.md", "content": "x"})
        assert result.meta["reme/error"]["kind"] == "refused"

    with_client(vault, "auto", use, "--role", "curator")


def test_a_person_does_not_come_in_this_way(reme_process: Callable[..., Any]) -> None:
    assert reme_process("mcp", "--role", "person").returncode == 2


# The process


def test_the_first_answer_waits_for_nothing(server: Callable[..., Server], vault: Path) -> None:
    """Hosts give up on servers that load everything before they answer."""
    slow = server("-m", "tests.faces.slow_server", str(vault))
    slow.send("server/discover", 1)
    assert slow.receive()["result"]["supportedVersions"] == ["2026-07-28"]
    assert not (vault / "made").exists()
    slow.send("tools/list", 2)
    (vault / "go").touch()
    assert slow.receive()["result"]["tools"]
    assert (vault / "made").exists()
    slow.finish()


def test_b53_every_line_is_a_frame_whatever_happens(noisy: Server) -> None:
    noisy.send("tools/list", 1)
    for request, how in enumerate(["all", "raise", "exit", "all", "all"], start=2):
        noisy.send("tools/call", request, name="make_noise", arguments={"how": how})
    noisy.send_line(b"not a frame")
    frames, errors = noisy.finish()
    assert sorted(frame["id"] for frame in frames if frame["id"] is not None) == [1, 2, 3, 4, 5, 6]
    results = {frame["id"]: frame["result"] for frame in frames if "result" in frame}
    assert [results[request]["isError"] for request in range(2, 7)] == [False, True, True, False, False]
    assert results[2]["structuredContent"]["text"] == "answered\u2028anyway"
    noises = "a print|a write|raw bytes|a child|a log record|a warning|several lines|noise at the end"
    for noise in noises.split("|"):
        assert noise in errors
    assert "several lines" not in json.dumps(results[3])


def test_the_conversation_goes_on_while_a_call_is_carried_out(noisy: Server) -> None:
    noisy.send("initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "x", "version": "1"})
    noisy.send("tools/call", 2, name="doze", arguments={"seconds": 3})
    noisy.send_line(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')
    assert [noisy.receive()["id"], noisy.receive()["id"]] == [1, 3]
    frames, _ = noisy.finish()
    assert [frame["id"] for frame in frames] == [2]


def test_what_was_asked_for_is_done_before_the_end(quiet: Server, vault: Path) -> None:
    for number in range(5):
        quiet.send("tools/call", number, name="write", arguments={"path": f"late-{number}.md", "content": "x"})
    frames, errors = quiet.finish()
    assert [frame["result"]["isError"] for frame in frames] == [False] * 5
    assert len(list(vault.glob("late-*.md"))) == 5
    assert errors == ""


def test_a_cancelled_call_is_not_begun(noisy: Server, vault: Path) -> None:
    noisy.send("tools/call", 1, name="doze", arguments={"seconds": 1})
    noisy.send("tools/call", 2, name="write", arguments={"path": "never.md", "content": "x"})
    noisy.send("notifications/cancelled", requestId=2)
    frames, _ = noisy.finish()
    assert [frame["id"] for frame in frames] == [1]
    assert not (vault / "never.md").exists()


def test_a_frame_beyond_all_measure_is_refused(quiet: Server) -> None:
    quiet.send_line(b'{"x":"' + b"a" * (33 * 1024 * 1024) + b'"}')
    quiet.send("server/discover", 1)
    frames, _ = quiet.finish()
    assert [frame.get("error", {}).get("code") for frame in frames] == [-32700, None]


def test_a_vault_that_cannot_be_opened_is_told_at_each_call(quiet: Server, vault: Path) -> None:
    (vault / "reme.yaml").write_text("vault: {timezone: Mars}\n")
    quiet.send("server/discover", 1)
    assert quiet.receive()["id"] == 1
    quiet.send("tools/call", 2, name="list")
    assert quiet.receive()["result"]["_meta"]["reme/error"]["kind"] == "config"
    (vault / "reme.yaml").write_text("vault: {timezone: UTC}\n")
    quiet.send("tools/call", 3, name="list")
    assert quiet.receive()["result"]["isError"] is False
    quiet.finish()


def test_no_vault_is_an_error_before_anything_is_served(server: Callable[..., Server], tmp_path: Path) -> None:
    failed = server("-m", "reme", "--vault", str(tmp_path / "gone"), "mcp")
    out, err = failed.process.communicate(timeout=60)
    assert (failed.process.returncode, out) == (2, b"")
    assert b"reme init" in err
