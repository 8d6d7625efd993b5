"""The audit of a series, as a page."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.report.charts.result_charts import series_chart
from discreet.report.pieces import Card, Page, Section, figures, label, sentences


def series_page(
    findings: Sequence[str],
    releases: int,
    beliefs: Sequence[float],
    bound: float | None,
    heading: str,
    *,
    ok: bool,
    covered: bool,
) -> Page:
    """Return what was found in sentences, and where it is known the greatest belief by release."""
    sections = [Section(label("what-was-found"), sentences(findings), label("findings"))]
    if beliefs:
        drawn = figures([series_chart({label("all-releases"): beliefs}, bound)])
        sections.insert(0, Section(label("beliefs-over-the-series"), drawn, label("beliefs")))
    return Page(
        kind=label("audit-of-a-series"),
        subject=label("from-the-published-files"),
        heading=heading,
        tone="good" if ok and covered else "warn" if ok else "bad",
        lede=(label("all-releases-together"),),
        cards=[Card("releases", label("releases"), releases, f"{releases}")],
        sections=sections,
    )
