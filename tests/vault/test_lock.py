"""The vault's lock: one holder at a time, nobody waits for ever, everyone gets a turn."""

import sys
import threading
import time
from pathlib import Path

import pytest

from reme.errors import Unavailable
from reme.vault.lock import FileLock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks at the lock files as POSIX does")


def taken(path: Path) -> bool:
    """Whether someone holds an advisory lock on a file."""
    import fcntl

    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_who_comes_back_at_once_lets_the_waiting_go_first(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    mine, other = FileLock(path, timeout=60), FileLock(path, timeout=60)
    order: list[str] = []

    def once() -> None:
        with other:
            order.append("waiting")

    waiter = threading.Thread(target=once)
    with mine:
        waiter.start()
        while not taken(tmp_path / "lock.turn"):
            time.sleep(0.001)
    with mine:
        order.append("back at once")
    waiter.join()
    assert order == ["waiting", "back at once"]
    mine.close()
    other.close()


def test_who_gives_up_leaves_the_turn_to_others(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder, impatient, patient = FileLock(path, timeout=60), FileLock(path, timeout=0.01), FileLock(path, timeout=60)
    with holder:
        with pytest.raises(Unavailable, match="has held the vault's lock for"), impatient:
            pass
        assert not taken(tmp_path / "lock.turn")
    with patient, patient:
        assert taken(path)
        assert not taken(tmp_path / "lock.turn")
    assert not taken(path)
    for lock in (holder, impatient, patient):
        lock.close()


def test_threads_of_one_process_exclude_one_another(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", timeout=60)
    inside: list[int] = []

    def enter() -> None:
        for _ in range(20):
            with lock:
                inside.append(lock.depth)
                time.sleep(0)
                inside.append(-lock.depth)

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside == [1, -1] * 80
    lock.close()
