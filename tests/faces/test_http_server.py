"""``reme serve`` as a process on a real port: starting, being found, many clients, being killed, and its end."""

import contextlib
import http.client
import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reme.faces.http.service import Service, announce, found, withdraw

from .conftest import Run
from .http_client import JSON, Server

pytestmark = [
    pytest.mark.allow_hosts(["127.0.0.1", "::1"]),
    pytest.mark.skipif(sys.platform == "win32", reason="stops by a signal that Windows does not have"),
]


@pytest.fixture
def server(vault: Path) -> Iterator[Server]:
    with Server(vault) as server:
        yield server


def announced(vault: Path) -> dict[str, Any]:
    return json.loads((vault / ".reme" / "service.json").read_text())


def test_it_says_where_it_is_serves_and_ends(server: Server, vault: Path) -> None:
    assert server.told == f"note: serving vault at http://127.0.0.1:{server.port}\n"
    assert announced(vault) == {
        "address": f"http://127.0.0.1:{server.port}",
        "pid": server.process.pid,
        "token_file": "",
    }
    assert found(vault / ".reme") == Service(f"http://127.0.0.1:{server.port}", server.process.pid)
    answer = server.call("search", query="green tea")
    assert (answer.status, answer.json["hits"][0]["path"]) == (200, "茶.md")
    assert server.ask("PUT", "/notes/%E6%96%B0.md", "# 新\n".encode()).status == 201
    assert server.ask("GET", "/notes/%E6%96%B0.md").text == "# 新\n"
    for name, value in (
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
        ("cross-origin-resource-policy", "same-origin"),
    ):
        assert answer.headers[name] == value
    assert "server" not in answer.headers
    assert server.stop() == server.told
    assert server.process.returncode == 0
    assert not (vault / ".reme" / "service.json").exists()
    assert found(vault / ".reme") is None


def test_an_interrupt_ends_it_too(server: Server) -> None:
    server.stop(signal.SIGINT)
    assert server.process.returncode == 0


def test_a_page_of_others_is_refused_over_the_wire(server: Server) -> None:
    assert server.call("search", {"Origin": "https://evil.example"}, query="tea").status == 403
    assert server.ask("GET", "/healthz", headers={"Host": "evil.example"}).status == 403
    assert server.ask("OPTIONS", "/api/write", headers={"Origin": "null"}).status == 403


