"""Compile kernels before they are needed, as an image of a container or an installation wants."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.api.publish import publish
from discreet.errors import EngineError, InputError
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.ledger.settings import LedgerSettings
from discreet.methods.base import Progress, no_progress
from discreet.methods.registry import METHODS
from discreet.table.kernels import listeners
from discreet.table.kernels.tiers import TIERS

ROWS = 120
SAFE = ({"k-anonymity": {"k": 3}}, {"distinct-l-diversity": {"l": 2, "attribute": "disease"}})
LINKED = ({"k-anonymity": {"k": 3}}, {"qs-t-closeness": {"t": 0.5, "attribute": "symptoms"}})
# The requirements of a job by each method; the other methods guarantee by their parameters.
REQUIREMENTS: dict[str, Any] = {
    "full-domain": SAFE,
    "mondrian": SAFE,
    "top-down": ({"lkc-privacy": {"l": 2, "k": 3, "c": 0.9}},),
    "local-recoding": SAFE,
    "msa-diversity": ({"m-diversity": {"l": 2}},),
    "unlinked": SAFE,
    "codip": ({"k-anonymity": {"k": 3}}, {"t-closeness": {"t": 0.6}}),
    "quasi-sensitive": LINKED,
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "decomposition": {"l": {"disease": 2, "job": 2}},
    "anatomy": {"l": 2},
    "codip": {"alpha": 1.0, "beta": 1.0},
    "m-invariance": {"m": 2},
    "rho-different": {"rho": 0.6, "correlation": "odds.csv"},
}
SERIES = ("m-invariance", "rho-different")
ONE_SENSITIVE = ("anatomy", "quasi-sensitive", *SERIES)


WARMING_UP = "The table is made up, and the release is removed."


def warm_up(methods: Collection[str] = (), *, progress: Progress = no_progress) -> int:
    """Publish a small table by each method with compiled kernels; return how many were compiled.

    Compiled kernels stay in the cache on disk. Without names, all built-in methods are warmed up.
    """
    unknown = [name for name in methods if name not in METHODS.built_in]
    if unknown:
        allowed = ", ".join(METHODS.built_in)
        raise InputError(f"There is no built-in method '{unknown[0]}'. Known: {allowed}.")
    if not TIERS.installed:
        raise EngineError("Numba is not installed. Install it: pip install 'discreet[fast]'.")
    compiled = [0]

    def count(kernels: int, seconds: float) -> None:
        compiled[0] += 1

    chosen = list(methods or METHODS.built_in)
    listeners.append(count)
    try:
        with _compiling(), tempfile.TemporaryDirectory() as folder:
            for place, name in enumerate(chosen):
                progress(f"compiling {name}", place / len(chosen))
                _publish(name, Path(folder) / name)
    finally:
        listeners.remove(count)
    return compiled[0]


@contextmanager
def _compiling() -> Iterator[None]:
    before, TIERS.asked = TIERS.asked, "compiled"
    try:
        yield
    finally:
        TIERS.asked = before


def _publish(method: str, folder: Path) -> None:
    folder.mkdir()
    written: dict[str, Any] = {
        "attributes": _attributes(method),
        "requirements": REQUIREMENTS.get(method, ()),
        "method": {method: PARAMETERS.get(method, {})},
    }
    if method in SERIES:
        written["ledger"] = {"path": "people.ledger"}
    values = ("cold", "flu", "gout")
    odds = ["old,new,probability", *(f"{value},{value},0.9" for value in values)]
    (folder / "odds.csv").write_text("\n".join([*odds, ""]), encoding="utf-8")
    links = ["label,term", "cold,ache", "cold,cough", "flu,ache", "flu,cough", "gout,ache"]
    (folder / "labels.csv").write_text("\n".join([*links, ""]), encoding="utf-8")
    rng = np.random.default_rng(1)
    cells = {
        "name": [f"P{row}" for row in range(ROWS)],
        "age": rng.integers(20, 80, ROWS).tolist(),  # at random: cells of groups overlap
        "zip": [f"{code}" for code in rng.integers(1000, 1200, ROWS)],
        "disease": [values[row % 3] for row in range(ROWS)],
        "job": [("clerk", "cook", "nurse", "driver")[row % 4] for row in range(ROWS)],
        "symptoms": [("ache", "ache|cough", "cough")[row % 3] for row in range(ROWS)],
    }
    job = Job.parse(json.dumps(written), folder=folder)  # JSON is YAML
    if method in SERIES:
        with Ledger.create(LedgerSettings(path=folder / "people.ledger").located(folder)):
            pass
    publish(pl.DataFrame(cells), job, seed=1).save(
        folder / "release", attack=None, accept_risk=WARMING_UP
    )


def _attributes(method: str) -> dict[str, dict[str, Any]]:
    links = {"path": "labels.csv", "label": "label", "term": "term"}
    symptoms = {"role": "quasi-sensitive", "multi_valued": "|", "knowledge": links}
    linked = method == "quasi-sensitive"
    ages = {"intervals": [5, 20, "*"]}
    return {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": ages},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "disease": {"role": "drop" if linked else "sensitive"},
        "job": {"role": "drop" if method in ONE_SENSITIVE else "sensitive"},
        "symptoms": symptoms if linked else {"role": "drop"},
    }
