"""The audit of a series, as a page."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.report.charts.result_charts import series_chart
from discreet.report.pieces import Card, Page, Section, figures, sentences


def series_page(
    said: Sequence[str], releases: int, beliefs: Sequence[float], bound: float | None, *, ok: bool
) -> Page:
    """What was found in sentences, and where it is known the greatest belief by release."""
    sections = [Section("What was found", sentences(said), "Findings")]
    if beliefs:
        drawn = figures([series_chart({"all releases": beliefs}, bound)])
        sections.insert(0, Section("Beliefs over the series", drawn, "Beliefs"))
    return Page(
        kind="Audit of a series",
        subject="from the published files",
        heading="The series keeps its promises" if ok else "The series does not hold",
        tone="good" if ok else "bad",
        lede=("An attacker who has all releases may learn more than from any of them alone.",),
        cards=[Card("releases", "releases", releases, f"{releases}")],
        sections=sections,
    )
