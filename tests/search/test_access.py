"""The access log: once a day and path, written behind, merged once, and never in the way."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from reme.clock import Clock
from reme.errors import Unavailable
from reme.paths import VaultPath
from reme.search import AccessLog, SearchSettings, Signals, merge_access, search
from reme.state import State
from tests.index.place import NOW, Place

A, B = VaultPath("a.md"), VaultPath("digest/wiki/笔记.md")


class Calendar:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now: datetime = NOW
        self.clock = Clock(ZoneInfo("Asia/Shanghai"), lambda: self.now)


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    made = State(tmp_path / "state.db")
    yield made
    made.close()


def recorded(state: State) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def look(hits: list[tuple[str, str]]) -> None:
        found.extend(hits)
        raise OSError("only looking")

    with pytest.raises(Unavailable):
        state.hand_over_hits(look)
    return found


def merged(folder: Path) -> dict[str, list[str]]:
    return json.loads((folder / "access_log.json").read_text("utf-8"))["access_log"]


def test_a_path_counts_once_a_day(state: State, calendar: Calendar) -> None:
    log = AccessLog(state, calendar.clock)
    for _ in range(3):
        log.count([A, B, A])
        log.flush()
    calendar.now += timedelta(days=1)
    log.count([A])
    log.close()
    assert recorded(state) == [(A, "2026-05-20"), (A, "2026-05-21"), (B, "2026-05-20")]


def test_the_day_is_that_of_the_vault(state: State, calendar: Calendar) -> None:
    calendar.now = NOW.replace(hour=23)
    log = AccessLog(state, calendar.clock)
    log.count([A])
    log.close()
    assert recorded(state) == [(A, "2026-05-21")]


def test_it_is_written_after_a_while_and_not_before(state: State, calendar: Calendar) -> None:
    log = AccessLog(state, calendar.clock, every=3600)
    log.count([A])
    assert not state.path.exists()
    log.close()
    soon = AccessLog(state, calendar.clock, every=0.01)
    soon.count([B])
    waiting = threading.Event()
    while (B, "2026-05-20") not in recorded(state):
        waiting.wait(0.01)
    soon.close()


def test_no_thread_is_left(state: State, calendar: Calendar) -> None:
    before = threading.active_count()
    log = AccessLog(state, calendar.clock)
    log.count([A])
    log.close()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(10)
    assert threading.active_count() == before


def test_memory_is_bounded(state: State, calendar: Calendar) -> None:
    log = AccessLog(state, calendar.clock, most=5)
    log.count(VaultPath(f"n{i}.md") for i in range(100))
    log.close()
    assert [path for path, _ in recorded(state)] == [f"n{i}.md" for i in range(95, 100)]


def test_what_cannot_be_written_is_kept_for_the_next_time(state: State, calendar: Calendar) -> None:
    log = AccessLog(state, calendar.clock)
    log.count([A])
    log.flush()
    holder = apsw.Connection(str(state.path))
    holder.execute("BEGIN IMMEDIATE")
    log.count([B])
    log.flush()
    holder.execute("ROLLBACK")
    holder.close()
    assert recorded(state) == [(A, "2026-05-20")]
    log.close()
    assert recorded(state) == [(A, "2026-05-20"), (B, "2026-05-20")]


def test_a_broken_file_costs_counts_and_nothing_else(tmp_path: Path, calendar: Calendar) -> None:
    (tmp_path / "state.db").write_bytes(b"no database " * 100)
    log = AccessLog(State(tmp_path / "state.db"), calendar.clock)
    log.count([A])
    log.flush()
    log.count([B])
    log.close()
    assert (tmp_path / "state.db").read_bytes() == b"no database " * 100


def test_two_processes_count_into_one_file(state: State, calendar: Calendar) -> None:
    script = f"""
