"""A series of three releases of a million people: time of each, and the size of the ledger.

A tenth of the people leave between two releases, a tenth join. For rho-different a twentieth of the
values change too, and the correlation table says so: each value stays with 0.95, or each with odds
of its own, which leaves more to enumerate. Each row of the result: the method, the release, seconds
from the table's file to the recorded folder (and those of the processor), what the release holds,
and the bytes of the ledger after it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.saving import UNATTACKED

import discreet as dc
from benchmarks.figures import Figure
from discreet.methods.base import Method
from discreet.pipeline.record import open_ledger
from discreet.pipeline.run import make_release

SECTION = "Re-publication: three releases, a tenth of the people leave and join in between"
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


def series(
    method: Method, people: int, updates: float = 0.0, apart: float = 0.0
) -> list[dict[str, Any]]:
    """Publish three releases of a population; ``apart`` is how much the odds of values differ."""
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if isinstance(method, dc.RhoDifferent):
            odds = "".join(
                f"{code},{code},{1 - updates - apart * code}\n" for code in range(VALUES)
            )
            (folder / "odds.csv").write_text("old,new,probability\n" + odds)
            method = method.model_copy(update={"correlation": str(folder / "odds.csv")})
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
            start, worked = time.perf_counter(), time.process_time()
            with open_ledger(job) as ledger, ledger.writing():
                release = make_release(None, job, seed=number, ledger=ledger)
                release.save(folder / f"r{number}", report=False, ledger=ledger, **UNATTACKED)
            seconds = time.perf_counter() - start
            processor = time.process_time() - worked
            found.append(
                {
                    "method": method.name,
                    "people": len(frame),
                    "updates": updates,
                    "release": number,
                    "seconds": seconds,
                    "processor": processor,
                    "method_seconds": release.private["timings"]["method"],
                    "counterfeits": release.manifest.method.counterfeits,
                    "held_back": release.manifest.method.held_back,
                    "ledger_bytes": (folder / "people.ledger").stat().st_size,
                }
            )
    return found


def results(quick: bool) -> Iterator[Figure]:
    """A line for each release, and what the third costs beside the first."""
    people = 100_000 if quick else 1_000_000
    series(dc.MInvariance(m=4), 1000)  # compile
    series(dc.RhoDifferent(rho=0.5), 200, updates=0.05)
    for method, updates, apart in (
        (dc.MInvariance(m=4), 0.0, 0.0),
        (dc.MInvariance(m=4), 0.05, 0.0),
        (dc.RhoDifferent(rho=0.5), 0.05, 0.0),
        (dc.RhoDifferent(rho=0.5), 0.05, 0.001),
    ):
        name = f"{method.name}, {updates:.0%} of the values change"
        name += ", each by its own odds" if apart else ""
        rows = series(method, people, updates, apart)
        for row in rows:
            yield Figure(
                SECTION, f"{name}: release {row['release']}", row["people"],
                seconds=row["seconds"], processor=row["processor"],
                ratio=row["ledger_bytes"] / 1e6, ratio_to="a ledger of 1 MB",
            )  # fmt: skip
        yield Figure(
            SECTION, f"{name}: the third", people, ratio_to="the first, processor time",
            ratio=rows[-1]["processor"] / rows[0]["processor"], bound="≤ 3",
        )  # fmt: skip
