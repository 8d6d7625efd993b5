"""What is left when group forming ends: each residual row joins a group that lacks its value.

One such group always exists: with ℓ at most ⌊n / n1⌋ no value has more rows than there are groups.
Preferred is a group that the row saves from noise; among others chance decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.methods.decomposition.bucket_groups import Formed
from discreet.table.coded_table import Column

CONSIDERED = 4096  # groups that lack values and may be saved, at most


def join_residual_rows(
    formed: Formed,
    primary: Column,
    others: Sequence[Column],
    wanted: Sequence[int],
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """The group of every row, residual ones included."""
    residual = rng.permutation(np.flatnonzero(formed.group_of_row < 0))
    if not len(residual):
        return formed.group_of_row
    group_of_row = formed.group_of_row.copy()
    short = np.flatnonzero(formed.short)
    if len(short) > CONSIDERED:
        short = rng.choice(short, CONSIDERED, replace=False)
    groups_of_value = _groups_of_values(primary, residual, group_of_row)
    values = _values_of_groups(short, group_of_row, others)
    lacking = {
        int(group): [
            max(want - len(held), 0) for want, held in zip(wanted, values[int(group)], strict=True)
        ]
        for group in short
    }
    for row in residual:
        value = int(primary.codes[row])
        has_value = np.zeros(formed.groups, bool)
        has_value[groups_of_value[value]] = True
        group = _most_saved(row, has_value, values, lacking, others)
        if group is None:
            group = int(rng.choice(np.flatnonzero(~has_value)))
        group_of_row[row] = group
        groups_of_value[value] = np.append(groups_of_value[value], np.int32(group))
        for place, column in enumerate(others):
            if group in values and column.codes[row] not in values[group][place]:
                values[group][place].add(int(column.codes[row]))
                lacking[group][place] = max(lacking[group][place] - 1, 0)
    return group_of_row


def _groups_of_values(
    primary: Column, residual: NDArray[np.intp], group_of_row: NDArray[np.int32]
) -> dict[int, NDArray[np.int32]]:
    """The groups that have each residual row's primary value."""
    groups = {}
    for value in np.unique(primary.codes[residual]):
        found = group_of_row[primary.codes == value]
        groups[int(value)] = found[found >= 0]
    return groups


def _values_of_groups(
    groups: NDArray[np.intp], group_of_row: NDArray[np.int32], columns: Sequence[Column]
) -> dict[int, list[set[int]]]:
    values: dict[int, list[set[int]]] = {int(g): [set() for _ in columns] for g in groups}
    for row in np.flatnonzero(np.isin(group_of_row, groups)):
        for place, column in enumerate(columns):
            values[int(group_of_row[row])][place].add(int(column.codes[row]))
    return values


def _most_saved(
    row: int,
    has_value: NDArray[np.bool_],
    values: dict[int, list[set[int]]],
    lacking: dict[int, list[int]],
    columns: Sequence[Column],
) -> int | None:
    """The group that a row saves from most noise; None where it saves none."""
    best, most = None, 0
    for group, lacks in lacking.items():
        if has_value[group]:
            continue
        saved = sum(
            lack > 0 and int(column.codes[row]) not in held
            for lack, held, column in zip(lacks, values[group], columns, strict=True)
        )
        if saved > most:
            best, most = group, saved
    return best
