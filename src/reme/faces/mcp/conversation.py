"""The conversation with one client: frames in, frames out, in whichever protocol era each request is made.

Owns JSON-RPC 2.0 and the two ways to begin: since 2026-07-28 every request carries its own envelope and
``server/discover`` is where a client looks first; before that, ``initialize`` opens a session. A request is answered in
the era that it is written in, so a client may try one and fall back on the other. Knows no transport and no vault.
"""

import json
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from reme import __version__
from reme.errors import ReMeError
from reme.progress import Progress, unseen

__all__ = ["Call", "Conversation", "Frame", "Job", "Tools"]

LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS: Final = ("2026-07-28",)

_ENVELOPE: Final = "io.modelcontextprotocol/"
_VERSION_KEY: Final = _ENVELOPE + "protocolVersion"
_CLIENT_KEY: Final = _ENVELOPE + "clientInfo"
_CAPABILITIES_KEY: Final = _ENVELOPE + "clientCapabilities"
_SERVER_KEY: Final = _ENVELOPE + "serverInfo"

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603
_UNSUPPORTED_VERSION: Final = -32022

_TOOLS_TTL_MS: Final = 300_000
_PROGRESS_S: Final = 0.5
_SERVER: Final = {"name": "reme", "title": "ReMe", "version": __version__}
_CAPABILITIES: Final[dict[str, Any]] = {"tools": {}}
_INSTRUCTIONS: Final = (
    "A memory in Markdown files. `search` finds what was said, written or learnt; `list` finds notes by folder, tag or "
    "property; `traverse` follows links. Read a note before you change it and give its revision back as "
    "expected_revision. `digest/` holds knowledge that ReMe distils from the daily notes: record what happened in "
    "`daily/`, or give a whole conversation to `auto_memory`."
)

RequestId = str | int
Frame = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that a client calls.

    Attributes:
        tool: The tool's name, which exists.
        arguments: As given.
        client: What the client calls itself, or empty.
        progress: Is told how far it has come.
    """

    tool: str
    arguments: Mapping[str, object]
    client: str
    progress: Progress = unseen


@dataclass(frozen=True, slots=True)
class Tools:
    """What stands behind the conversation.

    Attributes:
        definitions: The tools on offer.
        check: Raises for a name that is no tool, telling what there is instead.
        carry_out: Makes one call and returns its result, an error among them; always used in one and the same thread.
        close: Ends everything, in that thread too.
    """

    definitions: Callable[[], list[Frame]]
    check: Callable[[str], None]
    carry_out: Callable[[Call], Frame]
    close: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Job:
    """A call on its way.

    Attributes:
        call: What to carry out.
        is_wanted: Whether the client still waits for it.
        answer: Takes the result.
    """

    call: Call
    is_wanted: Callable[[], bool]
    answer: Callable[[Frame], None]


class _RpcError(Exception):
    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Conversation:
    """One client's conversation.

    Args:
        tools: Gives what can be called; may take a moment the first time.
        start: Has a job carried out, later or elsewhere.
        send: Takes one frame to the client, from any thread.
    """

    def __init__(self, tools: Callable[[], Tools], start: Callable[[Job], None], send: Callable[[Frame], None]) -> None:
        self._tools = tools
        self._start = start
        self._send = send
        self._initialized = False
        self._client = ""
        self._cancelled: set[RequestId] = set()
        self._running: set[RequestId] = set()

    def receive(self, line: bytes) -> None:
        """Take one line from the client and answer it; a tool's result may be sent later."""
        request: RequestId | None = None
        try:
            frame = _decode(line)
            if "method" not in frame and ("result" in frame or "error" in frame):
                return
            request = _request_id(frame)
            method = _method(frame)
            params: object = frame.get("params")
            if "id" not in frame:
                self._notice(method, params)
                return
            assert request is not None
            if not isinstance(params, dict | None):
                raise _RpcError(_INVALID_PARAMS, "params must be an object")
            self._answer(request, method, cast("Frame", params or {}))
        except _RpcError as error:
            self._send(_error(request, error))
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self._send(_error(request, _RpcError(_INTERNAL_ERROR, "Internal error")))

    def _notice(self, method: str, params: object) -> None:
        """A notification is never answered; the only one that matters tells that a request is given up."""
        if method == "notifications/cancelled" and isinstance(params, dict):
            request: object = cast("Frame", params).get("requestId")
            if isinstance(request, str | int) and request in self._running:
                self._cancelled.add(request)

    def _answer(self, request: RequestId, method: str, params: Frame) -> None:
        if method == "initialize":
            self._result(request, self._initialize(params), modern=False)
            return
        modern = self._is_modern(method, params)
        match method:
            case "ping" if not modern:
                self._result(request, {}, modern)
            case "server/discover" if modern:
                self._result(request, _cacheable(_discovery(), _TOOLS_TTL_MS), modern)
            case "tools/list":
                if params.get("cursor") is not None:
                    raise _RpcError(_INVALID_PARAMS, "there is no such cursor: all tools are on the first page")
                listed: Frame = {"tools": self._tools().definitions()}
                self._result(request, _cacheable(listed, _TOOLS_TTL_MS) if modern else listed, modern)
            case "tools/call":
                self._call(request, params, modern)
            case _:
                raise _RpcError(_METHOD_NOT_FOUND, "Method not found", method)

    def _initialize(self, params: Frame) -> Frame:
        version: object = params.get("protocolVersion")
        if not isinstance(version, str):
            raise _RpcError(_INVALID_PARAMS, "protocolVersion must be a string")
        self._initialized = True
        self._client = _client_name(params.get("clientInfo"))
        return {
            "protocolVersion": version if version in LEGACY_VERSIONS else LEGACY_VERSIONS[-1],
            "capabilities": _CAPABILITIES,
            "serverInfo": _SERVER,
            "instructions": _INSTRUCTIONS,
        }

    def _is_modern(self, method: str, params: Frame) -> bool:
        """Whether a request carries the envelope of the modern era; without one, a session must have been opened."""
        meta: object = params.get("_meta")
        envelope = cast("Frame", meta) if isinstance(meta, dict) else {}
        if _VERSION_KEY not in envelope:
            if method == "ping" or (self._initialized and method != "server/discover"):
                return False
            raise _RpcError(
                _INVALID_PARAMS,
                f"params._meta must carry {_VERSION_KEY!r} and {_CAPABILITIES_KEY!r}, or initialize must come first",
            )
        if _CAPABILITIES_KEY not in envelope:
            raise _RpcError(_INVALID_PARAMS, f"params._meta is missing {_CAPABILITIES_KEY!r}")
        version = envelope[_VERSION_KEY]
        if not isinstance(version, str):
            raise _RpcError(_INVALID_PARAMS, f"{_VERSION_KEY!r} must be a string")
        if version not in MODERN_VERSIONS:
            supported = {"supported": list(MODERN_VERSIONS), "requested": version}
            raise _RpcError(_UNSUPPORTED_VERSION, "Unsupported protocol version", supported)
        self._client = _client_name(envelope.get(_CLIENT_KEY)) or self._client
        return True

    def _call(self, request: RequestId, params: Frame, modern: bool) -> None:
        name: object = params.get("name")
        arguments: object = params.get("arguments")
        if not isinstance(name, str):
            raise _RpcError(_INVALID_PARAMS, "name must be a string")
        if not isinstance(arguments, dict | None):
            raise _RpcError(_INVALID_PARAMS, "arguments must be an object")
        try:
            self._tools().check(name)
        except ReMeError as error:
            raise _RpcError(_INVALID_PARAMS, f"Unknown tool: {name}", error.as_dict()) from error
        self._running.add(request)

        def answer(outcome: Frame) -> None:
            if is_wanted():
                self._result(request, outcome, modern)
            self._cancelled.discard(request)
            self._running.discard(request)

        def is_wanted() -> bool:
            return request not in self._cancelled

        token = _progress_token(params)
        progress = unseen if token is None else _Teller(token, is_wanted, self._send)
        call = Call(name, cast("Mapping[str, object]", arguments or {}), self._client, progress)
        self._start(Job(call, is_wanted, answer))

    def _result(self, request: RequestId, result: Frame, modern: bool) -> None:
        if modern:
            meta = {**result.get("_meta", {}), _SERVER_KEY: _SERVER}
            result = {**result, "resultType": "complete", "_meta": meta}
        self._send({"jsonrpc": "2.0", "id": request, "result": result})


