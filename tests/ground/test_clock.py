"""Time is read in the vault's zone, whatever the host's."""

from datetime import UTC, date, datetime

import pytest

from reme.clock import Clock, zone_named
from reme.errors import ConfigError


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
