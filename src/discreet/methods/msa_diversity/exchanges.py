"""Exchange members of near groups where that loses less, the best exchanges first.

All exchanges are compared at once, and the best of those that share no group are made together.
Then only exchanges with a group that changed are compared again, until none loses less. What a
group would lose without one of its rows is kept for each row, so that an exchange is judged by its
two rows alone. ``unplaced_rows.improve`` makes exchanges in the order of the rows instead, which
takes less time in large tables and loses somewhat more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from discreet.methods.msa_diversity.diverse_groups import RANGE, SET, DiverseGroups, Rows
from discreet.table.kernels.lists import starts_of
from discreet.typing import Bools, Codes, Floats, Ints

AT_ONCE = 500_000  # exchanges that are compared at once; 4 MB for each array
ENOUGH = 1e-9  # less loss than this is no gain


class Exchanges(NamedTuple):
    """Pairs of rows in different groups that may change places."""

    row: Ints
    other: Ints
    gain: Floats

    def chosen(self, which: Ints | Bools) -> Exchanges:
        """Return some of them."""
        return Exchanges(self.row[which], self.other[which], self.gain[which])


class Members:
    """The rows of each group, one group after the other; an exchange changes no size."""

    def __init__(self, groups: DiverseGroups) -> None:
        self.group_of_row = groups.group_of_row.astype(np.int64)
        self.size = groups.size.astype(np.int64)
        self.start = starts_of(self.size)
        placed = np.flatnonzero(self.group_of_row >= 0)
        self.rows = placed[np.argsort(self.group_of_row[placed], kind="stable")]
        self._place = np.full(len(self.group_of_row), -1)
        self._place[self.rows] = np.arange(len(self.rows))

    def each(self, groups: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield the first row of each group, then the second, and which groups have one."""
        start, size = self.start[groups], self.size[groups]
        has = np.arange(len(groups))
        for number in range(int(size.max(initial=0))):
            has = has[size[has] > number]
            yield has, self.rows[start[has] + number]

    def of(self, groups: Ints) -> Ints:
        """Return all rows of some groups."""
        return np.concatenate([np.zeros(0, np.int64), *(row for _, row in self.each(groups))])

    def count(self, cells: Codes, leaving: Ints, entering: Ints) -> Ints:
        """Return how many rows of the group of ``leaving``, without it, have the other's cell."""
        count = np.zeros(len(leaving), np.int64)
        wanted = cells[entering]
        for has, member in self.each(self.group_of_row[leaving]):
            count[has] += (cells[member] == wanted[has]) & (member != leaving[has])
        return count

    def exchange(self, row: Ints, other: Ints) -> None:
        """Let rows change places; no group has two of them."""
        for one in (self.group_of_row, self._place):
            one[row], one[other] = one[other], one[row]
        self.rows[self._place[row]] = row
        self.rows[self._place[other]] = other

    def write(self, groups: DiverseGroups) -> None:
        """Write the lists of the groups anew."""
        groups.group_of_row[:] = self.group_of_row
        some = np.flatnonzero(self.size)
        groups.first[some] = self.rows[self.start[some]]
        groups.next_row[self.rows[:-1]] = self.rows[1:]
        groups.next_row[self.rows[self.start[some] + self.size[some] - 1]] = -1


class Loss(Protocol):
    """The loss of one quasi-identifier in groups."""

    def refresh(self, members: Members, groups: Ints) -> None:
        """Find what groups that changed would lose without each of their rows."""

    def after(self, members: Members, leaving: Ints, entering: Ints) -> Floats:
        """Return the loss of the group of ``leaving`` if the other row took its place."""


class RangeLoss:
    """The range of a group's places."""

    def __init__(self, rows: Rows, q: int) -> None:
        self._place = rows.place[rows.start[q] + rows.codes[:, q]]
        self._low = np.empty(len(self._place))  # of the group without the row
        self._high = np.empty(len(self._place))

    def refresh(self, members: Members, groups: Ints) -> None:
        least, greatest = np.full((2, 2, len(groups)), np.inf)  # and the second ones
        for has, member in members.each(groups):
            for ends, place in ((least, self._place[member]), (greatest, -self._place[member])):
                ends[1, has] = np.minimum(ends[1, has], np.maximum(ends[0, has], place))
                ends[0, has] = np.minimum(ends[0, has], place)
        for has, member in members.each(groups):
            place = self._place[member]
            self._low[member] = np.where(place == least[0, has], least[1, has], least[0, has])
            high = np.where(-place == greatest[0, has], greatest[1, has], greatest[0, has])
            self._high[member] = -high

    def after(self, members: Members, leaving: Ints, entering: Ints) -> Floats:
        place = self._place[entering]
        low, high = self._low[leaving], self._high[leaving]
        return np.asarray(np.maximum(high, place) - np.minimum(low, place))


