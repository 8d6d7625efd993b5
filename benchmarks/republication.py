"""A series of three releases of a million people: time of each, and the size of the ledger.

A tenth of the people leave between two releases, a tenth join. Each row of the result: the method,
the release, seconds from the table's file to the recorded folder, what the release holds, and the
bytes of the ledger after it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from benchmarks.figures import Figure
from discreet.algorithms.method import Method
from discreet.publishing import make_release
from discreet.recording import open_ledger

VALUES = 20


def tables(people: int, releases: int, updates: float = 0.0) -> Iterator[pl.DataFrame]:
    """The tables of a made-up population."""
    rng = np.random.default_rng(0)
    weight = 1 / (np.arange(VALUES) + 8.0)
    weight /= weight.sum()
    person = np.arange(people)
    value = rng.choice(VALUES, people, p=weight)
    known = people
    for _ in range(releases):
        draw = np.random.default_rng(1)
        age = draw.integers(18, 90, known)[person]
        zip_code = draw.integers(0, 1000, known)[person]
        yield pl.DataFrame(
            {
                "name": pl.Series(person).cast(pl.String),
                "age": age,
                "zip": zip_code,
                "disease": pl.Series(value).cast(pl.String),
            }
        )
        stay = rng.random(len(person)) >= 0.1
        person, value = person[stay], value[stay]
        changes = rng.random(len(value)) < updates
        value = np.where(changes, rng.choice(VALUES, len(value), p=weight), value)
        joining = people // 10
        person = np.append(person, np.arange(known, known + joining))
        value = np.append(value, rng.choice(VALUES, joining, p=weight))
        known += joining


def series(method: Method, people: int, updates: float = 0.0) -> list[dict[str, Any]]:
    """Publish three releases of a population."""
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = dc.LedgerSettings(path=folder / "people.ledger").located(folder)
        with dc.Ledger.create(settings):
            pass
        for number, frame in enumerate(tables(people, 3, updates), 1):
            frame.write_csv(folder / "people.csv")
            job = dc.Job(
                source={"path": folder / "people.csv"},
                attributes={
                    "name": {"role": "identifier"},
                    "age": {"role": "quasi-identifier", "type": "integer"},
                    "zip": {"role": "quasi-identifier", "type": "integer"},
                    "disease": {"role": "sensitive"},
                },
                method=method,
                ledger=settings,
            )
            start = time.perf_counter()
            with open_ledger(job) as ledger, ledger.writing():
                release = make_release(None, job, seed=number, ledger=ledger)
                release.save(folder / f"r{number}", report=False, ledger=ledger)
            seconds = time.perf_counter() - start
            results.append(
                {
                    "method": method.name,
                    "people": len(frame),
                    "updates": updates,
                    "release": number,
                    "seconds": seconds,
                    "method_seconds": release.private["timings"]["method"],
                    "counterfeits": release.manifest.method.counterfeits,
                    "held_back": release.manifest.method.held_back,
                    "ledger_bytes": (folder / "people.ledger").stat().st_size,
                }
            )
    return results


def results(people: int = 1_000_000) -> list[dict[str, Any]]:
    """m-invariance on all people, ρ-different on a twentieth of them."""
    series(dc.MInvariance(m=4), 1000)  # compile
    series(dc.RhoDifferent(rho=0.5), 200, updates=0.05)
    return [
        *series(dc.MInvariance(m=4), people),
        *series(dc.MInvariance(m=4), people, updates=0.05),
        *series(dc.RhoDifferent(rho=0.5), people // 20, updates=0.05),
    ]


def figures(quick: bool) -> Iterator[Figure]:
    """A line for each release of each series."""
    for row in results(100_000 if quick else 1_000_000):
        what = (
            f"{row['method']}, {row['updates']:.0%} updates, release {row['release']}: "
            f"{row['counterfeits']:,} counterfeits"
        )
        yield Figure("Re-publication", what, row["people"], row["seconds"])


def main() -> None:
    """Print the results for a million people, or as many as the first argument says."""
    for row in results(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000):
        print(
            f"{row['method']:14} {row['people']:>9,} people, {row['updates']:.0%} updates, release "
            f"{row['release']}: {row['seconds']:7.2f} s (method {row['method_seconds']:.2f}), "
            f"{row['counterfeits']:,} counterfeits, {row['held_back']:,} held back, ledger "
            f"{row['ledger_bytes'] / 1e6:.1f} MB"
        )


if __name__ == "__main__":
    main()
