"""``discreet publish`` as a process: reading, method, writing, audit of what was written.

The floor is what any program needs that reads a CSV file and writes one like it: Polars' streaming
copy of the same file. Methods that are not there (yet) are passed over with a word about it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.figures import Figure, Run, RunError, run
from benchmarks.workloads import FOLDER, Workload, adult_workload, hard_workload
from discreet.algorithms.catalog import METHODS

SECTION = "Whole path: `discreet publish`, k = 5 and distinct ℓ = 3"
METHOD_BOUNDS = {"mondrian": "≤ 6", "local-recoding": "≤ 6", "full-domain": "≤ 4"}
COPY = """
import sys, polars
polars.scan_csv(sys.argv[1], infer_schema=False).sink_csv(sys.argv[2])
"""
GREATEST_MEMORY = 6.0  # GB
GREATEST_GROWTH = "≤ 12"
LARGE = 10_000_000


def results(quick: bool) -> Iterator[Figure]:
    """Every workload with every method, beside the copy of the same file."""
    present = {method.name for method in METHODS}
    for method in METHOD_BOUNDS:
        if method not in present:
            print(f"  {method}: not among the methods, passed over")
    methods = [method for method in METHOD_BOUNDS if method in present]
    sizes = (100_000, 1_000_000) if quick else (1_000_000, LARGE)
    yield from _workload(adult_workload(), methods, None)
    before: dict[str, float] = {}
    for size in sizes:
        before = yield from _workload(adult_workload(size), methods, before or None)
    hard = hard_workload(100_000 if quick else 1_000_000)
    yield from _workload(hard, [m for m in methods if m != "full-domain"], None)


def _workload(
    workload: Workload, methods: Sequence[str], smaller: dict[str, float] | None
) -> Generator[Figure, None, dict[str, float]]:
    """The figures of one workload; returned are the seconds of each method."""
    floor = copy_floor(workload)
    yield Figure(SECTION, f"{workload.name}: copy", workload.rows, floor.seconds, floor.memory)
    seconds: dict[str, float] = {}
    for method in methods:
        try:
            published, loss = publish(workload, method)
        except RunError as failure:
            print(f"  {workload.name}, {method}: {failure}")
            continue
        seconds[method] = published.seconds
        asked = METHOD_BOUNDS[method] if workload.rows == LARGE else ""
        yield Figure(
            SECTION, f"{workload.name}: {method}", workload.rows, published.seconds,
            published.memory, loss, published.seconds / floor.seconds, "the copy", asked,
        )  # fmt: skip
        if smaller and method in smaller:
            growth = published.seconds / smaller[method]
            asked = GREATEST_GROWTH if workload.rows == LARGE else ""
            yield Figure(
                SECTION, f"{workload.name}: {method}, growth from n to 10 n", workload.rows,
                ratio=growth, ratio_to="a tenth of the rows", bound=asked,
            )  # fmt: skip
        if workload.rows == LARGE:
            yield Figure(
                SECTION, f"{workload.name}: {method}, memory in GB", workload.rows,
                ratio=published.memory, ratio_to="1 GB", bound=f"≤ {GREATEST_MEMORY:g}",
            )  # fmt: skip
    return seconds


def copy_floor(workload: Workload) -> Run:
    """The copy of a workload's file by Polars; the better of two."""
    target = FOLDER / "copy.csv"
    command = [sys.executable, "-c", COPY, str(workload.path), str(target)]
    best = min((run(command) for _ in range(2)), key=lambda done: done.seconds)
    target.unlink()
    return best


def publish(
    workload: Workload, method: str, requirements: Sequence[Mapping[str, Any]] | None = None
) -> tuple[Run, float]:
    """Publish a workload; the better of two runs (the first may compile), and the loss."""
    job = str(workload.job(method, requirements))
    command = [sys.executable, "-m", "discreet", "publish", job, "--force", "--json", "--quiet"]
    best = min((run(command) for _ in range(2)), key=lambda done: done.seconds)
    return best, json.loads(best.output)["utility"]["loss"]
