"""Exploring a job before it is published: the frontier of projection plans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.methods.codip.codip import Codip
from discreet.methods.codip.frontier import Frontier, FrontierStep
from discreet.pipeline.prepare import prepare
from discreet.report.charts.altair_charts import altair_charts
from discreet.report.charts.result_charts import plan_chart
from discreet.report.charts.svg import standalone
from discreet.report.frontier_view import frontier_page, frontier_text

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Exploration:
    """The frontier of a job's projections; prints as a table, draws as a plot."""

    frontier: Frontier

    @property
    def steps(self) -> tuple[FrontierStep, ...]:
        """A step for every number of tables, from one for each attribute to a single one."""
        return self.frontier.steps

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return self.frontier.to_dict()

    def save_plot(self, path: str | Path) -> Path:
        """Write the plot as an SVG file."""
        path = Path(path)
        path.write_text(standalone(plan_chart(self.frontier)), encoding="utf-8")
        return path

    def __str__(self) -> str:
        return frontier_text(self.frontier)

    def _repr_html_(self) -> str:
        return frontier_page(self.frontier).fragment()

    def charts(self) -> dict[str, altair.TopLevelMixin]:
        """The plot as an Altair chart, by name; needs the extra ``charts``."""
        return altair_charts([plan_chart(self.frontier)])


def explore_projections(
    job: Job | str | Path, data: Any = None, *, progress: Progress = no_progress
) -> Exploration:
    """What several tables would lose, expose and reach, for every number of tables.

    ``job`` is a job or the path of one; ``data`` stands in for its source. Bounds come from the
    job: its requirements, and where its method is codip also ``dm`` and ``minimize``. Without
    ``dm``, recodings that leave a single class are not counted, since their closeness is 0.
    """
    job = job if isinstance(job, Job) else Job.load(job)
    method = job.method if isinstance(job.method, Codip) else Codip()
    task = prepare(job.using(method), data, progress=progress)
    return Exploration(method.explore(task))
