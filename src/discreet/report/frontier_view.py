"""The frontier of projection plans as a table."""

from __future__ import annotations

from discreet.methods.codip.frontier import Frontier, FrontierStep
from discreet.report.charts.result_charts import plan_chart
from discreet.report.pieces import Page, Section, exact, figures, label, labels, table
from discreet.statements import Statement

_HEAD = labels(
    "tables", "association-loss", "information-exposure", "closest-t", "better-than-one-table",
    "chosen-t", "requirements-met", "attributes-in-one-table",
)  # fmt: skip


def frontier_text(frontier: Frontier) -> str:
    """The frontier for a terminal, fewest tables first."""
    rows = [_HEAD, *(_cells(step) for step in reversed(frontier.steps))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD) - 1)]
    lines = []
    for row in rows:
        figures_ = [cell.rjust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*figures_, row[-1]]).rstrip())
    if frontier.nodes:
        lines.append(_nodes(frontier))
    return "\n".join(lines)


def frontier_page(frontier: Frontier) -> Page:
    """The frontier as a page: plot and table."""
    rows = [
        (*cells, plan if isinstance(plan, Statement) else exact(plan))
        for *cells, plan in map(_cells, reversed(frontier.steps))
    ]
    return Page(
        kind=label("projections"),
        subject=label("of-sensitive-attributes", count=len(frontier.attributes)),
        heading=Statement("headline.projections"),
        tone="",
        lede=(_nodes(frontier) if frontier.nodes else "",),
        cards=(),
        sections=[
            Section(label("the-frontier"), figures([plan_chart(frontier)]), label("plot")),
            Section(
                label("every-number-of-tables"), table(_HEAD, rows, range(1, 6)), label("the-table")
            ),
        ],
    )


def _nodes(frontier: Frontier) -> Statement:
    return Statement("projections.nodes", valid=frontier.nodes_valid, nodes=frontier.nodes)


def _cells(step: FrontierStep) -> tuple[str, ...]:
    together = [" + ".join(block) for block in step.plan if len(block) > 1]
    return (
        str(step.tables),
        f"{step.association_loss:.4f}",
        f"{step.information_exposure:.4f}",
        "–" if step.closeness is None else f"{step.closeness:.4f}",
        "–" if step.improvement is None else f"{step.improvement:.1%}",
        "–" if step.chosen_closeness is None else f"{step.chosen_closeness:.4f}",
        label("met" if step.feasible else "not-met"),
        " | ".join(together) or label("none"),
    )
