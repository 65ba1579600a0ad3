"""What the person is occupied with: ``daily/<date>/interests.yaml``, and what is read from it.

Owns the file's form, a YAML list of mappings with ``title``, ``reason``, ``evidence`` (the words), ``keywords`` and
``paths`` (where they stand), and the rule that a topic of recent days is not taken up again. People may edit the file:
entries that are there are kept as they are.
"""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, cast

import yaml

from reme.actions.sources import Source
from reme.errors import NotFound
from reme.paths import VaultPath, fold, parse_path
from reme.reason import Topic
from reme.tools import Workspace, one_line
from reme.vault import Vault
from reme.wording import counted

__all__ = ["Interest", "Interests", "chosen", "interests_path", "interests_text", "proactive", "with_interests"]

_NAME: Final = "interests.yaml"
_SAME: Final = 0.5
_QUOTED: Final = 3
_LOOK_BACK_DAYS: Final = 31


@dataclass(frozen=True, slots=True)
class Interest:
    """Something worth coming back to.

    Attributes:
        title: For people.
        reason: Why it is worth it.
        evidence: What was said, word for word.
        keywords: What to search for.
        paths: The notes in which it was said.
    """

    title: str
    reason: str
    evidence: tuple[str, ...]
    keywords: tuple[str, ...]
    paths: tuple[VaultPath, ...]


@dataclass(frozen=True, slots=True)
class Interests:
    """The topics of a day, and where they are kept."""

    day: datetime.date
    path: VaultPath
    topics: tuple[Interest, ...]


def interests_path(vault: Vault, day: datetime.date) -> VaultPath:
    """Where a day's topics are kept."""
    return parse_path(f"{vault.layout.daily}/{day.isoformat()}/{_NAME}")


def chosen(
    vault: Vault, topics: Sequence[Topic], sources: Sequence[Source], day: datetime.date, *, limit: int, days: int
) -> tuple[Interest, ...]:
    """The topics to take up: those that recent days have not had, likeliest first.

    Args:
        limit: How many the day may have, those that it has already among them.
        days: How many days, this one counted, must not have had a topic.
    """
    today = _read(vault, day)
    before = (day - timedelta(days=back) for back in range(1, min(days, day.toordinal())))
    known = [*today, *(entry for then in before for entry in _read(vault, then))]
    found: list[Interest] = []
    for topic in topics:
        entry = _interest(topic, sources)
        if len(today) + len(found) < limit and entry.paths and not any(_same(entry, other) for other in known):
            found.append(entry)
            known.append(entry)
    return tuple(found)


def _interest(topic: Topic, sources: Sequence[Source]) -> Interest:
    lines: list[tuple[VaultPath, str]] = []
    for evidence in topic.evidence:
        source = sources[evidence.source - 1] if 1 <= evidence.source <= len(sources) else None
        line = source.line(evidence.line) if source else None
        if source is not None and line is not None:
            lines.append((source.path, line.text))
    paths = tuple(dict.fromkeys(path for path, _ in lines))
    quoted = tuple(text for _, text in lines[:_QUOTED])
    keywords = tuple(one_line(word) for word in topic.keywords)
    return Interest(one_line(topic.title), one_line(topic.reason), quoted, keywords, paths)


def _same(one: Interest, other: Interest) -> bool:
    if fold(one.title) == fold(other.title):
        return True
    mine, theirs = ({fold(word) for word in entry.keywords} for entry in (one, other))
    return bool(mine and theirs) and len(mine & theirs) > _SAME * min(len(mine), len(theirs))


def with_interests(data: bytes | None, fresh: Iterable[Interest]) -> bytes:
    """A day's file with these topics behind those that it has; a file that is no YAML list is left as it is."""
    if data is not None and _entries(data) is None:
        return data
    plain = [_as_mapping(entry) for entry in fresh]
    dumped: str = yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=1000)  # pyright: ignore[reportUnknownMemberType]
    text = dumped.encode("utf-8") if plain else b""
    before = data or b""
    return before + (b"" if not before or before.endswith(b"\n") else b"\n") + text


def _as_mapping(entry: Interest) -> dict[str, str | list[str]]:
    return {
        "title": entry.title,
        "reason": entry.reason,
        "evidence": list(entry.evidence),
        "keywords": list(entry.keywords),
        "paths": [str(path) for path in entry.paths],
    }


def _read(vault: Vault, day: datetime.date) -> tuple[Interest, ...]:
    data = vault.bytes_of(interests_path(vault, day))
    found = (_as_interest(entry) for entry in (_entries(data) or [] if data is not None else []))
    return tuple(entry for entry in found if entry is not None)


def _entries(data: bytes) -> list[object] | None:
    try:
        loaded: Any = yaml.safe_load(data.decode("utf-8", "replace"))
    except yaml.YAMLError:
        return None
    return [] if loaded is None else cast("list[object]", loaded) if isinstance(loaded, list) else None


def _as_interest(entry: object) -> Interest | None:
    if not isinstance(entry, dict) or "title" not in entry:
        return None
    fields = cast("dict[str, object]", entry)

    def listed(key: str) -> tuple[str, ...]:
        value = fields.get(key)
        return tuple(str(item) for item in cast("list[object]", value)) if isinstance(value, list) else ()

    paths = tuple(VaultPath(path) for path in listed("paths"))
    title, reason = str(fields["title"]), str(fields.get("reason") or "")
    return Interest(title, reason, listed("evidence"), listed("keywords"), paths)


def proactive(
    workspace: Workspace,
    date: Annotated[str | None, "The day, as 2026-05-15; the latest with topics by default"] = None,
) -> Interests:
    """What is worth raising again: the topics that the dream of a day took up.

    Raises:
        NotFound: If that day, or the last month, has none.
        InvalidInput: If the day is no date.
    """
    today, asked = workspace.clock.today(), workspace.clock.day(date)
    days = [asked] if asked else [today - timedelta(days=back) for back in range(_LOOK_BACK_DAYS)]
    for day in days:
        if topics := _read(workspace.vault, day):
            return Interests(day, interests_path(workspace.vault, day), topics)
    when = asked.isoformat() if asked else "the last month"
    raise NotFound(f"there are no topics for {when}", hint="auto_dream takes them up when notes have changed.")


def interests_text(result: Interests) -> str:
    """Topics in words."""
    lines = [f"{result.day.isoformat()}: {counted(len(result.topics), 'topic')}"]
    for topic in result.topics:
        lines += [f"{topic.title} ({topic.reason})", *(f"  “{text}”" for text in topic.evidence)]
        lines += [f"  → {path}" for path in topic.paths]
    return "\n".join(lines)
