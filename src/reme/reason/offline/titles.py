"""Titles and descriptions: what a person would call a few statements.

A title is a name that many of them share (a quotation, an identifier, words in capitals, a noun phrase said again), or
else what the weightiest of them says, cut to a clause. Never a pronoun, a greeting or an adverb.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reme.reason.offline.rules import Rules, has_cjk, rules_for
from reme.reason.offline.sentences import Sentence, announces
from reme.reason.offline.terms import Lexicon, Token

__all__ = ["Headline", "brief", "headline"]

_LONGEST_BRIEF: Final = 160
_LONGEST_NAME: Final = 4
_SHARED: Final = 0.34
_SHARED_BY_MANY: Final = 4
_ONE_WORD_SHARED: Final = 0.6
_QUOTED_KIND: Final = 1.6
_FIRST_CLAUSES: Final = 3
_FEWEST_WORDS: Final = 3
_MOST_WORDS: Final = 9
_FEWEST_CHARACTERS: Final = 4
_MOST_CHARACTERS: Final = 20

_QUOTED: Final = re.compile(r"《([^《》]{2,24})》|“([^“”，。！？,.!?]{2,24})”|「([^「」，。！？]{2,24})」|\"([^\",.!?]{2,24})\"")
_IDENTIFIER: Final = re.compile(r"`([^`\s]{3,40})`|\b(\w+(?:_\w+)+|[A-Z]{2,}-\d+)\b")
_NO_NOUN: Final = re.compile(r"(?:ly|ed)$")
_VERB_FOLLOWS: Final = frozenset(
    "to i we you he she they it will would can could must should shall may might not never also "
    "don't doesn't didn't won't can't couldn't wouldn't who which that then and or please let's".split()
)
_WORDS_BEFORE: Final = re.compile(r"[\w'’]+")


@dataclass(frozen=True, slots=True)
class Headline:
    """A title, a one-line description, and the words that both are about."""

    title: str
    description: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Name:
    """A phrase that could be a title: as written, its terms, how much its kind is worth."""

    text: str
    terms: frozenset[str]
    kind: float


def headline(
    lexicon: Lexicon, sentences: Sequence[Sentence], weights: Mapping[str, float], names: frozenset[str] = frozenset()
) -> Headline:
    """What to call statements, of which there is at least one.

    Args:
        weights: Inverse frequencies of terms in the wider material, so that what is everywhere names nothing.
        names: Names of the speakers, lower-cased; never a title by themselves.
    """
    shared = _shared_name(lexicon, sentences, weights, names)
    subject = shared[0].terms if shared else frozenset[str]()
    told = sorted(sentences, key=lambda s: -_telling(s, subject, weights))
    description = brief(_bare(told[0].text))
    if shared and _names_all(shared[0], shared[1], len(sentences)):
        return Headline(_capital(shared[0].text), description, subject)
    first = (clauses[0] for s in told[:_FIRST_CLAUSES] if (clauses := _clauses(lexicon, s.text)) and clauses[0])
    rest = (clause for sentence in told for clause in _clauses(lexicon, sentence.text) if clause)
    title = next(first, None) or next(rest, None) or _cut(_bare(told[0].text), rules_for(told[0].text))
    return Headline(title or description, description, lexicon.terms(title) | subject)


def _names_all(name: _Name, count: int, of: int) -> bool:
    """Whether enough statements share a name for it to stand for all of them; a single word says less than two."""
    if len(name.terms) == 1 and name.kind < _QUOTED_KIND:
        return name.kind > 1.0 and count >= _ONE_WORD_SHARED * of and of > 2  # noqa: PLR2004
    return count >= _SHARED * of or count >= _SHARED_BY_MANY


def _telling(sentence: Sentence, subject: frozenset[str], weights: Mapping[str, float]) -> float:
    """How much a sentence says by itself."""
    rules = rules_for(sentence.text)
    bare = _bare(sentence.text)
    worth = sentence.score + 0.2 * sum(weights.get(term, 0.0) for term in sentence.terms)
    worth += 1.0 * bool(subject) * (subject <= sentence.terms) + 0.7 * (sentence.kind == "decision")
    worth += 0.7 * announces(sentence.text)
    worth -= 1.5 * bool(rules.vague.match(bare)) + 1.0 * bool(rules.request.search(bare))
    return worth - 1.0 * (len(bare) < len(sentence.text)) - 1.0 * (sentence.kind == "procedure")


# Names


def _shared_name(
    lexicon: Lexicon, sentences: Sequence[Sentence], weights: Mapping[str, float], names: frozenset[str]
) -> tuple[_Name, int] | None:
    """The best name that more than one sentence has, and how many have it."""
    found: dict[frozenset[str], _Name] = {}
    for sentence in sentences:
        for name in _names(lexicon, sentence.text, names):
            if name.terms not in found or found[name.terms].kind < name.kind:
                found[name.terms] = name
    scored: list[tuple[float, int, _Name]] = []
    for name in found.values():
        count = sum(name.terms <= sentence.terms for sentence in sentences)
        if count > 1:
            rarity = sum(weights.get(term, 1.0) for term in name.terms) / len(name.terms)
            scored.append((count**0.7 * rarity * name.kind, count, name))
    if not scored:
        return None
    _, count, best = max(scored, key=lambda entry: (entry[0], entry[2].text))
    return best, count


def _names(lexicon: Lexicon, text: str, names: frozenset[str]) -> Iterator[_Name]:
    for pattern, kind in ((_QUOTED, _QUOTED_KIND), (_IDENTIFIER, 1.0)):
        for match in pattern.finditer(text):
            inside = next(group for group in match.groups() if group)
            if terms := lexicon.terms(inside):
                yield _Name(inside, terms, kind)
    for run in _runs(lexicon, text, names):
        if (name := _named(text, run)) is not None:
            yield name


def _runs(lexicon: Lexicon, text: str, names: frozenset[str]) -> Iterator[list[Token]]:
    """Adjacent words that could be parts of one name: a run ends where capitals begin or end."""
    run: list[Token] = []
    for token in [*lexicon.tokens(text), None]:
        fits = token is not None and token.naming and token.text.lower().removesuffix("'s") not in names
        if fits and token and run and _adjacent(text, run[-1], token) and _is_name(run[-1]) == _is_name(token):
            run.append(token)
            continue
        if run:
            yield run
        run = [token] if fits and token else []


def _is_name(token: Token) -> bool:
    return token.text[:1].isupper()


def _adjacent(text: str, left: Token, right: Token) -> bool:
    between = text[left.end : right.start]
    if has_cjk(left.text) and has_cjk(right.text):
        return between == ""
    return between in (" ", "-", "/", "_", ".", "") and len(between) < 2


def _named(text: str, run: list[Token]) -> _Name | None:
    """A run as a name, if it reads like one."""
    run = run[-_LONGEST_NAME:]
    if has_cjk(run[0].text):
        shown = text[run[0].start : run[-1].end]
        if len(shown) < 2 or not run[-1].noun:
            return None
        return _Name(shown, frozenset(t.term for t in run), (1.0, 1.3)[len(run) > 1])
    if _is_name(run[0]):
        opens = not text[: run[0].start].strip(" \"'“‘(") or text[: run[0].start].rstrip().endswith((".", "!", "?", ":"))
        if opens and len(run) == 1:
            return None
        kind = 1.5 if len(run) > 1 else 1.1
    else:
        before = _WORDS_BEFORE.findall(text[: run[0].start])
        if not before or before[-1].lower() in _VERB_FOLLOWS:
            run = run[1:]
        if not run or _NO_NOUN.search(run[-1].text) or (len(run) == 1 and run[0].text.endswith("ing")):
            return None
        kind = 1.2 if len(run) > 1 else 0.7
    shown = text[run[0].start : run[-1].end].removesuffix("'s").removesuffix("’s")
    return _Name(shown, frozenset(token.term for token in run), kind)


# Clauses


def _bare(text: str) -> str:
    """A sentence without openings that say nothing."""
    before = ""
    while before != text:
        before, text = text, rules_for(text).opener.sub("", text, count=1)
        if len(text) < _FEWEST_CHARACTERS:
            return before
    return text


def _clauses(lexicon: Lexicon, text: str) -> list[str]:
    """The clauses of a sentence as titles, empty where one cannot stand as a title."""
    rules = rules_for(text)
    return [_clause(lexicon, _bare(part.strip()), rules) for part in rules.clause.split(_bare(text)) if part.strip()]


def _clause(lexicon: Lexicon, bare: str, rules: Rules) -> str:
    if rules.vague.match(bare) or rules.request.search(bare) or rules.chatter.match(bare):
        return ""
    shown = _cut(_timeless(rules.subject.sub("", bare, count=1), rules), rules)
    if rules.vague.match(shown) or not any(token.naming for token in lexicon.tokens(shown)):
        return ""
    long = len(shown) >= _FEWEST_CHARACTERS if has_cjk(shown) else len(shown.split()) >= _FEWEST_WORDS
    return _capital(shown) if long else ""


def _timeless(clause: str, rules: Rules) -> str:
    """A clause without the time at which it was true: at its end in English, at its beginning in Chinese."""
    chinese = has_cjk(clause)
    for match in rules.time.finditer(clause):
        if chinese and match.start() == 0 and len(clause) - match.end() >= _FEWEST_CHARACTERS:
            rest = clause[match.end() :].lstrip("的到，, ")
            return _timeless(rules.subject.sub("", rest, count=1), rules)
        left = clause[: match.start()].rstrip(" ,")
        if not chinese and match.end() == len(clause) and match.group()[0].isalpha() and len(left.split()) > 1:
            return left
    return clause


def _cut(clause: str, rules: Rules) -> str:
    """A clause at a length that a title may have."""
    clause = clause.strip().rstrip(".。!！?？,，:：;；…")
    if has_cjk(clause):
        return clause[:_MOST_CHARACTERS].rstrip("的和与在从到对把被给为以并或") if len(clause) > _MOST_CHARACTERS else clause
    words = clause.split()
    if len(words) > _MOST_WORDS:
        ends = [n for n in range(4, _MOST_WORDS + 1) if words[n].lower() in rules.joint]
        words = words[: ends[-1] if ends else _MOST_WORDS]
    while words and words[-1].lower() in rules.joint | rules.stop:
        words.pop()
    return " ".join(words)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if not re.match(r"[a-z]+[_\d]|`", text) else text


def brief(text: str) -> str:
    """The beginning of a sentence as a one-line description, cut at a clause where it is long."""
    if len(text) <= _LONGEST_BRIEF:
        return _capital(text)
    cut = max(text.rfind(mark, 0, _LONGEST_BRIEF) for mark in (", ", "; ", " - ", "，", "；", "。"))
    spaced = text.rfind(" ", 0, _LONGEST_BRIEF) if " " in text[40:_LONGEST_BRIEF] else _LONGEST_BRIEF
    return _capital(text[: cut if cut > 40 else spaced])
