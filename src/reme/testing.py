"""Doubles for the tests of plug-ins and of ReMe itself; nothing else imports this.

Owns stand-ins that are quick, deterministic, and tell what they were asked.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal, Self

from reme.models import Calibration

__all__ = ["Asked", "ChatServer", "Failure", "Spoken", "SyntheticEmbedder"]

_WORD: Final = re.compile(r"\w+")


class SyntheticEmbedder:
    """An embedder without a model: texts that share words are alike, all others are orthogonal or nearly so.

    Attributes:
        calibration: Of texts that share half of their words.
        texts: Every text that it was asked to embed, queries left out.
        queries: Every query.

    Args:
        name: Part of the identity of its vectors.
        dim: Numbers in a vector.
        synonyms: Words that mean the same as another one.
        fails: Asked about every text; where it answers True, the call raises ``RuntimeError``.
        random: Whether vectors have nothing to do with the words.
    """

    def __init__(
        self,
        name: str = "synthetic",
        dim: int = 64,
        *,
        synonyms: Mapping[str, str] | None = None,
        fails: Callable[[str], bool] = lambda text: False,
        random: bool = False,
    ) -> None:
        self.name = name
        self.dim = dim
        self.calibration = Calibration(0.2, 0.6)
        self.texts: list[str] = []
        self.queries: list[str] = []
        self._synonyms = dict(synonyms or {})
        self._fails = fails
        self._random = random
        self._known: dict[str, Any] = {}

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """One float32 row of unit length for each text.

        Raises:
            RuntimeError: If one of them is a text that it shall fail for.
        """
        import numpy as np

        (self.queries if query else self.texts).extend(texts)
        if any(self._fails(text) for text in texts):
            raise RuntimeError("the embedder failed, as it was told to")
        rows = np.zeros((len(texts), self.dim), np.float32)
        for i, text in enumerate(texts):
            words = [text] if self._random else _WORD.findall(text.lower())
            for word in words or [text]:
                rows[i] += self._direction(self._synonyms.get(word, word))
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def _direction(self, word: str) -> Any:
        import numpy as np

        if word not in self._known:
            seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
            self._known[word] = np.random.default_rng(seed).standard_normal(self.dim).astype(np.float32)
        return self._known[word]


@dataclass(frozen=True, slots=True)
class Spoken:
    """An answer of a ``ChatServer``.

    Attributes:
        text: What the model says.
        ended: Why it stopped, in OpenAI's words.
        tokens: Read and written, or None if the provider does not tell.
    """

    text: str
    ended: str = "stop"
    tokens: tuple[int, int] | None = (100, 10)


@dataclass(frozen=True, slots=True)
class Failure:
    """What a ``ChatServer`` does instead of answering.

    Attributes:
        status: The HTTP status, with ``body`` and ``headers``.
        how: ``hang`` says nothing until the server closes; ``half`` closes in the middle of a good answer.
    """

    status: int = 500
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    how: Literal["status", "hang", "half"] = "status"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a ``ChatServer`` was asked.

    Attributes:
        path: Behind its address.
        headers: As they came, names in lower case.
        body: As it came.
        instructions: What the model was told.
        text: What it was asked about.
    """

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    instructions: str
    text: str


class ChatServer:
    """A provider of a chat model on this machine, which speaks OpenAI's, Anthropic's and Gemini's protocol.

    Attributes:
        asked: Every request, in order.

    Args:
        answer: What is said to a request.
    """

    def __init__(self, answer: Callable[[Asked], Spoken | Failure]) -> None:
        self.asked: list[Asked] = []
        self.answer = answer
        self._closing = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server._serve(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        body: dict[str, Any] = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(request.path.removeprefix("/v1"), headers, body, *_PROTOCOLS[_protocol(request.path)][0](body))
        with self._lock:
            self.asked.append(asked)
            said = self.answer(asked)
        if isinstance(said, Failure) and said.how == "hang":
            self._closing.wait(30)
            return
        status, extra, data = 200, {}, b""
        if isinstance(said, Failure) and said.how == "status":
            status, extra, data = said.status, dict(said.headers), said.body.encode()
        else:
            spoken = said if isinstance(said, Spoken) else Spoken("{}")
            data = json.dumps(_PROTOCOLS[_protocol(request.path)][1](spoken)).encode()
        request.send_response(status)
        for name, value in {"Content-Type": "application/json", **extra, "Content-Length": str(len(data))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(data[: len(data) // 2] if isinstance(said, Failure) and said.how == "half" else data)


def _protocol(path: str) -> str:
    return "gemini" if path.endswith(":generateContent") else path.rpartition("/")[2]


def _openai_asked(body: dict[str, Any]) -> tuple[str, str]:
    system, user = body["messages"]
    return system["content"], user["content"]


def _anthropic_asked(body: dict[str, Any]) -> tuple[str, str]:
    return body["system"], body["messages"][0]["content"]


def _gemini_asked(body: dict[str, Any]) -> tuple[str, str]:
    return body["systemInstruction"]["parts"][0]["text"], body["contents"][0]["parts"][0]["text"]


def _openai_said(said: Spoken) -> dict[str, Any]:
    message = {"role": "assistant", "content": said.text}
    choice = {"index": 0, "message": message, "finish_reason": said.ended, "logprobs": None}
    answer: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    answer["choices"] = [choice]
    if said.tokens:
        read, written = said.tokens
        answer["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return answer


def _anthropic_said(said: Spoken) -> dict[str, Any]:
    read, written = said.tokens or (0, 0)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "thinking", "thinking": "…", "signature": ""}, {"type": "text", "text": said.text}],
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}.get(said.ended, said.ended),
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def _gemini_said(said: Spoken) -> dict[str, Any]:
    read, written = said.tokens or (0, 0)
    parts = [{"text": "…", "thought": True}, {"text": said.text}]
    ended = {"stop": "STOP", "length": "MAX_TOKENS"}.get(said.ended, said.ended)
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": ended, "index": 0}],
        "usageMetadata": {"promptTokenCount": read, "candidatesTokenCount": written, "thoughtsTokenCount": 0},
        "modelVersion": "m",
    }


_PROTOCOLS: Final = {
    "completions": (_openai_asked, _openai_said),
    "messages": (_anthropic_asked, _anthropic_said),
    "gemini": (_gemini_asked, _gemini_said),
}
