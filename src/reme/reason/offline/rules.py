"""The tables of the offline reasoner: what makes a sentence worth keeping, in English and in Chinese.

Owns how ``languages/*.txt`` become patterns. The words are in those files, for anybody to edit; how they are weighed is
in `sentences`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from re import Pattern
from typing import Final, Literal

__all__ = ["Language", "Rules", "Slot", "has_cjk", "rules_for", "rules_of"]

Language = Literal["english", "chinese"]

_CJK: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_PIECE: Final = re.compile(r"\{(?P<name>[a-z]+)\}")
_SECTION: Final = re.compile(r"\[(?P<name>\w+): (?P<kind>anywhere|opening|pattern|each|opposites|slots|forms|words)\]")


@dataclass(frozen=True, slots=True)
class Slot:
    """What there is one of at a time.

    Attributes:
        value: What a statement of this form says that it is; empty where the pattern's ``value`` says so.
        lasting: Whether two values exclude each other; else they do only where a change is announced.
    """

    name: str
    value: str
    lasting: bool
    pattern: Pattern[str]


@dataclass(frozen=True, slots=True)
class Rules:
    """One language's patterns and words; what each is for stands in the files."""

    first_person: Pattern[str]
    oneself: Pattern[str]
    memorable: Pattern[str]
    people: Pattern[str]
    platitude: Pattern[str]
    praise: Pattern[str]
    indefinite: Pattern[str]
    everyone: Pattern[str]
    generic: Pattern[str]
    time: Pattern[str]
    number: Pattern[str]
    entity: Pattern[str]
    chatter: Pattern[str]
    courtesy: Pattern[str]
    passing: Pattern[str]
    question: Pattern[str]
    asking: Pattern[str]
    unsettled: Pattern[str]
    unsure: Pattern[str]
    correction: Pattern[str]
    decision: Pattern[str]
    tentative: Pattern[str]
    agreement: Pattern[str]
    preference: Pattern[str]
    trait: Pattern[str]
    plain: Pattern[str]
    possessed: Pattern[str]
    state: Pattern[str]
    instruction: Pattern[str]
    sequence: Pattern[str]
    step: Pattern[str]
    recipe: Pattern[str]
    guide: Pattern[str]
    shift: Pattern[str]
    change: Pattern[str]
    negation: Pattern[str]
    advice: Pattern[str]
    telling: Pattern[str]
    exhortation: Pattern[str]
    opinion: Pattern[str]
    later: Pattern[str]
    hanging: Pattern[str]
    early: Pattern[str]
    deictic: Pattern[str]
    joining: Pattern[str]
    pronoun: Pattern[str]
    person: Pattern[str]
    machine: Pattern[str]
    opener: Pattern[str]
    clause: Pattern[str]
    subject: Pattern[str]
    vague: Pattern[str]
    request: Pattern[str]
    listener: Pattern[str]
    reported: Pattern[str]
    comparison: Pattern[str]
    ended: Pattern[str]
    planned: Pattern[str]
    wished: Pattern[str]
    bygone: Pattern[str]
    past: Pattern[str]
    unit: Pattern[str]
    attribute: tuple[Slot, ...]
    replaced: tuple[Pattern[str], ...]
    over: tuple[Pattern[str], ...]
    opposites: tuple[tuple[Pattern[str], Pattern[str]], ...]
    irregular: Mapping[str, str]
    announced: Pattern[str]
    joint: frozenset[str]
    before_verb: frozenset[str]
    event: frozenset[str]
    held: frozenset[str]
    light: frozenset[str]
    stop: frozenset[str]
    weak: frozenset[str]


def has_cjk(text: str) -> bool:
    """Whether a text has Chinese characters."""
    return _CJK.search(text) is not None


def rules_for(text: str) -> Rules:
    """The rules for the language of a sentence."""
    return rules_of("chinese" if has_cjk(text) else "english")


@cache
def rules_of(language: Language) -> Rules:
    """The rules of a language, read from its file."""
    text = files("reme.reason.offline").joinpath("languages", f"{language}.txt").read_text("utf-8")
    patterns: dict[str, Pattern[str]] = {}
    words: dict[str, frozenset[str]] = {}
    each: dict[str, tuple[Pattern[str], ...]] = {}
    opposites: tuple[tuple[Pattern[str], Pattern[str]], ...] = ()
    pieces: dict[str, str] = {}
    attribute: tuple[Slot, ...] = ()
    forms: dict[str, str] = {}
    spaced = language == "english"
    for name, kind, lines in _sections(text):
        if kind == "words":
            words[name] = frozenset(word for line in lines for word in line.split())
        elif kind == "each":
            each[name] = tuple(map(re.compile, lines))
        elif name == "pieces":
            pieces = dict(line.split(": ", 1) for line in lines)
        elif kind == "slots":
            attribute = tuple(_slot(line, pieces) for line in lines)
        elif kind == "forms":
            forms = dict(form.split("=") for line in lines for form in line.split())
        elif kind == "opposites":
            sides = (line.split(" <> ") for line in lines)
            opposites = tuple(
                (
                    _compiled(one.split(" | "), "anywhere", spaced=spaced),
                    _compiled(other.split(" | "), "anywhere", spaced=spaced),
                )
                for one, other in sides
            )
        else:
            alternatives = [part for line in lines for part in line.split(" | ")]
            patterns[name] = _compiled(alternatives, kind, spaced=spaced)
    return Rules(**patterns, **each, **words, attribute=attribute, opposites=opposites, irregular=forms)  # pyright: ignore[reportArgumentType]


def _sections(text: str) -> list[tuple[str, str, list[str]]]:
    """The sections of a file: name, kind, lines."""
    found: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        if (head := _SECTION.fullmatch(line)) is not None:
            found.append((head["name"], head["kind"], []))
        elif line and not line.startswith("#") and found:
            found[-1][2].append(line)
    return found


def _slot(line: str, pieces: Mapping[str, str]) -> Slot:
    head, _, pattern = line.partition(": ")
    name, _, value = head.partition("/")
    whole = _PIECE.sub(lambda match: pieces[match["name"]], pattern)
    return Slot(name.removesuffix("?"), value, not name.endswith("?"), re.compile(whole))


def _compiled(alternatives: list[str], kind: str, *, spaced: bool) -> Pattern[str]:
    """One pattern of several; in scripts with spaces between words, an alternative ends where a word does."""
    joined, edge = "|".join(alternatives), r"\b" if spaced else ""
    match kind:
        case "anywhere":
            return re.compile(f"{edge}(?:{joined}){edge}", re.IGNORECASE)
        case "opening":
            return re.compile(rf"^\W*(?:{joined}){edge}", re.IGNORECASE)
        case _:
            return re.compile(joined, re.IGNORECASE if spaced and "A-Z" not in joined else 0)
