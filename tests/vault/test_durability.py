"""Kill a committing process at every system call that matters, and watch the order in which it makes them.

Each check also runs against five deliberate breakages of ``commit``, to show that it can fail.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from reme.errors import Unavailable
from reme.vault import Conflicted, Put, commit, locked
from reme.vault.changeset import ChangeSet

from . import scenario

STRACE = shutil.which("strace")
ORDERING = ("fsync", "rename", "renameat2")
CALLS = ("fsync", "rename", "renameat2", "unlink", "mkdir", "write", "ftruncate", "openat")
SCRIPT = Path(scenario.__file__)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches Linux system calls")


def strace(root: Path, *options: str, breakage: str | None = None) -> subprocess.CompletedProcess[str]:
    assert STRACE, "strace is not installed, and without it durability is not tested"
    module = [sys.executable, "-m", "tests.vault.scenario", str(root), *([breakage] if breakage else [])]
    return subprocess.run(
        [STRACE, "-f", "-qq", *options, *module], capture_output=True, text=True, cwd=SCRIPT.parents[2], check=False
    )


def fresh(base: Path, name: str) -> Path:
    root = base / name
    root.mkdir(parents=True)
    scenario.lay(root)
    return root


def count_calls(base: Path, breakage: str | None) -> Counter[str]:
    """How often a whole commit makes each call, from the first touch of the vault's state folder on."""
    root = fresh(base, "count")
    log = base / "count.log"
    whole = strace(root, "-o", str(log), "-e", f"trace={','.join(CALLS)}", breakage=breakage)
    whole.check_returncode()
    return Counter(m[1] for line in log.read_text().splitlines() if (m := re.search(r"\b(\w+)\(", line)))


def first_call(base: Path, call: str) -> int:
    """The number of the first call of this kind that concerns the vault: what is before it only starts Python."""
    lines = [line for line in (base / "count.log").read_text().splitlines() if f" {call}(" in f" {line}"]
    marks = [n for n, line in enumerate(lines, 1) if "/count/" in line or call in ("write", "fsync", "ftruncate")]
    return marks[0] if marks else len(lines) + 1


def check_crashes(base: Path, breakage: str | None = None, stride: int = 1) -> None:
    """Kill at every sync and rename and at every ``stride``-th other call, reopen, and find all of it or nothing."""
    counts = count_calls(base, breakage)
    steps = {call: 1 if call in ORDERING else stride for call in CALLS}
    points = [(call, n) for call in CALLS for n in range(first_call(base, call), counts[call] + 1, steps[call])]
    assert len(points) >= 10, counts
    for call, n in points:
        root = fresh(base, f"{call}-{n}")
        inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={n}")
        killed = strace(root, "-o", "/dev/null", *inject, breakage=breakage)
        vault = scenario.open_vault(root)
        with locked(vault):
            pass
        found = scenario.tree(root)
        assert found in (scenario.BEFORE, scenario.AFTER), f"killed at {call} {n}: {sorted(found)}"
        if "committed" in killed.stdout:
            assert found == scenario.AFTER, f"an acknowledged change is lost: killed at {call} {n}"
        assert not list(root.rglob(".reme-*")), f"hidden files are left: killed at {call} {n}"
        assert vault.journal.pending() is None
        shutil.rmtree(root)


@dataclass(frozen=True)
class Call:
    name: str
    paths: tuple[str, ...]


def trace_calls(base: Path, breakage: str | None) -> list[Call]:
    root = fresh(base, "order")
    log = base / "order.log"
    options = ["-y", "-s", "0", "-o", str(log), "-e", "trace=fsync,fdatasync,rename,renameat2,write"]
    assert "committed" in strace(root, *options, breakage=breakage).stdout
    calls: list[Call] = []
    for line in log.read_text().splitlines():
        if (m := re.match(r"\d+\s+(\w+)\((.*)\)\s+= 0", line)) or (
            m := re.match(r"\d+\s+(write)\((.*)\)\s+= \d+", line)
        ):
            paths = re.findall(r"<([^>]*)>|\"((?:[^\"\\]|\\.)*)\"", m[2])
            names = tuple(_unescape(a or b) for a, b in paths)
            shown = tuple(n.removeprefix(str(root.resolve())).lstrip("/") for n in names if str(root) in n)
            if shown:
                calls.append(Call(m[1], shown if m[1] != "write" else shown[:1]))
    return calls


def _unescape(text: str) -> str:
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1").decode()


