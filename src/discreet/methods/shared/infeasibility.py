"""What to say where no release meets the requirements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.errors import InfeasibleError
from discreet.requirements.base import Domains, Requirement
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts

NOTHING_LEFT = (
    "Asking for 1 would exclude nothing: leave the attribute out, or use mondrian with t-closeness,"
    " which compares with the whole table."
)


def infeasible(
    said: str,
    requirements: Sequence[Requirement],
    best: ClassCounts,
    domains: Domains,
    remedies: Sequence[str] = (),
    note: str = "",
) -> InfeasibleError:
    """The error that says which requirement fails even in the best attempt, and by how much.

    ``best`` holds the counts of the attempt in which every figure is at its best. What it reaches
    is recommended beside the ``remedies`` only where it protects something.
    """
    failures: list[dict[str, object]] = []
    sentences = []
    useless = False
    for requirement in requirements:
        verdict = requirement.check(best, domains)
        if verdict.holds:
            continue
        asked = requirement.parameters()
        vacuous = protects_nothing(requirement, verdict.achieved, best, domains)
        useless |= vacuous
        failures.append(
            {
                "requirement": requirement.name,
                "parameters": asked,
                "achieved": verdict.achieved,
                "feasible": {} if vacuous else verdict.achieved,
            }
        )
        reached = ", ".join(f"{name} = {figure:g}" for name, figure in verdict.achieved.items())
        wanted = ", ".join(f"{name} = {value}" for name, value in asked.items())
        nothing = ", which protects nothing" if vacuous else ""
        sentences.append(f"{requirement.name} ({wanted}) reaches {reached} there at best{nothing}")
    return InfeasibleError(
        f"{said}: {'; '.join(sentences)}. {note}{advice(remedies, useless=useless)}", failures
    )


def advice(remedies: Sequence[str], *, useless: bool) -> str:
    """Return what to do: ask for less where that protects anything, or one of the remedies."""
    first = "leave the attribute out" if useless else "ask for at most that"
    joined = ", or ".join([first, *remedies])
    return f"{joined[0].upper()}{joined[1:]}."


def protects_nothing(
    requirement: Requirement,
    achieved: Mapping[str, float],
    counts: ClassCounts,
    domains: Domains,
) -> bool:
    """Whether classes of single rows reach a figure too: the requirement then excludes nothing."""
    name, smaller_is_better = requirement.figure
    if name not in achieved:
        return False
    worst = max if smaller_is_better else min
    figures = [
        float(figure)
        for attribute in requirement.attributes(counts)
        for single in counts.single_rows(attribute)
        for figure in requirement.figures(single, domains, attribute)
    ]
    if not figures:
        return False
    single_rows = worst(figures)
    if smaller_is_better:
        return single_rows <= achieved[name]
    return single_rows >= achieved[name]


def nothing_by_default(method: str, columns: Sequence[Column]) -> InfeasibleError:
    """The error where the default ℓ would be 1, because one value fills most of the rows."""
    named = " and ".join(f"'{column.name}'" for column in columns)
    return InfeasibleError(
        f"{method}: one value fills more than half of the rows of {named}, so the default"
        f" l = l_per = 1 would protect nothing. Leave the attribute out, or use mondrian with"
        f" t-closeness. To publish it without protection, state l = 1 for it under method.{method}."
    )
