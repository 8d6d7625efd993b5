"""Processor seconds of a publication in a fresh environment and in one that was used before.

A fresh environment has an empty folder for compiled kernels; in the other, ``discreet warm-up`` was
run. Bytecode is cached in both. Tables of 30,000 rows stand for Adult where a method needs
attributes that Adult lacks.
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
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.saving import ACCEPTING

from benchmarks.figures import Figure
from benchmarks.full_domain import data_folder
from benchmarks.workloads import FOLDER, adult_workload

REPETITIONS = 5
FRESH = {400: 3.0, 3000: 5.0, 30_000: 12.0}  # rows: processor seconds that are allowed
LARGE = 20.0  # a million rows
WARM = {400: 0.8}
ADULT = 1.2  # warm
AUDIT = 0.6
DEMO = 12.0
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
}
ONE_SENSITIVE = ("anatomy", "quasi-sensitive", "m-invariance", "rho-different")


@dataclass(frozen=True)
class Measurement:
    """One figure to be found: a command, and the processor seconds that it may take."""

    what: str
    rows: int
    limit: float
    seconds: Callable[[], float]  # runs the command once

    @property
    def key(self) -> str:
        return f"{self.what}, {self.rows} rows"


def results(quick: bool) -> Iterator[Figure]:
    """Fresh and warm publications by every method, audits of what they publish, the demo.

    All are measured once, then all a second time, and so on. Runs of the same source are kept in
    ``.benchmarks``, so that the part can be stopped and started again.
    """
    with tempfile.TemporaryDirectory() as name:
        measurements = [*_tables(Path(name)), *_adult(), _demo(Path(name))]
        kept = _Kept()
        for repetition in range(1 if quick else REPETITIONS):
            for one in measurements:
                if len(kept.runs(one)) <= repetition:
                    kept.add(one, one.seconds())
    for one in measurements:
        yield _figure(one, kept.runs(one))


class _Kept:
    """The runs of this source, in a file that is written after each."""

    def __init__(self) -> None:
        tree = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD:src"]
        self._source = subprocess.run(tree, capture_output=True, text=True, check=True).stdout[:12]
        FOLDER.mkdir(exist_ok=True)
        self._path = FOLDER / f"first-release-{self._source}.jsonl"
        self._runs: dict[str, list[float]] = defaultdict(list)
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                key, seconds = json.loads(line)
                self._runs[key].append(seconds)

    def runs(self, one: Measurement) -> list[float]:
        """Processor seconds of the runs so far."""
        return self._runs[one.key]

    def add(self, one: Measurement, seconds: float) -> None:
        """Keep a run, and print it."""
        self._runs[one.key].append(seconds)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([one.key, seconds]) + "\n")
        print(f"  {one.key}: {seconds:.2f} of {one.limit:g} s", flush=True)


def _tables(folder: Path) -> Iterator[Measurement]:
    """Tables of people by every method, the small one in a warm environment too."""
    for rows, limit in FRESH.items():
        for method in JOB_OF_METHOD:
            job = write_job(folder, method, rows)
            fresh = partial(publish, job, fresh=True)
            yield Measurement(f"fresh publish, {method}", rows, limit, fresh)
            if rows in WARM:
                warm = partial(_warm, method, partial(publish, job))
                yield Measurement(f"warm publish, {method}", rows, WARM[rows], warm)
                audited = partial(audit, job, job.parent / "release")
                yield Measurement(f"audit, {method}", rows, AUDIT, audited)


def _adult() -> Iterator[Measurement]:
    if not data_folder().is_dir():
        print("  Adult left out: name the folder of the real data in DISCREET_DATA")
        return
    small, large = adult_workload(), adult_workload(1_000_000)
    for method in ("full-domain", "mondrian"):
        warm = partial(_warm, method, partial(publish, small.job(method)))
        yield Measurement(f"warm publish of Adult, {method}", small.rows, ADULT, warm)
        audited = partial(audit, small.job(method), small.release(method))
        yield Measurement(f"audit of Adult, {method}", small.rows, AUDIT, audited)
    for method in ("full-domain", "mondrian", "local-recoding"):
        fresh = partial(publish, large.job(method), fresh=True)
        yield Measurement(f"fresh publish of Adult resampled, {method}", large.rows, LARGE, fresh)


def _demo(folder: Path) -> Measurement:
    arguments = ["demo", str(folder / "demo")]

    def seconds() -> float:
        shutil.rmtree(folder / "demo", ignore_errors=True)
        return _seconds(arguments, fresh=True)

    return Measurement("discreet demo, fresh", 3000, DEMO, seconds)


@cache
def _warmed_up(method: str) -> float:
    return _seconds(["warm-up", "--method", method, "--quiet"])


def _warm(method: str, seconds: Callable[[], float]) -> float:
    """Run a command once the kernels of a method are in the cache."""
    _warmed_up(method)
    return seconds()


def _figure(one: Measurement, runs: list[float]) -> Figure:
    middle = statistics.median(runs)
    few = "" if len(runs) >= REPETITIONS else f" ({len(runs)} of {REPETITIONS} runs)"
    return Figure(
        "First release", one.what + few, one.rows, processor=middle, ratio=middle / one.limit,
        ratio_to=f"{one.limit:g} s", bound="≤ 1",
    )  # fmt: skip


def publish(job: Path, *, fresh: bool = False) -> float:
    """Publish in a process of its own; returns processor seconds."""
    if "ledger" in json.loads(job.read_text(encoding="utf-8")):
        ledger = job.parent / "people.ledger"
        for part in job.parent.glob("people.ledger*"):
            part.unlink()
        _seconds(["ledger", "init", str(ledger)])
        shutil.rmtree(job.parent / "release", ignore_errors=True)
    return _seconds(
        ["publish", str(job), "--force", "--quiet", "--no-attack", *ACCEPTING], fresh=fresh
    )


def audit(job: Path, release: Path) -> float:
    """Audit the release of a job without its original; returns processor seconds."""
    if not release.is_dir():
        publish(job)
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
