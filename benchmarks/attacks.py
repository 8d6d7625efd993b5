"""How long all applicable attacks take on a million rows.

The columns are Adult's complete rows, resampled, and found through ``DISCREET_DATA``. Methods whose
cells may overlap get two more quasi-identifiers of ten thousand values each, so that hardly two
people are alike and most of them fit several classes: the dearest case for a reader.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from benchmarks.figures import Figure
from benchmarks.full_domain import data_folder
from discreet.attacks.run import run_attacks
from discreet.pipeline.run import make_release

SECTION = "All applicable attacks"
ROWS = 300_000  # of make bench; a million: python -m benchmarks.attacks 1000000
QUASI = ("marital-status", "race", "sex", "native-country")
FINE = ("x", "y")
SENSITIVE = ("occupation", "education")
TABLES = [["occupation"], ["education"]]
K = {"k-anonymity": {"k": 5}}


@dataclass(frozen=True)
class Workload:
    """A method, what it is asked for, and whether people hardly look alike."""

    method: Any
    requirements: tuple[dict[str, Any], ...] = ()
    fine: bool = False
    sensitive: tuple[str, ...] = SENSITIVE


WORKLOADS = (
    Workload({"full-domain": {"suppression": 0.02}}, (K, {"distinct-l-diversity": {"l": 3}})),
    Workload("mondrian", (K, {"p-diversity": {"l": 2}}), fine=True),
    Workload("local-recoding", (K, {"distinct-l-diversity": {"l": 2}}), fine=True),
    Workload("msa-diversity", ({"m-diversity": {"l": 2}},), fine=True),
    Workload({"codip": {"plan": "given", "tables": TABLES}}, (K, {"t-closeness": {"t": 0.4}})),
    Workload("decomposition"),
    Workload({"anatomy": {"l": 3}}, ({"p-diversity": {"l": 3}},), sensitive=("occupation",)),
)


def table(rows: int) -> pl.DataFrame:
    """Adult's complete rows, resampled, with two columns in which hardly anybody is alike."""
    adult = pl.read_csv(data_folder() / "adult" / "adult.csv", infer_schema_length=0).head(32561)
    adult = adult.filter(~pl.any_horizontal(pl.all() == "?"))
    rng = np.random.default_rng(0)
    chosen = adult.select("age", *QUASI, *SENSITIVE)[rng.integers(0, len(adult), rows).tolist()]
    return chosen.with_columns(pl.Series(name, rng.integers(0, 10_000, rows)) for name in FINE)


def job(workload: Workload) -> dc.Job:
    """Three or five quasi-identifiers, one or two sensitive attributes."""
    age = {
        "role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [5, 10, 20, "*"]}
    }  # fmt: skip
    suppress = {"role": "quasi-identifier", "hierarchy": "suppress"}
    number = {"role": "quasi-identifier", "type": "integer"}
    drop = {"role": "drop"}
    return dc.Job(
        attributes={
            "age": number if workload.fine else age,
            **dict.fromkeys(QUASI, drop if workload.fine else suppress),
            **dict.fromkeys(FINE, number if workload.fine else drop),
            **{
                name: {"role": "sensitive"} if name in workload.sensitive else drop
                for name in SENSITIVE
            },
        },
        requirements=list(workload.requirements),
        method=workload.method,
    )


def measure(data: pl.DataFrame, workload: Workload) -> tuple[str, float, str]:
    """The method, the seconds that all attacks take, and which takes the longest."""
    release = make_release(data, job(workload), seed=0)
    phases: list[tuple[str, float]] = []
    tables = release.coded_tables()
    started = time.perf_counter()
    report = run_attacks(
        tables,
        release.task,
        release.manifest,
        progress=lambda phase, _: phases.append((phase, time.perf_counter())),
    )
    seconds = time.perf_counter() - started
    assert report.ok, str(report)
    ends = [moment for _, moment in phases[1:]] + [started + seconds]
    spent = [(end - begin, name) for (name, begin), end in zip(phases, ends, strict=True)]
    return release.manifest.method.name, seconds, max(spent)[1]


def results(quick: bool, rows: int = ROWS) -> Iterator[Figure]:
    """A figure for each method: at most five minutes for a million rows are asked for."""
    data = table(50_000 if quick else rows)
    for workload in WORKLOADS:
        measure(data.head(2000), workload)  # compile
        method, seconds, longest = measure(data, workload)
        alike = ", hardly two people alike" if workload.fine else ""
        yield Figure(
            SECTION, f"{method}{alike}; longest: {longest}", len(data), seconds,
            ratio=seconds, ratio_to="second", bound=f"≤ {300 * len(data) / 1e6:g}",
        )  # fmt: skip


if __name__ == "__main__":
    for figure in results(False, int(sys.argv[1]) if len(sys.argv) > 1 else ROWS):
        print(figure.what, figure.rows, f"{figure.seconds:.1f} s", flush=True)
