"""Asking a model for one decision until it gives one: the loop around a call.

Owns how often, how many at once, and what is said when an answer was of no use. An answer that is cut off or in no
usable form decides nothing.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar, cast

from pydantic import BaseModel, ValidationError

from reme.models import ChatModel
from reme.reason.model.budget import Budget
from reme.reason.model.forms import schema_of
from reme.reason.model.material import Entry, framed, in_another_language, is_chinese, size
from reme.reason.model.prompts import Language, Prompts
from reme.reason.model.replies import NoDecision, the_object
from reme.reason.port import Unusable

__all__ = ["Asking"]

_F = TypeVar("_F", bound=BaseModel)
_D = TypeVar("_D")
_TRIES: Final = 3
_LEAST_ROOM: Final = 500


class Asking:
    """Asks a model.

    Args:
        model: Who is asked.
        budget: What it may cost.
        prompts: What it is told.
        context: Tokens that the model takes, its answer among them.
        most: Tokens that an answer may have.
        parallel: How many answers are awaited at once.
    """

    def __init__(
        self, model: ChatModel, budget: Budget, prompts: Prompts, *, context: int, most: int, parallel: int
    ) -> None:
        self._model = model
        self._budget = budget
        self._prompts = prompts
        self._context = context
        self._most = min(most, context // 2)
        self._turns = asyncio.Semaphore(parallel)

    def language(self, texts: Sequence[str]) -> Language:
        """The language to speak about some texts."""
        return "chinese" if is_chinese(texts) else "english"

    def room(self, decision: str, language: Language, form: type[BaseModel]) -> int:
        """Tokens of material that there is room for in a prompt, beside instructions and answer."""
        told = size(self._prompts.instructions(decision, language, schema_of(form)))
        return max(_LEAST_ROOM, self._context - self._most - told)

    async def ask(
        self,
        decision: str,
        language: Language,
        material: Sequence[Entry],
        form: type[_F],
        decide: Callable[[_F, list[str]], _D],
    ) -> _D:
        """One decision.

        Args:
            decision: Its prompt.
            material: What it is about.
            form: What an answer has to look like.
            decide: Turns an answer into the decision; takes the reasons for what was refused of it; raises
                ``NoDecision`` for one that decides nothing.

        Raises:
            Unavailable: If the model does not answer, or may not be asked any more today.
            Unusable: If none of its answers was of use.
        """
        schema = schema_of(form)
        instructions = self._prompts.instructions(decision, language, schema)
        asked = text = framed(material)
        problem = ""
        last = False

        def read(value: dict[str, object]) -> _D:
            refused: list[str] = []
            try:
                decision = decide(form.model_validate(value, context=refused), refused)
            except ValidationError as error:
                raise NoDecision(_said(error)) from error
            if not last and in_another_language(" ".join(_texts(value)), asked, chinese=language == "chinese"):
                raise NoDecision(f"it is in another language than the material, which is in {language.capitalize()}")
            return decision

        for attempt in range(_TRIES):
            last = attempt + 1 == _TRIES
            async with self._turns:
                reply = await asyncio.to_thread(
                    self._budget.complete, self._model, decision, instructions, text, schema, self._most
                )
            try:
                if not reply.whole:
                    raise NoDecision(f"it was cut off, or stopped, after {len(reply.text)} characters")
                return the_object(reply.text, read)
            except NoDecision as error:
                problem = str(error)
                text = f"{asked}\n\n{self._prompts.text('again', language)} {problem}"
        raise Unusable(
            f"the model {self._model.name} gave no usable answer to {decision} in {_TRIES} tries: {problem}",
            hint="Nothing was changed, and it is asked again next time. Try a model that is better at JSON.",
        )


def _texts(value: object) -> Iterator[str]:
    """The sentences and names in an answer: strings with a space or a Chinese character."""
    match value:
        case str():
            if not value.isascii() or " " in value:
                yield value
        case list():
            for each in cast("list[object]", value):
                yield from _texts(each)
        case dict():
            for each in cast("dict[str, object]", value).values():
                yield from _texts(each)
        case _:
            pass


def _said(error: ValidationError) -> str:
    """What is wrong with an answer, in one line for the model."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problems[:5])
