"""A sample of what is kept without a model, for people to judge by the rule of ``junk.md``.

LoCoMo's first two dialogues and the histories of MemoryBank's first people, English and Chinese, go through
``auto_memory`` and ``auto_dream``; with ``--other-half``, LoCoMo's other dialogues and the people after those, for what
has been tuned on the first. Drawn with a seed, half from daily notes and half from the digest, two fifths from
LoCoMo and the rest from MemoryBank in both languages. The data is read from ``../shared/data`` beside the checkout;
the sample holds sentences of it and is not ours to ship.

    python -m evals.junk [--size 200] [--seed 1] [--people 4] [--other-half] [--out FILE]
    python -m evals.junk --judged junk_reader_a.jsonl [--judged …] [--out SAMPLE]

Writes a JSON line a statement: ``id``, ``from``, ``layer``, ``note`` (its title), ``statement``, ``speaker``, and for
context ``message`` (what it was said in) and ``before`` (what was said before). Readers answer with a line for each:
``{"id": …, "junk": true, "why": "…"}``. With ``--judged``, prints each reader's share of junk by source, and how far
two agree.
"""

import argparse
import json
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.living import lived
from reme.markdown import parse
from reme.paths import VaultPath
from reme.vault import Vault

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
CITED = re.compile(r"\[\[(session/dialog/[^\[\]#|]+)#L(\d+)\|")
SHARES = (("locomo", 0.4), ("english", 0.3), ("chinese", 0.3))

Day = tuple[datetime, list[dict[str, str]]]
Sample = dict[str, str | int]


def histories(people: int, *, other: bool) -> Iterator[tuple[str, list[Day]]]:
    """What each person said, by day: the source's name and its sessions."""
    entries = json.loads((DATA / "locomo" / "locomo5.json").read_text("utf-8"))
    for entry in entries[2:] if other else entries[:2]:
        yield "locomo", list(locomo_days(entry["conversation"]))
    for name, file in (("english", "mb_en.json"), ("chinese", "mb_cn.json")):
        told = json.loads((DATA / "memorybank" / file).read_text("utf-8"))
        for person in list(told)[people : 2 * people] if other else list(told)[:people]:
            yield name, list(memorybank_days(told[person]["history"]))


def locomo_days(conversation: dict[str, Any]) -> Iterator[Day]:
    for name in sorted((k for k in conversation if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
        at = datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        yield at, [{"role": "user", "name": t["speaker"], "content": t["text"]} for t in conversation[name]]


def memorybank_days(days: dict[str, list[dict[str, str]]]) -> Iterator[Day]:
    for day, exchanges in sorted(days.items()):
        told = [
            {"role": role, "content": exchange[key].strip()}
            for exchange in exchanges
            for role, key in (("user", "query"), ("assistant", "response"))
            if exchange[key].strip()
        ]
        if told:
            yield datetime.fromisoformat(f"{day}T10:00:00").replace(tzinfo=UTC), told


def kept(root: Path, days: list[Day]) -> Iterator[tuple[str, Sample]]:
    """Every statement of a history, with its layer."""
    sessions = (
        (at + timedelta(hours=1), f"s{number}", [message | {"timestamp": at.isoformat()} for message in told])
        for number, (at, told) in enumerate(days)
    )
    with lived(root, sessions) as vault:
        yield from stated(root, vault)


def stated(root: Path, vault: Vault) -> Iterator[tuple[str, Sample]]:
    """Every statement in a vault, with its layer."""
    placed: dict[str, tuple[str, int]] = {}
    for layer in ("daily", "digest"):
        for stat in vault.scan(VaultPath(layer)).files:
            note = parse(vault.read(stat.path).data)
            for block in note.blocks if stat.path.count("/") > 1 else ():
                item = note.text(block.span)
                said = re.fullmatch(
                    r"(?:-|\d+\.) (?P<text>.+) \((?P<speaker>[^()]*), \d{4}-\d\d-\d\d[^()]*\) — .*", item
                )
                if block.kind != "item" or said is None:
                    continue
                if layer == "daily" and (match := CITED.search(item)):
                    placed[said["text"]] = match[1], int(match[2])
                path, line = placed.get(said["text"], ("", 0))
                lines = (root / path).read_text("utf-8").splitlines() if path else []
                spoken = [json.loads(each) for each in lines[max(0, line - 2) : line]]
                yield (
                    layer,
                    {
                        "note": str(note.properties.get("name") or ""),
                        "statement": said["text"],
                        "speaker": said["speaker"],
                        "message": spoken[-1]["text"] if spoken else "",
                        "before": spoken[0]["text"] if len(spoken) == 2 else "",
                    },
                )


def drawn(size: int, seed: int, people: int, *, other: bool) -> list[Sample]:
    found: defaultdict[tuple[str, str], list[Sample]] = defaultdict(list)
    for name, days in histories(people, other=other):
        with tempfile.TemporaryDirectory() as folder:
            for layer, sample in kept(Path(folder), days):
                found[name, layer].append({"from": name, "layer": layer} | sample)
    chance = random.Random(seed)
    chosen: list[Sample] = []
    for name, share in SHARES:
        for layer in ("daily", "digest"):
            pool = found[name, layer]
            chosen += chance.sample(pool, min(len(pool), round(size * share / 2)))
    chance.shuffle(chosen)
    return [{"id": number} | sample for number, sample in enumerate(chosen, start=1)]


def tell(sample: Path, judged: list[Path]) -> None:
    """Each reader's share of junk by source, and how far two agree (Cohen's kappa)."""
    source = {s["id"]: s["from"] for s in map(json.loads, sample.read_text("utf-8").splitlines())}
    readers: list[dict[int, bool]] = []
    for path in judged:
        answers = {a["id"]: bool(a["junk"]) for a in map(json.loads, path.read_text("utf-8").splitlines())}
        readers.append(answers)
        junk, of = Counter(source[i] for i, is_junk in answers.items() if is_junk), Counter(source[i] for i in answers)
        shown = ", ".join(f"{name} {junk[name]} of {of[name]}" for name, _ in SHARES)
        print(f"{path.name}: {sum(junk.values())} of {len(answers)} are junk ({shown})")
    if len(readers) == 2:
        both = readers[0].keys() & readers[1].keys()
        agree = sum(readers[0][i] == readers[1][i] for i in both) / len(both)
        one, two = (sum(r[i] for i in both) / len(both) for r in readers)
        chance = one * two + (1 - one) * (1 - two)
        print(f"they agree on {agree:.2f} of {len(both)}, kappa {(agree - chance) / (1 - chance):.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--other-half", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("junk_sample.jsonl"))
    parser.add_argument("--judged", type=Path, action="append")
    given = parser.parse_args()
    if given.judged:
        tell(given.out, given.judged)
        return 0
    sample = drawn(given.size, given.seed, given.people, other=given.other_half)
    given.out.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in sample), "utf-8")
    print(f"{len(sample)} statements in {given.out.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
