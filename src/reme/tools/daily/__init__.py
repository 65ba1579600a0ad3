"""The daily tools: event notes, the materials beside them, and each day's index.

Owns the form of ``daily/<date>/<slug>.md``, of ``daily/<date>/<slug>/<slug>.md`` with siblings, and of the generated
part of ``daily/<date>.md``. Every tool takes both forms of an event.
"""

from reme.tools.daily.looking import (
    DailyEvent,
    DailyEvents,
    DailyListing,
    DailyStatus,
    TaskState,
    daily_list,
    daily_list_text,
    daily_read,
    daily_status,
    daily_status_text,
    event_states,
)
from reme.tools.daily.promotion import with_promotion
from reme.tools.daily.writing import (
    DailyReindexed,
    daily_create,
    daily_reindex,
    daily_reindex_text,
    daily_write,
)
from reme.tools.days import EventFile, day_folder, day_index, events_of, one_line

__all__ = [
    "DailyEvent",
    "DailyEvents",
    "DailyListing",
    "DailyReindexed",
    "DailyStatus",
    "EventFile",
    "TaskState",
    "daily_create",
    "daily_list",
    "daily_list_text",
    "daily_read",
    "daily_reindex",
    "daily_reindex_text",
    "daily_status",
    "daily_status_text",
    "daily_write",
    "day_folder",
    "day_index",
    "event_states",
    "events_of",
    "one_line",
    "with_promotion",
]
