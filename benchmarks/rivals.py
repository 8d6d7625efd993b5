"""discreet beside what installs from PyPI: anonypy and anjana for methods, pycanon for the audit.

The peers live in an environment of their own, ``.venv-peers``, which is made on first use. Where it
can't be had, the comparison is left out with the reason. Every peer is timed inside its process,
without imports and reading. Our methods are timed likewise; our audit is timed with everything,
reading and hashing the files included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.figures import Figure, OutOfTimeError, RunError, run
from benchmarks.full_domain import SEVEN, data_folder
from benchmarks.whole_path import publish
from benchmarks.workloads import adult_workload
from discreet.job.model import Job
from discreet.methods.base import Method
from discreet.methods.full_domain.full_domain import FullDomain
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.pipeline.prepare import prepare
from discreet.releases.audit.audit import audit_folder

SECTION = "Peers from PyPI"
PACKAGES = ("anonypy", "anjana", "pycanon")
ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv-peers"
PEERS = Path(__file__).resolve().parent / "peers"
PATIENCE = 900.0
FIVE = [
    {"k-anonymity": {"k": 5}},
    {"distinct-l-diversity": {"l": 2, "attribute": "occupation"}},
    {"entropy-l-diversity": {"l": 1.1, "attribute": "occupation"}},
    {"recursive-cl-diversity": {"c": 1000, "l": 2, "attribute": "occupation"}},
    {"t-closeness": {"t": 1, "attribute": "occupation"}},
]


def results(quick: bool) -> Iterator[Figure]:
    """Every peer at a size that it can finish."""
    try:
        python = peers_python()
    except RunError as failure:
        yield Figure(SECTION, f"left out: {failure}", 0)
        return
    for compare in (_mondrian, _full_domain, _audit):
        try:
            yield from compare(python, quick)
        except RunError as failure:
            yield Figure(SECTION, f"{compare.__name__.strip('_')} left out: {failure}", 0)


def peers_python() -> str:
    """The interpreter of the peers' environment, which is made if it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    marker = ENVIRONMENT / ".installed"
    if not marker.exists():
        for command in (
            [sys.executable, "-m", "venv", str(ENVIRONMENT)],
            [str(python), "-m", "pip", "install", "--quiet", *PACKAGES],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                said = done.stderr.strip().splitlines()
                raise RunError(f"their environment can't be made: {said[-1] if said else '?'}")
        marker.touch()
    return str(python)


def versioned(python: str, package: str) -> str:
    """Return the name of a peer with the version that its environment has."""
    script = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return f"{package} {done.stdout.strip()}"


def _mondrian(python: str, quick: bool) -> Iterator[Figure]:
    """Mondrian at k = 5 on Adult, age as a number, all else as categories."""
    rows = 10_000 if quick else 30_000
    workload = adult_workload()
    script = [python, "-W", "ignore", str(PEERS / "anonypy_mondrian.py"), str(workload.path)]
    theirs, memory = _peer_seconds([*script, str(rows), "5", "age", *SEVEN, "occupation"])
    ours, loss = _method_seconds(Mondrian(), rows, hierarchies=False)
    name = versioned(python, "anonypy")
    yield Figure(SECTION, f"{name} Mondrian, k = 5", rows, theirs, memory=memory)
    yield Figure(
        SECTION, "discreet Mondrian, k = 5, without hierarchies", rows, ours, loss=loss,
        ratio=theirs / ours, ratio_to="times faster than anonypy", bound="≥ 500",
    )  # fmt: skip


def _full_domain(python: str, quick: bool) -> Iterator[Figure]:
    """Full-domain at k = 5 with Adult's hierarchies."""
    rows = 10_000 if quick else 30_000
    workload = adult_workload()
    folder = data_folder() / "adult" / "arx-form"
    script = [python, "-W", "ignore", str(PEERS / "anjana_k.py"), str(workload.path)]
    theirs, memory = _peer_seconds([*script, str(rows), "5", str(folder), *SEVEN])
    ours, loss = _method_seconds(FullDomain(), rows, hierarchies=True)
    what = f"{versioned(python, 'anjana')} k-anonymity (first node found), k = 5"
    yield Figure(SECTION, what, rows, theirs, memory=memory)
    yield Figure(
        SECTION, "discreet full-domain (the best node), k = 5", rows, ours, loss=loss,
        ratio=theirs / ours, ratio_to="times faster than anjana",
    )  # fmt: skip


def _audit(python: str, quick: bool) -> Iterator[Figure]:
    """The audit of five promises."""
    workload = adult_workload(100_000 if quick else 1_000_000)
    publish(workload, "mondrian", FIVE)
    release = workload.release("mondrian")
    script = [python, "-W", "ignore", str(PEERS / "pycanon_audit.py")]
    theirs, memory = _peer_seconds([*script, str(release / "records.csv"), "occupation", *SEVEN])
    ours = _least(lambda: audit_folder(release))
    what = f"{versioned(python, 'pycanon')}, k, ℓ, entropy ℓ, (c, ℓ), t"
    yield Figure(SECTION, what, workload.rows, theirs, memory=memory)
    yield Figure(
        SECTION, "discreet audit of the same, reading included", workload.rows, ours,
        ratio=theirs / ours, ratio_to="times faster than pycanon", bound="≥ 20",
    )  # fmt: skip


def _peer_seconds(command: Sequence[str]) -> tuple[float, float | None]:
    """What a peer says it took; where it was stopped, the time until then: it took more."""
    try:
        done = run(command, PATIENCE)
    except OutOfTimeError as stopped:
        print(f"  {command[3]}: {stopped}; it is counted with that time")
        return PATIENCE, None
    return json.loads(done.output)["seconds"], done.memory


def _method_seconds(method: Method, rows: int, *, hierarchies: bool) -> tuple[float, float]:
    """The time of a method alone on Adult's first rows, and its loss."""
    workload = adult_workload()
    attributes = {
        name: {
            **attribute,
            **({"hierarchy": None} if not hierarchies else {}),
            **({"type": "integer"} if name == "age" and not hierarchies else {}),
        }
        for name, attribute in workload.attributes.items()
    }
    job = Job(attributes=attributes, requirements=[{"k-anonymity": {"k": 5}}], method=method)
    task = prepare(job, _head(workload.path, rows))
    seconds = _least(lambda: method.run(task))
    outcome = method.run(task)
    published = outcome.class_of_row[outcome.class_of_row >= 0]
    losses = [column.loss[column.cell_of_class][published] for column in outcome.cells.values()]
    return seconds, float(sum(loss.sum() for loss in losses) / (rows * len(losses)))


def _head(path: Path, rows: int) -> object:
    import polars as pl

    return pl.read_csv(path, n_rows=rows, infer_schema=False)


def _least(work: Callable[[], object], times: int = 5) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