def test_a_port_in_use_leads_to_another(server: Server, reme_process: Run, vault: Path) -> None:
    failed = reme_process("serve", "--port", str(server.port))
    assert failed.returncode == 5
    assert b"this vault is served at http://127.0.0.1" in failed.stderr
    assert b"already, by process " in failed.stderr
    with socket.create_server(("127.0.0.1", 0)) as other:
        failed = reme_process("serve", "--port", str(other.getsockname()[1]), "--json")
    assert failed.returncode == 5
    error = json.loads(failed.stdout)["error"]
    assert "is in use by another program" in error["message"]
    assert error["hint"] == "Choose another port; 0 takes any that is free."
    assert announced(vault)["pid"] == server.process.pid


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--host", "no such host"], 2, b"is no place here"),
        (["--host", "192.0.2.1"], 2, b"is no address of this machine"),
        (["--port", "70000"], 2, b"70000"),
        (["--port", "x"], 2, b"'x'"),
        (["--role", "person"], 2, b"nobody acts as a person"),
        (["--host", "0.0.0.0", "--port", "0"], 4, b"no token is asked for"),
        (["--host", "::", "--port", "0"], 4, b"no token is asked for"),
        (["--host", ""], 2, b"is no place here"),
        (["--token-file", "."], 2, b"is a directory"),
        (["--token-file", "notes/tokens"], 2, b"is in the vault"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_is(
    reme_process: Run, vault: Path, options: list[str], code: int, said: bytes
) -> None:
    failed = reme_process("serve", *options)
    assert (failed.returncode, failed.stdout) == (code, b"")
    assert said in failed.stderr
    assert b"Traceback" not in failed.stderr
    assert not (vault / ".reme" / "service.json").exists()


def test_a_broken_vault_is_not_served(reme_process: Run, vault: Path) -> None:
    (vault / "reme.yaml").write_text("vault: {timezone: Mars}\n")
    assert reme_process("serve", "--port", "0").returncode == 2
    (vault / "reme.yaml").write_text("http: {host: 0.0.0.0}\n")
    failed = reme_process("serve", "--port", "0")
    assert (failed.returncode, b"REME_HTTP_HOST" in failed.stderr) == (2, True)


def test_open_to_others_it_asks_for_a_token_that_it_makes(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    variables = {"REME_HTTP_HOST": "0.0.0.0", "REME_HTTP_TOKEN_FILE": str(file)}
    with Server(vault, variables=variables) as server:
        token = file.read_text().splitlines()[-1].split()[0]
        assert server.told.startswith(f"note: made {file} with a token for agents\n")
        assert announced(vault)["token_file"] == str(file)
        assert server.ask("GET", "/readyz").status == 401
        assert server.ask("GET", "/healthz").status == 200
        assert server.ask("GET", "/readyz", headers={"Authorization": f"Bearer {token}"}).status == 200
        assert server.call("search", {"Authorization": f"Bearer {token}x"}, query="tea").status == 401
        told = server.stop()
    for place in (told, (vault / "reme.yaml").read_text(), *(str(path) for path in vault.rglob("*"))):
        assert token not in place
    left = [path.read_bytes() for path in (vault / ".reme").rglob("*") if path.is_file()]
    assert not any(token.encode() in data for data in left)


def test_broken_requests_are_answered_or_dropped_and_nothing_else_suffers(server: Server) -> None:
    head = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    broken = [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/9.9\r\n" + head + b"\r\n",
        b"GET /notes/\x00 HTTP/1.1\r\n" + head + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + head + head + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n" + head + b"X: " + b"a" * 2_000_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 2_000_000 + b" HTTP/1.1\r\n" + head + b"\r\n",
        b"POST /api/search HTTP/1.1\r\n" + head + b"Content-Length: -1\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\n" + head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]
    for request in broken:
        said = b""
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw, contextlib.suppress(OSError):
            raw.sendall(request)
            raw.shutdown(socket.SHUT_WR)
            while piece := raw.recv(65536):
                said += piece
        assert not said or said.split(b" ", 2)[1][:1] == b"4", (request[:60], said[:200])
    assert server.call("search", query="tea").status == 200
    assert "Traceback" not in server.stop()


def test_requests_that_are_damaged_at_random_are_answered_or_dropped(server: Server) -> None:
    chance = random.Random(7)
    whole = (
        f"POST /api/search?x=%e7 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
        'Accept: text/plain;q=0.3\r\nIf-Match: "a"\r\nContent-Length: 17\r\n\r\n{"query": "绿茶"}\r\n\r\n'
    ).encode()
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(damaged))
            match chance.randrange(3):
                case 0:
                    damaged[at] = chance.randrange(256)
                case 1:
                    del damaged[at : at + chance.randint(1, 20)]
                case _:
                    damaged[at:at] = chance.choice([b"\r\n", b"\x00", b"\xff", b" ", b"%", b"\n", b"9" * 30])
        said = b""
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw, contextlib.suppress(OSError):
            raw.sendall(damaged)
            raw.shutdown(socket.SHUT_WR)
            while piece := raw.recv(65536):
                said += piece
        assert not said or said.startswith((b"HTTP/1.1 2", b"HTTP/1.1 4")), (bytes(damaged), said[:100])
    assert server.call("search", query="tea").status == 200
    assert "Traceback" not in server.stop()


def test_a_body_that_is_longer_than_it_says_or_never_ends_is_cut_off(vault: Path) -> None:
    with Server(vault, variables={"REME_HTTP_MAX_BODY": "100000"}) as server:
        for length in (b"Content-Length: 999999\r\n", b"Transfer-Encoding: chunked\r\n"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw:
                host = f"Host: 127.0.0.1:{server.port}\r\n".encode()
                raw.sendall(
                    b"POST /api/search HTTP/1.1\r\nContent-Type: application/json\r\n" + host + length + b"\r\n"
                )
                sent = 0
                try:
                    while sent < 50_000_000:
                        raw.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
                        sent += 0x10000
                except OSError:
                    pass
            assert sent < 50_000_000
        assert server.call("search", query="tea").status == 200


def test_who_sends_no_whole_request_is_given_up(vault: Path) -> None:
    with Server(vault, program="tests.faces.http_slow") as server:
        for beginning in (b"", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw:
                raw.sendall(beginning)
                began = time.monotonic()
                with contextlib.suppress(OSError):
                    while time.monotonic() - began < 20 and (not beginning or raw.send(b"a")):
                        raw.settimeout(0.2)
                        with contextlib.suppress(TimeoutError):
                            assert raw.recv(1) == b""
                            break
                assert time.monotonic() - began < 15
        assert server.call("doze", seconds=2).status == 200


def test_it_ends_at_once_where_clients_only_stay_connected(server: Server) -> None:
    idle = [server.connect() for _ in range(4)]
    for connection in idle:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 30
    for connection in idle:
        connection.close()


def test_what_runs_when_it_is_told_to_end_comes_to_its_end(vault: Path) -> None:
    with Server(vault, program="tests.faces.http_slow") as server:
        connection, stream = server.connect(), server.connect()
        connection.request("POST", "/api/doze", json.dumps({"seconds": 2}), JSON)
        stream.request("POST", "/api/doze", json.dumps({"seconds": 2}), {**JSON, "Accept": "text/event-stream"})
        time.sleep(0.7)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        with pytest.raises(ConnectionError):
            server.ask("GET", "/healthz")
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["text"]) == (200, "睡醒了")
        events = stream.getresponse().read().decode()
        assert "event: progress\n" in events
        assert "event: result\n" in events
        server.process.communicate(timeout=60)
        assert server.process.returncode == 0
        connection.close()
        stream.close()


def test_a_second_signal_ends_it_without_waiting(vault: Path) -> None:
    with Server(vault, program="tests.faces.http_slow") as server:
        connection = server.connect()
        connection.request("POST", "/api/doze", json.dumps({"seconds": 60}), JSON)
        time.sleep(0.7)
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        server.stop(signal.SIGTERM)
        assert time.monotonic() - began < 20
        connection.close()


def write_many(port: int, name: str, many: int, acknowledged: list[str]) -> None:
    """Append to one note and make others, each once, over one connection, until the server is gone."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        for number in range(many):
            mark = f"行-{name}-{number}-尾"
            for operation, arguments in (
                ("append", {"path": "共享", "content": mark}),
                ("write", {"path": f"notes/{name}-{number}", "content": f"# {mark}\n"}),
                ("search", {"query": mark}),
            ):
                connection.request("POST", f"/api/{operation}", json.dumps(arguments), JSON)
                answer = connection.getresponse()
                body = json.loads(answer.read())
                assert answer.status == 200, body
                if operation != "search":
                    acknowledged.append(f"{operation} {mark}")
    except (OSError, http.client.HTTPException):
        return
    finally:
        connection.close()


def crowd(port: int, many: int, name: str = "客") -> tuple[list[threading.Thread], list[str]]:
    """Eight clients at once, and the list of what is acknowledged to them."""
    acknowledged: list[str] = []
    names = [f"{name}{client}" for client in range(8)]
    threads = [threading.Thread(target=write_many, args=(port, client, many, acknowledged)) for client in names]
    for thread in threads:
        thread.start()
    return threads, acknowledged


def check_written(vault: Path, acknowledged: list[str]) -> None:
    """What was acknowledged is there exactly once."""
    lines = (vault / "共享.md").read_text("utf-8").splitlines()
    for entry in acknowledged:
        operation, mark = entry.split(" ")
        if operation == "append":
            assert lines.count(mark) == 1, mark
        else:
            _, client, number, _ = mark.split("-")
            assert (vault / "notes" / f"{client}-{number}.md").read_text("utf-8") == f"# {mark}\n"


def test_eight_clients_search_and_write_at_once(server: Server, vault: Path) -> None:
    (vault / "共享.md").write_text("# 共享\n", encoding="utf-8")
    threads, acknowledged = crowd(server.port, 6)
    for thread in threads:
        thread.join(120)
    assert len(acknowledged) == 8 * 6 * 2
    check_written(vault, acknowledged)
    found = server.call("list", path="notes", limit=100).json
    assert len(found["files"]) == 48
    assert "Traceback" not in server.stop()


def test_killed_amid_writes_it_starts_again_with_all_that_it_acknowledged(vault: Path) -> None:
    (vault / "共享.md").write_text("# 共享\n", encoding="utf-8")
    acknowledged: list[str] = []
    for name, moment in (("甲", 0.7), ("乙", 1.3)):
        with Server(vault) as server:
            threads, more = crowd(server.port, 10_000, name)
            while not more:
                time.sleep(0.01)
            time.sleep(moment)
            server.process.kill()
            for thread in threads:
                thread.join(60)
            acknowledged += more
        assert announced(vault)["pid"] == server.process.pid
        assert found(vault / ".reme") is None
    with Server(vault) as server:
        assert server.call("search", query="共享").status == 200
        check_written(vault, acknowledged)
        assert announced(vault)["pid"] == server.process.pid
        server.stop()


def test_only_the_server_that_was_announced_takes_it_back(tmp_path: Path) -> None:
    mine, other = Service("http://127.0.0.1:1", os.getpid()), Service("http://127.0.0.1:2", 1, "/x")
    announce(tmp_path, mine)
    announce(tmp_path, other)
    withdraw(tmp_path, mine)
    assert json.loads((tmp_path / "service.json").read_text())["pid"] == 1
    withdraw(tmp_path, other)
    withdraw(tmp_path, other)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "{}", '{"address": "file:///etc/passwd", "pid": 1}', '{"address": 1, "pid": "x"}']
)
def test_an_announcement_that_says_nothing_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "service.json").write_text(text)
    assert found(tmp_path) is None


PAGE = Path(__file__).parents[2] / "docs" / "http.md"
EXAMPLE = re.compile(r"^\$ curl (.*)$", re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_examples_of_the_page_are_carried_out(server: Server, vault: Path) -> None:
    (vault / "茶.md").write_text("# 绿茶\n\n绿茶用八十度的水泡，温度高了会苦。\n", encoding="utf-8")
    examples = EXAMPLE.findall(PAGE.read_text("utf-8"))
    assert len(examples) >= 9
    for example in examples:
        command = shlex.split(example.replace("127.0.0.1:8765", f"127.0.0.1:{server.port}"))
        lasting = ["-m", "2"] if "/events" in example else []
        done = subprocess.run(
            ["curl", "-S", "-w", "%{http_code}", *lasting, *command], capture_output=True, check=False
        )
        assert done.stdout.decode()[-3:] == ("404" if "serach" in example else "201" if "-i" in example else "200"), (
            example
        )
    assert (vault / "notes" / "plan.md").read_text("utf-8") == "# 新计划\n\n周四。\n"
