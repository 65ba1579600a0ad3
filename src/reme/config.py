"""Settings: defaults, then the vault's ``reme.yaml``, then the environment; and which vault is meant.

Owns the file's format and is the only module that reads the environment. Knows no operation and no face.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast, get_type_hints

from annotated_types import Ge, Gt, Le

from reme.clock import zone_named
from reme.errors import ConfigError
from reme.index import IndexSettings
from reme.search import SearchSettings
from reme.tools import SchemaSettings
from reme.vault import SETTINGS_FILE, STATE_FOLDER, Layout, Retention

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
    "create_vault",
    "enclosing_vault",
    "find_root",
    "load_settings",
]


_PLAIN_LINE: Final = re.compile(
    r"(?:(?P<indent>  )?(?P<key>[a-z_]+):(?: +(?P<word>[A-Za-z][\w/.+-]*(?::[\w/.+-]+)*))?)?(?:(?:^| +)#.*)? *",
    re.ASCII,
)
_NO_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""What YAML takes for something else than a word."""

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


_SENDING: Final = ("model", "url", "key", "proxy")
_LETTING_IN: Final = ("host", "token_file", "origins")


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


def find_root(given: str | None, start: Path, environment: Mapping[str, str] | None = None) -> Path:
    """The folder of the vault that is meant.

    Args:
        given: What the caller named, else ``REME_VAULT``, else the nearest of ``start`` and its parents that holds
            ``reme.yaml`` or ``.reme/``.
        start: Where to look from.
        environment: Instead of the process's.

    Raises:
        ConfigError: If the named folder is not there or no vault, or none is found. A folder becomes a vault by
            ``create_vault`` alone: inside another vault, that one would not see what is in it any more.
    """
    named, origin = given, "--vault"
    if not named:
        named, origin = (os.environ if environment is None else environment).get("REME_VAULT", ""), "REME_VAULT"
    if named:
        root = Path(named).expanduser()
        if not root.is_dir():
            problem = "is not a folder" if root.exists() else "does not exist"
            raise ConfigError(
                f"the vault {named!r} ({origin}) {problem}",
                hint=f"Make one with: reme init {named}",
                details={"vault": named},
            )
        root = root.resolve()
        if (found := enclosing_vault(root)) == root:
            return root
        inside = f"; it is a folder of the vault {found}" if found else ""
        way_out = "Name that one, or make this one a vault of its own" if found else "Make it one"
        raise ConfigError(
            f"{named!r} ({origin}) is no vault{inside}",
            hint=f"{way_out} with: reme init {named}",
            details={"vault": named},
        )
    if found := enclosing_vault(start.resolve()):
        return found
    raise ConfigError(
        f"there is no vault at {start} or above it",
        hint="Make one here with: reme init . Or name one with --vault DIR or REME_VAULT.",
    )


def enclosing_vault(folder: Path) -> Path | None:
    """The nearest vault of a folder and those around it, if there is one.

    Args:
        folder: Absolute.
    """
    for root in (folder, *folder.parents):
        if (root / SETTINGS_FILE).is_file() or (root / STATE_FOLDER).is_dir():
            return root
    return None


