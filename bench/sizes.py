"""A benchmark of several sizes, each in a process of its own, so that its memory is its own."""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.vaults import as_the_product

__all__ = ["each_size"]


def each_size(
    module: str, about: str, counted: str, sizes: Sequence[int], measure: Callable[[Path, int], dict[str, float]]
) -> None:
    """Measure each size that the command line asks for, print a line a figure, and write a record where asked to.

    Args:
        module: The module that calls this, to be run with ``python -m``.
        about: What it measures, for its help.
        counted: What a size is a number of, which is the option's name.
        sizes: Those that are measured unless others are asked for.
        measure: Measures one size in an empty folder, which is removed afterwards.
    """
    parser = argparse.ArgumentParser(prog=module, description=about)
    parser.add_argument(f"--{counted}", dest="sizes", type=int, nargs="+", default=sizes)
    parser.add_argument("--json", type=Path, help="write the record to this file")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        as_the_product()
        folder = Path(tempfile.mkdtemp(prefix="reme-bench-"))
        try:
            print(json.dumps(measure(folder, options.one)))
        finally:
            shutil.rmtree(folder)
        return
    records: list[dict[str, float]] = []
    for size in options.sizes:
        command = [sys.executable, "-m", module, "--one", str(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        records.append(json.loads(done.stdout.splitlines()[-1]))
        print("\n".join(f"{name:28} {value:12.3f}" for name, value in records[-1].items()), end="\n\n", flush=True)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
