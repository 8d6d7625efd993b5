"""k-anonymity: every class has at least k rows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import Algebra, ClassNeeds, Domains, SizeRequirement
from discreet.requirements.basis import Counting
from discreet.statements import Statement
from discreet.table.counts import ClassCounts
from discreet.table.persons import PersonBasis
from discreet.table.roles import Unit
from discreet.typing import Floats


class KAnonymity(SizeRequirement):
    """Every class has at least ``k`` rows. Absorbing: a merged class is only larger."""

    name: ClassVar[str] = "k-anonymity"
    counting: ClassVar[Counting] = Counting(PersonBasis.PERSONS)
    algebra: ClassVar[Algebra] = Algebra("k", absorbing=True, of_counts=True)

    k: int = Field(ge=1, description="The least number of rows in a class.")

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        return ClassNeeds(rows=self.k)

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        return counts.members.astype(np.float64)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.k == 1:
            return Statement(f"k-anonymity.one.{unit.plural}")
        return Statement(f"k-anonymity.{unit.plural}", k=self.k)
