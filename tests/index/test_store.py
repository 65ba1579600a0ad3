"""The store: disposable, shared between processes, and back after any damage."""

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from reme.errors import Unavailable
from reme.index import ANY, Bm25, ChunkKey, Filter, IndexSettings, open_index, rebuild, refresh
from reme.index.sqlite import connections
from reme.index.sqlite.connections import run
from reme.vault import Layout
from tests.index.place import BM25, Place, holding, paths_of


def fill(place: Place, count: int = 20) -> None:
    for i in range(count):
        place.write(f"n{i}.md", f"# Note {i}\n\ncommon word{i} [[n{(i + 1) % count}]]\n")
    place.refresh()


def test_a_closed_index_opens_as_it_was(place: Place) -> None:
    fill(place)
    dumped = place.index.dump()
    place.index.close()
    place.index.close()
    place.index = open_index(place.store, Layout())
    assert place.index.dump() == dumped
    assert place.refresh().added == ()


@pytest.mark.parametrize("damage", ["head", "garbage", "empty", "gone"])
def test_a_damaged_file_is_built_anew(place: Place, damage: str) -> None:
    fill(place)
    dumped = place.index.dump()
    place.index.close()
    for ending in ("-wal", "-shm"):
        Path(f"{place.store}{ending}").unlink(missing_ok=True)
    data = place.store.read_bytes()
    match damage:
        case "head":
            place.store.write_bytes(b"\0" * 100 + data[100:])
        case "garbage":
            place.store.write_bytes(b"no database at all" * 1000)
        case "empty":
            place.store.write_bytes(b"")
        case _:
            place.store.unlink()
    place.index = open_index(place.store, Layout())
    assert place.refresh().pending == 0
    assert place.index.dump() == dumped
    for _ in range(2):  # another process tells, too
        assert bool(place.index.status().rebuilt) == (damage in ("head", "garbage"))
        place.index.close()
        place.index = open_index(place.store, Layout())
    place.index.clear()
    assert not place.index.status().rebuilt


def test_pages_damaged_while_open_are_noticed_and_built_anew(place: Place) -> None:
    fill(place, 300)
    dumped = place.index.dump()
    place.index.close()
    data = place.store.read_bytes()
    place.store.write_bytes(data[:8192] + b"\xa5" * (len(data) - 8192))
    place.index = open_index(place.store, Layout())
    place.refresh()
    assert place.index.dump() == dumped
    assert place.index.status().rebuilt.startswith("damaged")


def test_a_file_deleted_while_open_is_built_anew(place: Place) -> None:
    fill(place)
    dumped = place.index.dump()
    for ending in ("", "-wal", "-shm"):
        Path(f"{place.store}{ending}").unlink(missing_ok=True)
    place.refresh()
    assert place.index.dump() == dumped


def test_other_settings_or_another_schema_build_anew(place: Place) -> None:
    fill(place)
    place.index.close()
    place.index = open_index(place.store, Layout(), IndexSettings(chunk_target=50))
    assert place.index.status().files == 0
    assert place.index.status().rebuilt
    assert len(place.refresh().added) == 20
    place.index.close()
    db = apsw.Connection(str(place.store))
    db.execute("UPDATE meta SET value = 'another tokeniser' WHERE key = 'identity'")
    db.close()
    place.index = open_index(place.store, Layout())
    assert place.index.status().files == 0


def test_rebuild_gives_the_same(place: Place) -> None:
    fill(place)
    dumped = place.index.dump()
    rebuild(place.index, place.vault)
    assert place.index.dump() == dumped


def test_an_unusable_place_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable, match="cannot be used"):
        open_index(tmp_path / "file" / "index.db", Layout())


def test_b43_a_search_takes_no_write_lock_and_a_refresh_waits_no_longer_than_told(place: Place) -> None:
    fill(place)
    place.index.close()
    place.index = open_index(place.store, Layout(), timeout=0.2)
    other = apsw.Connection(str(place.store))
    other.execute("BEGIN IMMEDIATE")
    try:
        assert holding(place.index, "common")
        assert place.index.status().files == 20
        assert place.refresh().pending == 0
        place.write("new.md", "common newcomer\n")
        assert place.refresh().pending == 1
        assert holding(place.index, "common")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert place.refresh().added == ("new.md",)


