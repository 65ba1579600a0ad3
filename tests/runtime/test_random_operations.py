"""After any number of changes, inside and behind its back, the index is what a new one would be, and answers alike."""

import contextlib
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reme.errors import ReMeError
from reme.index import behind, open_index
from reme.search import SearchSettings
from reme.state import State
from reme.tools import Caller, Workspace, append, delete, log, move, undo, write
from reme.vault import Layout
from tests.runtime.watched import Watched, letters, until

NAMES = ["a", "b", "Apfel", "日记", "ünï", "long name", "x[1]"]


def test_the_index_follows_random_changes(watched: Watched) -> None:
    follow(watched, 150, seed=1)


@pytest.mark.slow
def test_the_index_follows_thousands_of_random_changes(watched: Watched) -> None:
    follow(watched, 5_000, seed=2)


def follow(watched: Watched, changes: int, seed: int) -> None:
    """Change files, folders and what is ignored at random, with the projector now running, now closed."""
    chance = random.Random(seed)
    watched.start()
    with opened(watched) as ask:
        _follow(watched, ask, changes, chance)


def _follow(watched: Watched, ask: Callable[[], Workspace], changes: int, chance: random.Random) -> None:
    for number in range(changes):
        if chance.random() < 0.2:
            operate(ask(), chance)
        else:
            change(watched.root, chance)
        if chance.random() < 0.3:
            time.sleep(chance.random() * 0.05)
        if number % 40 == 39:
            watched.projector.close()
            for _ in range(5):
                change(watched.root, chance)
            watched.projector.start()
    until(lambda: watched.projector.status().watching and not watched.projector.status().walk_pending)
    until(lambda: not behind(watched.index, watched.vault.scan().files))
    time.sleep(1)
    scratch = watched.root.parent / "scratch"
    until(lambda: watched.equals_rebuilt(scratch))
    queries = [f"{chance.choice(NAMES)} {letters(chance.randrange(1000))} tag" for _ in range(50)]
    assert any(watched.finds(query) for query in queries)
    assert watched.answers_as_rebuilt(scratch, queries)


@contextmanager
def opened(watched: Watched) -> Iterator[Callable[[], Workspace]]:
    """The vault as somebody sees it who works in it with the tools, through an index of his own."""
    index = open_index(watched.store, Layout())
    state = State(watched.vault.state_dir / "state.db")

    def ask() -> Workspace:
        caller = Caller("person", "test", watched.vault.new_id())
        return Workspace(watched.vault, index, state, watched.clock, SearchSettings(), caller)

    try:
        yield ask
    finally:
        state.close()
        index.close()


def operate(workspace: Workspace, chance: random.Random) -> None:
    """One change such as a tool makes; what cannot be done now is not."""
    notes = sorted(file.path for file in workspace.vault.scan().files if file.path.endswith(".md"))
    name = f"{chance.choice(['', 'x/', 'tools/'])}{chance.choice(NAMES[:5])}.md"
    with contextlib.suppress(ReMeError):
        match chance.randrange(5):
            case 0:
                write(workspace, name, f"# Tool\n\n{letters(chance.randrange(1000))} [[{chance.choice(NAMES)}]]\n")
            case 1 if notes:
                append(workspace, chance.choice(notes), f"appended {letters(chance.randrange(1000))}")
            case 2 if notes:
                move(workspace, chance.choice(notes), name)
            case 3 if notes:
                delete(workspace, chance.choice(notes))
            case _ if runs := [entry.run for entry in log(workspace, limit=5).runs]:
                undo(workspace, chance.choice(runs))


def change(root: Path, chance: random.Random) -> None:
    """One change such as people, editors, git and other programs make."""
    folder = root / chance.choice(["", "x", "x/y", "z", *NAMES[:4]])
    file = folder / (chance.choice(NAMES) + chance.choice([".md", ".md", ".md", ".txt", ".png", ".tmp"]))
    text = f"# {chance.choice(NAMES)}\n\n{letters(chance.randrange(1000))} [[{chance.choice(NAMES)}]] #tag\n"
    existing = sorted(path for path in root.rglob("*") if path.name != ".remeignore" and ".reme" not in path.parts)
    other = chance.choice(existing) if existing else file
    try:
        match chance.randrange(10):
            case 0 | 1 | 2 | 3:
                folder.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            case 4:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / ".saving").write_text(text)
                (folder / ".saving").rename(file)
            case 5 if other.is_file():
                other.unlink()
            case 6:
                file.parent.mkdir(parents=True, exist_ok=True)
                other.rename(file if other.is_file() else root / chance.choice(["moved", "x", "deep/er"]))
            case 7 if other.is_dir() and chance.random() < 0.3:
                shutil.rmtree(other)
            case 8 if chance.random() < 0.2:
                (root / ".remeignore").write_text(chance.choice(["", "z/\n", "*.txt\n"]))
            case _:
                if other.is_file():
                    other.write_text(text + other.read_text())
    except OSError:
        return  # this one is not possible now
