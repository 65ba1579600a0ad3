"""What the offline reasoner makes of a second statement about a thing: changed, the same, or something else.

The pairs in ``updates.jsonl`` were written for this: ``changed`` should be flagged as a contradiction, ``same`` cited,
and ``other`` merely added. Both statements stand in one node, so that only their relation is measured. The rules were
tuned on ``updates.jsonl`` and ``updates_other_words.jsonl``; ``updates_fresh.jsonl``, of the shapes of the latter, was
written afterwards and looked at once, and of ``updates_held_out.jsonl`` only the counts are looked at.

    python -m evals.updates [--wrong]

Prints how many of each kind come out right. Exits with 0.
"""

import argparse
import asyncio
import json
from collections import Counter
from datetime import date
from pathlib import Path

from reme.reason import Candidate, Cite, Contradict, Evidence, OfflineReasoner, SourceLine, Unit, Update

HERE = Path(__file__).parent
SETS = {
    "tuned": HERE / "updates.jsonl",
    "in other words, tuned": HERE / "updates_other_words.jsonl",
    "of everyday, tuned": HERE / "updates_everyday.jsonl",
    "of the same shapes, looked at once": HERE / "updates_fresh.jsonl",
    "of other shapes, seen since": HERE / "updates_held_out.jsonl",
    "everyday, looked at once": HERE / "updates_unseen.jsonl",
}


def judged(reasoner: OfflineReasoner, old: str, new: str) -> str:
    """How the second statement is taken, beside the first and a neutral one, in a node of the same name."""
    line = SourceLine(9, new, "fact", "Kim", date(2026, 5, 2))
    unit = Unit("Notes", "notes", "wiki", "", (Evidence(1, 9),))
    node = Candidate("Notes", "", (), "wiki", (old,))
    decision = asyncio.run(reasoner.integrate(unit, [line], [node]))
    edit = decision.edits[0] if isinstance(decision, Update) else None
    return "changed" if isinstance(edit, Contradict) else "same" if isinstance(edit, Cite) else "other"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wrong", action="store_true", help="show the pairs that come out wrong")
    given = parser.parse_args()
    reasoner = OfflineReasoner()
    for name, path in SETS.items():
        right, total = Counter[str](), Counter[str]()
        for pair in map(json.loads, path.read_text("utf-8").splitlines()):
            found = judged(reasoner, pair["old"], pair["new"])
            total[pair["is"]] += 1
            right[pair["is"]] += found == pair["is"]
            if given.wrong and found != pair["is"]:
                print(f"{pair['is']} taken as {found}: {pair['old']} → {pair['new']}")
        shown = ", ".join(f"{kind} {right[kind]} of {total[kind]}" for kind in ("changed", "other", "same"))
        print(f"{name}: {shown}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
