"""A bar chart as SVG, written by hand so that it needs nothing: one panel a set, one bar a way, with its interval."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Bar", "plot"]

_WIDTH, _ROW, _LEFT, _GAP, _TITLE = 760, 20, 230, 18, 24
_COLOURS = {"words": "#6b7280", "vectors alone": "#c2410c", "rrf": "#b45309", "context": "#1d4ed8"}


class Bar(NamedTuple):
    """A value between 0 and 1, with its interval."""

    name: str
    value: float
    low: float
    high: float


def plot(panels: Mapping[str, Sequence[Bar]]) -> str:
    """The chart; ways that are not among the main ones are left out."""
    parts: list[str] = []
    top = 28.0
    for title, bars in panels.items():
        shown = [bar for bar in bars if _colour(bar.name)]
        parts.append(f'<text x="8" y="{top + 15:.0f}" font-weight="bold">{escape(title)}</text>')
        top += _TITLE
        for bar in shown:
            parts += _bar(bar, top)
            top += _ROW
        top += _GAP
    height = int(top) + 8
    axis = "".join(_tick(tenth / 10, height) for tenth in range(0, 11, 2))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" font-family="sans-serif" '
    head += f'font-size="12" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="R@10 by set and way of searching">'
    paper = f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, paper, axis, *parts, "</svg>"]) + "\n"


def _colour(name: str) -> str:
    return _COLOURS.get(name.partition(",")[0], "") if name != "words, rrf" else ""


def _x(value: float) -> float:
    return _LEFT + value * (_WIDTH - _LEFT - 60)


def _tick(value: float, height: int) -> str:
    x = _x(value)
    line = f'<line x1="{x:.0f}" y1="22" x2="{x:.0f}" y2="{height - 8}" stroke="#e5e7eb"/>'
    return f'{line}<text x="{x:.0f}" y="16" text-anchor="middle" fill="#6b7280">R@10 {value:.1f}</text>\n'


def _bar(bar: Bar, top: float) -> list[str]:
    middle = top + _ROW / 2
    start, end = _x(0), _x(bar.value)
    return [
        f'<text x="{_LEFT - 8}" y="{middle + 4:.0f}" text-anchor="end">{escape(bar.name)}</text>',
        f'<rect x="{start:.0f}" y="{top + 3:.0f}" width="{end - start:.1f}" height="{_ROW - 6}" '
        f'fill="{_colour(bar.name)}"/>',
        f'<line x1="{_x(bar.low):.1f}" y1="{middle:.0f}" x2="{_x(bar.high):.1f}" y2="{middle:.0f}" stroke="#111827"/>',
        f'<text x="{_x(bar.high) + 6:.0f}" y="{middle + 4:.0f}">{bar.value:.2f}</text>',
    ]
