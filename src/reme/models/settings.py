"""What may be set of a model behind an address.

Owns the settings alone, so that knowing them loads no network code.
"""

from dataclasses import dataclass, field
from typing import Final

from reme.models.embedder import Calibration

__all__ = ["ChatSettings", "EndpointSettings"]

_USUAL: Final = Calibration(lo=0.0, span=0.7)


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Where a model is and how it wants to be asked.

    Attributes:
        url: The address up to and including ``/v1``.
        key: Sent as a bearer token; empty for none.
        dim: Length of the vectors to ask for; None for the model's own.
        query_prefix: What goes before a question.
        passage_prefix: What goes before a passage.
        batch: Most texts in a request.
        longest: Characters of a text that are sent.
        timeout: Seconds to wait for an answer.
        query_timeout: The same for a question, which is asked once: somebody waits, and words alone can answer.
        tries: How often a request is tried, with growing pauses, while the endpoint is down or busy.
        proxy: Address of a proxy; empty for none.
        calibration: Where the model's cosines lie.
    """

    url: str = "http://127.0.0.1:11434/v1"
    key: str = field(default="", repr=False)
    dim: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = 64
    longest: int = 8_000
    timeout: float = 60.0
    query_timeout: float = 2.0
    tries: int = 3
    proxy: str = ""
    calibration: Calibration = _USUAL


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """Where a chat model is and how it is to be asked.

    Attributes:
        url: The address up to and including the version; empty for the provider's own.
        key: How the provider knows who asks; empty for none.
        timeout: Seconds to wait for an answer.
        tries: How often a request is tried, with growing pauses, while the provider is down or busy.
        proxy: Address of a proxy; empty for none.
    """

    url: str = ""
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    tries: int = 3
    proxy: str = ""