class _Teller:
    """Tells a client how far a call has come, at most twice a second, and each time further, as it must be."""

    def __init__(self, token: RequestId, is_wanted: Callable[[], bool], send: Callable[[Frame], None]) -> None:
        self._token = token
        self._is_wanted = is_wanted
        self._send = send
        self._what = ""
        self._before = self._told = 0
        self._next = time.monotonic() + _PROGRESS_S

    def __call__(self, what: str, done: int, of: int) -> None:
        if what != self._what:
            self._what, self._before = what, self._told
        now, done, of = time.monotonic(), self._before + done, self._before + of
        if now >= self._next and done > self._told and self._is_wanted():
            self._next, self._told = now + _PROGRESS_S, done
            said = {"progressToken": self._token, "progress": done, "total": of, "message": what}
            self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": said})


def _progress_token(params: Frame) -> RequestId | None:
    meta: object = params.get("_meta")
    token: object = cast("Frame", meta).get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def _decode(line: bytes) -> Frame:
    try:
        frame: object = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _RpcError(_PARSE_ERROR, f"Parse error: {error}") from error
    if isinstance(frame, list):
        raise _RpcError(_INVALID_REQUEST, "Invalid request: batches are not supported")
    if not isinstance(frame, dict):
        raise _RpcError(_INVALID_REQUEST, "Invalid request: a frame is a JSON object")
    return cast("Frame", frame)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _request_id(frame: Frame) -> RequestId | None:
    request: object = frame.get("id")
    if "id" in frame and (isinstance(request, bool) or not isinstance(request, str | int)):
        raise _RpcError(_INVALID_REQUEST, "Invalid request: id must be a string or an integer")
    return cast("RequestId | None", request)


def _method(frame: Frame) -> str:
    method: object = frame.get("method")
    if frame.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise _RpcError(_INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0" and method a string')
    return method


def _error(request: RequestId | None, error: _RpcError) -> Frame:
    shown: Frame = {"code": error.code, "message": error.message}
    if error.data is not None:
        shown["data"] = error.data
    return {"jsonrpc": "2.0", "id": request, "error": shown}


def _discovery() -> Frame:
    return {
        "supportedVersions": list(MODERN_VERSIONS),
        "capabilities": _CAPABILITIES,
        "instructions": _INSTRUCTIONS,
    }


def _cacheable(result: Frame, ttl_ms: int) -> Frame:
    return {**result, "ttlMs": ttl_ms, "cacheScope": "private"}


def _client_name(info: object) -> str:
    name: object = cast("Frame", info).get("name") if isinstance(info, dict) else None
    return "".join(char for char in name if char.isprintable())[:64] if isinstance(name, str) else ""
