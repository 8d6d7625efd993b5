"""Methods that run on every part with the same code as on a whole table.

The part of each row is learnt from a sample and checked against counts of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.addons.spark.cuts_from_sample import CutTree, top_cuts
from discreet.addons.spark.encoded import (
    ROW,
    EncodedRows,
    SourceSplit,
    code_of_own,
    pieces,
    read_split,
    task_of_part,
    values_of,
)
from discreet.addons.spark.exchange import COUNT, Exchanged, exchange, new_name, received, summed
from discreet.addons.spark.keeping import Assign, parts_of_persons, persons_in
from discreet.addons.spark.parts import PERSON_NUMBER, SOURCE, PartPlan, PartResult, stage_part
from discreet.addons.spark.session import COLLECTED, ROWS_OF_PART
from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Outcome, ShardedMethod, Spread, Task
from discreet.methods.msa_diversity.msa_diversity import MsaDiversity
from discreet.methods.msa_diversity.share_bounds import bounds_of, require_feasible, too_many
from discreet.methods.shared.hilbert import task_keys
from discreet.methods.shared.person_groups import group_persons
from discreet.requirements.base import Requirement
from discreet.requirements.quasi_sensitive import LinkRequirement
from discreet.table.budgets import SAMPLE
from discreet.table.classes import Classes
from discreet.table.counts import count_classes
from discreet.typing import Codes, Ints

LEARNED_FROM = 200_000  # rows that the driver learns the first cuts from
STRETCHES, STRETCH = 64, 4096  # of the curve in a part at most, and rows of one at least

FEWER = 4  # times fewer parts are tried where some part can't keep a guarantee that all can


def run_by_parts(rows: EncodedRows) -> list[PartResult]:
    """Stage the tables of all parts; of fewer ones where some can't keep a guarantee."""
    if isinstance(rows.plan.job.method, MsaDiversity) and rows.plan.task.basis.persons is None:
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
    if method.spread is not Spread.CURVE or rows.plan.task.basis.persons is not None:
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
    shared = rows.workers.share((plan, placed, rows.splits))
    place_of, staging, lookups = rows.place_of, rows.staging, rows.lookups

    def kernel(number: int) -> PartResult | None:
        plan, placed, splits = shared.value
        frame: pl.DataFrame | None
        if placed is None:
            frame = pl.concat([f for split in splits for f in read_split(split, lookups.value)])
        else:
            frame = received(placed.files, placed.targets[number])
        if frame is None:
            return None
        return _run_part(plan, frame.sort(ROW), place_of, first + number, staging, keep_left)

    numbers = list(range(1 if placed is None else len(placed.targets)))
    results = rows.workers.run(numbers, kernel)
    return [result for result in results if result is not None]


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
    if task.basis.persons is not None:
        number, source = frame[PERSON_NUMBER].to_numpy(), frame[SOURCE].to_numpy()
        persons = persons_in(number)
        person_task = replace(task, basis=replace(task.basis, persons=persons))
        grouped = group_persons(plan.job.method, person_task, persons)
        return stage_part(
            plan, person_task, grouped, part, staging / "tables", name, row, number, source
        )
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


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows on their way to the tasks of their parts."""

    files: Sequence[Exchanged]
    targets: Sequence[Sequence[int]]  # of each part: the targets that hold its rows


def assignment(rows: EncodedRows, spread: Spread | None, parts: int) -> tuple[Assign, int]:
    """Return the part of each row, and the number of parts."""
    if parts == 1:
        return all_together, 1
    if spread is Spread.CUTS:
        return _cuts(rows, parts)
    if spread is Spread.CURVE:
        return along_curve(rows, parts), parts
    return _dealt(rows, parts), parts


def place_rows(rows: EncodedRows, assign: Assign, parts: int) -> PlacedRows:
    """Write every row for the task of its part; parts by cuts are joined until all can pass."""
    plan, place_of, lookups = rows.plan, rows.place_of, rows.lookups
    by_person = plan.task.basis.persons is not None
    # All rows of a person are placed together.
    at_once = 1 << 62 if by_person else rows.rows_of_part
    of_values = (place_of[plan.source_of(c.name)] for c in plan.task.table.sensitive)
    sensitive = list(dict.fromkeys(of_values))  # the bits of a set are made from one column
    checked = isinstance(assign, ByCuts) and not by_person
    shared = rows.workers.share(assign)
    folder = rows.staging / f"placed-{new_name()}"
    folder.mkdir()

    def kernel(split: SourceSplit) -> tuple[list[Exchanged], list[str]]:
        assign = shared.value
        assign = assign.of_split(split.number) if isinstance(assign, ByDealing) else assign
        files, counts = [], []
        for frame in pieces(read_split(split, lookups.value), at_once):
            numbers = [name for name, kind in frame.schema.items() if kind.is_integer()]
            columns = {name: frame[name].to_numpy() for name in numbers}
            part = parts_of_persons(columns, assign) if by_person else assign(columns)
            files.append(exchange(frame, part, parts, folder))
            if checked:
                values = frame.select(sensitive).with_columns(pl.Series("part", part, pl.Int32))
                counts.append(str(folder / f"{new_name()}.counts"))
                counted = values.group_by(pl.all()).agg(pl.len().cast(pl.Int64).alias(COUNT))
                counted.write_ipc(counts[-1])
        return files, counts

    results = rows.workers.run(rows.splits, kernel)
    files = [file for written, _ in results for file in written]
    of_target = np.arange(parts)
    if isinstance(assign, ByCuts) and checked:
        of_target = _passing(rows, assign, [path for _, written in results for path in written])
    targets = [np.flatnonzero(of_target == part).tolist() for part in range(of_target.max() + 1)]
    return PlacedRows(files, targets)


def _sample(rows: EncodedRows, parts: int) -> tuple[Task, float]:
    """A sample of the rows as a task, and its share of them."""
    plan, lookups = rows.plan, rows.lookups
    share = min(1.0, max(LEARNED_FROM, SAMPLE * parts) / rows.count)
    names = [rows.place_of[name] for name in plan.coded]
    folder = rows.staging / f"sample-{new_name()}"
    folder.mkdir()

    def kernel(split: SourceSplit) -> str:
        rng = np.random.default_rng([plan.seed, 4, split.number])
        frames = [
            frame.filter(pl.Series(rng.random(len(frame)) < share))
            for frame in read_split(split, lookups.value, names)
        ]
        path = folder / f"{new_name()}.rows"
        pl.concat(frames).write_ipc(path)
        return str(path)

    files = rows.workers.run(rows.splits, kernel)
    frame = pl.concat([pl.read_ipc(path) for path in files]).sort(ROW)
    rng = np.random.default_rng([plan.seed, 2])
    return task_of_part(plan, frame, rows.place_of, rng, plain=False), share


def _cuts(rows: EncodedRows, parts: int) -> tuple[ByCuts, int]:
    """The first cuts of a sample, and the number of parts that they make."""
    task, share = _sample(rows, parts)
    of_part = max(1, int(rows.rows_of_part * share / 2))
    # with persons, a part that fails makes the job run again with fewer parts
    asked = [] if task.basis.persons is not None else _judged(task)
    rows_alone = replace(task.basis, persons=None)
    sample = replace(task, requirements=asked, knowledge={}, basis=rows_alone)
    tree = top_cuts(sample, of_part)
    columns = [rows.place_of[c.name] for c in rows.plan.task.table.quasi_identifiers]
    return ByCuts(tree, columns), tree.parts


def _judged(task: Task) -> list[Requirement]:
    """The requirements that the counts of a part decide."""
    return [r for r in task.requirements if not isinstance(r, LinkRequirement)]


def _passing(rows: EncodedRows, cuts: ByCuts, paths: Sequence[str]) -> Ints:
    """The part of each target, without the cuts that leave a part which can't keep a guarantee.

    ``paths`` are files with how many rows of each part have each combination of sensitive values.
    """
    plan, limit = rows.plan, rows.workers.setting(COLLECTED)
    counted, entries = summed((pl.read_ipc(path) for path in paths), limit)
    if counted is None:
        raise InputError(
            f"{plan.job.method.name}: the parts have {entries:,} combinations of sensitive values "
            f"or more, and the driver may hold {limit:,}. Raise {COLLECTED} where it has the "
            f"memory, or {ROWS_OF_PART}, for fewer parts."
        )
    names = {rows.place_of[name]: name for name in plan.coded}
    counted = counted.rename({n: names[n] for n in counted.columns if n in names})
    task = replace(plan.task, requirements=_judged(plan.task))
    tree, of_target = cuts.tree, np.arange(cuts.tree.parts)
    while tree.parts > 1:
        passes = passing_parts(task, counted)
        if passes.all():
            break
        tree, new = tree.without(~passes)
        of_target = new[of_target]
        counted = counted.with_columns(part=pl.Series(new)[counted["part"]].cast(pl.Int32))
    return of_target


def along_curve(rows: EncodedRows, parts: int) -> Assign:
    """Stretches of the curve, dealt to the parts: near rows together, all sorts in each."""
    if parts == 1:
        return all_together
    task, _ = _sample(rows, parts)
    keys = np.sort(task_keys(task))
    stretches = parts * max(1, min(STRETCHES, rows.rows_of_part // STRETCH))
    at = np.arange(1, stretches) * len(keys) // stretches
    return ByStretches(rows.plan, rows.place_of, keys[at], parts)


def _dealt(rows: EncodedRows, shards: int) -> Assign:
    """Rows of each value dealt out one after the other, from where the last value ended."""
    plan, task = rows.plan, rows.plan.task
    assert isinstance(plan.job.method, ShardedMethod)
    attribute = plan.job.method.shard_attribute(task)
    column, number_of_code = rows.place_of[plan.source_of(attribute)], task.table[attribute].codes
    counts = np.zeros((rows.splits[-1].number + 1, int(number_of_code.max()) + 1), np.int64)
    for split in rows.splits:
        numbers = number_of_code[code_of_own(split, rows.lookups.value)[column]]
        counted = values_of(split).filter(pl.col("c") == column)[COUNT].to_numpy()
        np.add.at(counts[split.number], numbers, counted)
    return ByDealing(column, number_of_code, counts, shards)


def all_together(columns: Mapping[str, Any]) -> NDArray[np.int32]:
    """All rows in one part."""
    return np.zeros(len(columns["row"]), np.int32)


class ByCuts:
    """The part of a row by the first cuts."""

    def __init__(self, tree: CutTree, columns: Sequence[str]) -> None:
        self.tree, self.columns = tree, list(columns)

    def __call__(self, columns: Mapping[str, Any]) -> NDArray[np.int32]:
        codes = [np.ascontiguousarray(columns[name], np.int32) for name in self.columns]
        return self.tree.parts_of(codes, len(next(iter(columns.values()))))


class ByStretches:
    """The part of a row by the stretch of the curve that it lies on."""

    def __init__(
        self, plan: PartPlan, place_of: Mapping[str, str], bounds: NDArray[np.uint64], parts: int
    ) -> None:
        self.plan, self.place_of, self.bounds, self.parts = plan, dict(place_of), bounds, parts

    def __call__(self, columns: Mapping[str, Any]) -> NDArray[np.int64]:
        codes = {name: columns[self.place_of[name]] for name in self.plan.coded}
        task = self.plan.task_of(codes, {}, self.plan.task.rng)
        return np.searchsorted(self.bounds, task_keys(task), side="right") % self.parts


class ByDealing:
    """The shard of a row by how many rows of its value, and of values before it, come before."""

    def __init__(self, column: str, number_of_code: Codes, counts: Ints, shards: int) -> None:
        self.column, self.number_of_code, self.shards = column, number_of_code, shards
        ends = np.cumsum(counts.T).reshape(counts.T.shape).T
        self.before = ends - counts  # (splits, numbers), as are the counts

    def of_split(self, split: int) -> Assign:
        """The shards of a split's rows, which are given one after the other."""
        seen = self.before[split].copy()

        def deal(columns: Mapping[str, Any]) -> NDArray[np.integer]:
            place = _ranks(self.number_of_code[columns[self.column]], seen) % self.shards
            return np.asarray(place)

        return deal

    def __call__(self, columns: Mapping[str, Any]) -> NDArray[np.integer]:
        return self.of_split(0)(columns)


