"""How long all applicable attacks take on a million rows sampled from Adult.

Each row of the result: the method, rows, groups, seconds of all attacks that apply (kernels
compiled, the release made before), and the attack that takes the longest. The real data are found
through ``DISCREET_DATA``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from benchmarks.figures import Figure
from benchmarks.full_domain import data_folder
from discreet.attacks.running import run_attacks
from discreet.publishing import make_release

ROWS = 1_000_000
QUASI = ("marital-status", "race", "sex", "native-country")
METHODS: tuple[tuple[Any, list[dict[str, Any]]], ...] = (
    ({"full-domain": {"suppression": 0.02}}, [{"k-anonymity": {"k": 5}}]),
    ("mondrian", [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 3}}]),
)


def table(rows: int) -> pl.DataFrame:
    """Adult's complete rows, resampled."""
    adult = pl.read_csv(data_folder() / "adult" / "adult.csv", infer_schema_length=0).head(32561)
    adult = adult.filter(~pl.any_horizontal(pl.all() == "?"))
    chosen = np.random.default_rng(0).integers(0, len(adult), rows)
    return adult.select("age", *QUASI, "occupation", "education")[chosen.tolist()]


def job(method: Any, requirements: list[dict[str, Any]]) -> dc.Job:
    """Five quasi-identifiers, two sensitive attributes."""
    age = {
        "role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [5, 10, 20, "*"]}
    }  # fmt: skip
    return dc.Job(
        attributes={
            "age": age,
            **{name: {"role": "quasi-identifier", "hierarchy": "suppress"} for name in QUASI},
            "occupation": {"role": "sensitive"},
            "education": {"role": "sensitive"},
        },
        requirements=requirements,
        method=method,
    )


def results(rows: int = ROWS) -> list[dict[str, Any]]:
    """A row for each method."""
    found = []
    data = table(rows)
    for method, requirements in METHODS:
        release = make_release(data, job(method, requirements), seed=0)
        tables = release.coded_tables()
        small = make_release(data.head(2000), job(method, requirements), seed=0)
        run_attacks(small.coded_tables(), small.task, small.manifest)  # compile
        phases: list[tuple[str, float]] = []

        def note(phase: str, share: float, phases: list[tuple[str, float]] = phases) -> None:
            phases.append((phase, time.perf_counter()))

        started = time.perf_counter()
        report = run_attacks(tables, release.task, release.manifest, progress=note)
        seconds = time.perf_counter() - started
        ends = [moment for _, moment in phases[1:]] + [started + seconds]
        spent = [(end - begin, name) for (name, begin), end in zip(phases, ends, strict=True)]
        found.append(
            {
                "method": release.manifest.method.name,
                "rows": rows,
                "seconds": round(seconds, 1),
                "longest": max(spent)[1],
                "findings": len(report.findings),
                "within the promise": report.ok,
            }
        )
    return found


def figures(quick: bool) -> Iterator[Figure]:
    """A line for each method."""
    for row in results(100_000 if quick else ROWS):
        what = f"{row['method']}, {row['findings']} findings, the longest: {row['longest']}"
        yield Figure("All applicable attacks", what, row["rows"], row["seconds"])


if __name__ == "__main__":
    for row in results(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS):
        print(row)
