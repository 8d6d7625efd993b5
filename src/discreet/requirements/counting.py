"""Which requirements compare counts of rows or persons, and no sums of shares or logarithms."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.requirements.base import AttributeRequirement, Requirement
from discreet.requirements.diversity import DistinctLDiversity, PDiversity, RecursiveClDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.value_bounds import AlphaKAnonymity

_COUNTING = (
    KAnonymity,
    AlphaKAnonymity,
    DistinctLDiversity,
    PDiversity,
    RecursiveClDiversity,
)


def count_rows(requirements: Iterable[Requirement]) -> bool:
    """Whether all of them compare counts, so that a share above their bound is no rounding."""
    for requirement in requirements:
        inner = requirement
        if isinstance(requirement, AttributeRequirement):
            inner = requirement.given_others() or requirement
        if not isinstance(inner, _COUNTING):
            return False
    return True
