"""p-sensitive k-anonymity: k rows, and p values of each sensitive attribute.

Truta and Vinay, "Privacy protection: p-sensitive k-anonymity property", 2006. It is k-anonymity and
distinct ℓ-diversity with ℓ = p, under the name by which the field knows the two together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import Algebra, ClassNeeds, Domain, Domains, GuaranteeScope
from discreet.requirements.basis import Counting
from discreet.requirements.covered_values import SparingRequirement
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.persons import PersonBasis
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints


class PSensitiveKAnonymity(SparingRequirement):
    """Every class has ``k`` rows or more, and at least ``p`` values of a sensitive attribute.

    Absorbing: a class that takes in another one loses neither rows nor values. The figure is the
    least number of values; ``achieved`` has the least size as ``k`` beside it. Where some values
    are not sensitive, classes of these alone need no ``p`` values, as with distinct ℓ-diversity.
    """

    name: ClassVar[str] = "p-sensitive-k-anonymity"
    counting: ClassVar[Counting] = Counting(PersonBasis.MATCHED)
    counts_values: ClassVar[bool] = True

    p: int = Field(ge=1, description="The least number of values in a class.")
    k: int = Field(ge=1, description="The least number of rows in a class.")

    @property
    def algebra(self) -> Algebra:  # type: ignore[override]
        return Algebra("p", absorbing=not self.non_sensitive)

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        return replace(super().coverage, of_persons=not self.non_sensitive)

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        values = 1 if self.non_sensitive else self.p
        return ClassNeeds(max(self.k, values), values)

    def passes(self, counts: ClassCounts, domains: Domains) -> Bools:
        return super().passes(counts, domains) & (counts.members >= self.k)

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        figures = np.diff(values.start).astype(np.float64)
        disclosing = self.greatest_sensitive(values, domain) > 0
        return np.where(disclosing, figures, np.maximum(figures, self.p))

    def accepts(self, figures: Floats) -> Bools:
        return figures >= self.p

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        return {"k": float(counts.members.min())}

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        values = "value" if self.p == 1 else "values"
        where = " if any has a sensitive value" if self.non_sensitive else ""
        return self.with_exempt(
            f"Each {unit} is in a group of at least {self.k} {unit.plural}, in which"
            f" {self.subject} has at least {self.p} different {values}{where}."
        )
