"""The part of each row, learnt from a sample and checked against counts of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engines.placing import (
    Assign,
    ByCuts,
    ByDealing,
    ByStretches,
    all_together,
    passing_parts,
)
from discreet.engines.spark.encoded import EncodedRows, new_name, task_of_part
from discreet.engines.spark.session import COLLECTED, ROWS_OF_PART, setting, stream
from discreet.errors import InputError
from discreet.methods.base import Spread, Task
from discreet.methods.mondrian.cuts_from_sample import CutTree, top_cuts
from discreet.methods.shared.hilbert import task_keys
from discreet.requirements.quasi_sensitive import LinkRequirement

SAMPLE = 200_000  # rows that the driver learns the first cuts from, and
SAMPLE_OF_PART = 2_000  # at least this many of each part
STRETCHES, STRETCH = 64, 4096  # of the curve in a part at most, and rows of one at least


def assignment(rows: EncodedRows, spread: Spread | None, parts: int) -> tuple[Assign, int]:
    """Return the part of each row, and the number of parts."""
    if parts == 1:
        return all_together, 1
    if spread is Spread.CUTS:
        tree = _cuts(rows, parts)
        columns = [rows.place_of[c.name] for c in rows.plan.task.table.quasi_identifiers]
        return ByCuts(tree, columns), tree.parts
    if spread is Spread.CURVE:
        return along_curve(rows, parts), parts
    return _dealt(rows, parts), parts


def _sample(rows: EncodedRows, parts: int) -> tuple[Task, float]:
    """A sample of the rows as a task, and its share of them."""
    plan = rows.plan
    share = min(1.0, max(SAMPLE, SAMPLE_OF_PART * parts) / rows.count)
    names = [rows.place_of[name] for name in plan.coded]
    folder = rows.staging / f"sample-{new_name()}"
    chosen = rows.frame if share == 1.0 else rows.frame.sample(share, plan.seed % 2**31)
    chosen.select("row", *names).write.parquet(folder.as_uri())
    frame = pl.read_parquet(str(folder / "*.parquet")).sort("row")
    rng = np.random.default_rng([plan.seed, 2])
    return task_of_part(plan, frame, rows.place_of, rng, plain=False), share


def _cuts(rows: EncodedRows, parts: int) -> CutTree:
    """The first cuts, without those that leave a part which can't keep a guarantee."""
    task, share = _sample(rows, parts)
    if task.kept is not None:  # a part that fails makes the job run again with fewer parts
        of_part = max(1, int(rows.rows_of_part * share / 2))
        return top_cuts(replace(task, requirements=[], knowledge={}, kept=None), of_part)
    asked = [r for r in task.requirements if not isinstance(r, LinkRequirement)]
    of_part = max(1, int(rows.rows_of_part * share / 2))
    tree = top_cuts(replace(task, requirements=asked, knowledge={}), of_part)
    counted = _counts_of_parts(rows, tree)
    while tree.parts > 1:
        passes = passing_parts(replace(rows.plan.task, requirements=asked), counted)
        if passes.all():
            break
        tree, new = tree.without(~passes)
        counted = counted.with_columns(part=pl.Series(new)[counted["part"]].cast(pl.Int32))
    return tree


def _counts_of_parts(rows: EncodedRows, tree: CutTree) -> pl.DataFrame:
    """Each part's number of rows with each combination of sensitive values."""
    plan, place_of = rows.plan, rows.place_of
    columns = [place_of[c.name] for c in plan.task.table.quasi_identifiers]
    of_values = [place_of[plan.source_of(c.name)] for c in plan.task.table.sensitive]
    sensitive = list(dict.fromkeys(of_values))  # the bits of a set are made from one column
    shared = rows.share(ByCuts(tree, columns))

    def place(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        for table in tables:
            found = shared.value({n: table.column(n).to_numpy() for n in columns})
            chosen: dict[str, Any] = {n: table.column(n) for n in sensitive}
            yield pa.table({**chosen, "part": pa.array(found.astype(np.int32))})

    schema = ", ".join([*(f"{n} int" for n in sensitive), "part int"])
    placed = stream(rows.frame.select(*{*columns, *sensitive}), place, schema)
    folder = rows.staging / f"parts-{new_name()}"
    placed.groupBy("part", *sensitive).count().write.parquet(folder.as_uri())
    found = pl.scan_parquet(str(folder / "*.parquet"))
    entries, limit = found.select(pl.len()).collect().item(), setting(rows.session, COLLECTED)
    if entries > limit:
        raise InputError(
            f"{plan.job.method.name}: the parts have {entries:,} combinations of sensitive values, "
            f"and the driver may hold {limit:,}. Raise {COLLECTED} where it has the memory, or "
            f"{ROWS_OF_PART}, for fewer parts."
        )
    names = {place_of[name]: name for name in plan.coded}
    return found.collect().rename({n: names[n] for n in sensitive})


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
    counted = rows.frame.groupBy("task", "number").count().collect()
    frame = pl.DataFrame(
        [tuple(row) for row in counted], ["task", "number", "count"], orient="row"
    ).sort("number", "task")
    before = frame["count"].cum_sum() - frame["count"]
    return ByDealing(
        frame["task"].to_numpy(), frame["number"].to_numpy(), before.to_numpy(), shards
    )
