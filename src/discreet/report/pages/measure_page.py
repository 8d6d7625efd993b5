"""What a release is still worth, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.releases.manifest import Manifest
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import error_chart, loss_charts
from discreet.report.pages.provenance import origin
from discreet.report.pieces import (
    Card,
    Html,
    Page,
    Section,
    code,
    explained,
    figures,
    inline,
    joined,
    paragraph,
    table,
)

if TYPE_CHECKING:
    from discreet.job.model import Job

MEANING = {
    "loss": "mean over quasi-identifier cells: 0 = exact, 1 = suppressed",
    "loss_sensitive": "mean share of the sensitive values that remain possible for a row",
    "classes": "number of groups",
    "class_size": "source rows over groups",
    "discernibility": "Σ |group|², suppressed rows counted as a group of all",
    "entropy": "bits, over all quasi-identifier cells",
    "height": "sum of generalization levels",
    "kl_divergence": "nats between the original and what the release implies",
    "ratio": "D: 0 = the original, 1 = all attributes independent",
    "association": "lost between quasi-identifiers and sensitive attributes",
    "association_sensitive": "lost between sensitive attributes",
    "pairs_left_out": "two-way tables that are too large to compare",
    "median": "median relative error of COUNT queries",
    "skill": "of a model: 1 as from the original, 0 as from value frequencies alone",
    "smallest": "persons of the population in the smallest class",
    "average": "mean risk of a link to the population",
    "maximum": "greatest risk of a link to the population",
    "rows_above": "rows whose risk is above the threshold",
    "mean_log_sets": "mean over rows of ln(product of the sizes of the group's sets)",
    "kl_uniform": "KL divergence if all combinations of listed values are equally likely",
    "divergence_ratio_uniform": "D if all combinations of listed values are equally likely",
    "query_error_uniform": "median if all combinations of listed values are equally likely",
}
DRAWN = ("loss_by_attribute",)  # a plot has these


def measure_page(
    measured: Mapping[str, Any], manifest: Manifest | None = None, job: Job | None = None
) -> Page:
    """The page of the figures that ``Utility.to_dict`` gives."""
    drawn = figures(measure_charts(measured))
    parts = [drawn] if drawn else []
    sections = [
        Section("Information loss", joined(parts), "Loss"),
        Section("All figures", figure_table(measured), "Figures"),
        Section(
            "How to repeat the run",
            joined(
                [
                    paragraph("The queries are drawn from the original with a seed."),
                    code("discreet measure RELEASE --original JOB --page measures.html"),
                ]
            ),
        ),
        *origin(manifest, job),
    ]
    ratio = divergence_ratio(measured)
    return Page(
        kind="Utility report",
        subject="" if manifest is None else f"of a release by {manifest.method.name}",
        heading=_heading(ratio, measured),
        tone="" if ratio is None or ratio < 1 else "warn",
        lede=(
            "Every figure compares the distribution that the release implies with the original. "
            "The unlinked baseline has no link between quasi-identifiers and sensitive attributes.",
        ),
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
    found = measured.get("divergence")
    ratio = found.get("ratio") if isinstance(found, Mapping) else None
    return None if ratio is None else float(ratio)


def figure_table(measured: Mapping[str, Any]) -> Html:
    """Every figure, with what it means."""
    rows = [
        (explained(name, meaning) if meaning else name, figure)
        for name, figure, meaning in _figure_rows(measured)
    ]
    return table(("measure", "figure"), rows, {1})


def _figure_rows(measured: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, str, str]]:
    for name, value in measured.items():
        shown = f"{under}{name}".replace("_", " ")
        if name in DRAWN:
            continue
        if isinstance(value, Mapping):
            yield from _figure_rows(value, f"{under}{name}: ")
        else:
            yield shown, inline(value), MEANING.get(name, "")


def _heading(ratio: float | None, measured: Mapping[str, Any]) -> str:
    if ratio is not None:
        words = ("Associations are kept", "Associations are weak",
                 "Associations are worse than independent attributes")  # fmt: skip
        return f"{words[0 if ratio < 0.5 else 1 if ratio < 1 else 2]}: D = {ratio:.2f}"
    loss = measured.get("loss")
    return (
        "Utility of the release"
        if loss is None
        else f" Information loss of quasi-identifiers: {loss:.0%} open"
    )


def _cards(measured: Mapping[str, Any], ratio: float | None) -> Iterator[Card]:
    if ratio is not None:
        yield Card(
            "divergence-ratio", "divergence ratio D", ratio, f"{ratio:.3f}",
            "0 = the original, 1 = all attributes independent",
        )  # fmt: skip
    loss = measured.get("loss")
    if loss is not None:
        yield Card(
            "loss", "information loss of quasi-identifiers", loss, f"{loss:.1%}",
            "0 % = exact values, 100 % = suppressed",
        )  # fmt: skip
    asked = measured.get("query_error")
    if asked and asked.get("median") is not None:
        yield Card(
            "query-error", "median query error", asked["median"], f"{asked['median']:.1%}",
            "of random COUNT queries",
        )  # fmt: skip
    if "kl_divergence" in measured:
        kl = measured["kl_divergence"]
        yield Card("kl-divergence", "KL divergence", kl, f"{kl:.2f}", "nats")
    if "classes" in measured:
        yield Card(
            "groups", "groups", measured["classes"],
            f"{measured['classes']:,}",
        )  # fmt: skip