def load_settings(root: Path | None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force in a vault; of no vault in particular, the defaults and the environment's.

    A variable ``REME_<SECTION>_<KEY>`` such as ``REME_VAULT_TIMEZONE`` goes before the file.

    Raises:
        ConfigError: For a file that is no YAML mapping, an unknown key (with the nearest one), or a value of the wrong
            kind, each naming the place.
    """
    environment = os.environ if environment is None else environment
    document = _read_document(root / SETTINGS_FILE) if root else {}
    if "endpoint" in document or str(document.get("embedder", "")).startswith("openai"):
        raise ConfigError(
            f"{SETTINGS_FILE}: where notes are sent is not for a vault's own file to say",
            hint="Set REME_EMBEDDER=openai:MODEL, REME_ENDPOINT_URL and REME_ENDPOINT_KEY in the environment.",
        )
    if named := [f"llm.{key}" for key in _SENDING if key in _mapping(document.get("llm"), "llm")]:
        variable = named[0].replace(".", "_").upper()
        raise ConfigError(
            f"{SETTINGS_FILE}: {named[0]}: where notes are sent is not for a vault's own file to say",
            hint=f"Set REME_{variable} in the environment.",
        )
    if named := [f"http.{key}" for key in _LETTING_IN if key in _mapping(document.get("http"), "http")]:
        variable = named[0].replace(".", "_").upper()
        raise ConfigError(
            f"{SETTINGS_FILE}: {named[0]}: who may come in is not for a vault's own file to say",
            hint=f"Set REME_{variable} in the environment.",
        )
    if "state_dir" in document:
        raise ConfigError(
            f"{SETTINGS_FILE}: where a machine keeps its state is not for a vault's own file to say",
            hint="Set REME_STATE_DIR in the environment.",
        )
    settings: Settings = _section(Settings, document, "", environment)
    zone = settings.vault.timezone or system_zone(environment)
    zone_named(zone)
    folders = settings.folders.spelled_as_in(root) if root else settings.folders
    return replace(settings, vault=replace(settings.vault, timezone=zone), folders=folders)


def _read_document(path: Path) -> dict[str, object]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read: {error.strerror}", details={"path": str(path)}) from error
    if (plain := _plain_document(data)) is not None:
        return plain
    import yaml

    try:
        document: object = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path.name}, line {mark.line + 1}" if mark else path.name
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{place}: this is not valid YAML: {problem}", hint="Correct the line.") from error
    return _mapping(document, "the file")


def _plain_document(data: bytes) -> dict[str, object] | None:
    """What a file says that has only sections of words, as it has when it is made and as most stay; None of any other.

    So that most commands need not load YAML, which says the same of such a file.
    """
    document: dict[str, object] = {}
    section: dict[str, object] | None = None
    for line in data.decode("utf-8", "replace").split("\n"):
        if not (match := _PLAIN_LINE.fullmatch(line)) or not line.isprintable():
            return None
        indent, key, word = match["indent"], match["key"], match["word"]
        if key is None:
            continue
        where = section if indent else document
        if where is None or key in where or _NO_WORDS & {key, (word or "").lower()}:
            return None
        if not indent:
            section = None
        if word is None and not indent:
            where[key] = section = {}
        else:
            where[key] = word
    return {key: value or None for key, value in document.items()}


def _mapping(document: object, name: str) -> dict[str, object]:
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"{SETTINGS_FILE}: {name} must be a mapping of keys to values, not {document!r}")
    return {str(key): value for key, value in cast("dict[object, object]", document).items()}


def _section(kind: type[Any], document: Mapping[str, object], prefix: str, environment: Mapping[str, str]) -> Any:
    """Build one dataclass of settings from its part of the document and from the environment."""
    known = [item.name for item in fields(kind)]
    for key in document:
        if key not in known:
            raise _unknown(prefix + key, [prefix + name for name in known])
    hints = get_type_hints(kind, include_extras=True)
    values: dict[str, Any] = {}
    for name in known:
        place = prefix + name
        if is_dataclass(hints[name]):
            part = _mapping(document.get(name), place)
            values[name] = _section(cast("type[Any]", hints[name]), part, f"{place}.", environment)
        elif (override := environment.get(f"REME_{place.replace('.', '_').upper()}")) is not None:
            values[name] = _typed(hints[name], override, place)
        elif document.get(name) is not None:
            values[name] = _typed(hints[name], document[name], place)
        if isinstance(values.get(name), Mapping):  # one key set is not all the others unset
            values[name] = {**getattr(kind(), name), **values[name]}
    try:
        return kind(**values)
    except ValueError as error:
        raise ConfigError(f"{prefix.rstrip('.') or SETTINGS_FILE}: {error}") from error


def _typed(hint: Any, value: object, place: str) -> Any:
    if hint is str and isinstance(value, str):
        return value
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise ConfigError(f"{place}: {value!r} is not acceptable: {reason[:1].lower()}{reason[1:]}") from error


def _unknown(place: str, known: list[str]) -> ConfigError:
    import difflib

    close = difflib.get_close_matches(place, known, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}."
    return ConfigError(f"{SETTINGS_FILE}: there is no setting {place}", hint=hint, details={"setting": place})


def system_zone(environment: Mapping[str, str]) -> str:
    """The IANA name of the machine's timezone, or ``UTC`` where it tells none."""
    candidates = [environment.get("TZ", "").removeprefix(":")]
    localtime = Path("/etc/localtime")
    if localtime.is_symlink():
        candidates.append(str(localtime.readlink()).rpartition("zoneinfo/")[2])
    named = Path("/etc/timezone")
    if named.is_file():
        candidates.append(named.read_text(encoding="utf-8", errors="replace").strip())
    for candidate in candidates:
        if candidate and _is_zone(candidate):
            return candidate
    return "UTC"


def _is_zone(name: str) -> bool:
    try:
        zone_named(name)
    except ConfigError:
        return False
    return True


_TEMPLATE: Final = """\
# Settings of this vault. Every line that is commented out shows a default.

vault:
  timezone: {timezone:<19} # days begin and end in this zone
  # agents_write_notes: true  # false: agents only read what is in none of ReMe's own folders

# journal:                    # how far back undo reaches: until either limit is passed
#   days: 30
#   size: 500000000           # bytes

# git:
#   auto_commit: false        # commit each change to the git repository that this folder is in

# links:
#   follow_renames: false     # respell links to files that other programs rename, while `reme runtime` is running

# embedder: none              # search by meaning, too: bundled, use, auto (whichever is installed), onnx:DIRECTORY

# reasoner: auto              # offline: never ask the model that the environment names (REME_LLM_MODEL)

# llm:                        # how that model is asked
#   daily_tokens: 500000      # what it may use a day, read and written
#   context: 32000            # how many tokens it takes at once
#   prompts: prompts          # your own instead of those that ship: a folder of this vault
#   price_in: 0.4             # what a million tokens costs, read and written, for `reme cost`
#   price_out: 1.6

# folders:                    # where things are kept; one that is there as Daily or DAILY is taken as it is
#   resource: resource        # raw material, written once
#   daily: daily              # what happened, by day
#   digest: digest            # what was learnt
#   session: session          # source dialogues
#   archive: archive
#   audit: audit              # reports, and the ledger

# digest:
#   preset: three             # personal, procedure, wiki; or six: concept, procedure, entity, observation, preference
#   fallback: unknown         # the bucket of what fits none
#   buckets:                  # your own instead of a preset
#     recipe: Dishes and how they are made.

# memory:
#   messages_at_once: 500     # how much of a long conversation is learnt from in one step
#   open_days: 7              # how far back an event may be continued
#   open_events: 12           # how many events may be

# dream:
#   mode: auto                # propose: leave what it would write for you to accept or reject
#   scan_days: 2              # how many days back changed notes are looked for
#   max_units: 5              # how much one run learns at most
#   parallel: 4               # how much of that is decided at once
#   candidates: 10            # how many nodes are looked at as the home of each
#   topics: 3                 # how many topics a day takes up; 0 for none
#   topic_days: 7             # for how long one is not taken up again
#   resource_bytes: 65536     # how large a resource may be to be read

# http:                       # how `reme serve` is reached; REME_HTTP_HOST, _TOKEN_FILE and _ORIGINS say by whom
#   port: 8765
#   max_body: 33554432        # bytes that a request may carry

# schema:                     # what `reme lint` asks of frontmatter
#   preset: core              # core: name and description; axes: lifecycle, scope, source, role too; off
#   custom:                   # your own, checked besides
#     recipes:
#       buckets: [recipe]
#       required: [servings]
#       enums:
#         difficulty: [easy, hard]
"""


def create_vault(root: Path, environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Make a folder a vault: ``reme.yaml`` and ``.reme/.gitignore``, each only where it is not there already.

    Returns:
        The names of the files that were made.

    Raises:
        ConfigError: If the place is not a folder or cannot be written.
    """
    settings = _TEMPLATE.format(timezone=system_zone(os.environ if environment is None else environment))
    made: list[str] = []
    try:
        for name, text in ((SETTINGS_FILE, settings), (f"{STATE_FOLDER}/.gitignore", "*\n")):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            except FileExistsError:
                continue
            made.append(name)
    except OSError as error:
        raise ConfigError(
            f"{root} cannot be made a vault: {error.strerror}", hint="Name a folder that you may write to."
        ) from error
    return tuple(made)
