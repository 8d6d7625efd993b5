"""Exploring a job before it is published: the frontier of projection plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.methods.codip.codip import Codip
from discreet.methods.codip.frontier import Frontier, FrontierStep
from discreet.pipeline.prepare import prepare
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import plan_chart
from discreet.report.charts.svg import standalone
from discreet.report.pages.profile_page import frontier_page
from discreet.report.pieces import Page
from discreet.result import Result


@dataclass(frozen=True)
class Exploration(Result):
    """The frontier of a job's projections; prints as a table, draws as a plot."""

    frontier: Frontier

    @property
    def steps(self) -> tuple[FrontierStep, ...]:
        """A step for every number of tables, from one for each attribute to a single one."""
        return self.frontier.steps

    def to_dict(self) -> dict[str, Any]:
        """The steps as plain data."""
        return self.frontier.to_dict()

    def save_plot(self, path: str | Path) -> Path:
        """Write the plot as an SVG file."""
        path = Path(path)
        path.write_text(standalone(plan_chart(self.frontier)), encoding="utf-8")
        return path

    def __str__(self) -> str:
        return self._page().text()

    def _page(self) -> Page:
        return frontier_page(self.frontier)

    def _charts(self) -> list[Chart]:
        return [plan_chart(self.frontier)]


def explore_projections(
    data: Any, job: Job | Mapping[str, Any] | str | Path, *, progress: Progress = no_progress
) -> Exploration:
    """Return association loss, exposure and closeness for every number of tables.

    ``data`` is a frame, a path, or None for the job's own source; ``job`` may be a path. Bounds
    come from the job: its requirements, and where its method is codip also ``dm`` and
    ``minimize``. Without ``dm``, recodings that leave a single class are not counted, since their
    closeness is 0.
    """
    job = Job.of(job)
    method = job.method if isinstance(job.method, Codip) else Codip()
    task = prepare(job.using(method), data, progress=progress)
    return Exploration(method.explore(task))