class SetLoss:
    """The number of a group's values."""

    def __init__(self, rows: Rows, q: int) -> None:
        self._codes = np.ascontiguousarray(rows.codes[:, q])
        self._values = int(rows.cardinality[q])
        self._distinct = np.zeros(len(self._codes), np.int64)  # of the group without the row

    def refresh(self, members: Members, groups: Ints) -> None:
        row = members.of(groups)
        group = members.group_of_row[row]
        cells, cell_of, count = np.unique(
            group * self._values + self._codes[row], return_inverse=True, return_counts=True
        )
        distinct = np.bincount(cells // self._values, minlength=len(members.size))
        self._distinct[row] = distinct[group] - (count[cell_of] == 1)

    def after(self, members: Members, leaving: Ints, entering: Ints) -> Floats:
        new = members.count(self._codes, leaving, entering) == 0
        return np.asarray((self._distinct[leaving] + new - 1) / max(self._values - 1, 1))


class TreeLoss:
    """The loss of the lowest common ancestor of a group's values.

    That of some values is the greatest of one of them with each other one; with a further value, it
    is the greater of that and the loss of the further value with any of them.
    """

    def __init__(self, rows: Rows, q: int) -> None:
        self._codes = np.ascontiguousarray(rows.codes[:, q])
        values = int(rows.cardinality[q])
        start = int(rows.pair_start[q])
        self._pair = rows.pair[start : start + values**2].reshape(values, values)
        self._loss = np.zeros(len(self._codes))  # of the group without the row
        self._mate = np.arange(len(self._codes))  # a row of the group without the row

    def refresh(self, members: Members, groups: Ints) -> None:
        first = members.rows[members.start[groups]]
        second = members.rows[np.minimum(members.start[groups] + 1, len(members.rows) - 1)]
        greatest = np.zeros((2, len(groups)))  # with the first row, and the second greatest
        of_second = np.zeros(len(groups))  # the greatest with the second row, without the first
        for number, (has, member) in enumerate(members.each(groups)):
            loss = self._between(first[has], member)
            greatest[1, has] = np.maximum(greatest[1, has], np.minimum(greatest[0, has], loss))
            greatest[0, has] = np.maximum(greatest[0, has], loss)
            if number:
                loss = self._between(second[has], member)
                of_second[has] = np.maximum(of_second[has], loss)
        for number, (has, member) in enumerate(members.each(groups)):
            if number:
                largest = self._between(first[has], member) == greatest[0, has]
                self._loss[member] = np.where(largest, greatest[1, has], greatest[0, has])
                self._mate[member] = first[has]
            else:
                alone = members.size[groups[has]] == 1
                self._loss[member] = np.where(alone, 0.0, of_second[has])
                self._mate[member] = np.where(alone, -1, second[has])

    def _between(self, row: Ints, other: Ints) -> Floats:
        return np.asarray(self._pair[self._codes[row], self._codes[other]])

    def after(self, members: Members, leaving: Ints, entering: Ints) -> Floats:
        mate = self._mate[leaving]
        return np.asarray(
            np.where(mate < 0, 0.0, np.maximum(self._loss[leaving], self._between(mate, entering)))
        )


def exchange_best(
    rows: Rows, groups: DiverseGroups, loss: Floats, reach: int, most: int, passes: int
) -> int:
    """Exchange members of near groups where that loses less; return how many times.

    Rows at most ``reach`` apart on the curve are compared, at most so often as ``passes`` over all
    of them would. Groups of more than ``most`` rows stay as they are: an exchange costs much and
    gains little. ``loss`` is that of each group times its rows, before and after.
    """
    members = Members(groups)
    last = np.argsort(rows.kind == SET, kind="stable")  # sets take longest, after the others few
    losses = [_loss_of(rows, int(q)) for q in last]
    fixed = (members.size == 0) | (members.size > most)
    changed = np.flatnonzero(~fixed)
    found = Exchanges(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    left = passes * len(rows.values)
    swaps = 0
    while len(changed) and left > 0:
        for one in losses:
            one.refresh(members, changed)
        left -= int(members.size[changed].sum())
        fresh = list(_compared(rows, members, losses, loss, fixed, changed, reach))
        found = Exchanges(*map(np.concatenate, zip(found, *fresh, strict=True)))
        made = _best(found, members.group_of_row, len(members.size))
        here, there = members.group_of_row[made.row], members.group_of_row[made.other]
        for leaving, entering, group in (
            (made.row, made.other, here),
            (made.other, made.row, there),
        ):
            loss[group] = sum(_after(members, one, leaving, entering) for one in losses)
        members.exchange(made.row, made.other)
        swaps += len(made.row)
        changed = np.concatenate([here, there])
        touched = np.zeros(len(members.size), np.bool_)
        touched[changed] = True
        of_row = members.group_of_row
        found = found.chosen(~touched[of_row[found.row]] & ~touched[of_row[found.other]])
    members.write(groups)
    return swaps


def _loss_of(rows: Rows, q: int) -> Loss:
    if rows.kind[q] == RANGE:
        return RangeLoss(rows, q)
    return SetLoss(rows, q) if rows.kind[q] == SET else TreeLoss(rows, q)


def _compared(
    rows: Rows, members: Members, losses: list[Loss], loss: Floats, fixed: Bools, changed: Ints,
    reach: int,
) -> Iterator[Exchanges]:  # fmt: skip
    """Yield exchanges of rows in changed groups that keep the bounds and lose less."""
    of_row = members.group_of_row
    new = np.zeros(len(members.size), np.bool_)
    new[changed] = True
    mine = np.sort(members.of(changed))
    distance = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
    step = max(AT_ONCE // len(distance), 1)
    for begin in range(0, len(mine), step):
        row, other = np.broadcast_arrays(
            mine[begin : begin + step, None], mine[begin : begin + step, None] + distance
        )
        inside = (other >= 0) & (other < len(of_row))
        row, other = row[inside], other[inside]
        here, there = of_row[row], of_row[other]
        some = (there >= 0) & (here != there) & ~fixed[there] & ((row < other) | ~new[there])
        before = loss[here] + loss[there]
        some &= before >= ENOUGH
        one = Exchanges(row[some], other[some], before[some])
        for loss_of_one in losses:
            gain = one.gain - _after(members, loss_of_one, one.row, one.other)
            gain -= _after(members, loss_of_one, one.other, one.row)
            one = one._replace(gain=gain).chosen(gain > ENOUGH)
        one = one.chosen(_fits(rows, members, one.row, one.other))
        yield one.chosen(_fits(rows, members, one.other, one.row))


def _after(members: Members, loss: Loss, leaving: Ints, entering: Ints) -> Floats:
    """Return the loss of the groups of ``leaving`` times their rows, after exchanges."""
    size = members.size[members.group_of_row[leaving]]
    return np.asarray(size * loss.after(members, leaving, entering))


def _fits(rows: Rows, members: Members, leaving: Ints, entering: Ints) -> Bools:
    """Return which rows keep the bounds of a group in the place of a member."""
    size = members.size[members.group_of_row[leaving]]
    fits = np.ones(len(leaving), np.bool_)
    for j, values in enumerate(np.ascontiguousarray(rows.values.T)):
        count = members.count(values, leaving, entering)
        harmless = values[entering] < 0
        fits &= harmless | (count + 1 <= size * rows.part[j] // rows.whole[j])
    return fits


def _best(found: Exchanges, group_of_row: Ints, groups: int) -> Exchanges:
    """Return exchanges that share no group, the greatest gain first."""
    order = np.argsort(-found.gain, kind="stable")
    here, there = group_of_row[found.row[order]], group_of_row[found.other[order]]
    taken = np.zeros(groups, np.bool_)
    first = np.empty(groups, np.int64)
    made = []
    left = np.arange(len(order))
    while len(left):
        for of in (here, there):
            first[of[left]] = len(order)
        for of in (here, there):
            np.minimum.at(first, of[left], left)
        best = left[(first[here[left]] == left) & (first[there[left]] == left)]
        made.append(order[best])
        taken[here[best]] = taken[there[best]] = True
        left = left[~taken[here[left]] & ~taken[there[left]]]
    return found.chosen(np.concatenate([np.zeros(0, np.int64), *made]))
