"""Decomposition on Adult's paper columns: method time, growth, noise; the whole path, with anatomy.

The table is the paper's: the 30 162 complete rows among the first 32 561 of Adult with five
quasi-identifiers and four sensitive attributes, or rows sampled from it. ``numeric`` adds a fifth
sensitive attribute in which nearly every row has a value of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from benchmarks.figures import Figure
from benchmarks.full_domain import data_folder
from benchmarks.whole_path import copy_floor, publish
from benchmarks.workloads import FOLDER, Workload, adult_workload
from discreet.io.frames import code_frame
from discreet.methods.base import Task
from discreet.methods.decomposition.decomposition import Decomposition
from discreet.table.roles import ColumnSpec, Role

SECTION = "Decomposition: four sensitive attributes of Adult"
QUASI_IDENTIFIERS = ("age", "fnlwgt", "marital-status", "race", "sex")
SENSITIVE = ("occupation", "education", "hours-per-week", "relationship")
SOURCE_ROWS = 32_561
METHOD_SECONDS = 0.5
LARGE = 10_000_000
GREATEST_RATIO = "≤ 5"  # to the copy, in processor time
GREATEST_MEMORY = "≤ 2"  # GB at ten million rows, so that thirty million fit into 6
ANATOMY = [{"distinct-l-diversity": {"l": 3, "attribute": "occupation"}}]


def paper_adult() -> pl.DataFrame:
    """The table of the paper."""
    frame = pl.read_csv(data_folder() / "adult" / "adult.csv", infer_schema=False)[:SOURCE_ROWS]
    complete = frame.filter(~pl.any_horizontal(pl.all() == "?"))
    return complete.select(*QUASI_IDENTIFIERS, *SENSITIVE)


def sampled(rows: int, *, numeric: bool = False, seed: int = 1) -> pl.DataFrame:
    """That many rows of it, drawn with replacement."""
    rng = np.random.default_rng(seed)
    frame = paper_adult()
    frame = frame[rng.integers(0, len(frame), rows)]
    if numeric:
        frame = frame.with_columns(pl.Series("income", rng.integers(0, 4 * rows, rows)))
    return frame


def task(frame: pl.DataFrame, seed: int = 0) -> Task:
    """A task on such a table."""
    role = dict.fromkeys(QUASI_IDENTIFIERS, Role.QUASI_IDENTIFIER)
    specs = {name: ColumnSpec(role.get(name, Role.SENSITIVE)) for name in frame.columns}
    return Task(code_frame(frame, specs), {}, (), np.random.default_rng(seed))


def method_seconds(
    frame: pl.DataFrame, parameters: Mapping[str, Any], repetitions: int = 3
) -> tuple[float, dict[str, Any]]:
    """The least time of several runs on a coded table, and the facts of the last."""
    made = task(frame)
    method = Decomposition(**parameters)
    seconds = []
    for _ in range(repetitions):
        started = time.perf_counter()
        outcome = method.run(made)
        seconds.append(time.perf_counter() - started)
    return min(seconds), outcome.facts


def results(quick: bool) -> Iterator[Figure]:
    """Method time and growth, noise beside the paper's, and the whole path."""
    adult = paper_adult()
    seconds, _ = method_seconds(adult, {})
    yield Figure(
        SECTION, "method on Adult, l_pri = 7", len(adult), seconds,
        ratio=seconds / METHOD_SECONDS, ratio_to="0.5 s", bound="≤ 1",
    )  # fmt: skip
    yield from _noise(adult)
    sizes = (10_000, 100_000) if quick else (100_000, 1_000_000)
    for numeric in (False, True):
        yield from _growth(sizes, numeric)
    whole = (100_000, 1_000_000) if quick else (1_000_000, LARGE)
    yield from _whole_path("decomposition", [workload(rows) for rows in whole])
    adult_tables = [replace(adult_workload(rows), requirements=ANATOMY) for rows in whole]
    yield from _whole_path("anatomy", adult_tables)


def _noise(adult: pl.DataFrame) -> Iterator[Figure]:
    two = adult.drop("hours-per-week", "relationship")
    for primary, education, most in ((3, 3, 100), (4, 3, 10), (5, 3, 10), (5, 5, 4733)):
        asked = {"l": {"occupation": primary, "education": education}, "beyond_permissible": True}
        _, facts = method_seconds(two, asked, 1)
        yield Figure(
            SECTION, f"noise values at l_pri/l_education = {primary}/{education}", len(two),
            ratio=facts["noise_values"], ratio_to="one value", bound=f"≤ {most}",
        )  # fmt: skip


def _growth(sizes: tuple[int, int], numeric: bool) -> Iterator[Figure]:
    asked: dict[str, Any] = {"primary": "occupation"}
    if numeric:
        asked["l"] = {"income": 7}
    before = 0.0
    for rows in sizes:
        seconds, _ = method_seconds(sampled(rows, numeric=numeric), asked, 2)
        name = "method, a numeric attribute beside" if numeric else "method"
        growth = seconds / before if before else None
        yield Figure(
            SECTION, f"{name}, growth from n to 10 n" if growth else name, rows, seconds,
            ratio=growth, ratio_to="a tenth of the rows" if growth else "",
            bound="≤ 12" if growth else "",
        )  # fmt: skip
        before = seconds


def workload(rows: int) -> Workload:
    """The sampled table in a file."""
    path = FOLDER / f"adult-four-sensitive-{rows}.csv"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        sampled(rows).write_csv(path)
    attributes: dict[str, dict[str, Any]] = {
        name: {"role": "quasi-identifier"} for name in QUASI_IDENTIFIERS
    }
    attributes |= {name: {"role": "sensitive"} for name in SENSITIVE}
    ell = {"occupation": 7, "education": 3, "hours-per-week": 2, "relationship": 2}
    return Workload("Adult, four sensitive", rows, path, attributes, [{"sa-diversity": {"l": ell}}])


def _whole_path(method: str, tables: Sequence[Workload]) -> Iterator[Figure]:
    before = 0.0
    for table in tables:
        floor = copy_floor(table)
        published, _ = publish(table, method)
        floor = min(floor, copy_floor(table), key=lambda done: done.processor)
        rows, what = table.rows, f"discreet publish, {method}"
        yield Figure(
            SECTION, f"copy, {method}", rows, floor.seconds, floor.processor, floor.memory
        )  # fmt: skip
        yield Figure(
            SECTION, what, rows, published.seconds, published.processor, published.memory,
            ratio=published.processor / floor.processor, ratio_to="the copy, processor time",
            bound=GREATEST_RATIO if rows >= 1_000_000 else "",
        )  # fmt: skip
        if before:
            yield Figure(
                SECTION, f"{what}, growth from n to 10 n", rows,
                ratio=published.processor / before, ratio_to="a tenth of the rows", bound="≤ 12",
            )  # fmt: skip
        if rows == LARGE:
            yield Figure(
                SECTION, f"{what}, memory", rows,
                ratio=published.memory, ratio_to="1 GB", bound=GREATEST_MEMORY,
            )  # fmt: skip
        before = published.processor
