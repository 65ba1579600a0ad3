"""With git.auto_commit, each change set is a commit of its own paths; nothing else of the repository is touched."""

import shutil
import subprocess
from pathlib import Path

import pytest

from reme.revision import ABSENT, revision_of
from reme.vault import Committed, Layout, Move, Put, Vault, commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def identity(monkeypatch, tmp_path: Path) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "somebody@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def open_vault(root: Path, vault: Vault) -> Vault:
    return Vault(root, layout=Layout(), clock=vault.clock, git=True)


def test_one_commit_a_change_set_with_its_own_paths_only(vault, edits) -> None:
    root = vault.root
    git(root, "init", "-q")
    (root / "staged.md").write_text("staged by the person")
    (root / "dirty.md").write_text("not even added")
    git(root, "add", "staged.md")
    ours = open_vault(root, vault)
    (root / "笔记").mkdir()
    (root / "笔记" / "*.md").write_bytes(b"0")
    commit(ours, edits(Put("笔记/*.md", b"1", revision_of(b"0")), Put("b.md", b"b", ABSENT)))
    commit(ours, edits(Move("b.md", "c.md", revision_of(b"b")), run="run-2"))
    assert ours.notices == []
    assert git(root, "log", "--format=%s").splitlines() == ["because", "because"]
    body = git(root, "log", "-1", "--format=%B")
    assert "ReMe-Run: run-2" in body
    assert "ReMe-Actor: test (person)" in body
    assert f"ReMe-Reason: {body.splitlines()[0]}" in body
    assert set(git(root, "ls-tree", "-rz", "--name-only", "HEAD").split("\0")) == {"笔记/*.md", "c.md", ""}
    assert git(root, "diff", "--cached", "--name-only").split() == ["staged.md"]
    assert "dirty.md" in git(root, "status", "--porcelain")


def test_a_vault_inside_a_larger_repository(vault, edits) -> None:
    outer = vault.root
    git(outer, "init", "-q")
    (outer / "outer.txt").write_text("o")
    (outer / ".gitignore").write_text("secret.md\n")
    inner = outer / "notes"
    inner.mkdir()
    ours = open_vault(inner, vault)
    commit(ours, edits(Put("a.md", b"a", ABSENT), Put("secret.md", b"s", ABSENT)))
    assert ours.notices == []
    assert git(outer, "ls-tree", "-r", "--name-only", "HEAD").split() == ["notes/a.md"]


def test_what_git_cannot_do_is_news_and_no_error(vault, edits) -> None:
    ours = open_vault(vault.root, vault)
    assert isinstance(commit(ours, edits(Put("a.md", b"a", ABSENT))), Committed)
    assert "in no git repository" in ours.notices[0]
    git(vault.root, "init", "-q")
    (vault.root / ".git/MERGE_HEAD").write_text("0" * 40)
    commit(ours, edits(Put("b.md", b"b", ABSENT)))
    assert "busy (MERGE_HEAD)" in ours.notices[1]
