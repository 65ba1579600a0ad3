"""One projector at a time, whatever happens to the processes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reme.index import Index, open_index, refresh, wait
from reme.models import is_installed
from reme.runtime import Lease, LeaseLost, holder
from reme.vault import Layout
from tests.conftest import ROOT
from tests.index.place import Place, holding
from tests.runtime.watched import letters, until


class Process:
    """A projector in another process, and what it has told."""

    def __init__(self, root: Path, expiry: float, embedder: str = "none") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.runtime.process", str(root), str(expiry), embedder],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())

    @property
    def leases(self) -> list[str]:
        return [line for line in self.lines if line.startswith("lease") and line != "lease 0"]

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self, number: int = signal.SIGKILL) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        code = self.process.wait(20)
        self._reader.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@contextmanager
def processes(root: Path, count: int, expiry: float = 60.0, embedder: str = "none") -> Iterator[list[Process]]:
    started = [Process(root, expiry, embedder) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.end()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "vault")
    yield made
    made.close()


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def lease(place: Place, time: Time, index: Index | None = None) -> Lease:
    return Lease(place.vault.state_dir, index or place.index, new_id=place.vault.new_id, expiry=10.0, monotonic=time)


def test_one_holds_it_until_it_gives_it_up(place: Place) -> None:
    time = Time()
    first, second = lease(place, time), lease(place, time)
    assert holder(place.vault.state_dir) is None
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    assert second.epoch == 0
    assert first.beat({"pending": 3})
    found = holder(place.vault.state_dir)
    assert found is not None
    assert (found.epoch, found.pid, found.report) == (1, os.getpid(), {"pending": 3})
    assert found.beat == pytest.approx((place.vault.state_dir / "projector.1.lock").stat().st_mtime)
    first.release()
    first.release()
    assert holder(place.vault.state_dir) is None
    assert second.acquire()
    assert second.epoch == 2
    assert [file.name for file in place.vault.state_dir.glob("projector.*.lock")] == ["projector.2.lock"]
    second.release()


def test_who_shows_no_life_is_replaced_and_cannot_write_any_more(place: Place) -> None:
    time = Time()
    first, second = lease(place, time), lease(place, time)
    assert first.acquire()
    assert not second.acquire()
    time.now += 9
    assert not second.acquire()
    first.beat({})
    time.now += 9
    assert not second.acquire()
    time.now += 9
    assert not second.acquire()
    time.now += 2
    index = place.index.guarded(first.check)
    with index.writing(settle=True):
        pass
    assert second.acquire()
    place.write("a.md", "pear")
    before = place.index.dump()
    with pytest.raises(LeaseLost):
        refresh(index, place.vault)
    assert place.index.dump() == before
    with pytest.raises(LeaseLost):
        first.beat({})
    first.release()
    second.check()
    refresh(place.index.guarded(second.check), place.vault)
    assert place.index.status().notes == 1
    second.release()


def test_it_is_not_taken_in_the_middle_of_a_transaction(place: Place) -> None:
    time = Time()
    other = open_index(place.store, Layout(), timeout=0.05)
    first, second = lease(place, time), lease(place, time, other)
    assert first.acquire()
    assert not second.acquire()
    time.now += 20
    with place.index.writing(settle=False):
        first.check()
        assert not second.acquire()
    first.check()
    assert second.acquire()
    second.release()
    other.close()


def test_a_lost_record_means_a_lost_lease(place: Place) -> None:
    first = lease(place, Time())
    assert first.acquire()
    (place.vault.state_dir / "projector.json").unlink()
    with pytest.raises(LeaseLost):
        first.check()
    assert first.acquire()
    (place.vault.state_dir / "projector.json").write_text("{")
    assert holder(place.vault.state_dir) is None
    first.release()


def test_a_process_ends_at_once_when_it_is_told_to(place: Place) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with processes(place.root, 1) as [process]:
            until(lambda process=process: process.leases)
            began = time.monotonic()
            assert process.end(number) == 0
            assert time.monotonic() - began < 3
            assert holder(place.vault.state_dir) is None


def test_a_stalled_holder_is_replaced_and_writes_nothing_afterwards(place: Place) -> None:
    with processes(place.root, 2, expiry=1.5) as both:
        until(lambda: any(process.leases for process in both))
        stalled = next(process for process in both if process.leases)
        other = next(process for process in both if process is not stalled)
        for number in range(20):
            place.write(f"{number}.md", letters(number))
        stalled.send(signal.SIGSTOP)
        until(lambda: other.leases)
        place.write("late.md", "pear")
        assert not wait(place.vault, place.index, 20)
        told = len(stalled.lines)
        stalled.send(signal.SIGCONT)
        for number in range(10):
            place.write(f"{number}.md", f"plum {letters(number)}")
            time.sleep(0.05)
        assert not wait(place.vault, place.index, 20)
        assert [line for line in stalled.lines[told:] if line == "wrote"] == []
        found = holder(place.vault.state_dir)
        assert found is not None
        assert found.pid == other.process.pid
    assert_equals_rebuilt(place)


def test_b43_readers_never_meet_an_error(place: Place) -> None:
    read_while_writing(place, 3)


@pytest.mark.slow
def test_b43_readers_never_meet_an_error_for_a_minute(place: Place) -> None:
    read_while_writing(place, 60)


def read_while_writing(place: Place, seconds: float) -> None:
    """Two readers with an index each, while files change and another process projects them."""
    stop = threading.Event()
    errors: list[Exception] = []
    reads = [0, 0]

    def read(number: int) -> None:
        index = open_index(place.store, Layout())
        try:
            while not stop.is_set():
                with index.snapshot():
                    notes = index.notes()
                    assert index.status().notes == len(notes)
                    for key in holding(index, *index.terms("pear"), limit=5):
                        assert key in index.chunks([key])
                reads[number] += 1
        except Exception as error:
            errors.append(error)
        finally:
            index.close()

    with processes(place.root, 1):
        readers = [threading.Thread(target=read, args=(number,)) for number in range(2)]
        for reader in readers:
            reader.start()
        end = time.monotonic() + seconds
        chance = random.Random(3)
        while time.monotonic() < end:
            number = chance.randrange(50)
            place.write(f"{number}.md", f"pear {letters(chance.randrange(1000))} [[{chance.randrange(50)}]]")
            time.sleep(0.005)
        assert not wait(place.vault, place.index, 30)
        stop.set()
        for reader in readers:
            reader.join()
    assert errors == []
    assert min(reads) > 10


@pytest.mark.slow
def test_a_process_that_ends_amid_embedding_ends_well(place: Place) -> None:
    if not is_installed("bundled"):
        pytest.skip("the packages for the embedder bundled are not installed")
    for number in range(50):
        place.write(f"{number}.md", f"we talked about gardens and budgets, number {number} " * 10)
    with processes(place.root, 1, embedder="bundled") as [process]:
        until(lambda: place.index.status().embedded, 60)
        assert process.end(signal.SIGTERM) == 0


def test_b35_p13_killed_projectors_lose_nothing(place: Place) -> None:
    kill_rounds(place, 10)


@pytest.mark.slow
def test_killed_projectors_lose_nothing_ever(place: Place) -> None:
    kill_rounds(place, 200)


def kill_rounds(place: Place, rounds: int) -> None:
    """Kill the one that holds the lease at random moments while files come and go; another always takes over."""
    chance = random.Random(7)
    standby = [Process(place.root, 60.0), Process(place.root, 60.0)]
    try:
        for _ in range(rounds):
            for _ in range(chance.randrange(60)):
                number = chance.randrange(200)
                path = f"{number % 5}/{number}.md"
                if (place.root / path).exists() and chance.random() < 0.3:
                    place.delete(path)
                else:
                    place.write(
                        path, f"# Note\n\npear {letters(chance.randrange(10**6))} [[{chance.randrange(200)}]]\n"
                    )
            until(lambda: any(process.leases for process in standby), 120)
            time.sleep(chance.random() * 0.15)
            found = holder(place.vault.state_dir)
            for process in [process for process in standby if found and process.process.pid == found.pid]:
                process.end(signal.SIGKILL)
                standby.remove(process)
                standby.append(Process(place.root, 60.0))
        assert not wait(place.vault, place.index, 30)
    finally:
        for process in standby:
            process.end()
    assert_equals_rebuilt(place)


def assert_equals_rebuilt(place: Place) -> None:
    other = Place(place.root)
    scratch = open_index(place.root.parent / "scratch" / "index.db", Layout())
    refresh(scratch, other.vault, deep=True)
    refresh(place.index, place.vault)
    assert place.index.dump() == scratch.dump()
    scratch.close()
    other.close()
