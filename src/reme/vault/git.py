"""A commit in the person's own git repository for each change set, where they have asked for it.

Owns the calls of git. What it does never touches the vault's files, and its failures are news, not errors: the change
set is on disk already.
"""

import subprocess
from pathlib import Path

from reme.paths import VaultPath
from reme.vault.journal import Record

__all__ = ["record_in_git"]

_TIMEOUT_S = 30
_NO_PROGRAMS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false")
"""The repository's own settings shall not make us run anything."""
_BUSY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "index.lock")


def record_in_git(root: Path, record: Record) -> str:
    """Commit a change set's paths, and only these, whatever else is changed or staged.

    Run, actor and reason are trailers. The vault may be a folder of a larger repository. Paths that git ignores are
    left out. During a merge, rebase or the like nothing is committed.

    Returns:
        What went wrong, or the empty string.
    """
    try:
        folder = _git(root, "rev-parse", "--absolute-git-dir")
        if folder.returncode:
            return f"git.auto_commit is on, but {root} is in no git repository"
        busy = [name for name in _BUSY if (Path(folder.stdout.strip()) / name).exists()]
        if busy:
            return f"not committed to git: the repository is busy ({busy[0]})"
        paths = _tracked(root, record.paths)
        if not paths:
            return ""
        added = _git(root, "--literal-pathspecs", "add", "--all", "--", *paths)
        if added.returncode:
            return f"not committed to git: {_last_line(added.stderr)}"
        options = ("--quiet", "--only", "--no-verify", "--file=-")
        made = _git(root, "--literal-pathspecs", "commit", *options, "--", *paths, text=_message(record))
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"not committed to git: {error}"
    nothing = made.returncode == 1 and not made.stderr.strip()
    return f"not committed to git: {_last_line(made.stderr)}" if made.returncode and not nothing else ""


def _message(record: Record) -> str:
    trailers = {
        "ReMe-Run": record.run,
        "ReMe-Change-Set": record.id,
        "ReMe-Actor": f"{record.actor} ({record.role})",
        "ReMe-Reason": record.reason,
    }
    if record.undoes:
        trailers["ReMe-Undoes"] = record.undoes
    lines = [f"{key}: {' '.join(value.split())}" for key, value in trailers.items()]
    return "\n".join([" ".join(record.reason.split()) or "change", "", *lines, ""])


def _tracked(root: Path, paths: tuple[VaultPath, ...]) -> list[str]:
    """The paths that git does not ignore and that it has or can have."""
    ignored = _git(root, "check-ignore", "-z", "--stdin", text="\0".join(paths) + "\0").stdout.split("\0")
    known = set(_git(root, "--literal-pathspecs", "ls-files", "-z", "--", *paths).stdout.split("\0"))
    wanted = [path for path in paths if path not in ignored or path in known]
    return [path for path in wanted if path in known or (root / path).exists()]


def _git(root: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        ["git", "-C", str(root), *_NO_PROGRAMS, *arguments],  # noqa: S607
        input=text,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_TIMEOUT_S,
        check=False,
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["git gave no reason"])[-1]
