"""What the requirements ask of the groups of MSA-diversity, and whether it is feasible at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Task
from discreet.requirements.base import AttributeRequirement
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity, PDiversity
from discreet.requirements.exact_ratios import exact
from discreet.requirements.feasibility import least_suppressed
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import Column


@dataclass(frozen=True)
class Bounds:
    """For each sensitive attribute the ℓ of its 1/ℓ (1 where none is asked), and a least size."""

    ell: tuple[Fraction, ...]
    least: int


def bounds_of(task: Task) -> Bounds:
    """Return what the requirements ask of a group's counts.

    ℓ-pdiversity implies distinct and entropy ℓ-diversity, so those count as it. Any other
    requirement is checked on the outcome.
    """
    sensitive = task.table.sensitive
    if not sensitive:
        raise InputError("msa-diversity: no attribute is sensitive. Give one the role 'sensitive'.")
    ell = {column.name: Fraction(1) for column in sensitive}
    least = 1
    for requirement in task.requirements:
        if isinstance(requirement, KAnonymity):
            least = max(least, requirement.k)
        elif isinstance(requirement, PDiversity | DistinctLDiversity | EntropyLDiversity):
            for name in _spoken_of(requirement, sensitive):
                ell[name] = max(ell[name], exact(requirement.l))
    if max(ell.values()) == 1 and least == 1:
        raise InputError(
            "msa-diversity: no requirement states l. Require p-diversity or m-diversity, for "
            "example 'm-diversity: {l: 3}'."
        )
    whole = max(math.ceil(bound) for bound in ell.values())
    return Bounds(tuple(ell[column.name] for column in sensitive), max(least, whole))


def _spoken_of(requirement: AttributeRequirement, sensitive: Sequence[Column]) -> list[str]:
    return list(requirement.named) or [column.name for column in sensitive]


def require_feasible(task: Task, bounds: Bounds, suppression: float) -> int:
    """Return how many rows must be suppressed at least; InfeasibleError where that is too many."""
    rows = task.table.rows
    counts_of_ell: dict[int, list[NDArray[np.int64]]] = {}
    for column, ell in zip(task.table.sensitive, bounds.ell, strict=True):
        counts_of_ell.setdefault(math.floor(ell), []).append(column.counts)
    least = max(least_suppressed(counts, ell) for ell, counts in counts_of_ell.items())
    if bounds.least > rows:
        least = rows
    if least > suppression * rows + 1e-9 or least == rows:
        raise too_many(task, bounds, None, least, suppression)
    return least


def too_many(
    task: Task, bounds: Bounds, found: int | None, least: int, suppression: float
) -> InfeasibleError:
    rows = task.table.rows
    worst: dict[str, float] = {}
    for column, ell in zip(task.table.sensitive, bounds.ell, strict=True):
        feasible = rows / int(column.counts.max())
        if feasible < ell:
            worst[column.name] = math.floor(feasible * 1000) / 1000
    sentences = [f"msa-diversity: at least {least} of {rows} rows ({least / rows:.1%}) must go"]
    if found is not None:
        sentences[0] += f", and {found} ({found / rows:.1%}) were left without a group"
    sentences[0] += f"; {suppression:.1%} are allowed."
    shares = {
        column.name: int(column.counts.max()) / rows
        for column in task.table.sensitive
        if column.name in worst
    }
    sentences += [
        f"One value of '{name}' fills {shares[name]:.1%} of the rows: without suppression the "
        f"largest feasible l is {ell:g}."
        for name, ell in worst.items()
    ]
    least_l = min(worst.values(), default=1.0)
    changes = [] if worst and least_l <= 1 else ["ask for a smaller l (weaker protection)"]
    if least < rows:
        changes.append(
            f"set 'suppression' to {least / rows:.3f} or more (these rows are not published)"
        )
    changes.append("drop the attribute (analysts lose it)")
    sentences.append(f"To make it feasible: {'; or '.join(changes)}.")
    failures: list[dict[str, object]] = [
        {
            "requirement": requirement.name,
            "parameters": requirement.parameters(),
            "achieved": {},
            "feasible": {"l": least_l} if least_l > 1 else {},
            "least_suppressed": least / rows,
        }
        for requirement in task.requirements
    ]
    return InfeasibleError(" ".join(sentences), failures)
