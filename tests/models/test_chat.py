"""Chat models behind an address: three protocols, spoken with a small server on this machine."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from reme.errors import ConfigError, Unavailable
from reme.models import ChatSettings, open_chat
from reme.models.chat_endpoint import ChatEndpoint
from reme.models.chat_wire import WIRES
from reme.testing import Asked, ChatServer, Failure, Spoken

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SCHEMA: dict[str, object] = {"type": "object"}
PATHS = {
    "openai": "/chat/completions",
    "ollama": "/chat/completions",
    "anthropic": "/messages",
    "gemini": "/models/tiny:generateContent",
}


def in_turn(*answers: Spoken | Failure) -> Callable[[Asked], Spoken | Failure]:
    left = list(answers)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


def endpoint(
    server: ChatServer, provider: str = "openai", pauses: list[float] | None = None, **settings: Any
) -> ChatEndpoint:
    noted: list[float] = [] if pauses is None else pauses
    chosen = ChatSettings(url=server.url, **settings)
    return ChatEndpoint(f"{provider}:tiny", "tiny", WIRES[provider], chosen, sleep=noted.append, chance=lambda: 0.5)


@pytest.mark.parametrize("provider", WIRES)
def test_a_question_and_its_answer(provider: str) -> None:
    with ChatServer(in_turn(Spoken("答案 {}", tokens=(120, 7)))) as server:
        reply = endpoint(server, provider, key="secret").complete("Tu es.", "问题", schema=SCHEMA, most=300)
    assert (reply.text, reply.whole, reply.tokens_in, reply.tokens_out) == ("答案 {}", True, 120, 7)
    (asked,) = server.asked
    assert (asked.path, asked.instructions, asked.text) == (PATHS[provider], "Tu es.", "问题")
    assert "secret" in "".join(asked.headers.values())
    options = asked.body.get("generationConfig", asked.body)
    assert options["temperature"] == 0
    assert 300 in options.values()


@pytest.mark.parametrize("provider", WIRES)
@pytest.mark.parametrize("ended", ["length", "content_filter"])
def test_an_answer_that_was_cut_off_or_stopped_is_not_whole(provider: str, ended: str) -> None:
    with ChatServer(in_turn(Spoken('{"events": []}', ended=ended))) as server:
        assert not endpoint(server, provider).complete("", "", schema=SCHEMA, most=5).whole


def test_a_provider_that_does_not_count_is_not_guessed_for() -> None:
    with ChatServer(in_turn(Spoken("{}", tokens=None))) as server:
        reply = endpoint(server).complete("", "", schema=SCHEMA, most=5)
    assert (reply.tokens_in, reply.tokens_out) == (None, None)


@pytest.mark.parametrize("provider", WIRES)
def test_a_busy_provider_is_asked_again_with_growing_pauses(provider: str) -> None:
    pauses: list[float] = []
    busy = [Failure(503), Failure(429, "slow down", {"Retry-After": "3"})]
    with ChatServer(in_turn(*busy, Spoken("{}"))) as server:
        assert endpoint(server, provider, pauses).complete("", "", schema=SCHEMA, most=5).text == "{}"
    assert pauses == [0.5, 3.0]
    assert len(server.asked) == 3


STREAMED = 'data: {"choices": [{"delta": {"content": "{}"}}]}\n\ndata: [DONE]\n\n'
"""What a server says that streams without being asked to."""


@pytest.mark.parametrize(
    "failure",
    [
        Failure(500),
        Failure(how="half"),
        Failure(how="hang"),
        Failure(200, "<html>"),
        Failure(200),
        Failure(200, STREAMED),
    ],
)
def test_a_provider_that_stays_down_is_given_up_after_some_tries(failure: Failure) -> None:
    pauses: list[float] = []
    with ChatServer(in_turn(failure)) as server:
        model = endpoint(server, pauses=pauses, timeout=0.2)
        with pytest.raises(Unavailable, match=r"the model openai:tiny at 127\.0\.0\.1:") as caught:
            model.complete("", "", schema=SCHEMA, most=5)
        assert len(server.asked) == 3
    assert pauses == [0.5, 1.0]
    assert caught.value.details["perhaps_charged"] == (failure.status != 500 or failure.how != "status")


def test_white_space_that_keeps_a_connection_alive_is_passed_over() -> None:
    answer = '{"choices": [{"message": {"content": "答案"}, "finish_reason": "stop"}]}'
    with ChatServer(in_turn(Failure(200, f"\n \r\n\n{answer}\n"))) as server:
        reply = endpoint(server).complete("", "", schema=SCHEMA, most=5)
    assert (reply.text, reply.whole) == ("答案", True)


def test_nobody_at_the_address_is_named_and_costs_nothing() -> None:
    with ChatServer(in_turn(Spoken("{}"))) as server:
        model = endpoint(server)
    with pytest.raises(Unavailable, match="does not answer") as caught:
        model.complete("", "", schema=SCHEMA, most=5)
    assert not caught.value.details["perhaps_charged"]


def test_a_refusal_is_not_repeated_and_never_shows_the_key() -> None:
    with ChatServer(in_turn(Failure(401, '{"error": {"message": "bad key"}}'))) as server:
        with pytest.raises(Unavailable, match="401 bad key") as caught:
            endpoint(server, key="very-secret").complete("", "", schema=SCHEMA, most=5)
        assert len(server.asked) == 1
    assert "REME_LLM_KEY" in caught.value.hint
    assert "very-secret" not in str(caught.value.as_dict())
    assert "very-secret" not in repr(ChatSettings(key="very-secret"))


def test_nothing_follows_a_redirect() -> None:
    def answer(asked: Asked) -> Spoken | Failure:
        return Failure(307, headers={"Location": "http://127.0.0.1:1/elsewhere"})

    with ChatServer(answer) as server, pytest.raises(Unavailable, match="307"):
        endpoint(server).complete("", "", schema=SCHEMA, most=5)


def refusing(*options: str) -> Callable[[Asked], Spoken | Failure]:
    def answer(asked: Asked) -> Spoken | Failure:
        for option in options:
            if option in asked.body:
                return Failure(400, f'{{"error": {{"message": "Unsupported parameter: \'{option}\'"}}}}')
        return Spoken("{}")

    return answer


@pytest.mark.parametrize("options", [["temperature"], ["response_format"], ["temperature", "max_tokens"]])
def test_options_that_a_model_refuses_are_left_out_from_then_on(options: Sequence[str]) -> None:
    with ChatServer(refusing(*options)) as server:
        model = endpoint(server)
        model.complete("", "", schema=SCHEMA, most=5)
        asked = len(server.asked)
        assert asked == 1 + len(options)
        model.complete("", "", schema=SCHEMA, most=5)
        assert len(server.asked) == asked + 1
    last = server.asked[-1].body
    assert not set(options) & set(last)
    assert last.get("max_tokens", last.get("max_completion_tokens")) == 5


def test_a_form_that_a_server_cannot_take_is_given_up_even_if_it_does_not_say_so() -> None:
    def answer(asked: Asked) -> Spoken | Failure:
        return Failure(400, "failed to parse grammar") if "response_format" in asked.body else Spoken("{}")

    with ChatServer(answer) as server:
        assert endpoint(server).complete("", "", schema=SCHEMA, most=5).text == "{}"
        assert len(server.asked) == 2


def test_a_request_that_is_wrong_in_itself_is_told() -> None:
    with ChatServer(in_turn(Failure(400, '{"error": {"message": "context too long"}}'))) as server:
        with pytest.raises(Unavailable, match="400 context too long"):
            endpoint(server).complete("", "", schema=SCHEMA, most=5)
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("spec", "settings", "message"),
    [
        ("llama", {}, "there is no chat model 'llama'"),
        ("openai:", {}, "there is no chat model"),
        ("mystery:model", {}, "there is no chat model"),
        ("openai:gpt", {}, "openai needs a key"),
        ("anthropic:claude", {}, "anthropic needs a key"),
        ("gemini:flash", {}, "gemini needs a key"),
        ("ollama:qwen", {"url": "localhost"}, "is no address"),
        ("ollama:qwen", {"url": "file:///etc/passwd"}, "is no address"),
    ],
)
def test_what_is_set_wrong_is_named(spec: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_chat(spec, ChatSettings(**settings))


def test_opening_sends_nothing() -> None:
    assert open_chat("ollama:qwen3:8b", ChatSettings()).name == "ollama:qwen3:8b"
    with ChatServer(in_turn(Spoken("{}"))) as server:
        model = open_chat("openai:tiny", ChatSettings(url=f"http://me:pass@{server.url.removeprefix('http://')}"))
        assert "pass" not in model.name
        assert not server.asked
