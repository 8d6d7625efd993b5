"""Mending groups that fail a guarantee.

A group that fails borrows one row from a neighbour that can spare it, or is joined with a
neighbour: whatever costs least and lets every group that is touched pass. Where nothing helps, it
is joined with the neighbour that costs least for what the two lack less when joined. So groups get
fewer until all pass or one is left: every requirement is at its best where the whole table is one
class.

This goes in rounds. In each, all remedies of all failing groups are judged together, then applied
cheapest first, unless one of the two groups was touched in the same round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.methods.local_recoding.hulls import UnitGrouping, hull_costs
from discreet.methods.local_recoding.nearest_groups import nearest_of_all
from discreet.methods.local_recoding.requirement_check import CountedGroups, Promises
from discreet.methods.shared.different_values import rank_in_run
from discreet.table.kernels.lists import entries_of, stretches
from discreet.typing import Bools, Floats, Ints

NEAREST = 12  # groups that a failing one may be joined with
LENDERS = 24  # groups whose rows it may borrow
LOANS = 16  # rows that it may borrow, of which one is chosen
PATIENCE = 2.0  # how much more expensive than the best a remedy may be, else the group waits


class Remedies(NamedTuple):
    """Ways to repair failing groups, each with a neighbour."""

    group: Ints
    neighbour: Ints
    unit: Ints  # of the one row that is borrowed; −1 where the two are joined
    added: Floats  # what it adds to the cost of all rows

    def take(self, chosen: NDArray[np.integer]) -> Remedies:
        return Remedies(*(field[chosen] for field in self))


def repair(grouping: UnitGrouping, promises: Promises) -> UnitGrouping:
    """Repair failing groups until all pass or one group is left."""
    while grouping.count > 1 and not promises.only_sizes:
        counted = promises.counted(grouping)
        passing = promises.passes(
            counted.unit, counted.group_of_piece, counted.rows, grouping.count
        )
        failing = np.flatnonzero(~passing)
        if not len(failing):
            break
        borrows = _one_row_helps(counted, promises, failing)
        near, added = nearest_of_all(grouping, failing, np.where(borrows, LENDERS, NEAREST))
        joins = _joins(failing, near[:, :NEAREST], added[:, :NEAREST])
        loans = _loans(grouping, failing[borrows], near[borrows], promises.least)
        remedies = Remedies(*(np.concatenate(both) for both in zip(joins, loans, strict=True)))
        helps = _helping(counted, promises, remedies)
        chosen = _chosen(grouping, counted, promises, remedies, helps)
        grouping = _apply(grouping, chosen, promises.least)
    return grouping


def _one_row_helps(counted: CountedGroups, promises: Promises, failing: Ints) -> Bools:
    """Return which groups would pass with one row more, of any sensitive values."""
    helps = np.zeros(len(failing), np.bool_)
    row = promises.unit_of_values
    pieces = np.diff(counted.start)[failing]
    for part in stretches((pieces + 1) * len(row)):
        group = np.repeat(failing[part], len(row))
        piece, trial = entries_of(counted.start, group)
        trials = np.arange(len(group))
        passing = promises.passes(
            np.concatenate((counted.unit[piece], np.tile(row, len(failing[part])))),
            np.concatenate((trial, trials)),
            np.concatenate((counted.rows[piece], np.ones(len(group), np.int64))),
            len(group),
        )
        helps[part] = passing.reshape(-1, len(row)).any(axis=1)
    return helps


def _joins(failing: Ints, near: Ints, added: Floats) -> Remedies:
    group = np.repeat(failing, near.shape[1])
    known = near.ravel() >= 0
    neighbour = near.ravel()[known]
    none = np.full(len(neighbour), -1, np.int64)
    return Remedies(group[known], neighbour, none, added.ravel()[known])


def _loans(grouping: UnitGrouping, failing: Ints, near: Ints, least: int) -> Remedies:
    """The cheapest single rows that each group could borrow from near groups."""
    space, low, high, size, cost = (
        grouping.space,
        grouping.low,
        grouping.high,
        grouping.size,
        grouping.cost,
    )
    if not len(failing):
        nothing = np.zeros(0, np.int64)
        return Remedies(nothing, nothing, nothing, np.zeros(0))
    # Find the lenders of each borrower, part by part as memory allows.
    parts = []
    pieces = np.append(np.diff(grouping.start), 0)[near].sum(axis=1)  # the last where there is none
    for part in stretches(pieces):
        borrower = np.repeat(failing[part], near.shape[1])
        lender = near[part].ravel()
        lends = (lender >= 0) & (size[lender] > least)
        piece, place = entries_of(grouping.start, lender[lends])
        group, neighbour = borrower[lends][place], lender[lends][place]
        # Price each row, and keep the cheapest loans of each borrower.
        rank = space.rank[grouping.unit[piece]]
        hull = np.minimum(low[group], rank), np.maximum(high[group], rank)
        pays = hull_costs(space, *hull) * (size[group] + 1)
        added = pays - size[group] * cost[group] - cost[neighbour]
        number = np.searchsorted(failing, group)
        order = np.lexsort((added, number))
        order = order[rank_in_run(number[order]) < LOANS]
        remedies = group[order], neighbour[order], grouping.unit[piece[order]], added[order]
        parts.append(remedies)
    return Remedies(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


def _helping(counted: CountedGroups, promises: Promises, remedies: Remedies) -> Bools:
    """Under which remedies all that is touched passes."""
    joined = remedies.unit < 0
    loan = np.flatnonzero(~joined)
    count = len(remedies.group)
    ones = np.ones(len(loan), np.int64)
    own_piece, trial_of_group = entries_of(counted.start, remedies.group)
    join_piece, join = entries_of(counted.start, remedies.neighbour[joined])
    repaired = promises.passes(
        np.concatenate((counted.unit[own_piece], counted.unit[join_piece], remedies.unit[loan])),
        np.concatenate((trial_of_group, np.flatnonzero(joined)[join], loan)),
        np.concatenate((counted.rows[own_piece], counted.rows[join_piece], ones)),
        count,
    )
    loan = loan[repaired[loan]]
    if len(loan):
        piece, left = entries_of(counted.start, remedies.neighbour[loan])
        repaired[loan] = promises.passes(
            np.concatenate((counted.unit[piece], remedies.unit[loan])),
            np.concatenate((left, np.arange(len(loan)))),
            np.concatenate((counted.rows[piece], -np.ones(len(loan), np.int64))),
            len(loan),
        )
    return repaired


def _chosen(
    grouping: UnitGrouping,
    counted: CountedGroups,
    promises: Promises,
    remedies: Remedies,
    helps: Bools,
) -> Remedies:
    """Return the remedies to try, cheapest first: those not much more expensive than the best.

    Where nothing helps a group, the join that costs least for what it relieves.
    """
    best = np.full(grouping.count, np.inf)
    np.minimum.at(best, remedies.group[helps], remedies.added[helps])
    good = helps & (remedies.added <= PATIENCE * np.maximum(best, 0)[remedies.group] + 1e-9)
    hopeless = np.flatnonzero((remedies.unit < 0) & np.isinf(best[remedies.group]))
    price = remedies.added.copy()
    if len(hopeless):
        relief = _relief(grouping.size, counted, promises, remedies.take(hopeless))
        # where joins are for nothing, what they relieve still counts
        price[hopeless] = (price[hopeless] + 1e-6) / np.maximum(relief, 1e-12)
        np.minimum.at(best, remedies.group[hopeless], price[hopeless])
        good[hopeless] = price[hopeless] <= best[remedies.group[hopeless]]
    chosen = np.flatnonzero(good)
    return remedies.take(chosen[np.lexsort((price[chosen], ~helps[chosen]))])


def _relief(size: Ints, counted: CountedGroups, promises: Promises, joins: Remedies) -> Floats:
    """How much less two groups lack once they are joined, as a share of what all groups lack.

    What a group lacks is its rows times the distance of its figure from the worst that passes, or
    where none passes from the best.
    """
    group, neighbour = joins.group, joins.neighbour
    of_group, of_neighbour = entries_of(counted.start, group), entries_of(counted.start, neighbour)
    piece, join = (np.concatenate(both) for both in zip(of_group, of_neighbour, strict=True))
    before = promises.figures(counted.unit, counted.group_of_piece, counted.rows, len(size))
    after = promises.figures(counted.unit[piece], join, counted.rows[piece], len(group))
    relief = np.zeros(len(group))
    for (apart, passing), (joined, _) in zip(before, after, strict=True):
        bound = apart[passing].min() if passing.any() else apart.max()
        lacks = size * np.maximum(bound - apart, 0)
        left = (size[group] + size[neighbour]) * np.maximum(bound - joined, 0)
        relief += (lacks[group] + lacks[neighbour] - left) / max(lacks.sum(), 1e-12)
    return relief


def _apply(grouping: UnitGrouping, chosen: Remedies, least: int) -> UnitGrouping:
    """Apply remedies in order, unless one of their groups was touched before.

    A group may lend to several as long as it keeps most of what it can spare; should it fail
    after that, it is repaired itself in the next round.
    """
    touched = np.zeros(grouping.count, bool)
    name = np.arange(grouping.count)
    lent = np.zeros(grouping.count, np.int64)
    left = grouping.rows.copy()
    borrower: list[int] = []
    borrowed: list[int] = []
    # Join two groups, or move one row, if neither group was touched before.
    for f, g, unit in zip(*(field.tolist() for field in chosen[:3]), strict=True):
        if touched[f] or touched[g] or lent[f]:
            continue
        if unit < 0:
            if not lent[g]:
                touched[f] = touched[g] = True
                name[g] = f
            continue
        begin, end = grouping.start[g], grouping.start[g + 1]
        piece = begin + np.searchsorted(grouping.unit[begin:end], unit)
        if left[piece] > 0 and (not lent[g] or 4 * lent[g] < grouping.size[g] - least):
            touched[f] = True
            left[piece] -= 1
            lent[g] += 1
            borrower.append(f)
            borrowed.append(unit)
    # Form the groups anew.
    more = np.array(borrower, np.int64)
    return UnitGrouping.of(
        grouping.space,
        np.concatenate((grouping.unit, np.array(borrowed, np.int64))),
        name[np.concatenate((grouping.group_of_piece, more))],
        np.concatenate((left, np.ones(len(more), np.int64))),
    )
