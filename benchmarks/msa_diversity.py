"""MSA-diversity on made tables: time beside Mondrian's, growth, memory, and who is suppressed.

Three quasi-identifiers (age, a zip code, a text of 12 values), five sensitive attributes of ten
values each, ℓ = 3. No value fills more than half of 1/ℓ. Seconds are those of the processor for the
method alone (one thread), the least of several runs, kernels compiled; the ratio to Mondrian is of
the same run. Ten million rows: ``python -m benchmarks.msa_diversity 1e6 1e7``.

A second section has the rows that are suppressed beyond those that every method must suppress: on
Adult's five quasi-identifiers and four sensitive attributes, and on two skewed tables; ℓ = 2.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from benchmarks.decomposition import sampled
from benchmarks.decomposition import task as adult_task
from benchmarks.figures import Figure
from benchmarks.full_domain import data_folder
from discreet.methods.base import Task
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.msa_diversity.msa_diversity import MsaDiversity
from discreet.requirements.diversity import PDiversity
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType

SECTION = "MSA-diversity, 3 quasi-identifiers, 5 sensitive attributes of 10 values, l = 3"
SUPPRESSED = "MSA-diversity, rows suppressed beyond the lower bound, l = 2"
ELL = 3
ATTRIBUTES = 5
VALUES = 10


def made_task(rows: int, seed: int = 0) -> Task:
    """People whose opinions lean with age; no value fills more than about 15 %."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    zip_code = (rng.zipf(1.3, rows) * 37) % 5000
    columns = [
        _column("age", Role.QUASI_IDENTIFIER, ValueType.INTEGER, age),
        _column("zip", Role.QUASI_IDENTIFIER, ValueType.INTEGER, zip_code),
        _column("region", Role.QUASI_IDENTIFIER, ValueType.TEXT, rng.integers(0, 12, rows)),
    ]
    for number in range(ATTRIBUTES):
        leaning = (age // 8 + number) % VALUES
        opinion = np.where(rng.random(rows) < 0.15, leaning, rng.integers(0, VALUES, rows))
        columns.append(_column(f"q{number}", Role.SENSITIVE, ValueType.TEXT, opinion))
    table = CodedTable({column.name: column for column in columns}, rows)
    return Task(table, {}, [PDiversity(l=ELL)], np.random.default_rng(seed))


def _column(name: str, role: Role, kind: ValueType, cells: np.ndarray) -> Column:
    values, codes = np.unique(cells, return_inverse=True)
    text = pl.Series(name, [f"{value:05d}" for value in values], dtype=pl.String)
    numbers = values.astype(np.float64) if kind.ordered else None
    return Column(name, role, kind, codes.astype(np.int32), text, text, numbers)


def adult(rows: int) -> Task:
    """Adult's paper columns, rows drawn with replacement."""
    return replace(adult_task(sampled(rows)), requirements=[PDiversity(l=2)])


def skewed_task(rows: int, share: float) -> Task:
    """Zipf-distributed values; one value fills ``share`` of the rows, the oldest and some others.

    The lower bound on suppressed rows is none up to one half, and 2·``share`` − 1 of all above it.
    """
    rng = np.random.default_rng(rows)
    task = made_task(rows)
    age = task.table.columns["age"].codes
    first = np.argsort(-age - 20 * rng.random(rows), kind="stable")
    columns = dict(task.table.columns)
    for number in range(ATTRIBUTES):
        values = np.minimum(rng.zipf(1.8, rows), VALUES) % VALUES
        if number == 0:
            values = 1 + values % (VALUES - 1)
            values[first[: int(share * rows)]] = 0
        else:  # no other value passes the bound
            most = np.flatnonzero(values == 1)
            values[most[int(0.4 * rows) :]] = rng.integers(2, VALUES, len(most[int(0.4 * rows) :]))
        columns[f"q{number}"] = _column(f"q{number}", Role.SENSITIVE, ValueType.TEXT, values)
    return Task(CodedTable(columns, rows), {}, [PDiversity(l=2)], np.random.default_rng(0))


def beyond_bound(sizes: Sequence[int]) -> Iterator[Figure]:
    """For each table and size the suppressed share less the bound, and growth from n to 10 n."""
    tables: dict[str, Callable[[int], Task]] = {
        "one value fills 49 %": partial(skewed_task, share=0.49),
        "one value fills 60 %": partial(skewed_task, share=0.6),
    }
    if data_folder().is_dir():
        tables = {"Adult, four sensitive": adult, **tables}
    MsaDiversity(suppression=1).run(skewed_task(30_000, 0.6))
    for what, made in tables.items():
        before: dict[int, float] = {}
        for rows in sizes:
            task = made(rows)
            started = time.process_time()
            outcome = MsaDiversity(suppression=1).run(task)
            before[rows] = time.process_time() - started
            least = outcome.private["least_suppressed_rows"]
            line = partial(Figure, SUPPRESSED, rows=rows)
            yield line(
                what=f"{what} (bound {least / rows:.3f})", processor=before[rows],
                ratio=(outcome.facts["suppressed_rows"] - least) / rows, ratio_to="all rows",
                bound="≤ 0.02",
            )  # fmt: skip
            if rows // 10 in before:
                yield line(
                    what=f"{what}, growth", ratio=before[rows] / before[rows // 10],
                    ratio_to="a tenth of the rows", bound="≤ 12",
                )  # fmt: skip


def timed(method: Any, rows: int, runs: int) -> tuple[float, Any]:
    """The least seconds of some runs, and the last outcome."""
    seconds = []
    for run in range(runs):
        task = made_task(rows, run)
        started = time.process_time()
        outcome = method.run(task)
        seconds.append(time.process_time() - started)
    return min(seconds), outcome


def results(quick: bool) -> Iterator[Figure]:
    """A line for each size and way of grouping, beside Mondrian on the same table."""
    sizes = (100_000, 1_000_000) if quick else (1_000_000, 10_000_000)
    yield from measured(sizes, runs=1 if quick else 2)
    yield from beyond_bound((30_000, 300_000) if quick else (30_000, 100_000, 300_000, 1_000_000))


def measured(sizes: Sequence[int], runs: int) -> Iterator[Figure]:
    timed(MsaDiversity(), 5_000, 1)
    timed(Mondrian(), 5_000, 1)
    before: dict[str, float] = {}
    for rows in sizes:
        mondrian = timed(Mondrian(), rows, runs)[0] if rows <= 1_000_000 else None
        for grouping in ("curve", "blocks"):
            seconds, outcome = timed(MsaDiversity(grouping=grouping), rows, runs)
            of_row = outcome.class_of_row
            gone = float((of_row < 0).mean())
            cells = outcome.cells.values()
            kept = of_row[of_row >= 0]
            loss = (
                float(np.mean([c.loss[c.cell_of_class[kept]].sum() / rows for c in cells])) + gone
            )
            line = partial(Figure, SECTION, rows=rows)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            yield line(what=grouping, processor=seconds, memory=memory, loss=loss)
            if mondrian:
                yield line(
                    what=f"{grouping}, time", ratio=seconds / mondrian, ratio_to="Mondrian",
                    bound="≤ 3",
                )  # fmt: skip
            if grouping in before:
                grown = seconds / before[grouping]
                yield line(
                    what=f"{grouping}, growth", ratio=grown, ratio_to="a tenth of the rows",
                    bound="≤ 12",
                )  # fmt: skip
            yield line(
                what=f"{grouping}, suppressed", ratio=gone, ratio_to="all rows", bound="≤ 0.01"
            )
            before[grouping] = seconds


if __name__ == "__main__":
    for figure in measured([int(float(size)) for size in sys.argv[1:]] or (100_000, 1_000_000), 2):
        print(figure)
