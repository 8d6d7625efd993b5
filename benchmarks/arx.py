"""discreet beside ARX: the whole job, read, full-domain search and write, each as a process.

``ARX_JAR`` names a jar of ARX 3.9 with its dependencies; a JDK compiles the program that calls it
(``peers/FullDomainByArx.java``). Without either the comparison is left out with the reason. Our job
also audits what it wrote, measures it and writes a report.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, Run, RunError, run
from benchmarks.full_domain import SEVEN, data_folder
from benchmarks.whole_path import publish
from benchmarks.workloads import Workload, adult_workload

SECTION = "ARX: full-domain, k = 5 and distinct ℓ = 3"
PROGRAM = Path(__file__).resolve().parent / "peers" / "FullDomainByArx.java"
VARIABLE = "ARX_JAR"


def results(quick: bool) -> Iterator[Figure]:
    """Both programs on the same files, one after the other."""
    missing = why_not()
    if missing is not None:
        yield Figure(SECTION, f"left out: {missing}", 0)
        return
    sizes = (None, 100_000) if quick else (None, 100_000, 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        try:
            run([_path("javac"), "-cp", os.environ[VARIABLE], "-d", folder, str(PROGRAM)])
            for size in sizes:
                yield from _compare(adult_workload(size), Path(folder))
        except RunError as failure:
            yield Figure(SECTION, f"left out: {failure}", 0)


def why_not() -> str | None:
    """Return why ARX cannot be run here; None where it can."""
    jar = os.environ.get(VARIABLE)
    if jar is None:
        return f"{VARIABLE} is not set to the path of a jar of ARX"
    if not Path(jar).is_file():
        return f"{VARIABLE}: {jar} is not a file"
    absent = [program for program in ("java", "javac") if shutil.which(program) is None]
    return f"{', '.join(absent)} not found; install a JDK" if absent else None


def _path(program: str) -> str:
    return shutil.which(program) or program


def _compare(workload: Workload, folder: Path) -> Iterator[Figure]:
    theirs = min((_arx(workload, folder) for _ in range(2)), key=lambda done: done.seconds)
    ours, loss = publish(workload, "full-domain")
    large = workload.rows == 1_000_000
    yield Figure(
        SECTION, "ARX", workload.rows, theirs.seconds, theirs.processor, theirs.memory
    )  # fmt: skip
    yield Figure(
        SECTION, "discreet publish", workload.rows, ours.seconds, ours.processor, ours.memory,
        loss, theirs.seconds / ours.seconds, "times as fast as ARX", "≥ 3" if large else "",
    )  # fmt: skip


def _arx(workload: Workload, folder: Path) -> Run:
    program = [_path("java"), "-cp", f"{os.environ[VARIABLE]}{os.pathsep}{folder}", PROGRAM.stem]
    hierarchies = data_folder() / "adult" / "arx-form"
    target = folder / "recoded.csv"
    files = [str(workload.path), str(target), str(hierarchies)]
    return run([*program, *files, "5", "3", "occupation", "salary-class", *SEVEN])
