"""A chat model behind an address: OpenAI and what speaks its protocol (Ollama, LM Studio, vLLM …), Anthropic, Gemini.

Owns one question and its answer: options that a model refuses are left out of the next try, and what does not come in
the provider's form is asked for again. Knows no prompt and no decision.
"""

import json
import random
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from reme.errors import Unavailable
from reme.models.asking import Asker, Unanswered, host_of
from reme.models.chat import Reply
from reme.models.chat_wire import Question, Wire
from reme.models.settings import ChatSettings

__all__ = ["ChatEndpoint"]

_REFUSED_OPTION: Final = frozenset((400, 422))
_NOT_KNOWN: Final = frozenset((401, 403))


class ChatEndpoint:
    """A ``ChatModel`` behind an address.

    Args:
        name: The model as it is told to people.
        model: Its name at the provider.
        wire: The provider's protocol.
        settings: Where it is and how it is to be asked.
        sleep: Waits so many seconds.
        chance: Returns a number from 0 to 1, by which pauses differ.

    Raises:
        ConfigError: If the address is none.
    """

    def __init__(
        self,
        name: str,
        model: str,
        wire: Wire,
        settings: ChatSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        url = settings.url or wire.url
        self._host = host_of(url)
        self.name = name if not settings.url else f"{name} at {self._host}"
        self._model = model
        self._path = wire.path(quote(model, safe=""))
        self._wire = wire
        self._refused: frozenset[str] = frozenset()
        self._asker = Asker(
            url,
            wire.headers(settings.key),
            timeout=settings.timeout,
            tries=settings.tries,
            proxy=settings.proxy,
            sleep=sleep,
            chance=chance,
        )

    def complete(self, instructions: str, text: str, *, schema: Mapping[str, object], most: int) -> Reply:
        """One answer; see ``ChatModel``."""
        while True:
            refused = self._refused
            question = Question(self._model, instructions, text, schema, most, refused)
            body = json.dumps(self._wire.body(question), ensure_ascii=False).encode("utf-8", "replace")
            try:
                return self._wire.reply(json.loads(self._asker.post(self._path, body, self._is_whole)))
            except Unanswered as failure:
                option = self._unwanted(failure, refused)
                if option is None:
                    raise self._unavailable(failure) from failure
                self._refused = refused | {option}

    def _unwanted(self, failure: Unanswered, refused: frozenset[str]) -> str | None:
        """The option that a model may have refused: the one that it names, else the likeliest."""
        if failure.status not in _REFUSED_OPTION:
            return None
        left = [option for option in self._wire.options if option not in refused]
        named = (option for option in left if option in failure.said)
        return next(named, left[0] if left[:1] == [self._wire.options[0]] else None)

    def _is_whole(self, answer: bytes) -> bool:
        try:
            self._wire.reply(json.loads(answer))
        except (ValueError, LookupError, TypeError, AttributeError):
            return False
        return True

    def _unavailable(self, failure: Unanswered) -> Unavailable:
        hint = "Check that it runs, its address, the model's name and the key."
        if failure.status in _NOT_KNOWN:
            hint = "Check the key: REME_LLM_KEY."
        details: dict[str, Any] = {"model": self.name, "perhaps_charged": failure.perhaps_worked}
        return Unavailable(f"the model {self.name} does not answer: {failure.problem}", hint=hint, details=details)
