"""Measures the command line from nothing: ``python -m bench.startup [--notes 100 10000] [--json FILE]``.

Each command is a process of its own in a vault whose index is current; told is the CPU time of that process, the median
of several, beside its ratio to an interpreter that does nothing. Modules are compiled beforehand, as by an installer.
"""

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from bench.sizes import each_size
from bench.vaults import make_vault

_TIMES = 15
_COMMANDS = {
    "version": ("--version",),
    "help_of_search": ("search", "--help"),
    "help": ("--help",),
    "read": ("read", "digest/wiki/nothing-here"),
    "search": ("search", "jwt rotation"),
    "list": ("list", "--limit", "5"),
    "status": ("status",),
}


def main() -> None:
    """Measure each size that is asked for."""
    each_size("bench.startup", "Measure one command after the other.", "notes", [100, 10_000], _measured)


def _measured(folder: Path, notes: int) -> dict[str, float]:
    made = make_vault(folder / "vault", notes)
    commands = {**_COMMANDS, "read": ("read", made.paths[0])}
    _cpu(made.root, "-m", "reme", "init", ".")
    _cpu(made.root, "-m", "reme", *commands["search"])
    bare = [_cpu(made.root, "-c", "pass") for _ in range(_TIMES)]
    found: dict[str, float] = {"notes": notes, "interpreter_cpu_s": statistics.median(bare)}
    for name, arguments in commands.items():
        _cpu(made.root, "-m", "reme", *arguments)
        taken = statistics.median(_cpu(made.root, "-m", "reme", *arguments) for _ in range(_TIMES))
        found |= {f"{name}_cpu_s": taken, f"{name}_ratio": taken / found["interpreter_cpu_s"]}
    return found | {"load": os.getloadavg()[0]}


def _cpu(vault: Path, *arguments: str) -> float:
    """CPU-seconds of an interpreter with these arguments, its own and the system's for it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("REME_", "PYTHONDONT"))}
    command = [sys.executable, *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=vault, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
