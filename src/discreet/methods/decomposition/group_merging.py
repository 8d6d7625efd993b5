"""Groups that no noise can fill, because attributes depend on each other, are merged with others.

A primary value has at most a share of 1/l_pri in each of two groups, so also in their union. A
partner has the same size, if there is one, and is the nearest by quasi-identifiers among those that
leave fewer values lacking; merging goes on until none is.

Exchanges save noise before that: two groups swap their rows of one primary value. Groups keep their
primary values, so all that group forming promised still holds. A swap is made where it leaves both
groups with less noise to add than before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.methods.decomposition.noise import Noise
from discreet.table.coded_table import Column
from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import entries_of, starts_of
from discreet.typing import Ints, Ints32

Fill = Callable[[NDArray[np.int64], Ints32], Noise]  # starts and members of some groups

PARTNERS = 64  # groups that are considered as partners, drawn at random where there are more
TRIES = 24  # partners for each group, drawn at random


@dataclass(eq=False)
class SignatureGroups:
    """The groups of a table, by rows and by members' signatures."""

    group_of_row: Ints32
    groups: int
    signature_of_row: Ints32
    _rows: NDArray[np.int64] = field(init=False, repr=False)
    _start: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        same = np.zeros(len(self.group_of_row), np.int32)
        self._start, self._rows = order_by_class(self.group_of_row, same, self.groups, 1)

    def rows_of(self, group: int) -> NDArray[np.int64]:
        return self._rows[self._start[group] : self._start[group + 1]]

    @property
    def size(self) -> NDArray[np.int64]:
        return np.diff(self._start)

    def swap(self, first: int, place: int, second: int, other: int) -> None:
        """Exchange two rows, given by their places in two groups."""
        first_row, second_row = self._start[first] + place, self._start[second] + other
        self._rows[first_row], self._rows[second_row] = (
            self._rows[second_row],
            self._rows[first_row],
        )
        self.group_of_row[self._rows[first_row]] = first
        self.group_of_row[self._rows[second_row]] = second

    def needs(self, groups: Sequence[int], fill: Fill) -> NDArray[np.int64]:
        """Return how many values some groups need, those that cannot be found included."""
        noise = self._filled(np.array(groups, np.int64), fill)
        added = np.bincount(noise.group, minlength=len(groups))
        needed: NDArray[np.int64] = (added + noise.lacking.sum(axis=1)).astype(np.int64)
        return needed

    def fill(self, groups: Ints, fill: Fill) -> Noise:
        """Fill up some groups; the noise is by their own numbers."""
        noise = self._filled(groups, fill)
        lacking = np.zeros((self.groups, noise.lacking.shape[1]), np.int32)
        lacking[groups] = noise.lacking
        return Noise(groups[noise.group].astype(np.int32), noise.attribute, noise.value, lacking)

    def _filled(self, groups: Ints, fill: Fill) -> Noise:
        entries, _ = entries_of(self._start, groups)
        return fill(starts_of(self.size[groups]), self.signature_of_row[self._rows[entries]])


@dataclass(frozen=True, eq=False)
class Merged:
    """What became of the groups."""

    group_of_row: Ints32
    groups: int
    noise: Noise
    merged: int  # groups that were merged away
    lacking: Ints32 | None = None  # of the first group that could not be helped, by attribute


def merge_lacking(groups: SignatureGroups, noise: Noise, fill: Fill, task: Task) -> Merged:
    """Merge every group that lacks values with others until it lacks none."""
    lacking = noise.lacking.sum(axis=1)
    into = np.arange(groups.groups)  # the group that each is merged into, or itself
    unions: dict[int, tuple[NDArray[np.int64], Noise]] = {}  # rows and noise of merged groups

    def rows_of(group: int) -> NDArray[np.int64]:
        return unions[group][0] if group in unions else groups.rows_of(group)

    for group in np.flatnonzero(lacking).tolist():
        while into[group] == group and lacking[group] > 0:
            merged = None
            for partner in _partners(group, into, rows_of, task):
                union = np.concatenate([rows_of(group), rows_of(partner)])
                start = np.array([0, len(union)], np.int64)
                filled = fill(start, groups.signature_of_row[union])
                if int(filled.lacking.sum()) < lacking[group]:
                    merged = partner, union, filled
                    break
            if merged is None:
                left = unions[group][1].lacking[0] if group in unions else noise.lacking[group]
                return Merged(groups.group_of_row, groups.groups, noise, 0, left)
            partner, union, filled = merged
            into[into == partner] = group
            unions.pop(partner, None)
            unions[group] = union, filled
            lacking[group] = int(filled.lacking.sum())
    return _renumbered(groups, into, unions, noise)


