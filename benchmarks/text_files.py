"""Reading and writing a CSV file alone, beside Polars' streaming copy of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.figures import Figure, run
from benchmarks.whole_path import copy_floor
from benchmarks.workloads import FOLDER, adult_workload

SECTION = "Reading and writing text, Adult resampled, 9 columns"
REPETITIONS = 3
READ = """
import sys
from pathlib import Path
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.table.roles import ColumnSpec
from discreet.table.roles import Role
source = Source(path=Path(sys.argv[1]), delimiter=",")
table = read_table(source, dict.fromkeys(column_names(source), ColumnSpec(Role.INSENSITIVE)))
"""
WRITE = (
    READ
    + """
import numpy as np
from discreet.io.writing import write_table
from discreet.table.published import PublishedColumn
order = np.random.default_rng(1).permutation(table.rows).astype(np.int32)
columns = [PublishedColumn(c.name, c.role, c.codes, c.values) for c in table]
Path(sys.argv[2]).unlink(missing_ok=True)
write_table(Path(sys.argv[2]), "csv", columns, order)
"""
)


def results(quick: bool) -> Iterator[Figure]:
    """Read, and read and write in random order, in a process of its own each."""
    workload = adult_workload(100_000 if quick else 1_000_000)
    copy = copy_floor(workload)
    target = FOLDER / "written.csv"
    for what, script in (("read", READ), ("read and write", WRITE)):
        command = [sys.executable, "-c", script, str(workload.path), str(target)]
        best = min((run(command) for _ in range(REPETITIONS)), key=lambda done: done.processor)
        yield Figure(
            SECTION, what, workload.rows, best.seconds, best.processor, best.memory,
            ratio=best.processor / copy.processor, ratio_to="the copy, processor time",
        )  # fmt: skip
    target.unlink()
