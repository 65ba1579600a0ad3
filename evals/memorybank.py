"""MemoryBank through the whole pipeline, offline: what share of the text is kept, and of what sort it is.

Each person's days go through ``auto_memory`` as one session a day, and that night through ``auto_dream``. The data is
read from ``../shared/data/memorybank`` beside the checkout. MemoryBank marks no evidence, so this counts what can be
counted: the share of the text that is kept, statements of an assistant, statements that say what another one of the
same digest says, nodes of one statement, and statements whose words are not in the dialogue.

    python -m evals.memorybank [--people 5] [--sample 0]

Prints one line a language, and with ``--sample`` so many statements drawn evenly, for people to judge.
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from evals.living import lived
from reme.markdown import parse, words
from reme.paths import VaultPath
from reme.vault import Vault

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "memorybank"


@dataclass
class Counted:
    """What was counted of one language."""

    said: int = 0
    kept: int = 0
    daily: list[str] = field(default_factory=list)
    digest: list[str] = field(default_factory=list)
    nodes: int = 0
    single: int = 0
    untraced: int = 0


def remembered(root: Path, days: dict[str, list[dict[str, str]]], counted: Counted) -> None:
    """One person's history in a vault of its own."""
    sessions: list[tuple[datetime, str, list[dict[str, str]]]] = []
    for day, exchanges in sorted(days.items()):
        at = datetime.fromisoformat(f"{day}T10:00:00").replace(tzinfo=UTC)
        messages = [
            {"role": role, "content": exchange[key].strip(), "timestamp": at.isoformat()}
            for exchange in exchanges
            for role, key in (("user", "query"), ("assistant", "response"))
            if exchange[key].strip()
        ]
        if messages:
            sessions.append((at, day, messages))
    said = "\n".join(message["content"] for _, _, messages in sessions for message in messages)
    with lived(root, sessions) as vault:
        count(vault, said, counted)


def count(vault: Vault, said: str, counted: Counted) -> None:
    """What the notes of one person have of what was said."""
    before = len(counted.daily)
    counted.said += len(said)
    layers = (("daily", counted.daily), ("digest", counted.digest))
    for layer, found in layers:
        for stat in vault.scan(VaultPath(layer)).files:
            note = parse(vault.read(stat.path).data)
            items = [note.text(b.span) for b in note.blocks if b.kind in ("item", "quote") and "(" in note.text(b.span)]
            found.extend(items if stat.path.count("/") > 1 else [])
            if layer == "digest" and stat.path.count("/") > 1:
                counted.nodes += 1
                counted.single += len(items) == 1
    texts, heard = [statement(item) for item in counted.daily[before:]], words(said)
    counted.kept += sum(map(len, texts))
    counted.untraced += sum(words(text) not in heard for text in texts)


def statement(item: str) -> str:
    """What a list item states, without its mark, speaker and citation."""
    return re.sub(r"^(?:-|\d+\.|>(?: \[![a-z]+\])?) ", "", item).rpartition(" (")[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--sample", type=int, default=0)
    given = parser.parse_args()
    for language in ("en", "cn"):
        counted = Counted()
        histories = json.loads((DATA / f"mb_{language}.json").read_text("utf-8"))
        for person in list(histories)[: given.people]:
            with tempfile.TemporaryDirectory() as folder:
                remembered(Path(folder), histories[person]["history"], counted)
        told = Counter(map(statement, counted.digest))
        assistants = sum("(assistant, " in item for item in counted.daily)
        print(
            f"{language}: kept {counted.kept / counted.said:.2f} of the text in {len(counted.daily)} statements "
            f"({assistants} of an assistant), {counted.nodes} nodes ({counted.single} of one statement), "
            f"{sum(told.values()) - len(told)} of {len(counted.digest)} digest statements said twice, "
            f"{counted.untraced} not in their dialogue"
        )
        step = max(1, len(counted.daily) // given.sample) if given.sample else 0
        for item in counted.daily[::step][: given.sample] if step else ():
            print(item)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
