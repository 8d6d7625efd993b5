"""Persons with several rows: a job that keeps all rows, beside the same job on rows.

The table is made up: 1 million encounters of 300,000 patients, sorted by date, most patients with
few rows. Processes are measured from start to end, kernels compiled.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.saving import ACCEPTING

from benchmarks.figures import Figure, run
from benchmarks.workloads import FOLDER

SECTION = "Persons with several rows: `rows: keep` beside the same job on rows"
METHODS = ("mondrian", "local-recoding")
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "patient": {"role": "identifier"},
    "admitted": {"role": "drop"},
    "age": {"role": "quasi-identifier", "type": "integer"},
    "sex": {"role": "quasi-identifier"},
    "zip": {"role": "quasi-identifier"},
    "ward": {"role": "quasi-identifier"},
    "diagnosis": {"role": "sensitive"},
    "drug": {"role": "sensitive"},
}


def encounters(rows: int, patients: int, seed: int = 1) -> Path:
    """The table, in a file: every patient has a row, further ones are skewed."""
    path = FOLDER / f"encounters-{rows}-{patients}.csv"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(seed)
    weight = rng.pareto(2.0, patients) + 0.1
    further = rng.choice(patients, rows - patients, p=weight / weight.sum())
    patient = rng.permutation(np.concatenate([np.arange(patients), further]))
    born, town = rng.integers(0, 90, patients), rng.integers(0, 400, patients)
    pl.DataFrame(
        {
            "patient": patient + 10_000_000,
            "admitted": np.sort(rng.integers(0, 730, rows)),
            "age": born[patient] + rng.integers(0, 2, rows),
            "sex": np.array(["f", "m"])[patient % 2],
            "zip": town[patient] + 10_000,
            "ward": rng.integers(0, 12, rows),
            "diagnosis": rng.integers(0, 40, rows),
            "drug": rng.integers(0, 15, rows),
        }
    ).write_csv(path)
    return path


def _job(path: Path, method: str, keep: bool) -> Path:
    """A job file; with ``keep`` its unit is the person."""
    place = FOLDER / f"{path.stem}-{method}-{'persons' if keep else 'rows'}"
    described: dict[str, Any] = {
        "source": {"path": str(path), "delimiter": ","},
        "attributes": ATTRIBUTES,
        "requirements": [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 3}}],
        "method": {method: {"effort": "quick"} if method == "local-recoding" else {}},
        "output": {"path": str(place)},
    }
    described |= {"person": {"column": "patient", "rows": "keep"}} if keep else {"unit": "rows"}
    job = place.with_suffix(".yaml")
    job.write_text(json.dumps(described), encoding="utf-8")  # JSON is YAML
    return job


def results(quick: bool, methods: Sequence[str] = METHODS) -> Iterator[Figure]:
    """Each method on rows and on persons; ``quick`` takes a tenth of the table."""
    rows, patients = (100_000, 30_000) if quick else (1_000_000, 300_000)
    path = encounters(rows, patients)
    for method in methods:
        taken: dict[bool, float] = {}
        for keep in (False, True):
            command = [
                sys.executable,
                "-m",
                "discreet",
                "publish",
                str(_job(path, method, keep)),
                *ACCEPTING,
            ]
            runs = [run([*command, "--force", "--seed", "1", "--no-attack"]) for _ in range(2)]
            best = min(runs, key=lambda one: one.processor)
            taken[keep] = best.processor
            yield Figure(
                SECTION,
                f"{method}, {f'all rows of {patients:,} persons' if keep else 'rows'}",
                rows,
                best.seconds,
                processor=best.processor,
                memory=best.memory,
                ratio=taken[True] / taken[False] if keep else None,
                ratio_to="the same job on rows" if keep else "",
                bound="≤ 1.5" if keep else "",
            )
