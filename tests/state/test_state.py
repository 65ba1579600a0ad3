"""The run log: what it remembers, and that losing it loses nothing else."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reme.errors import Unavailable
from reme.state import Run, State

AT = datetime(2026, 5, 15, 9, 30, tzinfo=UTC)


def test_a_run_is_remembered_with_its_outcome(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        state.begin("r1", "write", "cli", "person", AT)
        assert state.runs() == [Run("r1", "write", "cli", "person", AT, None, "", "")]
        state.finish("r1", "ok", "wrote daily/2026-05-15/晨会.md", AT)
        state.begin("r2", "edit", "mcp", "agent", AT)
    with State(tmp_path / "state.db") as state:
        assert [run.id for run in state.runs()] == ["r2", "r1"]
        assert state.runs(limit=1)[0].id == "r2"
        assert state.runs()[1].summary == "wrote daily/2026-05-15/晨会.md"
        assert state.runs()[1].finished == AT
        assert state.operations(["r2", "r1", "r3"]) == {"r1": "write", "r2": "edit"}


def test_reading_creates_nothing(tmp_path: Path) -> None:
    state = State(tmp_path / ".reme" / "state.db")
    assert state.runs() == []
    assert state.operations(["r1"]) == {}
    state.close()
    assert list(tmp_path.iterdir()) == []


def test_deleting_the_file_loses_only_the_log(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with State(path) as state:
        state.begin("r1", "write", "cli", "person", AT)
    path.unlink()
    with State(path) as state:
        assert state.runs() == []
        state.begin("r2", "write", "cli", "person", AT)
        assert [run.id for run in state.runs()] == ["r2"]


@pytest.mark.parametrize("bytes_", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_set_aside(tmp_path: Path, bytes_: bytes) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(bytes_)
    with State(path) as state:
        assert state.runs() == []
        state.begin("r1", "write", "cli", "person", AT)
        assert len(state.runs()) == 1
    assert (tmp_path / "state.db.damaged").read_bytes() == bytes_


def test_a_file_of_another_format_is_set_aside(tmp_path: Path) -> None:
    import apsw

    path = tmp_path / "state.db"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with State(path) as state:
        state.begin("r1", "write", "cli", "person", AT)
        assert len(state.runs()) == 1
    assert (tmp_path / "state.db.damaged").exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match=r"state\.db"):
        State(tmp_path / "file" / "state.db").begin("r1", "write", "cli", "person", AT)


def test_many_processes_write_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib, datetime\n"
        "from reme.state import State\n"
        "state = State(pathlib.Path(sys.argv[1]))\n"
        "at = datetime.datetime(2026, 5, 15, tzinfo=datetime.UTC)\n"
        "for n in range(20):\n"
        "    state.begin(f'{sys.argv[2]}-{n}', 'write', 'cli', 'agent', at)\n"
        "    state.finish(f'{sys.argv[2]}-{n}', 'ok', '', at)\n"
    )
    path = tmp_path / "state.db"
    workers = [subprocess.Popen([sys.executable, "-c", script, str(path), str(k)]) for k in range(4)]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0, 0]
    with State(path) as state:
        runs = state.runs(limit=100)
    assert len(runs) == 80
    assert all(run.outcome == "ok" for run in runs)
