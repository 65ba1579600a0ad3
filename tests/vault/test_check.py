"""What ``check`` foresees is what ``commit`` does, for any set of edits, and it writes nothing."""

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from reme.clock import Clock
from reme.errors import ReMeError
from reme.paths import VaultPath
from reme.revision import ABSENT, Revision, revision_of
from reme.vault import (
    Amend,
    Append,
    ChangeSet,
    Committed,
    Edit,
    Layout,
    Move,
    Outcome,
    Put,
    Remove,
    Split,
    Vault,
    check,
    commit,
)

PATHS = [
    VaultPath(path)
    for path in (
        "a.md", "notes/b.md", "notes/c.md", "daily/2026-05-15/e.md", "digest/wiki/n.md", "digest/wiki/neu.md",
        "resource/2026-05-15/r.txt", "resource/2026-05-15/r.txt.meta.yaml", "session/dialog/s.jsonl",
        "audit/ledger.jsonl", "reme.yaml", "inner/x.md", "a.md/below.md", "notes", "bad?.md", "folder /x.md", "con.md",
        "l" * 300 + ".md",
    )
]  # fmt: skip
TEXTS = [
    b"",
    b"one\n",
    b"one\n\ntwo [[notes/b]]\n",
    b"one\n\ntwo [[notes/c]]\n",
    "源:: [[daily/2026-05-15/e.md]]\n\n一\n".encode(),
    "源:: [[daily/2026-05-15/e.md]]\n".encode(),
]
LAWS = st.frozensets(st.sampled_from(["keep-links", "keep-words", "cite-source"]), max_size=2)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[dict[VaultPath, bytes], ChangeSet]:
    """Files, and a set of edits of which some fit them."""
    present = [path for path in PATHS[:12] if path != "inner/x.md"]
    files = draw(st.dictionaries(st.sampled_from(present), st.sampled_from(TEXTS), max_size=6))
    edits = draw(st.lists(_edit(files), min_size=1, max_size=4))
    splits = draw(st.just(()) | st.just((Split(PATHS[0], (PATHS[1], PATHS[2])),)))
    role = draw(st.sampled_from(["agent", "curator", "person", "system"]))
    undoes = draw(st.sampled_from([None, None, None, "run-0"]))
    return files, ChangeSet(tuple(edits), role, "test", "because", "run-1", undoes, splits)


@st.composite
def _edit(draw: st.DrawFn, files: dict[VaultPath, bytes]) -> Edit:
    path = draw(st.sampled_from(PATHS) | (st.sampled_from(sorted(files)) if files else st.nothing()))
    right = revision_of(files.get(path))
    expects = draw(st.sampled_from([right, right, right, ABSENT, Revision("0" * 32)]))
    text = draw(st.sampled_from(TEXTS))
    match draw(st.integers(0, 5)):
        case 0:
            base = draw(st.sampled_from([None, *TEXTS]))
            return Put(path, text, expects, draw(LAWS), base=base)
        case 1:
            return Put(path, text, expects, retarget=True)
        case 2:
            return Amend(path, lambda data: (data or b"") + text, draw(LAWS))
        case 3:
            size = len(files.get(path, b""))
            return Append(path, text, draw(st.sampled_from([None, size, size + 1])))
        case 4:
            return Move(path, draw(st.sampled_from(PATHS)), expects, draw(st.sampled_from([None, text])))
        case _:
            return Remove(path, expects)


@given(scenes())
def test_what_is_foreseen_comes_to_be(scene: tuple[dict[VaultPath, bytes], ChangeSet]) -> None:
    files, change_set = scene
    root = Path(tempfile.mkdtemp())
    clock = Clock(ZoneInfo("UTC"), lambda: datetime(2026, 5, 15, 12, 30, tzinfo=UTC))
    vault = Vault(root, layout=Layout(), clock=clock)
    try:
        for path, data in (*files.items(), ("inner/.reme/lock", b""), ("notes/keep.md", b"")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        before = _everything(root)
        foreseen = _verdict(lambda: check(vault, change_set))
        assert _everything(root) == before
        assert _verdict(lambda: commit(vault, change_set)) == foreseen
        if foreseen[0] is not Committed:
            assert _everything(root) == before
    finally:
        vault.close()
        shutil.rmtree(root)


def _verdict(work) -> tuple[type, object]:
    try:
        outcome: Outcome = work()
    except ReMeError as error:
        return type(error), (error.message, error.details)
    return type(outcome), outcome.revisions if hasattr(outcome, "revisions") else outcome


def _everything(root: Path) -> dict[str, bytes]:
    """Every file, of the machinery too, but for the lock."""
    files = (p for p in root.rglob("*") if p.is_file() and not p.relative_to(root).as_posix().startswith(".reme/lock"))
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}
