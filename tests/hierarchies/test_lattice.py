from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.hierarchies.lattice import Lattice

HEIGHTS = (2, 0, 3, 1)


def test_indices_number_the_nodes_in_order() -> None:
    lattice = Lattice(HEIGHTS)
    nodes = np.array(list(product(*(range(height + 1) for height in HEIGHTS))))
    assert lattice.size == len(nodes) == 24
    assert lattice.index(nodes).tolist() == list(range(24))
    assert (lattice.nodes(np.arange(24)) == nodes).all()
    assert tuple(nodes[0]) == lattice.bottom
    assert tuple(nodes[-1]) == lattice.top


def test_neighbours_differ_by_one_level() -> None:
    lattice = Lattice(HEIGHTS)
    nodes = lattice.nodes(np.arange(lattice.size))
    for index, node in enumerate(nodes):
        above = [i for i, n in enumerate(nodes) if (n >= node).all() and (n - node).sum() == 1]
        below = [i for i, n in enumerate(nodes) if (n <= node).all() and (node - n).sum() == 1]
        assert sorted(lattice.successors(index)) == above
        assert sorted(lattice.predecessors(index)) == below


def test_order_of_nodes() -> None:
    lattice = Lattice((2, 2))
    below = lattice.is_below(np.array([[0, 1], [1, 1], [2, 0]]), np.array([1, 1]))
    assert below.tolist() == [True, True, False]


def test_a_lattice_without_quasi_identifiers_has_one_node() -> None:
    assert Lattice(()).size == 1
    assert Lattice(()).nodes(np.array([0])).shape == (1, 0)


def test_a_lattice_too_large_to_number_is_refused() -> None:
    with pytest.raises(InputError, match="Give fewer quasi-identifiers"):
        Lattice((9,) * 20)
