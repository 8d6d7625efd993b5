"""Mutual information between attributes, and what a projection plan loses and exposes of it.

Fang and others, "Privacy beyond single sensitive attribute", section 4. Everything is in nats and
follows from the counts of single values and of pairs.

============  ====================================================================================
paper         here
============  ====================================================================================
H(Ai)         ``Information.entropy``
I(Ai, Aj)     ``Information.mutual``
Sens(v)       ``sensitive_share``: marginals suffice, see below
E(Ai, Aj)     ``Information.exposable``
Φ(A1, …, Ar)  ``Plan``: the attributes' numbers, block by block
Γα, Γβ        ``association_loss``, ``information_exposure``
============  ====================================================================================

The paper sums E over joint values, with H(Ai) − I where the value of Ai is sensitive and H(Aj) − I
where that of Aj is, both where both are (it prints H(Aj) twice there, a slip). The two terms can be
summed apart, so E = (H(Ai) − I)·P(Ai sensitive) + (H(Aj) − I)·P(Aj sensitive).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.requirements.feasibility import value_entropy
from discreet.table.budgets import AT_ONCE
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.typing import Bools, Floats, Ints

Plan = Sequence[Sequence[int]]  # the numbers of the attributes in each table

NEGLIGIBLE = 1e-12  # what floating point leaves of a sum that is 0


@dataclass(frozen=True, eq=False)
class Information:
    """Entropies and pairwise mutual information of some attributes."""

    names: tuple[str, ...]
    entropy: Floats  # (attributes,)
    mutual: Floats  # (attributes, attributes) symmetric, 0 on the diagonal
    sensitive_share: Floats  # (attributes,) of rows whose value is sensitive

    @cached_property
    def exposable(self) -> Floats:
        """E of every pair; 0 on the diagonal."""
        new = np.maximum(self.entropy[:, None] - self.mutual, 0.0) * self.sensitive_share[:, None]
        exposable: Floats = new + new.T
        np.fill_diagonal(exposable, 0.0)
        return exposable

    @cached_property
    def total_mutual(self) -> float:
        """I_Σ: over all pairs."""
        return float(np.triu(self.mutual, 1).sum())

    @cached_property
    def total_exposable(self) -> float:
        """E_Σ: over all pairs."""
        return float(np.triu(self.exposable, 1).sum())


def measure_information(
    columns: Sequence[Column], sensitive_values: Mapping[str, Bools] | None = None
) -> Information:
    """The information of some columns; values that no mask covers are all sensitive."""
    entropy = np.array([value_entropy(column.counts) for column in columns])
    mutual = np.zeros((len(columns), len(columns)))
    for i, j in combinations(range(len(columns)), 2):
        joint = value_entropy(joint_counts(columns[i], columns[j]))
        mutual[i, j] = mutual[j, i] = max(0.0, entropy[i] + entropy[j] - joint)
    marks = sensitive_values or {}
    share = np.array(
        [
            column.counts[marks[column.name]].sum() / max(int(column.counts.sum()), 1)
            if column.name in marks
            else 1.0
            for column in columns
        ]
    )
    return Information(tuple(c.name for c in columns), entropy, mutual, share)


def mutual_information(first: Column, second: Column) -> float:
    """I of two columns: H(A) + H(B) − H(A, B), never below 0."""
    joint = joint_counts(first, second)
    both = value_entropy(first.counts) + value_entropy(second.counts)
    return max(0.0, both - value_entropy(joint))


def joint_counts(first: Column, second: Column) -> Ints:
    """Return how often each pair of values occurs, in no particular order."""
    if first.cardinality * second.cardinality <= AT_ONCE:
        cells = first.codes.astype(np.int64) * second.cardinality + second.codes
        return np.bincount(cells, first.weights).astype(np.int64)
    cardinalities = [first.cardinality, second.cardinality]
    codes = [first.codes, second.codes]
    return group_codes(codes, cardinalities, len(first.codes), first.weights).size


def association_loss(information: Information, plan: Plan) -> float:
    """Γα: the share of all mutual information that lies between different tables."""
    if information.total_mutual <= NEGLIGIBLE:
        return 0.0
    within = sum(_within(information.mutual, block) for block in plan)
    return min(1.0, max(0.0, 1.0 - within / information.total_mutual))


def information_exposure(information: Information, plan: Plan) -> float:
    """Γβ: what joins within tables can expose, each table weighted by its attributes."""
    if information.total_exposable <= NEGLIGIBLE:
        return 0.0
    exposed = sum(len(block) * _within(information.exposable, block) for block in plan)
    return exposed / information.total_exposable / len(information.names)


def _within(matrix: Floats, block: Sequence[int]) -> float:
    """The sum over the pairs of a block."""
    chosen = np.array(block, np.int64)
    return float(np.triu(matrix[np.ix_(chosen, chosen)], 1).sum())
