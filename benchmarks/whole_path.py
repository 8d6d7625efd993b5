"""``discreet publish`` as a process: reading, method, writing, audit of what was written.

Attacks for the private report are left out: they have a time limit of their own.

The floor is what any program needs that reads a CSV file and writes one like it: Polars' streaming
copy of the same file. Methods that are not there (yet) are passed over with a word about it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.saving import ACCEPTING

from benchmarks.figures import Figure, Run, RunError, run
from benchmarks.workloads import FOLDER, Workload, adult_workload
from discreet.methods.registry import METHODS

SECTION = "Whole path: `discreet publish`, k = 5 and distinct ℓ = 3"
METHOD_BOUNDS = {"mondrian": "≤ 6", "local-recoding": "≤ 6", "full-domain": "≤ 4"}
COPY = """
import sys, polars
polars.scan_csv(sys.argv[1], infer_schema=False).sink_csv(sys.argv[2])
"""
GREATEST_MEMORY = "≤ 6"
GREATEST_GROWTH = "≤ 12"
LARGE = 10_000_000


def results(quick: bool) -> Iterator[Figure]:
    """Every workload with every method, beside the copy of the same file."""
    present = set(METHODS)
    for method in METHOD_BOUNDS:
        if method not in present:
            print(f"  {method}: not among the methods, passed over")
    methods = [method for method in METHOD_BOUNDS if method in present]
    sizes = (100_000, 1_000_000) if quick else (1_000_000, LARGE)
    yield from _workload(adult_workload(), methods, None)
    before: dict[str, float] = {}
    for size in sizes:
        before = yield from _workload(adult_workload(size), methods, before or None)


def _workload(
    workload: Workload, methods: Sequence[str], smaller: dict[str, float] | None
) -> Generator[Figure, None, dict[str, float]]:
    """The figures of one workload; returned are the seconds of each method."""
    floor = copy_floor(workload)
    yield _figure(f"{workload.name}: copy", workload, floor)
    seconds: dict[str, float] = {}
    large = workload.rows == LARGE
    for method in methods:
        try:
            published, loss = publish(workload, method)
        except RunError as failure:
            print(f"  {workload.name}, {method}: {failure}")
            continue
        what = f"{workload.name}: {method}"
        seconds[method] = published.seconds
        floor = min(floor, copy_floor(workload), key=lambda done: done.seconds)
        yield replace(
            _figure(what, workload, published),
            loss=loss,
            ratio=published.seconds / floor.seconds,
            ratio_to="the copy",
            bound=METHOD_BOUNDS[method] if large else "",
        )
        ratios = [(published.processor / floor.processor, "the copy, processor time", "")]
        if smaller and method in smaller:
            asked = GREATEST_GROWTH if large else ""
            ratios.append((published.seconds / smaller[method], "a tenth of the rows", asked))
        if large:
            ratios.append((published.memory, "1 GB", GREATEST_MEMORY))
        for ratio, to, asked in ratios:
            yield Figure(SECTION, what, workload.rows, ratio=ratio, ratio_to=to, bound=asked)
    return seconds


def _figure(what: str, workload: Workload, done: Run) -> Figure:
    return Figure(SECTION, what, workload.rows, done.seconds, done.processor, done.memory)


def copy_floor(workload: Workload) -> Run:
    """The copy of a workload's file by Polars."""
    target = FOLDER / "copy.csv"
    command = [sys.executable, "-c", COPY, str(workload.path), str(target)]
    best = _best(command, workload)
    target.unlink()
    return best


def _best(command: Sequence[str], workload: Workload) -> Run:
    """The best of three runs, as the first may compile; large tables come late and run once."""
    times = 1 if workload.rows == LARGE else 3
    return min((run(command) for _ in range(times)), key=lambda done: done.seconds)


def publish(
    workload: Workload, method: str, requirements: Sequence[Mapping[str, Any]] | None = None
) -> tuple[Run, float]:
    """Publish a workload; also the loss."""
    job = str(workload.job(method, requirements))
    command = [
        sys.executable,
        "-m",
        "discreet",
        "publish",
        job,
        "--force",
        "--json",
        "--quiet",
        *ACCEPTING,
    ]
    command.append("--no-attack")  # up to a minute for the private report
    best = _best(command, workload)
    return best, json.loads(best.output)["private"]["utility"]["loss"]
