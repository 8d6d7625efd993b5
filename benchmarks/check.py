"""``discreet check`` of a generalized table, in a file and in place, beside pycanon.

Every check is a process of its own, timed with everything: imports, reading and the figures.
pycanon lives in the peers' environment; where that can't be had, it is left out with the reason.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.figures import Figure, RunError, run
from benchmarks.rivals import PATIENCE, PEERS, peers_python, versioned
from benchmarks.workloads import FOLDER

SECTION = "Checking a table: k, ℓ, entropy ℓ, (c, ℓ), t"
QUASI = ("age", "zip", "sex")
REQUIRED = (
    "--k", "2", "--l", "2", "--t", "1", "--require", "entropy-l-diversity: {l: 1.1}",
    "--require", "recursive-cl-diversity: {c: 1000, l: 2}", "--quiet",
)  # fmt: skip
REPETITIONS = 3


def results(quick: bool) -> Iterator[Figure]:
    """The same figures from a file, from SQLite, from DuckDB, and by pycanon."""
    rows = 100_000 if quick else 1_000_000
    table = FOLDER / f"check-{rows}.csv"
    FOLDER.mkdir(exist_ok=True)
    frame = _generalized(rows)
    frame.write_csv(table)
    places = {
        "discreet check, CSV": (str(table),),
        "discreet check, SQLite in place": (_sqlite(frame, rows), "--table", "people"),
        "discreet check, DuckDB in place": (_duckdb(table, rows), "--table", "people"),
    }
    roles = ("--quasi", ",".join(QUASI), "--sensitive", "diagnosis")
    ours = {}
    for what, place in places.items():
        command = [sys.executable, "-m", "discreet", "check", *place, *roles, *REQUIRED]
        ours[what] = min(
            (run(command) for _ in range(REPETITIONS)), key=lambda done: done.processor
        )
    theirs = None
    try:
        python = peers_python()
        script = [python, "-W", "ignore", str(PEERS / "pycanon_audit.py"), str(table)]
        theirs = run([*script, "diagnosis", *QUASI], PATIENCE)
        name = versioned(python, "pycanon")
        yield Figure(SECTION, name, rows, theirs.seconds, theirs.processor, theirs.memory)
    except RunError as failure:
        yield Figure(SECTION, f"pycanon left out: {failure}", rows)
    for what, done in ours.items():
        yield Figure(
            SECTION, what, rows, done.seconds, done.processor, done.memory,
            ratio=None if theirs is None else theirs.processor / done.processor,
            ratio_to="times less processor time than pycanon",
        )  # fmt: skip


def _generalized(rows: int) -> pl.DataFrame:
    """A table in 3,600 classes, as another tool would publish it."""
    rng = np.random.default_rng(1)
    low = rng.integers(0, 18, rows) * 5
    return pl.DataFrame(
        {
            "age": [f"[{age}; {age + 5})" for age in low.tolist()],
            "zip": [f"{code}**" for code in rng.integers(100, 200, rows).tolist()],
            "sex": rng.choice(["female", "male"], rows),
            "diagnosis": rng.choice([f"d{number}" for number in range(40)], rows),
        }
    )


def _sqlite(frame: pl.DataFrame, rows: int) -> str:
    path = FOLDER / f"check-{rows}.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE people (age TEXT, zip TEXT, sex TEXT, diagnosis TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", frame.iter_rows())
    base.close()
    return f"sqlite:///{path.resolve()}"


def _duckdb(table: Path, rows: int) -> str:
    import duckdb

    path = FOLDER / f"check-{rows}.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as base:
        base.sql(f"CREATE TABLE people AS FROM '{table.resolve()}'")
    return f"duckdb:///{path.resolve()}"
