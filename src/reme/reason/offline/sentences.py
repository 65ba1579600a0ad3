"""Sentences: where they begin and end in a text, what they are worth, and which say the same.

Owns the scoring. A sentence is always an exact substring of the text that it comes from, but for line breaks that only
keep lines short.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reme.markdown import sentence_spans, unwrapped
from reme.reason.decisions import StatementKind
from reme.reason.offline.rules import Rules, has_cjk, rules_for
from reme.reason.offline.terms import Lexicon, overlap, values_of

__all__ = [
    "Part",
    "Sentence",
    "announces",
    "hangs",
    "instructs",
    "kind_of",
    "pick",
    "proposes",
    "rate",
    "repeats",
    "split",
    "told_before_asking",
]

_SHORTEST_LATIN_WORDS: Final = 4
_SHORTEST_CHINESE_CHARACTERS: Final = 6
_LONGEST: Final = 600
_SAME: Final = 0.75
_RARITY: Final = 0.075
_LENGTH: Final = 0.06
_FURTHER: Final = 1.0
_FEWEST_BESIDE_A_PRONOUN: Final = 3
_FEWEST_TERMS: Final = 2
_PLAIN: Final = 1.0
_NAMING: Final = 0.12
_MOST_NAMING: Final = 5
_FEWEST_BESIDE_SMALL_TALK: Final = 3
_FEWEST_OF_A_CLAUSE: Final = 4

_LEAD = re.compile(
    r"^(?:\s|[-*+•>#|]+(?=\s)|\[[ xX]\]|\d{1,3}[.)、](?=\s|[^\d\s])|\(\d{1,2}\)|[（(]?[一二三四五六七八九十][)）、])+"
)
_MARKED = re.compile(
    r"^\s*(?:(?P<number>\d{1,3}[.)、](?=\s|[^\d\s])|\(\d{1,2}\)|[（(]?[一二三四五六七八九十]+[)）、])"
    r"|[-*+•](?=\s))"
)
_FIRST_MARK = re.compile(r"^\s*[（(]?(?:1|一)[.)、）]")
_NO_PROSE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^[ \t]*\|[^\n]*\|[ \t]*$", re.DOTALL | re.MULTILINE)

_MOST_OPENINGS: Final = 3
_WHOLE: Final = re.compile(
    r"(?:it|that)(?:'s|’s|\s+(?:\w+ly )?(?:is|was|has|had|can|could|will|would|made|makes|help\w*|felt|feels|g[ai]ves?"
    r"|caus\w+|takes?|took|turned|paid|broke|went|looks|means|keeps))\b",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"(?:(?:hey|hi|yeah|yep|yes|no|wow|thanks|ok|well|so|oh)\s+)?(?P<name>[^\W\d_]{2,20})\s*[,!:，！：]\s*",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:–—]\s+|\s*[–—]\s*|\s?-+\s|[，；：]")
_TITLE = re.compile(r"《[^》]*》|\"[^\"]*\"|“[^”]*”")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and what is known of it.

    Attributes:
        text: As it stands in its source, on one line.
        line: The source's number.
        score: What it is worth; below 1 it is chatter.
        kind: What sort of statement it makes.
        terms: Its words with content.
        values: What in it could change while the rest stays.
        step: Its place among the steps of a procedure, from 1; 0 where it is none.
    """

    text: str
    line: int
    score: float
    kind: StatementKind
    terms: frozenset[str]
    values: frozenset[str]
    step: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence of a text, without list marks.

    Attributes:
        item: Which item of its list it stands in, from 1; 0 outside of lists.
        ordered: Whether that list is an ordered one.
        whole: The line that it begins, to its end; empty for a further sentence of a line.
        gap: What stands between it and the sentence before it on its line; None for the first.
    """

    text: str
    item: int = 0
    ordered: bool = False
    whole: str = ""
    gap: str | None = None


def split(text: str) -> list[Part]:
    """The sentences of a text, code and tables left out. What is indented below an item stands in it."""
    found: list[Part] = []
    item, ordered, margin = 0, False, 0
    for line in unwrapped(_NO_PROSE.sub(lambda match: "\n" * match.group().count("\n"), text)).split("\n"):
        if not line.strip():
            continue
        mark, depth = _MARKED.match(line), len(line) - len(line.lstrip())
        if not (item and depth > margin):
            numbered = mark is not None and mark["number"] is not None
            begins = ordered != numbered or _FIRST_MARK.match(line)
            item = 0 if mark is None else 1 if begins else item + 1
            ordered, margin = numbered, depth
        whole, end = _LEAD.sub("", line).strip(), 0
        for start, stop in sentence_spans(line):
            if bare := _LEAD.sub("", line[start:stop]).strip():
                at = line.index(bare, start)
                found.append(Part(bare, item, ordered, whole, line[end:at] if end else None))
                whole, end = "", at + len(bare)
    return found


def rate(
    lexicon: Lexicon,
    text: str,
    line: int,
    *,
    personal: bool = True,
    step: int | None = None,
    answers: bool = False,
    among: bool = False,
    names: frozenset[str] = frozenset(),
    led: bool = False,
    agreed: bool = False,
) -> Sentence | None:
    """Weigh a sentence by its form; None for questions, greetings and fragments.

    Args:
        personal: Whether the speaker is a person, who tells of themselves, and not an assistant.
        step: Its number, if it belongs to a procedure, which is kept whole; 0 for the line that leads to the steps.
        answers: Whether somebody has just asked the speaker something.
        among: Whether people talk among themselves: of what is said there in general, nothing is asked for later.
        names: Names of the speakers, lower-cased: being addressed is no news.
        led: Whether it is read together with what stands before it, and may speak of that.
        agreed: Whether a person agrees to what it proposes; else what an assistant decides or prefers is only a fact.

    The weights were fitted on which sentences the questions of LoCoMo rest on, half of its dialogues at a time, and
    rounded where both halves agree.
    """
    rules = rules_for(text)
    lasting = personal and step is None and rules.trait.search(text) is not None
    if step is None and (
        len(text) > _LONGEST
        or rules.question.search(text)
        or rules.machine.search(text)
        or (not lasting and (_too_short(text) or _is_courtesy(lexicon, rules, text)))
    ):
        return None
    entities = [e for e in (str(m.group()) for m in rules.entity.finditer(text)) if not _is_no_name(rules, e, names)]
    memorable = len(rules.memorable.findall(text))
    score = 0.8 * min(2, memorable) + 1.1 * min(2, len(entities)) + 0.5 * bool(rules.people.search(text))
    score += (0.8 * bool(rules.first_person.search(text)) + 0.5 * answers) * personal
    score += 1.5 * bool(rules.time.search(text)) + 0.6 * bool(rules.number.search(text))
    score -= 0.5 * min(3, len(rules.platitude.findall(text)))
    score += _PLAIN * (personal and not among and _is_plain(rules, text))
    bare = _without_opening(rules, text, names)
    score -= 1.2 * bool(rules.chatter.match(bare))
    score -= 0.3 * (len(text) > (90 if has_cjk(text) else 200))
    kind = "procedure" if step is not None else kind_of(text)
    if agreed and kind != "procedure" and proposes(text):
        kind = "decision"
    elif not personal and kind in ("decision", "preference"):
        kind = "fact"
    told = entities or rules.number.search(text) or rules.time.search(text)
    score += 1.25 * (kind in ("decision", "preference")) + 1.5 * (kind == "procedure")
    score -= 0.6 * bool(rules.vague.match(text)) * (not entities)
    terms = lexicon.terms(text)
    if personal and rules.first_person.search(text) and not (rules.platitude.search(text) or rules.praise.search(text)):
        score += _NAMING * min(_MOST_NAMING, len(lexicon.subjects(text)))
    if agreed and kind == "decision" and told and not hangs(lexicon, bare):
        return Sentence(text, line, score, kind, terms, values_of(text))
    if kind != "procedure" and not lasting:
        if _too_short(bare) or rules.telling.match(bare) or (rules.request.search(text) and not entities):
            return None
        if rules.opinion.match(bare) and not entities and not rules.time.search(text):
            return None
        possessed = personal and not among and told and rules.possessed.match(bare)
        if not (led or possessed) and _dangles(lexicon, bare, terms, anchored=bool(entities)):
            return None
        if not entities and _is_bare(lexicon, rules, bare, names):
            return None
        if among and rules.instruction.match(bare) and not rules.first_person.search(bare):
            return None
        if not told and (_calls_upon(rules, bare) or _is_about_nobody(rules, bare, among=among)):
            return None
        score -= (0.8 * bool(rules.listener.search(text)) + 0.6 * bool(rules.indefinite.search(text))) * (not told)
        if not personal and (not told or _is_advice(rules, text)):
            return None
        score -= (0.6 + 1.5 * _is_fragment(text)) * (not personal)
    return Sentence(text, line, score, kind, terms, values_of(text), step or 0)


def told_before_asking(text: str, names: frozenset[str] = frozenset()) -> str:
    """What a sentence tells of the speaker or of something named before a clause of it asks the listener something.

    Empty where there is no such clause, or what stands before it does not stand by itself: it is what is asked about,
    is left open, or speaks to the listener.

    Args:
        names: Names of the speakers, lower-cased.
    """
    rules = rules_for(text)
    asked = rules.question.search(text) or rules.request.search(text)
    for end in _CLAUSE.finditer(text) if asked else ():
        told, asks = text[: end.start()], text[end.end() :]
        if not rules.asking.match(asks):
            continue
        bare = _without_opening(rules, told, names)
        when = rules.time.match(bare)
        timeless = bare[when.end() :].lstrip(" ,，") if when else bare
        stands = rules.first_person.match(timeless) or _is_plain(rules, bare)
        open_ = (rules.tentative, rules.unsure, rules.listener, rules.request, rules.question)
        if rules.unsettled.match(asks) or not stands or any(pattern.search(told) for pattern in open_):
            return ""
        return told
    return ""


def _is_plain(rules: Rules, text: str) -> bool:
    """Whether it says how it is with something, and neither praises it nor speaks in general."""
    beside = (rules.platitude, rules.praise, rules.indefinite, rules.listener, rules.pronoun)
    return rules.plain.search(text) is not None and not any(pattern.search(text) for pattern in beside)


def _is_no_name(rules: Rules, word: str, names: frozenset[str]) -> bool:
    """Whether what looks like a name is a word without content, or calls a speaker."""
    return word.lower() in rules.stop or _calls(word, names)


def _calls(word: str, names: frozenset[str]) -> bool:
    """Whether a word is a speaker's name, or short for it."""
    lowered = word.lower()
    return lowered in names or (len(word) > _FEWEST_TERMS and any(name.startswith(lowered) for name in names))


