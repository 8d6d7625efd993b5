"""LKC-privacy: k and a bound on confidence for every combination of at most L quasi-identifiers.

Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data: a case study on the blood transfusion
service" (2009), Definition 3.1: an attacker knows at most L values of a target. For every
combination qid of at most L values that some row has, at least K rows have it, and no sensitive
value fills more than the share C of these rows.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from discreet.requirements.base import Algebra, ClassNeeds, Domain, Domains, KnownParts
from discreet.requirements.covered_values import SparingRequirement
from discreet.requirements.exact_ratios import exact, scaled
from discreet.statements import Statement
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Floats, Ints


class LkcPrivacy(SparingRequirement):
    """For any ``l`` quasi-identifiers: ``k`` rows or more, and a value fills at most ``c`` of them.

    It is (α,k)-anonymity with α = c, judged on the groups of every combination of ``l`` columns;
    that of fewer follows, because it is closed under merging: sizes add up, and the share in a
    merged group is a mean of the parts' shares. Not absorbing. The figure is the greatest share;
    ``achieved`` has the least size as ``k`` beside it.
    """

    name: ClassVar[str] = "lkc-privacy"
    algebra: ClassVar[Algebra] = Algebra("c", smaller_is_better=True)

    l: int = Field(  # noqa: E741 (the job's key)
        ge=1, description="The greatest number of quasi-identifiers that an attacker knows."
    )
    k: int = Field(ge=1, description="The least number of rows that share the known values.")
    c: float = Field(ge=0, le=1, description="The greatest share of a value among these rows.")

    @model_validator(mode="after")
    def _own_attackers(self) -> LkcPrivacy:
        if self.attackers is not None:
            raise ValueError("'l' says what attackers know. Remove 'attackers'")
        return self

    @property
    def known_parts(self) -> KnownParts:  # type: ignore[override]
        return KnownParts(columns=self.l)

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        unbounded = self.c == 0 or self.non_sensitive
        return ClassNeeds(self.k, 1 if unbounded else math.ceil(1 / exact(self.c)))

    def passes(self, counts: ClassCounts, domains: Domains) -> NDArray[np.bool_]:
        return super().passes(counts, domains) & (counts.members >= self.k)

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        figures: Floats = self.greatest_sensitive(values, domain) / size
        return figures

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> NDArray[np.bool_]:
        part, whole = scaled(self.greatest_sensitive(values, domain), size, exact(self.c))
        return part <= whole

    def accepts(self, figures: Floats) -> NDArray[np.bool_]:
        return figures <= self.c

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        return {"k": float(counts.members.min())}

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.l == 1:
            size = Statement(f"group-size.known-one.{unit.plural}", k=self.k)
        else:
            size = Statement(f"group-size.known.{unit.plural}", l=self.l, k=self.k)
        form = self.sparing_form("lkc-privacy")
        return self.with_exempt(Statement(form, size=size, subject=self.any_subject, c=self.c))
