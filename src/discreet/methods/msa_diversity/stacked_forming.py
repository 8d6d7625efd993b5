"""Form groups along the curve from stacks of rows with equal sensitive values.

A window of rows fills up with rows that exclude each other where many rows have the same sensitive
values, for example because the table is large. A stack takes one place however many rows it holds,
so the search for a partner compares combinations of values instead of rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.methods.msa_diversity.diverse_groups import DiverseGroups, Rows, add
from discreet.methods.msa_diversity.group_forming import choose, may_join
from discreet.table.kernels import kernel


# Compiled: each group changes the stacks that the next row finds.
@kernel
def form_from_stacks(
    rows: Rows,
    groups: DiverseGroups,
    unplaced: NDArray[np.int64],  # in the order of the curve
    stack_of: NDArray[np.int32],  # (unplaced,)
    stacks: int,
    candidates: int,  # rows that are compared with each other
    compared: int,  # stacks that are searched for them
    count: int,
) -> int:
    """Group unplaced rows, each with rows of the stacks used last; the number of groups after."""
    top = np.full(stacks, -1, np.int64)  # the row that was stacked last
    below = np.full(len(rows.values), -1, np.int64)
    newer = np.full(stacks + 1, -1, np.int64)  # a ring of stacks that are not empty
    older = np.full(stacks + 1, -1, np.int64)  # its two ends meet in number ``stacks``
    newer[stacks] = older[stacks] = stacks
    no_hardness = np.empty(0)
    candidate = np.empty(candidates, np.int64)
    chosen = np.empty(rows.least, np.int64)
    own = np.full(len(rows.values), -1, np.int32)  # the stack of each row
    for i in range(len(unplaced)):
        own[unplaced[i]] = stack_of[i]
    for i in range(len(unplaced)):
        row = unplaced[i]
        chosen[0] = row
        found = 0
        seen = 0
        stack = older[stacks]
        while stack != stacks and found < candidates and seen < compared:
            seen += 1
            if may_join(rows, chosen, 1, top[stack]):
                candidate[found] = top[stack]
                found += 1
            stack = older[stack]
        if found >= rows.least - 1 and choose(rows, candidate, found, chosen, no_hardness):
            for m in range(rows.least):
                add(groups, count, chosen[m])
                if m:
                    stack = own[chosen[m]]
                    top[stack] = below[top[stack]]
                    if top[stack] < 0:
                        older[newer[stack]] = older[stack]
                        newer[older[stack]] = newer[stack]
            count += 1
            continue
        stack = stack_of[i]
        if top[stack] >= 0:
            older[newer[stack]] = older[stack]
            newer[older[stack]] = newer[stack]
        below[row] = top[stack]
        top[stack] = row
        older[stack] = older[stacks]
        newer[stack] = stacks
        newer[older[stacks]] = stack
        older[stacks] = stack
    return count