def check_order(base: Path, breakage: str | None = None) -> None:
    """Journal synced, then files staged and synced, then renamed, then folders synced, then marked done."""
    calls = trace_calls(base, breakage)
    renames = [(n, c.paths[0], c.paths[1]) for n, c in enumerate(calls) if c.name in ("rename", "renameat2")]
    begun = next(n for n, source, target in renames if target.endswith("journal/pending.zip"))
    done = next(n for n, source, target in renames if source.endswith("journal/pending.zip"))

    def synced(path: str, start: int, end: int) -> bool:
        return any(c.name in ("fsync", "fdatasync") and c.paths[0] == path for c in calls[start:end])

    changes = [(n, source, target) for n, source, target in renames if not target.startswith(".reme/")]
    assert len(changes) == 5, calls
    assert synced(".reme/journal/pending.tmp", 0, begun), "the journal entry is not synced before it gets its name"
    first = min(n for n, _, _ in changes)
    assert synced(".reme/journal", begun, first), "the journal's folder is not synced before the first change"
    for n, source, target in changes:
        if "/.reme-" in f"/{source}":
            assert synced(source, 0, n), f"{target} is renamed before its bytes are synced"
        folder = target.rpartition("/")[0]
        if folder:
            assert synced(folder, n, done), f"{folder} is not synced after {target} was renamed"
    appended = next(n for n, c in enumerate(calls) if c.name == "write" and c.paths[0] == "log.jsonl")
    assert synced("log.jsonl", appended, done), "the append is not synced before the done-mark"
    assert begun < first, "a file changes before the journal entry is there"
    assert max(n for n, _, _ in changes) < done, "the done-mark comes before the last change"


def check_revisions(base: Path, breakage: str | None = None) -> None:
    """A file that changed since it was read is not overwritten."""
    root = fresh(base, "revisions")
    (root / "notes/a.md").write_bytes(b"written meanwhile")
    result = strace(root, "-o", "/dev/null", "-e", "trace=none", breakage=breakage)
    assert "not committed" in result.stdout
    assert (root / "notes/a.md").read_bytes() == b"written meanwhile"


def test_a_kill_at_every_sync_and_rename_leaves_before_or_after(tmp_path: Path) -> None:
    check_crashes(tmp_path, stride=4)


@pytest.mark.slow
def test_a_kill_at_every_call_leaves_before_or_after(tmp_path: Path) -> None:
    check_crashes(tmp_path)


def test_the_order_of_system_calls(tmp_path: Path) -> None:
    check_order(tmp_path)


def test_an_unexpected_revision_is_a_conflict(tmp_path: Path) -> None:
    check_revisions(tmp_path)


@pytest.mark.parametrize(
    ("breakage", "check"),
    [
        ("no file fsync", check_order),
        ("no folder fsync", check_order),
        ("no expected-revision check", check_revisions),
        ("no post-image", check_crashes),
        ("done-mark first", check_order),
        ("done-mark first", check_crashes),
    ],
)
def test_each_breakage_is_noticed(tmp_path: Path, breakage: str, check) -> None:
    with pytest.raises((AssertionError, Unavailable)):
        check(tmp_path, breakage)


def test_a_commit_of_one_note_syncs_at_most_four_times(tmp_path: Path) -> None:
    root = fresh(tmp_path, "one")
    vault = scenario.open_vault(root)
    commit(vault, ChangeSet((Put("untouched.md", b"1", vault.read("untouched.md").revision),), "person", "t", "t", "r"))
    log = tmp_path / "one.log"
    code = (
        "from tests.vault.scenario import *; import pathlib; v = open_vault(pathlib.Path(%r));"
        "commit(v, ChangeSet((Put('untouched.md', b'2', v.read('untouched.md').revision),), 'person', 't', 't', 'r'))"
    )
    assert STRACE
    subprocess.run(
        [STRACE, "-f", "-o", str(log), "-e", "trace=fsync,fdatasync", sys.executable, "-c", code % str(root)],
        cwd=SCRIPT.parents[2],
        check=True,
    )
    assert log.read_text().count("sync(") == 4


def test_the_conflict_names_the_path(tmp_path: Path) -> None:
    root = fresh(tmp_path, "named")
    (root / "c.md").write_bytes(b"other")
    outcome = commit(scenario.open_vault(root), scenario.change_set())
    assert isinstance(outcome, Conflicted)
    assert set(outcome.actual) == {"c.md"}