def _is_courtesy(lexicon: Lexicon, rules: Rules, text: str) -> bool:
    """Whether it is small talk, and none of its clauses tells something of the speaker beside."""
    if rules.courtesy.search(text):
        return True
    clauses = [clause for clause in _CLAUSE.split(text) if not rules.passing.search(clause)]
    return rules.passing.search(text) is not None and not any(
        rules.first_person.search(clause) and len(lexicon.terms(clause)) >= _FEWEST_BESIDE_SMALL_TALK
        for clause in clauses
    )


def _without_opening(rules: Rules, text: str, names: frozenset[str]) -> str:
    """A sentence without the words that open it and say nothing, and without whom it calls."""
    for _ in range(_MOST_OPENINGS):
        before, text = text, rules.opener.sub("", text, count=1)
        if (called := _CALL.match(text)) and _calls(called["name"], names):
            text = text[called.end() :]
        if text == before:
            break
    return text


def _is_bare(lexicon: Lexicon, rules: Rules, text: str, names: frozenset[str]) -> bool:
    """Whether a sentence without names has hardly a word beside when it was, or only words that name nothing."""
    text = rules.time.sub(" ", text)
    tokens = [token for token in lexicon.tokens(text) if token.term and not _calls(token.text, names)]
    plain = (token.text.lower().replace("’", "'").removesuffix("'s") for token in tokens)
    named = rules.number.search(text) is not None or any(word not in rules.weak for word in plain)
    return not named or len({token.term for token in tokens}) < _FEWEST_TERMS


