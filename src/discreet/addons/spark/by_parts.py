"""Methods that run on every part with the same code as on a whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from discreet.addons.spark.assigning import along_curve, assignment, place_rows
from discreet.addons.spark.encoded import ROW, EncodedRows, read_split, task_of_part
from discreet.addons.spark.exchange import new_name, received
from discreet.addons.spark.keeping import persons_in
from discreet.addons.spark.parts import PERSON_NUMBER, SOURCE, PartPlan, PartResult, stage_part
from discreet.addons.spark.placing import Assign, all_together
from discreet.addons.spark.session import on_workers
from discreet.errors import InfeasibleError
from discreet.methods.base import Outcome, Spread
from discreet.methods.msa_diversity.msa_diversity import MsaDiversity
from discreet.methods.msa_diversity.share_bounds import bounds_of, require_feasible, too_many
from discreet.methods.shared.person_groups import group_persons

FEWER = 4  # times fewer parts are tried where some part can't keep a guarantee that all can


def run_by_parts(rows: EncodedRows) -> list[PartResult]:
    """Stage the tables of all parts; of fewer ones where some can't keep a guarantee."""
    if isinstance(rows.plan.job.method, MsaDiversity) and rows.plan.task.kept is None:
        suppression = rows.plan.job.method.suppression
        require_feasible(rows.plan.task, bounds_of(rows.plan.task), suppression)
    parts = rows.parts
    while True:
        try:
            return _run(rows, parts)
        except InfeasibleError:
            if parts == 1:
                raise
            parts = max(1, parts // FEWER)


def _run(rows: EncodedRows, parts: int) -> list[PartResult]:
    method = rows.plan.job.method
    assign, parts = assignment(rows, method.spread, parts)
    if method.spread is not Spread.CURVE or rows.plan.task.kept is not None:
        return _run_parts(rows, rows.plan, assign, parts, 0)
    # rows that a part can't place are no failure yet
    lenient = rows.plan.job.using(method.model_copy(update={"suppression": 1.0}))
    plan = replace(rows.plan, job=lenient)
    results = _run_parts(rows, plan, assign, parts, 0, keep_left=True)
    files = [result.left for result in results if result.left is not None]
    if files:
        left = rows.of_files(files, sum(result.suppressed for result in results))
        again = along_curve(left, left.parts)
        results = [replace(result, suppressed=0) for result in results]
        results += _run_parts(left, plan, again, left.parts, parts, keep_left=True)
    _require_few(rows, sum(result.suppressed for result in results))
    return [result for result in results if result.tables or result.suppressed]


def _require_few(rows: EncodedRows, suppressed: int) -> None:
    method, task = rows.plan.job.method, rows.plan.task
    assert isinstance(method, MsaDiversity)
    if suppressed > method.suppression * rows.count + 1e-9 or suppressed == rows.count:
        bounds = bounds_of(task)
        least = require_feasible(task, bounds, method.suppression)
        raise too_many(task, bounds, suppressed, least, method.suppression)


def _run_parts(
    rows: EncodedRows,
    plan: PartPlan,
    assign: Assign,
    parts: int,
    first: int,
    keep_left: bool = False,
) -> list[PartResult]:
    """Bring each part together and run the method on it; parts are numbered from ``first``.

    With ``keep_left`` rows that found no group are written to a file, not an error.
    """
    placed = None if assign is all_together else place_rows(rows, assign, parts)
    shared = rows.share((plan, placed, rows.splits))
    place_of, staging, lookups = rows.place_of, rows.staging, rows.lookups

    def kernel(number: int) -> PartResult | None:
        plan, placed, splits = shared.value
        own: pl.DataFrame | None
        if placed is None:
            own = pl.concat([f for split in splits for f in read_split(split, lookups.value)])
        else:
            own = received(placed.files, placed.targets[number])
        if own is None:
            return None
        return _run_part(plan, own.sort(ROW), place_of, first + number, staging, keep_left)

    numbers = list(range(1 if placed is None else len(placed.targets)))
    found = on_workers(rows.session, numbers, kernel)
    return [result for result in found if result is not None]


def _run_part(
    plan: PartPlan,
    frame: pl.DataFrame,
    place_of: Mapping[str, str],
    part: int,
    staging: Path,
    keep_left: bool,
) -> PartResult:
    """Run the method on one part and stage its tables."""
    task = task_of_part(plan, frame, place_of, np.random.default_rng([plan.seed, 3, part]))
    name, row = new_name(), frame[ROW].to_numpy()
    if task.kept is not None:
        number, source = frame[PERSON_NUMBER].to_numpy(), frame[SOURCE].to_numpy()
        persons = persons_in(number)
        kept = replace(task, kept=persons)
        grouped = group_persons(plan.job.method, kept, persons)
        return stage_part(plan, kept, grouped, part, staging / "tables", name, row, number, source)
    try:
        outcome: Outcome | None = plan.job.method.run(task)
    except InfeasibleError:
        if not keep_left:
            raise
        outcome = None
    if outcome is None:
        left, result = frame, None
    else:
        result = stage_part(plan, task, outcome, part, staging / "tables", name, row)
        if not keep_left or not result.suppressed:
            return result
        group = getattr(outcome, "group_of_row", None)
        group = getattr(outcome, "class_of_row", None) if group is None else group
        left = frame.filter(pl.Series(np.asarray(group) < 0))
    path = staging / "tables" / f"left-{name}.arrow"
    left.write_ipc_stream(path, compat_level=pl.CompatLevel.oldest())
    if result is None:
        return PartResult(part, len(frame), "", len(frame), 0, {}, (), {}, {}, (), str(path))
    return replace(result, left=str(path))
