"""What a change set may do, what it refuses, and that it does all or nothing."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reme.errors import InvalidInput, NotFound, Refused, Unavailable
from reme.revision import ABSENT, revision_of
from reme.vault import (
    Amend,
    Append,
    ChangeSet,
    Committed,
    Conflicted,
    Layout,
    Move,
    Put,
    Remove,
    Split,
    Unchanged,
    Vault,
    commit,
    history,
    locked,
)
from reme.vault import carry as carrying

from .scenario import tree


def put(vault: Vault, path: str, data: bytes) -> None:
    place = vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def test_create_is_exclusive(vault, edits) -> None:
    outcome = commit(vault, edits(Put("a.md", b"one", ABSENT)))
    assert isinstance(outcome, Committed)
    assert outcome.revisions == {"a.md": revision_of(b"one")}
    assert commit(vault, edits(Put("a.md", b"two", ABSENT))) == Conflicted({"a.md": revision_of(b"one")})
    assert tree(vault.root) == {"a.md": b"one"}


def test_the_same_bytes_change_nothing(vault, edits) -> None:
    put(vault, "笔记.md", "内容".encode())
    before = (vault.root / "笔记.md").stat()
    outcome = commit(vault, edits(Put("笔记.md", "内容".encode(), revision_of("内容".encode()))))
    assert outcome == Unchanged({"笔记.md": revision_of("内容".encode())})
    assert (vault.root / "笔记.md").stat().st_mtime_ns == before.st_mtime_ns
    assert history(vault) == []


def test_one_conflict_stops_all_edits(vault, edits) -> None:
    put(vault, "a.md", b"a")
    outcome = commit(vault, edits(Put("new.md", b"n", ABSENT), Remove("a.md", revision_of(b"b"))))
    assert outcome == Conflicted({"a.md": revision_of(b"a")})
    assert tree(vault.root) == {"a.md": b"a"}


def test_what_others_wrote_meanwhile_is_merged_where_it_does_not_touch(vault, edits) -> None:
    base = "# 计划\r\n\r\n一\r\n\r\n二\r\n".encode()
    put(vault, "a.md", base + "三\r\n".encode())
    mine = base.replace("一".encode(), "壹".encode())
    assert isinstance(commit(vault, edits(Put("a.md", mine, revision_of(base), base=base))), Committed)
    assert vault.read("a.md").data == mine + "三\r\n".encode()
    overlapping = edits(Put("a.md", base.replace("一".encode(), b"1"), revision_of(base), base=base))
    assert isinstance(commit(vault, overlapping), Conflicted)


def test_amend_sees_the_present_bytes(vault, edits) -> None:
    commit(vault, edits(Amend("day.md", lambda old: (old or b"") + b"1")))
    commit(vault, edits(Amend("day.md", lambda old: (old or b"") + b"2")))
    assert vault.read("day.md").data == b"12"


def test_append_adds_at_the_end_and_creates(vault, edits) -> None:
    commit(vault, edits(Append("log.jsonl", b"1\n")))
    commit(vault, edits(Append("log.jsonl", b"2\n", offset=2)))
    assert commit(vault, edits(Append("log.jsonl", b"3\n", offset=2))) == Conflicted(
        {"log.jsonl": revision_of(b"1\n2\n")}
    )
    assert vault.read("log.jsonl").data == b"1\n2\n"


def test_a_move_keeps_the_file_itself(vault, edits) -> None:
    put(vault, "a.md", b"a")
    inode = (vault.root / "a.md").stat().st_ino
    commit(vault, edits(Move("a.md", "新/b.md", revision_of(b"a"))))
    assert (vault.root / "新/b.md").stat().st_ino == inode
    put(vault, "c.md", b"c")
    assert commit(vault, edits(Move("c.md", "新/b.md", revision_of(b"c")))) == Conflicted(
        {"新/b.md": revision_of(b"a")}
    )
    commit(vault, edits(Move("c.md", "d.md", revision_of(b"c"), data=b"changed")))
    assert tree(vault.root) == {"新/b.md": b"a", "d.md": b"changed"}


def test_permissions_survive_an_edit(vault, edits) -> None:
    put(vault, "a.md", b"a")
    (vault.root / "a.md").chmod(0o640)
    commit(vault, edits(Put("a.md", b"b", revision_of(b"a"))))
    assert (vault.root / "a.md").stat().st_mode & 0o777 == 0o640


def test_two_edits_of_one_path_are_refused(vault, edits) -> None:
    with pytest.raises(InvalidInput, match=r"a\.md more than once"):
        commit(vault, edits(Put("a.md", b"1", ABSENT), Append("a.md", b"2")))


def test_a_file_is_no_folder(vault, edits) -> None:
    put(vault, "a.md", b"a")
    with pytest.raises(InvalidInput, match=r"a\.md is a file"):
        commit(vault, edits(Put("a.md/b.md", b"b", ABSENT)))
    with pytest.raises(InvalidInput, match="too long"):
        commit(vault, edits(Put("x" * 300 + ".md", b"b", ABSENT)))
    assert tree(vault.root) == {"a.md": b"a"}


def test_another_unicode_form_is_the_same_file(vault, edits) -> None:
    put(vault, "cafe\u0301.md", b"old")
    commit(vault, edits(Put("caf\u00e9.md", b"new", revision_of(b"old"))))
    assert tree(vault.root) == {"cafe\u0301.md": b"new"}
    assert [stat.path for stat in vault.scan().files] == ["caf\u00e9.md"]


def test_a_symlink_is_not_followed(vault, edits, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_bytes(b"secret")
    (vault.root / "link").symlink_to(outside)
    (vault.root / "x.md").symlink_to(outside / "x.md")
    for path in ("link/x.md", "x.md"):
        with pytest.raises(Refused, match="symlink"):
            vault.read(path)
        with pytest.raises(Refused, match="symlink"):
            commit(vault, edits(Put(path, b"overwritten", revision_of(b"secret"))))
    assert (outside / "x.md").read_bytes() == b"secret"
    assert {path for path, _ in vault.scan().skipped} == {"link", "x.md"}


# Roles


@pytest.mark.parametrize(
    ("role", "path", "allowed"),
    [
        ("agent", "daily/2026-05-15/a.md", True),
        ("agent", "notes/a.md", True),
        ("agent", "digest/wiki/a.md", False),
        ("agent", "audit/x.md", False),
        ("agent", "Digest/wiki/a.md", False),
        ("agent", "AUDIT/ledger.jsonl", False),
        ("agent", "Resource/新.txt", False),
        ("agent", "digests/a.md", True),
        ("agent", "resource/2026-05-15/new.txt", False),
        ("agent", "resource/2026-05-15/new.txt.meta.yaml", False),
        ("person", "resource/2026-05-15/new.txt", True),
        ("system", "resource/2026-05-15/new.txt", True),
        ("curator", "digest/wiki/a.md", True),
        ("curator", "daily/2026-05-15/a.md", False),
        ("person", "digest/wiki/a.md", True),
        ("system", "digest/wiki/a.md", True),
        ("system", "notes/a.md", False),
    ],
)
def test_roles(vault, edits, role, path, allowed) -> None:
    if allowed:
        assert isinstance(commit(vault, edits(Put(path, b"x", ABSENT), role=role)), Committed)
    else:
        with pytest.raises(Refused, match=f"the role '{role}' may not create {path}"):
            commit(vault, edits(Put(path, b"x", ABSENT), role=role))
        assert tree(vault.root) == {}


def test_notes_of_a_persons_own_can_be_closed_to_agents(vault, edits) -> None:
    vault = Vault(vault.root, layout=Layout(), clock=vault.clock, agents_write_notes=False)
    with pytest.raises(Refused, match="its right to the other layer is to read") as refused:
        commit(vault, edits(Put("notes/茶.md", b"x", ABSENT), role="agent"))
    assert refused.value.hint.startswith("agent may write daily and add to resource; other may be written as person.")
    assert isinstance(commit(vault, edits(Put("daily/2026-05-15/茶.md", b"x", ABSENT), role="agent")), Committed)
    assert isinstance(commit(vault, edits(Put("notes/茶.md", b"x", ABSENT))), Committed)
    vault.close()


def test_a_resource_that_an_agent_adds_comes_with_the_record_of_where_it_is_from(vault, edits) -> None:
    added = Put("resource/2026-05-15/网页.txt", b"raw", ABSENT)
    for beside in (Append("resource/2026-05-15/other.txt.meta.yaml", b"- at: now\n"), Put("n.md", b"n", ABSENT)):
        with pytest.raises(Refused, match="comes by upload"):
            commit(vault, edits(added, beside, role="agent"))
    assert tree(vault.root) == {}
    record = Append("resource/2026-05-15/网页.txt.meta.yaml", b"- at: now\n")
    assert isinstance(commit(vault, edits(added, record, role="agent")), Committed)


def test_a_resource_never_changes_however_its_folder_is_spelled(vault, edits) -> None:
    put(vault, "Resource/a.txt", b"raw")
    with pytest.raises(Refused, match="is a resource"):
        commit(vault, edits(Put("Resource/a.txt", b"cooked", revision_of(b"raw"))))


@pytest.mark.parametrize("role", ["agent", "person", "system"])
def test_a_resource_never_changes(vault, edits, role) -> None:
    put(vault, "resource/a.txt", b"raw")
    raw = revision_of(b"raw")
    for edit in (
        Put("resource/a.txt", b"cooked", raw),
        Put("resource/a.txt", b"cooked", raw, retarget=True),
        Append("resource/a.txt", b"more"),
        Remove("resource/a.txt", raw),
        Move("resource/a.txt", "resource/b.txt", raw),
    ):
        with pytest.raises(Refused, match="is a resource"):
            commit(vault, edits(edit, role=role))
    commit(vault, edits(Append("resource/a.txt.meta.yaml", b"seen: 1\n"), role=role))
    commit(vault, edits(Append("resource/a.txt.meta.yaml", b"seen: 2\n"), role=role))
    assert tree(vault.root) == {"resource/a.txt": b"raw", "resource/a.txt.meta.yaml": b"seen: 1\nseen: 2\n"}


# Laws

NODE = """# JWT

