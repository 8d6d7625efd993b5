"""What to say where no release meets the requirements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.errors import InfeasibleError
from discreet.requirements.base import (
    AttributeRequirement,
    Domain,
    Domains,
    Requirement,
    codes_of,
)
from discreet.requirements.diversity import Diversity
from discreet.requirements.judge import shown_parameters
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.typing import Bools

NOTHING_LEFT = (
    "Less would exclude nothing: drop the attribute (analysts lose it), or use mondrian with"
    " t-closeness, which compares with the whole table."
)


def infeasible(
    said: str,
    requirements: Sequence[Requirement],
    best: ClassCounts,
    domains: Domains,
    remedies: Sequence[str] = (),
    note: str = "",
    *,
    spares: bool = True,
) -> InfeasibleError:
    """The error that says which requirement fails even in the best attempt, and by how much.

    ``best`` holds the counts of the attempt in which every figure is at its best. It names the
    attributes that fail with the share of their most frequent value, never the value, and changes
    that would make it feasible with their cost, beside the method's ``remedies``. ``spares``:
    whether the method can spare values that are not sensitive.
    """
    failures: list[dict[str, object]] = []
    sentences = []
    facts: dict[str, str] = {}
    changes: list[str] = []
    for requirement in requirements:
        verdict = requirement.check(best, domains)
        if verdict.holds:
            continue
        members = "persons" if _overlap(best) else "rows"
        asked = shown_parameters(requirement)
        vacuous = protects_nothing(requirement, verdict.achieved, best, domains)
        failing = _failing(requirement, best, domains)
        shares = {
            name: _largest_share(best.values[name], best.rows, requirement, domains[name])
            for name in failing
        }
        failures.append(
            {
                "requirement": requirement.name,
                "parameters": asked,
                "achieved": verdict.achieved,
                "feasible": {} if vacuous else verdict.achieved,
                "largest_shares": shares,
            }
        )
        reached = ", ".join(f"{name} = {figure:g}" for name, figure in verdict.achieved.items())
        wanted = ", ".join(f"{name} = {value}" for name, value in asked.items())
        nothing = ", which protects nothing" if vacuous else ""
        sentences.append(f"{requirement.name} ({wanted}) reaches {reached} there at best{nothing}")
        facts |= {name: _fact(name, share, members, requirement) for name, share in shares.items()}
        if isinstance(requirement, Diversity) and requirement.counts_sensitive_rows:
            weaker = requirement.model_copy(update={"ruled_out": None})
            if weaker.check(best, domains).holds:
                changes.append(
                    f"remove 'ruled_out' from {requirement.name} (attackers who rule out harmless "
                    "values are then not bounded)"
                )
        changes += _changes(
            requirement, verdict.achieved, shares, domains, vacuous=vacuous, spares=spares
        )
    named = list(facts)[:NAMED]
    more = f" The same holds for {len(facts) - NAMED} more." if len(facts) > NAMED else ""
    shown = "".join(f"{facts[name]} " for name in named).strip() + more
    listed = "; or ".join(dict.fromkeys([*changes, *remedies])) or "publish more rows at once"
    return InfeasibleError(
        f"{said}: {'; '.join(sentences)}. {note}{shown}{' ' if shown else ''}"
        f"To make it feasible: {listed}.",
        failures,
    )


NAMED = 3  # attributes that a message names


def _failing(requirement: Requirement, best: ClassCounts, domains: Domains) -> list[str]:
    """The sensitive attributes for which a requirement fails."""
    return [
        name
        for name in requirement.attributes(best)
        if name in best.values and not requirement.judge(best, domains, name).all()
    ]


def _covers(requirement: Requirement, domain: Domain) -> Bools:
    """(values,) The values that a requirement covers: all but those that are not sensitive."""
    covered = np.ones(len(domain.values), bool)
    covered[codes_of(domain, requirement.coverage.spared)] = False
    return covered


def _fact(name: str, share: float, members: str, requirement: Requirement) -> str:
    value = "sensitive value" if requirement.coverage.spared else "value"
    among = f"{members} with a sensitive value" if _of_sensitive_rows(requirement) else members
    return f"One {value} of '{name}' fills {share:.1%} of the {among}."


def _of_sensitive_rows(requirement: Requirement) -> bool:
    return isinstance(requirement, Diversity) and requirement.counts_sensitive_rows


def _overlap(counts: ClassCounts) -> bool:
    """Whether members have several values: they are persons with several rows."""
    return any(int(one.count.sum()) > counts.rows for one in counts.values.values())


def _largest_share(
    values: ValueCounts, members: int, requirement: Requirement, domain: Domain
) -> float:
    """The largest share of rows with one value that is covered, or of persons who have it."""
    counts = np.bincount(values.value, values.count, values.cardinality)
    counts = counts[_covers(requirement, domain)]
    if _of_sensitive_rows(requirement):
        members = int(counts.sum())
    return int(counts.max(initial=0)) / max(members, 1)


def _changes(
    requirement: Requirement,
    achieved: Mapping[str, float],
    shares: Mapping[str, float],
    domains: Domains,
    *,
    vacuous: bool,
    spares: bool,
) -> list[str]:
    """Up to three changes that would make a requirement feasible, each with its cost."""
    changes = []
    if not vacuous and achieved:
        rounded = (
            np.ceil if requirement.algebra.smaller_is_better else np.floor
        )  # towards what is feasible
        less = ", ".join(
            f"{name} = {rounded(figure * 1000) / 1000:.12g}" for name, figure in achieved.items()
        )
        changes.append(f"ask {requirement.name} for at most that, {less} (weaker protection)")
    if not shares:
        return changes
    names = _listed(list(shares))
    if isinstance(requirement, AttributeRequirement):
        gone = max(_rows_to_go(requirement, domains[name], share) for name, share in shares.items())
        if gone > 0:
            value = "sensitive value" if requirement.coverage.spared else "value"
            changes.append(
                f"leave out at least {gone:.1%} of the rows, of the most frequent {value} of "
                f"{names} (they are not published)"
            )
    first = next(iter(shares))
    if spares and requirement.sparing({first: (None,)}, list(shares)) != [requirement]:
        changes.append(
            f"name the most frequent value of {names} under 'non_sensitive_values', if it is no "
            "secret (it may then be disclosed)"
        )
    if vacuous and not requirement.algebra.against_table:
        changes.append(
            f"require t-closeness of {names} instead (a group may then tell little more than the "
            "whole table, which still shows what is common)"
        )
    return [*changes[:2], f"drop {names} (analysts lose it)"]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(f"'{name}'" for name in names[:NAMED]) + more


def _rows_to_go(requirement: AttributeRequirement, domain: Domain, share: float) -> float:
    """The least share of rows without which a value's share is within the requirement's bound."""
    bounds = requirement.share_bound(np.full(len(domain.values), share), domain)
    bound = float(bounds[_covers(requirement, domain)].min(initial=np.inf))
    if requirement.algebra.against_table or _of_sensitive_rows(requirement):
        return 0.0
    if not np.isfinite(bound) or bound >= 1 or share <= bound:
        return 0.0
    return (share - bound) / (1 - bound)


def advice(remedies: Sequence[str], *, useless: bool) -> str:
    """Return what to do: ask for less where that protects anything, or one of the remedies."""
    first = "drop the attribute (analysts lose it)" if useless else "ask for at most that"
    joined = ", or ".join([first, *remedies])
    return f"{joined[0].upper()}{joined[1:]}."


def protects_nothing(
    requirement: Requirement,
    achieved: Mapping[str, float],
    counts: ClassCounts,
    domains: Domains,
) -> bool:
    """Whether classes of single rows reach a figure too: the requirement then excludes nothing."""
    name, smaller_is_better = requirement.algebra.figure, requirement.algebra.smaller_is_better
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


def nothing_by_default(method: str, columns: Sequence[tuple[Column, Bools]]) -> InfeasibleError:
    """The error where the default ℓ would be 1: one sensitive value fills most of the rows.

    ``columns`` are the attributes with their sensitive values.
    """
    named = " and ".join(
        f"'{column.name}' "
        f"({column.counts[sensitive].max(initial=0) / max(column.counts.sum(), 1):.1%})"
        for column, sensitive in columns
    )
    return InfeasibleError(
        f"{method}: one sensitive value fills more than half of the rows of {named}, so that no l "
        "above 1 is feasible for it by default. To make it feasible: name that value under "
        "'non_sensitive_values', if it is no secret (it may then be disclosed); or drop the "
        "attribute (analysts lose it); or use mondrian with t-closeness (a group may then tell "
        "little more than the whole table)."
    )
