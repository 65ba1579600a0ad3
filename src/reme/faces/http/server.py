"""The server as a process: binds, serves a vault until it is told to stop, and then lets what runs come to its end.

Owns the socket, the signals, and how long anything is waited for. Knows no route.
"""

import asyncio
import contextlib
import errno
import ipaddress
import os
import signal
import socket
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from reme.app import App, open_vault
from reme.config import HttpSettings
from reme.errors import ConfigError, Refused, Unavailable
from reme.faces.http.answers import LANES, Desk
from reme.faces.http.feed import Feed
from reme.faces.http.guard import Access, guarded, parse_origins
from reme.faces.http.lanes import Lanes
from reme.faces.http.metrics import Metrics
from reme.faces.http.problems import MEDIA_TYPE, Malformed, Places, encoded, problem
from reme.faces.http.routes import answering
from reme.faces.http.service import Service, announce, found, withdraw
from reme.faces.http.tokens import make_tokens, read_tokens
from reme.vault import Role

__all__ = ["serve", "serve_vault"]

_HEAD_S = 10.0
_KEPT_OPEN_S: Final = 30
_DRAINING_S: Final = 10
_CONNECTIONS: Final = 256
_HEAD_BYTES: Final = 32 * 1024
_ALWAYS: Final = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
]
"""Said with every answer: what a vault holds is never a page of ours that could ask for more."""


def serve_vault(root: Path, settings: HttpSettings, role: Role, *, tell: Callable[[str], None]) -> int:
    """Serve a vault until SIGINT or SIGTERM.

    Args:
        root: The vault's folder.
        settings: Where, and for whom.
        role: With whose rights calls are made, where no token is asked for.
        tell: Takes a line for people: where it is served.

    Returns:
        The number of the signal that ended it.

    Raises:
        ConfigError, Unavailable: As ``open_vault``; for a place that cannot be bound, or tokens that cannot be read.
        Refused: If others than this machine's could come in without a token.
    """
    with open_vault(root) as app:  # what is wrong with the vault is told at once
        return serve(app, settings, role, tell=tell)


def serve(app: App, settings: HttpSettings, role: Role, *, tell: Callable[[str], None]) -> int:
    """Serve an open vault, as ``serve_vault``."""
    root, state_dir = app.vault.root, app.vault.state_dir
    origins = parse_origins(settings.origins)
    file = Path(settings.token_file).expanduser().absolute() if settings.token_file else None
    with contextlib.closing(_bound(settings.host, settings.port, state_dir)) as listener:
        if file is None and not _is_loopback(listener):
            raise Refused(
                f"{settings.host} is open to others than this machine, and no token is asked for",
                hint="Name a token file; it is made, with a token in it, if it is not there.",
            )
        if file is not None and file.resolve().is_relative_to(root.resolve()):
            raise ConfigError(
                f"the token file {file} is in the vault, where those who come in could read it",
                hint="Keep it in another folder.",
            )
        if file is not None and not file.exists():
            make_tokens(file)
            tell(f"made {file} with a token for agents")
        tokens = read_tokens(file, root) if file is not None else None
        port = listener.getsockname()[1]
        access = Access(settings.host, port, origins, tokens, role)
        service = Service(_address(settings.host, port), os.getpid(), str(file or ""))
        places = Places(root, {"the state folder": state_dir, **_home()})
        lanes = Lanes(LANES, app)
        feed = Feed(lanes, places, asyncio.Event())
        desk = Desk(app.catalog, lanes, places, Metrics(), feed, settings.max_body)

        def begun() -> None:
            with contextlib.suppress(OSError):  # the vault cannot be written
                announce(state_dir, service)
            tell(f"serving {root.name} at {service.address}")

        server = _Server(_config(desk, access), feed.stopping, begun)
        try:
            return server.run_until_told(listener)
        finally:
            lanes.close(server.patience())
            with contextlib.suppress(OSError):
                withdraw(state_dir, service)


def _config(desk: Desk, access: Access) -> uvicorn.Config:
    return uvicorn.Config(
        guarded(answering(desk), access),
        http=_Protocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        headers=_ALWAYS,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEPT_OPEN_S,
        timeout_graceful_shutdown=_DRAINING_S,
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )


class _Server(uvicorn.Server):
    """uvicorn's, which tells when it has begun, has streams end before it waits for them, and returns what ended it."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._begun = begun
        self._told = 0.0

    def run_until_told(self, listener: socket.socket) -> int:
        self.run(sockets=[listener])
        return self._captured_signals[0] if self._captured_signals else 0

    def patience(self) -> float:
        """Seconds that are left for what still runs."""
        return 0.0 if self.force_exit else max(self._told + _DRAINING_S - time.monotonic(), 0.0)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        told = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in told}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit  # told twice, it waits for nobody
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._told = time.monotonic()
        self._stopping.set()
        await super().shutdown(sockets)


class _Protocol(H11Protocol):
    """uvicorn's, which gives a connection up on which no whole head of a request has come in time, and tells what is
    no HTTP in our way."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # a head and its body are sent one after the other, which must not wait for the client's acknowledgement
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_head(_HEAD_S)

    def on_response_complete(self) -> None:
        self._wait_for_head(self.timeout_keep_alive + _HEAD_S)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:  # what answers that request cannot do so any more
            cycle.disconnected = True
            cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = encoded(problem(Malformed("this is no HTTP request", hint="Speak HTTP/1.1.")))
            head = [("Content-Type", MEDIA_TYPE), ("Content-Length", str(len(body))), ("Connection", "close")]
            for event in (h11.Response(status_code=400, headers=head), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait_for_head(self, seconds: float) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def _bound(host: str, port: int, state_dir: Path) -> socket.socket:
    """A socket that listens at a place.

    Raises:
        ConfigError: If there is no such place.
        Unavailable: If it cannot be had.
    """
    try:
        (family, *_, place), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"http.host: {host!r} is no place here: {reason}", hint="Give 127.0.0.1.") from None
    try:
        return socket.create_server(place[:2], family=family, backlog=_CONNECTIONS)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise _taken(host, port, state_dir) from None
        if error.errno == errno.EADDRNOTAVAIL:
            raise ConfigError(f"http.host: {host!r} is no address of this machine", hint="Give 127.0.0.1.") from None
        raise Unavailable(
            f"port {port} of {host} cannot be had: {error.strerror or error}",
            hint="Choose another port; 0 takes any that is free.",
        ) from None


def _taken(host: str, port: int, state_dir: Path) -> Unavailable:
    service = found(state_dir)
    if service is not None and service.address == _address(host, port):
        return Unavailable(
            f"this vault is served at {service.address} already, by process {service.pid}",
            hint="Use that one, or choose another port; 0 takes any that is free.",
        )
    return Unavailable(
        f"port {port} of {host} is in use by another program", hint="Choose another port; 0 takes any that is free."
    )


def _home() -> dict[str, Path]:
    try:
        return {"the home folder": Path.home()}
    except RuntimeError:  # nobody's
        return {}


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def _address(host: str, port: int) -> str:
    """Where a server is to be asked that has bound a place; one that has bound all is asked on this machine."""
    named = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{named}]:{port}" if ":" in named else f"http://{named}:{port}"
