"""Families too large to enumerate: who is published, by the cohort certificate alone.

Members with the same past are a cohort. If some of them are published together now and the others
not, both parts are smaller cohorts from then on, also in the eyes of an attacker who has earlier
releases. So each part must be large enough for every count of the past, or empty; where too few are
absent, some are held back for company: those who come first by their keyed hashes, which values
have no part in.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.methods.series.beliefs.cohort_bounds import (
    ahead_bound,
    cohorts_of,
    distinct_pasts,
    most_alike,
)
from discreet.methods.shared.different_values import rank_in_run
from discreet.typing import Bools, Floats, Ints

TOLERANCE = 1e-9


def judge_cohorts(
    own: Ints,  # (releases, members)
    here: Bools,
    start: Ints,
    value: Ints,
    count: Ints,
    matrix: Floats,
    rho: float,
    party: Ints,  # (members,) −1 for all; the result
) -> None:
    """The parties of a family: parts of cohorts, and single people who must stay blank."""
    cohort, sizes, blank = cohorts_of(own, start, count, len(matrix))
    least = np.zeros(len(sizes), np.int64)
    first, number = distinct_pasts(own, blank, cohort)
    may = np.zeros(len(first), np.bool_)  # be published as far as the past and C go
    for at, person in enumerate(first):
        if cohort[person] < 0:
            continue
        size = int(sizes[cohort[person]])
        most = most_alike(own[:, person], blank[:, person], start, count)
        least[cohort[person]] = max(math.ceil(most / rho - TOLERANCE), 1)
        if most <= rho * size + TOLERANCE:
            ahead = ahead_bound(own[:, person], blank[:, person], size, start, value, count, matrix)
            may[at] = ahead <= rho + TOLERANCE
    free = may[number] & here
    was_blank = blank.any(axis=0)
    ready = np.bincount(cohort[free & ~was_blank], minlength=len(sizes))
    absent = sizes - ready
    held = np.where((absent > 0) & (absent < least), least - absent, 0)  # held back for company
    held = np.where(ready - held < least, ready, held)
    alone = np.flatnonzero(free & was_blank)
    party[alone] = len(sizes) + np.arange(len(alone))  # alone, and so blank again
    together = np.flatnonzero(free & ~was_blank)
    together = together[np.argsort(cohort[together], kind="stable")]
    kept = rank_in_run(cohort[together]) >= held[cohort[together]]
    party[together[kept]] = cohort[together[kept]]
