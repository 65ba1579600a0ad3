"""What a chat model is, and opening one by its name.

Owns the port and the names. Loads no network code before a model is opened.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from reme.errors import ConfigError
from reme.models.settings import ChatSettings

__all__ = ["CHAT_MODELS", "ChatModel", "Reply", "open_chat"]

CHAT_MODELS: Final = ("openai:MODEL", "ollama:MODEL", "anthropic:MODEL", "gemini:MODEL")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: The answer.
        whole: Whether the model ended it by itself, rather than being cut off or stopped.
        tokens_in: Tokens read, as the provider counted them, or None if it does not tell.
        tokens_out: Tokens written, those of its thinking among them, or None.
    """

    text: str
    whole: bool
    tokens_in: int | None
    tokens_out: int | None


class ChatModel(Protocol):
    """Answers a text by instructions. May be called from several threads.

    Attributes:
        name: Which model of which provider, for people: ``openai:gpt-4.1-mini``.
    """

    @property
    def name(self) -> str: ...

    def complete(self, instructions: str, text: str, *, schema: Mapping[str, object], most: int) -> Reply:
        """One answer, as little random as the provider allows.

        Args:
            instructions: What the model is to do.
            text: What it is to do it with.
            schema: JSON schema of the object that is wanted; providers that can hold a model to it do.
            most: Tokens that the answer may have.

        Raises:
            Unavailable: If the provider does not answer; ``details["perhaps_charged"]`` tells whether it may have
                worked all the same.
        """
        ...


def open_chat(spec: str, settings: ChatSettings) -> ChatModel:
    """Open a chat model. Nothing is sent before it is asked something.

    Args:
        spec: ``openai:MODEL`` (any endpoint that speaks OpenAI's protocol), ``ollama:MODEL`` (the same, on this machine
            by default), ``anthropic:MODEL`` or ``gemini:MODEL``.
        settings: Where it is and how it is to be asked.

    Raises:
        ConfigError: If there is no such provider, the address is none, or a provider that needs a key has none.
    """
    from reme.models.chat_endpoint import ChatEndpoint
    from reme.models.chat_wire import WIRES

    provider, _, model = spec.partition(":")
    wire = WIRES.get(provider)
    if wire is None or not model.strip():
        raise ConfigError(f"there is no chat model {spec!r}", hint=f"Name one as: {', '.join(CHAT_MODELS)}.")
    if not settings.url and wire.needs_key and not settings.key:
        raise ConfigError(
            f"{provider} needs a key", hint="Set REME_LLM_KEY, or REME_LLM_URL for an endpoint that needs none."
        )
    return ChatEndpoint(spec, model.strip(), wire, settings)
