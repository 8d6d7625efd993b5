"""The greedy choice of candidates by their regret at given prices.

The candidate with the least regret, the least Σ (c(g) − u) over sets of at least k rows left under
g, is opened and takes those rows; rows of one unit may be split. The set is all rows whose price is
not below c(g), and the most expensive others up to k rows. Fewer rows are left after every choice,
so a regret only rises, and a heap whose keys are renewed when they come to the top is exact. What
remains in the end joins the cheapest open candidate that covers it. Which values a group needs is
for ``candidates``, which lack none of them, and for ``repair``.

This goes in rounds, each on the rows that the last one could not group, up to a higher ceiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.methods.local_recoding.candidates import LOWERED, Candidates, find_candidates
from discreet.methods.local_recoding.hulls import Space, UnitGrouping
from discreet.methods.local_recoding.nearest_groups import cut_evenly, join_nearest
from discreet.methods.local_recoding.requirement_check import Needs
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import entries_of, lengthened
from discreet.typing import Floats, Ints, Ints32

FIRST_CEILING = 0.12
CEILINGS = (0.25, 0.5, 1.0)  # of the later rounds, on the remaining rows
LEAST_CEILING = 0.01  # of the first round, from which the later ones rise
FEW = 0.02  # the share of the rows that join groups of others
BLOCK = 2**15  # units whose candidates are held at once in the later rounds


class Chosen(NamedTuple):
    """Room for the rows of one candidate that have the least regret."""

    unit: Ints
    rows: Ints


@dataclass(frozen=True, eq=False)
class Opening:
    """The candidates and prices of the first round; the first prices also prove the bound."""

    candidates: Candidates
    price: Floats


def open_candidates(space: Space, needs: Needs, ceiling: float) -> Opening:
    """All candidates up to a ceiling and the first prices."""
    candidates = find_candidates(space, needs, ceiling)
    return Opening(candidates, candidates.cheapest)


def group_in_rounds(space: Space, needs: Needs, first: Opening) -> UnitGrouping:
    """Grouping of at least the rows that are needed; the table must have as many.

    In each round the remaining rows are offered the candidates among themselves, block by block.
    The last few would pay much for groups of their own, so each joins the group that costs least,
    or borrows from it.
    """
    *pieces, remaining = choose(first.candidates, space.rows, needs.rows, first.price)
    chosen = [tuple(pieces)]
    groups = len(first.candidates.cost)
    few = max(needs.rows, int(FEW * space.rows.sum()))
    for ceiling in _later_ceilings(first.candidates.ceiling):
        if remaining.sum() < few:
            break
        units = np.flatnonzero(remaining)
        # candidates of a block fit in memory, and rows that are far apart would not meet anyway
        for block in cut_evenly(space, space.rank[units], BLOCK):
            units_of_block = units[block]
            part, part_needs = (
                space.take(units_of_block, remaining[units_of_block]),
                needs.take(units_of_block),
            )
            opening = open_candidates(part, part_needs, ceiling)
            unit, group, rows, remaining[units_of_block] = choose(
                opening.candidates, part.rows, needs.rows, opening.price
            )
            chosen.append((units_of_block[unit], group + groups, rows))
            groups += len(opening.candidates.cost)
    unit, group, rows = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    if not len(unit):  # no candidate had enough rows: all are one group
        units = np.arange(len(space.rows))
        return UnitGrouping.of(space, units, np.zeros_like(units), space.rows)
    grouping = UnitGrouping.of(space, unit, group, rows)
    return join_nearest(grouping, remaining, needs.rows) if remaining.any() else grouping


def _later_ceilings(first: float) -> Sequence[float]:
    """The ceilings of the rounds after the first, which rise by small steps at first.

    Where hardly two tuples are equal, most candidates are expensive: they are found only for
    the rows that the cheap ones do not take.
    """
    rising: list[float] = []
    ceiling = max(first, LEAST_CEILING) / LOWERED
    while ceiling < FIRST_CEILING * (1 + 1e-9):
        rising.append(ceiling)
        ceiling /= LOWERED
    return *rising, *CEILINGS


def choose(
    candidates: Candidates, rows: Ints, least: int, price: Floats
) -> tuple[Ints, Ints, Ints, Ints]:
    """Unit, candidate and rows of each piece, and what remains of each unit."""
    longest = int(np.diff(candidates.start).max(initial=0))
    chosen = Chosen(*(np.empty(longest, np.int64) for _ in Chosen._fields))
    member = _dearest_first(candidates, price)
    left = rows.copy()
    opened, *pieces = _open(candidates, member, left, least, price, chosen)
    which = _cheapest_open(candidates, np.flatnonzero(opened))
    joins = np.flatnonzero((left > 0) & (which >= 0))
    ends = joins, which[joins], left[joins]
    unit, group, taken = (np.concatenate(both) for both in zip(pieces, ends, strict=True))
    left[joins] = 0
    return unit, group, taken, left


def _cheapest_open(candidates: Candidates, opened: Ints) -> Ints:
    """Return for each unit the cheapest open candidate that covers it; −1 where none does."""
    entry, place = entries_of(candidates.start, opened)
    unit, candidate = candidates.member[entry], opened[place]
    which = np.full(len(candidates.cheapest), -1, np.int64)
    dearest_first = np.lexsort((-candidate, -candidates.cost[candidate]))
    which[unit[dearest_first]] = candidate[dearest_first]  # the last that is written stays
    return which


def _dearest_first(candidates: Candidates, price: Floats) -> Ints32:
    """The members of every candidate in the order of falling prices."""
    place_of = np.empty(len(price), np.int32)
    place_of[np.argsort(-price, kind="stable")] = np.arange(len(price), dtype=np.int32)
    count = len(candidates.cost)
    candidate = np.repeat(np.arange(count, dtype=np.int32), np.diff(candidates.start))
    _, order = order_by_class(candidate, place_of[candidates.member], count, len(price))
    return candidates.member[order]


# Compiled: a heap of candidates, whose regrets are found anew at every step.
@kernel
def _open(
    candidates: Candidates,
    member: Ints32,
    left: Ints,
    least: int,
    price: Floats,
    chosen: Chosen,
) -> tuple[NDArray[np.bool_], Ints, Ints, Ints]:
    """Open candidates by rising regret: which, and unit, candidate and rows of each piece."""
    count = len(candidates.cost)
    skip = candidates.start[:-1].copy()  # units before are used up
    key = np.empty(count)
    heap = np.empty(count, np.int64)
    capacity = 2 * len(left) + 16
    unit, group = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    taken_rows = np.empty(capacity, np.int64)
    opened = np.zeros(count, np.bool_)
    size = pieces = entered = 0
    while entered < count or size > 0:
        # First each candidate enters the heap, then that of least regret leaves it.
        enters = entered < count  # first all candidates enter the heap
        g = entered
        entered += enters
        if not enters:
            size -= 1
            g, last, place = heap[0], heap[size], 0  # take the top, sift the last one down
            while 2 * place + 1 < size:
                child = 2 * place + 1
                if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
                    child += 1
                if key[heap[child]] >= key[last]:
                    break
                heap[place] = heap[child]
                place = child
            heap[place] = last
        regret, taken = _regret(candidates, member, g, price, left, least, skip, chosen)
        if regret == np.inf:
            continue
        if enters or regret > key[g] + 1e-12:  # its regret has risen: again into the heap
            key[g] = regret
            place = size
            while place > 0 and key[heap[(place - 1) >> 1]] > regret:
                heap[place] = heap[(place - 1) >> 1]
                place = (place - 1) >> 1
            heap[place] = g
            size += 1
            continue
        # No other candidate has less regret: open it, and take its rows.
        opened[g] = True
        for p in range(taken):
            left[chosen.unit[p]] -= chosen.rows[p]
            if pieces == len(unit):
                unit, group = lengthened(unit, 2 * pieces), lengthened(group, 2 * pieces)
                taken_rows = lengthened(taken_rows, 2 * pieces)
            unit[pieces], group[pieces], taken_rows[pieces] = chosen.unit[p], g, chosen.rows[p]
            pieces += 1
    return opened, unit[:pieces], group[:pieces], taken_rows[:pieces]


# Compiled: called for every candidate and every step, mostly on a few units.
@kernel
def _regret(
    candidates: Candidates,
    member: Ints32,
    g: int,
    price: Floats,
    left: Ints,
    least: int,
    skip: Ints,
    chosen: Chosen,
) -> tuple[float, int]:
    """The least regret of rows that are left, ∞ if they are too few; how many pieces they are.

    The pieces are put into ``chosen``.
    """
    # Pass over units that are used up, and begin with no rows.
    end = candidates.start[g + 1]
    p = skip[g]
    while p < end and left[member[p]] == 0:
        p += 1
    skip[g] = p
    cost = candidates.cost[g]
    taken = count = 0
    regret = 0.0
    # Take all rows whose price is not below the cost, then the most expensive others.
    while p < end and (price[member[p]] >= cost or taken < least):
        i = member[p]
        p += 1
        if left[i] == 0:
            continue
        rows = left[i] if price[i] >= cost else min(left[i], least - taken)
        chosen.unit[count], chosen.rows[count] = i, rows
        count += 1
        taken += rows
        regret += rows * (cost - price[i])
    if taken < least:
        return np.inf, 0
    return regret, count
