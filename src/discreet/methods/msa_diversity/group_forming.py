"""Forming diverse groups: along a curve, or inside blocks cut without a look at what is sensitive.

*Along the curve* (Abdalaal, 2012, 5.5): rows enter a pool in curve order. Where the newest row
and some of the pool make a group, they leave it. The pool has a *stack* for each combination of
sensitive values: rows that exclude each other take one place however many they are, so the search
for partners compares combinations of values instead of rows. Of the rows that may join, the one
that collides with the fewest others that may is taken first, the nearest of equals. (The paper's
pseudo-code takes the most; its worked example agrees with the fewest.)

*In blocks*: the curve is cut where that costs the quasi-identifiers least, and the rows of a block
are shuffled. The same pool then runs over each block alone, so that inside a block nothing but
sensitive values and chance decide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.methods.msa_diversity.diverse_groups import DiverseGroups, Rows, add
from discreet.table.classes import group_codes
from discreet.table.kernels import kernel
from discreet.typing import Ints

CANDIDATES = 64  # rows that are compared with each other when a group is formed


def form_groups(rows: Rows, groups: DiverseGroups, unplaced: Ints, cuts: Ints, window: int) -> Ints:
    """Group unplaced rows between cuts; return the first group of each block, and the end.

    ``window`` is how many combinations of sensitive values are searched for the partners of a row.
    """
    codes = [rows.values[unplaced, j] + 1 for j in range(rows.values.shape[1])]  # 0: harmless
    stacks = group_codes(codes, [int(code.max()) + 1 for code in codes], len(unplaced))
    # a group takes one row of a stack, or as many as it needs where all their values are harmless
    covered = (rows.values[unplaced[stacks.first_row]] >= 0).any(axis=1)
    copies = np.where(covered, 1, rows.least)
    count = int(groups.group_of_row.max(initial=-1)) + 1
    return _form(rows, groups, unplaced, cuts, stacks.class_of_row, copies, window, count)


# Compiled: each group changes the stacks that the next row finds.
@kernel
def _form(
    rows: Rows,
    groups: DiverseGroups,
    unplaced: NDArray[np.int64],  # in the order of the curve
    cuts: NDArray[np.int64],  # (blocks + 1,) into ``unplaced``
    stack_of: NDArray[np.int32],  # (unplaced,)
    copies: NDArray[np.int64],  # (stacks,)
    window: int,
    count: int,
) -> NDArray[np.int64]:
    stacks = len(copies)
    top = np.full(stacks, -1, np.int64)  # the place of the row that was stacked last
    below = np.full(len(unplaced), -1, np.int64)
    newer = np.full(stacks + 1, -1, np.int64)  # a ring of stacks that are not empty
    older = np.full(stacks + 1, -1, np.int64)  # its two ends meet in number ``stacks``
    newer[stacks] = older[stacks] = stacks
    candidate = np.empty(CANDIDATES, np.int64)
    chosen = np.empty(rows.least, np.int64)
    place_of_row = np.full(len(rows.values), -1, np.int64)
    place_of_row[unplaced] = np.arange(len(unplaced))
    first_group = np.full(len(cuts), count, np.int64)
    block = 0
    for i in range(len(unplaced)):
        while i == cuts[block + 1]:  # the rows that still wait find no group in their block
            block += 1
            first_group[block] = count
            stack = older[stacks]
            while stack != stacks:
                top[stack] = -1
                stack = older[stack]
            newer[stacks] = older[stacks] = stacks
        # the nearest rows that may be in a group with the newest
        chosen[0] = unplaced[i]
        candidates, seen, stack = 0, 0, older[stacks]
        while stack != stacks and candidates < CANDIDATES and seen < window:
            seen += 1
            place = top[stack]
            if may_join(rows, chosen, 1, unplaced[place]):
                for _ in range(min(copies[stack], CANDIDATES - candidates)):
                    candidate[candidates] = unplaced[place]
                    candidates += 1
                    place = below[place]
                    if place < 0:
                        break
            stack = older[stack]
        if candidates >= rows.least - 1 and choose(rows, candidate, candidates, chosen):
            for m in range(rows.least):
                add(groups, count, chosen[m])
            count += 1
            # stacks lose the chosen rows, which are their uppermost
            for m in range(1, rows.least):
                stack = stack_of[place_of_row[chosen[m]]]
                top[stack] = below[top[stack]]
                if top[stack] < 0:
                    older[newer[stack]] = older[stack]
                    newer[older[stack]] = newer[stack]
            continue
        # without a group, the row is the uppermost of its stack, and that the newest
        stack = stack_of[i]
        if top[stack] >= 0:
            older[newer[stack]] = older[stack]
            newer[older[stack]] = newer[stack]
        below[i] = top[stack]
        top[stack] = i
        older[stack] = older[stacks]
        newer[stack] = stacks
        newer[older[stacks]] = stack
        older[stacks] = stack
    first_group[block + 1 :] = count
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
def choose(rows: Rows, candidate: NDArray[np.int64], count: int, chosen: NDArray[np.int64]) -> bool:
    """Fill ``chosen`` after its first row, fewest collisions first; whether that succeeded."""
    members = 1
    while members < rows.least and count:
        # Take the candidate that collides with the fewest others.
        best, fewest = 0, count
        for i in range(count):
            collisions = 0
            for other in range(count):
                shared = False
                for j in range(rows.values.shape[1] if other != i else 0):
                    value = rows.values[candidate[i], j]
                    if value >= 0 and value == rows.values[candidate[other], j]:
                        shared = True
                        break
                if shared:
                    collisions += 1
                    if collisions >= fewest:
                        break
            if collisions < fewest:
                best, fewest = i, collisions
        chosen[members] = candidate[best]
        members += 1
        candidate[best] = -1
        # Keep the candidates that may still join.
        remaining = 0
        for i in range(count):
            if candidate[i] >= 0 and may_join(rows, chosen, members, candidate[i]):
                candidate[remaining] = candidate[i]
                remaining += 1
        count = remaining
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
    # The least loss of all cuts before each end.
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
    # Follow the cuts back from the end.
    blocks = 0
    place_of = np.empty(count // least + 2, np.int64)
    end = count
    while end > 0:
        place_of[blocks] = end
        blocks += 1
        end = cut[end]
    place_of[blocks] = 0
    return place_of[: blocks + 1][::-1].copy()
