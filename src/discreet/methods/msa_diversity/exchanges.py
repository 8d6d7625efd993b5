"""Exchange members of near groups where that loses less.

Each row is compared with those that follow it on the curve, again and again as long as the loss
falls much. A pair of rows is compared again only where the group of one of them has changed since.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.methods.msa_diversity.diverse_groups import (
    NONE,
    RANGE,
    SET,
    DiverseGroups,
    Rows,
    add,
    excess,
    loss_with,
    remove,
)
from discreet.methods.msa_diversity.unplaced_rows import group_losses
from discreet.table.kernels import kernel
from discreet.typing import Bools, Codes, Floats, Ints

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


def _improve_at_once(
    rows: Rows, groups: DiverseGroups, loss: Floats, changes: Changes, reach: int, most: int
) -> int:
    """Compare a row with all that follow it at once, for the interpreter."""
    member = _members_of_groups(groups, most)
    turn = int(changes.of_row.max(initial=0))
    swaps = 0
    for row in range(len(rows.values)):
        turn += 1
        since, changes.of_row[row] = changes.of_row[row], turn
        first = row + 1
        while (here := int(groups.group_of_row[row])) >= 0 and groups.size[here] <= most:
            # the rows of other groups that may lose less than they do
            there = groups.group_of_row[first : row + 1 + reach]
            is_fresh = (changes.of_group[there] >= since) | (changes.of_group[here] >= since)
            near = is_fresh & (there >= 0) & (there != here) & (groups.size[there] <= most)
            others = first + np.flatnonzero(near & (loss[here] + loss[there] >= LESS))
            if not len(others):
                break
            partners = member[here, : groups.size[here]]
            partners = partners[None, partners != row]
            new_here = groups.size[here] * _losses_with(rows, others, partners)
            there = groups.group_of_row[others]
            less = new_here < loss[here] + loss[there] - LESS
            if not less.any():
                break
            others, there, new_here = others[less], there[less], new_here[less]
            # those whose groups lose less together after the exchange, and keep their bounds
            theirs = member[there, : groups.size[there].max(initial=0)]
            theirs = np.where(theirs == others[:, None], NONE, theirs)
            new_there = groups.size[there] * _losses_with(rows, np.array([row]), theirs)
            less = new_here + new_there < loss[here] + loss[there] - LESS
            less &= _fits(rows, groups.size[[here]], others, partners)
            less &= _fits(rows, groups.size[there], np.array([row]), theirs)
            if not less.any():
                break
            # the nearest of them, as the loop over pairs does
            best = int(less.argmax())
            other, group = int(others[best]), int(there[best])
            member[here][member[here] == row] = other
            member[group][member[group] == other] = row
            remove(groups, here, row)
            remove(groups, group, other)
            add(groups, here, other)
            add(groups, group, row)
            loss[here], loss[group] = new_here[best], new_there[best]
            changes.of_group[here] = changes.of_group[group] = turn
            swaps += 1
            first = other + 1
    return swaps


def _members_of_groups(groups: DiverseGroups, most: int) -> Codes:
    """(groups, rows of the largest) The rows of each group of up to ``most``, then NONE."""
    count = int(groups.group_of_row.max(initial=-1)) + 1
    placed = np.flatnonzero(groups.group_of_row >= 0)
    placed = placed[groups.size[groups.group_of_row[placed]] <= most]
    placed = placed[np.argsort(groups.group_of_row[placed], kind="stable")]
    group = groups.group_of_row[placed]
    place = np.arange(len(group)) - np.searchsorted(group, group)
    member = np.full((count, int(place.max(initial=-1)) + 1), NONE, np.int32)
    member[group, place] = placed
    return member


def _losses_with(rows: Rows, added: Ints, members: Codes) -> Floats:
    """(pairs,) ``loss_with`` of each row that is added to members, NONE where there is none."""
    pairs = np.broadcast_shapes(added.shape, members.shape[:1])[0]
    total = np.zeros(pairs)
    for q, kind in enumerate(rows.kind):
        code = np.broadcast_to(rows.codes[added, q][:, None], (pairs, 1))
        codes = np.hstack([np.where(members < 0, code, rows.codes[members, q]), code])
        if kind == RANGE:
            place = rows.place[rows.start[q] + codes]
            total += place.max(axis=1) - place.min(axis=1)
        elif kind == SET:
            codes.sort(axis=1)
            further = (codes[:, 1:] != codes[:, :-1]).sum(axis=1)
            total += further / max(rows.cardinality[q] - 1, 1)
        else:
            pair = rows.pair_start[q] + code * rows.cardinality[q] + codes
            total += rows.pair[pair].max(axis=1)
    return total


def _fits(rows: Rows, size: Codes, added: Ints, members: Codes) -> Bools:
    """(pairs,) Whether ``excess`` is 0 for each row that is added to members."""
    fits = np.ones(np.broadcast_shapes(added.shape, members.shape[:1]), np.bool_)
    for j in range(rows.values.shape[1]):
        value = rows.values[added, j]
        equal = (rows.values[members, j] == value[:, None]) & (members >= 0)
        allowed = size * rows.part[j] // rows.whole[j]
        fits &= (value < 0) | (1 + equal.sum(axis=1) <= allowed)
    return fits


# Compiled: tries to exchange every row with the rows near it.
@kernel(work=200, interpreted=_improve_at_once)
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
