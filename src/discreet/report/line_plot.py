"""A plot of figures between 0 and 1 against whole numbers from 1 on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 800, 320, 48, 28, 16, 44


@dataclass(frozen=True)
class Line:
    """One line of a plot; dashes as SVG writes them, so that colour is not all that tells."""

    name: str
    colour: str
    dashes: str
    points: Sequence[tuple[int, float]]


def line_plot(title: str, across: str, lines: Sequence[Line]) -> str:
    """Lines with a legend, as an SVG that needs nothing else."""
    most = max(number for line in lines for number, _ in line.points)

    def place(number: int, figure: float) -> str:
        x = _LEFT + (number - 1) / max(most - 1, 1) * (_WIDTH - _LEFT - _RIGHT)
        y = _TOP + (1.0 - figure) * (_HEIGHT - _TOP - _BOTTOM)
        return f"{x:.1f},{y:.1f}"

    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' "
        f"width='{_WIDTH}' height='{_HEIGHT}' font-family='system-ui, sans-serif' font-size='11'>"
        f"<title>{escape(title)}</title>"
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' fill='white'/>"
    ]
    for tenth in range(0, 11, 2):
        x, y = place(1, tenth / 10).split(",")
        parts.append(
            f"<line x1='{x}' y1='{y}' x2='{_WIDTH - _RIGHT}' y2='{y}' stroke='#ddd'/>"
            f"<text x='{_LEFT - 6}' y='{y}' text-anchor='end' dy='.3em'>{tenth / 10:.1f}</text>"
        )
    for number in range(1, most + 1, max(1, most // 12)):
        x = place(number, 0).split(",")[0]
        parts.append(
            f"<text x='{x}' y='{_HEIGHT - _BOTTOM + 16}' text-anchor='middle'>{number}</text>"
        )
    parts.append(
        f"<text x='{_WIDTH / 2}' y='{_HEIGHT - 8}' text-anchor='middle'>{escape(across)}</text>"
    )
    for number, line in enumerate(lines):
        points = " ".join(place(*point) for point in line.points)
        legend = _LEFT + number * (_WIDTH - _LEFT - _RIGHT) / len(lines)
        stroke = (
            f"stroke='{line.colour}' stroke-width='2' stroke-dasharray='{line.dashes}' fill='none'"
        )
        parts.append(
            f"<polyline points='{points}' {stroke}/>"
            f"<line x1='{legend}' y1='12' x2='{legend + 18}' y2='12' {stroke}/>"
            f"<text x='{legend + 22}' y='12' dy='.3em'>{escape(line.name)}</text>"
        )
    return "".join([*parts, "</svg>\n"])
