"""Pages of tables of other tools: what attackers learn, what one is worth, several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from discreet.report.charts.chart import Chart, Mark, Scale
from discreet.report.charts.result_charts import above
from discreet.report.pages.attack_page import (
    attack_details,
    criterion_words,
    shown_aim,
    worst_attackers,
)
from discreet.report.pages.signing_page import association_map
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    exact,
    explained,
    figures,
    joined,
    label,
    labels,
    table,
)
from discreet.statements import Statement

if TYPE_CHECKING:
    from discreet.addons.tables.table_attack import TableAttack
    from discreet.addons.tables.table_comparison import TableComparison
    from discreet.addons.tables.table_measures import TableMeasures


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


def table_attack_page(found: TableAttack) -> Page:
    """Return the page of attacks on a table of any tool."""
    worst = found.strongest
    gaining = sum(one.is_significant for one in found.attackers)
    sections = []
    if found.attackers:
        sections.append(Section(label("attackers"), _guesses(found), label("attackers")))
    if found.exact is not None:
        exact_part = joined([worst_attackers(found.exact), attack_details(found.exact)])
        sections.append(Section(label("details"), exact_part, label("details")))
    cards = [Card("rows", label("rows"), found.rows, f"{found.rows:,}")]
    if found.attackers:
        total = len(found.attackers)
        shown = label("of", count=gaining, total=total)
        cards.append(Card("gaining", label("attackers-who-gain"), gaining, shown))
    if worst is not None:
        rate = worst.success.share
        cards.append(Card("greatest-gain", label("success"), rate, f"{rate:.1%}", worst.aim))
    return Page(
        kind=label("attack-report"),
        subject="",
        heading=found.summary,
        tone="warn" if worst is not None or found.exact is not None else "good",
        lede=(found.reading, *found.remarks),
        cards=cards,
        sections=sections,
    )


def _guesses(found: TableAttack) -> Markup:
    """Return a line for each attacker who guesses, those who gain most first."""
    rows = []
    for one in sorted(found.attackers, key=lambda attacker: -attacker.gain):
        excess = one.excess
        rows.append(
            (
                explained(exact(one.attack), Statement("attack.who", knowledge=one.knowledge)),
                shown_aim(one.aim),
                criterion_words(one.criterion),
                f"{one.success.share:.1%}",
                f"{one.success.interval[0]:.1%} – {one.success.interval[1]:.1%}",
                f"{one.baseline.share:.1%}",
                "–" if one.control is None else f"{one.control.share:.1%}",
                "–" if excess is None else f"{excess[0]:.1%}",
            )
        )
    head = labels(
        "attacker", "what-is-learnt", "criterion", "success", "interval", "without-the-table",
        "holdout", "excess",
    )  # fmt: skip
    return table(head, rows, range(3, 8))
