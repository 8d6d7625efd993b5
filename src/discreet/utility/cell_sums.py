"""Sums over the cells of a release, or of some of its classes, and the measures that follow.

A release that no machine holds whole is summed up class by class; on one machine the whole table is
summed up at once. The figures follow from the sums alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isclose

import numpy as np
from numpy.typing import NDArray

from discreet.table.coded_table import CodedTable
from discreet.utility.figures import Measures, Structure, counted_rows
from discreet.utility.loss import bits_of_values


@dataclass
class CellSums:
    """Sums over the cells of some classes."""

    rows: int = 0
    classes: int = 0
    squares: int = 0  # Σ |class|²
    loss: dict[str, float] = field(default_factory=dict)  # by attribute: Σ over rows
    bits: dict[str, float] = field(default_factory=dict)  # by attribute: Σ log2 freq(cell)
    masked: int = 0  # sensitive cells that leave several values open
    further: dict[str, float] = field(default_factory=dict)  # what one kind has of its own

    @classmethod
    def of_sizes(cls, size: NDArray[np.int64]) -> CellSums:
        """Return the sums over the sizes of classes or groups."""
        return cls(int(size.sum()), len(size), int((size**2).sum()))

    def __add__(self, other: CellSums) -> CellSums:
        return CellSums(
            self.rows + other.rows,
            self.classes + other.classes,
            self.squares + other.squares,
            _summed(self.loss, other.loss),
            _summed(self.bits, other.bits),
            self.masked + other.masked,
            _summed(self.further, other.further),
        )


def _summed(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {n: first.get(n, 0.0) + second.get(n, 0.0) for n in dict.fromkeys([*first, *second])}


def _given_up(bits: float, exact: float) -> float:
    """Return the entropy of an attribute; sums over many shards may differ by rounding alone."""
    return 0.0 if isclose(bits, exact, rel_tol=1e-12) else bits - exact


def measures_of(
    sums: CellSums,
    original: CodedTable,
    suppressed_rows: int,
    levels: Mapping[str, int] | None = None,
) -> Measures:
    """Return the measures of all published rows, the suppressed ones counted beside them."""
    rows = sums.rows + suppressed_rows
    mean = {n: (lost + suppressed_rows) / rows if rows else 0.0 for n, lost in sums.loss.items()}
    quasi = [column.name for column in original.quasi_identifiers]
    sensitive = [name for name in mean if name not in quasi]
    whole = suppressed_rows * float(np.log2(max(original.rows, 1)))  # of a suppressed cell
    cells = sums.rows * len(sensitive)
    masked = {"masked_cells": sums.masked, "masked_share": sums.masked / max(cells, 1)}
    return Measures(
        structure=Structure(
            classes=sums.classes,
            class_size=rows / sums.classes if sums.classes else None,
            discernibility=sums.squares + suppressed_rows * rows,
            height=None if levels is None else sum(levels.values()),
        ),
        loss_by_attribute={name: mean[name] for name in quasi},
        importance={c.name: c.importance for c in original.quasi_identifiers},
        loss_by_sensitive={name: mean[name] for name in sensitive},
        entropy=sum(
            _given_up(sums.bits[column.name] + whole, bits_of_values(column))
            for column in original.quasi_identifiers
        ),
        counts=(masked if sums.masked else {}) | counted_rows(suppressed_rows, original.rows),
    )
