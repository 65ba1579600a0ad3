"""Measures reading notes: ``python -m bench.notes [--notes 400]``.

Figures are CPU time a note, the best of many rounds over all notes; beside each stands its ratio to what the CommonMark
parser alone takes to turn the same notes into HTML, measured in the same rounds.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyromark import Markdown, Options

from bench.vaults import make_vault
from reme.markdown import chunk, parse

_COMMONMARK = Markdown(
    options=Options.ENABLE_TABLES | Options.ENABLE_MATH | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH
)


def main() -> None:
    """Measure, and print a line a figure."""
    parser = argparse.ArgumentParser(prog="bench.notes", description="Measure reading and cutting notes.")
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="reme-bench-"))
    try:
        made = make_vault(folder, options.notes)
        data = [(made.root / path).read_bytes() for path in made.paths]
    finally:
        shutil.rmtree(folder)
    work: dict[str, Callable[[bytes], object]] = {
        "HTML by the CommonMark parser": lambda note: _COMMONMARK.html(note.decode("utf-8")),
        "parse": parse,
        "parse and chunk": lambda note: chunk(parse(note)),
    }
    best = dict.fromkeys(work, float("inf"))
    for _ in range(options.rounds):
        for name, read in work.items():
            start = time.process_time()
            for note in data:
                read(note)
            best[name] = min(best[name], time.process_time() - start)
    base = best["HTML by the CommonMark parser"]
    for name, seconds in best.items():
        each = seconds / len(data)
        print(f"{name:30} {each * 1e6:7.1f} µs a note {1 / each:9,.0f} a CPU-second {seconds / base:6.1f} x")


if __name__ == "__main__":
    main()
