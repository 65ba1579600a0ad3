"""Retrieval through the product's own index and search: does what answers a question stand among the first?

Sets: LoCoMo's turns, the notes that are made of them, MemoryBank in both languages, questions that share no word with
their answer, and notes known by a word or three. Data is read from ``../shared/data`` beside the checkout; nothing is
shortened and no model is asked but the embedder.

    python -m evals.retrieval [--sets …] [--embedders none use bundled] [--cache FOLDER] [--plot FILE] [--json FILE]
    python -m evals.retrieval --tune [--embedders none]

Prints Markdown tables and paired differences with 95 % bootstrap intervals. With ``--tune``, the constants of
``context`` are chosen on one half of the dialogues and reported of the other, both ways; and how much scattered words
count, on half of the vaults and dialogues. Exits with 2 if the data is missing.
"""

import argparse
import json
import math
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from evals.retrieval_data import (
    DATA,
    Collection,
    Evidence,
    Question,
    generated,
    locomo,
    locomo_notes,
    memorybank,
    paraphrases,
    vaults,
)
from evals.retrieval_plot import Bar, plot
from reme.clock import Clock
from reme.index import Index, embed, open_index, refresh
from reme.markdown import count_tokens
from reme.models import Embedder, open_embedder
from reme.search import Anchors, SearchSettings, Signals, recall, search
from reme.vault import Layout, Vault

NOW = datetime(2024, 1, 1, tzinfo=UTC)
PLAIN = SearchSettings(alpha=None, beta=None, tau_days=None, expand_depth=0)
BUDGETS = (500, 1_000, 2_000)
BLOCK = 1_000
RESAMPLES = 2_000
SHOWN = 40
PLOTTED = ("locomo", "notes", "zh", "en", "paraphrases-zh", "paraphrases-en")

SETS: Mapping[str, Callable[[], Iterator[Collection]]] = {
    "locomo": locomo,
    "notes": locomo_notes,
    "zh": partial(memorybank, "zh"),
    "en": partial(memorybank, "en"),
    "paraphrases-zh": partial(paraphrases, "zh"),
    "paraphrases-en": partial(paraphrases, "en"),
    "vaults": vaults,
    "generated": partial(generated, 10_000),
}


@dataclass(frozen=True)
class Variant:
    """A way to search."""

    name: str
    settings: SearchSettings = PLAIN
    weights: Mapping[str, float] | None = None
    embedded: bool = True


MAIN = (
    Variant("words", embedded=False),
    Variant("vectors alone", weights={"keyword": 0}),
    Variant("rrf", replace(PLAIN, fusion="rrf")),
    Variant("context"),
)
PARTS = (
    Variant("words, rrf", replace(PLAIN, fusion="rrf"), embedded=False),
    Variant("words without neighbours", replace(PLAIN, near=()), embedded=False),
    Variant("words without the file's own evidence", replace(PLAIN, own_evidence=0), embedded=False),
    Variant("words without the speaker", replace(PLAIN, speaker_bonus=0), embedded=False),
    Variant("words without the file as a whole", replace(PLAIN, scattering=None), embedded=False),
    Variant("words without any of these", replace(PLAIN, near=(), own_evidence=0, speaker_bonus=0), embedded=False),
)
FACTORS = (
    Variant("words and every factor", SearchSettings(expand_depth=0), embedded=False),
    Variant("without centrality", SearchSettings(expand_depth=0, alpha=None), embedded=False),
    Variant("without recency", SearchSettings(expand_depth=0, tau_days=None), embedded=False),
    Variant("without communities", SearchSettings(expand_depth=0, beta=None), embedded=False),
    Variant("without layers", SearchSettings(expand_depth=0, layer_weights={}), embedded=False),
    Variant("without the note as a whole", SearchSettings(expand_depth=0, scattering=None), embedded=False),
)
BY_SET: Mapping[str, Sequence[Variant]] = {
    "locomo": (*MAIN, *PARTS),
    "notes": (*MAIN, *FACTORS),
    "vaults": (Variant("words", embedded=False), *FACTORS),
    "generated": (Variant("words", embedded=False), *FACTORS),
}


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
        new = list({key: i for i, key in enumerate(keys) if key not in self._known}.values())
        for i, row in zip(new, self._embedder.embed([texts[i] for i in new], query=query) if new else (), strict=True):
            self._known[keys[i]] = row
        return np.stack([self._known[key] for key in keys])

    def save(self) -> None:
        """Keep what is known."""
        import numpy as np

        if self._file and self._known:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, keys=np.array(list(self._known)), rows=np.stack(list(self._known.values())))


