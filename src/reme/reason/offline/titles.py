"""Titles and descriptions: what a person would call a few statements.

A title is a name that many of them share (a quotation, an identifier, words in capitals, a noun phrase said again), or
else what the weightiest of them says, cut to a clause. Never a pronoun, a greeting or an adverb.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from reme.markdown import sentence_spans
from reme.reason.offline.rules import Rules, has_cjk, rules_for, rules_of
from reme.reason.offline.sentences import Sentence, announces, kind_of, rate
from reme.reason.offline.terms import Lexicon, Token, inverse_frequencies, values_of

__all__ = ["Headline", "brief", "entitled", "headline", "is_redacted"]

_LONGEST_BRIEF: Final = 160
_LONGEST_NAME: Final = 4
_SHARED: Final = 0.34
_SHARED_BY_MANY: Final = 3
_SHARED_AT_LEAST: Final = 0.25
_ONE_WORD_SHARED: Final = 0.6
_QUOTED_KIND: Final = 1.6
_PROPER_KIND: Final = 1.5
_FIRST_CLAUSES: Final = 3
_FIRST: Final = 0.8
_OF_STEPS: Final = 0.3
_CENTRAL: Final = 4.0
_FEWEST_WORDS: Final = 3
_MOST_WORDS: Final = 10
_FEWEST_CHARACTERS: Final = 4
_MOST_CHARACTERS: Final = 20
_TO_CLOSE: Final = 40

_QUOTED: Final = re.compile(
    r"《([^《》]{2,24})》|“([^“”，。！？,.!?]{2,24})”|「([^「」，。！？]{2,24})」|\"([^\",.!?]{2,24})\""
)
_IDENTIFIER: Final = re.compile(r"`([^`\s]{3,40})`|\b(\w+(?:_\w+)+|[A-Z]{2,}-\d+)\b")
_NO_NOUN: Final = re.compile(r"(?:ly|ed)$")
_WORDS_BEFORE: Final = re.compile(r"[\w'’]+")
_REDACTED: Final = re.compile(r"\s*[是为:：=]?\s*[\"'“]?\[redacted: [^\[\]]*\][\"'”]?")
_ENCLOSED: Final = re.compile(
    r"(?:(?<!\d)\"[^\"]*(?P<quote>\")?|“[^”]*(?P<curly>”)?|「[^」]*(?P<corner>」)?|《[^》]*(?P<book>》)?"
    r"|\([^()]*(?P<round>\))?|（[^（）]*(?P<wide>）)?|\[\[?[^\[\]]*(?P<square>\]\]?)?)"
)
_TRAILING: Final = ".。!！?？,，、:：;；…-–—~～ "


@dataclass(frozen=True, slots=True)
class Headline:
    """A title and a one-line description; ``announced`` if a line that leads to steps gives the title."""

    title: str
    description: str
    announced: bool = False


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
    first = _introducing(sentences)
    spread = Counter(term for sentence in sentences for term in sentence.terms)
    told = sorted(sentences, key=lambda s: -_telling(s, subject, spread) - first.get(s.line, 0.0))
    description = brief(_bare(told[0].text))
    if title := _announced(sentences):
        return Headline(title, description, announced=True)
    if shared and _names_all(shared[0], shared[1], len(sentences)):
        return Headline(_capital(shared[0].text), description)
    clauses = [(sentence.line in first, _clauses(lexicon, sentence.text)) for sentence in told]
    best = (next(filter(None, own if opens else own[:1]), "") for opens, own in clauses[:_FIRST_CLAUSES])
    rest = (clause for _, own in clauses for clause in own)
    title = next(filter(None, (*best, *rest)), "") or _best_name(lexicon, told[0].text, names)
    title = title or _cut(_bare(_REDACTED.sub("", told[0].text)), rules_for(told[0].text))
    return Headline(title or description, description)


def entitled(lexicon: Lexicon, texts: Sequence[str]) -> Headline:
    """What to call statements of which nothing is known but what they say; there is at least one."""
    sentences = [
        rate(lexicon, text, place) or Sentence(text, place, 0.0, kind_of(text), lexicon.terms(text), values_of(text))
        for place, text in enumerate(texts)
    ]
    return headline(lexicon, sentences, inverse_frequencies(sentence.terms for sentence in sentences))


def is_redacted(text: str) -> bool:
    """Whether a secret was taken out of a statement."""
    return _REDACTED.search(text) is not None


def _best_name(lexicon: Lexicon, text: str, names: frozenset[str]) -> str:
    """The name in a sentence that says nothing by itself, if it has one of several words, or a quotation."""
    found = [name for name in _names(lexicon, text, names) if name.kind >= _PROPER_KIND]
    return max(found, key=lambda name: (name.kind, len(name.text))).text if found else ""


def _announced(sentences: Sequence[Sentence]) -> str:
    """What a line that leads to most of the sentences, or is the first step of most, calls them, if there is one."""
    for sentence in sentences[: (len(sentences) + 1) // 2]:
        leads = announces(sentence.text) or (sentence.step == 1 and len(sentences) > 1)
        if leads and (match := rules_for(sentence.text).announced.search(sentence.text)):
            return _capital(next(filter(None, match.groups())).strip())
    return ""


def _introducing(sentences: Sequence[Sentence]) -> dict[int, float]:
    """What the line of the first sentence that is no step is worth more: much where the rest is steps."""
    steps = sum(sentence.kind == "procedure" and not announces(sentence.text) for sentence in sentences)
    first = next((s for s in sentences if s.kind != "procedure" or announces(s.text)), None)
    return {first.line: _FIRST * (6 if steps >= _OF_STEPS * len(sentences) else 1)} if first else {}


def _names_all(name: _Name, count: int, of: int) -> bool:
    """Whether enough statements share a name for it to stand for all of them; a single word says less than two."""
    if len(name.terms) == 1 and name.kind < _QUOTED_KIND:
        return count >= max(_SHARED_BY_MANY, _ONE_WORD_SHARED * of)
    return count >= _SHARED * of or (count > _SHARED_BY_MANY and count >= _SHARED_AT_LEAST * of)


def _telling(sentence: Sentence, subject: frozenset[str], spread: Mapping[str, int]) -> float:
    """How much a sentence says by itself, and of what the others speak of too (``spread``: in how many a term is)."""
    rules = rules_for(sentence.text)
    bare = _bare(sentence.text)
    central = sum(spread[term] - 1 for term in sentence.terms) / math.sqrt(max(1, len(sentence.terms)))
    worth = sentence.score + min(_CENTRAL, central)
    worth += 1.0 * bool(subject) * (subject <= sentence.terms) + 0.7 * (sentence.kind == "decision")
    worth += 0.7 * announces(sentence.text) + 0.7 * bool(rules.change.search(sentence.text))
    worth -= 1.5 * bool(rules.vague.match(bare)) + 1.0 * bool(rules.request.search(bare))
    several = sum(1 for _ in sentence_spans(bare)) > 1
    return worth - 1.0 * (len(bare) < len(sentence.text)) - 2.0 * several - 3.0 * (sentence.kind == "procedure")


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
    scored: list[tuple[bool, float, int, _Name]] = []
    for name in found.values():
        count = sum(name.terms <= sentence.terms for sentence in sentences)
        if count > 1:
            rarity = sum(weights.get(term, 1.0) for term in name.terms) / len(name.terms)
            fit = _names_all(name, count, len(sentences))
            scored.append((fit, count**1.5 * rarity * name.kind, count, name))
    if not scored:
        return None
    _, _, count, best = max(scored, key=lambda entry: (*entry[:3], entry[3].text))
    return best, count


def _names(lexicon: Lexicon, text: str, names: frozenset[str]) -> Iterator[_Name]:
    text = _REDACTED.sub("", text)
    for pattern, kind in ((_QUOTED, _QUOTED_KIND), (_IDENTIFIER, 1.0)):
        for match in pattern.finditer(text):
            inside = next(group for group in match.groups() if group)
            if terms := lexicon.terms(inside):
                yield _Name(inside, terms, kind)
    for run in _runs(lexicon, text, names):
        for start, end in combinations(range(len(run) + 1), 2):
            if end - start <= _LONGEST_NAME and (name := _named(text, run[start:end])) is not None:
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
    return between in (" ", "-", ".", "")


def _named(text: str, run: list[Token]) -> _Name | None:
    """A run as a name, if it reads like one."""
    if has_cjk(run[0].text):
        shown = text[run[0].start : run[-1].end]
        if len(shown) < 2 or not run[-1].noun:
            return None
        return _Name(shown, frozenset(t.term for t in run), (1.0, 1.3)[len(run) > 1])
    if _is_name(run[0]):
        opens = not text[: run[0].start].strip(" \"'“‘(") or text[: run[0].start].rstrip().endswith(
            (".", "!", "?", ":")
        )
        if opens and len(run) == 1:
            return None
        kind = _PROPER_KIND if len(run) > 1 else 1.1
    else:
        before = _WORDS_BEFORE.findall(text[: run[0].start])
        if not before or before[-1].lower() in rules_of("english").before_verb:
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
    clear = _REDACTED.sub("", text)
    sentences = [clear[start:stop] for start, stop in sentence_spans(clear)]
    parts = [part for sentence in sentences for part in _parts(_bare(sentence), rules)]
    return [_clause(lexicon, _bare(part.strip()), rules) for part in parts if part.strip()]


def _parts(text: str, rules: Rules) -> Iterator[str]:
    """A sentence cut into its clauses; what is quoted within one stays whole."""
    quoted = (match.span() for match in _ENCLOSED.finditer(text) if match.lastgroup and match[0][0] not in "(（[")
    whole = [(left, right) for left, right in quoted if text[:left].rstrip()[-1:].isalnum()]
    start = 0
    for match in rules.clause.finditer(text):
        if not any(left <= match.start() < right for left, right in whole):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _clause(lexicon: Lexicon, bare: str, rules: Rules) -> str:
    if any(p.match(bare) for p in (rules.vague, rules.chatter)) or rules.request.search(bare):
        return ""
    if rules.courtesy.search(bare) or rules.passing.search(bare):
        return ""
    shown = _cut(_timeless(rules.subject.sub("", bare, count=1), rules), rules)
    if (
        rules.vague.match(shown)
        or rules.reported.search(shown)
        or not any(token.naming for token in lexicon.tokens(shown))
    ):
        return ""
    fewest = _FEWEST_WORDS - (rules.subject.match(bare) is not None)
    long = len(shown) >= _FEWEST_CHARACTERS if has_cjk(shown) else len(shown.split()) >= fewest
    return _capital(shown) if long else ""


def _timeless(clause: str, rules: Rules) -> str:
    """A clause without the time at which it was true, at its beginning or, in English, at its end."""
    chinese = has_cjk(clause)
    for match in rules.time.finditer(clause):
        rest = clause[match.end() :].lstrip("的到，, ")
        long = len(rest) >= _FEWEST_CHARACTERS if chinese else len(rest.split()) >= _FEWEST_WORDS
        if match.start() == 0 and long and rest[0].isalnum():
            return _timeless(rules.subject.sub("", rest, count=1), rules)
        left = clause[: match.start()].rstrip(" ,")
        if not chinese and match.end() == len(clause) and match.group()[0].isalpha() and len(left.split()) > 1:
            return left
    return clause


def _cut(clause: str, rules: Rules) -> str:
    """A clause at a length that a title may have."""
    clause = clause.replace("`", "").strip().rstrip(_TRAILING + "了啊呀吧哦")
    if (match := _ENCLOSED.match(clause)) and not match.lastgroup:
        clause = clause[1:]
    if has_cjk(clause):
        end = _closed(clause, _MOST_CHARACTERS)
        return clause[:end].rstrip("的和与在从到对把被给为以并或" + _TRAILING) if end < len(clause) else clause
    words = clause.split()
    words = words[words[0].lower() in ("the", "a", "an") :] if words else words
    most = len(words)
    if len(words) > _MOST_WORDS:
        ends = [n for n in range(4, _MOST_WORDS + 1) if words[n].lower() in rules.joint]
        most = ends[-1] if ends else _MOST_WORDS
    clause = " ".join(words)
    words = clause[: _closed(clause, len(" ".join(words[:most])))].split()
    while words and words[-1].rstrip(_TRAILING).lower() in rules.joint | rules.stop | {""}:
        words.pop()
    return " ".join(words).rstrip(_TRAILING)


def _closed(clause: str, end: int) -> int:
    """Where to cut a clause so that no quotation or bracket stays open: behind the one at ``end``, else before it."""
    for match in _ENCLOSED.finditer(clause[: end + _TO_CLOSE]):
        if match.start() < end and (end < match.end() or not match.lastgroup):
            return match.end() if match.lastgroup and match.start() else match.start()
    return min(end, len(clause))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if not re.match(r"[a-z]+[_\d]|`", text) else text


def brief(text: str) -> str:
    """The beginning of a sentence as a one-line description, cut at a clause where it is long."""
    if len(text) <= _LONGEST_BRIEF:
        return _capital(text)
    cut = max(text.rfind(mark, 0, _LONGEST_BRIEF) for mark in (", ", "; ", " - ", "，", "；", "。"))
    spaced = text.rfind(" ", 0, _LONGEST_BRIEF) if " " in text[40:_LONGEST_BRIEF] else _LONGEST_BRIEF
    return _capital(text[: cut if cut > 40 else spaced])
