"""A wide table: 150 columns, 30 of them quasi-identifiers and four sensitive.

Columns follow a few hidden traits of each person, as those of a survey do: rows resemble each
other, but nearly every combination of quasi-identifiers occurs once. Every command is a process of
its own, with kernels in their cache. Of Studio, the answers that a user waits for, by the clock.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.saving import ACCEPTING
from tests.studio.served import Client, served

from benchmarks.figures import Figure, OutOfTimeError, Run, run
from benchmarks.whole_path import copy_floor
from benchmarks.workloads import FOLDER, Workload

SECTION = "A wide table: 150 columns, 30 quasi-identifiers, 4 sensitive attributes"
ROWS, COLUMNS = 100_000, 150
NUMBERS, QUASI, SENSITIVE = 6, 30, 4
VALUES = 12  # at most, of a category
TRAITS = 4  # hidden, of each person
CLASSES = [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 2}}]
METHODS: dict[str, list[dict[str, Any]]] = {
    "mondrian": CLASSES,
    "local-recoding": CLASSES,
    "msa-diversity": [{"m-diversity": {"l": 2}}],
    "decomposition": [{"sa-diversity": {"l": {f"c{n}": 2 for n in range(30, 34)}}}],
}
SECONDS = "≤ 10"  # of processor time for each command
CLUSTERING = "≤ 30"  # for publishing by local recoding
LONGEST = 280.0
ANSWER = "≤ 2"  # seconds of Studio for what a click asks
REPORT = "≤ 2"  # MB


def wide_workload(rows: int) -> Workload:
    """Numbers and categories as quasi-identifiers, then sensitive, then insensitive columns."""
    path = FOLDER / f"wide-{rows}.csv"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        _write(path, rows)
    attributes: dict[str, dict[str, Any]] = {}
    for number in range(COLUMNS):
        role = "insensitive"
        if number < QUASI + SENSITIVE:
            role = "quasi-identifier" if number < QUASI else "sensitive"
        attributes[f"c{number}"] = {"role": role}
        if number < NUMBERS:
            attributes[f"c{number}"]["type"] = "integer"
    return Workload("wide", rows, path, attributes, CLASSES)


def _write(path: Path, rows: int, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(rows, TRAITS))
    made: dict[str, Any] = {}
    for number in range(COLUMNS):
        score = traits @ rng.normal(size=TRAITS) / 2 + rng.normal(size=rows)
        if number < NUMBERS:
            made[f"c{number}"] = (50 + 12 * score).round().astype(np.int64)
        else:
            values = int(rng.integers(2, VALUES + 1)) if number < QUASI else VALUES
            cuts = np.quantile(score, np.arange(1, values) / values)
            made[f"c{number}"] = np.char.add("v", np.searchsorted(cuts, score).astype(str))
    pl.DataFrame(made).write_csv(path)


def results(quick: bool) -> Iterator[Figure]:
    """Publish, audit, measure and attack by each method, beside the copy of the file."""
    table = wide_workload(ROWS // 10 if quick else ROWS)
    floor = copy_floor(table)
    yield Figure(SECTION, "copy", table.rows, floor.seconds, floor.processor, floor.memory)
    for method, requirements in METHODS.items():
        job, release = str(table.job(method, requirements)), str(table.release(method))
        for what, words in {
            "publish, with its report": ("publish", job, "--force", "--no-attack", *ACCEPTING),
            "audit": ("audit", release),
            "audit --original": ("audit", release, "--original", job),
            "measure": ("measure", release, "--original", job),
            "attack": ("attack", release, "--original", job),
        }.items():
            try:
                done = _best(*words)
            except OutOfTimeError as failure:
                print(f"  {method}, {what}: {failure}")
                continue
            clusters = method == "local-recoding" and words[0] == "publish"
            bound = CLUSTERING if clusters else SECONDS
            yield Figure(
                SECTION, f"{method}: {what}", table.rows, done.seconds, done.processor,
                done.memory, ratio=done.processor, ratio_to="1 s", bound=bound,
            )  # fmt: skip
        size = (table.release(method) / "report.html").stat().st_size / 1e6
        yield Figure(
            SECTION, f"{method}: the report", table.rows, ratio=size, ratio_to="1 MB", bound=REPORT
        )
    yield from _studio(table)


def _studio(table: Workload) -> Iterator[Figure]:
    quasi = [name for name, of in table.attributes.items() if of["role"] == "quasi-identifier"]
    job = {
        "attributes": table.attributes,
        "requirements": CLASSES,
        "method": {"mondrian": {}},
        "output": {"path": "release"},
    }

    def ended(client: Client, kind: str) -> None:
        given = {"kind": kind, "job": job, **({"attack": None} if kind == "publish" else {})}
        client.done(client.post("/api/tables/t1/runs", given)["run"])

    asked: dict[str, Callable[[Client], object]] = {
        "open the table": lambda client: client.post("/api/tables", {"path": str(table.path)}),
        "show it": lambda client: client.get("/api/tables/t1"),
        "propose roles": lambda client: client.get("/api/tables/t1/proposal"),
        "risk of 30": lambda client: client.post("/api/tables/t1/risk", {"quasi": quasi}),
        "feasibility": lambda client: client.post("/api/tables/t1/feasibility", {"job": job}),
        "preview": lambda client: ended(client, "preview"),
        "publish": lambda client: ended(client, "publish"),
    }
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as running:
        client = running.sign_in()
        for what, ask in asked.items():
            started = time.perf_counter()
            ask(client)
            seconds = time.perf_counter() - started
            bound = SECONDS if what in ("open the table", "preview", "publish") else ANSWER
            yield Figure(
                SECTION, f"Studio: {what}", table.rows, seconds, ratio=seconds, ratio_to="1 s",
                bound=bound,
            )  # fmt: skip


def _best(*words: str) -> Run:
    """The better of two runs, as the first may compile."""
    command = [sys.executable, "-m", "discreet", *words, "--quiet"]
    return min((run(command, LONGEST) for _ in range(2)), key=lambda done: done.processor)
