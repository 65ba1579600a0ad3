"""Measures searches over HTTP: ``python -m bench.serving [--notes 10000 50000] [--json FILE]``.

Beside the server a runtime keeps the index, as is usual; both are processes of their own. Told are wall times
of one client on one connection that stays open, and of four at once, beside the same searches in process.
"""

import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.sizes import each_size
from bench.vaults import Made, make_vault
from reme.app import open_vault

_ASKED = 400
_CLIENTS = 4
_PATIENCE_S = 900.0


def main() -> None:
    """Measure each size that is asked for."""
    each_size("bench.serving", "Measure searches over HTTP.", "notes", [1_000, 10_000], _measured)


def _measured(folder: Path, notes: int) -> dict[str, float]:
    return measure(make_vault(folder / "vault", notes))


def measure(made: Made) -> dict[str, float]:
    """Searches in a vault, by words alone."""
    questions = [made.questions[number % len(made.questions)].text for number in range(_ASKED)]
    (made.root / ".reme").mkdir(exist_ok=True)
    runtime = _started(made.root, "runtime")
    try:
        with open_vault(made.root) as app:
            _until(lambda: (keeper := app.keeper()) is not None and keeper.is_current)
            app.call("wait", {"timeout": _PATIENCE_S}, role="agent", actor="bench")

            def in_process(text: str) -> None:
                app.call("search", {"query": text}, role="agent", actor="bench")

            found: dict[str, float] = {"notes": len(made.paths)} | _spread("process", _timed(in_process, questions))
        server = _started(made.root, "serve", "--port", "0")
        try:
            port = _port(server)
            for text in questions[:40]:
                _Client(port).search(text)
            found |= _spread("http", _timed(_Client(port).search, questions))
            found |= _spread("http_4_clients", _at_once(port, questions))
        finally:
            _end(server)
    finally:
        _end(runtime)
    return found | {"load": os.getloadavg()[0]}


class _Client:
    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)

    def search(self, text: str) -> None:
        self._connection.request(
            "POST", "/api/search", json.dumps({"query": text}), {"Content-Type": "application/json"}
        )
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(body.decode())


def _timed(search: Callable[[str], None], questions: Sequence[str]) -> list[float]:
    taken: list[float] = []
    for text in questions:
        began = time.perf_counter()
        search(text)
        taken.append(time.perf_counter() - began)
    return taken


def _at_once(port: int, questions: Sequence[str]) -> list[float]:
    taken: list[float] = []

    def ask(part: Sequence[str]) -> None:
        taken.extend(_timed(_Client(port).search, part))

    clients = [threading.Thread(target=ask, args=(questions[number::_CLIENTS],)) for number in range(_CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return taken


def _spread(name: str, taken: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(taken, n=20)
    return {f"{name}_p50_ms": statistics.median(taken) * 1e3, f"{name}_p95_ms": cuts[18] * 1e3}


def _started(vault: Path, *command: str) -> "subprocess.Popen[bytes]":
    arguments = [sys.executable, "-m", "reme", "--vault", str(vault), *command]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _port(server: "subprocess.Popen[bytes]") -> int:
    assert server.stderr is not None
    line = server.stderr.readline().decode()
    match = re.search(r":(\d+)$", line.strip())
    if match is None:
        raise RuntimeError(line)
    return int(match[1])


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not happen")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
