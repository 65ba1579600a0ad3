"""Any embedding model behind OpenAI's protocol: OpenAI itself, Ollama, LM Studio, vLLM, llama.cpp …

Owns the requests, their batches and what an answer has to look like.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from reme.errors import Unavailable
from reme.models.asking import Asker, Unanswered, host_of
from reme.models.embedder import Vectors, sendable
from reme.models.extras import load
from reme.models.settings import EndpointSettings

__all__ = ["Endpoint"]


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
        self._model = model
        self._settings = settings
        self._host = host_of(settings.url)
        self._dim = settings.dim
        self._finding_dim = threading.Lock()
        headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else {}
        self._asker = Asker(
            settings.url,
            headers,
            timeout=settings.timeout,
            tries=settings.tries,
            proxy=settings.proxy,
            sleep=sleep,
            chance=chance,
        )
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
        try:
            return self._asker.post("/embeddings", body)
        except Unanswered as failure:
            raise Unavailable(
                f"the embedding endpoint {self._host} does not serve {self._model}: {failure.problem}",
                hint="Check that it runs, its address, the model's name and the key.",
            ) from failure

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