def _calls_upon(rules: Rules, text: str) -> bool:
    """Whether it says what everybody should do, and nothing of the speaker."""
    return rules.exhortation.search(text) is not None and rules.oneself.search(text) is None


def _is_about_nobody(rules: Rules, text: str, *, among: bool) -> bool:
    """Whether it only praises, or only speaks to the listener, or of life in general, and of nobody else."""
    praises = rules.praise.search(text) is not None
    general = praises or rules.platitude.search(text) is not None
    if among and praises and rules.generic.match(text):
        return True
    if rules.first_person.search(rules.everyone.sub(" ", text) if general else text):
        return False
    somebody = rules.people.search(text) is not None and not (general and rules.generic.match(text))
    return rules.listener.search(text) is not None or ((among or praises) and not somebody)


def _is_advice(rules: Rules, text: str) -> bool:
    """Whether an assistant speaks to the listener or of itself."""
    return any(p.search(text) for p in (rules.listener, rules.advice, rules.oneself, rules.chatter))


def _dangles(lexicon: Lexicon, text: str, terms: frozenset[str], *, anchored: bool) -> bool:
    """Whether it speaks of something that only what was said before can tell.

    Args:
        anchored: Whether it has a name.
    """
    if not anchored and hangs(lexicon, text):
        return True
    return rules_for(text).pronoun.search(text) is not None and len(terms) <= _FEWEST_BESIDE_A_PRONOUN


