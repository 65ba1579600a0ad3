"""Where a vault is served: a file in the folder of its machinery by which others find the server.

Owns the file and whether what it says still holds. Has no token in it, only where tokens are.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast
from urllib.request import ProxyHandler, build_opener

__all__ = ["Service", "announce", "found", "withdraw"]

_FILE: Final = "service.json"
_PATIENCE_S: Final = 2.0
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class Service:
    """A server of a vault.

    Attributes:
        address: Such as ``http://127.0.0.1:8765``.
        pid: Its process.
        token_file: The file of the tokens that it asks for, or empty.
    """

    address: str
    pid: int
    token_file: str = ""


def announce(state_dir: Path, service: Service) -> None:
    """Have others find a server; an older announcement is replaced, at once or not at all.

    Raises:
        OSError: If the file cannot be written.
    """
    fresh = state_dir / f"{_FILE}.{service.pid}"
    fresh.write_text(json.dumps(asdict(service), indent=1) + "\n", encoding="utf-8")
    fresh.replace(state_dir / _FILE)


def withdraw(state_dir: Path, service: Service) -> None:
    """Take back what was announced, unless somebody else has announced another server since.

    Raises:
        OSError: If the file cannot be removed.
    """
    if _announced(state_dir) == service:
        (state_dir / _FILE).unlink(missing_ok=True)


def found(state_dir: Path) -> Service | None:
    """The server that was announced, if one answers there; else what a dead one has left says nothing."""
    service = _announced(state_dir)
    if service is None or not service.address.startswith("http://"):
        return None
    try:
        opener = build_opener(ProxyHandler({}))
        with opener.open(f"{service.address}/healthz", timeout=_PATIENCE_S) as answer:
            said: Any = json.loads(answer.read(_MOST))
    except (OSError, ValueError):
        return None
    return service if isinstance(said, dict) and cast("dict[str, Any]", said).get("service") == "reme" else None


def _announced(state_dir: Path) -> Service | None:
    try:
        said: Any = json.loads((state_dir / _FILE).read_text("utf-8"))
        return Service(str(said["address"]), int(said["pid"]), str(said.get("token_file", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
