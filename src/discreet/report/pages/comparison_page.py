"""Several methods on one table, as a page: which to take, and why."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from discreet.job.model import Job
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import frontier_chart, learning_chart
from discreet.report.pages.provenance import origin
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    badge,
    code,
    exact,
    figures,
    joined,
    label,
    labels,
    paragraph,
    sentences,
    table,
    tag,
)
from discreet.statements import Statement
from discreet.utility.comparison import Comparison, Point

COLUMNS = (
    ("divergence-ratio", "divergence_ratio", ".3f"),
    ("belief-99", "belief_99", ".1%"),
    ("above-no-link", "belief_gain", "+.1%"),
    ("greatest-belief", "belief_max", ".1%"),
    ("query-error", "query_error", ".3f"),
    ("associations-lost", "association", ".1%"),
    ("skill", "skill", ".2f"),
    ("pinned", "pinned", ".1%"),
    ("population-risk", "population_risk", ".2%"),
    ("greatest-population-risk", "population_risk_max", ".2%"),
    ("suppressed", "suppressed_share", ".1%"),
    ("seconds", "seconds", ".1f"),
)


def comparison_page(comparison: Comparison, job: Job | None = None) -> Page:
    """Return the page, with the varied job if it is given."""
    advice = comparison.recommendations
    chosen = next(
        (recommendation.label for recommendation in advice if recommendation.label is not None),
        None,
    )
    if chosen is None:
        heading = Statement("headline.none-recommended")
    elif chosen == comparison.unlinked.label:
        heading = Statement("headline.none-beats-unlinked")
    else:
        heading = Statement("headline.recommended", release=chosen)
    return Page(
        kind=label("comparison"),
        subject=label(
            "of-releases", count=len(comparison.points), source=comparison.counted_source
        ),
        heading=heading,
        tone="warn" if chosen in (None, comparison.unlinked.label) else "",
        lede=tuple(recommendation.sentence for recommendation in advice[:1]),
        cards=list(_cards(comparison)),
        sections=[*_sections(comparison), *origin(None, job)],
    )


def comparison_charts(comparison: Comparison) -> list[Chart]:
    """The plots of a comparison."""
    charts = [frontier_chart(comparison), learning_chart(comparison)]
    return [chart for chart in charts if chart is not None]


def _cards(comparison: Comparison) -> Iterator[Card]:
    published, points = comparison.published, comparison.points
    yield Card(
        "releases", label("releases-made"), len(published),
        label("of", count=len(published), total=len(points)),
        tone="" if len(published) == len(points) else "warn",
    )  # fmt: skip
    best = [point for point in published if not point.dominated]
    yield Card("not-dominated", label("not-dominated"), len(best), f"{len(best)}")
    safest = [point for point in published if point.belief_99 is not None]
    if safest:
        least = min(safest, key=lambda point: point.belief_99 or 0.0)
        yield Card(
            "least-belief", label("lowest-belief-99"), least.belief_99 or 0.0,
            f"{least.belief_99:.1%}", exact(least.label),
        )  # fmt: skip
    closest = [point for point in published if point.divergence_ratio is not None]
    if closest:
        near = min(closest, key=lambda point: point.divergence_ratio or 0.0)
        yield Card(
            "least-divergence", label("least-divergence-ratio"), near.divergence_ratio or 0.0,
            f"{near.divergence_ratio:.3f}", exact(near.label),
        )  # fmt: skip


def _sections(comparison: Comparison) -> Iterator[Section]:
    drawn = figures(comparison_charts(comparison))
    if drawn:
        about = paragraph(label("same-attacker"))
        yield Section(label("risk-and-utility"), joined([about, drawn]), label("frontier"))
    if comparison.recommendations:
        advice = sentences(recommendation.sentence for recommendation in comparison.recommendations)
        yield Section(label("recommendations"), advice, label("recommendations"))
    yield Section(label("all-releases"), _table(comparison), label("all-releases"))
    notes = {point.note: point.method for point in comparison.points if point.note}
    settings: list[str] = [f"{method}: {note}." for note, method in notes.items()]
    if comparison.untried:
        settings.append(Statement("comparison.untried", releases=comparison.untried))
    if settings:
        yield Section(label("settings"), sentences(settings), label("settings"))
    failed = [f"{point.label}: {point.failure}" for point in comparison.points if point.failed]
    if failed:
        yield Section(label("failed-runs"), sentences(failed), label("failures"))
    repeat = code(
        "discreet compare JOB --methods METHODS --vary PARAMETER=VALUES --output FOLDER\n"
        "discreet publish JOB --compared FOLDER --release 'NAME'"
    )
    yield Section(label("how-to-repeat-the-run"), repeat)


def _table(comparison: Comparison) -> Markup:
    shown = [
        column
        for column in COLUMNS
        if any(getattr(point, column[1]) is not None for point in comparison.published)
    ]
    recommended = {recommendation.label for recommendation in comparison.recommendations}
    rows = [
        (_name(point, recommended), *(_cell(point, key, form) for _, key, form in shown))
        for point in (*comparison.published, comparison.unlinked)
    ]
    return table(labels("release", *(name for name, _, _ in shown)), rows, range(1, len(shown) + 1))


def _name(point: Point, recommended: set[str | None]) -> Markup:
    parts = [tag("strong", exact(point.label)), Markup(" ")]
    if point.label in recommended:
        parts.append(badge(label("recommended"), "good"))
    elif point.dominated:
        parts.append(badge(label("dominated")))
    return joined(parts)


def _cell(point: Point, key: str, form: str) -> str:
    figure = getattr(point, key)
    return "–" if figure is None else format(figure, form)
