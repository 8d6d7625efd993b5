"""The memory of ``discreet audit --original``, beside that of the publish.

Adult's rows repeat, and cells of full classes hardly overlap; in the hard table nearly every row
differs and cells overlap, so that rows are matched by a greatest flow.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.saving import ACCEPTING

from benchmarks.figures import Figure, run
from benchmarks.workloads import Workload, adult_workload, hard_workload

SECTION = "Memory of `discreet audit --original`, mondrian"
GREATEST = "≤ 2"


def results(quick: bool) -> Iterator[Figure]:
    """Two and ten million rows of Adult, one and three of the hard table; ``quick`` a tenth."""
    share = 10 if quick else 1
    for workload in (
        *(adult_workload(rows // share) for rows in (2_000_000, 10_000_000)),
        *(hard_workload(rows // share) for rows in (1_000_000, 3_000_000)),
    ):
        yield from _audited(workload)


def _audited(workload: Workload) -> Iterator[Figure]:
    """Publish a workload, and audit its release against the original."""
    job, release = str(workload.job("mondrian")), str(workload.release("mondrian"))
    command = [sys.executable, "-m", "discreet"]
    publish = [*command, "publish", job, "--force", "--quiet", "--no-attack", *ACCEPTING]
    published = run(publish, timeout=3600)
    audited = run([*command, "audit", release, "--original", job, "--quiet"], timeout=3600)
    for what, done in (("publish", published), ("audit", audited)):
        yield Figure(
            SECTION, f"{workload.name}: {what}", workload.rows, done.seconds, done.processor,
            done.memory, ratio=done.memory / published.memory if done is audited else None,
            ratio_to="the publish's memory" if done is audited else "",
            bound=GREATEST if done is audited else "",
        )  # fmt: skip
