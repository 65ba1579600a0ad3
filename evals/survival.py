"""How much of LoCoMo's evidence survives when each session is cut to a share of its text, offline.

Only the cutting is measured, session by session: the share of the turns that questions rest on from which at least one
sentence is kept, and the share of the sentences in them that share most words with question and answer, beside the
share of the text that is kept. Random turns and the longest turns at the same share of the text are the yardsticks.
The data (CC BY-NC 4.0, evaluation only) is read from ``../shared/data/locomo``.

    python -m evals.survival [--halves]

Prints one line a setting; with ``--halves``, one for the first two dialogues and one for the others. Exits with 2 if
the data is missing.
"""

import argparse
import asyncio
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reme.reason import Message, OfflineReasoner
from reme.reason.offline.sentences import split
from reme.reason.offline.terms import Lexicon

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "locomo" / "locomo5.json"
SETTINGS = ((0.3, 20), (0.9, 1), (0.6, 1), (0.28, 1), (0.18, 1), (0.1, 1))
HALVES = (range(2), range(2, 5))
ADVERSARIAL = 5


@dataclass(frozen=True)
class Session:
    """A session of a dialogue.

    Attributes:
        dialogue: Its number, from 0.
        evidence: The lines that questions rest on.
        sentences: Of these, the sentences that share most words with question and answer, each with its line.
    """

    dialogue: int
    said: list[Message]
    evidence: set[int]
    sentences: set[tuple[int, str]]


Kept = dict[int, list[str]]
"""What is kept, by line."""


def sessions() -> Iterator[Session]:
    """Every session, with what the questions about its dialogue rest on."""
    lexicon = Lexicon()
    for dialogue, entry in enumerate(json.loads(DATA.read_text("utf-8"))):
        wanted: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
        for asked in (q for q in entry["qa"] if q["category"] != ADVERSARIAL):
            terms = lexicon.terms(f"{asked['question']} {asked.get('answer', '')}")
            for turn in (part for raw in asked["evidence"] for part in re.findall(r"D\d+:\d+", raw)):
                wanted[turn].append(terms)
        conversation: dict[str, Any] = entry["conversation"]
        for name in (k for k in conversation if re.fullmatch(r"session_\d+", k)):
            at = datetime(2023, 5, 1, tzinfo=UTC)
            turns = list(enumerate(conversation[name], start=1))
            said = [Message(n, "user", t["speaker"], t["text"], at) for n, t in turns]
            best: set[tuple[int, str]] = set()
            for n, turn in turns:
                parts = [part.text for part in split(turn["text"])]
                for terms in wanted.get(turn["dia_id"], ()):
                    best.add((n, max(parts, key=lambda s, t=terms: (len(lexicon.terms(s) & t), len(s)))))
            yield Session(dialogue, said, {n for n, t in turns if t["dia_id"] in wanted}, best)


def measure(told: list[Session], kept_of: Callable[[list[Message]], Kept]) -> tuple[float, float, float]:
    """Shares of text, of turns with evidence, and of sentences with evidence that are kept."""
    text = kept = evidence = found = best = hit = 0
    for session in told:
        lines = kept_of(session.said)
        text += sum(len(m.text) for m in session.said)
        kept += sum(len(part) for parts in lines.values() for part in parts)
        evidence += len(session.evidence)
        found += sum(n in lines for n in session.evidence)
        best += len(session.sentences)
        hit += sum(any(sentence in part for part in lines.get(n, ())) for n, sentence in session.sentences)
    return kept / text, found / evidence, hit / best


def offline(share: float, at_least: int) -> Callable[[list[Message]], Kept]:
    reasoner = OfflineReasoner(share=share, at_least=at_least)

    def kept(said: list[Message]) -> Kept:
        lines: Kept = {}
        for event in asyncio.run(reasoner.segment(said, ())):
            for statement in event.statements:
                lines.setdefault(statement.line, []).append(statement.text)
        return lines

    return kept


def up_to(share: float, order: Callable[[list[Message]], list[Message]]) -> Callable[[list[Message]], Kept]:
    """Whole turns in an order, until the share of the text is used up."""

    def kept(said: list[Message]) -> Kept:
        room, lines = share * sum(len(m.text) for m in said), dict[int, list[str]]()
        for message in order(said):
            if sum(len(text) for (text,) in lines.values()) + len(message.text) <= room:
                lines[message.line] = [message.text]
        return lines

    return kept


def report(told: list[Session], name: str) -> None:
    chance = random.Random(0)
    for share, at_least in SETTINGS:
        text, evidence, sentences = measure(told, offline(share, at_least))
        by_chance = measure(told, up_to(text, lambda said: chance.sample(said, len(said))))
        longest = measure(told, up_to(text, lambda said: sorted(said, key=lambda m: -len(m.text))))
        print(
            f"{name}share {share:.2f}, at least {at_least:2}: text {text:.3f}, evidence {evidence:.3f}, its sentences "
            f"{sentences:.3f} (random turns {by_chance[1]:.3f}, {by_chance[2]:.3f}, longest turns {longest[1]:.3f}, "
            f"{longest[2]:.3f})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halves", action="store_true")
    given = parser.parse_args()
    if not DATA.is_file():
        print(f"there is no {DATA}", file=sys.stderr)
        return 2
    told = list(sessions())
    if not given.halves:
        report(told, "")
    for half in HALVES if given.halves else ():
        name = f"dialogues {half.start + 1}-{half.stop}, "
        report([session for session in told if session.dialogue in half], name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