@dataclass(frozen=True)
class Shown:
    """A piece of a file, or a file, that a search shows."""

    path: str
    line: int
    end_line: int
    text: str

    def holds(self, evidence: Evidence) -> bool:
        """Whether the evidence stands in it."""
        path, line = evidence
        return path == self.path and (not line or self.line <= line <= self.end_line)


class Measured:
    """Per-question figures of one variant, by measure, in the order of the questions."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}

    def add(self, ranked: Sequence[Shown], wanted: frozenset[Evidence]) -> None:
        """Take in one question's ranking."""
        first = [next((rank for rank, shown in enumerate(ranked) if shown.holds(e)), None) for e in wanted]
        ranks = [rank for rank in first if rank is not None]
        good = sorted(set(ranks))
        ideal = sum(1 / math.log2(i + 2) for i in range(min(10, len(good) + first.count(None))))
        figures = {
            "P@5": sum(rank < 5 for rank in good) / 5,
            "MRR": 1 / (good[0] + 1) if good else 0.0,
            "nDCG@10": sum(1 / math.log2(rank + 2) for rank in good if rank < 10) / ideal,
            **{f"R@{k}": sum(rank < k for rank in ranks) / len(wanted) for k in (5, 10, 20)},
        }
        for budget in BUDGETS:
            figures[f"R in {budget:,}"] = sum(rank < _fitting(ranked, budget) for rank in ranks) / len(wanted)
        for name, value in figures.items():
            self.note(name, value)

    def note(self, name: str, value: float) -> None:
        """Take in one question's figure."""
        self.values.setdefault(name, []).append(value)

    def mean(self, name: str) -> float:
        """Over all questions."""
        values = self.values[name]
        return sum(values) / len(values)


def _fitting(ranked: Sequence[Shown], budget: int) -> int:
    """How many texts fit into so many tokens."""
    used = 0
    for count, shown in enumerate(ranked):
        used += count_tokens(shown.text)
        if used > budget:
            return count
    return len(ranked)


def communities(index: Index, folder: Path) -> Signals:
    """Which notes belong together by their links: label propagation (Raghavan et al. 2007), in a fixed order."""
    paths = [note.path for note in index.notes()]
    near: dict[str, list[str]] = {path: [] for path in paths}
    for path in paths:
        for link in index.links_from(path):
            if link.target is not None and link.target != path:
                near[path].append(link.target)
                near[link.target].append(path)
    label = {path: path for path in map(str, paths)}
    for _ in range(20):
        before = dict(label)
        for path, others in near.items():
            counts = Counter(label[other] for other in others)
            label[path] = min(counts, key=lambda name: (-counts[name], name), default=path)
        if label == before:
            break
    folder.mkdir(exist_ok=True)
    made = {"version": 1, "computed_at": NOW.isoformat(), "communities": label}
    (folder / "communities.json").write_text(json.dumps(made), encoding="utf-8")
    return Signals(folder)


def ranking(
    index: Index,
    clock: Clock,
    variant: Variant,
    query: str,
    embedder: Cached | None,
    by_note: bool,
    signals: Signals | None = None,
) -> list[Shown]:
    """Everything that the search shows, best first: pieces by their own score, or notes."""
    found = search(
        index,
        clock,
        variant.settings,
        query,
        limit=20 if by_note else SHOWN,
        top_chunks_per_path=2 if by_note else 100,
        weights=variant.weights,
        embedder=embedder if variant.embedded else None,
        signals=signals,
    )
    if by_note:
        return [Shown(hit.path, 0, 0, "\n".join(chunk.text for chunk in hit.chunks)) for hit in found.hits]
    shown = [
        (chunk.score * hit.score / hit.evidence.base, Shown(hit.path, chunk.line, chunk.end_line, chunk.text))
        for hit in found.hits
        for chunk in hit.chunks
    ]
    shown.sort(key=lambda row: (-row[0], row[1].path, row[1].line))
    return [piece for _, piece in shown]


