"""What a release is still worth, and how releases compare, as pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from discreet.job.model import Job
from discreet.releases.manifest import Manifest
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import (
    error_chart,
    frontier_chart,
    learning_chart,
    loss_charts,
)
from discreet.report.pages.release_page import origin
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    badge,
    code,
    exact,
    figure_table,
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


def measure_page(
    measured: Mapping[str, Any], manifest: Manifest | None = None, job: Job | None = None
) -> Page:
    """The page of the figures that ``Utility.to_dict`` gives."""
    repeating = [
        paragraph(label("seeded-queries")),
        code("discreet measure RELEASE --original JOB --page measures.html"),
    ]
    sections = [
        Section(label("loss-of-information"), figures(measure_charts(measured)), label("loss")),
        Section(label("all-figures"), figure_table(measured), label("figures")),
        Section(label("how-to-repeat-the-run"), joined(repeating)),
        *origin(manifest, job),
    ]
    ratio = divergence_ratio(measured)
    return Page(
        kind=label("utility-report"),
        subject="" if manifest is None else label("of-release", method=manifest.method.name),
        heading=_heading(ratio, measured),
        tone="" if ratio is None or ratio < 1 else "warn",
        lede=(label("every-figure-compares"),),
        cards=list(_measure_cards(measured, ratio)),
        sections=[section for section in sections if section.body],
    )


def measure_charts(measured: Mapping[str, Any]) -> list[Chart]:
    """The plots of a release's measures."""
    charts = loss_charts(measured)
    asked = measured.get("query_error")
    if asked and asked.get("median") is not None:
        unlinked = asked["unlinked"]
        base = unlinked["median"] if isinstance(unlinked, Mapping) else unlinked
        if base is not None:
            charts.append(error_chart(asked["median"], base))
    return charts


def divergence_ratio(measured: Mapping[str, Any]) -> float | None:
    """D, where it was measured."""
    divergence = measured.get("divergence")
    ratio = divergence.get("ratio") if isinstance(divergence, Mapping) else None
    return None if ratio is None else float(ratio)


def _heading(ratio: float | None, measured: Mapping[str, Any]) -> Statement:
    if ratio is not None:
        form = "kept" if ratio < 0.5 else "weak" if ratio < 1 else "worse"
        return Statement(f"headline.associations.{form}", ratio=ratio)
    loss = measured.get("loss")
    if loss is None:
        return Statement("headline.utility")
    return Statement("headline.loss", loss=loss)


def _measure_cards(measured: Mapping[str, Any], ratio: float | None) -> Iterator[Card]:
    if ratio is not None:
        yield Card(
            "divergence-ratio", label("divergence-ratio"), ratio, f"{ratio:.3f}",
            label("divergence-ratio.scale"),
        )  # fmt: skip
    loss = measured.get("loss")
    if loss is not None:
        yield Card(
            "loss", label("loss-of-quasi-identifiers"), loss, f"{loss:.1%}",
            label("loss.scale"),
        )  # fmt: skip
    asked = measured.get("query_error")
    if asked and asked.get("median") is not None:
        yield Card(
            "query-error", label("median-query-error"), asked["median"],
            f"{asked['median']:.1%}", label("of-random-queries"),
        )  # fmt: skip
    if "kl_divergence" in measured:
        kl = measured["kl_divergence"]
        yield Card("kl-divergence", label("kl-divergence"), kl, f"{kl:.2f}", label("nats"))
    if "classes" in measured:
        groups = measured["classes"]
        yield Card("groups", label("group-count"), groups, f"{groups:,}")


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
