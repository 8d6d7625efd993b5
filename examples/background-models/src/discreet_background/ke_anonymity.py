"""(k,e)-anonymity: the numbers of every class are several, and far apart.

Zhang, Koudas, Srivastava and Yu, "Aggregate query answering on anonymized tables", 2007, section 3:
every class has at least k different values of a numeric sensitive attribute, and their range is at
least e. A missing value is no number and counts for nothing.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import Algebra, AttributeRequirement, ClassNeeds, Domain, Domains
from discreet.requirements.exact_ratios import by_class
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints


class KeAnonymity(AttributeRequirement):
    """Every class has ``k`` different values of a numeric attribute, and a range of ``e``.

    Absorbing: a class that takes in another one loses no value, so neither figure falls. It bounds
    no share: one row may differ from all others. Not judged on persons with several rows: which
    of their values make up the range is not determined.
    """

    name: ClassVar[str] = "ke-anonymity"
    algebra: ClassVar[Algebra] = Algebra("e", absorbing=True)
    counts_values: ClassVar[bool] = True

    k: int = Field(ge=1, description="The least number of different values in a class.")
    e: float = Field(
        ge=0, allow_inf_nan=False, description="The least range: greatest less least value."
    )

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        values = max(self.k, 2 if self.e > 0 else 1)
        return ClassNeeds(values, values)

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        """The range of every class; 0 where it has no number."""
        number = _numbers(domain)[values.value]  # (entries,) NaN for a missing value
        extent: Floats = by_class(np.fmax, number, values) - by_class(np.fmin, number, values)
        return np.nan_to_num(extent, nan=0.0)

    def accepts(self, figures: Floats) -> Bools:
        return figures >= self.e

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        enough = _different(values, domain) >= self.k
        return enough & self.accepts(self.measure(values, size, domain))

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        return {"k": float(_different(counts.values[attribute], domains[attribute]).min())}

    def problems(self, domains: Domains) -> list[str]:
        covered = self.named or tuple(n for n, d in domains.items() if d.role is self.role)
        return super().problems(domains) + [
            f"{self.name}: '{name}' is not numeric. Give it the type 'integer' or 'number', or name"
            " another attribute."
            for name in covered
            if name in domains and domains[name].numbers is None
        ]

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        values = "value" if self.k == 1 else "different values"
        return (
            f"In each {unit}'s group, {self.subject} has at least {self.k} {values}, and the"
            f" greatest exceeds the least by at least {self.e:.12g}."
        )


def _numbers(domain: Domain) -> Floats:
    """The number of each value; of text none, so that no class passes."""
    if domain.numbers is None:
        return np.full(len(domain.values), np.nan)
    return domain.numbers


def _different(values: ValueCounts, domain: Domain) -> Ints:
    """The number of different values in every class, without a missing one."""
    present = ~np.isnan(_numbers(domain)[values.value])
    return np.bincount(values.class_of_entry, present, values.classes).astype(np.int64)
