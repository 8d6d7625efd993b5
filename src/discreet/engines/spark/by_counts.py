"""Methods whose choice follows from counts: tuples to the driver, its recoding to the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engines.parts import PartPlan, PartResult, part_of_outcome, recodings_of, stage_part
from discreet.engines.spark.encoded import EncodedRows, in_order, new_name, task_of_part
from discreet.engines.spark.session import COLLECTED, each, setting
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
    path = rows.staging / "classes.parquet"
    known.write_parquet(path)
    classes = rows.session.read.parquet(path.as_uri())
    joined = rows.frame.join(classes, quasi) if quasi else rows.frame.crossJoin(classes)
    bare = part_of_outcome(outcome, [np.zeros(0, np.int32)] * len(recodings))
    shared = rows.share((plan, bare))
    folder = rows.staging / "tables"

    def kernel(part: pa.Table) -> PartResult:
        plan, outcome = shared.value
        frame = in_order(part)
        number = int(frame["row"][0] % 2**31)
        task = task_of_part(plan, frame, place_of, np.random.default_rng([plan.seed, 1, number]))
        classes = [frame[f"k{n}"].to_numpy() for n in range(len(recodings_of(outcome)))]
        return stage_part(plan, task, part_of_outcome(outcome, classes), 0, folder, new_name())

    return each(joined.repartition(rows.parts, "row"), kernel)


def _tuples(rows: EncodedRows) -> CodedTable:
    """The distinct tuples of codes, counted; only where they fit the driver."""
    plan = rows.plan
    values = _needs_values(plan)
    names = [n for n in plan.coded if plan.specs[n].role is not Role.SENSITIVE or values]
    folder = rows.staging / "tuples"
    counted = rows.frame.groupBy(*(rows.place_of[name] for name in names)).count()
    counted.write.parquet(folder.as_uri())
    scanned = pl.scan_parquet(str(folder / "*.parquet"))
    found = int(scanned.select(pl.len()).collect().item())
    limit = setting(rows.session, COLLECTED)
    if found > limit:
        raise InputError(
            f"{plan.job.method.name}: the table has {found:,} distinct tuples of "
            f"quasi-identifiers and sensitive values, and the driver may hold {limit:,}. Make "
            f"quasi-identifiers coarser, use mondrian, or raise {COLLECTED} where the driver "
            "has the memory (about 100 bytes a tuple)."
        )
    frame = scanned.sort(pl.all()).collect()
    codes = {name: frame[rows.place_of[name]].to_numpy() for name in names}
    task = plan.task_of(codes, {}, plan.task.rng)
    columns = {c.name: replace(c, total=None) for c in task.table}
    return CodedTable(columns, len(frame)).counted(frame["count"].to_numpy().astype(np.int64))


def _needs_values(plan: PartPlan) -> bool:
    """Return whether the search uses sensitive values at all."""
    sizes = all(isinstance(r, SizeRequirement) for r in plan.task.requirements)
    return not (sizes and isinstance(plan.job.method, FullDomain))
