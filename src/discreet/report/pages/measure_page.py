"""What a release is still worth, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from discreet.releases.manifest import Manifest
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import error_chart, loss_charts
from discreet.report.pages.provenance import origin
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    code,
    exact,
    explained,
    figures,
    inline,
    joined,
    label,
    labels,
    paragraph,
    table,
)
from discreet.statements import ENGLISH, Statement, templates

if TYPE_CHECKING:
    from discreet.job.model import Job

DRAWN = ("loss_by_attribute",)  # a plot has these
NAMING = ("tables", "terms")  # by the names of tables or attributes


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
        cards=list(_cards(measured, ratio)),
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


def figure_table(measured: Mapping[str, Any]) -> Markup:
    """Every figure, with what it means."""
    return table(labels("measure", "figure"), _figure_rows(measured), {1})


def _figure_rows(
    measured: Mapping[str, Any], within: tuple[str, ...] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the name of every figure with its meaning, and the figure; nested names are joined."""
    for key, value in measured.items():
        if key in DRAWN:
            continue
        if isinstance(value, Mapping):
            yield from _figure_rows(value, (*within, key))
            continue
        name: str = _name(key)
        for place in reversed(range(len(within))):
            is_name = place > 0 and within[place - 1] in NAMING  # of a table or an attribute
            outer = str(within[place]) if is_name else _name(within[place])
            name = Statement("measure.within", outer=outer, figure=name)
        shown = name if isinstance(name, Statement) else exact(name)
        meaning = f"measure.{key}.meaning"
        if meaning in templates(ENGLISH):
            shown = explained(shown, Statement(meaning))
        yield shown, inline(value)


def _name(key: str) -> str:
    """Return the name of a measure; a table, an attribute or an unknown key stays as it is."""
    id = f"measure.{key}"
    return Statement(id) if id in templates(ENGLISH) else str(key).replace("_", " ")


def _heading(ratio: float | None, measured: Mapping[str, Any]) -> Statement:
    if ratio is not None:
        form = "kept" if ratio < 0.5 else "weak" if ratio < 1 else "worse"
        return Statement(f"headline.associations.{form}", ratio=ratio)
    loss = measured.get("loss")
    if loss is None:
        return Statement("headline.utility")
    return Statement("headline.loss", loss=loss)


def _cards(measured: Mapping[str, Any], ratio: float | None) -> Iterator[Card]:
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
