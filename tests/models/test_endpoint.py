"""An endpoint of OpenAI's kind, played by a small server on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from reme.errors import ConfigError, InvalidInput, Unavailable
from reme.models import Calibration, EndpointSettings, is_installed, open_embedder
from reme.models.endpoint import Endpoint

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(not is_installed("openai"), reason="numpy is not installed"),
]


class Server:
    """Answers as it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.failures: list[tuple[int, dict[str, str], bytes]] = []
        self.answer: Any = self.vectors
        self.delay = threading.Event()
        told = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                told.requests.append(body | {"path": self.path})
                told.headers.append(dict(self.headers))
                code, extra, data = 200, {}, b""
                if told.failures:
                    code, extra, data = told.failures.pop(0)
                if code == 0:
                    told.delay.wait(5)
                    return
                if code == 200:
                    data = json.dumps(told.answer(body)).encode()
                self.send_response(code)
                for name, value in extra.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    @staticmethod
    def vectors(body: dict[str, Any]) -> dict[str, Any]:
        rows = [{"index": n, "embedding": [len(text), 1.0, 2.0]} for n, text in enumerate(body["input"])]
        return {"data": rows[::-1]}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self) -> None:
        self.delay.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def endpoint(server: Server, pauses: list[float] | None = None, **settings: Any) -> Endpoint:
    noted: list[float] = [] if pauses is None else pauses
    return Endpoint("tiny", EndpointSettings(url=server.url, **settings), sleep=noted.append, chance=lambda: 0.5)


def test_texts_go_out_in_batches_and_come_back_in_order(server: Server) -> None:
    embedder = endpoint(server, batch=4, key="secret", passage_prefix="passage: ", query_prefix="query: ", longest=20)
    texts = ["x" * n for n in range(1, 11)]
    vectors = embedder.embed(texts)
    assert vectors.shape == (10, 3)
    assert (abs((vectors**2).sum(1) - 1) < 1e-6).all()
    assert (vectors[1:, 0] > vectors[:-1, 0]).all()
    assert [len(request["input"]) for request in server.requests] == [4, 4, 2]
    assert {request["path"] for request in server.requests} == {"/v1/embeddings"}
    assert server.requests[-1]["input"] == ["passage: " + "x" * 9, "passage: " + "x" * 10]
    assert all(headers["Authorization"] == "Bearer secret" for headers in server.headers)
    embedder.embed(["y" * 100], query=True)
    assert server.requests[-1]["input"] == ["query: " + "y" * 20]
    assert embedder.embed([]).shape == (0, 3)


def test_a_busy_endpoint_is_asked_again(server: Server) -> None:
    pauses: list[float] = []
    embedder = endpoint(server, pauses, dim=3)
    server.failures = [(503, {}, b""), (429, {"Retry-After": "3"}, b"slow down")]
    assert embedder.embed(["pear"]).shape == (1, 3)
    assert pauses == [0.5, 3.0]
    assert server.requests[-1]["dimensions"] == 3


def test_it_gives_up_after_some_tries(server: Server) -> None:
    pauses: list[float] = []
    server.failures = [(500, {}, b"broken")] * 3
    with pytest.raises(Unavailable, match="500 broken"):
        endpoint(server, pauses, dim=3).embed(["pear"])
    assert len(pauses) == 2


def test_a_refusal_is_not_repeated_and_tells_why_without_the_key(server: Server) -> None:
    server.failures = [(401, {}, json.dumps({"error": {"message": "no such key"}}).encode())]
    with pytest.raises(Unavailable) as refused:
        endpoint(server, key="very-secret", dim=3).embed(["pear"])
    assert "401 no such key" in refused.value.message
    assert "very-secret" not in str(refused.value.as_dict())
    assert "very-secret" not in repr(EndpointSettings(key="very-secret"))
    assert len(server.requests) == 1


def test_no_redirect_is_followed(server: Server) -> None:
    server.failures = [(302, {"Location": f"{server.url}/elsewhere"}, b"")]
    with pytest.raises(Unavailable, match="302"):
        endpoint(server, key="secret", dim=3).embed(["pear"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"nothing": 1},
        [],
        {"data": [{"index": 0, "embedding": "text"}]},
        {"data": [{"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": [float("nan"), 0.0, 0.0]}]},
    ],
)
def test_nonsense_is_refused(server: Server, answer: Any) -> None:
    server.answer = lambda _: answer
    with pytest.raises(Unavailable, match="unusable"):
        endpoint(server, dim=3).embed(["pear"])


