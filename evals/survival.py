"""How much of LoCoMo's evidence survives when each session is cut to a share of its text, offline.

Only the cutting is measured, session by session: the share of the turns that questions rest on from which at least one
sentence is kept, beside the share of the text that is kept. Random turns and the longest turns at the same share of
the text are the yardsticks. The data (CC BY-NC 4.0, evaluation only) is read from ``../shared/data/locomo``.

    python evals/survival.py

Prints one line a setting. Exits with 2 if the data is missing.
"""

import asyncio
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reme.reason import Message, OfflineReasoner

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "locomo" / "locomo5.json"
SETTINGS = ((0.3, 12), (0.25, 1), (0.2, 1), (0.1, 1), (0.07, 1), (0.05, 1))
ADVERSARIAL = 5

Session = tuple[list[str], list[Message]]


def sessions() -> Iterator[tuple[Session, set[str]]]:
    """Every session with the ids of its turns, and the ids that its conversation's questions rest on."""
    for entry in json.loads(DATA.read_text("utf-8")):
        asked = [q for q in entry["qa"] if q["category"] != ADVERSARIAL]
        evidence = {part for q in asked for raw in q["evidence"] for part in re.findall(r"D\d+:\d+", raw)}
        conversation: dict[str, Any] = entry["conversation"]
        for name in (k for k in conversation if re.fullmatch(r"session_\d+", k)):
            turns = conversation[name]
            at = datetime(2023, 5, 1, tzinfo=UTC)
            said = [Message(n, "user", t["speaker"], t["text"], at) for n, t in enumerate(turns, start=1)]
            yield ([t["dia_id"] for t in turns], said), evidence


def measure(kept_of: Callable[[list[Message]], dict[int, int]]) -> tuple[float, float]:
    """Shares of text and of evidence kept; ``kept_of`` gives the characters kept of each line."""
    text = kept = evidence = found = 0
    for (ids, said), wanted in sessions():
        lines = kept_of(said)
        text += sum(len(m.text) for m in said)
        kept += sum(lines.values())
        here = [n for n, i in enumerate(ids, start=1) if i in wanted]
        evidence += len(here)
        found += sum(n in lines for n in here)
    return kept / text, found / evidence


def offline(share: float, at_least: int) -> Callable[[list[Message]], dict[int, int]]:
    reasoner = OfflineReasoner(share=share, at_least=at_least)

    def kept(said: list[Message]) -> dict[int, int]:
        lines: dict[int, int] = {}
        for event in asyncio.run(reasoner.segment(said, ())):
            for statement in event.statements:
                lines[statement.line] = lines.get(statement.line, 0) + len(statement.text)
        return lines

    return kept


def up_to(share: float, order: Callable[[list[Message]], list[Message]]) -> Callable[[list[Message]], dict[int, int]]:
    """Whole turns in an order, until the share of the text is used up."""

    def kept(said: list[Message]) -> dict[int, int]:
        room, lines = share * sum(len(m.text) for m in said), dict[int, int]()
        for message in order(said):
            if sum(lines.values()) + len(message.text) <= room:
                lines[message.line] = len(message.text)
        return lines

    return kept


def main() -> int:
    if not DATA.is_file():
        print(f"there is no {DATA}", file=sys.stderr)
        return 2
    chance = random.Random(0)
    for share, at_least in SETTINGS:
        text, evidence = measure(offline(share, at_least))
        by_chance = measure(up_to(text, lambda said: chance.sample(said, len(said))))[1]
        longest = measure(up_to(text, lambda said: sorted(said, key=lambda m: -len(m.text))))[1]
        print(
            f"share {share:.2f}, at least {at_least:2}: text {text:.3f}, evidence {evidence:.3f} "
            f"(random turns {by_chance:.3f}, longest turns {longest:.3f})"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
