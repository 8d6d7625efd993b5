"""Simple methods to compare with: swapping, PRAM, slicing, and microaggregation (MDAV).

None of them promises what discreet audits. Each gets a parameter that is as near to ℓ as it has:

==================  =======================================  ====================================
method              what is published                        parameter for ℓ
==================  =======================================  ====================================
``swapping``        rows with the sensitive cells of another  rate 1 − 1/ℓ of the rows
``pram``            rows with some sensitive cells redrawn    rate 1 − 1/ℓ of the cells
``slicing``         columns of attributes, shuffled in        in a bucket, of rows that look alike
                    buckets                                   in a column, 1/ℓ has a value
``mdav``            near rows with the same cells             groups of ℓ rows
==================  =======================================  ====================================

Dalenius and Reiss (1982) swap; Gouweleeuw and others (1998) randomize after the fact, here with
invariant matrices, so that shares of values stay as they are; Li and others (2012) slice; Domingo-
Ferrer and Mateo-Sanz (2002) microaggregate. Of each the plainest form, in a few dozen lines. MDAV
publishes the cells that cover a group and not its means, so that it is audited like every method.

What is read from a perturbed table differs by reader: an analyst takes it as it is, an attacker who
knows the rate believes a published value no more than the rate allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from experiments.rivals.gal import median_parts, places_of
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InfeasibleError
from discreet.methods.base import Generalized, Method, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.registry import METHODS
from discreet.methods.shared.grouped_rows import cells_of_groups
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.typing import Codes, Floats, Ints
from discreet.utility.implied import Implied, ImpliedUnlinked, QueryBatch, exact

Belief = Callable[[CodedTable, Sequence[str]], Floats | None]  # as ``Implied.mass_of_people``


@dataclass(frozen=True)
class Reading:
    """What two readers make of a release."""

    analyst: Implied
    attacker: Belief
    suppressed: float = 0.0  # the share of rows


def swapped(task: Task, ell: int) -> Reading:
    """Rows of a random part of the table exchange all their sensitive cells."""
    table, rate = task.table, 1 - 1 / ell
    moved = np.flatnonzero(task.rng.random(table.rows) < rate)
    row = np.arange(table.rows)
    row[moved] = task.rng.permutation(moved)
    published = _with_codes(table, {c.name: c.codes[row] for c in table.sensitive})
    unlinked = ImpliedUnlinked((published.quasi_identifiers, published.sensitive), table.rows)
    as_it_is = exact([*published.quasi_identifiers, *published.sensitive], table.rows)

    def believe(people: CodedTable, sensitive: Sequence[str]) -> Floats | None:
        seen, torn = (p2.mass_of_people(people, sensitive) for p2 in (as_it_is, unlinked))
        return None if seen is None or torn is None else (1 - rate) * seen + rate * torn

    return Reading(as_it_is, believe)


def randomized(task: Task, ell: int) -> Reading:
    """Each sensitive cell is drawn anew from its column with a probability of 1 − 1/ℓ."""
    table, rate = task.table, 1 - 1 / ell
    drawn = {}
    for column in table.sensitive:
        others = task.rng.choice(column.codes, table.rows)
        drawn[column.name] = np.where(task.rng.random(table.rows) < rate, others, column.codes)
    published = _with_codes(table, drawn)
    as_it_is = exact([*published.quasi_identifiers, *published.sensitive], table.rows)

    def believe(people: CodedTable, sensitive: Sequence[str]) -> Floats | None:
        total = np.zeros(people.rows)
        for count in range(len(sensitive) + 1):
            for untouched in combinations(sensitive, count):
                mass = as_it_is.mass_of_people(people, untouched)
                if mass is None:
                    return None
                mass = mass * (1 - rate) ** count
                for name in set(sensitive) - set(untouched):
                    share = np.bincount(published[name].codes, minlength=table[name].cardinality)
                    mass = mass * rate * share[people[name].codes] / table.rows
                total += mass
        return total

    return Reading(as_it_is, believe)


def _with_codes(table: CodedTable, codes: dict[str, Codes]) -> CodedTable:
    changed = {
        name: replace(table[name], codes=own.astype(np.int32)) for name, own in codes.items()
    }
    return replace(table, columns={**table.columns, **changed})


class Sliced(Implied):
    """Columns of attributes, each shuffled on its own within every bucket."""

    def __init__(
        self, table: CodedTable, columns: Sequence[Sequence[str]], bucket: NDArray[np.int32]
    ) -> None:
        self._table, self._columns, self._bucket = table, columns, bucket
        self._size = np.bincount(bucket).astype(np.float64)

    def estimate(self, batch: QueryBatch) -> Floats:
        found = np.repeat(self._size[:, None], len(batch.number), axis=1)
        for names in self._columns:
            asked = [name for name in names if name in batch.members]
            if asked:
                held = np.ones((self._table.rows, len(batch.number)), bool)
                for name in asked:
                    held &= batch.members[name][self._table[name].codes]
                of_bucket = np.zeros(found.shape)
                np.add.at(of_bucket, self._bucket, held)
                found *= of_bucket / self._size[:, None]
        return np.asarray(found.sum(axis=0))

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats:
        known = {*sensitive, *(column.name for column in self._table.quasi_identifiers)}
        mass = np.repeat(self._size[:, None], people.rows, axis=1)
        for names in self._columns:
            asked = [name for name in names if name in known]
            if asked:
                both = [np.concatenate([p[n].codes for p in (self._table, people)]) for n in asked]
                cardinality = [self._table[name].cardinality for name in asked]
                part = group_codes(both, cardinality, self._table.rows + people.rows)
                own, theirs = np.split(part.class_of_row, [self._table.rows])
                mass *= (self._counts(own, part.count) / self._size[:, None])[:, theirs]
        return np.asarray(mass.sum(axis=0))

    def pair_table(self, first: Column, second: Column) -> Floats:
        codes = [self._table[column.name].codes for column in (first, second)]
        if any({first.name, second.name} <= set(names) for names in self._columns):
            table = np.zeros((first.cardinality, second.cardinality))
            np.add.at(table, tuple(codes), 1)
            return table
        counts = [
            self._counts(c, k.cardinality) for c, k in zip(codes, (first, second), strict=True)
        ]
        return np.asarray((counts[0] / self._size[:, None]).T @ counts[1])

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        drawn: dict[str, Codes] = {}
        place = np.argsort(self._bucket, kind="stable")
        for names in self._columns:
            shuffled = np.lexsort((rng.random(self._table.rows), self._bucket))
            for name in names:
                drawn[name] = np.empty(self._table.rows, np.int32)
                drawn[name][place] = self._table[name].codes[shuffled]
        return drawn

    def _counts(self, codes: Codes, cardinality: int) -> Floats:
        """(buckets, values)."""
        keys = self._bucket.astype(np.int64) * cardinality + codes
        counts = np.bincount(keys, minlength=len(self._size) * cardinality)
        return counts.reshape(-1, cardinality).astype(np.float64)


def sliced(task: Task, ell: int) -> Reading:
    """Slice: a column for each sensitive attribute and its partner, one for what remains.

    The partner is the quasi-identifier that says most about the attribute, of those with which the
    whole table passes. Buckets are halves at medians while both halves pass.
    """
    table = task.table
    free = [column.name for column in table.quasi_identifiers]
    everybody = np.arange(table.rows)
    columns: list[list[str]] = []
    for column in table.sensitive:
        if not _diverse(table, [[column.name]], everybody, ell):
            raise InfeasibleError(f"slicing: a value of {column.name} is above 1/{ell}.", [])
        able = [name for name in free if _diverse(table, [[name, column.name]], everybody, ell)]
        partner = max(able, key=lambda name: _information(table[name], column), default=None)
        free = [name for name in free if name != partner]
        columns.append([column.name] if partner is None else [partner, column.name])
    bucket = median_parts(
        places_of(task), lambda rows: _diverse(table, columns, rows, ell), give_up=False
    )
    release = Sliced(table, [*columns, *([free] if free else [])], bucket)
    return Reading(release, release.mass_of_people)


def _diverse(table: CodedTable, columns: Sequence[Sequence[str]], rows: Ints, ell: int) -> bool:
    """Whether no more than 1/ℓ of the rows that look alike in a column have a sensitive value."""
    for *partners, sensitive in columns:
        groups = group_codes(
            [table[name].codes[rows] for name in partners],
            [table[name].cardinality for name in partners], len(rows),
        )  # fmt: skip
        values = table[sensitive].cardinality
        keys = groups.class_of_row.astype(np.int64) * values + table[sensitive].codes[rows]
        key, count = np.unique(keys, return_counts=True)
        if (count * ell > groups.size[key // values]).any():
            return False
    return True


def _information(first: Column, second: Column) -> float:
    """Mutual information in nats."""
    keys = first.codes.astype(np.int64) * second.cardinality + second.codes
    joint = np.bincount(keys, minlength=first.cardinality * second.cardinality)
    share = joint.reshape(first.cardinality, second.cardinality) / len(first.codes)
    expected = np.outer(share.sum(axis=1), share.sum(axis=0))
    held = share > 0
    return float(share[held] @ np.log(share[held] / expected[held]))


class MdavEntry(MethodEntry):
    """What a manifest says of MDAV."""

    name: Literal["mdav"]

    @property
    def publishes_tight_cells(self) -> bool:
        return True


class Mdav(Method):
    """Microaggregation: groups of k rows around the rows that are farthest from the mean."""

    name: ClassVar[str] = "mdav"
    entry: ClassVar[type[MethodEntry]] = MdavEntry

    k: int = Field(ge=1, description="Least number of rows in a group.")

    def run(self, task: Task) -> Generalized:
        group_of_row = mdav_groups(places_of(task), self.k)
        return Generalized(group_of_row, cells_of_groups(task, group_of_row), {})


def mdav_groups(place: NDArray[np.float64], k: int) -> NDArray[np.int32]:
    """The group of each row; groups have k to 2k − 1 rows, where there are k rows."""
    group_of_row = np.zeros(len(place), np.int32)
    left, groups = np.arange(len(place)), 0

    def take_nearest(center: NDArray[np.float64], rows: Ints) -> tuple[Ints, Ints]:
        order = np.argsort(_distance(place[rows], center), kind="stable")
        return rows[order[:k]], np.sort(rows[order[k:]])

    while len(left) >= 2 * k:
        far = place[left[np.argmax(_distance(place[left], place[left].mean(axis=0)))]]
        # at least 3k rows: a group around the farthest row, and one around what is farthest from it
        for center in (far, place[left[np.argmax(_distance(place[left], far))]]):
            if len(left) >= 2 * k:
                group, left = take_nearest(center, left)
                group_of_row[group] = groups
                groups += 1
    group_of_row[left] = groups
    return group_of_row


def _distance(places: NDArray[np.float64], center: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.square(places - center).sum(axis=1)


PERTURBING: dict[str, Callable[[Task, int], Reading]] = {
    "swapping": swapped,
    "pram": randomized,
    "slicing": sliced,
}


def register() -> None:
    """Add the method for this process."""
    METHODS.register(Mdav)


__all__: Any = ["PERTURBING", "Belief", "Mdav", "Reading", "Sliced", "mdav_groups", "register"]
