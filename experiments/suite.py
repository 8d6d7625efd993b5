"""The suite: methods × tables × requirements × attackers × seeds, a row a run, to cite and add to.

    python -m experiments suite --output runs.csv             # all; a run goes on where it ended
    python -m experiments suite --output runs.csv --quick     # a small grid, in a minute
    python -m experiments suite --page suite.md --output runs.csv

A row has all that identifies the run (table and its hash, rows, attributes, method and its
settings, ℓ, seed, version, commit) and what came of it, so that rows of others can be added to the
file. Every seed draws other rows of the table; what a run gives follows from the seed. Two
attackers read every release by the distribution that it implies: an *acquaintance* knows all
quasi-identifiers of a person, an *insider* one other sensitive value as well. What is measured is
the belief in the true value, over all people, attributes and, for the insider, known values.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from experiments.baselines import PERTURBING, Belief, Reading, register
from experiments.harness import MissingDataError, Row, commit
from experiments.suite_tables import (
    CORRELATION,
    CORRELATIONS,
    ROWS,
    SKEW,
    SKEWS,
    TABLES,
    generated_name,
    hash_of,
)

import discreet as dc
from discreet.methods.base import Task
from discreet.pipeline.prepare import prepare
from discreet.pipeline.run import make_release
from discreet.releases.measure import read_utility
from discreet.table.coded_table import CodedTable, Column
from discreet.utility.divergence import diverge
from discreet.utility.implied import Implied, exact
from discreet.utility.queries import QueryWorkload, query_errors

SEEDS = (1, 2, 3, 4, 5)
LEVELS = (2, 3, 4, 5)
QUERIES = 500
PUBLIC = tuple(name for name, table in TABLES.items() if table.read is not None)
OF_PEOPLE, OF_ELL = "Census-Income", 3  # where the number of attributes, or the skew, varies


def settings_of(method: str, ell: int, sensitive: Sequence[str]) -> tuple[Any, list[Any]]:
    """The method with its parameters, and the job's requirements, for ℓ."""
    each = dict.fromkeys(sensitive, ell)
    diverse = [{"p-diversity": {"l": ell}}]
    known: dict[str, tuple[Any, list[Any]]] = {
        "unlinked": ({}, []),
        "mondrian": ({}, diverse),
        "local-recoding": ({}, diverse),
        "decomposition": ({"l": each}, []),
        "codip": ({"recoding": "mondrian", "beta": 0.5}, diverse),
        "msa-diversity": ({}, [{"m-diversity": {"l": ell}}]),
        "gal": ({"l": ell}, []),
        "li-ye": ({"alpha_qi": ell, "alpha_sa": ell}, []),
        "mmdcf": ({"l": ell}, []),
        "mdav": ({"k": ell}, []),
    }
    if method in PERTURBING:
        return {method: {"l": ell}}, []
    parameters, requirements = known[method]
    return {method: parameters}, requirements


METHODS = (
    "unlinked", "mondrian", "local-recoding", "decomposition", "codip", "msa-diversity", "gal",
    "li-ye", "mmdcf", "mdav", *PERTURBING,
)  # fmt: skip
IDENTITY = ("table", "sensitive", "method", "l", "seed")
MEASURES = (
    "pair_error", "pair_error_between_sensitive", "association_lost", "query_error", "suppressed",
    "acquaintance_mean", "acquaintance_99", "acquaintance_above_half",
    "insider_mean", "insider_99", "insider_above_half",
)  # fmt: skip
COLUMNS = (
    *IDENTITY, "rows", "quasi_identifiers", "skew", "correlation", "settings", "data_sha256",
    "version", "commit", "failure", *MEASURES, "method_seconds", "row_seconds",
)  # fmt: skip
TIMES = ("method_seconds", "row_seconds")


@dataclass(frozen=True)
class Cell:
    """One run: what its row is identified by."""

    table: str
    sensitive: int
    method: str
    ell: int
    seed: int

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(str(part) for part in (*vars(self).values(),))


