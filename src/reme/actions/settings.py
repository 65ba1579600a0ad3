"""What can be set of the actions, and the sets of buckets that ship.

Owns the settings' types and defaults. Where their values come from is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from reme.reason import Bucket

__all__ = ["BUCKET_PRESETS", "ActionSettings", "DreamSettings", "MemorySettings"]

BUCKET_PRESETS: Final[Mapping[str, tuple[Bucket, ...]]] = {
    "three": (
        Bucket("personal", "A person or a team: preferences, habits, decisions, relations, plans."),
        Bucket("procedure", "How something is done: steps, commands, checklists, workflows."),
        Bucket("wiki", "What something is: concepts, systems, projects, places, facts about the world."),
    ),
    "six": (
        Bucket("concept", "An idea or a term and what it means."),
        Bucket("procedure", "How something is done: steps, commands, checklists, workflows."),
        Bucket("entity", "A named person, team, system, project, product or place."),
        Bucket("observation", "Something that was seen or measured, with when and where."),
        Bucket("preference", "What somebody wants, likes, avoids or has decided."),
    ),
}
"""Named sets of buckets; the fallback bucket is in none of them."""


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Auto-memory.

    Attributes:
        open_days: How many days back an event may be continued.
        open_events: How many events at most are offered for continuation.
        messages_at_once: How many messages are learnt from in one step; a longer delivery takes several.
    """

    open_days: int = 7
    open_events: int = 12
    messages_at_once: int = 500


@dataclass(frozen=True, slots=True)
class DreamSettings:
    """Auto-dream.

    Attributes:
        buckets: What units may be filed under.
        fallback: The bucket of units that fit none; its folder is made only when used.
        scan_days: How many days back changed notes are looked for, the day itself counted.
        max_units: How many units one run integrates at most.
        candidates: How many nodes are offered as homes of a unit.
        parallel: How many units are decided at once; they are committed one after the other.
        mode: ``auto`` writes; ``propose`` leaves a proposal for a person or curator to accept or reject.
        topics: How many topics a day's ``interests.yaml`` takes up at most.
        topic_days: For how many days a topic is not taken up again.
        resource_bytes: How large a resource may be to be read.
    """

    buckets: tuple[Bucket, ...] = BUCKET_PRESETS["three"]
    fallback: str = "unknown"
    scan_days: int = 2
    max_units: int = 5
    candidates: int = 10
    parallel: int = 4
    mode: Literal["auto", "propose"] = "auto"
    topics: int = 3
    topic_days: int = 7
    resource_bytes: int = 65_536


@dataclass(frozen=True, slots=True)
class ActionSettings:
    """All actions."""

    memory: MemorySettings = field(default_factory=MemorySettings)
    dream: DreamSettings = field(default_factory=DreamSettings)
