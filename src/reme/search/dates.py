"""Dates in a query: the days, months and years that it names, in English, Chinese and ISO.

Owns the patterns. A date is the beginning of an ISO date (``2026-05-15``, ``2026-05``, ``2026``), or ``-05-15`` and
``-05-`` where no year is named.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

__all__ = ["dates_in", "falls_on"]

_LONGEST: Final = 2_000
_MONTHS: Final[Mapping[str, int]] = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)  # noqa: SIM905
}
_MONTH: Final = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|" + (
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_FORMS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\d-]){_YEAR}-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?(?![\d-])",
        rf"\b{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR}\b)?",
        rf"\b{_MONTH} {_DAY}\b(?:,? {_YEAR}\b)?",
        rf"\b{_MONTH},? (?:of )?{_YEAR}\b",
        rf"\b(?:in|since|of|last|this) {_MONTH}",
        rf"(?:{_YEAR}\s*年\s*)?(?P<number>1[0-2]|0?[1-9])\s*月(?:\s*{_DAY}\s*[日号])?",
        rf"(?<![\d-]){_YEAR}(?:\s*年|(?![\d-]))",
    )
)
_RELATIVE: Final = re.compile(
    r"(?P<d0>\btoday\b|今天)|(?P<d2>\bthe day before yesterday\b|前天)|(?P<d1>\byesterday\b|昨天)", re.IGNORECASE
)


def dates_in(query: str, today: date) -> tuple[str, ...]:
    """The dates that a query names.

    Args:
        query: Any text; only its first 2,000 characters are read.
        today: For what is said by distance, such as *yesterday*.
    """
    return tuple(dict.fromkeys(_dates(query[:_LONGEST], today)))


def _dates(text: str, today: date) -> Iterator[str]:
    for match in _RELATIVE.finditer(text):
        yield (today - timedelta(days=int(str(match.lastgroup)[1]))).isoformat()
    for form in _FORMS:
        for match in form.finditer(text):
            if found := _iso(match.groupdict()):
                yield found
        text = form.sub(" ", text)


def _iso(parts: dict[str, str | None]) -> str:
    number = parts.get("number")
    month = int(number) if number else _MONTHS[name[:3].lower()] if (name := parts.get("month")) else 0
    year, day = parts.get("year") or "", int(parts.get("day") or 0)
    if month > 12 or day > 31:
        return ""
    if not month:
        return year
    return f"{year}-{month:02}" + (f"-{day:02}" if day else "" if year else "-")


def falls_on(dates: Sequence[str], day: str | None, text: str) -> bool:
    """Whether something of a day, or a text that names one in ISO form, is of one of these dates."""
    return any(_is_of(wanted, day or "") or (len(wanted) > 4 and wanted in text) for wanted in dates)


def _is_of(wanted: str, day: str) -> bool:
    return wanted in day[4:] if wanted.startswith("-") else bool(day) and day.startswith(wanted)
