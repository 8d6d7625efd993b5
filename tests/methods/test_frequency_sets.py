"""Classes of nodes and of one tuple at all nodes, against counting row by row."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.methods.shared import distinct_tuples
from discreet.methods.shared.distinct_tuples import Compressed
from discreet.methods.shared.frequency_sets import FrequencySets
from discreet.methods.shared.lattice import sum_below
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType

VALUES = (1, 6, 2, 90, 70)
GROUPS = ((1,), (1, 2, 3), (1,), (1, 10), (1, 7, 70))  # values in a node, level by level
ROWS = 400


def _column(name: str, codes: np.ndarray, values: int) -> Column:
    text = pl.Series([str(value).zfill(4) for value in range(values)])
    return Column(name, Role.QUASI_IDENTIFIER, ValueType.TEXT, codes.astype(np.int32), text, text)


def _hierarchy(name: str, values: int, groups: tuple[int, ...]) -> Hierarchy:
    levels = []
    for group in groups:
        node = np.arange(values) // group
        labels = [str(label) for label in range(node.max() + 1)]
        levels.append(level_from_groups(node.astype(np.int32), labels, np.bincount(node), values))
    return Hierarchy(name, tuple(levels), values, "")


@pytest.fixture(params=[2**62, 50])  # keys that would pass the limit are grouped in parts
def table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Compressed:
    monkeypatch.setattr(distinct_tuples, "BEYOND", request.param)
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, values, ROWS) // 2 * 2 % values for values in VALUES]
    names = [str(number) for number in range(len(VALUES))]
    columns = [_column(*given) for given in zip(names, codes, VALUES, strict=True)]
    hierarchies = [_hierarchy(*given) for given in zip(names, VALUES, GROUPS, strict=True)]
    return Compressed(columns, hierarchies, ROWS, [])


def _cells(table: Compressed, node: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The cells of each tuple at a node."""
    return [
        tuple(int(leaf) // GROUPS[a][node[a]] for a, leaf in enumerate(leaves))
        for leaves in table.leaf
    ]


def test_sets_of_all_nodes_count_rows_with_equal_cells(table: Compressed) -> None:
    sets = FrequencySets(table)
    for node in np.ndindex(*(len(groups) for groups in GROUPS)):
        cells = _cells(table, node)
        expected: Counter[tuple[int, ...]] = Counter()
        for cell, size in zip(cells, table.classes.size, strict=True):
            expected[cell] += int(size)
        found = sets[node]
        assert {cells[t]: int(n) for t, n in zip(found.tuples, found.size, strict=True)} == expected
        of_tuple = found.class_of_tuple
        assert all(cells[found.tuples[c]] == cell for c, cell in zip(of_tuple, cells, strict=True))


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (2, 2, 5, 3, 2), (1, 4, 1, 3)])
def test_sums_below(shape: tuple[int, ...]) -> None:
    figure = np.random.default_rng(1).integers(0, 9, int(np.prod(shape)))
    expected = figure.reshape(shape)
    for axis in range(len(shape)):
        expected = expected.cumsum(axis)
    sum_below(figure, np.array(shape))
    assert figure.tolist() == expected.ravel().tolist()
