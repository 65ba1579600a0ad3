"""Any embedding model behind OpenAI's protocol: OpenAI itself, Ollama, LM Studio, vLLM, llama.cpp …

Owns the requests, their batches and what an answer has to look like. While an endpoint does not answer, questions are
spared the wait for it (Nygard 2007, "Release It!": the circuit breaker).
"""

import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from reme.errors import InvalidInput, Unavailable
from reme.models.asking import Asker, Unanswered, host_of
from reme.models.embedder import Vectors, sendable
from reme.models.extras import load
from reme.models.settings import EndpointSettings
from reme.wording import counted

__all__ = ["Endpoint"]

_ABOUT_THE_TEXTS: Final = frozenset((400, 413, 422))
_PROBE: Final = "."
_FIRST_SPARED_S: Final = 30.0
_LONGEST_SPARED_S: Final = 600.0


class _Unusable(Unavailable):
    """There are no vectors of some texts, which may be because of these."""


class Endpoint:
    """An ``Embedder`` behind an address.

    Args:
        model: The model's name there.
        settings: Where it is and how it wants to be asked.
        sleep: Waits so many seconds.
        chance: Returns a number from 0 to 1, by which pauses differ.
        monotonic: Seconds that never go back.

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
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._settings = settings
        self._host = host_of(settings.url)
        self._dim = settings.dim
        self._finding_dim = threading.Lock()
        self._monotonic = monotonic
        self._failure: Unavailable | None = None
        self._spared_s = _FIRST_SPARED_S
        self._spared_until = 0.0
        headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else {}

        def asker(timeout: float, tries: int) -> Asker:
            return Asker(
                settings.url, headers, timeout=timeout, tries=tries, proxy=settings.proxy, sleep=sleep, chance=chance
            )

        self._asker = asker(settings.timeout, settings.tries)
        self._asker_of_questions = asker(min(settings.timeout, settings.query_timeout), 1)
        self.calibration = settings.calibration
        prefixes = f"|{settings.query_prefix}|{settings.passage_prefix}"
        self.name = f"openai-{self._host}-{model}{prefixes if prefixes != '||' else ''}"

    @property
    def dim(self) -> int:
        """Length of a vector; asked of the endpoint if it was not set and there has been no vector yet.

        Raises:
            Unavailable: If the endpoint does not answer.
        """
        with self._finding_dim:
            if self._dim is None:
                self._dim = int(self._vectors(self._asker, [_PROBE]).shape[1])
            return self._dim

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """The vectors of texts.

        Raises:
            InvalidInput: If the endpoint embeds other texts, but not these together.
            Unavailable: If it does not answer, or embeds nothing; a question is not even asked for a while after that.
        """
        if query and self._failure and (left := self._spared_until - self._monotonic()) > 0:
            again = f"{self._failure.message}; it is asked again in {left:.0f} s"
            raise Unavailable(again, hint=self._failure.hint)
        np = load("numpy")
        settings = self._settings
        asker = self._asker_of_questions if query else self._asker
        prefix = settings.query_prefix if query else settings.passage_prefix
        sent = [prefix + sendable(text, settings.longest) for text in texts]
        found = [
            self._embedded(asker, sent[start : start + settings.batch]) for start in range(0, len(sent), settings.batch)
        ]
        return np.concatenate(found) if found else np.zeros((0, self.dim), np.float32)

    def _embedded(self, asker: Asker, texts: list[str]) -> Vectors:
        try:
            found = self._vectors(asker, texts)
        except _Unusable as failure:
            self._vectors(asker, [_PROBE])  # if even this fails, it is not the texts
            raise InvalidInput(failure.message) from failure
        with self._finding_dim:
            self._dim = self._dim or found.shape[1]
        return found

    def _vectors(self, asker: Asker, texts: list[str]) -> Vectors:
        np = load("numpy")
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._settings.dim is not None:
            body["dimensions"] = self._settings.dim
        rows = self._rows(self._ask(asker, json.dumps(body).encode()), len(texts))
        dim = self._dim or len(rows[0])
        if any(len(row) != dim for row in rows):
            raise self._wrong(f"a vector has another length than {dim}")
        found = np.array(rows, np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._wrong("a vector has no length")
        return found / lengths

    def _ask(self, asker: Asker, body: bytes) -> bytes:
        try:
            answer = asker.post("/embeddings", body)
        except Unanswered as failure:
            kind = _Unusable if failure.status in _ABOUT_THE_TEXTS else Unavailable
            error = kind(
                f"the embedding endpoint {self._host} does not serve {self._model}: {failure.problem}",
                hint="Check that it runs, its address, the model's name and the key.",
            )
            if failure.status not in _ABOUT_THE_TEXTS:
                self._spare_questions(error)
            raise error from failure
        self._failure, self._spared_s = None, _FIRST_SPARED_S
        return answer

    def _spare_questions(self, failure: Unavailable) -> None:
        """Have no question wait for an endpoint that has just failed, for ever longer while it goes on failing."""
        now = self._monotonic()
        if now >= self._spared_until:
            self._spared_until = now + self._spared_s
            self._spared_s = min(self._spared_s * 2, _LONGEST_SPARED_S)
        self._failure = failure

    def _rows(self, answer: bytes, count: int) -> list[list[float]]:
        try:
            items = cast("list[dict[str, Any]]", json.loads(answer)["data"])
            ordered = sorted(items, key=lambda item: int(item.get("index", 0)))
            found = [[float(value) for value in item["embedding"]] for item in ordered]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._wrong("it is not in OpenAI's form") from error
        if len(found) != count:
            raise self._wrong(f"{counted(len(found), 'vector')} for {counted(count, 'text')}")
        return found

    def _wrong(self, what: str) -> _Unusable:
        return _Unusable(
            f"the embedding endpoint {self._host} gives an unusable answer: {what}",
            hint="Check the address and that the model is one for embeddings.",
        )
