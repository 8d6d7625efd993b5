"""The table of nodes where a person has several rows: classes are judged on persons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.methods.codip.node_table import NodeTable
from discreet.methods.codip.plans import Block
from discreet.methods.full_domain.person_recodings import PersonRecodings
from discreet.methods.shared.frequency_sets import FrequencySet
from discreet.methods.shared.judged_persons import counts_on_persons
from discreet.methods.shared.lattice import Node
from discreet.requirements.base import Requirement
from discreet.table.classes import Classes
from discreet.table.counts import ClassCounts
from discreet.table.person_counts import PersonBasis, count_persons


class PersonNodes(NodeTable):
    """Nodes at which all rows of a person are in one class, or under ``scope: rows`` all nodes."""

    recodings: PersonRecodings

    def _classes(self, classes: FrequencySet) -> Classes | None:
        """The classes of the rows at a node; None where rows of a person differ there."""
        of_row = self.recodings.class_of_row(classes)
        return None if (of_row < 0).any() else Classes.of_numbers(of_row.astype(np.int32))

    def _sizes(self, classes: FrequencySet) -> ClassCounts | None:
        found = self._classes(classes)
        if found is None:
            return None
        return count_persons(found, self.recodings.persons, [], PersonBasis.PERSONS)

    def _counting(self, classes: FrequencySet, name: str) -> Callable[[Requirement], ClassCounts]:
        return lambda asked: self._counts(classes, asked, (name,))

    def _block_counts(self, block: Block) -> Callable[[Requirement, Node], ClassCounts]:
        names = tuple(self.attributes[a] for a in block)
        return lambda asked, node: self._counts(self.recodings.sets[node], asked, names)

    def _counts(
        self, classes: FrequencySet, asked: Requirement, names: tuple[str, ...]
    ) -> ClassCounts:
        found = self._classes(classes)
        assert found is not None  # nodes that are not closed have no row in the table
        columns = [self.task.table[name] for name in names]
        return counts_on_persons(asked, found, self.recodings.persons, columns)
