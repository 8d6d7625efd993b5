"""A check of a table, as lines of a terminal and as a page.

Both have the verdict, the figures of each requirement, and the classes that fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from discreet.job.table_check import Check, CheckedRequirement, FailingClasses
from discreet.releases.audit.figures import Picture
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import size_charts
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    Tone,
    badge,
    exact,
    explained,
    figures,
    figures_line,
    inline,
    joined,
    label,
    labels,
    sentences,
    table,
)
from discreet.requirements.closeness import TCloseness
from discreet.statements import Statement
from discreet.table.roles import Unit

SHOWN_SIZES = 5  # of failing classes, the smallest
NAME_OF_FIGURE = {  # of models that have a figure without a bound
    "k-anonymity": "k", "distinct-l-diversity": "l", "entropy-l-diversity": "l",
    "recursive-cl-diversity": "c for l = 2", "p-diversity": "l", "alpha-k-anonymity": "alpha",
    "t-closeness": "t", "beta-likeness": "beta", "delta-disclosure": "delta",
    "multi-attribute-l-diversity": "l",
}  # fmt: skip


def check_page(check: Check) -> Page:
    """Return the page."""
    tone: Tone = "" if not check.requirements else "good" if check.ok else "bad"
    return Page(
        kind=label("check"),
        subject=label("of-table"),
        heading=_heading(check),
        tone=tone,
        lede=(_counted(check), *check.remarks, *_distances(check)),
        cards=list(_cards(check, tone)),
        sections=list(_sections(check)),
    )


def check_charts(check: Check) -> list[Chart]:
    """The plots of a check: classes by size, where rows are counted."""
    return size_charts(Picture({"": check.sizes})) if check.persons is None else []


def check_lines(check: Check) -> list[str]:
    """Return what a check found, on one screen."""
    lines = [f"{_heading(check)}.", _counted(check)]
    if check.suppressed:
        lines.append(Statement("check.suppressed-apart", rows=check.suppressed))
    if check.requirements:
        lines.append("")
    for judged in check.requirements:
        lines += _requirement_lines(judged, check)
    if check.figures:
        lines += ["", *_figure_lines(check)]
    about = () if check.population is None else check.population.sentences()
    remarks = [*about, *check.remarks, *_distances(check)]
    return [*lines, "", *remarks] if remarks else lines


def _heading(check: Check) -> Statement:
    """Return the verdict in a few words."""
    total, broken = (
        len(check.requirements),
        sum(not verdict.holds for verdict in check.requirements),
    )
    if not total:
        return Statement("check.figures")
    if total == 1:
        return Statement("check.fails" if broken else "check.holds")
    if broken:
        return Statement("check.some-fail", count=broken, total=total)
    return Statement("check.all-hold", count=total)


def _counted(check: Check) -> Statement:
    """Return what was counted."""
    columns, persons = check.quasi_identifiers, check.persons
    counts = {"rows": check.rows, "classes": check.classes, "columns": columns}
    if persons is None:
        return Statement("check.counted", **counts)
    counted = Statement("check.counted.persons", persons=persons.persons, **counts)
    if not persons.unnamed:
        return counted
    return Statement("check.unnamed", first=counted, rows=persons.unnamed)


def _failing(failing: FailingClasses, check: Check) -> Statement:
    """Return how many classes fail, and their sizes."""
    sizes = list(failing.sizes.items())
    shown = [
        Statement("check.of-size", classes=times, size=size) for size, times in sizes[:SHOWN_SIZES]
    ]
    more = len(sizes) - SHOWN_SIZES
    return Statement(
        f"check.failing.{_unit(check)}",
        failing=failing.classes,
        classes=check.classes,
        members=failing.members,
        sizes=[*shown, Statement("check.larger-sizes", count=more)] if more > 0 else shown,
    )


def _unit(check: Check) -> str:
    return "rows" if check.unit is Unit.ROW else "persons"


def _known_columns(judged: CheckedRequirement, check: Check) -> Iterator[str]:
    """Yield the figures by the number of columns that an attacker knows, and which sets fail."""
    known = judged.attackers
    assert known is not None
    if len(known.by_length) > 1:
        yield "By the number of known columns: " + "; ".join(
            f"{length}: {_figures_text(by_name)}" for length, by_name in known.by_length.items()
        )
    if known.failing_sets:
        yield (
            f"Failing sets of columns: {known.failing_sets:,} of {known.sets:,}, with "
            f"{judged.failing.classes:,} groups; the smallest has {min(judged.failing.sizes):,} "
            f"{_unit(check)} with the same cells in {', '.join(known.worst_set)}"
        )


def _distances(check: Check) -> Iterator[Statement]:
    """Yield the distances between values, where t-closeness was judged."""
    if TCloseness.name in (
        *(verdict.requirement.name for verdict in check.requirements),
        *check.figures,
    ):
        distances = [
            Statement(f"check.distance.{distance}", attribute=name)
            for name, distance in check.distances.items()
        ]
        yield Statement("check.distances", distances=distances)


def _requirement_lines(judged: CheckedRequirement, check: Check) -> Iterator[str]:
    verdict = "holds" if judged.holds else "FAILS"
    achieved = _figures_text(judged.achieved)
    yield f"  - {verdict}: {check.sentence(judged)} [{judged.requirement.name}: {achieved}]"
    if len(judged.by_attribute) > 1:
        yield f"    By attribute: {_figures_text(judged.by_attribute)}"
    if judged.attackers is not None:
        yield from (f"    {line}" for line in _known_columns(judged, check))
    elif judged.failing.classes:
        yield f"    {_failing(judged.failing, check)}"
    if judged.holds and judged.excludes_nothing:
        yield "    It excludes nothing: every partition of these rows keeps it."


def _figure_lines(check: Check) -> Iterator[str]:
    """Yield the figures of the table by every model, one line each."""
    yield "Figures of the table, the worst class of each:"
    width = max(len(name) for name in check.figures)
    for name, by_attribute in check.figures.items():
        shown = ", ".join(
            f"{_number(figure)} ({attribute})" if attribute else _number(figure)
            for attribute, figure in by_attribute.items()
        )
        yield f"  {name:<{width}}  {NAME_OF_FIGURE[name]} = {shown}"


def _figures_text(by_name: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {_number(figure)}" for name, figure in by_name.items())


def _number(figure: float) -> str:
    return f"{figure:.6g}" if math.isfinite(figure) else "unbounded"


def _cards(check: Check, tone: Tone) -> Iterator[Card]:
    total = len(check.requirements)
    if total:
        holding = sum(judged.holds for judged in check.requirements)
        shown = label("of", count=holding, total=total)
        yield Card("kept", label("requirements-that-hold"), holding, shown, tone=tone)
    yield Card("rows", label("rows"), check.rows, f"{check.rows:,}")
    if check.persons is not None:
        persons = check.persons.persons
        yield Card("persons", label("persons"), persons, f"{persons:,}")
    yield Card("classes", Statement("measure.classes"), check.classes, f"{check.classes:,}")


def _sections(check: Check) -> Iterator[Section]:
    if check.requirements:
        title = label("requirements")
        yield Section(title, _requirements(check), title)
    failing = [
        joined([exact(f"{judged.requirement.name}: "), _failing(judged.failing, check), "."])
        for judged in check.requirements
        if judged.failing.classes
    ]
    if failing:
        yield Section(label("classes-that-fail"), sentences(failing), label("failing-classes"))
    if check.figures:
        yield Section(label("figures-of-the-table"), _figures(check), label("figures"))
    if check.population is not None:
        about = sentences(check.population.sentences())
        yield Section(label("risk-in-the-population"), about, label("population"))
    drawn = figures(check_charts(check))
    if drawn:
        yield Section(label("sizes-of-classes"), drawn, label("sizes"))


def _requirements(check: Check) -> Markup:
    return table(
        labels("requirement", "required", "achieved", "by-attribute", "verdict"),
        [
            (
                explained(exact(judged.requirement.name), check.sentence(judged)),
                figures_line(inline(_asked(judged))),
                figures_line(_figures_text(judged.achieved)),
                figures_line(_figures_text(judged.by_attribute)),
                _badge(judged),
            )
            for judged in check.requirements
        ],
        short=(1, 2),
    )


def _asked(judged: CheckedRequirement) -> dict[str, object]:
    parameters = judged.requirement.parameters().items()
    return {name: value for name, value in parameters if name != "attribute"}


def _badge(judged: CheckedRequirement) -> Markup:
    if not judged.holds:
        return badge(label("fails"), "bad")
    if judged.excludes_nothing:
        return badge(label("excludes-nothing"), "warn")
    return badge(label("holds"), "good")


def _figures(check: Check) -> Markup:
    rows = [
        (
            exact(f"{name} ({NAME_OF_FIGURE[name]})"),
            exact(attribute) if attribute else label("all-rows"),
            _number(figure) if math.isfinite(figure) else label("unbounded"),
        )
        for name, by_attribute in check.figures.items()
        for attribute, figure in by_attribute.items()
    ]
    return table(labels("model", "attribute", "worst-class"), rows, (2,))