def hangs(lexicon: Lexicon, text: str) -> bool:
    """Whether a sentence opens with a pronoun, or has one of which nothing before it in the sentence can be meant."""
    rules = rules_for(text)
    text = rules.opener.sub("", text, count=1)
    thing, person = rules.early.search(text), rules.person.search(text)
    if rules.hanging.match(text) or rules.deictic.search(text):
        return True
    if thing and not _is_named_before(lexicon, rules, text, thing):
        return True
    return person is not None and not (
        rules.people.search(text, 0, person.start()) or _is_named_before(lexicon, rules, text, person)
    )


def _is_named_before(lexicon: Lexicon, rules: Rules, text: str, pronoun: re.Match[str]) -> bool:
    """Whether an earlier clause of a sentence names what a pronoun may mean, or is what "it" may mean as a whole."""
    breaks = [found.start() for found in rules.joining.finditer(text, 0, pronoun.start())]
    words = lexicon.tokens(text[: breaks[-1]] if breaks else "")
    whole = rules.oneself.match(text) is not None and _WHOLE.match(text, pronoun.start()) is not None
    return any(word.naming and not word.text.endswith("ed") for word in words) or (
        whole and len(words) >= _FEWEST_OF_A_CLAUSE
    )


def _is_fragment(text: str) -> bool:
    """Whether a quotation begins or ends in a sentence without ending or beginning there."""
    return text.count('"') % 2 == 1 or any(text.count(a) != text.count(b) for a, b in ("“”", "「」", "()", "（）"))


def _too_short(text: str) -> bool:
    return len(text) < _SHORTEST_CHINESE_CHARACTERS if has_cjk(text) else len(text.split()) < _SHORTEST_LATIN_WORDS


def kind_of(text: str) -> StatementKind:
    """What sort of statement a sentence makes by itself."""
    rules = rules_for(text)
    if rules.sequence.search(text) and (rules.instruction.search(text) or _inner_instruction(text)):
        return "procedure"
    if rules.recipe.search(text) and rules.instruction.search(text):
        return "procedure"
    if any(rules.decision.search(clause) and not rules.tentative.search(clause) for clause in rules.clause.split(text)):
        return "decision"
    if rules.preference.search(text) or rules.trait.search(text):
        return "preference"
    return "state" if rules.state.search(text) else "fact"


def proposes(text: str) -> bool:
    """Whether a sentence says what could be decided, if anybody agreed."""
    rules = rules_for(text)
    return rules.decision.search(text) is not None or rules.tentative.search(text) is not None


