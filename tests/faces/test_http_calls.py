"""Operations over HTTP: the same answers and errors as on the other faces, in three forms, however a body is broken."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme.app import open_vault
from reme.catalog import Operation, as_json
from reme.errors import ReMeError
from reme.faces.http.problems import Places
from reme.faces.mcp.session import tools_of

from ..catalog.toys import Echo, echo_text
from .http_client import HOST, JSON, Face

pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture
def face(vault: Path) -> Iterator[Face]:
    with Face(vault) as face:
        yield face


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("echo_back", {"text": "泡茶", "tags": ["a", "b"], "limit": 3, "loud": True, "order": "down"}),
    ("echo_back", {"text": "x", "tags": '["a", "b"]'}),
    ("echo_back", {"text": "12345"}),
    ("echo_back", {}),
    ("echo_back", {"text": "x", "limit": 99, "colour": "red"}),
    ("echo_back", {"text": ""}),
    ("echo_back", {"text": "\ud800"}),
    ("echo_back", {"text": 7}),
    ("search", {"query": "green tea"}),
    ("search", {"query": "绿茶", "limit": 0}),
    ("search", {"query": "tea", "paths": ["nope"]}),
    ("traverse", {"seeds": ["茶"]}),
    ("traverse", {"seeds": ["nothing here"]}),
    ("recall", {"query": "how hot is green tea"}),
    ("list", {"sort": "name"}),
    ("list", {"path": "nope"}),
    ("tags", {}),
    ("read", {"path": "茶"}),
    ("read", {"path": "茶", "heading": "Tea"}),
    ("read", {"path": "茶", "start_line": 99}),
    ("read", {"path": "../茶"}),
    ("stat", {"path": "茶"}),
    ("download", {"path": "茶"}),
    ("download", {"path": "茶", "into": "/tmp/x"}),
    ("read_image", {"path": "茶"}),
    ("frontmatter_read", {"path": "茶"}),
    ("write", {"path": "茶", "content": "# 另一\n"}),
    ("write", {"path": "digest/wiki/x", "content": "x"}),
    ("edit", {"path": "茶", "find": "无", "replace": "x"}),
    ("delete", {"path": "."}),
    ("move", {"source": "茶", "target": "/etc/x.md"}),
    ("daily_list", {}),
    ("daily_status", {}),
    ("log", {}),
    ("show", {"run": "nope"}),
    ("undo", {"run": "nope"}),
    ("cost", {}),
    ("lint", {}),
    ("proactive", {}),
    ("stale", {}),
    ("proposals", {}),
    ("accept", {"proposal": "x"}),
    ("auto_memory", {"messages": [{"role": "user"}], "session_id": ""}),
    ("auto_dream", {"dry_run": True}),
    ("auto_dream", {"date": "2026-13-01"}),
    ("reindex", {}),
    ("fail", {"kind": "conflict"}),
    ("fail", {"kind": "not_found"}),
    ("fail", {"kind": "refused"}),
    ("fail", {"kind": "unavailable"}),
    ("fail", {"kind": "invalid_input"}),
    ("fail", {"kind": "config"}),
]
PASSING = {"took", "seconds", "created", "modified", "computed_at", "now", "at", "run", "position"}


def settled(value: Any) -> Any:
    """A result without what differs from one moment to the next."""
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items() if key not in PASSING}
    if isinstance(value, list):
        return [settled(item) for item in value]
    return round(value, 3) if isinstance(value, float) else value


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_call_answers_as_the_application_does(face: Face, vault: Path, name: str, arguments: dict[str, Any]) -> None:
    answer = face.call(name, **arguments)
    outcome = called(vault, name, arguments)
    if isinstance(outcome, ReMeError):
        problem = answer.json
        shown = {"kind": problem["kind"], "message": problem["detail"]}
        shown |= {key: problem[key] for key in ("hint", "details") if key in problem}
        assert shown == json.loads(json.dumps(outcome.as_dict(), ensure_ascii=False).encode("utf-8", "replace"))
        assert (answer.status, problem["status"]) == (outcome.http_status, outcome.http_status)
        assert answer.headers["content-type"] == "application/problem+json"
    else:
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert settled(answer.json) == settled(json.loads(json.dumps(as_json(outcome))))
        words = face.call(name, {"Accept": "text/plain"}, **arguments)
        assert words.headers["content-type"] == "text/plain; charset=utf-8"
        assert words.text.endswith("\n")


def called(vault: Path, name: str, arguments: dict[str, Any]) -> Any:
    """What the application itself makes of a call: a result or an error."""
    with open_vault(vault) as app:
        try:
            return app.call(name, arguments, role="agent", actor="http")
        except ReMeError as error:
            return error


def test_every_operation_that_an_mcp_host_is_offered_can_be_called_here(face: Face, vault: Path) -> None:
    tools = tools_of(lambda: open_vault(vault), "agent")
    names = {definition["name"] for definition in tools.definitions()}
    assert names <= {operation.name for operation in face.desk.catalog}
    for name in names:
        answer = face.call(name, nonsense=1)
        assert (answer.status, answer.json["kind"]) == (422, "invalid_input")
        assert "no parameter 'nonsense'" in answer.json["detail"]
    tools.close()


def test_a_name_that_is_no_operation_leads_to_the_nearest(face: Face) -> None:
    answer = face.call("serach", query="x")
    assert (answer.status, answer.json["kind"]) == (404, "not_found")
    assert answer.json["hint"] == "Did you mean 'search'?"
    assert face.call("auto-dream", dry_run=True).status == 200
    assert face.ask("POST", "/api/", b"{}", JSON).status == 404
    assert face.ask("POST", "/api/search/x", b"{}", JSON).status == 404
    assert face.ask("GET", "/nowhere").json["hint"].startswith("There is /api/{operation}, /notes/{path}")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "TRACE", "search"])
def test_a_method_that_is_not_for_an_address_is_refused(face: Face, method: str) -> None:
    answer = face.ask(method, "/api/search", b"{}", JSON)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert face.ask("POST", "/healthz").headers["allow"] == "GET, HEAD"


BROKEN = [
    (b"", 400),
    (b"{", 400),
    (b"[]", 400),
    (b'"x"', 400),
    (b"null", 400),
    (b"{}{}", 400),
    (b'{"text": NaN}', 400),
    (b'{"text": -Infinity}', 400),
    (b'{"text": "a", "text": "b"}', 400),
    (b'{"text": {"a": 1, "a": 2}}', 400),
    (b'{"text": "\xff"}', 400),
    (b'{"text": "a\x00"}', 400),
    (b'{"text":' + b"[" * 200 + b"]" * 200 + b"}", 400),
    (b'{"text":' + b"[" * 200_000, 400),
    (b'{"text":' + b'{"a":' * 50_000, 400),
    (b'{"limit": ' + b"9" * 5000 + b"}", 400),
    ('{"text": "é"}'.encode("utf-16"), 400),
    (b"text=x&limit=1", 400),
    (b'{"\\ud800": 1}', 422),
    (b'{"text": "x", "limit": 1e400}', 422),
    (b"\xef\xbb\xbf" + b'{"text": "x"}', 200),
]


@pytest.mark.parametrize(("body", "status"), BROKEN, ids=lambda value: repr(value)[:30])
def test_a_body_that_is_no_object_of_arguments_is_refused(face: Face, body: bytes, status: int) -> None:
    answer = face.ask("POST", "/api/echo_back", body, JSON)
    assert answer.status == status
    if status != 200:
        assert answer.json["kind"] == "invalid_input"


@pytest.mark.parametrize(
    "kind",
    [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "text/json",
        "",
        "application/json; charset=latin-1",
        "application/json; charset=gb18030",
        "application/problem+json",
        "x",
    ],
)
def test_only_json_is_taken(face: Face, kind: str) -> None:
    answer = face.ask("POST", "/api/echo_back", b'{"text": "x"}', {"Content-Type": kind})
    assert (answer.status, answer.json["kind"]) == (415, "invalid_input")


@pytest.mark.parametrize(
    "kind",
    ["application/json", "Application/JSON", "application/json; charset=UTF-8", 'application/json;charset="utf-8"'],
)
def test_json_is_taken_however_it_is_spelled(face: Face, kind: str) -> None:
    assert (
        face.ask("POST", "/api/echo_back", '{"text": "泡茶"}'.encode(), {"Content-Type": kind}).json["text"] == "泡茶"
    )
    compressed = {"Content-Type": kind, "Content-Encoding": "gzip"}
    assert face.ask("POST", "/api/echo_back", b'{"text": "x"}', compressed).status == 415


def test_a_body_that_is_too_large_is_refused_as_soon_as_that_is_known(vault: Path) -> None:
    with Face(vault, most=100) as face:
        taken: list[bytes] = []

        def endless() -> Iterator[bytes]:
            while True:
                taken.append(b"x" * 60)
                yield taken[-1]

        for headers in ({}, {"Content-Length": "10"}, {"Transfer-Encoding": "chunked"}):
            answer = face.ask("POST", "/api/echo_back", endless(), {**JSON, **headers})
            assert (answer.status, answer.headers["connection"]) == (413, "close")
            assert answer.json["details"] == {"limit": 100}
        assert len(taken) == 6
        for length in ("101", "9" * 18, "9" * 30):
            assert face.ask("PUT", "/notes/a.md", endless(), {"Content-Length": length}).status == 413
        assert len(taken) <= 8
        assert face.ask("POST", "/api/echo_back", b'{"text": "%s"}' % (b"x" * 88), JSON).status == 200
        assert face.ask("POST", "/api/echo_back", b'{"text": "%s"}' % (b"x" * 89), JSON).status == 413


def test_arguments_do_not_stand_in_the_address(face: Face) -> None:
    assert face.ask("POST", "/api/echo_back?text=x", b"{}", JSON).json["kind"] == "invalid_input"


def test_what_nobody_foresaw_is_said_without_a_trace(
    face: Face, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = face.call("fail", kind="bug")
    assert (answer.status, answer.json["kind"]) == (500, "bug")
    assert answer.json["detail"] == "something went wrong inside ReMe (ValueError)"
    assert "nobody foresaw it" not in answer.text
    assert 'raise ValueError("nobody foresaw it")' in capsys.readouterr().err
    assert face.call("echo_back", text="still there").status == 200


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), StopIteration(), MemoryError()])
def test_nothing_that_is_raised_ends_the_server(vault: Path, raised: BaseException) -> None:
    def raising(workspace: Any) -> Echo:
        """Raise."""
        raise raised

    with Face(vault, operations=[Operation("raising", "ask", raising, "read", echo_text)]) as face:
        assert face.call("raising").status == 500
        assert face.call("echo_back", text="x").status == 200


def test_no_answer_names_a_place_of_this_machine(face: Face, vault: Path) -> None:
    answers = [face.call(name, **arguments) for name, arguments in CALLS]
    answers += [
        face.call("status"),
        face.call("status", {"Accept": "text/plain"}),
        face.ask("GET", "/metrics"),
        face.ask("GET", "/readyz"),
        face.ask("GET", "/openapi.json"),
    ]
    state = vault / ".reme" / "state.db"
    state.unlink(missing_ok=True)
    state.mkdir()
    with Face(vault) as other:
        answers += [other.call("log"), other.call("cost")]
    assert "state.db" in answers[-1].text
    for answer in answers:
        assert str(vault) not in answer.text
        assert str(Path.home()) + "/" not in answer.text or "/tmp" in str(Path.home())
        assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/html, */*;q=0.5", "application/json"),
        ("text/plain", "text/plain; charset=utf-8"),
        ("application/json;q=0.5, text/plain", "text/plain; charset=utf-8"),
        ("text/plain;q=0, */*", "application/json"),
        ("text/plain;q=x", "text/plain; charset=utf-8"),
        ("text/event-stream", "text/event-stream; charset=utf-8"),
        (", ;;, text/plain ;q=0.1", "text/plain; charset=utf-8"),
    ],
)
def test_the_form_is_the_one_that_is_liked_best(face: Face, accept: str, kind: str) -> None:
    answer = face.call("echo_back", {"Accept": accept}, text="泡茶")
    assert (answer.status, answer.headers["content-type"]) == (200, kind)
    assert "泡茶" in answer.text


def test_a_stream_ends_with_the_result_or_the_error(face: Face) -> None:
    events = face.call("echo_back", {"Accept": "text/event-stream"}, text="泡\n茶").events
    assert [(name, data["text"]) for name, data in events] == [("result", "泡\n茶")]
    refused = face.call("echo_back", {"Accept": "text/event-stream"})
    assert (refused.status, refused.headers["content-type"]) == (422, "application/problem+json")


def slow_face(vault: Path, seconds: float, *, fails: bool = False) -> tuple[Face, threading.Event, list[str]]:
    """A face with a slow operation that tells of its progress, an event to end it by, and what it did."""
    release, done = threading.Event(), []

    def dawdle(workspace: Any) -> Echo:
        """Take long."""
        for step in range(4):
            workspace.progress("煮水", step, 4)
            release.wait(seconds / 4)
        done.append("dawdled")
        if fails:
            raise ValueError("late")
        return Echo("done", (), 1, {})

    face = Face(vault, operations=[Operation("dawdle", "ask", dawdle, "read", echo_text, cost="slow")])
    return face, release, done


def test_a_slow_operation_tells_how_far_it_has_come(vault: Path) -> None:
    face, _, _ = slow_face(vault, 2.4)
    with face:
        events = face.call("dawdle", {"Accept": "text/event-stream"}).events
        assert events[0] == ("progress", {"what": "煮水", "done": 0, "of": 4})
        steps = [data["done"] for name, data in events if name == "progress"]
        assert len(steps) >= 2
        assert steps == sorted(steps)
        assert events[-1] == ("result", asdict(Echo("done", (), 1, {})) | {"tags": []})


def test_a_slow_operation_that_fails_late_says_so_in_its_stream(vault: Path) -> None:
    face, _, _ = slow_face(vault, 1.2, fails=True)
    with face:
        answer = face.call("dawdle", {"Accept": "text/event-stream"})
        assert answer.status == 200
        assert [name for name, _ in answer.events][-1] == "error"
        assert answer.events[-1][1]["kind"] == "bug"


def test_a_search_does_not_wait_behind_what_is_slow_and_too_much_of_it_is_refused(vault: Path) -> None:
    face, release, done = slow_face(vault, 120)

    async def crowd() -> None:
        slow = [asyncio.ensure_future(face.asked("POST", "/api/dawdle", b"{}", JSON)) for _ in range(18)]
        await asyncio.sleep(0.3)
        busy = await face.asked("POST", "/api/dawdle", b"{}", JSON)
        assert (busy.status, busy.json["kind"], busy.headers["retry-after"]) == (503, "unavailable", "1")
        quick = await face.asked("POST", "/api/search", b'{"query": "tea"}', JSON)
        written = await face.asked("POST", "/api/write", b'{"path": "new", "content": "x"}', JSON)
        assert (quick.status, written.status) == (200, 200)
        assert 'reme_waiting{lane="slow"} 16' in (await face.asked("GET", "/metrics")).text
        assert done == []
        release.set()
        assert {(await one).status for one in slow} == {200}

    with face:
        asyncio.run(crowd())


def test_what_nobody_waits_for_any_more_is_not_begun(vault: Path) -> None:
    face, release, done = slow_face(vault, 120)

    async def leave() -> None:
        running = [asyncio.ensure_future(face.asked("POST", "/api/dawdle", b"{}", JSON)) for _ in range(2)]
        await asyncio.sleep(0.3)
        for accept in ("application/json", "text/event-stream"):
            gone = await asyncio.wait_for(
                face.asked("POST", "/api/dawdle", b"{}", {**JSON, "Accept": accept}, leaves=True), 10
            )
            assert gone.status in (0, 200)
        release.set()
        assert {(await one).status for one in running} == {200}

    with face:
        asyncio.run(leave())
        time.sleep(0.2)
        assert len(done) == 2
        assert 'outcome="gone"' in face.ask("GET", "/metrics").text


def test_metrics_are_counted_and_name_no_note(face: Face) -> None:
    face.call("read", path="茶")
    face.call("read", path="not there")
    face.call("no_such_operation")
    text = face.ask("GET", "/metrics").text
    assert 'reme_calls_total{operation="read",outcome="ok"} 1' in text
    assert 'reme_calls_total{operation="read",outcome="not_found"} 1' in text
    assert 'reme_call_seconds_count{operation="read"} 2' in text
    assert "茶" not in text
    assert "no_such" not in text
    for line in text.splitlines():
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2
        if not line.startswith("#"):
            float(line.rsplit(" ", 1)[1])


def test_who_asks_is_named_in_the_log(face: Face) -> None:
    face.call("write", {"User-Agent": "curl/8.5 (x)"}, path="a", content="x")
    face.call("write", {"User-Agent": "\x01<script>"}, path="b", content="x")
    assert [run["actor"] for run in face.call("log").json["runs"]] == ["http", "http:curl"]


@given(st.binary(max_size=200), st.sampled_from(["/api/echo_back", "/api/write", "/notes/x.md", "/notes/a%2"]))
@settings(max_examples=60)
def test_any_bytes_are_answered(tmp_path_factory: pytest.TempPathFactory, body: bytes, target: str) -> None:
    with Face(tmp_path_factory.mktemp("vault")) as face:
        answer = face.ask("POST", target, body, JSON)
        assert 400 <= answer.status < 500 or answer.status == 200
        assert face.ask("GET", "/healthz", headers={"Host": HOST}).status == 200


def test_places_are_hidden_whole_and_nothing_else_is() -> None:
    places = Places(
        Path("/srv/vault"), {"the state folder": Path("/srv/vault/.reme"), "home": Path("/home/mara"), "x": Path("/")}
    )
    hidden = places.hidden(
        {
            "detail": "/srv/vault/日/a.md and /srv/vault: no",
            "hint": ["/srv/vault/.reme/state.db", "/home/marathon /home/mara/m, /home/mara"],
            "n": 1,
        }
    )
    assert hidden == {
        "detail": "日/a.md and the vault: no",
        "hint": ["the state folder/state.db", "/home/marathon home/m, home"],
        "n": 1,
    }
    assert places.hidden("/srv/vaults/a /srv/vault-2 /") == "/srv/vaults/a /srv/vault-2 /"
