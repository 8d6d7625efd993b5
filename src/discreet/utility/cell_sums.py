"""Sums over the cells of a release, or of some of its classes, and the measures that follow.

A release that no machine holds whole is summed up class by class; on one machine the whole table is
summed up at once. The figures follow from the sums alone.

Loss: how much of its domain each published cell leaves open; entropy: how surprising it is.

*Loss* of a cell (LM, NCP): 0 for an exact value, 1 for ``*``; for a label of a hierarchy what the
hierarchy says, (leaves below − 1)/(leaves − 1) over the leaves of the whole hierarchy or the width
of an interval; for any other range its width, clipped to the range of the data, over that range;
for a set (members − 1)/(values − 1), over the leaves of the hierarchy where there is one. A
suppressed row loses 1 in every cell.

*Entropy* (non-uniform): Σ over cells −log2(freq(original)/freq(generalized)), freq(generalized)
being the number of original rows whose value the cell covers, and n for a suppressed cell. The
logarithm splits, so the sum needs no link between published and original rows:

    Σ over published rows log2 freq(cell) + suppressed · log2 n − Σ over values c_v · log2 c_v

That is exact for every release in which each published row represents one original row and the
rest are suppressed, whatever the recoding. For full-domain recoding without suppression it equals
the measure that counts how often the cell is published; under local recoding, where one value may
be published in several ways, that other measure differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isclose

import numpy as np

from discreet.hierarchies.cells import SUPPRESSED, Range, parse_cell
from discreet.hierarchies.coverage import CellReader, Coverage, Ranges
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import summed
from discreet.typing import Floats, Ints
from discreet.utility.figures import Measures, Structure, counted_rows


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
    def of_sizes(cls, size: Ints) -> CellSums:
        """Return the sums over the sizes of classes or groups."""
        return cls(int(size.sum()), len(size), int((size**2).sum()))

    def __add__(self, other: CellSums) -> CellSums:
        return CellSums(
            self.rows + other.rows,
            self.classes + other.classes,
            self.squares + other.squares,
            summed(self.loss, other.loss),
            summed(self.bits, other.bits),
            self.masked + other.masked,
            summed(self.further, other.further),
        )


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
    # A suppressed row loses everything in every cell.
    rows = sums.rows + suppressed_rows
    mean = {n: (lost + suppressed_rows) / rows if rows else 0.0 for n, lost in sums.loss.items()}
    quasi = [column.name for column in original.quasi_identifiers]
    sensitive = [name for name in mean if name not in quasi]
    whole = suppressed_rows * float(np.log2(max(original.rows, 1)))  # of a suppressed cell
    # Sensitive cells that were masked.
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


def loss_of_cells(
    original: Column,
    published: Column,
    coverage: Coverage,
    hierarchy: Hierarchy | None = None,
    level: int | None = None,
) -> Floats:
    """The loss of each cell in the dictionary of a published column, in [0, 1]."""
    reader = CellReader(original, hierarchy, level)
    domain = original.cardinality if hierarchy is None else hierarchy.leaves
    loss = np.zeros(published.cardinality)
    cells = published.text.to_list()
    # What a cell of a column that was recoded before the method has lost already.
    lost = (
        {}
        if original.lost is None
        else dict(zip(original.text.to_list(), original.lost.tolist(), strict=True))
    )
    # Ranges by their widths, all at once.
    ranges = coverage.ranges or reader.ranges(cells)
    loss[ranges.cell] = _widths(original, ranges)
    # Labels, sets and values one by one.
    for cell in np.delete(np.arange(len(cells)), ranges.cell).tolist():
        label = cells[cell]
        nodes = reader.nodes(label)
        if label in lost:
            loss[cell] = lost[label]
        elif label == SUPPRESSED:
            loss[cell] = 1.0
        elif nodes:
            loss[cell] = max(reader.levels[depth].loss[node] for depth, node in nodes)
        elif label is not None:
            if label.startswith("[") and isinstance(parse_cell(label), Range):
                loss[cell] = 1.0  # of what has no order
            else:  # a value covers itself, a set its members
                loss[cell] = (coverage.size[cell] - 1) / max(domain - 1, 1)
    return np.minimum(loss, 1.0)


def _widths(original: Column, ranges: Ranges) -> Floats:
    """The share of the original's span that each range covers."""
    numbers = original.numbers
    if numbers is None or not np.isfinite(numbers).any():
        return np.ones(len(ranges.cell))
    least, greatest = np.nanmin(numbers), np.nanmax(numbers)
    if greatest == least:
        return np.zeros(len(ranges.cell))
    widths = np.minimum(ranges.high, greatest) - np.maximum(ranges.low, least)
    return np.asarray(np.maximum(widths, 0.0) / (greatest - least), np.float64)


def bits_of_cells(original: Column, coverage: Coverage, cell_counts: Ints) -> float:
    """Σ over published cells log2 freq(cell); a sum over parts of a table is that of the table."""
    frequency = coverage.sums(original.counts)
    published = cell_counts > 0
    return float(cell_counts[published] @ np.log2(np.maximum(frequency[published], 1)))


def bits_of_values(original: Column) -> float:
    """Σ over the original's cells log2 freq(value)."""
    occurring = original.counts[original.counts > 0]
    return float(occurring @ np.log2(occurring))
