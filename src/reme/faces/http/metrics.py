"""What the server counts of itself, in the text format of Prometheus (0.0.4).

Owns the counters of one server. Nothing in them names a note or a client.
"""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["METRICS_TYPE", "Metrics"]

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_UP_TO_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    """Calls of operations by outcome, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._within: dict[str, list[int]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, operation: str, outcome: str, seconds: float) -> None:
        """Count one call.

        Args:
            outcome: ``ok``, the kind of the error, or ``gone``.
            seconds: From the request to its answer.
        """
        with self._lock:
            self._calls[operation, outcome] += 1
            within = self._within.setdefault(operation, [0] * (len(_UP_TO_S) + 1))
            within[bisect_left(_UP_TO_S, seconds)] += 1
            self._seconds[operation] += seconds

    def text(self, gauges: Mapping[str, tuple[str, Mapping[str, float]]]) -> str:
        """All of it.

        Args:
            gauges: What is measured at this moment, by name: what it is, and values by labels as they are written.
        """
        with self._lock:
            lines = [*self._counted(), *self._timed()]
        for name, (about, values) in gauges.items():
            lines += _headed(name, "gauge", about, (f"{name}{labels} {value:g}" for labels, value in values.items()))
        return "\n".join(lines) + "\n"

    def _counted(self) -> list[str]:
        name = "reme_calls_total"
        rows = (f'{name}{{operation="{by}",outcome="{of}"}} {many}' for (by, of), many in sorted(self._calls.items()))
        return _headed(name, "counter", "Calls of operations by outcome.", rows)

    def _timed(self) -> list[str]:
        name = "reme_call_seconds"
        rows: list[str] = []
        for operation, within in sorted(self._within.items()):
            label, many = f'operation="{operation}"', 0
            for bound, counted in zip((*_UP_TO_S, "+Inf"), within, strict=True):
                many += counted
                rows.append(f'{name}_bucket{{{label},le="{bound}"}} {many}')
            rows.append(f"{name}_sum{{{label}}} {self._seconds[operation]:.6f}")
            rows.append(f"{name}_count{{{label}}} {many}")
        return _headed(name, "histogram", "Seconds from a request to its answer.", rows)


def _headed(name: str, kind: str, about: str, rows: Iterable[str]) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}", *rows]
