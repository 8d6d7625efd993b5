"""Algorithm 1 of the paper as it is printed (figure 13): SA-distinct groups, the rest suppressed.

The paper's matrix of sensitive values has a row for each value of one attribute and a column for
each of another; taking a record strikes its row and its column out. With more than two attributes
a record strikes out every record that shares a value with it, and its number of items is the sum of
the counts of its values. Two readings of the pseudo-code: the loop over distinct quasi-identifiers
never returns to records that were left over where a group was found, so they are suppressed; and
``Satisfy`` asks for ℓ records, so groups have exactly ℓ. Records that share a value which is not
sensitive do not strike each other out.

Cost: for each record that is taken, linear in the records that wait.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.typing import Codes, Ints


def paper_groups(
    values: Codes,  # (rows, bounds) in the order of the curve, HARMLESS where not sensitive
    places: Ints,  # where each distinct combination of quasi-identifiers begins, and the end
    size: int,
) -> NDArray[np.int32]:
    """The group of each row, −1 where it is left over."""
    group_of_row = np.full(len(values), -1, np.int32)
    groups = 0
    waiting = np.zeros(0, np.int64)
    for begin, end in pairwise(places.tolist()):
        waiting = np.concatenate((waiting, np.arange(begin, end)))
        group = _distinct(values, waiting, size)
        if group is None:
            continue  # merge with the records of the next place
        while group is not None:
            group_of_row[group] = groups
            groups += 1
            waiting = waiting[group_of_row[waiting] < 0]
            group = _distinct(values, waiting, size)
        waiting = waiting[:0]
    return group_of_row


def _distinct(values: Codes, waiting: Ints, size: int) -> Ints | None:
    """So many records without a common sensitive value, most items first; None if too few."""
    chosen: list[int] = []
    left = waiting
    while len(chosen) < size:
        if len(left) < size - len(chosen):
            return None
        items = np.zeros(len(left), np.int64)
        for column in values[left].T:
            _, value, count = np.unique(column, return_inverse=True, return_counts=True)
            items += np.where(column >= 0, count[value], 0)
        taken = left[int(items.argmax())]
        chosen.append(int(taken))
        values_taken = values[taken]
        left = left[
            ((values[left] != values_taken) | (values_taken < 0)).all(axis=1) & (left != taken)
        ]
    return np.array(chosen, np.int64)
