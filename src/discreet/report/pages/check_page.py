"""A check as a page: the verdict, the figures of each requirement, and the sizes of classes."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.job.table_check import Check, CheckedRequirement
from discreet.releases.group_summary import Picture
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import size_charts
from discreet.report.check_view import (
    OF_FIGURE,
    check_heading,
    counted_sentence,
    distance_lines,
    failing_sentence,
    figures_text,
    number_text,
)
from discreet.report.pieces import (
    Card,
    Html,
    Page,
    Section,
    Tone,
    badge,
    exact,
    explained,
    figures,
    inline,
    sentences,
    table,
    with_numbers,
)


def check_page(found: Check) -> Page:
    """The page."""
    tone: Tone = "" if not found.requirements else "good" if found.ok else "bad"
    return Page(
        kind="Check",
        subject="of a table, against requirements",
        heading=check_heading(found),
        tone=tone,
        lede=(counted_sentence(found), *found.remarks, *distance_lines(found)),
        cards=list(_cards(found, tone)),
        sections=list(_sections(found)),
    )


def check_charts(found: Check) -> list[Chart]:
    """The plots of a check: classes by size, where rows are counted."""
    return size_charts(Picture({"": found.sizes})) if found.persons is None else []


def _cards(found: Check, tone: Tone) -> Iterator[Card]:
    count = len(found.requirements)
    if count:
        kept = sum(one.holds for one in found.requirements)
        yield Card("kept", "requirements that hold", kept, f"{kept} of {count}", tone=tone)
    yield Card("rows", "rows", found.rows, f"{found.rows:,}")
    if found.persons is not None:
        persons = found.persons.persons
        yield Card("persons", "persons", persons, f"{persons:,}")
    yield Card("classes", "classes", found.classes, f"{found.classes:,}")


def _sections(found: Check) -> Iterator[Section]:
    if found.requirements:
        yield Section("Requirements", _requirements(found), "Requirements")
    failing = [one for one in found.requirements if one.failing.classes]
    if failing:
        said = [
            f"{one.requirement.name}: {failing_sentence(one.failing, found)}." for one in failing
        ]
        yield Section("Classes that fail", sentences(said), "Failing classes")
    if found.figures:
        yield Section("Figures of the table", _figures(found), "Figures")
    if found.population is not None:
        said_of = sentences(found.population.sentences())
        yield Section("Risk in the population", said_of, "Population")
    drawn = figures(check_charts(found))
    if drawn:
        yield Section("Sizes of classes", drawn, "Sizes")


def _requirements(found: Check) -> Html:
    return table(
        ("requirement", "required", "achieved", "by attribute", "verdict"),
        [
            (
                explained(exact(one.requirement.name), found.sentence(one)),
                with_numbers(inline(_asked(one))),
                with_numbers(figures_text(one.achieved)),
                with_numbers(figures_text(one.by_attribute)),
                _badge(one),
            )
            for one in found.requirements
        ],
        short=(1, 2),
    )


def _asked(one: CheckedRequirement) -> dict[str, object]:
    given = one.requirement.parameters().items()
    return {name: value for name, value in given if name != "attribute"}


def _badge(one: CheckedRequirement) -> Html:
    if not one.holds:
        return badge("fails", "bad")
    return badge("excludes nothing", "warn") if one.excludes_nothing else badge("holds", "good")


def _figures(found: Check) -> Html:
    rows = [
        (
            exact(f"{name} ({OF_FIGURE[name]})"),
            exact(attribute) if attribute else "all rows",
            number_text(figure),
        )
        for name, by_attribute in found.figures.items()
        for attribute, figure in by_attribute.items()
    ]
    return table(("model", "attribute", "worst class"), rows, (2,))
