"""A least spread: the numbers of every class differ by a given standard deviation.

(k,e)-anonymity asks for a range, which one far value provides. A standard deviation asks that many
values differ. Missing values count for nothing.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import (
    TOLERANCE,
    Algebra,
    AttributeRequirement,
    ClassNeeds,
    Domain,
    Domains,
)
from discreet.table.counts import ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints


class LeastSpread(AttributeRequirement):
    """The numbers of every class have at least a given standard deviation.

    Closed under merging: the variance of a merged class is the mean of the variances of its parts
    plus the variance of their means, so at least the lesser one. Not absorbing: a class of equal
    values lowers it.
    """

    name: ClassVar[str] = "least-spread"
    algebra: ClassVar[Algebra] = Algebra("deviation")
    needs: ClassVar[ClassNeeds] = ClassNeeds(rows=2, values=2)

    deviation: float = Field(
        gt=0, allow_inf_nan=False, description="The least standard deviation in a class."
    )

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        """The standard deviation of every class; 0 where all its values are missing."""
        number = np.full(len(domain.values), np.nan) if domain.numbers is None else domain.numbers
        entry = number[values.value]  # (entries,) NaN for a missing value
        rows = np.where(np.isnan(entry), 0, values.count)
        total = np.maximum(np.bincount(values.class_of_entry, rows, values.classes), 1)
        known = np.nan_to_num(entry)
        mean = np.bincount(values.class_of_entry, rows * known, values.classes) / total
        away = (known - mean[values.class_of_entry]) ** 2
        variance = np.bincount(values.class_of_entry, rows * away, values.classes) / total
        return np.sqrt(variance)

    def accepts(self, figures: Floats) -> Bools:
        return figures >= self.deviation * (1 - TOLERANCE)

    def problems(self, domains: Domains) -> list[str]:
        return super().problems(domains) + [
            f"{self.name}: '{name}' is not numeric. Give it the type 'integer' or 'number', or "
            "name another attribute."
            for name in self.named or domains
            if name in domains and domains[name].numbers is None
        ]

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return (
            f"In each {unit}'s group, {self.subject} has a standard deviation of at least "
            f"{self.deviation:.12g}."
        )
