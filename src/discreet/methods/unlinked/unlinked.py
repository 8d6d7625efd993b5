"""Unlinked: exact quasi-identifiers and whole sensitive rows, in two tables without a link.

The release is a bucketized one with a single group. Every assignment of the sensitive rows to the
people fits the files equally well, so an attacker who knows all quasi-identifiers believes a value
of a person with its share in the table, and no method that publishes all sensitive rows can do
better: shares of groups average to that of the table, so the greatest of them is no smaller.

Every requirement on the counts of groups is closed under merging; one that fails here fails for
every method that suppresses no row.

What remains: sensitive rows are whole, so an attacker who knows a sensitive value of a person
learns how it goes with the others; a row that is unique by its sensitive values discloses itself to
an attacker who knows enough of them.

Cost: linear in the rows.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from discreet.errors import InputError
from discreet.methods.base import Ability, Bucketized, Method, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.shared.grouped_rows import require_whole_table
from discreet.requirements.base import Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import PDiversity
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.published import GROUP


class UnlinkedEntry(MethodEntry):
    """What a manifest says of two tables without a link."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["unlinked"]
    groups: Literal[1] = 1
    greatest_share: dict[str, float] = Field(default_factory=dict)

    def sentences(self) -> list[str]:
        return [
            Statement("method.unlinked-share", attribute=name, share=share)
            for name, share in self.greatest_share.items()
        ]


class Unlinked(Method):
    """Publish quasi-identifiers and sensitive rows in two tables that nothing links."""

    name: ClassVar[str] = "unlinked"
    entry: ClassVar[type[MethodEntry]] = UnlinkedEntry
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.COUNTS, Ability.SENSITIVE_VALUES})

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP,)

    def promises(self, task: Task) -> tuple[Requirement, ...]:
        """Return that nothing beyond the table's distribution is learned, and bounds of beliefs.

        A bound is stated for an attribute of which it is one half or less.
        """
        bounds = [(column, _share_bound(task, column)) for column in task.table.sensitive]
        bounded = (
            PDiversity(l=ell, attribute=column.name, non_sensitive=_harmless(task, column))
            for column, ell in bounds
            if ell >= 2
        )
        return (TCloseness(t=0), *bounded)

    def most_suppressed(self, rows: int) -> int:
        return 0

    def run(self, task: Task) -> Bucketized:
        """Return one group of all rows, or raise InfeasibleError where a requirement fails."""
        if not task.table.rows:
            raise InputError("unlinked: the table has no rows. Check the source.")
        require_whole_table(task, self.name)
        group_of_row = np.zeros(task.table.rows, np.int32)
        return Bucketized(group_of_row, facts={"groups": 1}, promises=self.promises(task))


def _share_bound(task: Task, column: Column) -> int:
    """The largest ℓ such that no sensitive value has a share above 1/ℓ; 0 where none occurs."""
    sensitive = task.secrets.sensitive_values.get(column.name)
    counts = column.counts if sensitive is None else column.counts[sensitive]
    greatest = int(counts.max(initial=0))
    return task.table.rows // greatest if greatest else 0


def _harmless(task: Task, column: Column) -> tuple[str | None, ...] | None:
    """The values of an attribute that are not sensitive; None where all are."""
    sensitive = task.secrets.sensitive_values.get(column.name)
    if sensitive is None or sensitive.all():
        return None
    return tuple(column.text.filter(~sensitive).to_list())
