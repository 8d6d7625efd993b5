"""Graded (α_v, k)-anonymity: k rows, and for each value a share of its own.

Wong, Li, Fu and Wang, "(α, k)-anonymity", 2006, in the form with a bound α_v for every sensitive
value v: a disease that stigmatizes gets a small one, the flu none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import (
    Algebra,
    ClassNeeds,
    Domain,
    Domains,
    PublishedValues,
    Requirement,
)
from discreet.requirements.basis import Counting
from discreet.requirements.covered_values import SparingRequirement
from discreet.requirements.exact_ratios import by_class, exact, scaled
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.value_bounds import AlphaKAnonymity
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.persons import PersonBasis
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints

Share = Annotated[float, Field(gt=0, le=1)]


class GradedAlphaKAnonymity(SparingRequirement):
    """Every class has ``k`` rows or more, and no value fills more of it than its own bound.

    Closed under merging: sizes add up, and a share in a merged class is a mean of the parts'
    shares. Not absorbing. The figure is the greatest share over its bound, 1 at most;
    ``achieved`` has the least size as ``k`` beside it.
    """

    name: ClassVar[str] = "graded-alpha-k-anonymity"
    counting: ClassVar[Counting] = Counting(PersonBasis.TOUCHED)
    algebra: ClassVar[Algebra] = Algebra("share_over_alpha", smaller_is_better=True)
    value_fields: ClassVar[tuple[str, ...]] = (*Requirement.value_fields, "alpha")

    alpha: Mapping[str, Share] = Field(
        min_length=1, description="The greatest share of each value that is named."
    )
    others: Share = Field(default=1.0, description="The greatest share of every other value.")
    k: int = Field(ge=1, description="The least number of rows in a class.")

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        return ClassNeeds(rows=self.k)

    def passes(self, counts: ClassCounts, domains: Domains) -> Bools:
        return super().passes(counts, domains) & (counts.members >= self.k)

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        share = values.count / size[values.class_of_entry]
        figures: Floats = by_class(np.maximum, share / self._bounds(domain)[values.value], values)
        return figures

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        """Compare exactly, the values of one bound at a time."""
        bound = self._bounds(domain)[values.value]
        result = np.ones(values.classes, bool)
        for alpha in np.unique(bound).tolist():
            chosen = bound == alpha
            greatest = np.zeros(values.classes, np.int64)
            np.maximum.at(greatest, values.class_of_entry[chosen], values.count[chosen])
            part, whole = scaled(greatest, size, exact(alpha))
            result &= part <= whole
        return result

    def accepts(self, figures: Floats) -> Bools:
        return figures <= 1

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        return {"k": float(counts.members.min())}

    def _bounds(self, domain: Domain) -> Floats:
        """The greatest share of each value of the dictionary."""
        named = [
            self.others if v is None else self.alpha.get(v, self.others) for v in domain.values
        ]
        return np.where(self.is_sensitive(domain), np.array(named, np.float64), 1.0)

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        bounds = self._bounds(domain)
        return np.where(bounds < 1, bounds, np.inf)

    def problems(self, domains: Domains) -> list[str]:
        return [*super().problems(domains), *self.missing_values(domains, "alpha", self.alpha)]

    def naming(self, values: PublishedValues) -> Requirement:
        published = self.occurring(self.alpha, values)
        if published:
            kept = {value: self.alpha[value] for value in self.alpha if value in published}
            return super().naming(values).model_copy(update={"alpha": kept})
        # no published row has a named value
        if self.others < 1:
            return AlphaKAnonymity(
                alpha=self.others,
                k=self.k,
                attribute=self.attribute,
                non_sensitive=self.non_sensitive,
            ).naming(values)
        return KAnonymity(k=self.k)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        others = ""
        if self.others < 1:
            others = f", and no other value more than {100 * self.others:.12g} %"
        greatest = 100 * max(self.alpha.values())
        return self.with_exempt(
            f"Each {unit} is in a group of at least {self.k} {unit.plural}, of which each value of"
            f" {self.any_subject} that the job names makes up at most its own share,"
            f" {greatest:.12g} % or less{others}."
        )