@contextmanager
def indexed(collection: Collection, embedder: Cached | None) -> Generator[tuple[Index, Clock]]:
    """The files in a vault of their own, indexed, and embedded where there is an embedder."""
    clock = Clock(ZoneInfo("UTC"), lambda: NOW)
    with tempfile.TemporaryDirectory(prefix="reme-eval-") as folder:
        root = Path(folder) / "vault"
        for path, text in collection.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
            os.utime(root / path, (NOW.timestamp(), NOW.timestamp()))
        vault = Vault(root, layout=Layout(), clock=clock, state_dir=Path(folder) / "state")
        index = open_index(Path(folder) / "state" / "index.db", Layout())
        refresh(index, vault)
        if embedder:
            embed(index, embedder)
        yield index, clock
        index.close()
        vault.close()


def measure(
    collections: Sequence[Collection], variants: Sequence[Variant], embedder: Cached | None, *, block: bool = False
) -> dict[str, list[Measured]]:
    """By variant: the figures of each collection; with ``block``, those of what ``recall`` puts into a prompt, too."""
    measured: dict[str, list[Measured]] = {variant.name: [] for variant in variants}
    for collection in collections:
        with (
            indexed(collection, embedder) as (index, clock),
            tempfile.TemporaryDirectory(prefix="reme-eval-") as folder,
        ):
            signals = communities(index, Path(folder)) if collection.by_note else None
            for variant in variants:
                figures = Measured()
                for question in collection.questions:
                    shown = ranking(index, clock, variant, question.text, embedder, collection.by_note, signals)
                    figures.add(shown, question.evidence)
                measured[variant.name].append(figures)
            if block:
                measured.setdefault("recall", []).append(_recalled(index, clock, collection.questions, embedder))
    return measured


def _recalled(index: Index, clock: Clock, questions: Sequence[Question], embedder: Cached | None) -> Measured:
    figures, anchors = Measured(), Anchors()
    for question in questions:
        made = recall(index, clock, PLAIN, question.text, budget=BLOCK, embedder=embedder, anchors=anchors)
        shown = [Shown(fact.path, fact.line, fact.end_line, fact.text) for fact in made.facts]
        there = sum(any(piece.holds(e) for piece in shown) for e in question.evidence)
        figures.note(f"R in {BLOCK:,}", there / len(question.evidence))
    return figures


def together(parts: Sequence[Measured]) -> Measured:
    """The figures of several collections as one."""
    whole = Measured()
    for part in parts:
        for name, values in part.values.items():
            whole.values.setdefault(name, []).extend(values)
    return whole


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean with its 95 % bootstrap interval."""
    rng = random.Random(0)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    return sum(values) / len(values), means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]


def difference(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Mean of one minus the other, question by question, with its 95 % bootstrap interval."""
    return interval([a - b for a, b in zip(one, other, strict=True)])


GRID: Mapping[str, Sequence[Any]] = {
    "own_evidence": (0.2, 0.4, 0.6, 0.8),
    "near": ((0.1, 0.05), (0.2, 0.1), (0.3, 0.15)),
    "coverage_power": (1.0, 1.5, 2.0),
    "speaker_bonus": (0.1, 0.2, 0.3),
    "k1": (0.6, 0.9, 1.2),
    "b": (0.2, 0.4, 0.6),
    "vector_share": (0.35, 0.5, 0.65),
}


