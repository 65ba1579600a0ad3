"""What can be set, with the defaults. Pure data."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

from reme.index import IndexSettings
from reme.search import SearchSettings
from reme.tools import SchemaSettings
from reme.vault import Layout, Retention

__all__ = [
    "DigestSettings",
    "DreamOptions",
    "EndpointOptions",
    "GitSettings",
    "HttpSettings",
    "LLMOptions",
    "LinkSettings",
    "MemoryOptions",
    "Settings",
    "VaultSettings",
]

_FromOne = Annotated[int, Ge(1)]
_Price = Annotated[float, Ge(0)]
_FromZero = Annotated[int, Ge(0)]


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """The vault itself.

    Attributes:
        timezone: IANA name of the zone in which days begin and end; the system's where none is set.
        lock_timeout: Seconds to wait for another process that writes.
        agents_write_notes: Whether agents may change notes outside of the folders of ReMe's own layers.
    """

    timezone: str = ""
    lock_timeout: float = 10.0
    agents_write_notes: bool = True


@dataclass(frozen=True, slots=True)
class GitSettings:
    """The git repository that the vault may be in.

    Attributes:
        auto_commit: Commit the paths of each change set, with its run, actor and reason.
    """

    auto_commit: bool = False


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What becomes of links.

    Attributes:
        follow_renames: Whether a running ``reme runtime`` respells the links to files that other programs rename.
    """

    follow_renames: bool = False


@dataclass(frozen=True, slots=True)
class DigestSettings:
    """How knowledge is filed.

    Attributes:
        preset: A named set of buckets.
        buckets: The buckets, name to description, instead of the preset's.
        fallback: The bucket of what fits none; its folder is made only when used.
    """

    preset: Literal["three", "six"] = "three"
    buckets: dict[str, str] = field(default_factory=dict[str, str])
    fallback: str = "unknown"


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """What may be set of ``auto_memory``; None leaves its own default.

    Attributes:
        open_days: How many days back an event may be continued.
        open_events: How many events at most are offered for continuation.
        messages_at_once: How many messages are learnt from in one step.
    """

    open_days: _FromZero | None = None
    open_events: _FromZero | None = None
    messages_at_once: _FromOne | None = None


@dataclass(frozen=True, slots=True)
class DreamOptions:
    """What may be set of ``auto_dream``; None leaves its own default.

    Attributes:
        mode: Whether it writes, or leaves a proposal to accept or reject.
        scan_days: How many days back changed notes are looked for, the day itself counted.
        max_units: How many units one run integrates at most.
        candidates: How many nodes are offered as homes of a unit.
        parallel: How many units are decided at once.
        topics: How many topics a day takes up at most; 0 for none.
        topic_days: For how many days a topic is not taken up again.
        resource_bytes: How large a resource, or a text beside an event, may be to be read.
    """

    mode: Literal["auto", "propose"] | None = None
    scan_days: _FromOne | None = None
    max_units: _FromOne | None = None
    candidates: _FromOne | None = None
    parallel: _FromOne | None = None
    topics: _FromZero | None = None
    topic_days: _FromZero | None = None
    resource_bytes: _FromZero | None = None


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """Where an embedder ``openai:MODEL`` is asked: from the environment alone, so that no vault that somebody else made
    can have notes sent anywhere.

    Attributes:
        url: The address up to and including ``/v1``; empty for Ollama's on this machine.
        key: Sent as a bearer token.
    """

    url: str = ""
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class LLMOptions:
    """Which chat model decides, how it is asked and what it may cost; None leaves its own default.

    Attributes:
        model: ``openai:MODEL``, ``ollama:MODEL``, ``anthropic:MODEL`` or ``gemini:MODEL``; empty for none. This,
            ``url``, ``key`` and ``proxy`` come from the environment alone.
        url: The address up to and including the version; empty for the provider's own.
        key: How the provider knows who asks.
        proxy: Address of a proxy; empty for none.
        timeout: Seconds to wait for an answer.
        tries: How often a request is tried while the provider is down or busy.
        parallel: How many answers are awaited at once.
        context: Tokens that the model takes at once, its answer among them.
        answer_tokens: Tokens that an answer may have, the model's thinking among them.
        daily_tokens: Tokens a day, after which nothing is asked any more.
        price_in: What a million tokens read costs.
        price_out: What a million tokens written costs.
        prompts: Folder of the vault with prompts of its own.
    """

    model: str = ""
    url: str = ""
    key: str = field(default="", repr=False)
    proxy: str = ""
    timeout: Annotated[float, Gt(0)] | None = None
    tries: _FromOne | None = None
    parallel: _FromOne | None = None
    context: Annotated[int, Ge(4_000)] | None = None
    answer_tokens: Annotated[int, Ge(500)] | None = None
    daily_tokens: _FromZero = 500_000
    price_in: _Price | None = None
    price_out: _Price | None = None
    prompts: str = ""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How the vault is served by HTTP. Who is let in is for the environment alone to say, so that no vault that
    somebody else made can open this machine to others.

    Attributes:
        host: The name or address to listen at; from the environment alone, as are ``token_file`` and ``origins``.
        port: The port; 0 for any that is free.
        token_file: File of the tokens that are asked for; empty for none, which only this machine can do with.
        origins: Origins, apart by blanks, whose pages may ask, or that stand before the server as a proxy.
        max_body: Bytes that a request may carry.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Ge(0), Le(65535)] = 8765
    token_file: str = ""
    origins: str = ""
    max_body: _FromOne = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, by section of ``reme.yaml``.

    Attributes:
        state_dir: Folder of this machine under which each vault's machinery has a folder of its own, for vaults that
            are synced between machines; from the environment alone. Empty for ``.reme`` in the vault.
        reasoner: ``auto`` asks the model, if there is one; ``offline`` asks none.
    """

    vault: VaultSettings = field(default_factory=VaultSettings)
    journal: Retention = field(default_factory=Retention)
    git: GitSettings = field(default_factory=GitSettings)
    links: LinkSettings = field(default_factory=LinkSettings)
    folders: Layout = field(default_factory=Layout)
    digest: DigestSettings = field(default_factory=DigestSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    memory: MemoryOptions = field(default_factory=MemoryOptions)
    dream: DreamOptions = field(default_factory=DreamOptions)
    embedder: str = "none"
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    reasoner: Literal["auto", "offline"] = "auto"
    llm: LLMOptions = field(default_factory=LLMOptions)
    schema: SchemaSettings = field(default_factory=SchemaSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    state_dir: str = ""
