"""Forming diverse groups: along a curve, or inside blocks cut without a look at what is sensitive.

*Along the curve* (Abdalaal, 2012, 5.5): rows enter a pool in curve order. Where the newest row
and some of the pool make a group, they leave it; a row that finds none before the pool is full is
remaining. Of the rows that may join, the one that collides with the fewest others that may is
taken first, the nearest of equals. (The paper's pseudo-code takes the most; its worked example
agrees with the fewest.)

*In blocks*: the curve is cut where that costs the quasi-identifiers least, and the rows of a block
are shuffled. The same pool then runs over each block alone, so that inside a block nothing but
sensitive values and chance decide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.methods.msa_diversity.diverse_groups import DiverseGroups, Rows, add
from discreet.table.kernels import kernel


# Compiled: each group depends on the rows that the groups before it took.
@kernel
def form_groups(
    rows: Rows,
    groups: DiverseGroups,
    cuts: NDArray[np.int64],  # (blocks + 1,) no group reaches over a cut
    window: int,
    candidates: int,
    hardness: NDArray[np.float64],  # (rows,), or empty to take the fewest collisions first
) -> NDArray[np.int64]:
    """Group rows from a moving pool of at most ``window``.

    Returns the first group of each block, and the number of all groups at the end.
    """
    pool = np.empty(window + 1, np.int64)
    candidate = np.empty(candidates, np.int64)
    chosen = np.empty(rows.least, np.int64)
    first_group = np.zeros(len(cuts), np.int64)
    count = 0
    for block in range(len(cuts) - 1):
        pooled = 0
        for newest in range(cuts[block], cuts[block + 1]):
            pool[pooled] = newest
            pooled += 1
            chosen[0] = newest
            found, i = 0, pooled - 2  # the nearest rows of the pool that may join it
            while i >= 0 and found < candidates:
                if may_join(rows, chosen, 1, pool[i]):
                    candidate[found] = pool[i]
                    found += 1
                i -= 1
            if found >= rows.least - 1 and choose(rows, candidate, found, chosen, hardness):
                for i in range(rows.least):
                    add(groups, count, chosen[i])
                count += 1
                kept = 0
                for i in range(pooled):
                    if groups.group_of_row[pool[i]] < 0:
                        pool[kept] = pool[i]
                        kept += 1
                pooled = kept
            if pooled > window:
                pool[: pooled - 1] = pool[1:pooled].copy()
                pooled -= 1
        first_group[block + 1] = count
    return first_group


# Compiled: called for every row that is compared with a group.
@kernel
def may_join(rows: Rows, chosen: NDArray[np.int64], members: int, row: int) -> bool:
    """Return whether a row and the first members of a group can be part of a smallest group."""
    for j in range(rows.values.shape[1]):
        if rows.values[row, j] < 0:  # harmless
            continue
        count = 1
        for i in range(members):
            if rows.values[chosen[i], j] == rows.values[row, j]:
                count += 1
        if count > rows.least * rows.part[j] // rows.whole[j]:
            return False
    return True


# Compiled: compares all candidates with each other for every group.
@kernel
def choose(
    rows: Rows,
    candidate: NDArray[np.int64],
    found: int,
    chosen: NDArray[np.int64],
    hardness: NDArray[np.float64],
) -> bool:
    """Fill ``chosen`` after its first row; whether that succeeded.

    Fewest collisions first, or, where ``hardness`` is given, hardest first.
    """
    members = 1
    while members < rows.least and found:
        best, fewest = 0, found
        hardest = -1.0
        for i in range(found):
            if len(hardness):
                if hardness[candidate[i]] > hardest:
                    best, hardest = i, hardness[candidate[i]]
                continue
            collisions = 0
            for other in range(found):
                share = False
                for j in range(rows.values.shape[1] if other != i else 0):
                    value = rows.values[candidate[i], j]
                    if value >= 0 and value == rows.values[candidate[other], j]:
                        share = True
                        break
                if share:
                    collisions += 1
                    if collisions >= fewest:
                        break
            if collisions < fewest:
                best, fewest = i, collisions
        chosen[members] = candidate[best]
        members += 1
        candidate[best] = -1
        kept = 0
        for i in range(found):
            if candidate[i] >= 0 and may_join(rows, chosen, members, candidate[i]):
                candidate[kept] = candidate[i]
                kept += 1
        found = kept
    return members == rows.least


# Compiled: a dynamic program over all ends of blocks.
@kernel
def cut_blocks(rows: Rows, least: int) -> NDArray[np.int64]:
    """Where blocks of ``least`` to 2·``least`` − 1 rows begin and end, at the least loss.

    Only quasi-identifiers are read. best[end] is the least Σ size · loss of cutting the rows before
    ``end``; a block's loss grows row by row as its ends move apart.
    """
    count = len(rows.codes)
    if count < 2 * least:
        return np.array([0, count])
    best = np.full(count + 1, np.inf)
    cut = np.zeros(count + 1, np.int64)
    best[0] = 0.0
    columns = rows.codes.shape[1]
    low = np.empty(columns)
    high = np.empty(columns)
    for end in range(least, count + 1):
        low[:], high[:] = np.inf, -np.inf
        for begin in range(end - 1, max(end - 2 * least, -1), -1):
            loss = 0.0
            for q in range(columns):
                place = rows.place[rows.start[q] + rows.codes[begin, q]]
                low[q] = min(low[q], place)
                high[q] = max(high[q], place)
                loss += high[q] - low[q]
            size = end - begin
            if size >= least and best[begin] + size * loss < best[end]:
                best[end] = best[begin] + size * loss
                cut[end] = begin
    blocks = 0
    place_of = np.empty(count // least + 2, np.int64)
    end = count
    while end > 0:
        place_of[blocks] = end
        blocks += 1
        end = cut[end]
    place_of[blocks] = 0
    return place_of[: blocks + 1][::-1].copy()