def _ranks(numbers: Codes, seen: Ints) -> Ints:
    """Count the earlier rows with the same number, for each row; ``seen`` counts on."""
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    ranks = np.empty(len(numbers), np.int64)
    ranks[order] = seen[ascending] + np.arange(len(numbers)) - np.searchsorted(ascending, ascending)
    seen += np.bincount(numbers, minlength=len(seen))
    return ranks


def passing_parts(task: Task, counted: pl.DataFrame) -> NDArray[np.bool_]:
    """Return which parts can keep every guarantee, each as one class beside the others."""
    parts = int(counted["part"].max()) + 1  # type: ignore[arg-type]
    weights = counted["count"].to_numpy().astype(np.int64)
    columns = []
    for column in task.table.sensitive:
        source = column.name if column.name in counted.columns else None
        name = source or next(a for a, b in task.bitmaps.items() if column.name in b.bits)
        raw = counted[name].to_numpy()
        codes = raw if source else column.codes[raw]
        columns.append(replace(column, codes=codes, weights=weights, total=column.counts))
    of_row = counted["part"].to_numpy().astype(np.int32)
    size = np.bincount(of_row, weights, parts).astype(np.int64)
    first = np.zeros(parts, np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    refined = any(r.algebra.refined for r in task.requirements)
    counts = count_classes(Classes(of_row, first, size), columns, refined=refined)
    passes = np.ones(parts, bool)
    for requirement in task.requirements:
        passes &= requirement.passes(counts, task.domains)
    return passes
