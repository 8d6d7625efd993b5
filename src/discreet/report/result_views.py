"""How each result is shown: its page, and its charts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from discreet.attacks.run import AttackReport
from discreet.job.table_check import Check
from discreet.job.table_profile import Profile
from discreet.releases.audit.audit import Audit
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import belief_chart, share_chart, size_charts
from discreet.report.pages.attack_page import attack_page
from discreet.report.pages.check_page import check_charts, check_page
from discreet.report.pages.comparison_page import comparison_charts, comparison_page
from discreet.report.pages.measure_page import measure_charts, measure_page
from discreet.report.pages.profile_page import profile_charts, profile_page
from discreet.report.pages.release_page import audit_page
from discreet.report.pieces import Page
from discreet.utility.comparison import Comparison
from discreet.utility.figures import Measures, ProjectedMeasures


@singledispatch
def page_of(result: Any) -> Page:
    """The page of a result."""
    raise TypeError(f"There is no page of {type(result).__name__}.")


@singledispatch
def charts_of(result: Any) -> Sequence[Chart | None]:
    """The charts of a result."""
    raise TypeError(f"There are no charts of {type(result).__name__}.")


@page_of.register
def _(result: Audit) -> Page:
    return audit_page(result)


@charts_of.register
def _(result: Audit) -> Sequence[Chart | None]:
    return [*size_charts(result.picture), share_chart(result.picture)]


@page_of.register
def _(result: AttackReport) -> Page:
    return attack_page(result)


@charts_of.register
def _(result: AttackReport) -> Sequence[Chart | None]:
    return [belief_chart(result.findings, result.threshold)]


@page_of.register(Measures)
@page_of.register(ProjectedMeasures)
def _(result: Measures | ProjectedMeasures) -> Page:
    return measure_page(result.to_dict())


@charts_of.register(Measures)
@charts_of.register(ProjectedMeasures)
def _(result: Measures | ProjectedMeasures) -> Sequence[Chart | None]:
    return measure_charts(result.to_dict())


@page_of.register
def _(result: Comparison) -> Page:
    return comparison_page(result)


@charts_of.register
def _(result: Comparison) -> Sequence[Chart | None]:
    return comparison_charts(result)


@page_of.register
def _(result: Profile) -> Page:
    return profile_page(result)


@charts_of.register
def _(result: Profile) -> Sequence[Chart | None]:
    return profile_charts(result)


@page_of.register
def _(result: Check) -> Page:
    return check_page(result)


@charts_of.register
def _(result: Check) -> Sequence[Chart | None]:
    return check_charts(result)
