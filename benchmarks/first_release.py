"""Processor seconds of a publication in a fresh environment and in one that was used before.

A fresh environment has an empty folder for compiled kernels; in the other, ``discreet warm-up`` was
run. Bytecode is cached in both.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import Figure
from benchmarks.full_domain import data_folder
from benchmarks.workloads import adult_workload

REPETITIONS = 5
FRESH = {400: 3.0, 3000: 5.0, 30_000: 12.0}  # rows: processor seconds that are allowed
WARM = {400: 0.8}
AUDIT = 0.6
DISEASES = ("asthma", "cold", "flu", "gout", "hepatitis", "migraine", "sprain", "ulcer")
JOBS = ("clerk", "cook", "driver", "farmer", "nurse", "teacher")
SYMPTOMS = ("ache", "chills", "cough", "fatigue", "fever", "itch", "nausea", "rash")
K_ANONYMITY = {"k-anonymity": {"k": 4}}
DIVERSITY = {"distinct-l-diversity": {"l": 3, "attribute": "disease"}}

# Parameters and requirements of each method.
JOB_OF_METHOD: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "full-domain": ({"suppression": 0.05}, [K_ANONYMITY, DIVERSITY]),
    "mondrian": ({}, [K_ANONYMITY, DIVERSITY]),
    "local-recoding": ({}, [K_ANONYMITY, DIVERSITY]),
    "msa-diversity": ({}, [{"m-diversity": {"l": 3}}]),
    "decomposition": ({"primary": "disease", "l": {"disease": 3, "job": 3, "income": 3}}, []),
    "anatomy": ({"l": 3}, []),
    "codip": ({"alpha": 0.5, "beta": 0.3}, [K_ANONYMITY, {"t-closeness": {"t": 0.4}}]),
    "quasi-sensitive": (
        {"nodes": 1000},
        [{"k-anonymity": {"k": 3}}, {"qs-t-closeness": {"t": 0.4, "attribute": "symptoms"}}],
    ),
    "m-invariance": ({"m": 3}, []),
    "rho-different": ({"rho": 0.5, "correlation": "odds.csv"}, []),
    "li-ye": ({"alpha_qi": 3, "alpha_sa": 3}, []),
    "gal": ({"l": 3}, []),
    "mmdcf": ({"l": 3}, []),
}
ONE_SENSITIVE = ("anatomy", "quasi-sensitive", "m-invariance", "rho-different")


def results(quick: bool) -> Iterator[Figure]:
    """Fresh and warm publications by every method, and audits of what they publish."""
    repetitions = 1 if quick else REPETITIONS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows, limit in FRESH.items():
            for method in JOB_OF_METHOD:
                job = write_job(folder, method, rows)
                yield _figure(
                    f"fresh publish, {method}", rows, limit,
                    [publish(job, fresh=True) for _ in range(repetitions)],
                )  # fmt: skip
                if rows in WARM:
                    _seconds(["warm-up", "--method", method, "--quiet"])
                    yield _figure(
                        f"warm publish, {method}", rows, WARM[rows],
                        [publish(job) for _ in range(repetitions)],
                    )  # fmt: skip
                    yield _figure(
                        f"audit, {method}", rows, AUDIT,
                        [audit(job.parent / "release") for _ in range(repetitions)],
                    )  # fmt: skip
        if data_folder().is_dir():
            yield from _adult(repetitions)


def _adult(repetitions: int) -> Iterator[Figure]:
    workload = adult_workload()
    for method in ("full-domain", "mondrian"):
        job, release = workload.job(method), workload.release(method)
        _seconds(["warm-up", "--method", method, "--quiet"])
        publish(job)
        warm = [publish(job) for _ in range(repetitions)]
        yield _figure(f"warm publish of Adult, {method}", workload.rows, 1.2, warm)
        audits = [audit(release) for _ in range(repetitions)]
        yield _figure(f"audit of Adult, {method}", workload.rows, AUDIT, audits)


def _figure(what: str, rows: int, limit: float, seconds: list[float]) -> Figure:
    middle = statistics.median(seconds)
    return Figure(
        "First release", what, rows, processor=middle, ratio=middle / limit,
        ratio_to=f"{limit:g} s", bound="≤ 1",
    )  # fmt: skip


def publish(job: Path, *, fresh: bool = False) -> float:
    """Publish in a process of its own; returns processor seconds."""
    if "ledger" in json.loads(job.read_text(encoding="utf-8")):
        ledger = job.parent / "people.ledger"
        for part in job.parent.glob("people.ledger*"):
            part.unlink()
        _seconds(["ledger", "init", str(ledger)])
        shutil.rmtree(job.parent / "release", ignore_errors=True)
    return _seconds(["publish", str(job), "--force", "--quiet", "--no-attack"], fresh=fresh)


def audit(release: Path) -> float:
    """Audit a release without its original; returns processor seconds."""
    return _seconds(["audit", str(release), "--quiet"])


def _seconds(arguments: list[str], *, fresh: bool = False) -> float:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # empty: cached as usual
    command = [sys.executable, "-m", "discreet", *arguments]
    with tempfile.TemporaryDirectory() as kernels:
        if fresh:
            environment["NUMBA_CACHE_DIR"] = kernels
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def write_job(parent: Path, method: str, rows: int) -> Path:
    """Write a table of people and a job that publishes it by a method."""
    folder = parent / f"{method}-{rows}"
    folder.mkdir()
    rng = np.random.default_rng(rows)
    columns: dict[str, list[Any]] = {
        "name": [f"P{row}" for row in range(rows)],
        "age": rng.integers(18, 90, rows).tolist(),
        "zip": [f"{10000 + 7 * code}" for code in rng.integers(0, 200, rows)],
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "disease": rng.choice(DISEASES, rows).tolist(),
        "job": rng.choice(JOBS, rows).tolist(),
        "income": (1000 * rng.integers(10, 50, rows)).tolist(),
        "symptoms": ["|".join(rng.permutation(SYMPTOMS)[: 1 + row % 3]) for row in range(rows)],
    }
    _write_csv(folder / "people.csv", list(columns), zip(*columns.values(), strict=True))
    links = [(disease, SYMPTOMS[(place + step) % 8]) for place, disease in enumerate(DISEASES)
             for step in range(3)]  # fmt: skip
    _write_csv(folder / "diseases.csv", ["disease", "symptom"], links)
    odds = [(disease, disease, 0.9) for disease in DISEASES]
    _write_csv(folder / "odds.csv", ["old", "new", "probability"], odds)
    parameters, requirements = JOB_OF_METHOD[method]
    several = "drop" if method in ONE_SENSITIVE else "sensitive"
    attributes: dict[str, dict[str, Any]] = {
        "name": {"role": "identifier"},
        "age": {
            "role": "quasi-identifier", "type": "integer",
            "hierarchy": {"intervals": [5, 10, 20, "*"]},
        },
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "disease": {"role": "drop" if method == "quasi-sensitive" else "sensitive"},
        "job": {"role": several},
        "income": {"role": several, "type": "integer"},
        "symptoms": {"role": "drop"},
    }  # fmt: skip
    job: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "attributes": attributes,
        "requirements": requirements,
        "method": {method: parameters},
        "output": {"path": "release"},
    }
    if method == "quasi-sensitive":
        knowledge = {"path": "diseases.csv", "label": "disease", "term": "symptom"}
        attributes["symptoms"] = {
            "role": "quasi-sensitive", "multi_valued": "|", "knowledge": knowledge,
        }  # fmt: skip
    if method in ("m-invariance", "rho-different"):
        job["ledger"] = {"path": "people.ledger"}
    path = folder / "job.yaml"
    path.write_text(json.dumps(job), encoding="utf-8")  # JSON is YAML
    return path


def _write_csv(path: Path, header: list[str], rows: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
