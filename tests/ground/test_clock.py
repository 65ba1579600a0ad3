"""Time is read in the vault's zone, whatever the host's."""

from datetime import UTC, date, datetime

import pytest

from reme.clock import Clock, zone_named
from reme.errors import ConfigError, InvalidInput


@pytest.mark.parametrize(
    ("zone", "instant", "day"),
    [
        ("Pacific/Auckland", datetime(2026, 7, 1, 13, 10, tzinfo=UTC), date(2026, 7, 2)),
        ("America/Los_Angeles", datetime(2026, 7, 2, 5, 0, tzinfo=UTC), date(2026, 7, 1)),
    ],
)
def test_b67_the_day_is_the_vaults(zone: str, instant: datetime, day: date) -> None:
    clock = Clock(zone_named(zone), lambda: instant)
    assert clock.today() == day
    assert clock.local(instant).date() == day


def test_a_moment_without_a_zone_is_local() -> None:
    clock = Clock(zone_named("Asia/Shanghai"), lambda: datetime(2026, 1, 1, tzinfo=UTC))
    assert clock.local(datetime(2026, 5, 1, 8)).isoformat() == "2026-05-01T08:00:00+08:00"


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "x\0"])
def test_an_unknown_zone(name: str) -> None:
    with pytest.raises(ConfigError, match="there is no timezone"):
        zone_named(name)


@pytest.mark.parametrize(
    ("given", "day"),
    [
        ("2026-05-15", date(2026, 5, 15)),
        (" 2026-02-28 ", date(2026, 2, 28)),
        ("today", date(2026, 5, 16)),
        ("Yesterday", date(2026, 5, 15)),
        ("今天", date(2026, 5, 16)),
        ("昨天", date(2026, 5, 15)),
        ("", None),
        (None, None),
    ],
)
def test_a_day_is_named(given: str | None, day: date | None) -> None:
    clock = Clock(zone_named("Asia/Shanghai"), lambda: datetime(2026, 5, 15, 20, tzinfo=UTC))
    assert clock.day(given) == day


@pytest.mark.parametrize("given", ["2026-13-01", "2026-02-30", "15.5.2026", "tomorrowish", "五月十五", "\0"])
def test_what_is_no_day_is_told_with_the_way_out(given: str) -> None:
    clock = Clock(zone_named("Asia/Shanghai"), lambda: datetime(2026, 5, 15, 20, tzinfo=UTC))
    with pytest.raises(InvalidInput, match="`start_date`: ") as caught:
        clock.day(given, "start_date")
    assert caught.value.hint == "Give a day as 2026-05-15, or today, or yesterday."
    assert caught.value.details == {"field": "start_date"}
