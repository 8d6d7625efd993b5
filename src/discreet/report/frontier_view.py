"""The frontier of projection plans as a table, and as a plot to choose bounds by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from discreet.algorithms.frontier import Frontier, Step
from discreet.report.line_plot import Line, line_plot

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
    lines = [
        Line(
            name,
            colour,
            dashes,
            [
                (step.tables, found)
                for step in frontier.steps
                if (found := figure(step)) is not None
            ],
        )
        for name, colour, dashes, figure in _LINES
    ]
    title = "What each number of tables loses, exposes and reaches"
    return line_plot(title, "number of tables", lines)


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
