"""The timezone of the machine."""

from collections.abc import Mapping
from pathlib import Path

from reme.clock import zone_named
from reme.errors import ConfigError

__all__ = ["system_zone"]


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
