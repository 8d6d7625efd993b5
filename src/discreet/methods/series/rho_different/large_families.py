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

from discreet.methods.series.beliefs.cohort_bounds import ahead_bound, cohorts_of, most_alike
from discreet.table.kernels import kernel
from discreet.typing import Bools, Floats, Ints

TOLERANCE = 1e-9


@kernel
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
    layers = len(own)
    cohort, sizes, blank = cohorts_of(own, start, count, len(matrix))
    held = np.full(len(sizes), 0, np.int64)  # how many are still to be held back for company
    least = np.zeros(len(sizes), np.int64)
    ready = np.zeros(len(sizes), np.int64)
    free = np.zeros(len(here), np.bool_)  # may be published as far as the past and C go
    for person in range(len(here)):
        if cohort[person] < 0:
            continue
        size = sizes[cohort[person]]
        most = most_alike(own[:, person], blank[:, person], start, count)
        least[cohort[person]] = max(math.ceil(most / rho - TOLERANCE), 1)
        if not here[person] or most > rho * size + TOLERANCE:
            continue
        ahead = ahead_bound(own[:, person], blank[:, person], size, start, value, count, matrix)
        if ahead <= rho + TOLERANCE:
            free[person] = True
            ready[cohort[person]] += not blank[:, person].any()
    for number in range(len(sizes)):
        absent = sizes[number] - ready[number]
        if 0 < absent < least[number]:
            held[number] = least[number] - absent
        if ready[number] - held[number] < least[number]:
            held[number] = ready[number]
    parties = len(sizes)
    for person in range(len(here)):
        if not free[person]:
            continue
        if blank[:layers, person].any():
            party[person] = parties  # alone, and so blank again
            parties += 1
        elif held[cohort[person]] > 0:
            held[cohort[person]] -= 1
        else:
            party[person] = cohort[person]
