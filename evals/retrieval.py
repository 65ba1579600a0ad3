"""Retrieval through the product's own index: does what answers a question stand among the first?

LoCoMo's dialogues (CC BY-NC 4.0, evaluation only) are imported one turn a line, and every turn is a document; questions
of categories 1 to 4 with evidence are asked within their dialogue. MemoryBank's exchanges, Chinese and English, are
asked with the project's own evidence labels (``retrieval_evidence.json``). Data is read from ``../shared/data`` beside
the checkout. With ``--tune`` the constants of ``context`` are varied on every second dialogue; what is reported is
reported of the others too.

    python -m evals.retrieval [--embedders none use bundled] [--cache FOLDER] [--tune] [--json FILE]

Prints a Markdown table and paired differences with 95 % bootstrap intervals. Exits with 2 if the data is missing.
"""

import argparse
import json
import math
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from reme.clock import Clock
from reme.index import Index, embed, open_index, refresh
from reme.markdown import count_tokens
from reme.models import Embedder, open_embedder
from reme.search import SearchSettings, search
from reme.vault import Layout, Vault

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
EVIDENCE = Path(__file__).with_name("retrieval_evidence.json")
NOW = datetime(2024, 1, 1, tzinfo=UTC)
PLAIN = SearchSettings(alpha=None, tau_days=None, expand_depth=0)
BUDGETS = (500, 1_000, 2_000)
RESAMPLES = 2_000
ADVERSARIAL = 5

Document = tuple[str, int]  # file, line


@dataclass(frozen=True)
class Question:
    """A question and where what answers it stands."""

    text: str
    evidence: frozenset[Document]


@dataclass(frozen=True)
class Collection:
    """Files to import, and questions to ask of them."""

    name: str
    files: Mapping[str, str]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Variant:
    """A way to search."""

    name: str
    settings: SearchSettings = PLAIN
    weights: Mapping[str, float] | None = None
    embedded: bool = True


VARIANTS = (
    Variant("keyword", embedded=False),
    Variant("keyword without context", replace(PLAIN, near=(), own_evidence=0, speaker_bonus=0), embedded=False),
    Variant("vector", weights={"keyword": 0}),
    Variant("rrf", replace(PLAIN, fusion="rrf")),
    Variant("context"),
)


class Cached:
    """An embedder whose vectors are kept in a folder, so that an evaluation can be repeated."""

    def __init__(self, embedder: Embedder, folder: Path | None) -> None:
        self._embedder = embedder
        self.name, self.dim, self.calibration = embedder.name, embedder.dim, embedder.calibration
        self._file = folder / f"{re.sub(r'[^a-z0-9]+', '-', self.name.lower())}.npz" if folder else None
        self._known: dict[str, Any] = {}
        if self._file and self._file.exists():
            import numpy as np

            with np.load(self._file) as held:
                self._known = dict(zip(held["keys"].tolist(), held["rows"], strict=True))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """As the embedder does."""
        import numpy as np

        keys = [blake2b(f"{query}{text}".encode(), digest_size=12).hexdigest() for text in texts]
        new = [i for i, key in enumerate(keys) if key not in self._known]
        for i, row in zip(new, self._embedder.embed([texts[i] for i in new], query=query) if new else (), strict=True):
            self._known[keys[i]] = row
        return np.stack([self._known[key] for key in keys])

    def save(self) -> None:
        """Keep what is known."""
        import numpy as np

        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, keys=np.array(list(self._known)), rows=np.stack(list(self._known.values())))


