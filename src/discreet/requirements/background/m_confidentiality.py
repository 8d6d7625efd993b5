"""m-confidentiality: no belief above 1/m, also of an attacker who knows the algorithm.

Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", 2007. A method
that generalizes no more than its requirements on sensitive values ask for discloses where finer
classes would have failed them. The paper's remedy (MASK) forms classes by quasi-identifiers and k
alone, and then distorts the values of classes that fail. Cells here are true: classes are formed in
the same way, and a table of which a class fails is not published.

Classes formed without a look at sensitive values are the same for every way in which the published
values can lie in them, and whether the release appears depends on the published counts alone. So
the attacker can rule out none of these ways, and the belief is the share in the class.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import AttributeRequirement, Domain
from discreet.requirements.exact_ratios import by_class, exact, scaled
from discreet.table.counts import ValueCounts
from discreet.typing import Bools, Floats, Ints


class MConfidentiality(AttributeRequirement):
    """No value fills more than 1/``m`` of a class, and classes were formed without a look at it.

    Closed under merging: the greatest share of a merged class is at most the greater of both. Not
    absorbing. The figure is one over the greatest share. Methods do not form groups by it.
    """

    name: ClassVar[str] = "m-confidentiality"
    figure_name: ClassVar[str] = "m"
    guides_groups: ClassVar[bool] = False

    m: float = Field(ge=1, allow_inf_nan=False, description="One over the greatest belief.")

    @property
    def least_rows(self) -> int:
        return math.ceil(exact(self.m))

    @property
    def least_values(self) -> int:
        return math.ceil(exact(self.m))

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        figures: Floats = size / by_class(np.maximum, values.count, values)
        return figures

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        greatest: Ints = by_class(np.maximum, values.count, values)
        whole, part = scaled(size, greatest, exact(self.m))
        return part <= whole

    def accepts(self, figures: Floats) -> Bools:
        return figures >= self.m

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        return np.full(len(share), 1 / self.m)

    def sentence(self) -> str:
        return (
            f"No value of {self.any_subject} makes up more than {100 / self.m:.4g} % of a person's"
            " group, and groups were formed without a look at sensitive values: knowing the method"
            " and its settings does not raise an attacker's belief."
        )
