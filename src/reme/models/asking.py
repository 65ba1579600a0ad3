"""Asking a service over HTTP: one address, time-outs, tries that are repeated while it is down or busy.

Owns the transport that all models behind an address share. Nothing is sent but to the address that was given: no
redirects are followed, and no proxy is used that was not named.
"""

import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException, IncompleteRead
from typing import Any, Final
from urllib.parse import urlsplit

from reme.errors import ConfigError

__all__ = ["Asker", "Unanswered", "host_of"]

_BACK_OFF_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 20.0
_WORTH_REPEATING: Final = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
_LARGEST_ANSWER: Final = 256_000_000
_PIECE: Final = 65_536
_SAID: Final = 2_000


class Unanswered(Exception):
    """A service did not answer, or refused to.

    Args:
        problem: What happened, for people.
        status: The HTTP status of the last try, or None if there was no answer at all.
        said: The beginning of what the service said about it.
        perhaps_worked: Whether the service may have done the work, and charge for it.
    """

    def __init__(
        self, problem: str, *, status: int | None = None, said: str = "", perhaps_worked: bool = False
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.status = status
        self.said = said
        self.perhaps_worked = perhaps_worked


def host_of(url: str) -> str:
    """The host and port of an address, without credentials.

    Raises:
        ConfigError: If the address is none.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{url!r} is no address of an endpoint", hint="It looks like http://127.0.0.1:11434/v1.")
    return parts.netloc.rpartition("@")[2]


def _anything(_answer: bytes) -> bool:
    return True


class Asker:
    """Asks one service.

    Args:
        url: Its address; what is asked for comes behind it.
        headers: Sent with every request.
        timeout: Seconds to wait for an answer, all of it.
        tries: How often a request is tried, with growing pauses, while the service is down or busy.
        proxy: Address of a proxy; empty for none.
        sleep: Waits so many seconds.
        chance: Returns a number from 0 to 1, by which pauses differ.
        monotonic: Tells the seconds that have passed.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout: float,
        tries: int,
        proxy: str = "",
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        self._timeout = timeout
        self._tries = tries
        self._sleep = sleep
        self._chance = chance
        self._monotonic = monotonic
        proxies = {"http": proxy, "https": proxy} if proxy else {}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _NoRedirect)

    def post(self, path: str, body: bytes, usable: Callable[[bytes], bool] = _anything) -> bytes:
        """The answer to a request.

        Args:
            path: What is asked for, behind the address.
            usable: Whether an answer is whole; one that is not is asked for again.

        Raises:
            Unanswered: If there is none.
        """
        request = urllib.request.Request(self._url + path, body, self._headers, method="POST")  # noqa: S310
        pause, failure = _BACK_OFF_S, Unanswered("it was never asked")
        for left in range(self._tries - 1, -1, -1):
            wanted = 0.0
            try:
                answer = self._answer(request)
                if usable(answer):
                    return answer
                failure = Unanswered("its answer is not whole", perhaps_worked=True)
            except urllib.error.HTTPError as error:
                with error:
                    said = _said(error)
                    wanted = _retry_after(error)
                failure = Unanswered(f"it answers {error.code} {said[:200]}".rstrip(), status=error.code, said=said)
                if error.code not in _WORTH_REPEATING:
                    break
            except (OSError, HTTPException) as error:
                reason: object = getattr(error, "reason", "") or error
                sent = not isinstance(error, urllib.error.URLError)
                failure = Unanswered(str(reason) or type(error).__name__, perhaps_worked=sent)
            if left:
                self._sleep(min(max(pause * (0.5 + self._chance()), wanted), _LONGEST_PAUSE_S))
                pause *= 2
        raise failure

    def _answer(self, request: urllib.request.Request) -> bytes:
        """All of one answer, within the time."""
        until = self._monotonic() + self._timeout
        with self._opener.open(request, timeout=self._timeout) as answer:
            found = bytearray()
            while piece := answer.read1(_PIECE):
                found += piece
                if len(found) > _LARGEST_ANSWER:
                    raise HTTPException("its answer has no end")
                if self._monotonic() > until:
                    raise TimeoutError("timed out")
            if answer.length:
                raise IncompleteRead(bytes(found), answer.length)
            return bytes(found)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object, **_options: object) -> None:
        return None


def _said(error: urllib.error.HTTPError) -> str:
    """The beginning of what a service says about an error, on one line."""
    try:
        text = error.read(_SAID).decode("utf-8", "replace")
    except (OSError, HTTPException):
        return ""
    try:
        told: Any = json.loads(text)["error"]
        text = told if isinstance(told, str) else str(told["message"])
    except (ValueError, KeyError, TypeError):
        pass
    return " ".join(text.split())


def _retry_after(error: urllib.error.HTTPError) -> float:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0
