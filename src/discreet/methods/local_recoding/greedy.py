"""The greedy choice of candidates by their regret at given prices.

The candidate with the least regret, the least Σ (c(g) − u) over sets of rows left under g that have
what every group needs, is opened and takes those rows; rows of one unit may be split. The set is
all rows whose price is not below c(g), a row of the most expensive unit of each value that is
lacking then, and the most expensive others up to k rows: the least regret where one attribute needs
values, nearly so where several do. Fewer rows are left after every choice, so a regret only rises,
and a heap whose keys are renewed when they come to the top is exact. What is left in the end joins
the cheapest open candidate that covers it, or goes home where that is cheaper: to a class that is
already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.methods.local_recoding.candidates import Candidates
from discreet.methods.local_recoding.group_needs import (
    Needs,
    ValueTally,
    add_unit,
    brings,
    new_tally,
    start_set,
)
from discreet.table.kernels import kernel
from discreet.typing import Floats, Ints, Ints32


class Chosen(NamedTuple):
    """Room for the rows of one candidate that have the least regret."""

    unit: Ints
    rows: Ints
    lacked: Ints  # units that brought a value


@kernel
def choose(
    candidates: Candidates, rows: Ints, needs: Needs, price: Floats, home_cost: Floats
) -> tuple[Ints, Ints, Ints, Ints]:
    """Unit, candidate (−1: home) and rows of each piece, and what is left of each unit.

    ``home_cost`` is what each unit pays in an existing class, ∞ if none covers it.
    """
    count = len(candidates.cost)
    member = _dearest_first(candidates, price)
    left = rows.copy()
    skip = candidates.start[:-1].copy()  # units before are used up
    tally = new_tally(needs)
    chosen = _room(candidates, needs)
    key = np.empty(count)
    heap = np.empty(count, np.int64)
    size = 0
    for g in range(count):
        key[g], _ = _regret(candidates, member, g, price, left, needs, skip, tally, chosen)
        if key[g] < np.inf:
            _push(heap, key, size, g)
            size += 1
    capacity = 2 * len(rows) + 16
    unit, group = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    taken_rows = np.empty(capacity, np.int64)
    pieces = 0
    opened = np.zeros(count, np.bool_)
    while size > 0:
        g = _pop(heap, key, size)
        size -= 1
        regret, taken = _regret(candidates, member, g, price, left, needs, skip, tally, chosen)
        if regret == np.inf:
            continue
        if regret > key[g] + 1e-12:
            key[g] = regret
            _push(heap, key, size, g)
            size += 1
            continue
        opened[g] = True
        for p in range(taken):
            left[chosen.unit[p]] -= chosen.rows[p]
            if pieces == len(unit):
                unit, group, taken_rows = _grown(unit), _grown(group), _grown(taken_rows)
            unit[pieces], group[pieces], taken_rows[pieces] = chosen.unit[p], g, chosen.rows[p]
            pieces += 1
    return _join(
        candidates, opened, home_cost, left, unit[:pieces], group[:pieces], taken_rows[:pieces]
    )


@kernel
def _join(
    candidates: Candidates,
    opened: NDArray[np.bool_],
    home_cost: Floats,
    left: Ints,
    unit: Ints,
    group: Ints,
    rows: Ints,
) -> tuple[Ints, Ints, Ints, Ints]:
    """Let what is left join the cheapest open candidate that covers it, or go home."""
    best = home_cost.copy()
    which = np.full(len(left), -1, np.int64)
    for g in np.flatnonzero(opened):
        for p in range(candidates.start[g], candidates.start[g + 1]):
            i = candidates.member[p]
            if candidates.cost[g] < best[i]:
                best[i] = candidates.cost[g]
                which[i] = g
    joins = np.flatnonzero((left > 0) & (best < np.inf))
    unit = np.concatenate((unit, joins))
    group = np.concatenate((group, which[joins]))
    rows = np.concatenate((rows, left[joins]))
    left[joins] = 0
    return unit, group, rows, left


@kernel
def _dearest_first(candidates: Candidates, price: Floats) -> Ints32:
    """The members of every candidate in the order of falling prices, by transposing twice."""
    units = len(price)
    order = np.argsort(-price, kind="mergesort")
    place_of = np.empty(units, np.int64)
    place_of[order] = np.arange(units)
    end = np.zeros(units + 1, np.int64)
    for i in candidates.member:
        end[place_of[i] + 1] += 1
    for q in range(units):
        end[q + 1] += end[q]
    of_unit = np.empty(len(candidates.member), np.int32)
    for g in range(len(candidates.cost)):
        for p in range(candidates.start[g], candidates.start[g + 1]):
            q = place_of[candidates.member[p]]
            of_unit[end[q]] = g
            end[q] += 1
    place = candidates.start[:-1].copy()
    member = np.empty_like(candidates.member)
    begin = 0
    for q in range(units):
        for p in range(begin, end[q]):
            g = of_unit[p]
            member[place[g]] = order[q]
            place[g] += 1
        begin = end[q]
    return member


@kernel
def _room(candidates: Candidates, needs: Needs) -> Chosen:
    longest = 0
    for g in range(len(candidates.cost)):
        longest = max(longest, candidates.start[g + 1] - candidates.start[g])
    values = needs.values.sum()
    return Chosen(
        np.empty(longest + values, np.int64),
        np.empty(longest + values, np.int64),
        np.empty(values, np.int64),
    )


@kernel
def _regret(
    candidates: Candidates,
    member: Ints32,
    g: int,
    price: Floats,
    left: Ints,
    needs: Needs,
    skip: Ints,
    tally: ValueTally,
    chosen: Chosen,
) -> tuple[float, int]:
    """The least regret of rows that are left, ∞ if they lack something; how many pieces they are.

    The pieces are put into ``chosen``; a unit may have two.
    """
    end = candidates.start[g + 1]
    p = skip[g]
    while p < end and left[member[p]] == 0:
        p += 1
    skip[g] = p
    cost = candidates.cost[g]
    lacking = start_set(tally, needs)
    taken = count = 0
    regret = 0.0
    while p < end and price[member[p]] >= cost:
        i = member[p]
        p += 1
        if left[i] == 0:
            continue
        lacking -= add_unit(tally, needs, i)
        chosen.unit[count], chosen.rows[count] = i, left[i]
        count += 1
        taken += left[i]
        regret += left[i] * (cost - price[i])
    lent = 0
    for q in range(p, end):
        if lacking == 0:
            break
        i = member[q]
        if left[i] > 0 and brings(tally, needs, i):
            lacking -= add_unit(tally, needs, i)
            chosen.lacked[lent] = i
            lent += 1
            chosen.unit[count], chosen.rows[count] = i, 1
            count += 1
            taken += 1
            regret += cost - price[i]
    if lacking > 0:
        return np.inf, 0
    while p < end and taken < needs.rows:
        i = member[p]
        p += 1
        share = left[i]
        for q in range(lent):
            if chosen.lacked[q] == i:
                share -= 1
        share = min(share, needs.rows - taken)
        if share > 0:
            chosen.unit[count], chosen.rows[count] = i, share
            count += 1
            taken += share
            regret += share * (cost - price[i])
    if taken < needs.rows:
        return np.inf, 0
    return regret, count


@kernel
def _push(heap: Ints, key: Floats, size: int, g: int) -> None:
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if key[heap[above]] <= key[g]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = g


@kernel
def _pop(heap: Ints, key: Floats, size: int) -> int:
    top = heap[0]
    g = heap[size - 1]
    size -= 1
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[heap[child]] >= key[g]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = g
    return int(top)


@kernel
def _grown(array: Ints) -> Ints:
    bigger = np.empty(2 * len(array), array.dtype)
    bigger[: len(array)] = array
    return bigger