def locomo() -> Iterator[Collection]:
    """The dialogues, each with its questions."""
    for sample in json.loads((DATA / "locomo" / "locomo5.json").read_bytes()):
        dialogue = sample["conversation"]
        files: dict[str, str] = {}
        places: dict[str, Document] = {}
        numbers = sorted(int(key[8:]) for key in dialogue if re.fullmatch(r"session_\d+", key))
        for number in numbers:
            when = datetime.strptime(dialogue[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            path = f"session/dialog/s{number:02d}.jsonl"
            lines: list[str] = []
            for line, turn in enumerate(dialogue[f"session_{number}"], 1):
                caption = f" [photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                said = {"speaker": turn["speaker"], "text": turn.get("text", "") + caption, "at": when.isoformat()}
                lines.append(json.dumps(said, ensure_ascii=False))
                places[turn["dia_id"]] = (path, line)
            files[path] = "\n".join(lines) + "\n"
        questions: list[Question] = []
        for asked in sample["qa"]:
            named = re.findall(r"D(\d+):0*(\d+)", " ".join(map(str, asked.get("evidence") or [])))
            found = frozenset(places[turn] for a, b in named if (turn := f"D{a}:{b}") in places)
            if found and asked["category"] != ADVERSARIAL:
                questions.append(Question(asked["question"], found))
        yield Collection(sample["sample_id"], files, tuple(questions))


def memorybank(language: str) -> Iterator[Collection]:
    """The histories of people who talk to an assistant, one exchange a line, with labelled questions."""
    histories = json.loads((DATA / "memorybank" / f"mb_{language}.json").read_bytes())
    labels = json.loads(EVIDENCE.read_bytes())[language]
    for person, (name, history) in zip(labels, histories.items(), strict=False):
        files = {
            f"session/dialog/{day}.jsonl": "".join(
                json.dumps({"text": f"{x['query']}\n{x['response']}", "at": day}, ensure_ascii=False) + "\n"
                for x in exchanges
            )
            for day, exchanges in history["history"].items()
        }
        asked = (
            Question(question["text"], frozenset((f"session/dialog/{day}.jsonl", line) for day, line in question["at"]))
            for question in person
        )
        yield Collection(name.strip(), files, tuple(asked))


class Measured:
    """Per-question figures of one variant, by measure, in the order of the questions."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}

    def add(self, ranked: Sequence[Document], texts: Sequence[str], wanted: frozenset[Document]) -> None:
        """Take in one question's ranking."""
        hits = [rank for rank, document in enumerate(ranked) if document in wanted]
        ideal = sum(1 / math.log2(i + 2) for i in range(min(10, len(wanted))))
        figures = {
            "P@5": sum(rank < 5 for rank in hits) / 5,
            "MRR": 1 / (hits[0] + 1) if hits else 0.0,
            "nDCG@10": sum(1 / math.log2(rank + 2) for rank in hits if rank < 10) / ideal,
            **{f"R@{k}": sum(rank < k for rank in hits) / len(wanted) for k in (5, 10, 20)},
        }
        for budget in BUDGETS:
            figures[f"R in {budget:,} tokens"] = sum(rank < _fitting(texts, budget) for rank in hits) / len(wanted)
        for name, value in figures.items():
            self.values.setdefault(name, []).append(value)

    def mean(self, name: str) -> float:
        """Over all questions."""
        values = self.values[name]
        return sum(values) / len(values)


def _fitting(texts: Sequence[str], budget: int) -> int:
    """How many texts fit into so many tokens."""
    used = 0
    for count, text in enumerate(texts):
        used += count_tokens(text)
        if used > budget:
            return count
    return len(texts)


def ranking(index: Index, clock: Clock, variant: Variant, query: str, embedder: Embedder | None) -> list[Any]:
    """Every document that the search shows, best first: file, line, text."""
    found = search(
        index,
        clock,
        variant.settings,
        query,
        limit=40,
        top_chunks_per_path=100,
        weights=variant.weights,
        embedder=embedder if variant.embedded else None,
    )
    shown = [(chunk.score, hit.path, chunk.line, chunk.text) for hit in found.hits for chunk in hit.chunks]
    shown.sort(key=lambda row: (-row[0], row[1], row[2]))
    return shown


def measure(
    collections: Sequence[Collection], variants: Sequence[Variant], embedder: Cached | None
) -> dict[str, list[Measured]]:
    """By variant: the figures of each collection."""
    measured: dict[str, list[Measured]] = {variant.name: [] for variant in variants}
    clock = Clock(ZoneInfo("UTC"), lambda: NOW)
    for collection in collections:
        with tempfile.TemporaryDirectory(prefix="reme-eval-") as folder:
            root = Path(folder) / "vault"
            for path, text in collection.files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
                os.utime(root / path, (NOW.timestamp(), NOW.timestamp()))
            vault = Vault(root, layout=Layout(), clock=clock, state_dir=Path(folder) / "state")
            index = open_index(Path(folder) / "state" / "index.db", Layout())
            refresh(index, vault)
            if embedder and any(variant.embedded for variant in variants):
                embed(index, embedder)
            for variant in variants:
                figures = Measured()
                for question in collection.questions:
                    shown = ranking(index, clock, variant, question.text, embedder)
                    documents = [(path, line) for _, path, line, _ in shown]
                    figures.add(documents, [text for *_, text in shown], question.evidence)
                measured[variant.name].append(figures)
            index.close()
            vault.close()
    return measured


def together(parts: Sequence[Measured]) -> Measured:
    """The figures of several collections as one."""
    whole = Measured()
    for part in parts:
        for name, values in part.values.items():
            whole.values.setdefault(name, []).extend(values)
    return whole


def difference(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Mean of one minus the other, question by question, with its 95 % bootstrap interval."""
    rng = random.Random(0)
    deltas = [a - b for a, b in zip(one, other, strict=True)]
    means = sorted(sum(rng.choices(deltas, k=len(deltas))) / len(deltas) for _ in range(RESAMPLES))
    return sum(deltas) / len(deltas), means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]


def tuned(collections: Sequence[Collection], embedder: Cached | None) -> list[str]:
    """Each constant of ``context`` varied alone, on every second dialogue, and what it gives on the others."""
    tried = [("as shipped", PLAIN)]
    tried += [(f"own_evidence {value}", replace(PLAIN, own_evidence=value)) for value in (0.2, 0.6)]
    tried += [(f"near {value}", replace(PLAIN, near=value)) for value in ((0.1, 0.05), (0.3, 0.15))]
    tried += [(f"coverage_power {value}", replace(PLAIN, coverage_power=value)) for value in (1.0, 2.0)]
    tried += [(f"speaker_bonus {value}", replace(PLAIN, speaker_bonus=value)) for value in (0.1, 0.3)]
    if embedder:
        tried += [(f"vector_share {value}", replace(PLAIN, vector_share=value)) for value in (0.35, 0.65)]
    variants = [Variant(name, settings, embedded=embedder is not None) for name, settings in tried]
    lines = ["| constant | R@10, tuning half | R@10, other half |", "|---|---|---|"]
    for name, parts in measure(collections, variants, embedder).items():
        halves = (together(parts[::2]).mean("R@10"), together(parts[1::2]).mean("R@10"))
        lines.append(f"| {name} | {halves[0]:.3f} | {halves[1]:.3f} |")
    return lines


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="retrieval", description="Measure how well search finds things.")
    parser.add_argument("--embedders", nargs="+", default=["none", "use", "bundled"])
    parser.add_argument("--data", nargs="+", default=["locomo", "cn", "en"])
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    parser.add_argument("--tune", action="store_true", help="vary the constants instead")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    if not DATA.exists():
        sys.stderr.write(f"skipped: there is no {DATA}\n")
        return 2
    record: dict[str, dict[str, float]] = {}
    for data in options.data:
        collections = list(locomo() if data == "locomo" else memorybank(data))
        sizes = (
            sum(len(c.questions) for c in collections),
            sum(t.count("\n") for c in collections for t in c.files.values()),
        )
        print(f"\n## {data}: {sizes[0]} questions, {sizes[1]} documents\n")
        whole: dict[str, Measured] = {}
        for spec in options.embedders:
            opened = open_embedder(spec)
            embedder = Cached(opened, options.cache) if opened else None
            if options.tune:
                print("\n".join([f"{spec}:", "", *tuned(collections, embedder), ""]))
                continue
            variants = [v for v in VARIANTS if v.embedded == (embedder is not None)]
            for name, parts in measure(collections, variants, embedder).items():
                whole[f"{name}, {spec}" if embedder else name] = together(parts)
            if embedder:
                embedder.save()
        if whole:
            print(_report(whole))
        record |= {f"{data}: {name}": {m: f.mean(m) for m in f.values} for name, f in whole.items()}
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def _report(whole: Mapping[str, Measured]) -> str:
    names = list(next(iter(whole.values())).values)
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(f"{f.mean(m):.3f}" for m in names) + " |" for name, f in whole.items()]
    lines.append("")
    for name, figures in whole.items():
        if not name.startswith("context"):
            continue
        for other in ("keyword", name.replace("context", "rrf"), name.replace("context", "vector")):
            if other in whole:
                mean, low, high = difference(figures.values["R@10"], whole[other].values["R@10"])
                lines.append(f"* R@10, {name} − {other}: {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
