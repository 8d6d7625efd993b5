"""What the requirements ask of the groups of MSA-diversity, and whether it is feasible at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Task
from discreet.methods.msa_diversity.diverse_groups import HARMLESS
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity, PDiversity
from discreet.requirements.exact_ratios import exact
from discreet.requirements.feasibility import least_suppressed
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import Column
from discreet.typing import Codes, Ints


@dataclass(frozen=True, eq=False)
class ShareBound:
    """No sensitive value, or kind of values, of an attribute fills more than 1/ℓ of a group."""

    attribute: str
    ell: Fraction
    code_of_value: Codes  # (values,) of the value or its kind, HARMLESS for one not sensitive

    def counts(self, column: Column) -> Ints:
        """Return how often each code occurs, harmless ones as a code of its own for every row."""
        covered = self.code_of_value >= 0
        counts = np.bincount(self.code_of_value[covered], column.counts[covered])
        harmless = int(column.counts[~covered].sum())
        return np.concatenate([counts.astype(np.int64), np.ones(harmless, np.int64)])


@dataclass(frozen=True, eq=False)
class Bounds:
    """What the requirements ask of every group: bounds on shares, and a least size."""

    shares: tuple[ShareBound, ...]
    least: int


def bounds_of(task: Task) -> Bounds:
    """Return what the requirements ask of a group's counts.

    ℓ-pdiversity implies entropy ℓ-diversity, and distinct and m-diversity where all values are
    sensitive or ℓ is 2, so these count as it; ``joined_groups`` does the rest. Any other
    requirement is checked on the outcome.
    """
    sensitive = task.table.sensitive
    if not sensitive:
        raise InputError("msa-diversity: no attribute is sensitive. Give one the role 'sensitive'.")
    shares: dict[tuple[str, bytes], ShareBound] = {}
    least = 1
    for requirement in task.requirements:
        if isinstance(requirement, KAnonymity):
            least = max(least, requirement.k)
        elif isinstance(requirement, PDiversity | DistinctLDiversity | EntropyLDiversity):
            for name in requirement.named or tuple(column.name for column in sensitive):
                codes = requirement.counted_as(task.domains[name])
                key, ell = (name, codes.tobytes()), exact(requirement.l)
                if ell > 1 and (key not in shares or shares[key].ell < ell):
                    shares[key] = ShareBound(name, ell, codes)
    if not shares and least == 1:
        raise InputError(
            "msa-diversity: no requirement states l. Require p-diversity or m-diversity, for "
            "example 'm-diversity: {l: 3}'."
        )
    if not shares:  # k-anonymity alone: every value is harmless
        column = sensitive[0]
        harmless = np.full(column.cardinality, HARMLESS, np.int32)
        return Bounds((ShareBound(column.name, Fraction(1), harmless),), least)
    whole = max(math.ceil(share.ell) for share in shares.values())
    return Bounds(tuple(shares.values()), max(least, whole))


def require_feasible(task: Task, bounds: Bounds, suppression: float) -> int:
    """Return how many rows must be suppressed at least; InfeasibleError where that is too many.

    Only sensitive values bound: a share of all rows above 1/ℓ of a harmless value costs no row.
    """
    rows = task.table.rows
    counts_of_ell: dict[int, list[NDArray[np.int64]]] = {}
    for share in bounds.shares:
        counts = share.counts(task.table[share.attribute])
        counts_of_ell.setdefault(math.floor(share.ell), []).append(counts)
    least = max(least_suppressed(counts, ell) for ell, counts in counts_of_ell.items())
    if bounds.least > rows:
        least = rows
    if least > suppression * rows + 1e-9 or least == rows:
        raise too_many(task, bounds, None, least, suppression)
    return least


def too_many(
    task: Task, bounds: Bounds, suppressed: int | None, least: int, suppression: float
) -> InfeasibleError:
    rows = task.table.rows
    shown: dict[str, tuple[float, float]] = {}  # greatest share and largest feasible l
    spared = set()
    for share in bounds.shares:
        greatest = int(share.counts(task.table[share.attribute]).max())
        feasible = math.floor(rows / greatest * 1000) / 1000
        if rows < greatest * share.ell and feasible <= shown.get(share.attribute, (0, rows))[1]:
            shown[share.attribute] = greatest / rows, feasible
            if (share.code_of_value < 0).any():
                spared.add(share.attribute)
    # Say how many rows must go, and which values are too frequent.
    sentences = [f"msa-diversity: at least {least} of {rows} rows ({least / rows:.1%}) must go"]
    if suppressed is not None:
        sentences[0] += f", and {suppressed} ({suppressed / rows:.1%}) were left without a group"
    sentences[0] += f"; {suppression:.1%} are allowed."
    sentences += [
        f"One {'sensitive ' if name in spared else ''}value of '{name}' fills {share:.1%} of the "
        f"rows: without suppression the largest feasible l is {ell:g}."
        for name, (share, ell) in shown.items()
    ]
    # Say what would be feasible.
    least_l = min((ell for _, ell in shown.values()), default=1.0)
    changes = [] if shown and least_l <= 1 else ["ask for a smaller l (weaker protection)"]
    if least < rows:
        changes.append(
            f"set 'suppression' to {least / rows:.3f} or more (these rows are not published)"
        )
    changes += [
        f"name the most frequent value of '{name}' under 'non_sensitive_values', if it is no secret"
        for name in shown
        if name not in spared
    ]
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
