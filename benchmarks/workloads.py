"""The tables and jobs of the suite, made once in a folder of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.full_domain import SEVEN, adult, data_folder

FOLDER = Path(__file__).resolve().parent.parent / ".benchmarks"
PARAMETERS: dict[str, dict[str, Any]] = {"local-recoding": {"effort": "quick"}}
PROMISE = [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 3, "attribute": "occupation"}}]


@dataclass(frozen=True)
class Workload:
    """A table in a file, and what its columns are."""

    name: str
    rows: int
    path: Path
    attributes: Mapping[str, Mapping[str, Any]]
    requirements: Sequence[Mapping[str, Any]]

    def job(self, method: str, requirements: Sequence[Mapping[str, Any]] | None = None) -> Path:
        """A job file for a method; what it publishes goes beside it."""
        place = FOLDER / f"{self.path.stem}-{method}"
        job = {
            "source": {"path": str(self.path), "delimiter": ","},
            "attributes": self.attributes,
            "requirements": requirements or self.requirements,
            "method": {method: PARAMETERS.get(method, {})},
            "output": {"path": str(place)},
        }
        path = place.with_suffix(".yaml")
        path.write_text(json.dumps(job), encoding="utf-8")  # JSON is YAML
        return path

    def release(self, method: str) -> Path:
        """Where the job's release is."""
        return FOLDER / f"{self.path.stem}-{method}"


def adult_workload(rows: int | None = None) -> Workload:
    """Adult, or that many rows sampled from it; 7 quasi-identifiers, 9 columns."""
    count = 30162 if rows is None else rows
    path = FOLDER / f"adult-{count}.csv"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        adult(rows).write_csv(path)
    hierarchies = data_folder() / "adult" / "arx-form"
    attributes = {
        name: {"role": "quasi-identifier", "hierarchy": str(hierarchies / f"{name}.csv")}
        for name in SEVEN
    }
    attributes["occupation"] = {"role": "sensitive"}
    attributes["salary-class"] = {"role": "insensitive"}
    name = "Adult" if rows is None else "Adult resampled"
    return Workload(name, count, path, attributes, PROMISE)


def hard_workload(rows: int, seed: int = 1) -> Workload:
    """Independent columns, nearly every combination once: nothing to compress, nothing to learn."""
    path = FOLDER / f"hard-{rows}.csv"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        rng = np.random.default_rng(seed)
        columns = {
            "age": rng.integers(0, 100, rows),
            "income": rng.integers(0, 100_000, rows),
            "height": rng.integers(120, 220, rows),
            "region": rng.integers(0, 64, rows),
            "occupation": rng.integers(0, 20, rows),
        }
        frame = pl.DataFrame(columns)
        frame.with_columns(pl.format("r{}", "region").alias("region")).write_csv(path)
    attributes: dict[str, dict[str, Any]] = {
        name: {"role": "quasi-identifier", "type": "integer"}
        for name in ("age", "income", "height")
    }
    attributes["region"] = {"role": "quasi-identifier"}
    attributes["occupation"] = {"role": "sensitive"}
    return Workload("hard", rows, path, attributes, PROMISE)
