"""MSA-diversity on made tables: time beside Mondrian's, growth, memory, and who is suppressed.

Three quasi-identifiers (age, a zip code, a text of 12 values), five sensitive attributes of ten
values each, ℓ = 3. No value fills more than half of 1/ℓ. Seconds are those of the processor for the
method alone (one thread), the least of several runs, kernels compiled; the ratio to Mondrian is of
the same run. Ten million rows: ``python -m benchmarks.msa_diversity 1e6 1e7``.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from discreet.algorithms.method import Task
from discreet.algorithms.mondrian import Mondrian
from discreet.algorithms.msa_diversity import MsaDiversity
from discreet.data.roles import Role, ValueType
from discreet.data.table import CodedTable, Column
from discreet.models.diversity import PDiversity

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


def timed(method: Any, rows: int, runs: int) -> tuple[float, Any]:
    """The least seconds of some runs, and the last outcome."""
    seconds = []
    for run in range(runs):
        task = made_task(rows, run)
        started = time.process_time()
        outcome = method.run(task)
        seconds.append(time.process_time() - started)
    return min(seconds), outcome


def results(sizes: Sequence[int] = (100_000, 1_000_000), runs: int = 2) -> list[dict[str, Any]]:
    """A row for each size, method and way of grouping."""
    found: list[dict[str, Any]] = []
    timed(MsaDiversity(), 5_000, 1)
    timed(Mondrian(), 5_000, 1)
    for rows in sizes:
        mondrian, _ = timed(Mondrian(), rows, runs)
        found.append({"method": "mondrian", "rows": rows, "seconds": round(mondrian, 2)})
        for grouping in ("curve", "blocks"):
            method = MsaDiversity(grouping=grouping)
            seconds, outcome = timed(method, rows, runs)
            classes = outcome.class_of_row
            loss = np.mean(
                [
                    cells.loss[cells.cell_of_class[classes[classes >= 0]]].sum() / rows
                    for cells in outcome.cells.values()
                ]
            )
            found.append(
                {
                    "method": f"msa-diversity ({grouping})",
                    "rows": rows,
                    "seconds": round(seconds, 2),
                    "to_mondrian": round(seconds / mondrian, 2),
                    "suppressed": float((classes < 0).mean()),
                    "loss": float(loss),
                    "memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
                }
            )
    return found


if __name__ == "__main__":
    for row in results([int(float(size)) for size in sys.argv[1:]] or (100_000, 1_000_000)):
        print(row)
