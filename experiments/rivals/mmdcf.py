"""MMDCF: groups of ℓ buckets of a grid over the sensitive attributes that differ in every one.

Yang Xiao-chun and others, "Privacy preserving approaches for multiple sensitive attributes in data
publishing": maximal multi-dimension capacity first, as Abdalaal (2012, section 3.5)
describes it.

===========================  ================================================================
paper                        here
===========================  ================================================================
multi-dimensional bucket     a combination of sensitive values that occurs
selectable capacity          Σ over attributes of the remaining rows with the bucket's value
group                        ℓ buckets that pairwise differ in every attribute
===========================  ================================================================

Equal capacities go by the values' order. A row that remains joins a group from which it
differs in every attribute, the smallest first; else it is suppressed. Rows of one bucket are drawn
by chance; quasi-identifiers are never read, and published as they are: membership is open to
everyone. A group never has a value twice, so its greatest share is at most 1/ℓ: the method promises
p-diversity with ℓ.

Cost: groups × ℓ × buckets.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from experiments.rivals.manifest_entries import MmdcfEntry
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Bucketized, Method, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.shared.grouped_rows import greatest_share, require_all
from discreet.methods.shared.infeasibility import NOTHING_LEFT
from discreet.requirements.diversity import PDiversity
from discreet.table.classes import classes_of
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.table.published import GROUP
from discreet.typing import GroupOfRow


class Mmdcf(Method):
    """Take for each group ℓ buckets that differ in every attribute, the fullest first."""

    name: ClassVar[str] = "mmdcf"
    entry: ClassVar[type[MethodEntry]] = MmdcfEntry

    l: int = Field(ge=1, description="Least number of rows in a group.")  # noqa: E741 (the job's key)

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP,)

    def run(self, task: Task) -> Bucketized:
        """The groups, or InfeasibleError where not one can be formed."""
        table = task.table
        if not table.rows or not table.sensitive:
            raise InputError("mmdcf: the table needs at least one row and one sensitive attribute.")
        group_of_row = self._grouped(task)
        if (group_of_row < 0).all():
            most = min(int((column.counts > 0).sum()) for column in table.sensitive)
            raise InfeasibleError(
                f"mmdcf: no {self.l} rows differ in every sensitive attribute; some attribute has "
                f"{most} values. "
                + (f"Ask for l = {most} at most." if most > 1 else NOTHING_LEFT),
                [{"requirement": self.name, "parameters": {"l": self.l},
                  "feasible": {"l": most} if most > 1 else {}}],
            )  # fmt: skip
        remedies = ("use msa-diversity",)
        require_all(task, group_of_row, "mmdcf: its groups do not meet all requirements", remedies)
        facts = {
            "groups": int(group_of_row.max()) + 1,
            "suppressed_rows": int((group_of_row < 0).sum()),
            "greatest_share": greatest_share(task, group_of_row),
        }
        return Bucketized(group_of_row, facts=facts, promises=(PDiversity(l=self.l),))

    def _grouped(self, task: Task) -> GroupOfRow:
        sensitive = task.table.sensitive
        shuffled = task.rng.permutation(task.table.rows)
        buckets = classes_of(sensitive, task.table.rows)
        values = np.stack([column.codes[buckets.first_row] for column in sensitive], axis=1)
        by_value = np.lexsort(values.T[::-1])
        number = np.empty(buckets.count, np.int32)
        number[by_value] = np.arange(buckets.count)
        bucket_of_row = number[buckets.class_of_row]
        start, order = order_by_class(
            bucket_of_row[shuffled], np.zeros(len(shuffled), np.int32), buckets.count, 1
        )
        most = max(column.cardinality for column in sensitive)
        group_of_place = np.full(task.table.rows, -1, np.int32)
        _fill(values[by_value], start, self.l, most, group_of_place)
        bucket_of_place = np.repeat(np.arange(buckets.count), np.diff(start))
        _place_remaining_rows(values[by_value], bucket_of_place, group_of_place, self.l)
        group_of_row = np.full(task.table.rows, -1, np.int32)
        group_of_row[shuffled[order]] = group_of_place
        return group_of_row


def _fill_at_once(
    values: NDArray[np.int32],
    start: NDArray[np.int64],
    ell: int,
    most: int,
    group_of_place: NDArray[np.int32],
) -> None:
    attribute = np.arange(values.shape[1])
    place, left = start[:-1].copy(), np.diff(start)
    capacity = np.zeros((len(attribute), most), np.int64)
    np.add.at(capacity, (attribute, values), left[:, None])
    groups = 0
    while True:
        total = np.where(left > 0, capacity[attribute, values].sum(axis=1), 0)
        chosen: list[int] = []
        while len(chosen) < ell and total.any():
            chosen.append(int(total.argmax()))
            total[(values == values[chosen[-1]]).any(axis=1)] = 0
        if len(chosen) < ell:
            return
        group_of_place[place[chosen]] = groups
        place[chosen] += 1
        left[chosen] -= 1
        capacity[attribute, values[chosen]] -= 1  # they differ in every attribute
        groups += 1


# Compiled: all buckets are compared for every member of every group.
@kernel(work=15, interpreted=_fill_at_once)
def _fill(
    values: NDArray[np.int32],  # (buckets, attributes)
    start: NDArray[np.int64],  # (buckets + 1,) where the rows of each begin
    ell: int,
    most: int,  # values of an attribute
    group_of_place: NDArray[np.int32],  # (rows,) of the rows, bucket after bucket
) -> None:
    buckets, attributes = values.shape
    taken = np.zeros(buckets, np.int64)
    capacity = np.zeros((attributes, most), np.int64)
    for bucket in range(buckets):
        for j in range(attributes):
            capacity[j, values[bucket, j]] += start[bucket + 1] - start[bucket]
    chosen = np.empty(ell, np.int64)
    groups = 0
    while True:
        members = 0
        while members < ell:
            best = -1
            fullest = 0
            for bucket in range(buckets):
                if start[bucket] + taken[bucket] == start[bucket + 1]:
                    continue
                total = 0
                for j in range(attributes):
                    total += capacity[j, values[bucket, j]]
                differs = total > fullest
                for i in range(members if differs else 0):
                    for j in range(attributes):
                        differs = differs and values[chosen[i], j] != values[bucket, j]
                if differs:
                    best, fullest = bucket, total
            if best < 0:
                break
            chosen[members] = best
            members += 1
        if members < ell:
            break
        for i in range(ell):
            bucket = chosen[i]
            group_of_place[start[bucket] + taken[bucket]] = groups
            taken[bucket] += 1
            for j in range(attributes):
                capacity[j, values[bucket, j]] -= 1
        groups += 1


def _place_remaining_rows(
    values: NDArray[np.int32],  # (buckets, attributes)
    bucket_of_place: NDArray[np.int64],
    group_of_place: NDArray[np.int32],
    ell: int,
) -> None:
    """Each into a group that it was not added to before and from which it differs throughout."""
    left = np.flatnonzero(group_of_place < 0)
    grouped = np.flatnonzero(group_of_place >= 0)
    by_group = grouped[np.argsort(group_of_place[grouped], kind="stable")]
    members = values[bucket_of_place[by_group]].reshape(-1, ell, values.shape[1])
    is_full = np.zeros(len(members), np.bool_)
    for bucket in np.unique(bucket_of_place[left]):
        fitting = np.flatnonzero((members != values[bucket]).all(axis=(1, 2)) & ~is_full)
        place = left[bucket_of_place[left] == bucket][: len(fitting)]
        group_of_place[place] = fitting[: len(place)]
        is_full[fitting[: len(place)]] = True
