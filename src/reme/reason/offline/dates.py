"""Relative dates: what "yesterday", "last Friday" or 上周 mean on a given day.

Owns the arithmetic. Only words whose meaning is certain are resolved; to the day, the month or the year that they name.
"""

import re
from datetime import date, timedelta

__all__ = ["resolve_relative"]

_NUMBERS = {
    "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
    "tomorrow": 1, "the day after tomorrow": 2, "前天": -2, "昨天": -1, "昨晚": -1, "今天": 0, "今晚": 0, "今早": 0,
    "明天": 1, "明晚": 1, "后天": 2,
}  # fmt: skip
_MONTHS = {
    "last month": -1,
    "this month": 0,
    "next month": 1,
    "上个月": -1,
    "上月": -1,
    "这个月": 0,
    "本月": 0,
    "下个月": 1,
    "下月": 1,
}
_YEARS = {"last year": -1, "this year": 0, "next year": 1, "去年": -1, "今年": 0, "明年": 1, "前年": -2}
_COUNT = r"(\d{1,3}|a|one|two|three|four|five|six|seven|eight|nine|ten)"
_AGO = re.compile(rf"\b{_COUNT} (day|week|month|year)s? ago\b", re.IGNORECASE)
_AGO_ZH = re.compile(r"(\d{1,3}|[一两二三四五六七八九十])(天|周|个月|年)(?:之?前)")
_WEEKDAY = re.compile(rf"\b(last|next) ({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_WEEKDAY_ZH = re.compile(r"(上|下)个?(?:周|星期|礼拜)([一二三四五六日天])")


def resolve_relative(text: str, day: date) -> str:
    """The date that the first relative expression of a sentence means, said on ``day``.

    Returns:
        ``2026-05-14``, ``2026-05`` or ``2026``, as exactly as the words are; empty where there are none.
    """
    lowered = text.lower()
    found: list[tuple[int, int, str]] = []
    for table, shown in ((_DAYS, _day), (_MONTHS, _month), (_YEARS, _year)):
        for words, distance in table.items():
            if (match := _search(words, lowered)) is not None:
                found.append((match, -len(words), shown(day, distance)))
    found.extend(_counted(lowered, day))
    found.extend(_weekdays(lowered, day))
    return min(found)[2] if found else ""


def _search(words: str, text: str) -> int | None:
    match = re.search(rf"\b{words}\b" if words.isascii() else words, text)
    return match.start() if match else None


def _counted(text: str, day: date) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for match in [*_AGO.finditer(text), *_AGO_ZH.finditer(text)]:
        count = int(match[1]) if match[1].isdigit() else _NUMBERS[match[1]]
        match match[2]:
            case "day" | "天":
                shown = _day(day, -count)
            case "month" | "个月":
                shown = _month(day, -count)
            case "year" | "年":
                shown = _year(day, -count)
            case _:
                shown = _day(day, -7 * count)
        found.append((match.start(), -len(match.group()), shown))
    return found


def _weekdays(text: str, day: date) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for match in _WEEKDAY.finditer(text):
        wanted = _WEEKDAYS.index(match[2])
        distance = (
            -((day.weekday() - wanted - 1) % 7 + 1) if match[1] == "last" else (wanted - day.weekday() - 1) % 7 + 1
        )
        found.append((match.start(), -len(match.group()), _day(day, distance)))
    for match in _WEEKDAY_ZH.finditer(text):
        wanted = "一二三四五六日".index(match[2].replace("天", "日"))
        week = -7 if match[1] == "上" else 7
        found.append((match.start(), -len(match.group()), _day(day, wanted - day.weekday() + week)))
    return found


def _day(day: date, distance: int) -> str:
    try:
        return (day + timedelta(days=distance)).isoformat()
    except OverflowError:
        return ""


def _month(day: date, distance: int) -> str:
    months = day.year * 12 + day.month - 1 + distance
    return f"{months // 12:04d}-{months % 12 + 1:02d}"


def _year(day: date, distance: int) -> str:
    return f"{day.year + distance:04d}"
