"""k^m-anonymity: every combination of at most m items that some row has, k rows have.

Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued data" (2008): an
attacker knows at most m items of a target's set. The attribute is a set of terms: quasi-sensitive,
because its items both identify a person and tell something about them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import ClassVar

from pydantic import Field, model_validator

from discreet.errors import InputError
from discreet.knowledge.table import terms_of
from discreet.requirements.base import (
    Algebra,
    AttributeRequirement,
    Domain,
    Domains,
    KnownParts,
    Requirement,
    Verdict,
)
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.roles import Role, Unit
from discreet.typing import Floats, Ints


class KmAnonymity(AttributeRequirement):
    """Every ``m`` items or fewer that occur together in a set do so in ``k`` rows or more.

    It is judged on the sets of the whole table; how rows are grouped does not matter. Removing an
    item from all rows changes no count of a combination without it.
    """

    name: ClassVar[str] = "km-anonymity"
    role: ClassVar[Role] = Role.QUASI_SENSITIVE
    algebra: ClassVar[Algebra] = Algebra("k")

    attribute: str | tuple[str, ...] | None = Field(
        default=None, description="The quasi-sensitive attribute or attributes; by default all."
    )
    k: int = Field(ge=1, description="The least number of rows that have the same items.")
    m: int = Field(ge=1, description="The greatest number of items that an attacker knows.")

    @model_validator(mode="after")
    def _own_attackers(self) -> KmAnonymity:
        if self.attackers is not None:
            raise ValueError("'m' says what attackers know. Remove 'attackers'")
        return self

    @property
    def known_parts(self) -> KnownParts:  # type: ignore[override]
        return KnownParts(items=self.m)

    def counted(self, counts: ClassCounts) -> Mapping[str, ValueCounts]:
        return counts.sets

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        raise InputError(f"{self.name}: is judged on the sets of a table, not on its classes.")

    def problems(self, domains: Domains) -> list[str]:
        return []  # a set needs no knowledge table; the job checks the names

    def judge_items(self, table: CodedTable) -> Verdict:
        """Judge the sets of a table by counting every combination of items."""
        columns = [c for c in table.quasi_sensitive if not self.named or c.name in self.named]
        least = {column.name: least_support(column, self.m) for column in columns}
        if not columns:
            return Verdict(False, {})
        by_attribute = {name: float(support) for name, support in least.items() if support}
        holds = all(support >= self.k for support in by_attribute.values())
        achieved = {"k": min(by_attribute.values())} if by_attribute else {}
        vacuous = tuple(least) if self.k == 1 else ()
        return Verdict(holds, achieved, by_attribute, vacuous_for=vacuous)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = "km-anonymity.single" if self.k == 1 else "km-anonymity"
        form += ".one" if self.m == 1 else ""
        items = {} if self.m == 1 else {"m": self.m}
        size = {} if self.k == 1 else {"k": self.k}
        return Statement(f"{form}.{unit.plural}", subject=self.subject, **items, **size)


def least_support(column: Column, most: int) -> int:
    """The least number of rows with the same items, over all combinations; 0 without any item."""
    terms = terms_of(column)
    support: Counter[tuple[int, ...]] = Counter()
    for value, rows in enumerate(column.counts.tolist()):
        items = sorted(set(terms.term[terms.start[value] : terms.start[value + 1]].tolist()))
        for size in range(1, min(most, len(items)) + 1):
            for combination in combinations(items, size):
                support[combination] += rows
    return min((rows for rows in support.values() if rows), default=0)


def judge_items(requirement: Requirement, table: CodedTable) -> Verdict:
    """Judge a requirement on the items of the sets of a table."""
    assert isinstance(requirement, KmAnonymity)  # the only one that is judged so
    return requirement.judge_items(table)
