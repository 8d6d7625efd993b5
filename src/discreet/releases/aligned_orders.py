"""By what chance the rows of T^S stand where they would if nobody had shuffled them.

Had they not been shuffled, row i of T^S would be the person in row i, and so fit the sets of that
person's group. Where all rows fit, the chance of that in a random order says what it means. Of few
rows it is exact: the number of orders in which all fit, over all orders. Of many it is estimated
from what other orders of the same rows give, which is never taken for nothing.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import NDArray

from discreet.data.table import Codes
from discreet.kernels import kernel
from discreet.releases.sensitive_sets import Sets, Signatures

SAMPLE = 4096  # rows that are looked at for the order of the others
FEW = 20  # rows; below, all orders are counted
TURNS = 4  # other orders to compare with


def chance_of_order(sets: Sets, signatures: Signatures, group_of_row: Codes) -> float:
    """The chance that a random order fits as this one does; 1 where this one does not fit."""
    rows = len(group_of_row)
    if not rows or len(signatures.of_row) != rows:
        return 1.0
    looked_at = np.linspace(0, rows - 1, min(rows, SAMPLE)).astype(np.int64)
    group, row = group_of_row[looked_at], signatures.of_row[looked_at]
    index = sets.start, sets.value, sets.groups, signatures.codes
    if _supported_rows(*index, group, row) < len(group):
        return 1.0
    if rows < FEW:
        fits = np.empty((rows, rows), np.bool_)
        for i in range(rows):
            for k in range(rows):
                fits[i, k] = _supported_rows(*index, group[i : i + 1], row[k : k + 1])
        return float(_fitting_orders(fits) / factorial(rows))
    share = 0.0
    for turn in range(1, TURNS + 1):
        turned = np.roll(group, turn * len(group) // (TURNS + 1))
        found = _supported_rows(*index, turned, row)
        share = max(share, (found + 3) / (len(group) + 3))
    return float(share ** len(group))


@kernel
def _fitting_orders(fits: NDArray[np.bool_]) -> float:
    """How many orders give each place i a row that fits it: the permanent, over sets of rows."""
    rows = len(fits)
    ways = np.zeros(1 << rows)
    ways[0] = 1.0
    for used in range(1 << rows):
        if ways[used] == 0.0:
            continue
        place = 0
        for row in range(rows):
            place += (used >> row) & 1
        if place < rows:
            for row in range(rows):
                if fits[place, row] and not (used >> row) & 1:
                    ways[used | (1 << row)] += ways[used]
    return float(ways[(1 << rows) - 1])


@kernel
def _supported_rows(
    start: NDArray[np.int64],
    value: NDArray[np.int32],
    groups: int,
    codes: NDArray[np.int32],
    group: NDArray[np.int32],
    signature: NDArray[np.int32],
) -> int:
    supported = 0
    for row in range(len(group)):
        inside = True
        for attribute in range(codes.shape[1]):
            which = attribute * groups + group[row]
            wanted = codes[signature[row], attribute]
            found = False
            for entry in range(start[which], start[which + 1]):
                if value[entry] == wanted:
                    found = True
                    break
            if not found:
                inside = False
                break
        supported += inside
    return supported
