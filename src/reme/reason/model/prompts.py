"""The prompts: files beside the code, in English and in Chinese, any of which a vault may replace.

Owns their names and how instructions are put together: what holds for every decision, the decision, and the schema of
the answer. Which folder a vault keeps its own in is not known here.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

__all__ = ["LANGUAGES", "PROMPTS", "Language", "Prompts", "prompt_name", "shipped"]

Language = Literal["english", "chinese"]

LANGUAGES: Final[tuple[Language, ...]] = ("english", "chinese")

PROMPTS: Final = (
    "common",
    "again",
    "segment",
    "read_resource",
    "extract",
    "integrate",
    "overloaded",
    "split",
    "same_concept",
    "merge",
    "abstract",
    "fold",
    "resolve_mention",
    "triples",
    "topics",
)
"""One for each decision, what goes before each of them, and what is said when an answer was of no use."""

_SCHEMA: Final[Mapping[Language, str]] = {"english": "Schema of your answer", "chinese": "回答的模式"}


def prompt_name(name: str, language: Language) -> str:
    """A prompt's file, below the folder of prompts."""
    return f"{language}/{name}.md"


@cache
def shipped(file: str) -> str:
    """A prompt as it ships."""
    return files("reme.reason.model").joinpath("prompts", *file.split("/")).read_text("utf-8")


def _none(_file: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts in force.

    Attributes:
        own: The text that a vault has instead of a file of that name, or None.
    """

    own: Callable[[str], str | None] = _none

    def text(self, name: str, language: Language) -> str:
        """A prompt."""
        file = prompt_name(name, language)
        own = self.own(file)
        return (shipped(file) if own is None else own).strip()

    def instructions(self, decision: str, language: Language, schema: Mapping[str, object]) -> str:
        """What a model is told before the material of a decision."""
        form = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        return "\n\n".join(
            (self.text("common", language), self.text(decision, language), f"{_SCHEMA[language]}: {form}")
        )
