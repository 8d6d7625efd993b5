"""(X,Y)-linkability with ε: no value of Y is inferred from X with more confidence than ε.

Wang and Fung, "Anonymizing sequential releases", 2006; Fang, Ashrafi and Ng, 2011, section 6.1. X
are published attributes, Y sensitive ones; values of both may be joint. Two cases decide all:

- *X*: a coarser X, such as some of the quasi-identifiers, joins rows that a finer one tells apart,
  and its confidence is a mean of theirs. So X is all quasi-identifiers, and with ``others_known``
  also all other sensitive attributes.
- *Y*: a joint value is at most as frequent as its parts, so each attribute is judged by itself.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import Algebra, AttributeRequirement, ClassNeeds, Domain, Domains
from discreet.requirements.basis import Counting
from discreet.requirements.covered_values import SparingRequirement
from discreet.requirements.exact_ratios import exact, scaled
from discreet.requirements.multi_attribute import refined_counts
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.persons import PersonBasis
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints


class XyLinkability(SparingRequirement):
    """No value of a sensitive attribute fills more than ``epsilon`` of the rows alike in X.

    Closed under merging: rows that are alike in X after it are those of one class, or of both, and
    their share is a mean. Not absorbing. The figure is the greatest confidence.
    """

    name: ClassVar[str] = "xy-linkability"
    counting: ClassVar[Counting] = Counting(PersonBasis.TOUCHED)

    epsilon: float = Field(gt=0, le=1, description="The greatest confidence in a value of Y.")
    others_known: bool = Field(
        default=False,
        description="X has the other sensitive attributes too, not only the quasi-identifiers.",
    )

    @property
    def algebra(self) -> Algebra:  # type: ignore[override]
        return Algebra("epsilon", smaller_is_better=True, refined=self.others_known)

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        values = 1 if self.non_sensitive else math.ceil(1 / exact(self.epsilon))
        return ClassNeeds(values=values)

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        figures: Floats = self.greatest_sensitive(values, domain) / size
        return figures

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        greatest = self.greatest_sensitive(values, domain)
        part, whole = scaled(greatest, size, exact(self.epsilon))
        return part <= whole

    def accepts(self, figures: Floats) -> Bools:
        return figures <= self.epsilon

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        if not self.others_known:
            return super().figures(counts, domains, attribute)
        refined = refined_counts(counts, attribute)
        figures = np.zeros(counts.classes)
        inner = self.measure(refined.counts, refined.size, domains[attribute])
        np.maximum.at(figures, refined.class_of_refined, inner)
        return figures

    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        if not self.others_known:
            return super().judge(counts, domains, attribute)
        refined = refined_counts(counts, attribute)
        admitted = self.admits(refined.counts, refined.size, domains[attribute])
        result = np.ones(counts.classes, bool)
        result[refined.class_of_refined[~admitted]] = False
        return result

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        return self.of_sensitive(np.full(len(share), self.epsilon), domain)

    def given_others(self) -> AttributeRequirement | None:
        return self if self.others_known else None

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        known = "quasi-identifiers"
        if self.others_known:
            known += " and the other sensitive attributes"
        value = "sensitive value" if self.non_sensitive else "value"
        return self.with_exempt(
            f"From the {known} of a {unit}, no {value} of {self.any_subject} follows with a"
            f" confidence above {100 * self.epsilon:.12g} %."
        )
