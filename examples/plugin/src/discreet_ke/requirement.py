"""(k,e)-anonymity: the values of every class are several, and far apart.

Zhang, Koudas, Srivastava and Yu, "Aggregate query answering on anonymized tables", 2007, section 3:
every class has at least k different values of a numeric sensitive attribute, and their range is at
least e. Missing values count for nothing.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import AttributeRequirement, Domain, Domains
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.typing import Bools, Floats, Ints


class KEAnonymity(AttributeRequirement):
    """Every class has ``k`` different values of a numeric attribute, with a range of ``e``.

    Absorbing: a class that takes in another one loses no value, so both figures can only grow.
    """

    name: ClassVar[str] = "ke-anonymity"
    figure_name: ClassVar[str] = "e"
    absorbing: ClassVar[bool] = True

    k: int = Field(ge=1, description="The least number of different values in a class.")
    e: float = Field(ge=0, allow_inf_nan=False, description="The least range of a class.")

    @property
    def least_rows(self) -> int:
        return self.k

    @property
    def least_values(self) -> int:
        return self.k

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        """The range of every class; 0 where all its values are missing."""
        if not values.classes:
            return np.zeros(0)
        number = _numbers(domain)[values.value]  # (entries,) NaN for a missing value
        start = values.start[:-1]
        extent = np.fmax.reduceat(number, start) - np.fmin.reduceat(number, start)
        return np.nan_to_num(extent, nan=0.0)

    def accepts(self, figures: Floats) -> Bools:
        return figures >= self.e

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        enough = _different(values, domain) >= self.k
        return enough & self.accepts(self.measure(values, size, domain))

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        different = _different(counts.values[attribute], domains[attribute])
        return {"k": float(different.min())}

    def problems(self, domains: Domains) -> list[str]:
        return super().problems(domains) + [
            f"{self.name}: '{name}' is not numeric. Give it the type 'integer' or 'number', or "
            "name another attribute."
            for name in self.named or domains
            if name in domains and domains[name].numbers is None
        ]

    def sentence(self) -> str:
        return (
            f"In each person's group, {self.subject} has at least {self.k} "
            f"different values, and the greatest exceeds the least by at least {self.e:g}."
        )


def _numbers(domain: Domain) -> Floats:
    if domain.numbers is None:
        raise ValueError("(k,e)-anonymity needs a numeric attribute.")
    return domain.numbers


def _different(values: ValueCounts, domain: Domain) -> Ints:
    """The number of different values in every class, without a missing one."""
    present = ~np.isnan(_numbers(domain)[values.value])
    found = np.bincount(values.class_of_entry, present, values.classes)
    return found.astype(np.int64)
