"""The costs by which full-domain recodings are compared, as pure functions on arrays.

Two kinds. A *cell cost* is a sum over the quasi-identifier cells, so the levels and the columns'
own frequencies decide it without any class; suppressing a row adds what its cells had left to
lose. A *class cost* is a function of the class sizes. Both only rise from a recoding to a more
general one, and suppressing rows never lowers them.

========== ============================================================== =======================
loss       mean over the cells of the share of the domain that each covers a suppressed cell is 1
           weighted by the importance of each column
entropy    Σ over cells −log2(freq(original) / freq(generalized))          a suppressed cell has
                                                                           freq(generalized) = n
height     Σ levels                                                        nothing added
discern.   Σ |class|²                                                      n for each row
class-size source rows / published classes                                 classes get fewer
========== ============================================================== =======================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column
from discreet.typing import Floats

Measure = Literal["loss", "discernibility", "entropy", "class-size", "height"]


@dataclass(frozen=True, eq=False)
class CellCost:
    """A cost that is a sum over cells."""

    of_level: tuple[Floats, ...]  # by attribute: (levels,) of the whole column
    left_to_lose: tuple[tuple[Floats, ...], ...]  # by attribute and level: (values,) of one cell
    tolerance: float  # two costs no further apart than this are equal


def cell_cost(
    measure: Measure, columns: Sequence[Column], hierarchies: Sequence[Hierarchy], rows: int
) -> CellCost | None:
    """The cell cost of a measure; None for a measure on classes."""
    pairs = list(zip(columns, hierarchies, strict=True))
    # The importance of a column weighs what its cells lose.
    if measure == "loss":
        weights = sum(column.importance for column in columns)
        of_cell = [column.importance / max(rows * weights, 1e-300) for column in columns]
        return CellCost(
            tuple(
                _loss_of_levels(column.counts, hierarchy) * weight
                for (column, hierarchy), weight in zip(pairs, of_cell, strict=True)
            ),
            tuple(
                tuple((1.0 - level.loss[level.node_of_leaf]) * weight for level in hierarchy.levels)
                for hierarchy, weight in zip(hierarchies, of_cell, strict=True)
            ),
            1e-12,
        )
    # A suppressed cell is as frequent as the whole column.
    if measure == "entropy":
        by_attribute = [log_frequencies(column.counts, hierarchy) for column, hierarchy in pairs]
        top = np.log2(max(rows, 1))
        return CellCost(
            tuple(
                np.array([column.counts @ (level - levels[0]) for level in levels])
                for column, levels in zip(columns, by_attribute, strict=True)
            ),
            tuple(tuple(top - level for level in levels) for levels in by_attribute),
            1e-12 * max(top * rows * len(columns), 1.0),
        )
    # Levels cost the same for every row.
    if measure == "height":
        return CellCost(
            tuple(np.arange(len(h.levels), dtype=np.float64) for h in hierarchies),
            tuple(
                tuple(np.zeros(len(level.node_of_leaf)) for level in h.levels) for h in hierarchies
            ),
            0.0,
        )
    return None


def _loss_of_levels(counts: NDArray[np.int64], hierarchy: Hierarchy) -> Floats:
    return np.array([counts @ level.loss[level.node_of_leaf] for level in hierarchy.levels])


def log_frequencies(counts: NDArray[np.int64], hierarchy: Hierarchy) -> list[Floats]:
    """For each level, log2 of the frequency of the node of each value (0 where it never occurs)."""
    levels = []
    for level in hierarchy.levels:
        frequency = np.bincount(level.node_of_leaf, counts, level.nodes)[level.node_of_leaf]
        levels.append(np.log2(np.maximum(frequency, 1.0)))
    return levels


def discernibility(size: NDArray[np.int64]) -> float:
    """Σ |class|²: with how many rows each row can be confused."""
    squares = size.astype(np.float64)
    return float(squares @ squares)


def discernibility_left(size: NDArray[np.int64], rows: int) -> float:
    """Return what suppressing classes of these sizes adds to the discernibility."""
    return float(size.astype(np.float64) @ (rows - size).astype(np.float64))


def class_size(rows: int, classes: int) -> float:
    """Source rows for each published class."""
    return rows / classes if classes else np.inf
