"""How each result is shown: its page, and its charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from discreet.attacks.run import AttackReport
from discreet.job.table_check import Check
from discreet.job.table_profile import Profile
from discreet.releases.audit.audit import Audit
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import belief_chart, picture_charts
from discreet.report.pages.attack_page import attack_page
from discreet.report.pages.check_page import check_charts, check_page
from discreet.report.pages.measure_page import (
    comparison_charts,
    comparison_page,
    measure_charts,
    measure_page,
)
from discreet.report.pages.profile_page import profile_charts, profile_page
from discreet.report.pages.release_page import audit_page
from discreet.report.pieces import Page
from discreet.utility.comparison import Comparison
from discreet.utility.figures import Measures, ProjectedMeasures


class ResultView(NamedTuple):
    """How a type of results is shown."""

    page: Callable[[Any], Page]
    charts: Callable[[Any], Sequence[Chart | None]]


MEASURED = ResultView(lambda m: measure_page(m.to_dict()), lambda m: measure_charts(m.to_dict()))
VIEWS: dict[type[Any], ResultView] = {
    Audit: ResultView(audit_page, lambda audit: picture_charts(audit.picture)),
    AttackReport: ResultView(attack_page, lambda a: [belief_chart(a.findings, a.threshold)]),
    Measures: MEASURED,
    ProjectedMeasures: MEASURED,
    Comparison: ResultView(comparison_page, comparison_charts),
    Profile: ResultView(profile_page, profile_charts),
    Check: ResultView(check_page, check_charts),
}


def view_of(result: Any) -> ResultView:
    """Return how a result is shown."""
    return next(view for kind, view in VIEWS.items() if isinstance(result, kind))
