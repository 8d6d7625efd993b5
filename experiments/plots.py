"""Line plots of experiments as SVG: named axes, a colour, mark and dash for each line, intervals.

Colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart. Lines that
share points are drawn a little beside each other, so that none hides another. An axis of shares
(all figures between 0 and 1) goes from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
DASHES = ("", "7 3", "2 3")
LEFT, TOP, WIDTH, HEIGHT = 62.0, 34.0, 470.0, 300.0
LINE, LETTER = 17.0, 6.8  # of the legend
APART, SPREAD = 3.0, 16.0  # lines beside each other, at most so far in all


@dataclass(frozen=True)
class PlotPoint:
    """A figure, with its interval where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


def plot(
    path: Path,
    title: str,
    axes: tuple[str, str],
    lines: Mapping[str, Sequence[PlotPoint]],
    *,
    joined: bool = True,
    log: bool = False,
) -> None:
    """Write lines as a picture; ``log`` is of the x-axis, without ``joined`` there are marks."""
    points = [point for line in lines.values() for point in line]
    x = _Axis.of([point.x for point in points], log, from_zero=False)
    heights = [end for p in points for end in (p.y, p.low, p.high) if end is not None]
    y = _Axis.of(heights, False)
    height = max(TOP + HEIGHT + 48, TOP + LINE * len(lines) + 12)
    bottom, right = TOP + HEIGHT, LEFT + WIDTH
    wide = right + 52 + LETTER * max(map(len, lines), default=0)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide:g} {height:g}' "
        f"role='img'><title>{escape(title)}</title><style>text{{font:12px system-ui,sans-serif;"
        "fill:#222}.grid{stroke:#ddd}.axis{stroke:#555}</style>"
        "<rect width='100%' height='100%' fill='white'/>",
        _text(LEFT, 18, title, "start"),
    ]
    for tick in y.ticks:
        at = bottom - y.place(tick) * HEIGHT
        parts += [_line(LEFT, at, right, at, "grid"), _text(LEFT - 6, at + 4, f"{tick:g}", "end")]
    for tick in x.ticks:
        at = LEFT + x.place(tick) * WIDTH
        parts += [_line(at, TOP, at, bottom, "grid"), _text(at, bottom + 16, f"{tick:g}", "middle")]
    parts += [_line(LEFT, bottom, right, bottom, "axis"), _line(LEFT, TOP, LEFT, bottom, "axis")]
    parts.append(_text((LEFT + right) / 2, bottom + 38, axes[0], "middle"))
    middle = (TOP + bottom) / 2
    parts.append(
        f"<text transform='translate(16 {middle:g}) rotate(-90)' text-anchor='middle'>"
        f"{escape(axes[1])}</text>"
    )
    apart = min(APART, SPREAD / max(len(lines), 1)) if joined else 0.0
    for number, (name, line) in enumerate(lines.items()):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
        beside = apart * (number - (len(lines) - 1) / 2)
        parts.append(f"<g stroke='{colour}' fill='{colour}'>")
        placed = [
            (LEFT + x.place(p.x) * WIDTH + beside, bottom - y.place(p.y) * HEIGHT) for p in line
        ]
        if joined and len(placed) > 1:
            path_of_line = " ".join(f"{at:.1f},{up:.1f}" for at, up in placed)
            parts.append(
                f"<polyline points='{path_of_line}' fill='none' stroke-width='1.6' "
                f"stroke-dasharray='{dash}'/>"
            )
        for point, (at, up) in zip(line, placed, strict=True):
            if point.low is not None and point.high is not None:
                ends = [bottom - y.place(end) * HEIGHT for end in (point.low, point.high)]
                parts.append(_line(at, ends[0], at, ends[1], ""))
            parts.append(_mark(number, at, up))
        low = TOP + 6 + LINE * number
        dashed = f"stroke-dasharray='{dash}'" if joined else "stroke-opacity='0'"
        parts.append(
            f"<line x1='{right + 10:g}' y1='{low:g}' x2='{right + 34:g}' y2='{low:g}' "
            f"stroke-width='1.6' {dashed}/>{_mark(number, right + 22, low)}</g>"
        )
        parts.append(_text(right + 40, low + 4, name, "start"))
    path.write_text("".join([*parts, "</svg>\n"]), encoding="utf-8")


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, figures: Sequence[float], log: bool, *, from_zero: bool = True) -> _Axis:
        """An axis with all figures; of shares from 0 to 1."""
        least, most = min(figures, default=0.0), max(figures, default=1.0)
        if log and least > 0:
            powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
            return cls(10.0 ** powers[0], 10.0 ** powers[-1], True, tuple(10.0**p for p in powers))
        if least >= 0 and most <= 1:
            return cls(0.0, 1.0, False, (0, 0.2, 0.4, 0.6, 0.8, 1))
        low = min(least, 0.0) if from_zero or least == most else least
        step = 10.0 ** math.floor(math.log10(most - low))
        step = next(
            step * part for part in (0.1, 0.2, 0.5, 1, 2) if (most - low) / step / part <= 8
        )
        ticks = [step * n for n in range(math.floor(low / step), math.ceil(most / step) + 1)]
        return cls(ticks[0], ticks[-1], False, tuple(round(tick, 10) for tick in ticks))

    def place(self, figure: float) -> float:
        """Where a figure is, from 0 to 1."""
        change = math.log10 if self.log else float
        span = change(self.high) - change(self.low)
        return (change(figure) - change(self.low)) / (span or 1.0)


def _mark(number: int, x: float, y: float) -> str:
    """One of four shapes."""
    match number % 4:
        case 0:
            return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.2'/>"
        case 1:
            return f"<rect x='{x - 3:.1f}' y='{y - 3:.1f}' width='6' height='6'/>"
        case 2:
            corners = ((0, -4), (4, 3), (-4, 3))
        case _:
            corners = ((0, 4), (4, -3), (-4, -3))
    places = " ".join(f"{x + right:.1f},{y + down:.1f}" for right, down in corners)
    return f"<polygon points='{places}'/>"


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f"<line class='{kind}' x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}'/>"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{escape(text)}</text>"
