"""One change set that does everything at once, committed by a process that may be killed or broken on purpose.

Run as ``python scenario.py ROOT [BREAKAGE]``; prints ``committed`` only once ``commit`` has returned.
"""

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

from reme.clock import system_clock
from reme.revision import ABSENT, revision_of
from reme.vault import Append, ChangeSet, Committed, Layout, Move, Put, Remove, Vault, commit, disk, journal
from reme.vault import carry as carrying
from reme.vault import commit as _commit_function  # noqa: F401

commit_module = sys.modules["reme.vault.commit"]

BEFORE = {
    "notes/a.md": b"# Eins\r\n\r\nalt\r\n",
    "notes/tee/b.md": "# 茶\n\n旧的内容\n".encode(),
    "c.md": b"goes away\n",
    "d.md": b"moves\n",
    "log.jsonl": b'{"n": 1}\n',
    "untouched.md": b"\xef\xbb\xbfleft alone",
}
AFTER = {
    "notes/a.md": b"# Eins\r\n\r\nneu\r\n",
    "notes/tee/b.md": "# 茶\n\n新的内容，更长一些\n".encode(),
    "neu/数据/e.md": "# 新\n".encode(),
    "elsewhere/d.md": b"moves\n",
    "log.jsonl": b'{"n": 1}\n{"n": 2}\n',
    "untouched.md": b"\xef\xbb\xbfleft alone",
}


def lay(root: Path) -> None:
    """Write the files as they are before."""
    for path, data in BEFORE.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def tree(root: Path) -> dict[str, bytes]:
    """Every file outside the machinery's folder, hidden ones included."""
    files = (p for p in root.rglob("*") if p.is_file() and ".reme" not in p.relative_to(root).parts)
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


def open_vault(root: Path) -> Vault:
    return Vault(root, layout=Layout(), clock=system_clock(ZoneInfo("Asia/Shanghai")))


def change_set(run: str = "run-1") -> ChangeSet:
    old = {path: revision_of(data) for path, data in BEFORE.items()}
    edits = (
        Put("notes/a.md", AFTER["notes/a.md"], old["notes/a.md"]),
        Put("notes/tee/b.md", AFTER["notes/tee/b.md"], old["notes/tee/b.md"]),
        Put("neu/数据/e.md", AFTER["neu/数据/e.md"], ABSENT),
        Remove("c.md", old["c.md"]),
        Move("d.md", "elsewhere/d.md", old["d.md"]),
        Append("log.jsonl", b'{"n": 2}\n', offset=len(BEFORE["log.jsonl"])),
    )
    return ChangeSet(edits, "person", "test", "everything at once", run)


def _no_file_sync() -> None:
    disk.sync_file = carrying.sync_file = lambda descriptor: None


def _no_folder_sync() -> None:
    carrying.sync_folder = journal.sync_folder = lambda folder: None


def _no_expected_revision() -> None:
    plan_bytes = commit_module._plan_content
    commit_module._plan_content = lambda path, pre, post, expects, plan: plan_bytes(path, pre, post, None, plan)


def _no_post_image() -> None:
    write = zipfile.ZipFile.writestr
    zipfile.ZipFile.writestr = lambda self, info, *data: info.filename.startswith("post/") or write(self, info, *data)


def _done_mark_first() -> None:
    def write(vault, entry):
        vault.journal.begin(entry)
        vault.journal.finish(entry)
        return carrying.carry_out(vault, entry, fresh=True)

    commit_module._write = write


BREAKAGES: dict[str, Callable[[], None]] = {
    "no file fsync": _no_file_sync,
    "no folder fsync": _no_folder_sync,
    "no expected-revision check": _no_expected_revision,
    "no post-image": _no_post_image,
    "done-mark first": _done_mark_first,
}


def main() -> None:
    root = Path(sys.argv[1])
    for breakage in sys.argv[2:]:
        BREAKAGES[breakage]()
    vault = open_vault(root)
    outcome = commit(vault, change_set())
    print("committed" if isinstance(outcome, Committed) else f"not committed: {outcome}", flush=True)


if __name__ == "__main__":
    main()
