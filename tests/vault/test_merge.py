"""The three-way merge beside git's: both clean, they agree; and where git sees a conflict, ours does."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme.vault.merge import merge

ENDINGS = st.sampled_from([b"\n", b"\r\n"])


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """A base of lines that all differ, and two versions of it, each with lines taken out, changed and added."""
    ending = draw(ENDINGS)
    base = [f"第{n} line".encode() + ending for n in range(draw(st.integers(0, 12)))]
    changed = [b"".join(draw(_changed(base, side, ending))) for side in (b"ours", b"theirs")]
    return b"".join(base), *changed


@st.composite
def _changed(draw: st.DrawFn, base: list[bytes], side: bytes, ending: bytes) -> list[bytes]:
    lines: list[bytes] = []
    for number, line in enumerate([*base, b""]):
        match draw(st.sampled_from("kkkkkkdci")):
            case "d":
                continue
            case "c":
                lines.append(b"%b instead of %d%b" % (draw(st.sampled_from([side, b"both"])), number, ending))
            case "i":
                lines += [b"%b before %d%b" % (draw(st.sampled_from([side, b"both"])), number, ending), line]
            case _:
                lines.append(line)
    return lines


def by_git(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    folder = Path(tempfile.mkdtemp())
    try:
        for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
            (folder / name).write_bytes(data)
        command = ["git", "merge-file", "-p", "--quiet", "ours", "base", "theirs"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return done.stdout if done.returncode == 0 else None
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(not shutil.which("git"), reason="compares with git")
@given(versions())
@settings(max_examples=60)
def test_git_says_the_same(case: tuple[bytes, bytes, bytes]) -> None:
    base, ours, theirs = case
    both_added = ours.startswith(base) and theirs.startswith(base)
    if both_added and ours != base and theirs not in (base, ours):
        assert merge(base, ours, theirs) == theirs + ours[len(base) :]  # two appends, which git calls a conflict
        return
    merged, git = merge(base, ours, theirs), by_git(base, ours, theirs)
    if merged is not None and git is not None:
        assert merged == git
    if git is None and base != ours and base != theirs:
        added = any(side.startswith(base) and base and other for side, other in ((ours, theirs), (theirs, ours)))
        assert (merged is not None) == added


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"a\nb\n", b"a\nB\n", b"a\nb\n\nc\n", b"a\nB\n\nc\n"),
        (b"a\n\nb\n", b"a\n", b"a\n\nb\n\nc\n", b"a\n\nc\n"),
        ("甲\r\n".encode(), "甲\r\n丙\r\n".encode(), "乙\r\n".encode(), "乙\r\n丙\r\n".encode()),
        (b"a\nb\n", b"a\nB\nc\n", b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\nb", b"a\nB", b"a\nb\nc\n", None),
        (b"a\nb\n", b"", b"a\nb\nc\n", None),
    ],
)
def test_what_was_added_at_the_end_touches_nothing(
    base: bytes, ours: bytes, theirs: bytes, merged: bytes | None
) -> None:
    assert merge(base, ours, theirs) == merge(base, theirs, ours) == merged
