"""The frontier of projection plans as a table, and as a plot to choose bounds by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from discreet.algorithms.frontier import Frontier, Step

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 800, 320, 48, 28, 16, 44
_LINES: Sequence[tuple[str, str, str, Callable[[Step], float | None]]] = (
    ("association loss Γα", "#c2410c", "", lambda step: step.association_loss),
    ("information exposure Γβ", "#1d4ed8", "6 3", lambda step: step.information_exposure),
    ("closest t", "#15803d", "2 3", lambda step: step.closeness),
    ("t of the chosen recoding", "#7e22ce", "8 3 2 3", lambda step: step.chosen_closeness),
)
_HEAD = (
    "tables", "association loss", "information exposure", "closest t", "better than one table",
    "chosen t", "requirements", "attributes that stand together",
)  # fmt: skip


def frontier_text(frontier: Frontier) -> str:
    """The frontier for a terminal, fewest tables first."""
    rows = [_HEAD, *(_cells(step) for step in reversed(frontier.steps))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD) - 1)]
    lines = []
    for row in rows:
        figures = [cell.rjust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*figures, row[-1]]).rstrip())
    if frontier.nodes:
        lines.append(
            f"{frontier.nodes_valid} of {frontier.nodes} recodings meet the requirements on sizes "
            "and the ceiling."
        )
    return "\n".join(lines)


def frontier_html(frontier: Frontier) -> str:
    """The frontier for a notebook: plot and table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in _HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(step)) + "</tr>"
        for step in reversed(frontier.steps)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"{frontier_plot(frontier)}{table}"


def frontier_plot(frontier: Frontier) -> str:
    """Figures against the number of tables, as an SVG that needs nothing else."""
    most = max(step.tables for step in frontier.steps)

    def place(tables: int, figure: float) -> str:
        across = (tables - 1) / max(most - 1, 1)
        x = _LEFT + across * (_WIDTH - _LEFT - _RIGHT)
        y = _TOP + (1.0 - figure) * (_HEIGHT - _TOP - _BOTTOM)
        return f"{x:.1f},{y:.1f}"

    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' "
        f"width='{_WIDTH}' height='{_HEIGHT}' font-family='system-ui, sans-serif' font-size='11'>"
        "<title>What each number of tables loses, exposes and reaches</title>"
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' fill='white'/>"
    ]
    for tenth in range(0, 11, 2):
        x, y = place(1, tenth / 10).split(",")
        parts.append(
            f"<line x1='{x}' y1='{y}' x2='{_WIDTH - _RIGHT}' y2='{y}' stroke='#ddd'/>"
            f"<text x='{_LEFT - 6}' y='{y}' text-anchor='end' dy='.3em'>{tenth / 10:.1f}</text>"
        )
    for tables in range(1, most + 1, max(1, most // 12)):
        x = place(tables, 0).split(",")[0]
        parts.append(
            f"<text x='{x}' y='{_HEIGHT - _BOTTOM + 16}' text-anchor='middle'>{tables}</text>"
        )
    parts.append(
        f"<text x='{_WIDTH / 2}' y='{_HEIGHT - 8}' text-anchor='middle'>number of tables</text>"
    )
    for number, (name, colour, dashes, figure) in enumerate(_LINES):
        points = [
            place(step.tables, found)
            for step in frontier.steps
            if (found := figure(step)) is not None
        ]
        legend = _LEFT + number * (_WIDTH - _LEFT - _RIGHT) / len(_LINES)
        stroke = f"stroke='{colour}' stroke-width='2' stroke-dasharray='{dashes}' fill='none'"
        parts.append(
            f"<polyline points='{' '.join(points)}' {stroke}/>"
            f"<line x1='{legend}' y1='12' x2='{legend + 18}' y2='12' {stroke}/>"
            f"<text x='{legend + 22}' y='12' dy='.3em'>{escape(name)}</text>"
        )
    return "".join([*parts, "</svg>\n"])


def _cells(step: Step) -> tuple[str, ...]:
    together = [" + ".join(block) for block in step.plan if len(block) > 1]
    return (
        str(step.tables),
        f"{step.association_loss:.4f}",
        f"{step.information_exposure:.4f}",
        "–" if step.closeness is None else f"{step.closeness:.4f}",
        "–" if step.improvement is None else f"{step.improvement:.1%}",
        "–" if step.chosen_closeness is None else f"{step.chosen_closeness:.4f}",
        "met" if step.feasible else "not met",
        " | ".join(together) or "none",
    )
