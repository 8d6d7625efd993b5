"""What all checks share: small random tables of people, jobs that publish them, expectations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.by_name import Named
from discreet.job.model import Job
from discreet.methods.base import Method
from discreet.requirements.base import Requirement

ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "name": {"role": "identifier"},
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"intervals": [5, 20, "*"]},
    },
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "diagnosis": {"role": "sensitive"},
    "salary": {"role": "sensitive", "type": "integer"},
}


def sample_table(seed: int, rows: int = 24) -> pl.DataFrame:
    """A table of people, each with a name of their own."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"P{number}" for number in range(rows)],
            "age": rng.integers(20, 60, rows).tolist(),
            "zip": [f"1{code:02d}" for code in rng.integers(0, 40, rows)],
            "diagnosis": rng.permutation(
                (["asthma", "cold", "flu", "gout"] * rows)[:rows]
            ).tolist(),
            "salary": rng.permutation(([900, 1200, 1800, 2500, 4000] * rows)[:rows]).tolist(),
        }
    )


def sample_job(
    method: Method | str | Mapping[str, Any],
    requirements: Sequence[Requirement | Mapping[str, Any]],
    attributes: Mapping[str, Mapping[str, Any]] = ATTRIBUTES,
    *,
    source: Path | None = None,
    ledger: Path | None = None,
) -> Job:
    """A job for a table of people; the parts are written as in a job file."""
    written: dict[str, Any] = {
        "attributes": {name: dict(entry) for name, entry in attributes.items()},
        "requirements": list(requirements),
        "method": method,
    }
    if source is not None:
        written["source"] = {"path": str(source)}
    if ledger is not None:
        written["ledger"] = {"path": str(ledger)}
    return Job.model_validate(written)


def expect(holds: object, problem: str) -> None:
    """Raise an AssertionError with the problem, also where Python runs without assertions."""
    if not holds:
        raise AssertionError(problem)


def check_named(value: Named) -> None:
    """Check a name, and that parameters are plain data from which an equal value is read."""
    expect(
        value.name and value.name == value.name.lower() and " " not in value.name,
        f"The name '{value.name}' is not in lower case without blanks.",
    )
    parameters = value.parameters()
    read = type(value).model_validate(json.loads(json.dumps(parameters)))
    expect(read == value, f"{value.name}: {parameters} are read back as {read.parameters()}.")
    undescribed = [
        name for name, field in type(value).model_fields.items() if not field.description
    ]
    expect(not undescribed, f"{value.name}: parameters without description: {undescribed}.")
    expect(type(value).__doc__, f"{value.name}: the class has no docstring.")
