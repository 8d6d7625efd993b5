"""How many rows each node of a hierarchy has, level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column


@dataclass(frozen=True)
class LevelCounts:
    """The nodes of a level, those with most rows first, and the rows of each."""

    labels: tuple[str | None, ...]  # None is a missing value
    rows: tuple[int, ...]


def count_levels(column: Column, hierarchy: Hierarchy) -> list[LevelCounts]:
    """Count the rows of a column in each node, finest level first; nodes without rows are out."""
    levels = []
    for level in hierarchy.levels:
        rows = np.bincount(level.node_of_leaf, column.counts, level.nodes).astype(np.int64)
        order = [int(node) for node in np.argsort(-rows, kind="stable") if rows[node]]
        levels.append(
            LevelCounts(
                tuple(level.labels[node] for node in order), tuple(int(rows[n]) for n in order)
            )
        )
    return levels
