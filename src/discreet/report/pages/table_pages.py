"""Pages of tables of other tools: what one is worth, and several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from discreet.report.charts.chart import Chart, Mark, Scale
from discreet.report.charts.result_charts import above
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    exact,
    figures,
    joined,
    label,
    labels,
    paragraph,
    table,
    tag,
)
from discreet.statements import Statement

if TYPE_CHECKING:
    from discreet.attacks.tables.table_comparison import TableComparison
    from discreet.releases.table_measures import TableMeasures

SHADE = 0.85  # of the strongest association in a map


def table_measures_page(measures: TableMeasures) -> Page:
    """Return the page of a table's measures, with a map of the associations."""
    columns = table(
        labels("column", "distance-of-shape", "loss-of-information", "mean-before", "mean-after"),
        [
            (
                exact(column.name),
                f"{column.distance:.1%}",
                f"{column.loss:.1%}",
                "–" if column.mean is None else f"{column.mean[0]:.6g}",
                "–" if column.mean is None else f"{column.mean[1]:.6g}",
            )
            for column in measures.columns
        ],
        range(1, 5),
    )
    return Page(
        kind=label("utility-report"),
        subject="",
        heading=Statement("headline.table-measures", error=measures.association_error),
        tone="",
        lede=(label("every-figure-compares"),),
        cards=list(_cards(measures)),
        sections=[
            Section(label("columns"), columns, label("columns")),
            Section(
                label("associations-of-columns"),
                association_map(measures.names, measures.before, measures.after),
                label("associations-of-columns"),
            ),
        ],
    )


def _cards(measures: TableMeasures) -> Iterator[Card]:
    yield Card("rows", label("rows"), measures.rows, f"{measures.rows:,}")
    asked = measures.query_error
    if asked is not None and asked.release.median is not None:
        median = asked.release.median
        shown, note = f"{median:.1%}", label("of-random-queries")
        yield Card("query-error", label("median-query-error"), median, shown, note)
    for key, value in (("association-error", measures.association_error),
                       ("distance-of-shape", measures.distance)):  # fmt: skip
        yield Card(key, label(key), value, f"{value:.1%}")


def association_map(
    names: Sequence[str], before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]
) -> Markup:
    """Return the map: above the diagonal the original, below it the table; darker is stronger."""
    rows = []
    for i, name in enumerate(names):
        cells: list[Markup] = [exact(name)]
        for j in range(len(names)):
            strength = (before if j > i else after)[i][j]
            shade = f"--strength: {SHADE * strength:.0%}"
            shown = tag("span", f"{strength:.2f}", class_="strength", style=shade)
            cells.append(Markup("") if i == j else shown)
        rows.append(cells)
    head = (label("column"), *(exact(name) for name in names))
    drawn = table(head, rows, range(1, len(head)))
    return joined([paragraph(label("association-map")), drawn])


def comparison_of_tables_page(comparison: TableComparison) -> Page:
    """Return several tools' outputs on one page with one chart."""
    best = comparison.best
    rows = [
        (
            exact(one.name),
            Statement(f"tables.read-as.{one.shape}"),
            f"{one.risk:.1%}",
            *(
                "–" if error is None else f"{error:.1%}" + " ★" * (best.get(question) == one.name)
                for question, error in one.errors.items()
            ),
        )
        for one in comparison.tables
    ]
    head = (
        *labels("table", "read-as", "risk-gain"),
        *(Statement(f"tables.question.{question}") for question in comparison.tables[0].errors),
    )
    return Page(
        kind=label("comparison-of-tables"),
        subject="",
        heading=comparison.summary[0],
        tone="",
        lede=tuple(comparison.summary[1:]),
        cards=[Card("tables", label("tables"), len(comparison.tables),
                    f"{len(comparison.tables)}")],
        sections=[
            Section(label("figures"), table(head, rows, range(2, len(head))), label("figures")),
            Section(label("risk-and-utility"), figures(tables_charts(comparison))),
        ],
    )  # fmt: skip


def tables_charts(comparison: TableComparison) -> Sequence[Chart]:
    """Return the risk of each table against its mean error."""
    points = []
    for one in comparison.tables:
        known = [error for error in one.errors.values() if error is not None]
        points.append((one.name, max(one.risk, 0.0), sum(known) / max(len(known), 1)))
    high = above(max(0.05, *(risk for _, risk, _ in points)))
    top = above(max(0.05, *(error for _, _, error in points)))
    return [
        Chart(
            name="tables",
            form="points",
            title=label("risk-and-utility"),
            note=Statement("chart.tables.note"),
            x=Scale(label("risk-gain"), high=high),
            y=Scale(label("mean-error"), high=top),
            marks=tuple(
                Mark(x=risk, y=error, lane=name, series=name, label=name)
                for name, risk, error in points
            ),
            head=labels("table", "risk-gain", "mean-error"),
            table=tuple((name, f"{risk:.1%}", f"{error:.1%}") for name, risk, error in points),
        )
    ]
