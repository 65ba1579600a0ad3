"""Measures vectors at scale: ``python -m bench.vectors [--chunks 100000 1000000] [--json FILE]``.

The chunks have a few words each and random vectors of 384 numbers; files have 100 chunks. Each size is measured in a
process of its own. Times of questions are CPU and wall times, the best of three of each question.
"""

import os
import random
import resource
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from bench.sizes import each_size
from reme.index import Filter, Index, open_index
from reme.index.counts import tally
from reme.index.rows import ChunkEntry, Entry, Found, Stamp
from reme.paths import VaultPath
from reme.revision import Revision
from reme.vault import Layout

_DIM = 384
_PER_FILE = 100
_QUESTIONS = 40
_REPEATS = 3


def main() -> None:
    """Measure each size that is asked for."""
    each_size("bench.vectors", "Measure the scan of many vectors.", "chunks", [100_000], _measure)


def _measure(folder: Path, chunks: int) -> dict[str, float]:
    import numpy as np

    store = folder / "index.db"
    index = open_index(store, Layout())
    rng = np.random.default_rng(7)
    began = time.process_time()
    _fill(index, chunks)
    index.use_model("synthetic", _DIM)
    waiting = index.unembedded()
    rows_cpu, began = time.process_time() - began, time.process_time()
    for start in range(0, len(waiting), 1_000):
        batch = index.to_embed(waiting[start : start + 1_000])
        made = _directions(rng, len(batch))
        index.put_vectors([(text.key, text.hash, row.tobytes()) for text, row in zip(batch, made, strict=True)])
    vectors_cpu = time.process_time() - began
    index.close()
    small = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index = open_index(store, Layout())
    asked = [row.tobytes() for row in _directions(rng, _QUESTIONS)]
    began = time.process_time()
    index.nearest(asked[0], Filter(), 50)
    load_cpu = time.process_time() - began
    plain = _latencies(index, asked, Filter())
    narrow = _latencies(index, asked, Filter(paths=("digest/f00001.md", "digest/f00002.md")))
    found = {
        "chunks": chunks,
        "vectors": index.status().embedded,
        "rows_cpu_s": rows_cpu,
        "vectors_cpu_s": vectors_cpu,
        "load_cpu_s": load_cpu,
        "nearest_cpu_p50_ms": plain[0][0],
        "nearest_cpu_p95_ms": plain[0][1],
        "nearest_wall_p50_ms": plain[1][0],
        "nearest_wall_p95_ms": plain[1][1],
        "nearest_two_files_cpu_p95_ms": narrow[0][1],
        "index_mb": sum(file.stat().st_size for file in folder.glob("index.db*")) / 1e6,
        "making_rss_mb": small / 1024,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "load": os.getloadavg()[0],
    }
    index.close()
    return found


def _directions(rng: Any, count: int) -> Any:
    import numpy as np

    rows = rng.standard_normal((count, _DIM)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _fill(index: Index, chunks: int) -> None:
    chance = random.Random(7)
    words = [f"w{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(5_000)]
    files = chunks // _PER_FILE
    for start in range(0, files, 500):
        with index.writing(settle=False) as writer:
            for number in range(start, min(start + 500, files)):
                writer.put(_entry(number, chance, words))
    index.settle()
    index.tidy()


def _entry(number: int, chance: random.Random, words: list[str]) -> Entry:
    pieces = [chance.choices(words, k=6) for _ in range(_PER_FILE)]
    return Entry(
        path=VaultPath(f"digest/f{number:05d}.md"),
        layer="digest",
        format="note",
        stamp=Stamp(1, number, number, Revision(f"{number:032x}"), 0),
        chunks=tuple(
            ChunkEntry(
                start=place * 50,
                end=place * 50 + 40,
                line=place + 1,
                end_line=place + 1,
                trail=(),
                hash=f"{number * _PER_FILE + place:032x}",
                text=" ".join(said),
                words=" ".join(said).encode(),
                found=partial(Found, len(said), tally({}, {}, {}, Counter(said))),
            )
            for place, said in enumerate(pieces)
        ),
    )


def _latencies(index: Index, asked: list[bytes], wanted: Filter) -> tuple[tuple[float, float], tuple[float, float]]:
    """Median and 95th percentile in milliseconds, of CPU time and of wall time."""
    cpu: list[float] = []
    wall: list[float] = []
    for vector in asked:
        tries: list[tuple[float, float]] = []
        for _ in range(_REPEATS):
            started, began = time.process_time(), time.perf_counter()
            index.nearest(vector, wanted, 50)
            tries.append((time.process_time() - started, time.perf_counter() - began))
        cpu.append(min(one for one, _ in tries))
        wall.append(min(one for _, one in tries))
    return _percentiles(cpu), _percentiles(wall)


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2] * 1e3, ordered[int(len(ordered) * 0.95)] * 1e3


if __name__ == "__main__":
    main()
