"""Time as a parameter: an injected source of instants, read in the vault's own timezone.

Owns the conversion between instants and local dates. Knows nothing of the host's timezone once made.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo

from reme.errors import ConfigError, InvalidInput

__all__ = ["Clock", "system_clock", "zone_named"]

_DAYS_AGO: Final[Mapping[str, int]] = MappingProxyType({"today": 0, "yesterday": 1, "今天": 0, "昨天": 1})


@dataclass(frozen=True, slots=True)
class Clock:
    """Where the time comes from and in which zone it is read.

    Attributes:
        zone: The vault's timezone.
        instant: Returns the present instant, timezone-aware.
    """

    zone: ZoneInfo
    instant: Callable[[], datetime]

    def now(self) -> datetime:
        """The present instant in the vault's timezone."""
        return self.instant().astimezone(self.zone)

    def today(self) -> date:
        """The present date in the vault's timezone."""
        return self.now().date()

    def day(self, given: str | None, parameter: str = "date") -> date | None:
        """The day that a caller names, as ``2026-05-15``, ``today`` or ``yesterday``; None where none is.

        Args:
            parameter: What it is given as, for the message.

        Raises:
            InvalidInput: If it is no date.
        """
        word = (given or "").strip()
        if not word:
            return None
        if (back := _DAYS_AGO.get(word.lower())) is not None:
            return self.today() - timedelta(days=back)
        try:
            return date.fromisoformat(word)
        except ValueError:
            raise InvalidInput(
                f"`{parameter}`: {word!r} is no date",
                hint="Give a day as 2026-05-15, or today, or yesterday.",
                details={"field": parameter},
            ) from None

    def local(self, moment: datetime) -> datetime:
        """A moment in the vault's timezone; one without a zone is taken to be local already."""
        return moment.replace(tzinfo=self.zone) if moment.tzinfo is None else moment.astimezone(self.zone)


def zone_named(name: str) -> ZoneInfo:
    """The timezone with this IANA name.

    Raises:
        ConfigError: If there is none.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ConfigError(
            f"vault.timezone: there is no timezone {name!r}",
            hint="Use an IANA name such as Europe/Berlin or Asia/Shanghai.",
        ) from error


def system_clock(zone: ZoneInfo) -> Clock:
    """A clock that tells the machine's time."""
    return Clock(zone, lambda: datetime.now(UTC))