def tuned(collections: Sequence[Collection], embedder: Cached | None) -> list[str]:
    """Constants chosen one after the other on one half of the dialogues, and what they give on the other, both ways."""
    lines = ["| chosen on | constants | R@10 there, chosen | shipped | R@10 on the other half, chosen | shipped |"]
    lines.append("|---|---|---|---|---|---|")
    chosen: list[float] = []
    shipped: list[float] = []
    halves = (collections[::2], collections[1::2])
    for half, other in (halves, halves[::-1]):
        best, there, before = _chosen_on(half, embedder)
        both = _recall_at_10(other, [best, PLAIN], embedder)
        chosen += both[0]
        shipped += both[-1]
        told = (
            ", ".join(f"{n} {getattr(best, n)}" for n in GRID if getattr(best, n) != getattr(PLAIN, n)) or "as shipped"
        )
        means = (there, before, sum(both[0]) / len(both[0]), sum(both[-1]) / len(both[-1]))
        names = " ".join(collection.name for collection in half)
        lines.append(f"| {names} | {told} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    mean, low, high = difference(chosen, shipped)
    lines.append(f"\nR@10 of the halves not chosen on, chosen − shipped: {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    return lines


def _chosen_on(half: Sequence[Collection], embedder: Cached | None) -> tuple[SearchSettings, float, float]:
    """The best constants of one half, its R@10 with them, and as shipped."""
    best, top, shipped = PLAIN, 0.0, 0.0
    for name, values in GRID.items():
        if name == "vector_share" and embedder is None:
            continue
        tried = list(dict.fromkeys((getattr(best, name), *values)))
        found = _recall_at_10(half, [replace(best, **{name: value}) for value in tried], embedder)
        means = [sum(figures) / len(figures) for figures in found]
        shipped = shipped or means[0]
        top = max(means)
        best = replace(best, **{name: tried[means.index(top)]})
    return best, top, shipped


SCATTERING: Sequence[float | None] = (None, 0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
FRESH = 11


def scattering_tuned(dialogues: Sequence[Collection]) -> list[str]:
    """How much less scattered words count, chosen on half of the vaults and dialogues, and what it gives on the others.

    The questions are drawn anew: three words each of notes of the real vaults. Chosen is what the mean of R@10 over the
    vaults and R@10 on the dialogues are best with, added up; by words alone.
    """
    known = [collection for collection in vaults(FRESH) if collection.name.endswith("three random words")]
    settings = [replace(PLAIN, scattering=value) for value in SCATTERING]
    halves: list[tuple[Sequence[Collection], Mapping[str, Sequence[Sequence[float]]]]] = []
    for part in (0, 1):
        some, said = known[part::2], dialogues[part::2]
        found = {collection.name: _recall_at_10([collection], settings, None) for collection in some}
        halves.append((some, found | {"dialogues": _recall_at_10(said, settings, None)}))
    lines = ["| chosen on | chosen | measured on | R@10, chosen | shipped | without |", "|---" * 6 + "|"]
    shipped, without = SCATTERING.index(PLAIN.scattering), SCATTERING.index(None)
    paired: dict[str, list[float]] = {}
    for (some, found), (_, others) in (halves, halves[::-1]):
        means = {name: [sum(figures) / len(figures) for figures in by_value] for name, by_value in found.items()}
        of_vaults = [sum(means[c.name][i] for c in some) / len(some) for i in range(len(SCATTERING))]
        totals = [one + other for one, other in zip(of_vaults, means["dialogues"], strict=True)]
        chosen = totals.index(max(totals))
        names = ", ".join(collection.name.partition(":")[0] for collection in some)
        for name, by_value in others.items():
            figures = (sum(by_value[i]) / len(by_value[i]) for i in (chosen, shipped, without))
            cells = " | ".join(f"{figure:.3f}" for figure in figures)
            lines.append(f"| {names} | {SCATTERING[chosen]} | {name.partition(':')[0]} | {cells} |")
            kind = "dialogues" if name == "dialogues" else "three words of a note"
            for told, i, j in (("chosen − without", chosen, without), ("shipped − chosen", shipped, chosen)):
                pairs = zip(by_value[i], by_value[j], strict=True)
                paired.setdefault(f"{kind}, {told}", []).extend(a - b for a, b in pairs)
    lines.append("")
    for told, values in paired.items():
        mean, low, high = interval(values)
        lines.append(f"* R@10 on what was not chosen on, {told}: {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    return lines


def _recall_at_10(
    collections: Sequence[Collection], settings: Sequence[SearchSettings], embedder: Cached | None
) -> list[list[float]]:
    variants = [Variant(str(i), tried, embedded=embedder is not None) for i, tried in enumerate(settings)]
    return [together(parts).values["R@10"] for parts in measure(collections, variants, embedder).values()]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="retrieval", description="Measure how well search finds things.")
    parser.add_argument("--embedders", nargs="+", default=["none", "use", "bundled"])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    parser.add_argument("--tune", action="store_true", help="choose constants instead, on LoCoMo")
    parser.add_argument("--json", type=Path, help="add the figures to those in this file")
    parser.add_argument("--plot", type=Path, help="draw R@10, of these and of those in the file, into this SVG file")
    options = parser.parse_args()
    if not DATA.exists():
        sys.stderr.write(f"skipped: there is no {DATA}\n")
        return 2
    opened = {spec: open_embedder(spec) for spec in options.embedders}
    embedders = {spec: Cached(found, options.cache) if found else None for spec, found in opened.items()}
    if options.tune:
        collections = list(locomo())
        for spec, embedder in embedders.items():
            print("\n".join([f"## {spec}", "", *tuned(collections, embedder), ""]), flush=True)
        print("\n".join(["## scattered words", "", *scattering_tuned(collections)]), flush=True)
        return 0
    record: Record = {}
    if options.json and options.json.exists():
        record = json.loads(options.json.read_bytes())
    for name in options.sets:
        for title, whole in _measured(name, embedders).items():
            record.setdefault(title, {}).update({way: _figures(found) for way, found in whole.items()})
        for embedder in embedders.values():
            if embedder:
                embedder.save()
        if options.json:
            options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.plot:
        options.plot.write_text(plot(_bars(record)), encoding="utf-8")
    return 0


Record = dict[str, dict[str, dict[str, list[float]]]]
"""By set and way of searching: each figure's mean with its interval."""


def _figures(found: Measured) -> dict[str, list[float]]:
    return {name: [round(value, 4) for value in interval(values)] for name, values in found.values.items()}


def _bars(record: Record) -> dict[str, list[Bar]]:
    return {
        name: [Bar(way, *figures["R@10"]) for way, figures in record[name].items() if "R@10" in figures]
        for name in PLOTTED
        if name in record
    }


def _measured(name: str, embedders: Mapping[str, Cached | None]) -> dict[str, dict[str, Measured]]:
    """One set, or each part of it that stands for itself, every way, printed."""
    collections = list(SETS[name]())
    variants = BY_SET.get(name, MAIN)
    groups = {c.name: [c] for c in collections} if name in ("vaults", "generated") else {name: collections}
    found: dict[str, dict[str, Measured]] = {}
    for title, group in groups.items():
        print(f"\n## {title}: {_sizes(group)}\n")
        whole = found[title] = {}
        for spec, embedder in embedders.items():
            wanted = [v for v in variants if v.embedded == (embedder is not None)]
            if not wanted:
                continue
            block = not any(c.by_note for c in group)
            for way, parts in measure(group, wanted, embedder, block=block).items():
                whole[f"{way}, {spec}" if embedder else way] = together(parts)
        print(_report(whole), flush=True)
        if name.startswith("paraphrases") and "words" in whole:
            print(_found_by_meaning(whole), flush=True)
    return found


def _sizes(collections: Sequence[Collection]) -> str:
    questions = sum(len(c.questions) for c in collections)
    files = sum(len(c.files) for c in collections)
    lines = sum(t.count("\n") for c in collections for p, t in c.files.items() if p.endswith(".jsonl"))
    lost, kept = sum(c.lost for c in collections), sum(len(q.evidence) for c in collections for q in c.questions)
    said = f"{questions} questions, {files} files" + (f" with {lines} turns" if lines else "")
    return said + (f"; they hold {kept / (kept + lost):.2f} of the evidence" if lost else "")


def _report(whole: Mapping[str, Measured]) -> str:
    names = list(dict.fromkeys(name for figures in whole.values() for name in figures.values))
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for way, figures in whole.items():
        cells = (f"{figures.mean(m):.3f}" if m in figures.values else "" for m in names)
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    lines.append("")
    for way, figures in whole.items():
        for other in _compared(way):
            if other in whole and "R@10" in figures.values:
                mean, low, high = difference(figures.values["R@10"], whole[other].values["R@10"])
                lines.append(f"* R@10, {way} − {other}: {mean:+.3f} [{low:+.3f}, {high:+.3f}]")
    return "\n".join(lines)


def _compared(way: str) -> Sequence[str]:
    if way.startswith("context"):
        return "words", way.replace("context", "rrf"), way.replace("context", "vectors alone")
    if way == "words and every factor" or way.startswith("words without") or way == "words, rrf":
        return ("words",)
    return ("words and every factor",) if way.startswith("without") else ()


def _found_by_meaning(whole: Mapping[str, Measured]) -> str:
    """How many targets are below ten by words alone, and how many of these among three by both legs."""
    hidden = [rank < 1 / 10 for rank in whole["words"].values["MRR"]]
    lines = [f"\nBelow ten by words alone: {sum(hidden)} of {len(hidden)}. Of these, among the first three:"]
    for way, figures in whole.items():
        if way.startswith(("context", "rrf", "vectors")):
            near = sum(far and rank >= 1 / 3 for far, rank in zip(hidden, figures.values["MRR"], strict=True))
            lines.append(f"* {way}: {near}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
