"""What must hold for whom: the sets of columns that attackers know, each with its requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.requirements.attackers.attacker import KeySets
from discreet.requirements.base import Domains, Requirement
from discreet.requirements.judge import key_sets, limits_knowledge
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts, sum_counts
from discreet.typing import Bools, Codes, Ints


@dataclass(frozen=True, eq=False)
class Demand:
    """Requirements that hold for the groups of some sets of columns."""

    keys: KeySets
    requirements: tuple[Requirement, ...]  # without the attributes whose values are known

    def passes_where_known(
        self,
        of_class: Ints,  # (entries,)
        row: Ints,  # (entries,) a row that has the entry's sensitive values
        count: Ints,  # (entries,)
        classes: int,
        sensitive: Mapping[str, Column],
        domains: Domains,
    ) -> Bools:
        """(classes,) Which pass for each value of the known sensitive attributes that they have."""
        known = [sensitive[name] for name in self.keys.known]
        codes: list[Codes] = [of_class.astype(np.int32), *(column.codes[row] for column in known)]
        inner = group_codes(codes, [classes, *(column.cardinality for column in known)], len(row))
        size = np.bincount(inner.class_of_row, count, inner.count).astype(np.int64)
        of_group = inner.class_of_row.astype(np.int64)
        values = {
            name: sum_counts(
                of_group, column.codes[row], count, (inner.count, column.cardinality),
                column.reference,
            )
            for name, column in sensitive.items()
            if name not in self.keys.known
        }  # fmt: skip
        passes = np.ones(inner.count, bool)
        for requirement in self.requirements:
            passes &= requirement.passes(ClassCounts(size, values), domains)
        passing = np.ones(classes, bool)
        passing[of_class[inner.first_row[~passes]]] = False
        return passing


def demands_of(requirements: Iterable[Requirement], table: CodedTable) -> list[Demand]:
    """The sets of columns that the attackers of some requirements know, with what must hold."""
    quasi = tuple(column.name for column in table.quasi_identifiers)
    sensitive = [column.name for column in table.sensitive]
    by_keys: dict[KeySets, list[Requirement]] = {}
    for requirement in requirements:
        for keys in key_sets(requirement, quasi) or (KeySets(quasi, len(quasi)),):
            judged = requirement.within([name for name in sensitive if name not in keys.known])
            if judged is not None:
                by_keys.setdefault(keys, []).append(judged)
    return [Demand(keys, tuple(judged)) for keys, judged in by_keys.items()]


def limited(requirements: Sequence[Requirement]) -> bool:
    """Return whether some requirement holds only for attackers who know some columns."""
    return any(limits_knowledge(requirement) for requirement in requirements)
