"""How providers are spoken to: the form of a request and of an answer, for each protocol.

Owns the forms alone. Sends nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from reme.models.chat import Reply

__all__ = ["WIRES", "Question", "Wire"]

_ANTHROPIC_VERSION: Final = "2023-06-01"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a model; ``without`` names the options that it has refused before."""

    model: str
    instructions: str
    text: str
    schema: Mapping[str, object]
    most: int
    without: frozenset[str] = frozenset()

    def options(self, **values: object) -> dict[str, object]:
        """The options that it has not refused."""
        return {name: value for name, value in values.items() if name not in self.without}


@dataclass(frozen=True, slots=True)
class Wire:
    """A protocol.

    Attributes:
        url: The provider's own address.
        needs_key: Whether that address answers nobody without a key.
        path: What is asked for, behind the address, by the model's name.
        headers: What tells who asks, by the key.
        options: What a model may refuse, the likeliest first, and is then left out or put otherwise.
        body: The request.
        reply: The answer; raises ``LookupError``, ``TypeError`` or ``ValueError`` for one in another form.
    """

    url: str
    needs_key: bool
    path: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    options: tuple[str, ...]
    body: Callable[[Question], dict[str, object]]
    reply: Callable[[Any], Reply]


def _openai_body(question: Question) -> dict[str, object]:
    form = {"name": "decision", "schema": question.schema}
    limit = "max_completion_tokens" if "max_tokens" in question.without else "max_tokens"
    return {
        "model": question.model,
        "messages": [
            {"role": "system", "content": question.instructions},
            {"role": "user", "content": question.text},
        ],
        "stream": False,
        limit: question.most,
        **question.options(temperature=0, response_format={"type": "json_schema", "json_schema": form}),
    }


def _openai_reply(answer: Any) -> Reply:
    choice: Any = answer["choices"][0]
    usage: Any = answer.get("usage") or {}
    message: Any = choice["message"]
    calls: Any = message.get("tool_calls") or ([{"function": call}] if (call := message.get("function_call")) else [])
    return Reply(
        text=_parts(message.get("content")) or "\n".join(_text(call["function"].get("arguments")) for call in calls),
        whole=choice.get("finish_reason") in ("stop", "tool_calls", "function_call", None),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
    )


def _anthropic_body(question: Question) -> dict[str, object]:
    return {
        "model": question.model,
        "system": question.instructions,
        "messages": [{"role": "user", "content": question.text}],
        "max_tokens": question.most,
        **question.options(temperature=0),
    }


def _anthropic_reply(answer: Any) -> Reply:
    usage: Any = answer.get("usage") or {}
    parts: Any = answer["content"]
    counted = _counts(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Reply(
        text="".join(_text(part.get("text")) for part in parts if part.get("type") == "text"),
        whole=answer.get("stop_reason") in ("end_turn", "stop_sequence"),
        tokens_in=counted,
        tokens_out=_count(usage.get("output_tokens")),
    )


def _gemini_body(question: Question) -> dict[str, object]:
    options = question.options(temperature=0, responseMimeType="application/json")
    return {
        "systemInstruction": {"parts": [{"text": question.instructions}]},
        "contents": [{"role": "user", "parts": [{"text": question.text}]}],
        "generationConfig": {"maxOutputTokens": question.most, **options},
    }


def _gemini_reply(answer: Any) -> Reply:
    candidate: Any = answer["candidates"][0]
    content: Any = candidate.get("content") or {}
    parts: Any = content.get("parts") or []
    usage: Any = answer.get("usageMetadata") or {}
    counted = _counts(usage, "candidatesTokenCount", "thoughtsTokenCount")
    return Reply(
        text="".join(_text(part.get("text")) for part in parts if not part.get("thought")),
        whole=candidate.get("finishReason") == "STOP",
        tokens_in=_count(usage.get("promptTokenCount")),
        tokens_out=counted,
    )


def _parts(content: Any) -> str:
    """A text, or the texts of the parts that an answer comes in."""
    if not isinstance(content, list):
        return _text(content)
    parts = cast("list[dict[str, object]]", content)
    return "".join(_text(part.get("text")) for part in parts if part.get("type") in ("text", "output_text"))


def _text(value: object) -> str:
    """A text that may not be there."""
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError("a text was expected")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _counts(usage: Any, *names: str) -> int | None:
    """The sum of the counts that are told, or None if none is."""
    told = [count for name in names if (count := _count(usage.get(name))) is not None]
    return sum(told) if told else None


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _openai(url: str, *, needs_key: bool) -> Wire:
    return Wire(
        url=url,
        needs_key=needs_key,
        path=lambda model: "/chat/completions",
        headers=_bearer,
        options=("response_format", "temperature", "max_tokens"),
        body=_openai_body,
        reply=_openai_reply,
    )


WIRES: Final[Mapping[str, Wire]] = {
    "openai": _openai("https://api.openai.com/v1", needs_key=True),
    "ollama": _openai("http://127.0.0.1:11434/v1", needs_key=False),
    "anthropic": Wire(
        url="https://api.anthropic.com/v1",
        needs_key=True,
        path=lambda model: "/messages",
        headers=lambda key: {"x-api-key": key, "anthropic-version": _ANTHROPIC_VERSION},
        options=("temperature",),
        body=_anthropic_body,
        reply=_anthropic_reply,
    ),
    "gemini": Wire(
        url="https://generativelanguage.googleapis.com/v1beta",
        needs_key=True,
        path=lambda model: f"/models/{model}:generateContent",
        headers=lambda key: {"x-goog-api-key": key},
        options=("responseMimeType", "temperature"),
        body=_gemini_body,
        reply=_gemini_reply,
    ),
}
"""The protocols by the name of their provider; most others speak OpenAI's."""
