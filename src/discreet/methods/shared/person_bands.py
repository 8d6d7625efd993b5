"""Groups of persons whose rows carry the person's number, so that their number is visible.

The number of a person's rows counts as a quasi-identifier: every group consists of persons with
equally many published rows. Persons are grouped band by band, a band for each number of rows. A
band that cannot meet the requirements, such as one of fewer than k persons, joins the next lower
one: rows beyond the lower number, chosen at random, are suppressed. Where a method suppresses no
row, such a band makes the job infeasible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Task
from discreet.methods.shared.judged_persons import counts_on_persons
from discreet.methods.shared.sound_groups import Centres, RowUnits, joined_with_nearest
from discreet.requirements.base import Requirement
from discreet.table.classes import Classes
from discreet.table.persons import Persons
from discreet.typing import Bools, GroupOfRow, Ints

Grouped = Callable[[Task, Persons], GroupOfRow]  # the group of each person of a part


@dataclass(eq=False)
class Band:
    """Persons with the same number of published rows."""

    rows: int  # of each person
    members: Ints
    group: GroupOfRow | None = None  # (members,) −1 for a suppressed one; None where none passes


def banded_groups(
    task: Task, persons: Persons, grouped: Grouped, *, may_suppress: bool = True
) -> tuple[GroupOfRow, int]:
    """The group of each row, −1 for a suppressed one; and how many rows were in excess.

    Unless rows may be suppressed (``may_suppress``), every band must pass by itself.
    """
    if not task.table.rows:
        raise InputError("The table has no rows. Check the source.")
    rank = _random_ranks(persons, task.rng)
    number = np.minimum(persons.rows_of, task.basis.keeping.at_most or task.table.rows)
    bands = [Band(int(n), np.flatnonzero(number == n)) for n in np.unique(number)[::-1]]
    forming = _Bands(task, persons, rank, grouped)
    for band in bands:
        forming.form(band, last=len(bands) == 1)
    while True:  # highest first
        failing = [place for place, band in enumerate(bands) if band.group is None]
        if not failing and len(bands) > 1:
            failing = forming.settle(bands)
        if not failing:
            break
        if not may_suppress:
            raise _too_few(bands[failing[0]])
        upper = min(failing[0], len(bands) - 2)
        joined = np.sort(np.concatenate([bands[upper].members, bands[upper + 1].members]))
        bands[upper : upper + 2] = [Band(bands[upper + 1].rows, joined)]
        forming.form(bands[upper], last=len(bands) == 1)
    group = forming.groups(bands)
    excess = sum(int((persons.rows_of[b.members] - b.rows).sum()) for b in bands)
    return group, excess


def _too_few(band: Band) -> InfeasibleError:
    """The refusal of a band whose persons do not meet the requirements."""
    return InfeasibleError(
        "The release shows how many rows each person has, so persons are grouped with others who "
        f"have equally many; the {len(band.members):,} persons with {band.rows:,} rows do not meet "
        "the requirements among themselves. Use 'rows: collapse', or mondrian, whose releases do "
        "not show it."
    )


class _Bands:
    """Form the bands of one table."""

    def __init__(self, task: Task, persons: Persons, rank: Ints, grouped: Grouped) -> None:
        self.task, self.persons, self.rank, self.grouped = task, persons, rank, grouped
        self.least = max((r.needs.rows for r in task.requirements), default=1)

    def form(self, band: Band, *, last: bool) -> None:
        """Group the persons of a band, if that can be; the last one must."""
        if len(band.members) < self.least and not last:
            return
        rows, members = self._part(band)
        basis = replace(self.task.basis, persons=None)
        part = replace(self.task, table=self.task.table.take(rows), basis=basis)
        try:
            band.group = self.grouped(part, members)
        except InfeasibleError:
            if last:
                raise

    def _part(self, band: Band) -> tuple[Ints, Persons]:
        """The published rows of a band, and their persons."""
        place = np.full(self.persons.count, -1, np.int64)
        place[band.members] = np.arange(len(band.members))
        place_of_row = place[self.persons.number]
        rows = np.flatnonzero((place_of_row >= 0) & (self.rank < band.rows))
        return rows, Persons(place_of_row[rows], len(band.members), 0)

    def groups(self, bands: list[Band]) -> GroupOfRow:
        """The group of each row, over all bands."""
        group = np.full(len(self.persons.number), -1, np.int32)
        before = 0
        for band in bands:
            assert band.group is not None
            rows, members = self._part(band)
            of_row = band.group[members.number]
            group[rows] = np.where(of_row < 0, -1, of_row + before)
            before += int(band.group.max(initial=-1)) + 1
        return group

    def settle(self, bands: list[Band]) -> list[int]:
        """Merge groups that fail beside those of other bands; the bands whose only group does.

        Each band passes by itself, but requirements against the table compare with all of them.
        """
        moving = [r for r in self.task.requirements if r.algebra.against_table]
        while moving:
            fails = self._fails(bands, moving)
            if not any(own.any() for own in fails):
                return []
            alone = [i for i, own in enumerate(fails) if len(own) == 1 and own.any()]
            if alone:
                return alone
            for band, own in zip(bands, fails, strict=True):
                if own.any() and band.group is not None:
                    rows, members = self._part(band)
                    shown = np.flatnonzero(band.group >= 0)
                    units = RowUnits.of(self.task.table.take(rows), members.number)
                    group = band.group[shown]
                    centres = Centres.of(group, units.place[shown])
                    merged = joined_with_nearest(centres.of_groups(np.arange(len(own))), own)
                    band.group[shown] = np.unique(merged[group], return_inverse=True)[1]
        return []

    def _fails(self, bands: list[Band], moving: Sequence[Requirement]) -> list[Bools]:
        """By band, which groups fail."""
        group = self.groups(bands)
        rows = np.flatnonzero(group >= 0)
        classes = Classes.of_numbers(group[rows])
        passes = np.ones(classes.count, bool)
        sensitive = [column.take(rows) for column in self.task.table.sensitive]
        members = self.persons.take(rows)
        for requirement in moving:
            counts = counts_on_persons(requirement, classes, members, sensitive)
            passes &= requirement.passes(counts, self.task.domains)
        count = [int(band.group.max(initial=-1)) + 1 for band in bands if band.group is not None]
        return np.split(~passes, np.cumsum(count)[:-1])


def _random_ranks(persons: Persons, rng: np.random.Generator) -> NDArray[np.int64]:
    """A random place of each row among those of its person."""
    order = np.lexsort((rng.random(len(persons.number)), persons.number))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - persons.start[persons.number[order]]
    return rank
