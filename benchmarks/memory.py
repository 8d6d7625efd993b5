"""The greatest memory of ``discreet publish`` on one machine, and the largest table that fits.

Adult's rows, sampled to ten million and repeated: nine columns, CSV to CSV. Other sizes, as the
largest that a machine takes: ``python -m benchmarks.memory mondrian 100000000``.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.saving import ACCEPTING

from benchmarks.figures import Figure, Run, run
from benchmarks.workloads import FOLDER, PROMISE, Workload, adult_workload

SECTION = "Memory of one machine: `discreet publish`, nine columns"
REQUIREMENTS: dict[str, list[dict[str, Any]]] = {
    "mondrian": PROMISE,
    "full-domain": PROMISE,
    "decomposition": [{"sa-diversity": {"l": {"occupation": 3}}}],
}
REPEATED = 10_000_000
LARGE = 30_000_000
GREATEST = "≤ 6"  # GB at 30 million rows
GROWTH = f"≤ {1.1 * LARGE / REPEATED:.1f}"  # linear
MOST = 0.85  # of the machine's memory; the rest is the system's


def results(quick: bool) -> Iterator[Figure]:
    """Ten and thirty million rows by each method; ``quick`` takes a tenth."""
    sizes = (100_000, 300_000) if quick else (REPEATED, LARGE)
    for method in REQUIREMENTS:
        before = 0.0
        for rows in sizes:
            done = published(method, rows)
            large = rows == LARGE
            yield Figure(
                SECTION, method, rows, done.seconds, done.processor, done.memory,
                ratio=done.memory, ratio_to="1 GB", bound=GREATEST if large else "",
            )  # fmt: skip
            if before:
                yield Figure(
                    SECTION, f"{method}, growth", rows, ratio=done.memory / before,
                    ratio_to="a third of the rows", bound=GROWTH if large else "",
                )  # fmt: skip
            slope = (done.memory - before) / (rows - sizes[0]) if before else 0.0
            before = done.memory
        if method == "mondrian" and not quick:
            yield _largest(method, before, slope)
    _remove(LARGE)


def _largest(method: str, memory: float, slope: float) -> Figure:
    """The largest table for this machine's memory, foretold from the growth and then published."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    rows = LARGE + int((MOST * machine - memory) / slope) // REPEATED * REPEATED
    done = published(method, rows)
    _remove(rows)
    return Figure(
        SECTION, f"{method}, the largest table for {machine:.0f} GB", rows, done.seconds,
        done.processor, done.memory, ratio=done.memory / machine, ratio_to="the machine's memory",
    )  # fmt: skip


def _remove(rows: int) -> None:
    for path in FOLDER.glob(f"repeated-{rows}*"):
        path.unlink() if path.is_file() else shutil.rmtree(path)


def published(method: str, rows: int) -> Run:
    """Publish that many rows in a process of its own."""
    job = str(repeated(rows).job(method, REQUIREMENTS[method]))
    command = [sys.executable, "-m", "discreet", "publish", job, "--force", "--quiet", *ACCEPTING]
    return run([*command, "--no-attack"], timeout=3600)


def repeated(rows: int) -> Workload:
    """Adult resampled to ten million rows, as often as that many rows need."""
    if rows <= REPEATED:
        return adult_workload(rows)
    source = adult_workload(REPEATED)
    path = FOLDER / f"repeated-{rows}.csv"
    if not path.exists():
        with path.open("wb") as target, source.path.open("rb") as lines:
            target.write(lines.readline())
            begin = lines.tell()
            for _ in range(rows // REPEATED):
                lines.seek(begin)
                shutil.copyfileobj(lines, target, 1 << 24)
    return replace(source, name="Adult repeated", rows=rows, path=path)


if __name__ == "__main__":
    done = published(sys.argv[1], int(float(sys.argv[2])))
    print(f"{done.memory:.2f} GB, {done.seconds:.0f} s, {done.processor:.0f} processor s")
