"""Whether a fact that changes amid talk about other things is noticed, through ``auto_memory`` and ``auto_dream``.

The pairs of ``updates_everyday.jsonl`` (tuned on) and ``updates_unseen.jsonl`` (of which only the counts are looked at)
are told by people of MemoryBank: the first statement amid one day's conversation, the second amid another's a week
later, two facts a day and never the same two together, each night dreamt of; and once more with both in one day's
conversation. The data is read from ``../shared/data/memorybank`` beside the checkout.

    python -m evals.changes [--lost]

Prints for each set how many pairs have both statements in notes, both in the digest, both in one node, and flagged
there; and how many conflicts there are besides. Exits with 0.
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evals.living import lived
from reme.paths import VaultPath

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data" / "memorybank"
SETS = {"everyday, tuned": "updates_everyday.jsonl", "everyday, looked at once": "updates_unseen.jsonl"}
IN_A_VAULT = 6
BEGIN = datetime(2026, 5, 4, 10, tzinfo=UTC)

Pair = dict[str, str]


def is_chinese(text: str) -> bool:
    return re.search("[一-鿿]", text) is not None


def days_of(person: dict[str, list[Pair]]) -> list[list[tuple[str, str]]]:
    """What was said on each day, as roles and texts."""
    return [
        [(role, said[key].strip()) for said in day for role, key in (("user", "query"), ("assistant", "response"))]
        for _, day in sorted(person.items())
    ]


def amid(talk: Sequence[tuple[str, str]], facts: Sequence[str]) -> list[tuple[str, str]]:
    """A day's talk with facts told at even distances, each before a question or remark of the person."""
    starts = [place for place, (role, _) in enumerate(talk) if role == "user"]
    told = list(talk)
    for number, fact in reversed(list(enumerate(facts, start=1))):
        told.insert(starts[number * len(starts) // (len(facts) + 1)], ("user", fact))
    return told


def found(root: Path, days: Sequence[tuple[datetime, Sequence[tuple[str, str]]]]) -> tuple[str, list[str]]:
    """What stands in all notes, and in each node, when the days have been told and dreamt of."""
    told = (
        (at, f"{at:%m-%d}", [{"role": role, "content": t, "timestamp": at.isoformat()} for role, t in talk if t])
        for at, talk in days
    )
    with lived(root, told) as vault:
        texts = {
            layer: [vault.read(stat.path).data.decode() for stat in vault.scan(VaultPath(layer)).files]
            for layer in ("daily", "digest")
        }
    return "\n".join(texts["daily"]), texts["digest"]


def groups(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    for chinese in (False, True):
        own = [pair for pair in pairs if is_chinese(pair["old"]) == chinese]
        yield from (own[at : at + IN_A_VAULT] for at in range(0, len(own), IN_A_VAULT))


def weeks_apart(group: Sequence[Pair]) -> list[tuple[int, list[str]]]:
    """Which facts are told on which day: two a day, what has changed a week later in another company."""
    half = (len(group) + 1) // 2
    old = [(day, [pair["old"] for pair in group[day::half]]) for day in range(half)]
    changed = [(7 + day, [group[day]["new"]]) for day in range(half)]
    for at, pair in enumerate(group[half:]):
        changed[(at - 1) % half][1].append(pair["new"])
    return [*old, *changed]


def in_one_day(group: Sequence[Pair]) -> list[tuple[int, list[str]]]:
    """Two facts a day, and what has changed of them behind them."""
    days = [group[at : at + 2] for at in range(0, len(group), 2)]
    return [(day, [pair[which] for which in ("old", "new") for pair in pairs]) for day, pairs in enumerate(days)]


def measure(
    pairs: Sequence[Pair], told: Callable[[Sequence[Pair]], list[tuple[int, list[str]]]], *, lost: bool
) -> Counter[str]:
    counted = Counter[str]()
    for number, group in enumerate(groups(pairs)):
        people = json.loads((DATA / f"mb_{'cn' if is_chinese(group[0]['old']) else 'en'}.json").read_text("utf-8"))
        talks = days_of(list(people.values())[number % 7]["history"])
        days = [(BEGIN + timedelta(day), amid(talks[at], facts)) for at, (day, facts) in enumerate(told(group))]
        with tempfile.TemporaryDirectory() as folder:
            notes, nodes = found(Path(folder), days)
        counted["pairs"] += len(group)
        conflicts = sum(node.count("[!conflict]") for node in nodes)
        for pair in group:
            old, new = pair["old"], pair["new"]
            stages = {
                "in notes": old in notes and new in notes,
                "in the digest": all(any(said in node for node in nodes) for said in (old, new)),
                "in one node": any(old in node and new in node for node in nodes),
                "flagged": any(f"> [!conflict] {new}" in node and f"- {old}" in node for node in nodes),
            }
            counted.update(stage for stage, reached in stages.items() if reached)
            conflicts -= stages["flagged"]
            if lost and not stages["flagged"]:
                print(next(stage for stage, reached in stages.items() if not reached), "|", old, "→", new)
        counted["other conflicts"] += conflicts
    return counted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--lost", action="store_true", help="show the pairs that are lost, and where (of the tuned set)"
    )
    given = parser.parse_args()
    for name, file in SETS.items():
        pairs = [
            pair for pair in map(json.loads, (HERE / file).read_text("utf-8").splitlines()) if pair["is"] == "changed"
        ]
        stages = ("in notes", "in the digest", "in one node", "flagged", "other conflicts")
        for when, told in (("a week apart", weeks_apart), ("in one day", in_one_day)):
            counted = measure(pairs, told, lost=given.lost and name.endswith("tuned"))
            reached = ", ".join(f"{counted[stage]} {stage}" for stage in stages)
            print(f"{name}, {when}: of {counted['pairs']} pairs {reached}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