from datetime import datetime, UTC
from pathlib import Path
from zoneinfo import ZoneInfo
from reme.clock import Clock
from reme.search import AccessLog
from reme.state import State
clock = Clock(ZoneInfo("Asia/Shanghai"), lambda: datetime(2026, 5, 20, 12, tzinfo=UTC))
log = AccessLog(State(Path({str(state.path)!r})), clock)
for i in range(50):
    log.count([f"n{{i}}.md", "a.md"])
    log.flush()
log.close()
"""
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert len(recorded(state)) == 51


def test_merging_makes_the_signal(state: State, calendar: Calendar, tmp_path: Path) -> None:
    folder = tmp_path / "meta"
    log = AccessLog(state, calendar.clock)
    log.count([A, B])
    log.flush()
    assert merge_access(state, folder, calendar.clock, lambda path: path != "gone.md") == 2
    assert merged(folder) == {A: ["2026-05-20"], B: ["2026-05-20"]}
    calendar.now += timedelta(days=80)
    log.count([A, VaultPath("gone.md")])
    log.close()
    assert merge_access(state, folder, calendar.clock, lambda path: path != "gone.md") == 2
    assert merged(folder) == {A: ["2026-05-20", "2026-08-08"], B: ["2026-05-20"]}
    assert merge_access(state, folder, calendar.clock, lambda _: True) == 0
    calendar.now += timedelta(days=20)
    state.record_hits([(B, "2026-08-28")])
    merge_access(state, folder, calendar.clock, lambda _: True)
    assert merged(folder) == {A: ["2026-08-08"], B: ["2026-08-28"]}
    assert Signals(folder).at(calendar.now).last_use == {A: "2026-08-08", B: "2026-08-28"}


def test_a_merge_that_fails_loses_nothing(state: State, calendar: Calendar, tmp_path: Path) -> None:
    state.record_hits([(A, "2026-05-20")])
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable):
        merge_access(state, tmp_path / "file", calendar.clock, lambda _: True)
    assert recorded(state) == [(A, "2026-05-20")]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 2}', '{"version": 1, "access_log": {"a.md": [1, "x"], "b": 1}}']
)
def test_a_broken_signal_is_replaced(state: State, calendar: Calendar, tmp_path: Path, text: str) -> None:
    (tmp_path / "access_log.json").write_text(text)
    state.record_hits([(A, "2026-05-20")])
    merge_access(state, tmp_path, calendar.clock, lambda _: True)
    assert merged(tmp_path) == {A: ["2026-05-20"]}


def test_what_is_used_stays_fresh(place: Place, tmp_path: Path) -> None:
    import os

    for name in ("used.md", "unused.md"):
        place.write(name, "pear\n")
        os.utime(place.root / name, (NOW.timestamp() - 30 * 86_400,) * 2)
    place.refresh()
    folder = tmp_path / "meta"
    state = State(tmp_path / "state.db")
    state.record_hits([("used.md", "2026-05-20"), ("gone.md", "2026-05-20")])
    merge_access(state, folder, place.clock, lambda _: True)
    result = search(place.index, place.clock, SearchSettings(), "pear", signals=Signals(folder))
    recency = {hit.path: hit.evidence.recency for hit in result.hits}
    assert list(recency) == ["used.md", "unused.md"]
    assert recency["used.md"] == pytest.approx(2.718281828 ** (-0.5 / 60))
    assert recency["unused.md"] == pytest.approx(2.718281828 ** (-30 / 60))


def test_what_was_counted_goes_with_a_file_that_is_renamed(state: State, calendar: Calendar, tmp_path: Path) -> None:
    new = VaultPath("digest/wiki/新.md")
    log = AccessLog(state, calendar.clock)
    log.count([A, B])
    log.flush()
    merge_access(state, tmp_path, calendar.clock, lambda _: True)
    calendar.now += timedelta(days=1)
    log.count([B])
    log.close()
    merge_access(state, tmp_path, calendar.clock, lambda path: path != B, {B: new})
    assert merged(tmp_path) == {A: ["2026-05-20"], new: ["2026-05-20", "2026-05-21"]}
