"""Hard tables and searches: nearly distinct tuples, groups that need repair, costs of classes.

Whole publications are processes, beside Polars' copy of the same file; searches are the method
alone, kernels compiled. All seconds that are compared are of the processor.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.figures import Figure, Run
from benchmarks.full_domain import NINE, SEVEN, adult, task
from benchmarks.whole_path import copy_floor, publish
from benchmarks.workloads import hard_workload
from discreet.methods.base import Generalized, Method, Task
from discreet.methods.full_domain.full_domain import FullDomain
from discreet.methods.local_recoding.local_recoding import LocalRecoding
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import EntropyLDiversity
from discreet.requirements.k_anonymity import KAnonymity

SECTION = "Hard tables and searches"
RATIOS = {"mondrian": "≤ 8", "local-recoding": "≤ 20"}  # to the copy, a million rows
GREATEST_GROWTH = "≤ 12"  # to ten times the rows


def results(quick: bool) -> Iterator[Figure]:
    """Publications of the hard table, then searches on Adult."""
    yield from _publications((100_000,) if quick else (1_000_000, 10_000_000))
    yield from _repairs(30_162 if quick else 1_000_000)
    yield from _class_costs()


def _publications(sizes: tuple[int, ...]) -> Iterator[Figure]:
    smaller: dict[str, float] = {}
    for rows in sizes:
        workload = hard_workload(rows)
        floor = copy_floor(workload)
        yield _figure("hard: copy", rows, floor)
        for method, asked in RATIOS.items():
            done, loss = publish(workload, method)
            of_copy = done.processor / floor.processor
            bound = asked if rows == 1_000_000 else ""
            yield _figure(f"hard: {method}", rows, done, loss, of_copy, "the copy", bound)
            if method in smaller:
                growth = done.processor / smaller[method]
                yield Figure(
                    SECTION, f"hard: {method}", rows, ratio=growth,
                    ratio_to="a tenth of the rows", bound=GREATEST_GROWTH,
                )  # fmt: skip
            smaller[method] = done.processor


def _figure(
    what: str,
    rows: int,
    done: Run,
    loss: float | None = None,
    ratio: float | None = None,
    ratio_to: str = "",
    bound: str = "",
) -> Figure:
    return Figure(
        SECTION, what, rows, done.seconds, done.processor, done.memory, loss, ratio, ratio_to, bound
    )


def _repairs(rows: int) -> Iterator[Figure]:
    """Local recoding under requirements that groups meet only after repair."""
    frame = adult(None if rows == 30_162 else rows)
    for name, requirement, limit in (
        ("t = 0.2", TCloseness(t=0.2, attribute="occupation"), 4.0),
        ("entropy ℓ = 3", EntropyLDiversity(l=3, attribute="occupation"), 1.5),
    ):
        made = task(frame, SEVEN, [KAnonymity(k=5), requirement])
        seconds, outcome = _best(LocalRecoding(), made)
        yield Figure(
            SECTION, f"local-recoding, {name}", rows, processor=seconds,
            loss=outcome.facts["loss"], ratio=seconds / limit, ratio_to=f"{limit:g} s", bound="≤ 1",
        )  # fmt: skip


def _class_costs() -> Iterator[Figure]:
    """Full-domain searches whose costs are known only once a node is examined."""
    made = task(adult(), NINE, [KAnonymity(k=5)])
    for minimize in ("class-size", "discernibility"):
        method = FullDomain(suppression=0.05, minimize=minimize)
        seconds, outcome = _best(method, made)
        facts = outcome.facts
        what = f"full-domain, {minimize}, 9 attributes, 5 % suppressed"
        what += f" ({facts['nodes_examined']} of {facts['nodes']} nodes)"
        yield Figure(
            SECTION, what, made.table.rows, processor=seconds,
            ratio=seconds / 0.5, ratio_to="0.5 s", bound="≤ 1",
        )  # fmt: skip


def _best(method: Method, made: Task) -> tuple[float, Generalized]:
    """The least processor seconds of some runs, the first of which may compile."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        outcome = method.run(made)
        taken.append(time.process_time() - started)
    assert isinstance(outcome, Generalized)
    return min(taken), outcome
