"""The persons of a population whom the cells of each class cover, at every node of the lattice.

Table and population have dictionaries of their own, and so hierarchies of their own. Their nodes
are matched by their labels, which are what is published.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.population import Population
from discreet.methods.shared.frequency_sets import FrequencySet
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.typing import Codes, Ints


class CoveredPopulation:
    """How many persons of a population the classes of any node cover."""

    def __init__(
        self, population: Population, columns: Sequence[Column], hierarchies: Sequence[Hierarchy]
    ) -> None:
        kinds = population.kinds
        self._people = kinds.size
        self._hierarchies = hierarchies
        self._values = [population.table[c.name].codes[kinds.first_row] for c in columns]
        self._node_of_value = [  # by column and level: (values of the population,)
            _matched(own, population.hierarchies[own.column]) for own in hierarchies
        ]

    def count(self, classes: FrequencySet) -> Ints:
        """(classes + 1,) The persons whom each class covers; the last: whom none does."""
        leaves = classes.table.leaf[classes.tuples]
        codes: list[Codes] = []
        nodes = []
        for j, height in enumerate(classes.node):
            level = self._hierarchies[j].levels[height]
            own = level.node_of_leaf[leaves[:, j]]
            theirs = self._node_of_value[j][height][self._values[j]]
            codes.append(np.concatenate([own, theirs]).astype(np.int32))
            nodes.append(level.nodes + 1)
        count = classes.classes
        alike = group_codes(codes, nodes, count + len(self._people)).class_of_row
        class_of = np.full(count + len(self._people), count)
        class_of[alike[:count]] = np.arange(count)
        covered = np.bincount(class_of[alike[count:]], self._people, count + 1)
        return covered.astype(np.int64)


def _matched(own: Hierarchy, theirs: Hierarchy) -> list[Codes]:
    """For each level the table's node of each value of the population, or one past the last."""
    found = []
    for height, level in enumerate(own.levels):
        code_of_label = {label: node for node, label in enumerate(level.labels)}
        other = theirs.levels[height] if height <= theirs.height else None
        if other is None or not code_of_label.keys() <= set(other.labels):
            raise InputError(
                f"population: at level {height} the hierarchy of '{own.column}' has labels that "
                "the population's values do not give. The population must contain every row of the "
                "table; give the column a hierarchy that does not depend on the values found, such "
                "as a file or intervals."
            )
        node = np.array([code_of_label.get(x, level.nodes) for x in other.labels], np.int32)
        found.append(node[other.node_of_leaf])
    return found
