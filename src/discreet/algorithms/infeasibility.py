"""What to say where no release meets the requirements."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.data.counts import ClassCounts
from discreet.errors import InfeasibleError
from discreet.models.requirement import Domains, Requirement


def infeasible(
    said: str,
    requirements: Sequence[Requirement],
    best: ClassCounts,
    domains: Domains,
    advice: str,
) -> InfeasibleError:
    """The error that says which requirement fails even in the best attempt, and by how much.

    ``best`` holds the counts of the attempt in which every figure is at its best.
    """
    failures: list[dict[str, object]] = []
    sentences = []
    for requirement in requirements:
        verdict = requirement.check(best, domains)
        if verdict.holds:
            continue
        asked = requirement.parameters()
        failures.append(
            {
                "requirement": requirement.name,
                "parameters": asked,
                "achieved": verdict.achieved,
                "feasible": verdict.achieved,
            }
        )
        reached = ", ".join(f"{name} = {figure:g}" for name, figure in verdict.achieved.items())
        wanted = ", ".join(f"{name} = {value}" for name, value in asked.items())
        sentences.append(f"{requirement.name} ({wanted}) reaches {reached} there at best")
    return InfeasibleError(f"{said}: {'; '.join(sentences)}. {advice}", failures)
