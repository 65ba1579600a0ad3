"""A dry run of an action says what would come of it and leaves every byte, on every action that writes."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reme.actions import MemorySettings, accept, auto_memory, proposals, register, reject
from reme.catalog import Catalog, add_tools, as_json
from reme.errors import Conflict, InvalidInput, NotFound, ReMeError
from reme.reason import Insert, Update

from .conftest import Room
from .test_dream import NODE, OFFLINE, claim, seeded
from .test_review import proposed

TALK = [
    {"role": "user", "content": f"{text}", "timestamp": f"2026-05-1{day}T10:0{at}:00+02:00"}
    for day in (4, 5)
    for at, text in enumerate(
        (
            "We decided to rotate the JWT keys every 30 days from now on.",
            "我决定以后每天早上八点跑步五公里。",
            "My sister Ann moved from Oslo to Lyon last week.",
        )
    )
]

REFINED = Update(1, "refine", (Insert(1, claim("Keys are JWT keys.")),))


def test_every_operation_that_writes_has_one() -> None:
    catalog = Catalog(add_tools, register)
    writing = [operation for operation in catalog if operation.effects != "read"]
    assert {"auto_memory", "write"} <= {operation.name for operation in writing}
    assert [o.name for o in writing if "dry_run" not in {p.name for p in o.parameters}] == []


def everything(room: Room) -> dict[str, bytes]:
    """Every file, the proposals among them."""
    places = [place for place in room.root.rglob("*") if place.is_file()]
    return {str(p.relative_to(room.root)): p.read_bytes() for p in places if ".db" not in p.name and p.name != "lock"}


def without_marks(result: Any) -> dict[str, Any]:
    found = as_json(result)
    return {key: value for key, value in found.items() if key not in ("run", "dry_run", "report")}


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_a_conversation(room: Room, at_once: int) -> None:
    settings = MemorySettings(messages_at_once=at_once)
    for part in (TALK[:4], TALK):
        before = everything(room)
        told = asyncio.run(auto_memory(room.workspace, OFFLINE, part, "s", dry_run=True, settings=settings))
        assert everything(room) == before
        assert (told.run, told.report, told.dry_run) == ("", None, True)
        done = asyncio.run(auto_memory(room.workspace, OFFLINE, part, "s", settings=settings))
        assert done.notes
        assert without_marks(told) == without_marks(done)


def test_a_conversation_in_words(room: Room) -> None:
    catalog = Catalog(register)
    told = asyncio.run(catalog["auto_memory"].function(room.workspace, OFFLINE, TALK, "s", dry_run=True))
    text = catalog["auto_memory"].text(told)
    assert text.startswith("dry run: ")
    assert "would create daily/2026-05-14/" in text
    assert "run " not in text.removeprefix("dry run: ")


def test_a_conversation_is_refused_where_it_would_be(room: Room) -> None:
    for messages, session in ((TALK, "../x"), ([{"role": "user"}], "s"), ("", "s")):
        outcomes = [
            outcome(
                lambda messages=messages, session=session, dry=dry: asyncio.run(
                    auto_memory(room.workspace, OFFLINE, messages, session, dry_run=dry)
                )
            )
            for dry in (True, False)
        ]
        assert outcomes[0] == outcomes[1]
        assert outcomes[0] is not None
        assert outcomes[0][0] is InvalidInput
    assert room.files() == {}


@pytest.mark.parametrize(("decide", "verb"), [(accept, "would accept"), (reject, "would reject")])
def test_a_decision(room: Room, decide: Callable[..., Any], verb: str) -> None:
    seeded(room, NODE)
    run = proposed(room, REFINED)
    before = everything(room)
    told = decide(room.workspace, run, dry_run=True)
    assert everything(room) == before
    assert Catalog(register)["accept"].text(told).startswith(f"{verb} 1 file of {run}")
    assert (told.run, told.dry_run, told.left) == ("", True, 0)
    assert len(proposals(room.workspace).proposals) == 1
    done = decide(room.workspace, run)
    assert done.run
    assert without_marks(told) == without_marks(done)
    for dry in (True, False):
        assert outcome(lambda dry=dry: decide(room.workspace, run, dry_run=dry)) == (
            NotFound,
            f"there is no open proposal '{run}'",
        )


def test_accepting_is_refused_where_it_would_be(room: Room) -> None:
    seeded(room, NODE)
    run = proposed(room, REFINED)
    room.write("digest/wiki/jwt-keys.md", "---\nname: JWT keys\n---\nquite another text\n")
    before = everything(room)
    told = outcome(lambda: accept(room.workspace, run, dry_run=True))
    assert everything(room) == before
    assert told == outcome(lambda: accept(room.workspace, run))
    assert told is not None
    assert told[0] is Conflict
    assert everything(room) == before


def outcome(call: Callable[[], object]) -> tuple[type, str] | None:
    """The error that a call ends in, or None."""
    try:
        call()
    except ReMeError as error:
        return type(error), error.message
    return None