@pytest.mark.parametrize("status", [400, 413, 422, 200])
def test_a_text_that_it_does_not_take_is_told_apart_from_an_endpoint_that_takes_none(
    server: Server, status: int
) -> None:
    """The same with an unusable vector, which is what some models give for a text of nothing but white space."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        told = Server.vectors(body)
        if "毒" in "".join(body["input"]):
            told["data"][0]["embedding"] = [0.0, 0.0, 0.0]
        return told

    server.answer = answer
    embedder = endpoint(server)
    server.failures = [] if status == 200 else [(status, {}, b"too long")]
    with pytest.raises(InvalidInput, match="unusable" if status == 200 else "too long"):
        embedder.embed(["pear", "毒"])
    assert [request["input"] for request in server.requests] == [["pear", "毒"], ["."]]
    assert embedder.embed(["pear"]).shape == (1, 3)
    server.failures = [(400, {}, b"no such model")] * 2
    with pytest.raises(Unavailable, match="no such model"):
        embedder.embed(["pear"])


def test_a_question_waits_neither_long_nor_twice(server: Server) -> None:
    embedder = endpoint(server, query_timeout=0.1)
    server.failures = [(0, {}, b"")]
    with pytest.raises(Unavailable, match="timed out"):
        embedder.embed(["pear"], query=True)
    assert len(server.requests) == 1
    assert embedder.embed(["pear"]).shape == (1, 3)
    assert embedder.embed(["pear"], query=True).shape == (1, 3)
    assert len(server.requests) == 3  # its length was told with it
    assert embedder.dim == 3


def test_questions_are_spared_the_wait_for_an_endpoint_that_has_just_failed(server: Server) -> None:
    now = 0.0
    embedder = Endpoint("tiny", EndpointSettings(url=server.url, query_timeout=0.1), monotonic=lambda: now)
    server.failures = [(0, {}, b""), (500, {}, b""), (400, {}, b"too long")]
    for asked, at in enumerate((0, 30), 1):
        now = at
        with pytest.raises(Unavailable, match=r"timed out|500"):
            embedder.embed(["pear"], query=True)
        for later in (0, 29):
            now = at + later
            with pytest.raises(Unavailable, match=rf"(timed out|500).*asked again in {30 * asked - later} s"):
                embedder.embed(["梨"], query=True)
        assert len(server.requests) == asked
    now = 90
    with pytest.raises(InvalidInput, match="too long"):
        embedder.embed(["pear"], query=True)
    assert embedder.embed(["梨"], query=True).shape == (1, 3)  # it answers, if not to every text
    server.failures = [(500, {}, b"")]
    with pytest.raises(Unavailable, match="500"):
        embedder.embed(["pear"], query=True)
    with pytest.raises(Unavailable, match="asked again in 30 s"):
        embedder.embed(["pear"], query=True)


def test_a_silent_endpoint_is_not_waited_for_longer_than_told(server: Server) -> None:
    server.failures = [(0, {}, b"")]
    with pytest.raises(Unavailable, match="timed out"):
        endpoint(server, dim=3, timeout=0.1, tries=1).embed(["pear"])


def test_no_endpoint_at_all(server: Server) -> None:
    url = server.url
    server.close()
    settings = EndpointSettings(url=url, tries=2)
    embedder = Endpoint("tiny", settings, sleep=lambda _: None)
    with pytest.raises(Unavailable, match="does not serve tiny"):
        embedder.embed(["pear"])
    server.thread = threading.Thread(target=lambda: None)
    server.thread.start()


def test_it_is_opened_by_its_name() -> None:
    calibration = Calibration(0.3, 0.4)
    opened = open_embedder("openai:nomic", endpoint=EndpointSettings(dim=768, calibration=calibration))
    assert opened is not None
    assert (opened.name, opened.dim, opened.calibration) == ("openai-127.0.0.1:11434-nomic", 768, calibration)
    for url in ("", "file:///etc", "localhost:1"):
        with pytest.raises(ConfigError):
            open_embedder("openai:x", endpoint=EndpointSettings(url=url))
