"""How long the frontier of CODIP* takes: 4 quasi-identifiers and 15 sensitive attributes.

The table is made here, in the likeness of Census-Income: age, race, sex and citizenship, and 15
sensitive attributes in blocks that depend on a hidden cause each and on age. A row of the result:
rows, seconds for the whole frontier (information, table of nodes, plans; the least of several runs,
kernels compiled), seconds of the table of nodes alone, microseconds for checking one plan, nodes,
and the distinct quasi-identifier tuples to which the rows were compressed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from benchmarks.figures import Figure
from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.methods.base import Task
from discreet.methods.codip.codip import Codip, Projector
from discreet.methods.codip.node_table import NodeTable
from discreet.methods.codip.plans import partitions
from discreet.requirements.closeness import TCloseness
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType

SECTION = "CODIP: 4 quasi-identifiers, 15 sensitive attributes"
QUASI = {"age": (90, (5, 10, 20, 90)), "race": (5, (5,)), "sex": (2, (2,)), "citizen": (5, (2, 5))}
SENSITIVE = (9, 17, 24, 7, 3, 2, 15, 2, 2, 2, 2, 2, 2, 2, 2)  # their numbers of values
BLOCKS = 4


def census(rows: int, seed: int = 1) -> CodedTable:
    """A made table."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, (values, _) in QUASI.items():
        weight = rng.dirichlet(np.full(values, 2.0))
        codes = rng.choice(values, rows, p=weight).astype(np.int32)
        columns[name] = _column(name, Role.QUASI_IDENTIFIER, codes, values)
    causes = rng.integers(0, 8, (BLOCKS, rows))
    age = columns["age"].codes // 10
    for number, values in enumerate(SENSITIVE):
        of_cause = rng.dirichlet(np.full(values, 0.4), (8, 9)).cumsum(axis=2)
        cause = causes[number % BLOCKS]
        draw = rng.random(rows)[:, None]
        codes = (draw > of_cause[cause, np.minimum(age, 8)]).sum(axis=1)
        name = f"s{number:02}"
        codes = np.minimum(codes, values - 1).astype(np.int32)
        columns[name] = _column(name, Role.SENSITIVE, codes, values)
    return CodedTable(columns, rows)


def _column(name: str, role: Role, codes: np.ndarray, values: int) -> Column:
    text = pl.Series(name, [f"{code:03}" for code in range(values)])
    return Column(name, role, ValueType.TEXT, codes, text, text)


def hierarchies() -> dict[str, Hierarchy]:
    """Bands of neighbouring values, the last of them everything."""
    made = {}
    for name, (values, widths) in QUASI.items():
        levels = []
        for width in (1, *widths):
            group = np.arange(values) // width
            labels = [f"{width}-{node}" for node in range(group.max() + 1)]
            levels.append(level_from_groups(group, labels, np.bincount(group), values))
        made[name] = Hierarchy(name, tuple(levels), values, "a benchmark")
    return made


def task(rows: int) -> Task:
    """The job on a made table."""
    requirements = [KAnonymity(k=2), TCloseness(t=0.4)]
    return Task(census(rows), hierarchies(), requirements, np.random.default_rng(0))


def measure(rows: int, repetitions: int = 3) -> dict[str, Any]:
    """Time the frontier and the checking of plans."""
    whole = task(rows)
    method = Codip(alpha=1.0, beta=0.5, dm=0.5 * rows**2)
    seconds, table_seconds = [], []
    for _ in range(repetitions):
        made = replace(whole)  # what a task has found out is not kept
        start = time.perf_counter()
        method.explore(made)
        seconds.append(time.perf_counter() - start)
        start = time.perf_counter()
        NodeTable(made, method.minimize, method.dm)
        table_seconds.append(time.perf_counter() - start)
    projector = Projector(made, method)
    plans = list(partitions(8))
    rest = tuple((attribute,) for attribute in range(8, len(SENSITIVE)))
    plans = [plan + rest for plan in plans]
    for plan in plans:  # sums of blocks are made once
        projector.accepts(plan)
    start = time.perf_counter()
    for plan in plans:
        projector.accepts(plan)
    check = (time.perf_counter() - start) / len(plans)
    return {
        "rows": rows,
        "seconds": min(seconds),
        "table_seconds": min(table_seconds),
        "check_microseconds": 1e6 * check,
        "nodes": projector.recoder.recodings.lattice.nodes,
        "valid_nodes": len(projector.recoder.nodes),
        "tuples": projector.recoder.recodings.table.tuples,
    }


def results(quick: bool) -> Iterator[Figure]:
    """The figures for several numbers of rows."""
    measure(2_000, 1)  # compile
    before: float | None = None
    for rows in (50_000, 200_000) if quick else (50_000, 200_000, 1_000_000):
        found = measure(rows)
        seconds = found["seconds"]
        asked = {200_000: "≤ 10", 1_000_000: "≤ 60"}.get(rows, "")
        yield Figure(
            SECTION, "whole frontier", rows, seconds, ratio=seconds, ratio_to="second", bound=asked
        )
        checking = found["check_microseconds"]
        yield Figure(
            SECTION, "checking a plan", rows, ratio=checking, ratio_to="microsecond", bound="≤ 1000"
        )
        if before is not None:
            grown = seconds / before
            yield Figure(SECTION, "growth", rows, ratio=grown, ratio_to="fewer rows")
        before = seconds


def main() -> None:
    """Print the results."""
    measure(2_000, 1)  # compile
    for found in map(measure, [int(rows) for rows in sys.argv[1:]] or [50_000, 200_000, 1_000_000]):
        print(
            f"{found['rows']:>9} rows, {found['tuples']:>5} tuples, {found['valid_nodes']} of"
            f" {found['nodes']} nodes: frontier {found['seconds']:.3f} s (table of nodes"
            f" {found['table_seconds']:.3f} s), {found['check_microseconds']:.1f} µs a plan"
        )


if __name__ == "__main__":
    main()
