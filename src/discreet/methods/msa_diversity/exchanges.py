"""Exchange members of near groups where that loses less.

Each row is compared with those that follow it on the curve, again and again as long as the loss
falls much. A pair of rows is compared again only where the group of one of them has changed since.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.methods.msa_diversity.diverse_groups import (
    DiverseGroups,
    Rows,
    add,
    excess,
    loss_with,
    remove,
)
from discreet.methods.msa_diversity.unplaced_rows import group_losses
from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints

LARGE = 32  # smallest groups in a group that no longer exchanges members
PASSES = 16  # comparisons of all near rows, as long as they are worthwhile
WORTHWHILE = 0.995  # the share of the loss that is left after another comparison
REACH = 256  # greatest distance on the curve of rows that are exchanged
COMPARISONS = 8_000_000  # pairs of rows in a comparison of a large table
LESS = 1e-9  # by which an exchange lowers the loss at least


class Changes(NamedTuple):
    """When groups last changed and rows were last compared, in comparisons of a row."""

    of_group: Ints
    of_row: Ints


def exchange_members(rows: Rows, groups: DiverseGroups) -> None:
    """Let near groups exchange members, again and again as long as that loses much less."""
    reach = min(REACH, max(4, COMPARISONS // len(rows.values)))
    loss = group_losses(rows, groups)
    changes = Changes(np.zeros(len(loss), np.int64), np.zeros(len(rows.values), np.int64))
    for _ in range(PASSES):
        before = loss.sum()
        improve(rows, groups, loss, changes, reach, LARGE * rows.least)
        if loss.sum() > WORTHWHILE * before:
            break


# Compiled: tries to exchange every row with the rows near it.
@kernel(work=200)
def improve(
    rows: Rows, groups: DiverseGroups, loss: Floats, changes: Changes, reach: int, most: int
) -> int:
    """Exchange members of near groups where that loses less; how many times.

    Groups of more than ``most`` rows stay as they are: an exchange costs much and gains little.
    ``loss`` is that of each group times its rows, before and after.
    """
    swaps = 0
    count = len(rows.values)
    turn = 0
    for compared in changes.of_row:
        turn = max(turn, compared)
    for row in range(count):
        turn += 1
        since = changes.of_row[row]
        changes.of_row[row] = turn
        here: Any = np.int64(groups.group_of_row[row])  # one type: compiled once
        if here < 0 or groups.size[here] > most:
            continue
        # Compare the row with those that follow, where a group has changed since.
        for other in range(row + 1, min(row + 1 + reach, count)):
            here = np.int64(groups.group_of_row[row])
            there: Any = np.int64(groups.group_of_row[other])
            if there < 0 or here == there or loss[here] + loss[there] < LESS:
                continue
            if changes.of_group[here] < since and changes.of_group[there] < since:
                continue
            if groups.size[there] > most:
                continue
            # Exchange the two if both groups together lose less, and keep their bounds.
            new_here = groups.size[here] * loss_with(rows, groups, here, other, row)
            if new_here >= loss[here] + loss[there] - LESS:
                continue
            new_there = groups.size[there] * loss_with(rows, groups, there, row, other)
            if new_here + new_there >= loss[here] + loss[there] - LESS:
                continue
            if excess(rows, groups, here, other, row) or excess(rows, groups, there, row, other):
                continue
            remove(groups, here, row)
            remove(groups, there, other)
            add(groups, here, other)
            add(groups, there, row)
            changes.of_group[here] = changes.of_group[there] = turn
            loss[here], loss[there] = new_here, new_there
            swaps += 1
    return swaps
