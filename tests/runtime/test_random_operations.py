"""After any number of changes behind its back the index is what a new one would be."""

import random
import shutil
import time
from pathlib import Path

import pytest

from reme.runtime import behind
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
    for number in range(changes):
        change(watched.root, chance)
        if chance.random() < 0.3:
            time.sleep(chance.random() * 0.05)
        if number % 40 == 39:
            watched.projector.close()
            for _ in range(5):
                change(watched.root, chance)
            watched.projector.start()
    until(lambda: watched.projector.status().watching and not watched.projector.status().walk_pending)
    until(lambda: not behind(watched.vault, watched.index))
    time.sleep(1)
    scratch = watched.root.parent / "scratch"
    until(lambda: watched.equals_rebuilt(scratch))


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