def test_b43_several_processes_refresh_at_once(place: Place, tmp_path: Path) -> None:
    place.index.close()
    script = tmp_path / "writer.py"
    script.write_text(
        textwrap.dedent("""
        import sys
        from pathlib import Path
        from zoneinfo import ZoneInfo
        from reme.clock import system_clock
        from reme.index import open_index, refresh
        from reme.vault import Layout, Vault

        root, name = Path(sys.argv[1]), sys.argv[2]
        vault = Vault(root, layout=Layout(), clock=system_clock(ZoneInfo("UTC")))
        index = open_index(vault.state_dir / "index.db", Layout(), timeout=30)
        for i in range(15):
            (root / f"{name}-{i}.md").write_text(f"shared {name}{i} [[{name}-{(i + 1) % 15}]]")
            assert refresh(index, vault).pending == 0
            assert index.statistics(["share"]).frequencies["share"] > i
        index.close()
        """)
    )
    running = [
        subprocess.Popen([sys.executable, script, place.root, name], stderr=subprocess.PIPE, text=True)
        for name in ("one", "two", "three")
    ]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    place.index = open_index(place.store, Layout())
    place.refresh()
    assert place.index.status().files == 45
    assert place.index.status().unresolved == 0
    incremental = place.index.dump()
    rebuild(place.index, place.vault)
    assert place.index.dump() == incremental


