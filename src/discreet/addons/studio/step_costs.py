"""What each step of a guarantee costs: the job with one parameter smaller or larger, on a sample.

A sample has fewer people who resemble each other than the whole table, so the costs of the table
are at most about these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from discreet.api.compare import Original
from discreet.errors import DiscreetError
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.releases.measure import read_utility

SAMPLE = 5000  # rows
STEPS: Mapping[str, tuple[float, ...]] = {
    "k": (2, 3, 5, 10, 20, 50),
    "l": (2, 3, 4, 5),
    "t": (0.1, 0.2, 0.3, 0.4, 0.5),
    "m": (2, 3, 4, 5),
    "beta": (1, 2, 3, 4),
    "alpha": (0.25, 0.5, 0.75),
}


class CostStep(NamedTuple):
    """One value of one parameter, and the job that has it."""

    requirement: str
    parameters: Mapping[str, Any]
    parameter: str
    value: float
    chosen: bool
    job: Job


def step_costs(job: Job, *, seed: int = 0, progress: Progress = no_progress) -> dict[str, Any]:
    """Return the utility of a sample's release for the steps of each parameter, as plain data."""
    original = Original.read(job, None, progress)
    rng = np.random.default_rng(seed)
    rows = None
    if original.kept is None and original.coded.rows > SAMPLE:
        rows = np.sort(rng.permutation(original.coded.rows)[:SAMPLE])
    steps = list(_steps(original.job))
    found = []
    for number, step in enumerate(steps):
        progress("costs", number / len(steps))
        found.append(_cost(original, step, rows, seed))
    return {"rows": original.coded.rows if rows is None else len(rows), "steps": found}


def _steps(job: Job) -> Iterator[CostStep]:
    """The job with each parameter of its requirements and its method at each step."""
    for place, requirement in enumerate(job.requirements):
        for name, value in requirement.parameters().items():
            for step in _values(name, value):
                changed = requirement.model_copy(update={name: type(value)(step)})
                requirements = list(job.requirements)
                requirements[place] = changed
                yield CostStep(
                    requirement.name, requirement.parameters(), name, step, step == value,
                    job.model_copy(update={"requirements": tuple(requirements)}),
                )  # fmt: skip
    for name, value in job.method.parameters().items():
        for step in _values(name, value):
            try:
                changed_job = job.using(
                    {job.method.name: {**job.method.parameters(), name: type(value)(step)}}
                )
            except DiscreetError:
                continue
            yield CostStep(
                job.method.name, job.method.parameters(), name, step, step == value, changed_job
            )


def _values(name: str, chosen: Any) -> list[float]:
    if name not in STEPS or isinstance(chosen, bool) or not isinstance(chosen, int | float):
        return []
    return sorted({*STEPS[name], chosen})


def _cost(original: Original, step: CostStep, rows: Any, seed: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "requirement": step.requirement,
        "attribute": step.parameters.get("attribute"),
        "parameter": step.parameter,
        "value": step.value,
        "chosen": step.chosen,
        "loss": None,
        "divergence_ratio": None,
        "suppressed_share": None,
        "failure": None,
    }
    try:
        release = original.release(step.job, seed, rows, no_progress)
    except DiscreetError as error:
        return {**said, "failure": str(error)}
    manifest = release.manifest
    measures = read_utility(release.coded_tables(), release.task, manifest).measured(None, seed)
    return {
        **said,
        "loss": measures.loss,
        "divergence_ratio": measures.divergence_ratio,
        "suppressed_share": manifest.lost_share,
    }
