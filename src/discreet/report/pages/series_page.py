"""The audit of a series and a simulated series, as pages."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import series_chart
from discreet.report.pieces import Card, Page, Section, figures, sentences, table


def series_page(
    said: Sequence[str], releases: int, beliefs: Sequence[float], bound: float | None, *, ok: bool
) -> Page:
    """Return what was found in sentences, and where it is known the greatest belief by release."""
    sections = [Section("What was found", sentences(said), "Findings")]
    if beliefs:
        drawn = figures([series_chart({"all releases": beliefs}, bound)])
        sections.insert(0, Section("Beliefs over the series", drawn, "Beliefs"))
    return Page(
        kind="Audit of a series",
        subject="from the published files",
        heading="The series keeps its guarantees"
        if ok
        else "The series does not keep its guarantees",
        tone="good" if ok else "bad",
        lede=("An attacker who has all releases may learn more than from any of them alone.",),
        cards=[Card("releases", "releases", releases, f"{releases}")],
        sections=sections,
    )


def simulation_page(chart: Chart, rows: Sequence[Sequence[str]], rho: float) -> Page:
    """The beliefs about a made-up population, by release and publisher."""
    head, *below = rows
    return Page(
        kind="Simulated series",
        subject="of a made-up population",
        heading="What all releases together reveal",
        tone="",
        lede=(f"An attacker who has all releases so far, against the bound ρ = {rho:g}.",),
        cards=(),
        sections=[
            Section("Greatest belief by release", figures([chart]), "Plot"),
            Section("Every release", table(head, below, range(1, len(head))), "Table"),
        ],
    )
