"""The stream of what happens in a vault."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from reme.app import open_vault
from reme.errors import Unavailable
from reme.faces.http import feed
from reme.faces.http.feed import event

from .http_client import JSON, Face, Server


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "_EVERY_S", 0.05)
    monkeypatch.setattr(feed, "_ALIVE_S", 0.4)


@pytest.fixture
def face(vault: Path) -> Iterator[Face]:
    with Face(vault) as face:
        yield face


async def write(face: Face, name: str) -> str:
    body = json.dumps({"path": name, "content": "绿茶\n"}).encode()
    return (await face.asked("POST", "/api/write", body, JSON)).json["run"]


async def following(events: AsyncIterator[bytes], name: str) -> tuple[str, Any]:
    """The id and data of the next event of a name."""
    async with asyncio.timeout(20):
        async for one in events:
            fields = dict(line.split(": ", 1) for line in one.decode().strip().split("\n"))
            if fields.get("event") == name:
                return fields.get("id", ""), json.loads(fields["data"])
    raise AssertionError("the stream has ended")


def test_a_listener_is_told_of_runs_that_end_and_of_the_index(face: Face, vault: Path) -> None:
    async def listen() -> None:
        events = await face.desk.feed.listen("")
        _, began = await following(events, "index")
        run = await write(face, "新/茶.md")
        number, told = await following(events, "run")
        assert (number, told["id"]) == (run, run)
        assert (told["operation"], told["role"], told["outcome"], told["actor"]) == ("write", "agent", "ok", "http")
        assert "新/茶.md" in told["summary"]
        await face.asked("POST", "/api/search", b'{"query": "x"}', JSON)
        assert (await following(events, "index"))[1]["position"] > began["position"]
        with open_vault(vault) as other:
            other.call("delete", {"path": "新/茶.md"}, role="person", actor="cli")
        assert (await following(events, "run"))[1]["actor"] == "cli"
        await events.aclose()

    asyncio.run(listen())


def test_who_comes_back_is_told_what_it_has_missed_once(face: Face) -> None:
    async def listen() -> None:
        first = await write(face, "1.md")
        missed = [await write(face, f"{number}.md") for number in (2, 3)]
        events = await face.desk.feed.listen(first)
        assert [(await following(events, "run"))[0] for _ in missed] == missed
        last = await write(face, "4.md")
        assert (await following(events, "run"))[0] == last
        await events.aclose()
        for unknown in ("", "nothing"):
            events = await face.desk.feed.listen(unknown)
            await following(events, "index")
            newest = await write(face, f"after-{unknown or 'none'}.md")
            assert (await following(events, "run"))[0] == newest
            await events.aclose()

    asyncio.run(listen())


def test_nobody_looks_where_nobody_listens_and_one_looks_for_all(face: Face) -> None:
    async def listen() -> None:
        own = face.desk.feed
        several = [await own.listen("") for _ in range(3)]
        for events in several:
            await following(events, "index")
        looking = own._looking
        assert looking is not None
        run = await write(face, "a.md")
        assert [(await following(events, "run"))[0] for events in several] == [run] * 3
        assert own._looking is looking
        for events in several:
            await events.aclose()
        assert own._looking is None
        assert not own._listeners
        await asyncio.sleep(0)
        assert looking.cancelled()

    asyncio.run(listen())


def test_a_quiet_stream_shows_that_it_lives(face: Face) -> None:
    async def listen() -> None:
        events = await face.desk.feed.listen("")
        assert (await anext(events)).startswith(b"event: index\n")
        assert await anext(events) == b": nothing new\n\n"
        await events.aclose()

    asyncio.run(listen())


def test_a_listener_that_does_not_read_is_dropped_and_too_many_are_refused(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "_BEHIND", 2)
    monkeypatch.setattr(feed, "_LISTENERS", 1)

    async def listen() -> None:
        own = face.desk.feed
        events = await own.listen("")
        await following(events, "index")
        with pytest.raises(Unavailable, match="1 listen already"):
            await own.listen("")
        for number in range(5):
            own._tell(event("run", b"%d" % number))
        assert not own._listeners
        left = [one async for one in events]
        assert left == [b"event: run\ndata: 1\n\n"]
        assert (await face.asked("GET", "/readyz")).status == 200

    asyncio.run(listen())


def test_what_cannot_be_looked_at_is_told_before_the_stream(face: Face) -> None:
    assert face.desk.lanes.close(30)
    answer = face.ask("GET", "/events")
    assert (answer.status, answer.json["kind"]) == (503, "unavailable")


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_over_the_wire_the_stream_ends_with_the_server(vault: Path) -> None:
    with Server(vault) as server:
        connection = server.connect()
        connection.request("GET", "/events")
        stream = connection.getresponse()
        assert stream.getheader("Content-Type") == "text/event-stream; charset=utf-8"
        assert stream.readline() == b"event: index\n"
        run = server.call("write", path="茶二", content="x").json["run"]
        while (line := stream.readline()) != f"id: {run}\n".encode():
            assert line
        assert server.stop() == server.told
        assert b"event: run\n" in stream.read()
        connection.close()


def test_an_event_is_one_block() -> None:
    assert event("run", b'{"a":"\xe8\x8c\xb6"}', "7") == 'id: 7\nevent: run\ndata: {"a":"茶"}\n\n'.encode()
    assert event("index", b"{}") == b"event: index\ndata: {}\n\n"