def announces(text: str) -> bool:
    """Whether a sentence leads to a list."""
    return text.endswith((":", "："))


def instructs(lexicon: Lexicon, text: str) -> bool:
    """Whether a sentence tells what to do: it begins with such a verb, be it behind a word that orders steps."""
    rules = rules_for(text)
    bare = rules.step.sub("", text, count=1)
    return rules.instruction.search(bare) is not None or _inner_instruction(text) or lexicon.begins_with_verb(bare)


def _inner_instruction(text: str) -> bool:
    rules = rules_for(text)
    parts = re.split(
        r"[,，;；:：]\s*|\bthen\b|\bfirst\b|首先|然后|接着|最后|先|再|第[一二三四五六七八九十]+步[:：]?",
        text,
        flags=re.IGNORECASE,
    )
    return any(rules.instruction.match(part.strip()) for part in parts)


def pick(
    sentences: Sequence[Sentence],
    weights: Mapping[str, float],
    room: int,
    dictated: frozenset[Sentence] = frozenset(),
) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences worth keeping, in the order of the source, each once; and those for which there was no room.

    Args:
        sentences: All that were weighed.
        weights: Inverse frequencies of the terms.
        room: How many to keep, not counting procedures, which are kept whole, and what is dictated.
        dictated: Sentences that are kept whatever they weigh.
    """
    steps = _procedures(sentences)
    kept: dict[int, Sentence] = {}
    left: list[Sentence] = []
    for place, sentence in _ranked(sentences, weights):
        meant = sentence in dictated
        if sentence.kind == "procedure" or (sentence.score < 1.0 and not meant):
            continue
        if any(repeats(sentence, other) for other in (*kept.values(), *steps.values(), *left)):
            continue
        if meant or room > 0:
            kept[place] = sentence
            room -= not meant
        else:
            left.append(sentence)
    kept |= steps
    return [kept[place] for place in sorted(kept)], left


def _procedures(sentences: Sequence[Sentence]) -> dict[int, Sentence]:
    """The steps by place; those of a message of which all have been said before are left out.

    A single step that counts itself is kept: it belongs to steps of other messages.
    """
    own: dict[int, dict[int, Sentence]] = {}
    for place, sentence in enumerate(sentences):
        if sentence.kind == "procedure":
            own.setdefault(sentence.line, {})[place] = sentence
    kept: dict[int, Sentence] = {}
    for steps in own.values():
        dictated = len(steps) == 1 and next(iter(steps.values())).step > 0
        if dictated or not all(any(repeats(step, other) for other in kept.values()) for step in steps.values()):
            kept |= steps
    return kept


def _ranked(sentences: Sequence[Sentence], weights: Mapping[str, float]) -> list[tuple[int, Sentence]]:
    """The sentences with their places, best first; each further one of the same message is worth less."""
    worth = [sentence.score + _rarity(sentence, weights) for sentence in sentences]
    before: Counter[int] = Counter()
    for place in sorted(range(len(sentences)), key=lambda place: -worth[place]):
        line = sentences[place].line
        worth[place] -= _FURTHER * before[line]
        before[line] += 1
    return sorted(enumerate(sentences), key=lambda pair: (-worth[pair[0]], pair[0]))


def _rarity(sentence: Sentence, weights: Mapping[str, float]) -> float:
    """What its words are worth by how rare they are, common ones counting against it."""
    return sum(_RARITY * weights.get(term, 0.0) - _LENGTH for term in sentence.terms)


def repeats(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences say the same: the same words, the same values, the same yes or no."""
    if one.text == other.text:
        return True
    same_values = one.values == other.values
    return same_values and overlap(one.terms, other.terms) >= _SAME and denies(one.text) == denies(other.text)


def denies(text: str) -> bool:
    """Whether a sentence has an odd number of negations; what has ended is one."""
    rules = rules_for(text)
    text = _TITLE.sub("", text)
    return (len(rules.negation.findall(text)) + len(rules.ended.findall(text))) % 2 == 1