def test_threads_share_one_index(place: Place) -> None:
    fill(place)
    errors: list[BaseException] = []
    stop = time.monotonic() + 1

    def read() -> None:
        try:
            while time.monotonic() < stop:
                with place.index.snapshot():
                    place.index.statistics(place.index.terms("common 北京 words"))
                    assert holding(place.index, "common")
        except BaseException as error:
            errors.append(error)

    def write() -> None:
        try:
            number = 0
            while time.monotonic() < stop:
                number += 1
                place.write("busy.md", f"common {number}\n")
                refresh(place.index, place.vault)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for work in (read, read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_snapshot_sees_one_state(place: Place) -> None:
    fill(place)
    with place.index.snapshot():
        before = place.index.status()
        writer = threading.Thread(target=lambda: (place.write("late.md", "late\n"), place.refresh()))
        writer.start()
        writer.join()
        assert place.index.status() == before
    assert place.index.status().files == before.files + 1


def test_a_failed_batch_leaves_the_state_before(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(place)
    dumped = place.index.dump()
    place.write("n0.md", "changed\n")

    def broken(*_: object) -> None:
        raise RuntimeError("stop")

    from reme.index.sqlite import writer

    monkeypatch.setattr(writer, "resolve_some", broken)
    with pytest.raises(RuntimeError, match="stop"):
        place.refresh()
    monkeypatch.undo()
    assert place.index.dump()["links"] == dumped["links"]
    assert place.refresh().modified == ("n0.md",)


FILTERS = {  # what a filter is of → the filter, and the table and the key by which a match is looked up
    "layers": (Filter(layers=frozenset({"other"})), "f", "(layer=? AND rowid=?)"),
    "without_layers": (Filter(without_layers=frozenset({"audit"})), "f", "INTEGER PRIMARY KEY (rowid=?)"),
    "formats": (Filter(formats=frozenset({"note"})), "f", "INTEGER PRIMARY KEY (rowid=?)"),
    "paths": (Filter(paths=("n1", "笔记", "n*.md")), "f", "INTEGER PRIMARY KEY (rowid=?)"),
    "tags": (Filter(tags=("tea", "茶")), "t", "PRIMARY KEY (file=?"),
    "where": (Filter(where={"status": "open", "状态": "新"}), "w", "PRIMARY KEY (file=? AND key=? AND value=?"),
    "no value": (Filter(where={"status": None}), "w", "PRIMARY KEY (file=? AND key=?"),
    "days": (
        Filter(start_date="2026-01-01", end_date="2026-02-01", start_ns=0, end_ns=1),
        "c",
        "INTEGER PRIMARY KEY (rowid=?)",
    ),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_looks_each_match_up_once(place: Place, name: str) -> None:
    from reme.index.sqlite.keywords import plan

    fill(place)
    wanted, table, key = FILTERS[name]
    sql, values = plan(wanted)
    db = apsw.Connection(str(place.store))
    bound = values | {"keys": "[1]"}
    steps = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
    db.close()
    assert steps[0].startswith("SCAN j VIRTUAL TABLE INDEX")
    assert any(step.startswith(f"SEARCH {table} ") and key in step for step in steps), steps
    assert not any(step.startswith("SCAN") for step in steps[1:]), steps


def test_all_filters_together_look_each_match_up_once(place: Place) -> None:
    from reme.index.sqlite.keywords import plan

    fill(place)
    sql, values = plan(Filter(layers=frozenset({"other"}), tags=("tea",), where={"a": "1"}, start_date="2026-01-01"))
    db = apsw.Connection(str(place.store))
    steps = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values | {"keys": "[1]"})]
    db.close()
    assert not any(step.startswith("SCAN") for step in steps[1:]), steps


@pytest.mark.parametrize("share", [3, 50, 100], ids="{}%".format)
def test_what_a_filter_wants_comes_in_the_order_of_all(place: Place, share: int) -> None:
    for i in range(200):
        folder = "茶" if i % 100 < share else "work"
        words = "tea " * (i % 7) + "pot " * (i % 5) + "壶 " * (i % 3) + f"and {i} more words " * (1 + i % 4)
        day = i // 100 + 1
        place.write(f"{folder}/n{i}.md", f"---\ntags: [{folder}, t{i % 2}]\ndate: 2026-05-0{day}\n---\n{words}\n")
    place.refresh()
    weights = {"tea": 1.0, "pot": 2.0, "壶": 1.5}
    asked = [
        Filter(paths=("茶",)),
        Filter(tags=("茶",)),
        Filter(paths=("茶/n*.md",), without_paths=frozenset({"茶/n1.md"})),
        Filter(tags=("茶", "t1"), start_date="2026-05-02", start_ns=0),
    ]

    def gathered(weights: Mapping[str, float], bm25: Bm25, wanted: Filter, limit: int) -> list[ChunkKey]:
        return place.index.gathered(weights, bm25, wanted, (), limit)

    for ask in (place.index.matches, gathered):
        every = ask(weights, BM25, ANY, 200)
        for wanted in asked:
            some = {note.path for note in place.index.notes(wanted)}
            assert some
            named = [key for key, path in zip(every, paths_of(place.index, every), strict=True) if path in some]
            assert ask(weights, BM25, wanted, 200) == named
            assert place.index.matches(weights, BM25, wanted, 5) == place.index.matches(weights, BM25, wanted, 200)[:5]


def test_who_reads_does_not_wait_for_who_writes_in_the_same_process(place: Place) -> None:
    place.write("茶.md", "绿茶 green tea\n")
    place.refresh()
    with ThreadPoolExecutor(1) as other, place.index._connections.writing() as db:
        run(db, "DELETE FROM postings")
        found = other.submit(holding, place.index, "tea").result(30)
        assert paths_of(place.index, found) == ["茶.md"]
        closing = other.submit(place.index.close)
        assert not closing.done()
    closing.result(30)


def test_pages_are_kept_in_memory(place: Place) -> None:
    db = place.index._connections._connect_reader()
    assert db.execute("PRAGMA cache_size").fetchall() == [(-16_384,)]
    assert db.execute("PRAGMA mmap_size").fetchall() == [(0,)]
    db.close()


def test_connections_are_reused(place: Place) -> None:
    fill(place)
    made = 0
    original = connections.Connections._connect_reader

    def counting(self: connections.Connections) -> apsw.Connection:
        nonlocal made
        made += 1
        return original(self)

    connections.Connections._connect_reader = counting
    try:
        for _ in range(10):
            place.index.status()
    finally:
        connections.Connections._connect_reader = original
    assert made <= 1