def _renumbered(
    groups: SignatureGroups,
    into: Ints,
    unions: dict[int, tuple[NDArray[np.int64], Noise]],
    noise: Noise,
) -> Merged:
    """Return the groups that are left, and their noise."""
    remaining, number = np.unique(into, return_inverse=True)
    of_group = number.astype(np.int32)
    untouched = ~np.isin(into, list(unions))[noise.group]
    parts = [
        (of_group[noise.group[untouched]], noise.attribute[untouched], noise.value[untouched]),
        *(
            (np.full(len(added.value), of_group[group], np.int32), added.attribute, added.value)
            for group, (_, added) in unions.items()
        ),
    ]
    group, attribute, value = (
        np.concatenate([part[column] for part in parts]) for column in range(3)
    )
    order = np.argsort(group, kind="stable")
    nothing = np.zeros((len(remaining), noise.lacking.shape[1]), np.int32)
    left = Noise(group[order], attribute[order], value[order], nothing)
    merged = groups.groups - len(remaining)
    return Merged(of_group[groups.group_of_row], len(remaining), left, merged)


def _partners(
    group: int, into: Ints, rows_of: Callable[[int], NDArray[np.int64]], task: Task
) -> list[int]:
    """Other groups: those of the same size first, the nearest of them first."""
    few = len(into) <= 4 * PARTNERS
    drawn = np.arange(len(into)) if few else task.rng.integers(0, len(into), 4 * PARTNERS)
    others = [
        other for other in dict.fromkeys(drawn.tolist()) if other != group and into[other] == other
    ]
    size = len(rows_of(group))
    same = [other for other in others if len(rows_of(other)) == size]
    different = [other for other in others if len(rows_of(other)) != size]
    near = _Nearness(rows_of(group), task.table.quasi_identifiers)
    ordered: list[int] = []
    for part in (same, different):
        part = part if few else part[:PARTNERS]
        ordered += sorted(part, key=lambda other: near.distance(rows_of(other)))
    return ordered


class _Nearness:
    """How far other groups are from one: means on a line, else the values that only one has."""

    def __init__(self, rows: NDArray[np.int64], columns: Sequence[Column]) -> None:
        self._ordered = [
            (column.codes, float(column.codes[rows].mean()), max(column.cardinality - 1, 1))
            for column in columns
            if column.type.ordered
        ]
        self._others = [
            (column.codes, set(column.codes[rows].tolist()))
            for column in columns
            if not column.type.ordered
        ]

    def distance(self, rows: NDArray[np.int64]) -> float:
        total = 0.0
        for codes, mean, width in self._ordered:
            total += abs(float(codes[rows].mean()) - mean) / width
        for codes, own in self._others:
            other = set(codes[rows].tolist())
            total += 1 - len(own & other) / len(own | other)
        return total


def exchange_rows(
    groups: SignatureGroups,
    noise_of_group: NDArray[np.int64],
    primary: Column,
    fill: Fill,
    rng: np.random.Generator,
) -> None:
    """Swap rows of groups that need noise with those of random others, in place.

    ``noise_of_group`` is the noise that each group needs; it is kept up to date.
    """
    for group in np.flatnonzero(noise_of_group):
        for _ in range(TRIES):
            if not noise_of_group[group]:
                break
            rows = groups.rows_of(int(group))
            mine = int(rng.integers(len(rows)))
            other = int(rng.integers(groups.groups))
            theirs = np.flatnonzero(
                primary.codes[groups.rows_of(other)] == primary.codes[rows[mine]]
            )
            if other == group or not len(theirs):
                continue
            place = int(theirs[0])
            groups.swap(int(group), mine, other, place)
            both = [int(group), other]
            needs = groups.needs(both, fill)
            if needs.sum() < noise_of_group[both].sum():
                noise_of_group[both] = needs
            else:
                groups.swap(int(group), mine, other, place)
