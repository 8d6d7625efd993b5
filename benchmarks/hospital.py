"""Hospitals' tables of 100,000 encounters: publish, attack, audit with the original, compare.

One table is that of ``examples/encounters``; the other, ``discharges``, has the shape of the 130 US
hospitals' diabetes encounters: seven quasi-identifiers and four sensitive attributes, two of them
with 719 values. Every command is a process of its own; what is asked for is processor time, with
kernels in their cache.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.saving import ACCEPTING

from benchmarks.figures import Figure, Run, run
from benchmarks.workloads import FOLDER

SECTION = "A hospital's encounters: attack, audit with the original, compare"
MAKER = Path(__file__).resolve().parent.parent / "examples" / "encounters" / "make_encounters.py"
PATIENTS = 70_000  # who have 100,148 encounters
ATTACK_SECONDS, QUICK_SECONDS, AUDIT_SECONDS = 8, 2, 2
COMPARED = "≤ 3"
SUPPRESS = {"role": "quasi-identifier", "hierarchy": "suppress"}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "admitted": {
        "role": "quasi-identifier",
        "type": "date",
        "hierarchy": {"dates": ["month", "quarter", "year", "*"]},
    },
    "patient_nbr": {"role": "drop"},
    "age": SUPPRESS,
    "sex": SUPPRESS,
    "postcode": {"role": "quasi-identifier", "type": "text", "hierarchy": {"mask": "right"}},
    "diagnosis": {"role": "sensitive"},
    "drug": {"role": "sensitive"},
}
CLASSES = [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 2}}]
METHODS: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "mondrian": ("mondrian", CLASSES),
    "local-recoding": ("local-recoding", CLASSES),
    "full-domain": ({"full-domain": {"suppression": 0.02}}, CLASSES),
    "codip": ("codip", CLASSES),
    "msa-diversity": ("msa-diversity", [{"m-diversity": {"l": 2}}]),
    "decomposition": ("decomposition", []),
}

DISCHARGES = 101_766
DISCHARGE_METHODS = ("mondrian", "local-recoding", "decomposition")
DISCHARGE_VALUES = {  # quasi-identifiers, then sensitive attributes: how many values each has
    "age": 10, "race": 6, "gender": 3, "admission": 8, "discharge": 26, "days": 14,
    "specialty": 73, "diagnosis": 719, "second": 719, "medication": 4, "readmitted": 3,
}  # fmt: skip
DISCHARGE_QUASI = 7


def discharges(rows: int, seed: int = 1) -> tuple[Path, dict[str, dict[str, Any]]]:
    """Write a table of discharges; return it with its attributes. Values are skewed and linked."""
    path = FOLDER / f"discharges-{rows}.csv"
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=rows)
    made: dict[str, Any] = {}
    for number, (name, values) in enumerate(DISCHARGE_VALUES.items()):
        share = 1 / np.arange(1, values + 1) ** (1 if values > 20 else 0.7)
        score = rng.normal(size=rows) + trait * (0.3 + 0.1 * (number % 3))
        rank = np.argsort(np.argsort(score)) / rows
        code = np.searchsorted(np.cumsum(share / share.sum()), rank)
        if name in ("age", "days"):
            made[name] = code
        else:
            made[name] = [f"{name[0]}{one:03}" for one in np.minimum(code, values - 1)]
    pl.DataFrame(made).write_csv(path)
    roles = ["quasi-identifier"] * DISCHARGE_QUASI + ["sensitive"] * 4
    return path, {n: {"role": role} for n, role in zip(DISCHARGE_VALUES, roles, strict=True)}


def results(quick: bool) -> Iterator[Figure]:
    """The processor seconds of each command on the release of each method."""
    patients = PATIENTS // 10 if quick else PATIENTS
    table = FOLDER / f"encounters-{patients}.csv"
    FOLDER.mkdir(exist_ok=True)
    with table.open("wb") as target:
        subprocess.run([sys.executable, MAKER, str(patients)], stdout=target, check=True)
    rows = table.read_bytes().count(b"\n") - 1
    published = 0.0
    for name in METHODS:
        job, release = _job(table, name)
        made = _best("publish", job, "--force", "--no-attack", *ACCEPTING)
        published += made.processor
        yield _figure(f"{name}: publish", rows, made)
        yield from _judged(name, rows, release, job)
    yield from _discharges(DISCHARGES // 10 if quick else DISCHARGES)
    job, _ = _job(table, "mondrian")
    compared = run(_command("compare", job, "--methods", ",".join(METHODS)))
    yield _figure(
        "compare of all", rows, compared,
        ratio=compared.processor / published, ratio_to="all publishes", bound=COMPARED,
    )  # fmt: skip


def _discharges(rows: int) -> Iterator[Figure]:
    table, attributes = discharges(rows)
    for name in DISCHARGE_METHODS:
        job, release = _job(table, name, attributes)
        what = f"discharges, {name}"
        yield _figure(
            f"{what}: publish", rows, _best("publish", job, "--force", "--no-attack", *ACCEPTING)
        )
        yield from _judged(what, rows, release, job)


def _judged(what: str, rows: int, release: str, job: str) -> Iterator[Figure]:
    """Attack and audit a release with the original."""
    for command, options, most in (
        ("attack", (), ATTACK_SECONDS),
        ("attack", ("--quick",), QUICK_SECONDS),
        ("audit", (), AUDIT_SECONDS),
    ):
        done = _best(command, release, "--original", job, *options)
        yield _figure(
            f"{what}: {' '.join((command, '--original', *options))}", rows, done,
            ratio=done.processor / most, ratio_to=f"{most} s", bound="≤ 1",
        )  # fmt: skip


def _job(
    table: Path, name: str, attributes: dict[str, dict[str, Any]] = ATTRIBUTES
) -> tuple[str, str]:
    """Write the job of a method; return its path and that of its release."""
    method, requirements = METHODS[name]
    release = table.with_name(f"{table.stem}-{name}")
    job = {
        "source": {"path": str(table)},
        "attributes": attributes,
        "unit": "rows",
        "requirements": requirements,
        "method": method,
        "output": {"path": str(release)},
    }
    path = release.with_suffix(".yaml")
    path.write_text(json.dumps(job), encoding="utf-8")  # JSON is YAML
    return str(path), str(release)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "discreet", *words, "--quiet"]


def _best(*words: str) -> Run:
    """The better of two runs, as the first may compile."""
    return min((run(_command(*words)) for _ in range(2)), key=lambda done: done.processor)


def _figure(what: str, rows: int, done: Run, **ratio: Any) -> Figure:
    return Figure(SECTION, what, rows, done.seconds, done.processor, done.memory, **ratio)
