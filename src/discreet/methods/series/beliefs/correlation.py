"""How a person's sensitive value follows the one before it: the correlation table C.

Abdalaal (2012, section 4.3, tables 37 and 39). C states P(new | old) for some pairs
of values. What it leaves unstated is filled by a declared rule, so that every reader of a guarantee
knows what it rests on:

- ``spread``: the unstated mass 1 − ΣP(·|old) lies evenly on all values for which nothing is stated,
- ``stay``: it lies on the old value itself (with an empty C: values never change).

C applies to two consecutive releases in which a person appears, whatever lies between.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unstated = Literal["spread", "stay"]
Value = str | None


@dataclass(frozen=True, eq=False)
class Correlation:
    """The stated probabilities and the rule for what is unstated."""

    stated: Mapping[Value, Mapping[Value, float]] = field(default_factory=dict)  # old → new → P
    unstated: Unstated = "spread"

    @classmethod
    def of(cls, rows: Iterable[tuple[Value, Value, float]], unstated: Unstated) -> Correlation:
        """The table with some rows of old, new and probability."""
        stated: dict[Value, dict[Value, float]] = {}
        for old, new, probability in rows:
            stated.setdefault(old, {})[new] = probability
        return cls(stated, unstated)

    @property
    def values(self) -> set[Value]:
        """The values that it names."""
        return {*self.stated, *(new for row in self.stated.values() for new in row)}

    @property
    def sha256(self) -> str:
        """The hash of what it states, whatever its file looks like."""
        rows = sorted(
            [old is None, old or "", new is None, new or "", float(chance)]
            for old, row in self.stated.items()
            for new, chance in row.items()
        )
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def matrix(self, values: Sequence[Value]) -> NDArray[np.float64]:
        """P(new | old) for all pairs of some values, which hold all that it names; rows add to 1.

        Where a row states every value and less than 1 in all, it is scaled.
        """
        size = len(values)
        place = {value: code for code, value in enumerate(values)}
        matrix = np.zeros((size, size))
        for old in range(size):
            row = self.stated.get(values[old], {})
            named = np.array([place[new] for new in row], np.int64)
            matrix[old, named] = list(row.values())
            rest = max(1.0 - sum(row.values()), 0.0)
            free = np.ones(size, bool)
            free[named] = False
            if self.unstated == "stay":
                matrix[old, old] += rest
            elif free.any():
                matrix[old, free] = rest / int(free.sum())
        total = matrix.sum(axis=1, keepdims=True)
        return matrix / np.where(total > 0, total, 1.0)


def problems_of(rows: Sequence[tuple[int, Value, Value, float | None]]) -> list[str]:
    """What is wrong with the rows of a table, each with its line; values are not repeated."""
    problems = []
    first: dict[tuple[Value, Value], int] = {}
    total: dict[Value, float] = {}
    last: dict[Value, int] = {}
    for line, old, new, probability in rows:
        if probability is None or not 0.0 <= probability <= 1.0:
            problems.append(f"line {line}: the probability is not a number from 0 to 1")
            continue
        if (old, new) in first:
            problems.append(f"line {line}: the same pair of values as on line {first[old, new]}")
            continue
        first[old, new] = line
        total[old] = total.get(old, 0.0) + probability
        last[old] = line
    problems += [
        f"line {last[old]}: the probabilities of its old value add up to {mass:.4g}, above 1"
        for old, mass in total.items()
        if mass > 1 + 1e-9
    ]
    return problems


def estimated(pairs: Iterable[tuple[Value, Value]]) -> list[tuple[Value, Value, float]]:
    """The rows of a table estimated from the old and the new value of each person."""
    counts: dict[Value, dict[Value, int]] = {}
    for old, new in pairs:
        row = counts.setdefault(old, {})
        row[new] = row.get(new, 0) + 1
    return [
        (old, new, count / sum(row.values()))
        for old, row in counts.items()
        for new, count in row.items()
    ]