def grid(
    tables: Sequence[str] = tuple(TABLES),
    methods: Sequence[str] = METHODS,
    levels: Sequence[int] = LEVELS,
    seeds: Sequence[int] = SEEDS,
) -> Iterator[Cell]:
    """The runs, so ordered that a part of them already covers all questions; seeds come last."""
    plain = [(name, 2, ell) for ell, name in product(levels, PUBLIC)]
    by_number = [(OF_PEOPLE, number, 2) for number in (1, 2, 3, 4)]
    generated = [
        generated_name(skew, correlation)
        for skew, correlation in [*product(SKEWS, [CORRELATION]), *product([SKEW], CORRELATIONS)]
    ]
    by_table = [(name, 2, OF_ELL) for name in generated]
    by_number += [(generated_name(SKEW, CORRELATION), number, OF_ELL) for number in (1, 2, 3, 4, 6)]
    every = dict.fromkeys([*plain, *by_number, *by_table])
    for seed, (table, sensitive, ell), method in product(seeds, every, methods):
        if table in tables and (ell in levels):
            yield Cell(table, sensitive, method, ell, seed)


@cache
def _whole(table: str) -> tuple[pl.DataFrame | None, str]:
    """A public table, and its hash."""
    found = TABLES[table]
    return (None, "") if found.read is None else (found.whole(), found.sha256)


def run(cell: Cell, rows: int = ROWS) -> Row:
    """One row: a sample, a release of it, and its measures."""
    register()
    started = time.process_time()
    table = TABLES[cell.table]
    whole, sha256 = _whole(cell.table)
    attributes = table.attributes(cell.sensitive)
    frame = table.sample(cell.seed, rows, whole).select(list(attributes))
    sensitive = table.sensitive[: cell.sensitive]
    method, requirements = settings_of(cell.method, cell.ell, sensitive)
    row: Row = dict.fromkeys(COLUMNS)
    row |= dict(zip(IDENTITY, vars(cell).values(), strict=True))
    row |= {
        "rows": len(frame),
        "quasi_identifiers": len(table.quasi),
        "skew": table.skew,
        "correlation": table.correlation,
        "settings": json.dumps({"method": method, "requirements": requirements}),
        "data_sha256": sha256 or hash_of(frame),
        "version": dc.__version__,
        "commit": commit(),
    }
    begun = time.process_time()
    try:
        task, reading = _released(frame, attributes, method, requirements, cell)
        row["method_seconds"] = round(time.process_time() - begun, 3)
        row |= _measured(task, reading, cell.seed)
    except dc.InfeasibleError:
        row["failure"] = "infeasible"
    row["row_seconds"] = round(time.process_time() - started, 3)
    return row


def _released(
    frame: pl.DataFrame,
    attributes: Mapping[str, Any],
    method: Mapping[str, Any],
    requirements: Sequence[Any],
    cell: Cell,
) -> tuple[Task, Reading]:
    """The original, and what analysts and attackers make of the release."""
    if cell.method in PERTURBING:
        job = dc.Job(attributes=attributes, method="unlinked")
        task = prepare(job, frame, rng=np.random.default_rng(cell.seed))
        return task, PERTURBING[cell.method](task, cell.ell)
    job = dc.Job(attributes=attributes, method=method, requirements=requirements)
    release = make_release(frame, job, seed=cell.seed)
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    suppressed = release.manifest.suppressed_rows / max(len(frame), 1)
    return release.task, Reading(reading.implied, reading.implied.mass_of_people, suppressed)


def _measured(task: Task, reading: Reading, seed: int) -> Row:
    table = task.table
    workload = QueryWorkload(queries=QUERIES)
    errors = query_errors(table, reading.analyst, workload, seed).release
    names = [column.name for column in table.sensitive]
    pairs = list(product(table.quasi_identifiers, table.sensitive))
    found = {
        "pair_error": pair_error(table, reading.analyst, pairs),
        "pair_error_between_sensitive": pair_error(
            table, reading.analyst, list(combinations(table.sensitive, 2))
        ),
        "association_lost": diverge(table, reading.analyst).release.association,
        "query_error": errors.median,
        "suppressed": reading.suppressed,
        **_beliefs("acquaintance", table, reading.attacker, [(name,) for name in names]),
        **_beliefs("insider", table, reading.attacker, list(permutations(names, 2))),
    }
    return {name: None if value is None else round(value, 6) for name, value in found.items()}


