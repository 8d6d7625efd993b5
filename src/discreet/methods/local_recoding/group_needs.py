"""What every group needs that can be counted row by row: rows, and different sensitive values.

Requirements say how many rows a class has at least, and how many different values of an attribute.
A group that has both may still fail (a class of three values need not be entropy-diverse); one that
lacks either can't pass. A hull below which there are too few of either can be left out with all
that it contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.requirements.base import Requirement
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
from discreet.typing import Codes, Ints


class Needs(NamedTuple):
    """How many rows and values every group needs, and the values of each unit.

    The attribute that needs most values comes first.
    """

    rows: int
    values: Ints  # (attributes,) different ones; at least 2
    value: Codes  # (units, attributes)
    cardinality: int  # of the attribute with most values

    def take(self, units: NDArray[np.integer]) -> Needs:
        """The same for some units; values are numbered anew."""
        value = np.empty((len(units), len(self.values)), np.int32)
        for j in range(len(self.values)):
            of_unit = self.value[units, j]
            number = np.cumsum(np.bincount(of_unit) > 0, dtype=np.int32)
            value[:, j] = number[of_unit] - 1
        return self._replace(value=value, cardinality=int(value.max(initial=-1)) + 1)


def needs_of(
    requirements: Sequence[Requirement], sensitive: Sequence[Column], row_of_unit: Ints
) -> Needs:
    """The needs that some requirements imply together."""
    rows = max((requirement.least_rows for requirement in requirements), default=1)
    least: dict[str, int] = {}
    for requirement in requirements:
        if requirement.least_values > 1:
            for name in requirement.named or [column.name for column in sensitive]:
                least[name] = max(least.get(name, 1), requirement.least_values)
    columns = [column for column in sensitive if column.name in least]
    columns.sort(key=lambda column: -least[column.name])
    value = np.empty((len(row_of_unit), len(columns)), np.int32)
    for j, column in enumerate(columns):
        value[:, j] = column.codes[row_of_unit]
    values = np.array([least[column.name] for column in columns], np.int64)
    cardinality = max((column.cardinality for column in columns), default=0)
    return Needs(rows, values, value, cardinality)


class ValueTally(NamedTuple):
    """The different values of one set of units after another."""

    stamp: Ints  # (attributes, values) the last set that had each
    lacking: Ints  # (attributes,) how many the current set still needs
    number: Ints  # (1,) of the current set


def new_tally(needs: Needs) -> ValueTally:
    """A tally to be used for any number of sets."""
    attributes = len(needs.values)
    return ValueTally(
        np.zeros((attributes, needs.cardinality), np.int64),
        np.zeros(attributes, np.int64),
        np.zeros(1, np.int64),
    )


# Compiled: called for every unit of a candidate.
@kernel
def add_unit(tally: ValueTally, needs: Needs, unit: int) -> int:
    """Put a unit into the set; how many of the values that it lacked this brings."""
    brought = 0
    number = tally.number[0]
    for j in range(len(needs.values)):
        value = needs.value[unit, j]
        if tally.stamp[j, value] != number:
            tally.stamp[j, value] = number
            if tally.lacking[j] > 0:
                tally.lacking[j] -= 1
                brought += 1
    return brought