- Keys rotate monthly. — [[daily/2026-05-01/jwt.md]]

轮换需要两个人。

part_of:: [[digest/wiki/auth.md]]
"""


def law_put(data: str, *laws: str, old: str = NODE) -> Put:
    return Put("digest/wiki/jwt.md", data.encode(), revision_of(old.encode()), frozenset(laws))


@pytest.mark.parametrize(
    ("law", "post"),
    [
        ("keep-links", NODE.replace("part_of:: ", "")),
        ("keep-links", NODE.replace("[[daily/2026-05-01/jwt.md]]", "")),
        ("keep-words", NODE.replace("轮换需要两个人。", "")),
        ("keep-words", NODE.replace("monthly", "weekly")),
        ("cite-source", NODE.replace("daily/2026-05-01", "digest/wiki")),
    ],
)
def test_a_law_is_held_to(vault, edits, law, post) -> None:
    put(vault, "digest/wiki/jwt.md", NODE.encode())
    with pytest.raises(Refused) as refusal:
        commit(vault, edits(law_put(post, law), role="system"))
    assert refusal.value.details["rule"] == law
    assert tree(vault.root) == {"digest/wiki/jwt.md": NODE.encode()}


def test_additions_and_callouts_keep_the_laws(vault, edits) -> None:
    put(vault, "digest/wiki/jwt.md", NODE.encode())
    post = NODE.replace(
        "- Keys rotate monthly. — [[daily/2026-05-01/jwt.md]]\n",
        "- Keys rotate weekly. — [[daily/2026-05-15/jwt.md]]\n"
        "  > [!superseded] Keys rotate monthly. (until 2026-05-15) — [[daily/2026-05-01/jwt.md]]\n",
    ).replace("轮换需要两个人。", "轮换需要两个人。\n\n另见 [[daily/2026-05-15/jwt.md|笔记]]。")
    laws = ("keep-links", "cite-source")
    assert isinstance(commit(vault, edits(law_put(post, *laws), role="system")), Committed)


def test_keep_links_follows_the_sets_own_moves(vault, edits) -> None:
    put(vault, "digest/wiki/jwt.md", NODE.encode())
    put(vault, "digest/wiki/auth.md", b"auth")
    post = NODE.replace("digest/wiki/auth.md", "digest/wiki/authentication.md")
    move = Move("digest/wiki/auth.md", "digest/wiki/authentication.md", revision_of(b"auth"))
    assert isinstance(commit(vault, edits(move, law_put(post, "keep-links"), role="system")), Committed)


def test_a_retarget_changes_targets_alone(vault, edits) -> None:
    put(vault, "digest/wiki/jwt.md", NODE.encode())
    old = revision_of(NODE.encode())
    moved = NODE.replace("digest/wiki/auth.md", "digest/wiki/login.md").encode()
    more = moved.replace(b"monthly", b"daily")
    with pytest.raises(Refused, match="more than link targets"):
        commit(vault, edits(Put("digest/wiki/jwt.md", more, old, retarget=True), role="agent"))
    outcome = commit(vault, edits(Put("digest/wiki/jwt.md", moved, old, retarget=True), role="agent"))
    assert isinstance(outcome, Committed)


def test_a_retarget_may_need_quotes_in_yaml(vault, edits) -> None:
    old = "---\nup: see [[Plan]] 好\nn: 1\n---\n[[Plan]]\n".encode()
    put(vault, "digest/wiki/a.md", old)
    new = "---\nup: 'see [[a, b: c]] 好'\nn: 1\n---\n[[a, b: c]]\n".encode()
    cheat = Put("digest/wiki/a.md", new.replace(b"n: 1", b"n: 2"), revision_of(old), retarget=True)
    with pytest.raises(Refused, match="more than link targets"):
        commit(vault, edits(cheat, role="agent"))
    honest = Put("digest/wiki/a.md", new, revision_of(old), retarget=True)
    assert isinstance(commit(vault, edits(honest, role="agent")), Committed)


def test_a_split_keeps_the_links_jointly(vault, edits) -> None:
    put(vault, "digest/wiki/jwt.md", NODE.encode())
    old = revision_of(NODE.encode())
    overview = Put("digest/wiki/jwt.md", b"# JWT\n\npart_of:: [[digest/wiki/auth.md]]\n", old)

    def attempt(child: bytes):
        parts = ("digest/wiki/jwt.md", "digest/wiki/jwt-keys.md")
        edit = Put("digest/wiki/jwt-keys.md", child, ABSENT)
        splits = (Split("digest/wiki/jwt.md", parts),)
        return commit(vault, ChangeSet((overview, edit), "system", "test", "split", "r", splits=splits))

    with pytest.raises(Refused, match="daily/2026-05-01/jwt"):
        attempt(b"- Keys rotate.\n")
    assert isinstance(attempt(b"- Keys rotate. [[daily/2026-05-01/jwt.md]]\n"), Committed)


# Faults


def test_a_full_disk_changes_nothing(vault, tmp_path: Path, edits, request) -> None:
    disk = tmp_path / "small"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    request.addfinalizer(lambda: subprocess.run(["umount", str(disk)], check=True))
    vault = Vault(disk, layout=Layout(), clock=vault.clock, state_dir=tmp_path / "state")
    put(vault, "a.md", b"a")
    big = os.urandom(300_000)
    with pytest.raises(Unavailable, match="the disk is full"):
        commit(vault, edits(Put("a.md", b"b", revision_of(b"a")), Put("sub/big.bin", big, ABSENT)))
    assert tree(disk) == {"a.md": b"a"}
    assert not (disk / "sub").exists()
    assert isinstance(commit(vault, edits(Put("a.md", b"b", revision_of(b"a")))), Committed)


@pytest.mark.parametrize("failing", range(1, 7))
def test_a_failing_rename_takes_everything_back(vault, edits, monkeypatch, failing) -> None:
    put(vault, "a.md", b"a")
    put(vault, "b.md", b"b")
    put(vault, "c.md", b"c")
    put(vault, "log", b"1")
    before = tree(vault.root)
    change, calls = carrying._change, 0

    def fail_once(*args, **options) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(errno.EIO, "Input/output error")
        change(*args, **options)

    monkeypatch.setattr(carrying, "_change", fail_once)
    one_of_each = edits(
        Put("a.md", b"A", revision_of(b"a")),
        Remove("b.md", revision_of(b"b")),
        Move("c.md", "new/d.md", revision_of(b"c")),
        Append("log", b"2"),
        Put("new/e.md", b"e", ABSENT),
        Put("f.md", b"f", ABSENT),
    )
    with pytest.raises(Unavailable, match="Input/output error"):
        commit(vault, one_of_each)
    assert tree(vault.root) == before
    assert not (vault.root / "new").exists()
    assert vault.journal.pending() is None
    assert isinstance(commit(vault, one_of_each), Committed)


def test_a_read_only_vault(vault, edits, monkeypatch) -> None:
    put(vault, "a.md", b"a")

    def refuse(*args, **options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(Unavailable, match="Read-only file system"):
        commit(vault, edits(Put("b.md", b"b", ABSENT)))
    assert vault.read("a.md").data == b"a"


def test_a_locked_vault(vault, edits) -> None:
    impatient = Vault(vault.root, layout=Layout(), clock=vault.clock, lock_timeout=0.1)
    with locked(vault), pytest.raises(Unavailable, match="another process has held the vault's lock"):
        commit(impatient, edits(Put("a.md", b"a", ABSENT)))
    assert isinstance(commit(impatient, edits(Put("a.md", b"a", ABSENT))), Committed)


def test_bytes_written_in_the_very_moment_are_kept(vault, edits, monkeypatch) -> None:
    put(vault, "a.md", b"mine")
    change = carrying._change

    def meddle(vault_, staged, step, **options) -> None:
        if step.path == "a.md":
            put(vault, "a.md", "别人刚写的".encode())
        change(vault_, staged, step, **options)

    monkeypatch.setattr(carrying, "_change", meddle)
    outcome = commit(vault, edits(Put("a.md", b"ours", revision_of(b"mine"))))
    assert isinstance(outcome, Committed)
    (copy,) = outcome.conflict_copies
    assert vault.read(copy).data == "别人刚写的".encode()
    assert vault.read("a.md").data == b"ours"
    assert b'"kind": "conflict-copy"' in vault.read("audit/ledger.jsonl").data


def test_appends_rejoin_an_editor_that_saves_in_the_very_moment(vault, edits, monkeypatch) -> None:
    put(vault, "a.md", b"0\n")
    change, meddled = carrying._change, []

    def meddle(vault_, staged, step, **options) -> None:
        if step.path == "a.md" and not meddled:
            meddled.append(step)
            put(vault, "a.md", "0\n编辑器\n".encode())
        change(vault_, staged, step, **options)

    monkeypatch.setattr(carrying, "_change", meddle)
    outcome = commit(vault, edits(Amend("a.md", lambda data: (data or b"") + b"1\n")))
    assert isinstance(outcome, Committed)
    assert outcome.conflict_copies == ()
    assert vault.read("a.md").data == "0\n编辑器\n1\n".encode()
    assert outcome.revisions["a.md"] == vault.read("a.md").revision
    assert set(tree(vault.root)) == {"a.md", "audit/ledger.jsonl"}


def test_the_settings_are_a_persons(vault, edits) -> None:
    put(vault, "reme.yaml", b"vault: {}\n")
    for role in ("agent", "curator", "system"):
        with pytest.raises(Refused, match="the vault's settings"):
            commit(vault, edits(Put("reme.yaml", b"folders: {}", revision_of(b"vault: {}\n")), role=role))
        with pytest.raises(Refused, match="the vault's settings"):  # some disks take the two for one
            commit(vault, edits(Put("ReMe.yaml", b"folders: {}", ABSENT), role=role))
    assert isinstance(commit(vault, edits(Remove("reme.yaml", revision_of(b"vault: {}\n")))), Committed)


def test_a_nested_vault_is_its_own(vault, edits) -> None:
    put(vault, "inner/.reme/lock", b"")
    put(vault, "inner/a.md", b"a")
    with pytest.raises(Refused, match="belongs to another vault, inner"):
        commit(vault, edits(Append("inner/a.md", b"b")))
    with pytest.raises(Refused, match="belongs to another vault"):
        commit(vault, edits(Put("inner/sub/new.md", b"b", ABSENT)))


def test_a_file_somebody_wrote_after_the_crash_is_left_alone(vault, edits, monkeypatch) -> None:
    put(vault, "a.md", b"a")
    put(vault, "b.md", b"b")
    change = carrying._change

    def die(vault_, staged, step, **options) -> None:
        if step.path == "b.md":
            raise KeyboardInterrupt
        change(vault_, staged, step, **options)

    monkeypatch.setattr(carrying, "_change", die)
    with pytest.raises(KeyboardInterrupt):
        commit(vault, edits(Put("a.md", b"A", revision_of(b"a")), Put("b.md", b"B", revision_of(b"b"))))
    monkeypatch.undo()
    put(vault, "a.md", b"written by hand after the crash")
    with locked(vault):
        pass
    assert vault.read("a.md").data == b"written by hand after the crash"
    assert vault.read("b.md").data == b"B"
    assert b'"left": ["a.md"]' in vault.read("audit/ledger.jsonl").data


def test_many_writers_lose_nothing(vault) -> None:
    code = (
        "import sys, pathlib; from tests.vault.scenario import *; from reme.vault import Amend;"
        "v = open_vault(pathlib.Path(sys.argv[1]));"
        "[commit(v, ChangeSet((Amend('day.md', lambda d, n=n: (d or b'') + f'{sys.argv[2]}.{n}\\n'.encode()),"
        " Append('log', f'{sys.argv[2]}.{n}\\n'.encode())), 'person', 't', 't', 'r')) for n in range(25)]"
    )
    root = Path(__file__).parents[2]
    workers = [subprocess.Popen([sys.executable, "-c", code, str(vault.root), str(w)], cwd=root) for w in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    expected = sorted(f"{w}.{n}" for w in range(4) for n in range(25))
    assert sorted(vault.read("day.md").data.decode().split()) == expected
    assert sorted(vault.read("log").data.decode().split()) == expected


def test_threads_share_one_vault(vault, edits) -> None:
    def write() -> None:
        for n in range(10):
            commit(vault, edits(Amend("day.md", lambda old, n=n: (old or b"") + f"{n}\n".encode())))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(vault.read("day.md").data.split()) == 40


def test_reading_what_is_not_there(vault) -> None:
    with pytest.raises(NotFound, match=r"there is no file a\.md"):
        vault.read("a.md")
    (vault.root / "folder").mkdir()
    with pytest.raises(InvalidInput, match="is a folder"):
        vault.read("folder")


def test_what_belongs_to_the_vault(vault) -> None:
    for path in ("a.md", "..hidden.md", "家庭/👨‍👩‍👧.md", "v1..2/n.md", "B: plan.md", "100% #1?.md"):
        put(vault, path, b"x")
    for path in (
        "reme.yaml",
        ".hidden.md",
        ".obsidian/app.json",
        "a.md~",
        "~$b.docx",
        "c.tmp",
        "nested/.reme/x",
        "nested/n.md",
    ):
        put(vault, path, b"x")
    put(vault, "back\\slash.md", b"x")
    os.mkfifo(vault.root / "pipe.md")
    (vault.root / ".remeignore").write_text("ignored/\n*.log\n", encoding="utf-8")
    put(vault, "ignored/i.md", b"x")
    put(vault, "x.log", b"x")
    scan = vault.scan()
    found = {stat.path for stat in scan.files}
    assert found == {"a.md", "..hidden.md", "家庭/👨‍👩‍👧.md", "v1..2/n.md", "B: plan.md", "100% #1?.md"}
    assert {path for path, _ in scan.skipped} == {"nested", "back\\slash.md", "pipe.md"}
    assert all(vault.read(path).data == b"x" for path in found)