def pair_error(
    table: CodedTable, release: Implied, pairs: Sequence[tuple[Column, Column]]
) -> float | None:
    """How far two-way tables are from the original, over how far independent columns are.

    Sums of absolute differences over all pairs: 0 as the original, 1 as independent columns, more
    where a release invents associations.
    """
    truth = exact([*table.quasi_identifiers, *table.sensitive], table.rows)
    away = apart = 0.0
    for first, second in pairs:
        held = truth.pair_table(first, second)
        away += float(np.abs(release.pair_table(first, second) - held).sum())
        independent = np.outer(first.counts, second.counts) / table.rows
        apart += float(np.abs(independent - held).sum())
    return away / apart if apart else None


def _beliefs(
    attacker: str, table: CodedTable, mass: Belief, asked: Sequence[tuple[str, ...]]
) -> dict[str, float]:
    """Beliefs in the true value of the first attribute, given the others, which are known."""
    beliefs = []
    for aim, *known in asked:
        given, both = mass(table, known), mass(table, [aim, *known])
        if given is None or both is None:
            return {}
        beliefs.append(np.minimum(both / np.maximum(given, np.finfo(float).tiny), 1.0))
    if not beliefs:
        return {}
    every = np.concatenate(beliefs)
    return {
        f"{attacker}_mean": float(every.mean()),
        f"{attacker}_99": max(float(np.percentile(belief, 99)) for belief in beliefs),
        f"{attacker}_above_half": float((every > 0.5 + 1e-9).mean()),
    }


def read_rows(path: Path) -> pl.DataFrame:
    """The rows of a file, CSV or Parquet."""
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)


def run_missing(cells: Sequence[Cell], path: Path, rows: int) -> int:
    """Run what the file lacks, and add each row to it as it comes; returns their number."""
    held: set[tuple[str, ...]] = set()
    if path.exists() and path.stat().st_size:
        known = pl.read_csv(path, infer_schema=False)
        held = set(known.select(IDENTITY).rows())
    path.parent.mkdir(parents=True, exist_ok=True)
    missing = [cell for cell in cells if cell.key not in held]
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for number, cell in enumerate(missing, 1):
            row = run(cell, rows)
            writer.writerow(row)
            file.flush()
            print(f"{number}/{len(missing)}: {' '.join(cell.key)}: {row['row_seconds']} s")
    return len(missing)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite, or make its page."""
    parser = argparse.ArgumentParser(prog="python -m experiments suite", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("experiments-out/suite.csv"))
    parser.add_argument("--tables", help="Some tables, by ; between them.")
    parser.add_argument("--methods", help="Some methods, by ; between them.")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="Number of seeds.")
    parser.add_argument("--quick", action="store_true", help="Generated tables, 300 rows, l = 3.")
    parser.add_argument("--page", type=Path, help="Make this page from a file of rows.")
    asked = parser.parse_args(arguments)
    if asked.page:
        from experiments.suite_page import write_page

        if not asked.output.exists() or not len(read_rows(asked.output)):
            print(f"{asked.output} has no rows. Run the suite first.", file=sys.stderr)
            return 2
        print(f"Written: {write_page(asked.output, asked.page)}")
        return 0
    tables, methods = (
        tuple(every) if named is None else tuple(part.strip() for part in named.split(";"))
        for named, every in ((asked.tables, TABLES), (asked.methods, METHODS))
    )
    for noun, named, every in (("table", tables, TABLES), ("method", methods, METHODS)):
        if unknown := [name for name in named if name not in every]:
            print(f"No {noun} {', '.join(unknown)}. Known: {'; '.join(every)}.", file=sys.stderr)
            return 2
    rows = ROWS
    if asked.quick:
        rows, tables = 300, tuple(name for name in tables if TABLES[name].read is None)
    seeds = tuple(range(1, asked.seeds + 1))
    try:
        added = run_missing(list(grid(tables, methods, seeds=seeds)), asked.output, rows)
    except (ValueError, MissingDataError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{added} rows added to {asked.output}")
    return 0
