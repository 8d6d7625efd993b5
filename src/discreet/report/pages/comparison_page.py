"""Several methods on one table, as a page: which to take, and why."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.job.model import Job
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import frontier_chart, learning_chart
from discreet.report.pages.provenance import origin
from discreet.report.pieces import (
    Card,
    Html,
    Page,
    Section,
    badge,
    code,
    figures,
    joined,
    paragraph,
    sentences,
    table,
)
from discreet.utility.comparison import Comparison, Point

COLUMNS = (
    ("divergence ratio D", "divergence_ratio", ".3f"),
    ("belief, 99 %", "belief_99", ".1%"),
    ("above no link", "belief_gain", "+.1%"),
    ("greatest belief", "belief_max", ".1%"),
    ("query error", "query_error", ".3f"),
    ("associations lost", "association", ".1%"),
    ("learning skill", "skill", ".2f"),
    ("pinned", "pinned", ".1%"),
    ("population risk", "population_risk", ".2%"),
    ("greatest population risk", "population_risk_max", ".2%"),
    ("left out", "suppressed_share", ".1%"),
    ("seconds", "seconds", ".1f"),
)


def comparison_page(comparison: Comparison, job: Job | None = None) -> Page:
    """Return the page, with the varied job if it is given."""
    chosen = next((one for one in comparison.recommendations if one.label is not None), None)
    label = comparison.unlinked.label
    heading = "No release is recommended" if chosen is None else f"Recommended: {chosen.label}"
    if chosen is not None and chosen.label == label:
        heading = "No release beats two tables without a link"
    said = comparison.recommendations
    return Page(
        kind="Comparison",
        subject=f"of {len(comparison.points)} releases of {comparison.counted_source}",
        heading=heading,
        tone="warn" if chosen is None or chosen.label == label else "",
        lede=tuple(one.sentence for one in said[:1]),
        cards=list(_cards(comparison)),
        sections=[*_sections(comparison), *origin(None, job)],
    )


def comparison_charts(comparison: Comparison) -> list[Chart]:
    """The plots of a comparison."""
    found = [frontier_chart(comparison), learning_chart(comparison)]
    return [chart for chart in found if chart is not None]


def _cards(comparison: Comparison) -> Iterator[Card]:
    published, points = comparison.published, comparison.points
    yield Card(
        "releases", "releases made", len(published), f"{len(published)} of {len(points)}",
        tone="" if len(published) == len(points) else "warn",
    )  # fmt: skip
    best = [point for point in published if not point.dominated]
    yield Card("not-dominated", "not dominated", len(best), f"{len(best)}")
    safest = [point for point in published if point.belief_99 is not None]
    if safest:
        least = min(safest, key=lambda point: point.belief_99 or 0.0)
        yield Card(
            "least-belief", "lowest 99th-percentile belief", least.belief_99 or 0.0,
            f"{least.belief_99:.1%}", least.label,
        )  # fmt: skip
    closest = [point for point in published if point.divergence_ratio is not None]
    if closest:
        near = min(closest, key=lambda point: point.divergence_ratio or 0.0)
        yield Card(
            "least-divergence", "least divergence ratio", near.divergence_ratio or 0.0,
            f"{near.divergence_ratio:.3f}", near.label,
        )  # fmt: skip


def _sections(comparison: Comparison) -> Iterator[Section]:
    drawn = figures(comparison_charts(comparison))
    if drawn:
        about = paragraph(
            "Every release is attacked by the same attacker, who knows all quasi-identifiers and "
            "believes what the release implies; so releases of different kinds are on one plot."
        )
        yield Section("Risk and utility", joined([about, drawn]), "Frontier")
    if comparison.recommendations:
        said = [one.sentence for one in comparison.recommendations]
        yield Section("Recommendations", sentences(said), "Recommendations")
    yield Section("All releases", _table(comparison), "All releases")
    notes = {point.note: point.method for point in comparison.points if point.note}
    said = [f"{method}: {note}." for note, method in notes.items()]
    if comparison.untried:
        said.append(f"Not tried within the time budget: {', '.join(comparison.untried)}.")
    if said:
        yield Section("Settings", sentences(said), "Settings")
    failed = [f"{point.label}: {point.failure}" for point in comparison.points if point.failed]
    if failed:
        yield Section("Failed runs", sentences(failed), "Failures")
    repeat = code(
        "discreet compare JOB --methods METHODS --vary PARAMETER=VALUES --output FOLDER\n"
        "discreet publish JOB --compared FOLDER --release 'NAME'"
    )
    yield Section("How to repeat the run", repeat)


def _table(comparison: Comparison) -> Html:
    shown = [
        column
        for column in COLUMNS
        if any(getattr(point, column[1]) is not None for point in comparison.published)
    ]
    recommended = {one.label for one in comparison.recommendations}
    rows = [
        (_name(point, recommended), *(_cell(point, key, form) for _, key, form in shown))
        for point in (*comparison.published, comparison.unlinked)
    ]
    return table(("release", *(name for name, _, _ in shown)), rows, range(1, len(shown) + 1))


def _name(point: Point, recommended: set[str | None]) -> Html:
    parts: list[str] = [Html("<strong>"), point.label, Html("</strong> ")]
    if point.label in recommended:
        parts.append(badge("recommended", "good"))
    elif point.dominated:
        parts.append(badge("outdone"))
    return joined(parts)


def _cell(point: Point, key: str, form: str) -> str:
    figure = getattr(point, key)
    return "–" if figure is None else format(figure, form)
