"""Methods whose choice follows from counts: tuples to the driver, its recoding to the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from discreet.addons.spark.encoded import (
    ROW,
    EncodedRows,
    SourceSplit,
    pieces,
    read_split,
    task_of_part,
)
from discreet.addons.spark.exchange import COUNT, new_name, summed
from discreet.addons.spark.parts import (
    PartPlan,
    PartResult,
    part_of_outcome,
    recodings_of,
    stage_part,
)
from discreet.addons.spark.session import COLLECTED
from discreet.errors import InputError
from discreet.methods.full_domain.full_domain import FullDomain
from discreet.requirements.base import SizeRequirement
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role


def run_by_counts(rows: EncodedRows) -> list[PartResult]:
    """Search on the driver, recode every row, and stage the tables of all parts."""
    plan, place_of = rows.plan, rows.place_of
    table = _tuples(rows)
    task = replace(plan.task, table=table, rng=np.random.default_rng([plan.seed, 0]))
    outcome = plan.job.method.run(task)
    recodings = recodings_of(outcome)
    quasi = [place_of[column.name] for column in table.quasi_identifiers]
    known = pl.DataFrame(
        {
            **{place_of[c.name]: c.codes for c in table.quasi_identifiers},
            **{f"k{n}": recoding.class_of_row for n, recoding in enumerate(recodings)},
        }
    ).unique(quasi or None)
    bare = part_of_outcome(outcome, [np.zeros(0, np.int32)] * len(recodings))
    shared, lookups = rows.workers.share((plan, bare, known)), rows.lookups
    folder, rows_of_part = rows.staging / "tables", rows.rows_of_part

    def kernel(split: SourceSplit) -> list[PartResult]:
        plan, outcome, known = shared.value
        results = []
        for place, frame in enumerate(pieces(read_split(split, lookups.value), rows_of_part)):
            joined = (
                frame.join(known, on=quasi, how="left", maintain_order="left")
                if quasi
                else (frame.join(known, how="cross"))
            )
            rng = np.random.default_rng([plan.seed, 1, split.number, place])
            task = task_of_part(plan, frame, place_of, rng)
            classes = [joined[f"k{n}"].to_numpy() for n in range(len(recodings_of(outcome)))]
            part = part_of_outcome(outcome, classes)
            results.append(
                stage_part(plan, task, part, 0, folder, new_name(), frame[ROW].to_numpy())
            )
        return results

    return [result for part in rows.workers.run(rows.splits, kernel) for result in part]


def _tuples(rows: EncodedRows) -> CodedTable:
    """The distinct tuples of codes, counted; only where they fit the driver."""
    plan = rows.plan
    values = _needs_values(plan)
    names = [n for n in plan.coded if plan.specs[n].role is not Role.SENSITIVE or values]
    keys, lookups = [rows.place_of[name] for name in names], rows.lookups
    folder = rows.staging / "tuples"
    folder.mkdir()
    rows_of_part = rows.rows_of_part

    def kernel(split: SourceSplit) -> list[str]:
        paths = []
        for frame in pieces(read_split(split, lookups.value, keys), rows_of_part):
            paths.append(str(folder / f"{new_name()}.counts"))
            counted = frame.group_by(keys).agg(pl.len().cast(pl.Int64).alias(COUNT))
            counted.write_ipc(paths[-1])
        return paths

    paths = [path for written in rows.workers.run(rows.splits, kernel) for path in written]
    limit = rows.workers.setting(COLLECTED)
    counted, number = summed((pl.read_ipc(path) for path in paths), limit)
    if counted is None:
        raise InputError(
            f"{plan.job.method.name}: the table has at least {number:,} distinct tuples of "
            f"quasi-identifiers and sensitive values, and the driver may hold {limit:,}. Make "
            f"quasi-identifiers coarser, use mondrian, or raise {COLLECTED} where the driver "
            "has the memory (about 100 bytes a tuple)."
        )
    frame = counted.sort(keys)
    codes = {name: frame[rows.place_of[name]].to_numpy() for name in names}
    task = plan.task_of(codes, {}, plan.task.rng)
    columns = {c.name: replace(c, total=None) for c in task.table}
    return CodedTable(columns, len(frame)).counted(frame[COUNT].to_numpy().astype(np.int64))


def _needs_values(plan: PartPlan) -> bool:
    """Return whether the search uses sensitive values at all."""
    sizes = all(isinstance(r, SizeRequirement) for r in plan.task.requirements)
    return not (sizes and isinstance(plan.job.method, FullDomain))
