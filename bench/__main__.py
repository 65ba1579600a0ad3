"""Runs the benchmarks: ``python -m bench [--notes 1000 10000] [--json FILE]``.

Times are CPU time of this process, which a busy machine distorts less than wall time does, of each question the best of
three; restart, refresh and edit are wall times. Beside each stands its ratio to a baseline measured in the same run:
reading, hashing and compressing all files for the whole-vault figures, the bare question of the keyword leg for
searches, and what ``bench.tools`` says of its own. Vectors are synthetic (384 random numbers a chunk), so that no model
is measured.
"""

import argparse
import json
import platform
import re
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from bench.tools import measure_tools
from bench.vaults import Made, Question, as_the_product, baseline, make_vault
from reme.clock import system_clock
from reme.index import Filter, Index, embed, open_index, refresh
from reme.search import SearchSettings, search, traverse
from reme.testing import SyntheticEmbedder
from reme.vault import Layout, Vault

_REPEATS = 3


def main() -> None:
    """Measure, print a table, and write a record where asked to."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure index and search on seeded vaults.")
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--json", type=Path, help="write the record to this file")
    options = parser.parse_args()
    as_the_product()
    records: list[dict[str, float | int]] = []
    for notes in options.notes:
        folder = Path(tempfile.mkdtemp(prefix="reme-bench-"))
        try:
            made, state = make_vault(folder / "vault", notes), folder / "state"
            records.append(_measure(made, state) | measure_tools(made, state))
        finally:
            shutil.rmtree(folder)
    print(_table(records))
    record = {"python": platform.python_version(), "machine": platform.machine(), "runs": records}
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    else:
        print(json.dumps(record))


def _measure(made: Made, state: Path) -> dict[str, float | int]:
    clock = system_clock(ZoneInfo("UTC"))
    vault = Vault(made.root, layout=Layout(), clock=clock, state_dir=state)
    base = _cpu(lambda: baseline(made))
    index = open_index(state / "index.db", Layout())
    cold = _cpu(lambda: refresh(index, vault))
    status = index.status()
    index.close()
    start = time.perf_counter()
    index = open_index(state / "index.db", Layout())
    refresh(index, vault)
    search(index, clock, SearchSettings(), made.questions[0].text)
    restart = time.perf_counter() - start
    warm = min(_wall(lambda: refresh(index, vault)) for _ in range(_REPEATS))
    (made.root / made.paths[-1]).write_text("# Edited\n\nfreshly edited\n", encoding="utf-8")
    edit = _wall(lambda: refresh(index, vault))
    first = _first_times(state, made)
    found = _searches(index, made) | _hybrid(index, made)
    index.close()
    return {
        "notes": len(made.paths),
        "chunks": status.chunks,
        "links": status.links,
        "baseline_cpu_s": base,
        "cold_cpu_s": cold,
        "cold_ratio": cold / base,
        "index_mb": status.bytes / 1e6,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1024**2 if sys.platform == "darwin" else 1024),
        "restart_s": restart,
        "warm_refresh_ms": warm * 1e3,
        "one_edit_ms": edit * 1e3,
        **first,
        **found,
    }


def _first_times(state: Path, made: Made) -> dict[str, float]:
    """What a process pays to open an index and ask it at all, and then for questions that are each asked only once."""
    start = time.process_time()
    index = open_index(state / "index.db", Layout())
    clock, settings = system_clock(ZoneInfo("UTC")), SearchSettings()
    search(index, clock, settings, made.questions[0].text)
    opened = time.process_time() - start
    found = sorted(_cpu(lambda q=question.text: search(index, clock, settings, q)) for question in made.questions[1:])
    index.close()
    return {
        "open_and_search_ms": opened * 1e3,
        "search_once_p50_ms": found[len(found) // 2] * 1e3,
        "search_once_p95_ms": found[int(len(found) * 0.95)] * 1e3,
    }


def _searches(index: Index, made: Made) -> dict[str, float | int]:
    clock = system_clock(ZoneInfo("UTC"))
    settings = SearchSettings()
    questions = [question.text for question in made.questions]
    terms = {question: index.terms(question) for question in questions}
    known = [question for question in made.questions if question.expected]

    def share_found(asked: Sequence[Question]) -> float:
        found = [search(index, clock, settings, question.text, limit=10).hits for question in asked]
        return sum(q.expected in [hit.path for hit in hits] for q, hits in zip(asked, found, strict=True)) / len(asked)

    bare = _latencies(lambda q: index.matches(dict.fromkeys(terms[q], 1.0), settings.bm25, Filter(), 50), questions)
    full = _latencies(lambda q: search(index, clock, settings, q), questions)
    forward = _latencies(lambda path: traverse(index, [path], depth=2), made.paths[:200])
    both = _latencies(lambda path: traverse(index, [path], depth=2, direction="both"), made.paths[:200])
    return {
        "matches_p50_ms": bare[0],
        "search_p50_ms": full[0],
        "search_p95_ms": full[1],
        "search_ratio": full[0] / bare[0],
        "traverse_p50_ms": forward[0],
        "traverse_p95_ms": forward[1],
        "traverse_both_p95_ms": both[1],
        "known_item_hit_at_10": share_found(known),
        "rare_words_hit_at_10": share_found(made.rare),
        "rare_words_of_ten_notes": len(few := _of_few(made, 10)),
        "rare_words_of_ten_notes_hit_at_10": share_found(few),
    }


def _of_few(made: Made, most: int) -> list[Question]:
    """Those questions of rare words of which at most so many notes have all: only these can be answered for certain."""
    having: Counter[Question] = Counter()
    for path in made.paths:
        words = set(re.findall(r"[a-z]+", (made.root / path).read_text("utf-8").lower()))
        having.update(asked for asked in made.rare if words.issuperset(asked.text.split()))
    return [asked for asked in made.rare if having[asked] <= most]


def _hybrid(index: Index, made: Made) -> dict[str, float | int]:
    """The same questions with a vector leg; how long the vectors take without a model, and their scan alone."""
    clock = system_clock(ZoneInfo("UTC"))
    settings = SearchSettings()
    embedder = SyntheticEmbedder(dim=384, random=True)
    making = _cpu(lambda: embed(index, embedder, batch=1_000))
    questions = [question.text for question in made.questions]
    vectors = {question: embedder.embed([question], query=True)[0].tobytes() for question in questions}
    scan = _latencies(lambda q: index.nearest(vectors[q], Filter(), 50), questions)
    full = _latencies(lambda q: search(index, clock, settings, q, embedder=embedder), questions)
    return {
        "vectors": index.status().embedded,
        "vectors_cpu_s": making,
        "vector_scan_p50_ms": scan[0],
        "hybrid_p50_ms": full[0],
        "hybrid_p95_ms": full[1],
    }


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _wall(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _latencies(work: Callable[[str], object], questions: Sequence[str]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds, of the best of a few tries each."""
    found = sorted(min(_cpu(lambda q=question: work(q)) for _ in range(_REPEATS)) for question in questions)
    return found[len(found) // 2] * 1e3, found[int(len(found) * 0.95)] * 1e3


def _table(records: Sequence[dict[str, float | int]]) -> str:
    lines = [
        "| measure | " + " | ".join(f"{record['notes']:,} notes" for record in records) + " |",
        "|---" * (len(records) + 1) + "|",
    ]
    for measure in records[0]:
        values = (
            f"{record[measure]:,.2f}" if isinstance(record[measure], float) else f"{record[measure]:,}"
            for record in records
        )
        lines.append(f"| {measure} | {' | '.join(values)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
