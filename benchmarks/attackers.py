"""Attackers who know few of many columns: how long top-down and its audit take, and what is lost.

The table is a survey that we make: yes or no, five answers and numbers, which follow from four
traits of each person, and a sensitive attribute that follows from the first. Processor time, one
run each. Other sizes, such as any 3 of 150 columns, which takes minutes:
``python -m benchmarks.attackers 100000 150 3``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from benchmarks.figures import Figure
from discreet.pipeline.run import make_release, prove_release

SECTION = "Attackers who know few of many columns (processor seconds, one run each)"
FIVE = {"low": ["1", "2"], "middle": ["3"], "high": ["4", "5"]}


def survey(rows: int, columns: int, seed: int = 1) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A survey and the attributes of its job."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(rows, 4))
    data: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    for number in range(columns):
        name, sort = f"q{number}", number % 5
        score = traits @ (0.6 * rng.normal(size=4)) + rng.normal(size=rows)
        quasi: dict[str, Any] = {"role": "quasi-identifier"}
        if sort < 2:
            data[name] = np.where(score > 0.7 * rng.normal(), "yes", "no")
            attributes[name] = quasi | {"hierarchy": "suppress"}
        elif sort < 4:
            cuts = np.quantile(score, [0.05, 0.3, 0.7, 0.9])
            data[name] = (1 + np.searchsorted(cuts, score)).astype(str)
            attributes[name] = quasi | {"hierarchy": {"tree": FIVE}}
        else:
            data[name] = np.clip(50 + 15 * score, 0, 99).astype(int)
            levels = {"intervals": [10, 20, 40, "*"]}
            attributes[name] = quasi | {"type": "integer", "hierarchy": levels}
    illness = np.searchsorted(
        [-1.2, -0.3, 0.4, 1.1, 2.0], traits[:, 0] + 1.5 * rng.normal(size=rows)
    )
    data["illness"] = np.array(list("abcdef"))[illness]
    return pl.DataFrame(data), attributes | {"illness": {"role": "sensitive"}}


def results(quick: bool) -> Iterator[Figure]:
    """The figures: growth in columns and in L, then loss beside k-anonymity over all columns."""
    rows = 20_000 if quick else 100_000
    for columns, length in ((30, 2), (30, 3)) if quick else ((50, 2), (50, 3), (150, 2)):
        yield from _published(rows, columns, length)
    for columns in (10, 20) if quick else (10, 20, 50):
        yield from _losses(20_000, columns)


def _published(rows: int, columns: int, length: int) -> Iterator[Figure]:
    asked = {"lkc-privacy": {"l": length, "k": 5, "c": 0.8}}
    what = f"any {length} of {columns} columns, k = 5, C = 0.8, top-down"
    begin = time.perf_counter()
    made, proved, loss = _measured(rows, columns, asked, "top-down")
    seconds = time.perf_counter() - begin
    yield Figure(SECTION, what, rows, seconds, processor=made + proved, loss=loss)
    yield Figure(SECTION, "of it audit and loss", rows, processor=proved)


def _losses(rows: int, columns: int) -> Iterator[Figure]:
    for what, known, method in (
        ("for any 2", {"any": 2}, "top-down"),
        ("for any 3", {"any": 3}, "top-down"),
        ("over all columns", {"any": columns}, "top-down"),
        ("over all columns", {"any": columns}, "mondrian"),
    ):
        asked = {"k-anonymity": {"k": 5, "attackers": {"one": known}}}
        made, _, loss = _measured(rows, columns, asked, method)
        named = f"{columns} columns, k = 5 {what}, {method}"
        yield Figure(SECTION, named, rows, processor=made, loss=loss)


def _measured(
    rows: int, columns: int, requirement: dict[str, Any], method: str
) -> tuple[float, float, float]:
    """The processor time of making and of proving a release, and its information loss."""
    frame, attributes = survey(rows, columns)
    job = dc.Job(
        attributes=attributes,
        requirements=[requirement],
        method=method,
        measure={"figures": ["loss"]},
    )
    begin = time.process_time()
    release = make_release(frame, job, seed=1)
    made = time.process_time()
    prove_release(release)
    return made - begin, time.process_time() - made, release.private["utility"]["loss"]


if __name__ == "__main__":
    for figure in _published(*map(int, sys.argv[1:4])):
        print(figure.what, figure.rows, f"{figure.processor:.1f} s", figure.loss, flush=True)
