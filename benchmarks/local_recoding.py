"""Loss, bound and time of local recoding on Adult at k = 5.

Seconds are of the processor, the least of some runs, kernels compiled: the method alone, without
reading and writing. The real data are found through ``DISCREET_DATA``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks.figures import Figure
from benchmarks.full_domain import NINE, SEVEN, adult, task
from discreet.methods.local_recoding.local_recoding import LocalRecoding
from discreet.requirements.base import Requirement
from discreet.requirements.diversity import DistinctLDiversity
from discreet.requirements.k_anonymity import KAnonymity

SECTION = "Local recoding on Adult, k = 5: the method alone, beside the best-known tool"
DIVERSE = DistinctLDiversity(l=3, attribute="occupation")

# effort, quasi-identifiers, further requirements, the tool's loss, seconds that may be taken
CONFIGURATIONS: Sequence[tuple[str, Sequence[str], Sequence[Requirement], float, float | None]] = (
    ("quick", SEVEN, (), 0.0414, 0.24),
    ("good", SEVEN, (), 0.0307, None),
    ("quick", NINE, (), 0.0744, 2.0),
    ("good", NINE, (), 0.0744, None),
    ("quick", SEVEN, (DIVERSE,), 0.0414, None),
)


def results(quick: bool) -> Iterator[Figure]:
    """Every configuration; ``quick`` leaves out those that search."""
    for effort, names, further, reference, seconds in CONFIGURATIONS:
        if quick and effort != "quick":
            continue
        made = task(adult(), names, [KAnonymity(k=5), *further])
        taken = []
        for _ in range(4 if effort == "quick" else 1):
            started = time.process_time()
            outcome = LocalRecoding(effort=effort).run(made)
            taken.append(time.process_time() - started)
        facts = outcome.facts
        what = f"{len(names)} quasi-identifiers, {effort}"
        what += ", distinct ℓ = 3" if further else ""
        yield Figure(
            SECTION,
            f"{what} (bound {facts['lower_bound']:.4f})",
            made.table.rows,
            min(taken),
            loss=facts["loss"],
            ratio=min(taken) / seconds if seconds else facts["loss"] / reference,
            ratio_to="the tool's seconds" if seconds else "the tool's loss",
            bound="≤ 1",
        )


def main() -> None:
    for figure in results(quick=False):
        print(figure.what, f"{figure.seconds:.3f} s, loss {figure.loss:.4f}", sep=": ")


if __name__ == "__main__":
    main()
