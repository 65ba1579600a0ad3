"""Any embedding model behind OpenAI's protocol: OpenAI itself, Ollama, LM Studio, vLLM, llama.cpp …

Owns the requests: batches, time-outs, repeated tries. Sends texts nowhere but to the address that it was given: no
redirects are followed, and no proxy is used that was not named.
"""

import json
import random
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from typing import Any, Final, cast
from urllib.parse import urlsplit

from reme.errors import ConfigError, Unavailable
from reme.models.embedder import Vectors, sendable
from reme.models.extras import load
from reme.models.settings import EndpointSettings

__all__ = ["Endpoint"]

_BACK_OFF_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 20.0
_WORTH_REPEATING: Final = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
_LARGEST_ANSWER: Final = 256_000_000


class Endpoint:
    """An ``Embedder`` behind an address.

    Args:
        model: The model's name there.
        settings: Where it is and how it wants to be asked.
        sleep: Waits so many seconds.
        chance: Returns a number from 0 to 1, by which pauses differ.

    Raises:
        ConfigError: If the address is none.
    """

    def __init__(
        self,
        model: str,
        settings: EndpointSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        parts = urlsplit(settings.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"{settings.url!r} is no address of an endpoint", hint="It looks like http://127.0.0.1:11434/v1."
            )
        self._model = model
        self._settings = settings
        self._host = parts.netloc.rpartition("@")[2]
        self._sleep = sleep
        self._chance = chance
        self._dim = settings.dim
        self._finding_dim = threading.Lock()
        proxies = {"http": settings.proxy, "https": settings.proxy} if settings.proxy else {}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _NoRedirect)
        self.calibration = settings.calibration
        prefixes = f"|{settings.query_prefix}|{settings.passage_prefix}"
        self.name = f"openai-{self._host}-{model}{prefixes if prefixes != '||' else ''}"

    @property
    def dim(self) -> int:
        """Length of a vector; asked of the endpoint if it was not set.

        Raises:
            Unavailable: If the endpoint does not answer.
        """
        with self._finding_dim:
            if self._dim is None:
                self._dim = len(self._request(["."])[0])
            return self._dim

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """The vectors of texts."""
        np = load("numpy")
        found = np.zeros((len(texts), self.dim), np.float32)
        prefix = self._settings.query_prefix if query else self._settings.passage_prefix
        row = 0
        for some in self._batches(texts):
            vectors = self._request([prefix + text for text in some])
            if any(len(vector) != self.dim for vector in vectors):
                raise self._wrong(f"a vector has another length than {self.dim}")
            found[row : row + len(some)] = vectors
            row += len(some)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._wrong("a vector has no length")
        return found / lengths

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        settings = self._settings
        for start in range(0, len(texts), settings.batch):
            yield [sendable(text, settings.longest) for text in texts[start : start + settings.batch]]

    def _request(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._settings.dim is not None:
            body["dimensions"] = self._settings.dim
        return self._vectors(self._ask(json.dumps(body).encode()), len(texts))

    def _ask(self, body: bytes) -> bytes:
        settings = self._settings
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if settings.key:
            headers["Authorization"] = f"Bearer {settings.key}"
        request = urllib.request.Request(settings.url.rstrip("/") + "/embeddings", body, headers, method="POST")  # noqa: S310
        pause, problem = _BACK_OFF_S, "it was never asked"
        for left in range(settings.tries - 1, -1, -1):
            wanted = 0.0
            try:
                with self._opener.open(request, timeout=settings.timeout) as answer:
                    return cast("bytes", answer.read(_LARGEST_ANSWER))
            except urllib.error.HTTPError as error:
                with error:
                    problem = f"it answers {error.code} {_said(error)}".rstrip()
                    wanted = _retry_after(error)
                if error.code not in _WORTH_REPEATING:
                    break
            except (OSError, HTTPException) as error:
                problem = str(getattr(error, "reason", "") or error) or type(error).__name__
            if left:
                self._sleep(min(max(pause * (0.5 + self._chance()), wanted), _LONGEST_PAUSE_S))
                pause *= 2
        raise Unavailable(
            f"the embedding endpoint {self._host} does not serve {self._model}: {problem}",
            hint="Check that it runs, its address, the model's name and the key.",
        )

    def _vectors(self, answer: bytes, count: int) -> list[list[float]]:
        try:
            items = cast("list[dict[str, Any]]", json.loads(answer)["data"])
            ordered = sorted(items, key=lambda item: int(item.get("index", 0)))
            found = [[float(value) for value in item["embedding"]] for item in ordered]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._wrong("it is not in OpenAI's form") from error
        if len(found) != count:
            raise self._wrong(f"{len(found)} vectors for {count} texts")
        return found

    def _wrong(self, what: str) -> Unavailable:
        return Unavailable(
            f"the embedding endpoint {self._host} gives an unusable answer: {what}",
            hint="Check the address and that the model is one for embeddings.",
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object, **_options: object) -> None:
        return None


def _said(error: urllib.error.HTTPError) -> str:
    """The beginning of what the endpoint says about an error."""
    try:
        text = error.read(2_000).decode("utf-8", "replace")
    except (OSError, HTTPException):
        return ""
    try:
        told = json.loads(text)["error"]
        text = told if isinstance(told, str) else str(told["message"])
    except (ValueError, KeyError, TypeError):
        pass
    return " ".join(text.split())[:200]


def _retry_after(error: urllib.error.HTTPError) -> float:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0
