"""A process that publishes release after release to a ledger until it is killed.

It imports everything once and forks for each line of stdin, so that a hundred kills are cheap.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import numpy as np
import polars as pl

import discreet as dc
from discreet.api.publish import publish
from discreet.pipeline.record import open_ledger

ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi-identifier", "type": "integer"},
    "disease": {"role": "sensitive"},
}


def table(number: int, people: int = 24) -> pl.DataFrame:
    """The same people in every release but for a few."""
    draw = random.Random(number)
    here = [person for person in range(people) if draw.random() < 0.9]
    return pl.DataFrame(
        {
            "name": [f"P{person}" for person in here],
            "age": [20 + person for person in here],
            "disease": ["abcdef"[person % 6] for person in here],
        }
    )


def job_of(settings: dict[str, object]) -> dc.Job:
    return dc.Job(
        attributes=ATTRIBUTES,
        method=dc.MInvariance(m=2),
        ledger=dc.LedgerSettings.model_validate(settings),
    )


def publish_next(job: dc.Job, folder: Path) -> int:
    """Publish the release that is due, and tell its number."""
    with open_ledger(job) as ledger:
        ledger.settled()
        number = len(ledger.entries()) + 1
    release = publish(table(number), job)
    release.save(folder / f"r{number}", report=False, attack=None, accept_risk="A test.")
    return number


def warm_up() -> None:
    """Load the kernels, but start no thread that a fork would lose."""
    from tests.tables import coded_table

    from discreet.methods.base import Past, Task
    from discreet.table.past_releases import History

    cells = {"age": list(range(12)), "disease": list("abcdef" * 2)}
    coded = coded_table(cells, "qs")
    history = History((), np.arange(12, dtype=np.int32), 12, tuple("abcdef"))
    rng = np.random.default_rng(0)
    dc.MInvariance(m=2).run(Task(coded, {}, (), rng, past=Past(history)))


def main() -> None:
    warm_up()
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child:
            sys.stdout.write(f"{child}\n")
            sys.stdout.flush()
            os.waitpid(child, 0)
            sys.stdout.write("ended\n")
            sys.stdout.flush()
            continue
        try:
            job, folder = job_of(order["ledger"]), Path(order["folder"])
            for _ in range(order["releases"]):
                publish_next(job, folder)
                (folder / "at-work").touch()
        finally:
            os._exit(0)


if __name__ == "__main__":
    main()
