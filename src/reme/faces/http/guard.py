"""Who is let in: by the address that they think they talk to, by the page that has them ask, and by a token.

Owns the checks that come before anything is done, on every route alike. A page on the web that a browser shows can send
requests to this machine, and by rebinding a name of its own even read the answers; it cannot lie about ``Host`` and
``Origin``. Knows no route but the one that tells that the process lives.
"""

import ipaddress
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from reme.errors import ConfigError, Refused, ReMeError
from reme.faces.http.problems import NoToken, problem_response
from reme.faces.http.tokens import Tokens
from reme.vault import Role

__all__ = ["ALIVE", "ROLE", "Access", "guarded", "parse_origins"]

ALIVE: Final = "/healthz"
"""The one route that needs no token, for it tells nothing."""

ROLE: Final = "reme.role"
"""Where in the scope the caller's role stands."""

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s\[\]:@/?#\\]+)(?::([0-9]{1,5}))?")
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_REQUESTED: Final = ("Authorization", "Content-Type", "If-Match", "If-None-Match", "Last-Event-ID")
_TOLD: Final = ("ETag", "Location", "Content-Location", "Retry-After")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in, and as whom.

    Attributes:
        host: The name or address that was bound, as it was given.
        port: The port that was bound.
        origins: Origins beside our own whose pages may ask, and whose hosts may stand before us.
        tokens: Those that are known; None where none is needed.
        role: Of everybody, where no token is needed.
    """

    host: str
    port: int
    origins: frozenset[str] = frozenset()
    tokens: Tokens | None = None
    role: Role = "agent"

    def check_host(self, host: str) -> None:
        """Make sure that a ``Host`` header means us.

        Where every interface is bound, an address may stand there, which no page can rebind.

        Raises:
            Refused: If it does not.
        """
        match = _HOST.fullmatch(host.lower())
        name, port = (match[1], match[2]) if match else ("", "")
        ports = {int(port)} if port else set(_DEFAULT_PORTS.values())
        known = _LOCAL | {_bracketed(self.host.lower())}
        ours = (name in known or (_is_any(self.host) and _is_address(name))) and self.port in ports
        if not ours and not any((name, at) in _hosts(self.origins) for at in ports):
            raise Refused(
                f"this is not {host!r}",
                hint=f"Ask for {_bracketed(self.host)}:{self.port}, or have `http.origins` name the place before it.",
            )

    def check_origin(self, headers: Headers) -> None:
        """Make sure that no page of somebody else's asks.

        Raises:
            Refused: If one does.
        """
        own = f"http://{headers.get('host', '').lower()}"
        foreign = [origin for origin in headers.getlist("origin") if origin.lower() not in {own, *self.origins}]
        elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and "origin" not in headers
        if foreign or elsewhere:
            raise Refused(
                f"pages of {foreign[0] if foreign else 'other sites'} may not ask here",
                hint="If they are yours, name their origin in `http.origins`.",
            )

    def role_of(self, headers: Headers) -> Role:
        """The role of who asks.

        Raises:
            NoToken: If a token is needed, and there is none that is known.
        """
        if self.tokens is None:
            return self.role
        scheme, _, token = headers.get("authorization", "").partition(" ")
        role = self.tokens.role_of(token.strip()) if scheme.lower() == "bearer" else None
        if role is None:
            raise NoToken(
                "there is no token, or none that is known here", hint="Send one as: Authorization: Bearer TOKEN"
            )
        return role


def parse_origins(text: str) -> frozenset[str]:
    """Origins as they are set, apart by blanks or commas: ``https://memory.example.org``.

    Raises:
        ConfigError: For what is no origin; ``*`` and ``null`` are none.
    """
    origins = text.lower().replace(",", " ").split()
    for origin in origins:
        scheme, _, host = origin.partition("://")
        match = _HOST.fullmatch(host)
        if scheme not in _DEFAULT_PORTS or match is None or "*" in host or int(match[2] or 1) not in range(1, 65536):
            raise ConfigError(f"http.origins: {origin!r} is no origin", hint="Give such as https://memory.example.org")
    return frozenset(origins)


def guarded(app: ASGIApp, access: Access) -> ASGIApp:
    """An application that only lets in who may come in: the host first, then the origin, then the token."""

    def check_token(scope: Scope, headers: Headers) -> None:
        if scope["raw_path"] != ALIVE.encode():
            scope[ROLE] = access.role_of(headers)

    def check_place(_scope: Scope, headers: Headers) -> None:
        access.check_host(headers.get("host", ""))
        access.check_origin(headers)

    inner = _checked(app, check_token)
    if access.origins:
        inner = CORSMiddleware(
            inner,
            allow_origins=sorted(access.origins),
            allow_methods=_METHODS,
            allow_headers=_REQUESTED,
            expose_headers=_TOLD,
        )
    return _checked(inner, check_place)


def _checked(
    app: ASGIApp, check: Callable[[Scope, Headers], None]
) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            check(scope, Headers(scope=scope))
        except ReMeError as error:
            await problem_response(error)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return checked


def _hosts(origins: frozenset[str]) -> set[tuple[str, int]]:
    parts = [urlsplit(origin) for origin in origins]
    return {(_bracketed(part.hostname or ""), part.port or _DEFAULT_PORTS[part.scheme]) for part in parts}


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::")  # noqa: S104


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
