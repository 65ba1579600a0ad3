"""Ways to ask the HTTP face: in this process without a socket, and a server of its own on a port of this machine."""

import asyncio
import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from reme.app import open_vault
from reme.catalog import Operation
from reme.faces.http.answers import LANES, Desk
from reme.faces.http.feed import Feed
from reme.faces.http.guard import Access, guarded
from reme.faces.http.lanes import Lanes
from reme.faces.http.metrics import Metrics
from reme.faces.http.problems import Places
from reme.faces.http.routes import answering

from .conftest import environment

HOST = "127.0.0.1:8765"
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The events of a stream, each with its name and data; comments left out."""
        found: list[tuple[str, Any]] = []
        for block in self.text.split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
            if fields:
                found.append((fields["event"], json.loads(fields["data"])))
        return found


class Face:
    """The application that a server would serve, asked in this process."""

    def __init__(
        self,
        root: Path,
        access: Access | None = None,
        *,
        most: int = 32 << 20,
        operations: Iterable[Operation] = (),
    ) -> None:
        self.vault = open_vault(root)
        for operation in operations:
            self.vault.catalog.add(operation)
        lanes = Lanes(LANES, self.vault)
        places = Places(root, {"the state folder": root / ".reme"})
        self.desk = Desk(self.vault.catalog, lanes, places, Metrics(), Feed(lanes, places, asyncio.Event()), most)
        self.app = guarded(answering(self.desk), access or Access("127.0.0.1", 8765))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.desk.lanes.close(30)
        self.vault.close()

    def ask(
        self,
        method: str,
        target: str,
        body: bytes | Iterable[bytes] = b"",
        headers: Mapping[str, str] | None = None,
        *,
        leaves: bool = False,
    ) -> Answer:
        """Send a request as it would come over a socket.

        Args:
            body: Whole, or in the pieces in which it comes.
            leaves: Whether the client goes away as soon as it has asked.
        """
        return asyncio.run(self.asked(method, target, body, headers, leaves=leaves))

    def call(self, operation: str, headers: Mapping[str, str] | None = None, /, **arguments: Any) -> Answer:
        """Call an operation."""
        return self.ask("POST", f"/api/{operation}", json.dumps(arguments).encode(), {**JSON, **(headers or {})})

    async def asked(
        self,
        method: str,
        target: str,
        body: bytes | Iterable[bytes] = b"",
        headers: Mapping[str, str] | None = None,
        *,
        leaves: bool = False,
    ) -> Answer:
        """``ask`` in a loop that runs."""
        raw, _, query = target.encode("latin-1").partition(b"?")
        given = {"Host": HOST, **(headers or {})}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": raw.decode("latin-1"),
            "raw_path": raw,
            "root_path": "",
            "query_string": query,
            "headers": [(name.lower().encode(), value.encode("utf-8")) for name, value in given.items() if value],
        }
        pieces = iter([body] if isinstance(body, bytes) else body)
        answered = asyncio.Event()
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            piece = next(pieces, None)
            if piece is None:
                if not leaves:
                    await answered.wait()
                return {"type": "http.disconnect"}
            more = not isinstance(body, bytes)
            return {"type": "http.request", "body": piece, "more_body": more and piece != b""}

        async def send(message: Any) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                answered.set()

        await self.app(scope, receive, send)
        if not sent:
            return Answer(0, {}, b"")
        head = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:]))


class Server:
    """``reme serve`` as a process of its own, or a program that does the same."""

    def __init__(
        self, vault: Path, *options: str, program: str = "", variables: Mapping[str, str] | None = None
    ) -> None:
        serve = ["-m", "reme", "--vault", str(vault), "serve", "--port", "0", *options]
        command = [sys.executable, "-W", "error", *(["-m", program, str(vault)] if program else serve)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**environment(), **(variables or {})}
        )
        assert self.process.stderr
        self.told = ""
        while not (match := re.search(r"at http://(.*):(\d+)", self.told)):
            line = self.process.stderr.readline().decode()
            assert line, f"the server did not start: {self.told}"
            self.told += line
        self.port = int(match[2])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(
        self, method: str, target: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request over a connection of its own."""
        connection = self.connect()
        try:
            connection.request(method, target, body, {**(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def call(self, operation: str, headers: Mapping[str, str] | None = None, /, **arguments: Any) -> Answer:
        """Call an operation."""
        return self.ask("POST", f"/api/{operation}", json.dumps(arguments).encode(), {**JSON, **(headers or {})})

    def stop(self, number: int = signal.SIGTERM) -> str:
        """End it, and return all that it told."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        assert out == b""
        return self.told + err.decode()
