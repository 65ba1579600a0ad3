"""Measures what changes and checks a vault; a part of ``python -m bench``, and alone ``python -m bench.tools``.

Times are CPU-seconds of this process; beside each figure of many notes stands its ratio to a baseline measured in the
same run, which is parsing as many notes once. The commit of one note is a wall time, since it waits for the disk, and
is compared with writing and syncing four small files.
"""

import argparse
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from bench.vaults import Made, as_the_product, make_vault
from reme.clock import system_clock
from reme.index import Keeper, ProjectorStatus, open_index, refresh
from reme.markdown import parse
from reme.search import SearchSettings
from reme.state import State
from reme.tools import Caller, Workspace, append, lint, move, search, status, undo
from reme.vault import Layout, Vault

__all__ = ["measure_tools"]

_COMMITS = 60
_QUESTIONS = 20
_WATCHING = ProjectorStatus(
    running=True,
    epoch=1,
    watching=True,
    watcher_restarts=0,
    pending=0,
    walk_pending=False,
    last_event=None,
    last_scan=None,
    last_change=None,
    problems=(),
    trouble=(),
)


def main() -> None:
    """Measure, print a line a figure, and the record."""
    parser = argparse.ArgumentParser(prog="bench.tools", description="Measure changing and checking seeded vaults.")
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    options = parser.parse_args()
    as_the_product()
    records: list[dict[str, float]] = []
    for notes in options.notes:
        folder = Path(tempfile.mkdtemp(prefix="reme-bench-"))
        try:
            records.append(measure_tools(make_vault(folder / "vault", notes), folder / "state"))
        finally:
            shutil.rmtree(folder)
        print("\n".join(f"{name:24} {value:10.3f}" for name, value in records[-1].items()), end="\n\n")
    print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), "runs": records}))


def measure_tools(made: Made, state: Path) -> dict[str, float]:
    """Move a hub and back, check, and commit, in a vault that is then as it was but for one note.

    Args:
        made: The vault.
        state: Where its index is, or comes to be.
    """
    vault = Vault(made.root, layout=Layout(), clock=system_clock(ZoneInfo("UTC")), state_dir=state)
    index = open_index(state / "index.db", Layout())
    log = State(state / "state.db")
    runs = iter(range(1_000_000))

    def ask() -> Workspace:
        caller = Caller("person", "bench", f"run-{next(runs)}")
        return Workspace(vault, index, log, vault.clock, SearchSettings(), caller)

    base = _cpu(lambda: [parse((made.root / path).read_bytes()) for path in made.paths])
    refresh(index, vault)
    checked = min(_cpu(lambda: lint(ask())) for _ in range(3))
    told = min(_cpu(lambda: status(ask())) for _ in range(3))
    watching = replace(_WATCHING, generation=index.generation())
    kept = replace(ask(), keeper=lambda: Keeper(0, "bench", watching))
    told_kept = min(_cpu(lambda: status(kept)) for _ in range(3))
    asked = min(_cpu(lambda: _search_all(ask(), made)) for _ in range(3))
    asked_kept = min(_cpu(lambda: _search_all(kept, made)) for _ in range(3))
    moving, moved, waited = ask(), time.process_time(), time.perf_counter()
    result = move(moving, made.hub, "digest/wiki/the hub.md")
    moved, waited = time.process_time() - moved, time.perf_counter() - waited
    settled, until = time.process_time(), time.perf_counter()
    refresh(index, vault)
    settled, until = time.process_time() - settled, time.perf_counter() - until
    undone = _cpu(lambda: undo(ask(), moving.caller.run))
    if hasattr(os, "sync"):
        os.sync()  # what the vault was made of and the move is not the commit's to wait for
    synced = sorted(_wall(lambda: _four_syncs(state)) for _ in range(_COMMITS))[_COMMITS // 2]
    commits = sorted(_wall(lambda: append(ask(), made.paths[1], "one more line")) for _ in range(_COMMITS))
    index.close()
    log.close()
    vault.close()
    return {
        "notes": len(made.paths),
        "parse_all_cpu_s": base,
        "parse_notes_per_cpu_s": len(made.paths) / base,
        "lint_cpu_s": checked,
        "lint_ratio": checked / base,
        "status_ms": told * 1e3,
        "status_kept_ms": told_kept * 1e3,
        "search_ms": asked * 1e3 / _QUESTIONS,
        "search_kept_ms": asked_kept * 1e3 / _QUESTIONS,
        "move_inbound_notes": float(len(result.retargeted)),
        "move_cpu_s": moved,
        "move_s": waited,
        "move_ratio": moved / (base * len(result.retargeted) / len(made.paths)),
        "move_settled_cpu_s": moved + settled,
        "move_settled_s": waited + until,
        "undo_move_cpu_s": undone,
        "four_syncs_p50_ms": synced * 1e3,
        "commit_p50_ms": commits[len(commits) // 2] * 1e3,
        "commit_ratio": commits[len(commits) // 2] / synced,
        "commit_p95_ms": commits[int(len(commits) * 0.95)] * 1e3,
    }


def _search_all(workspace: Workspace, made: Made) -> None:
    for question in made.questions[:_QUESTIONS]:
        search(workspace, question.text)


def _four_syncs(folder: Path) -> None:
    for number in range(4):
        file = folder / f"synced-{number}"
        with file.open("wb") as stream:
            stream.write(b"x" * 2_000)
            stream.flush()
            os.fsync(stream.fileno())
        file.unlink()


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _wall(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
