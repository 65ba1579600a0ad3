"""Kill a writer at random, fail its disk at every call, let many write at once: what was acknowledged is there, once.

Run as ``python -m tests.vault.test_soak`` with a role, for the processes that are killed or compete.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reme.paths import parse_path
from reme.revision import revision_of
from reme.vault import Amend, Append, ChangeSet, Committed, Edit, Move, Put, Remove, Vault, commit, history, locked

from . import scenario

ROOT = Path(__file__).parents[2]
STRACE = shutil.which("strace")
FOLDERS = ("", "笔记/", "a/b/")
Tree = dict[str, bytes]


def next_edits(tree: Tree, rng: random.Random) -> list[Edit]:
    """A few random edits of a tree, which is brought up to date with them."""
    edits: list[Edit] = []
    taken: set[str] = set()
    for _ in range(rng.randint(1, 6)):
        path = f"{rng.choice(FOLDERS)}n{rng.randrange(8)}.md"
        other = f"{rng.choice(FOLDERS)}m{rng.randrange(8)}.md"
        data = f"{rng.random()} 内容\n".encode() * rng.randint(1, 400)
        if {path, other} & taken:
            continue
        taken |= {path, other}
        now = tree.get(path)
        match rng.choice(("put", "put", "append", "move", "remove")):
            case "append":
                edits.append(Append(parse_path(path), data))
                tree[path] = (now or b"") + data
            case "move" if now is not None and other not in tree:
                edits.append(Move(parse_path(path), parse_path(other), revision_of(now)))
                tree[other] = tree.pop(path)
            case "remove" if now is not None:
                edits.append(Remove(parse_path(path), revision_of(now)))
                del tree[path]
            case _:
                edits.append(Put(parse_path(path), data, revision_of(now)))
                tree[path] = data
    return edits


def write_steadily(vault: Vault, seed: int) -> None:
    """Commit random sets until killed, telling after each how many are acknowledged."""
    rng, tree, count = random.Random(seed), {}, 0
    while True:
        edits = tuple(next_edits(tree, rng))
        outcome = commit(vault, ChangeSet(edits, "person", "soak", f"set {count}", f"run-{count}"))
        assert isinstance(outcome, Committed), outcome
        count += 1
        os.write(1, f"{count}\n".encode())


def kill_at_random(base: Path, rounds: int) -> None:
    for round_ in range(rounds):
        root = base / f"{round_}"
        root.mkdir()
        worker = [sys.executable, "-m", "tests.vault.test_soak", "steadily", str(root), str(round_)]
        process = subprocess.Popen(worker, cwd=ROOT, stdout=subprocess.PIPE)
        assert process.stdout
        process.stdout.readline()
        time.sleep(random.Random(round_).uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        acknowledged = 1 + len(process.stdout.read().splitlines())
        process.wait()
        process.stdout.close()
        vault = scenario.open_vault(root)
        with locked(vault):
            pass
        rng, tree = random.Random(round_), {}
        for _ in range(acknowledged):
            next_edits(tree, rng)
        found = scenario.tree(root)
        if found != tree:  # the next set may be done too, though nobody was told
            next_edits(tree, rng)
        assert found == tree, f"round {round_}: after {acknowledged} acknowledged sets"
        assert len(history(vault)) in (acknowledged, acknowledged + 1)
        shutil.rmtree(root)


def test_kill_at_random(tmp_path: Path) -> None:
    kill_at_random(tmp_path, rounds=25)


@pytest.mark.slow
def test_kill_at_random_often(tmp_path: Path) -> None:
    kill_at_random(tmp_path, rounds=500)


@pytest.mark.skipif(sys.platform != "linux", reason="injects faults into Linux system calls")
@pytest.mark.parametrize("fault", ["fsync EIO", "write ENOSPC", "renameat2 EIO", "rename EIO"])
def test_a_failing_call_leaves_before_or_after(tmp_path: Path, fault: str) -> None:
    call, error = fault.split()
    assert STRACE, "strace is not installed, and without it durability is not tested"
    for n in range(1, 60):
        root = tmp_path / f"{n}"
        root.mkdir()
        scenario.lay(root)
        inject = ("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={n}")
        log = tmp_path / "log"
        command = [
            STRACE,
            "-f",
            "-qq",
            "-o",
            str(log),
            *inject,
            sys.executable,
            "-m",
            "tests.vault.scenario",
            str(root),
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        found = scenario.tree(root)
        if "INJECTED" not in log.read_text():
            assert n > 3, f"{call} was hardly called"
            break
        if "committed" in done.stdout:
            assert found == scenario.AFTER
        else:
            assert "Unavailable" in done.stderr or found in (scenario.BEFORE, scenario.AFTER), done.stderr
            assert found in (scenario.BEFORE, scenario.AFTER), f"{call} {n}: {sorted(found)}"
        with locked(scenario.open_vault(root)):
            pass
        assert scenario.tree(root) == found
        assert not list(root.rglob(".reme-*"))


def compete(vault: Vault, worker: int, writes: int) -> None:
    """Add numbered lines to shared and own files in every way, telling of each that is acknowledged."""
    rng = random.Random(worker)
    for n in range(writes):
        line = f"{worker}.{n}\n".encode()
        path = parse_path(f"shared/{rng.choice('abc')}.md" if rng.random() < 0.7 else f"own/{worker}.md")
        edit = rng.choice((Append(path, line), Amend(path, lambda data, line=line: (data or b"") + line)))
        outcome = commit(vault, ChangeSet((edit,), "person", f"w{worker}", "line", f"w{worker}-{n}"))
        assert isinstance(outcome, Committed), outcome
        os.write(1, b"+" + line)


def many_writers(base: Path, workers: int, writes: int) -> None:
    command = [sys.executable, "-m", "tests.vault.test_soak", "compete", str(base)]
    log = base.parent / "acknowledged.log"
    with log.open("wb") as raw:
        started = [subprocess.Popen([*command, str(w), str(writes)], cwd=ROOT, stdout=raw) for w in range(workers)]
        assert [process.wait() for process in started] == [0] * workers
    acknowledged = sorted(line[1:] for line in log.read_text().splitlines())
    assert len(acknowledged) == workers * writes
    assert sorted("".join(data.decode() for data in scenario.tree(base).values()).split()) == acknowledged
    vault = scenario.open_vault(base)
    assert len(history(vault)) == workers * writes
    assert vault.journal.pending() is None


def test_many_writers(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    many_writers(tmp_path / "v", workers=6, writes=30)


@pytest.mark.slow
def test_twenty_writers_of_five_hundred_writes(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    many_writers(tmp_path / "v", workers=20, writes=500)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["steadily", root, seed]:
            write_steadily(scenario.open_vault(Path(root)), int(seed))
        case ["compete", root, worker, writes]:
            compete(scenario.open_vault(Path(root)), int(worker), int(writes))
