"""Charts as SVG, drawn by hand: bars in groups, and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10

COLOURS = ("#00897b", "#5c6bc0", "#ef6c00", "#8d6e63", "#78909c", "#c2185b")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 760, 320, 64, 46, 40
_STYLE = "font-family='system-ui,sans-serif' font-size='12' fill='#607d8b'"


def bars(
    title: str,
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    mark: float | None = None,
) -> str:
    """A bar per series in every group; `mark` draws a level across."""
    top = _round_up(max([value or 0 for values in series.values() for value in values] + [mark or 0]))
    parts = _frame(title, list(series), top)
    room = (_WIDTH - _LEFT - 10) / max(1, len(groups))
    width = room * 0.8 / max(1, len(series))
    for at, group in enumerate(groups):
        left = _LEFT + at * room
        parts.append(_text(left + room / 2, _HEIGHT - 20, group, "middle"))
        for number, values in enumerate(series.values()):
            value = values[at]
            if value is None:
                continue
            height = _length(value, top)
            x, y = left + room * 0.1 + number * width, _HEIGHT - _BOTTOM - height
            parts.append(
                f"<rect x='{x:.1f}' y='{y:.1f}' width='{width * 0.92:.1f}' height='{height:.1f}' "
                f"fill='{COLOURS[number % len(COLOURS)]}'/>"
            )
            parts.append(_text(x + width * 0.46, y - 4, short(value), "middle", 10))
    if mark is not None:
        y = _HEIGHT - _BOTTOM - _length(mark, top)
        parts.append(f"<path d='M{_LEFT},{y:.1f}H{_WIDTH - 10}' stroke='#d32f2f' stroke-dasharray='5 4'/>")
    return _svg(parts)


def lines(title: str, places: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> str:
    """A line per series over places that are equally far apart."""
    top = _round_up(max([value or 0 for values in series.values() for value in values] + [0]))
    parts = _frame(title, list(series), top)
    step = (_WIDTH - _LEFT - 60) / max(1, len(places) - 1)
    for at, place in enumerate(places):
        parts.append(_text(_LEFT + 25 + at * step, _HEIGHT - 20, place, "middle"))
    for number, values in enumerate(series.values()):
        colour = COLOURS[number % len(COLOURS)]
        points = [
            (_LEFT + 25 + at * step, _HEIGHT - _BOTTOM - _length(value, top), value)
            for at, value in enumerate(values)
            if value is not None
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2.5'/>")
        for x, y, value in points:
            parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{colour}'/>")
            parts.append(_text(x, y - 8, short(value), "middle", 10))
    return _svg(parts)


def short(value: float) -> str:
    """A number that fits a chart."""
    if value >= 1e6:
        return f"{value / 1e6:.1f}M"
    if value >= 10_000:
        return f"{value / 1e3:.0f}k"
    if value >= 1_000:
        return f"{value / 1e3:.1f}k"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _frame(title: str, names: Sequence[str], top: float) -> list[str]:
    parts = [f"<text x='{_LEFT}' y='18' {_STYLE} font-weight='bold'>{escape(title)}</text>"]
    x = float(_LEFT)
    for number, name in enumerate(names):
        parts.append(f"<rect x='{x}' y='27' width='11' height='11' fill='{COLOURS[number % len(COLOURS)]}'/>")
        parts.append(_text(x + 16, 37, name, "start"))
        x += 30 + 7.2 * len(name)
    for part in range(5):
        value = top * part / 4
        y = _HEIGHT - _BOTTOM - _length(value, top)
        parts.append(f"<path d='M{_LEFT},{y:.1f}H{_WIDTH - 10}' stroke='#b0bec5' stroke-width='0.5'/>")
        parts.append(_text(_LEFT - 6, y + 4, short(value), "end"))
    return parts


def _text(x: float, y: float, text: str, anchor: str, size: int = 12) -> str:
    style = _STYLE.replace("'12'", f"'{size}'")
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {style}>{escape(text)}</text>"


def _svg(parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}'>\n{body}\n</svg>\n"


def _length(value: float, top: float) -> float:
    return value / top * (_HEIGHT - _TOP - _BOTTOM - 14) if top else 0.0


def _round_up(value: float) -> float:
    """The next number that divides well into four."""
    if value <= 0:
        return 1.0
    unit = float(10 ** floor(log10(value)))
    return next(
        step * unit for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10) if step * unit >= value * 0.999
    )
