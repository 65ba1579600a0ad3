"""Measures a vault that a runtime keeps indexed: ``python -m bench.live [--notes 1000 10000] [--json FILE]``.

Each size is measured in a process of its own, so that its memory is its own. Times are wall times, since what is waited
for is another thread and the disk, with the CPU-seconds of the process beside them; the load of the machine is told.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

from bench.sizes import each_size
from bench.vaults import Made, baseline, make_vault
from reme.clock import system_clock
from reme.index import Index, open_index, wait
from reme.runtime import Projector
from reme.search import SearchSettings, search
from reme.vault import Layout, Vault

_CHECKING_OUT = """
import os, sys
for path in sys.stdin.buffer.read().split(b"\\0"):
    with open(path, "rb") as stream:
        text = stream.read()
    os.unlink(path)
    with open(path, "wb") as stream:
        stream.write(text + b"\\nchecked out\\n")
"""
_EDITS = 40
_CHECKED_OUT = 500
_IDLE_S = 30.0
_PATIENCE_S = 600.0


def main() -> None:
    """Measure each size that is asked for."""
    each_size("bench.live", "Measure vaults that a runtime keeps indexed.", "notes", [1_000, 10_000], _measured)


def _measured(folder: Path, notes: int) -> dict[str, float]:
    return _measure(make_vault(folder / "vault", notes), folder / "state")


def _measure(made: Made, state: Path) -> dict[str, float]:
    vault = Vault(made.root, layout=Layout(), clock=system_clock(ZoneInfo("UTC")), state_dir=state)
    reader = open_index(state / "index.db", Layout())
    found: dict[str, float] = {"notes": len(made.paths)} | _timed("baseline", lambda: baseline(made))
    projector, written = _started(vault, state)
    found |= _timed("cold", lambda: _settle(vault, reader))
    found["index_mb"] = sum(file.stat().st_size for file in state.glob("index.db*")) / 1e6
    projector.close()
    written.close()
    projector, written = _started(vault, state)
    found |= _timed("restart", lambda: _first_hit(vault, state, made))
    _until(lambda: projector.status().watching and not projector.status().walk_pending)
    edits = sorted(_edit(vault, reader, made, number) for number in range(_EDITS))
    found |= {"edit_p50_ms": edits[len(edits) // 2] * 1e3, "edit_p95_ms": edits[int(len(edits) * 0.95)] * 1e3}
    count = min(_CHECKED_OUT, len(made.paths) // 2)
    found |= {"checked_out": count} | _timed("checkout", lambda: _check_out(vault, reader, made, count))
    time.sleep(5)
    before, began = time.process_time(), time.monotonic()
    time.sleep(_IDLE_S)
    found["idle_cpu_percent"] = (time.process_time() - before) / (time.monotonic() - began) * 100
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found |= {"peak_rss_mb": peak / (1024**2 if sys.platform == "darwin" else 1024), "load": os.getloadavg()[0]}
    projector.close()
    for opened in (written, reader, vault):
        opened.close()
    return found


def _started(vault: Vault, state: Path) -> tuple[Projector, Index]:
    index = open_index(state / "index.db", Layout())
    projector = Projector(vault, index)
    projector.start()
    return projector, index


def _settle(vault: Vault, index: Index) -> None:
    if left := wait(vault, index, _PATIENCE_S):
        raise TimeoutError(f"{len(left)} files were not indexed")


def _first_hit(vault: Vault, state: Path, made: Made) -> None:
    """Open the index as a new process would, be sure that it is current, and ask."""
    index = open_index(state / "index.db", Layout())
    _settle(vault, index)
    search(index, vault.clock, SearchSettings(), made.questions[0].text)
    index.close()


def _edit(vault: Vault, index: Index, made: Made, number: int) -> float:
    """Seconds from a save by another program until a search finds it."""
    word = "zq" + "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "qz"
    file = made.root / made.paths[number * (len(made.paths) // _EDITS)]
    text = file.read_text("utf-8") + f"\n{word}\n"
    time.sleep(0.3)
    began = time.monotonic()
    file.write_text(text, encoding="utf-8")
    _until(lambda: bool(search(index, vault.clock, SearchSettings(), word, expand_depth=0).hits))
    return time.monotonic() - began


def _check_out(vault: Vault, index: Index, made: Made, count: int) -> None:
    """Have another process replace many files the way git does: each removed and written anew."""
    named = "\0".join(str(made.root / path) for path in made.paths[-count:])
    subprocess.run([sys.executable, "-S", "-E", "-c", _CHECKING_OUT], input=named.encode(), check=True)
    _settle(vault, index)


def _timed(name: str, work: Callable[[], object]) -> dict[str, float]:
    cpu, began = time.process_time(), time.monotonic()
    work()
    return {f"{name}_s": time.monotonic() - began, f"{name}_cpu_s": time.process_time() - cpu}


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not happen")
        time.sleep(0.002)


if __name__ == "__main__":
    main()
