"""Vaults whose reasoner asks a model that is played by a server on this machine, and ways to play it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reme.app import App, open_vault
from reme.config import create_vault, load_settings
from reme.reason.model.prompts import LANGUAGES, PROMPTS, shipped
from reme.testing import Asked, ChatServer, Failure, Spoken

Player = Callable[[str, list[dict[str, Any]]], object]
"""Answers a decision by its name and its material: with an object, a text, or what a ``ChatServer`` takes."""

DAY = "2026-05-15"


def decision_of(asked: Asked) -> tuple[str, str]:
    """Which prompt a model was given, and its language."""
    (found,) = [
        (name, language)
        for language in LANGUAGES
        for name in PROMPTS[2:]
        if shipped(f"{language}/{name}.md").strip() in asked.instructions
    ]
    return found


def material_of(asked: Asked) -> list[dict[str, Any]]:
    """The records that a model was shown."""
    lines = asked.text.split("</material>")[0].split("\n")[1:-1]
    return [json.loads(line) for line in lines]


def playing(player: Player) -> Callable[[Asked], Spoken | Failure]:
    def answer(asked: Asked) -> Spoken | Failure:
        said = player(decision_of(asked)[0], material_of(asked))
        if isinstance(said, Spoken | Failure):
            return said
        return Spoken(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))

    return answer


@contextmanager
def playing_vault(root: Path, player: Player, **variables: str) -> Iterator[tuple[App, ChatServer]]:
    """A vault at a folder, made if it is not there, and the server that its model is played by."""
    with ChatServer(playing(player)) as server:
        environment = {
            "TZ": "Europe/Berlin",
            "REME_LLM_MODEL": "openai:tiny",
            "REME_LLM_URL": server.url,
            "REME_LLM_TRIES": "1",
            "REME_LLM_TIMEOUT": "5",
            **variables,
        }
        root.mkdir(exist_ok=True)
        create_vault(root, environment)
        with open_vault(root, settings=load_settings(root, environment)) as app:
            yield app, server


def said(*texts: str, day: str = DAY, speaker: str = "Ana") -> list[dict[str, str]]:
    return [
        {"role": "user", "name": speaker, "content": text, "timestamp": f"{day}T09:{n:02}:00+02:00"}
        for n, text in enumerate(texts)
    ]


def remember(app: App, messages: list[dict[str, str]], session: str = "s1", role: Any = "agent") -> Any:
    return app.call("auto_memory", {"messages": messages, "session_id": session}, role=role, actor="test")


def dream(app: App, role: Any = "agent", **arguments: object) -> Any:
    return app.call("auto_dream", {"date": DAY, "scan_days": 3, **arguments}, role=role, actor="test")


def everything(root: Path) -> dict[str, bytes]:
    """All files of a vault but its machinery."""
    found = (path for path in root.rglob("*") if path.is_file() and ".reme" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def notes(root: Path) -> dict[str, str]:
    """What a vault has learnt: daily notes and nodes, not the reports about them."""
    files = everything(root)
    return {path: files[path].decode() for path in files if path.startswith(("daily/", "digest/"))}
