"""What the frontmatter of a well-formed note has: the presets, those that a vault declares itself, and the check.

Owns the protocol of ``docs/protocol.md`` as data. Pure; knows no files, and never writes what it misses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, NamedTuple, cast

from reme.vault import Layer

__all__ = ["Preset", "SchemaSettings", "Violation", "violations"]


@dataclass(frozen=True, slots=True)
class Preset:
    """What some notes must say of themselves.

    Attributes:
        layers: The layers that it is about.
        buckets: Only these folders of the digest; all where empty.
        required: Properties that must be there with a value.
        enums: The values that a property may have, if it is there; of a list, each item.
        when: From a condition ``key=value`` to further required properties.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    layers: tuple[Layer, ...] = ("daily", "digest")
    buckets: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    enums: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    when: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def __post_init__(self) -> None:
        for condition in self.when:
            if not all(part.strip() for part in condition.partition("=")):
                raise ValueError(f"when: {condition!r} is no condition such as role=claim")


CORE: Final = Preset(required=("name", "description"))

AXES: Final = Preset(
    required=("lifecycle", "scope", "source", "role"),
    enums={
        "lifecycle": ("streaming", "evolving", "frozen"),
        "scope": ("instance", "class"),
        "source": ("auto", "curated", "derived"),
        "role": (
            "observation",
            "claim",
            "question",
            "profile",
            "concept",
            "method",
            "reference",
            "fundamentals",
        ),
    },
    when={"role=claim": ("confidence",)},
)


@dataclass(frozen=True, slots=True)
class SchemaSettings:
    """What ``lint schema`` asks of notes.

    Attributes:
        preset: ``core`` asks for a name and a description, ``axes`` for the four axes too, ``off`` for nothing.
        custom: The vault's own presets by name, each checked besides.
    """

    preset: Literal["core", "axes", "off"] = "core"
    custom: dict[str, Preset] = field(default_factory=dict[str, Preset])

    def presets(self) -> dict[str, Preset]:
        """Every preset to check, by name."""
        named = {"core": {"core": CORE}, "axes": {"core": CORE, "axes": AXES}, "off": dict[str, Preset]()}
        return named[self.preset] | self.custom


class Violation(NamedTuple):
    """A property that is missing or has a value that it may not have."""

    key: str
    message: str


def violations(
    properties: Mapping[str, Any], layer: Layer, bucket: str, presets: Mapping[str, Preset]
) -> Iterator[Violation]:
    """What is wrong with a note's frontmatter, each thing once.

    Args:
        properties: The frontmatter.
        layer: The note's layer.
        bucket: The folder below the digest that it lies in; empty elsewhere.
        presets: What to hold it to.
    """
    seen: set[Violation] = set()
    for name, preset in presets.items():
        if layer in preset.layers and (not preset.buckets or bucket in preset.buckets):
            for violation in _violations(properties, name, preset):
                if violation not in seen:
                    seen.add(violation)
                    yield violation


def _violations(properties: Mapping[str, Any], name: str, preset: Preset) -> Iterator[Violation]:
    for key in preset.required:
        if _is_empty(properties.get(key)):
            yield Violation(key, f"{key} is missing (preset {name})")
    for key, allowed in preset.enums.items():
        value = properties.get(key)
        for item in cast("list[object]", value) if isinstance(value, list) else [value]:
            if not _is_empty(item) and _text(item) not in allowed:
                yield Violation(key, f"{key} is {_text(item)!r}, not one of {', '.join(allowed)} (preset {name})")
    for condition, keys in preset.when.items():
        wanted, _, given = (part.strip() for part in condition.partition("="))
        if _text(properties.get(wanted)) == given:
            for key in keys:
                if _is_empty(properties.get(key)):
                    yield Violation(key, f"{key} is missing, since {wanted} is {given} (preset {name})")


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def _text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
