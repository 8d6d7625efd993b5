"""δ-presence: whether a person of a population is in the table stays between two bounds.

Nergiz, Atzori and Clifton, "Hiding the presence of individuals from shared databases", 2007: an
attacker knows the quasi-identifiers of a population that contains the persons of the table. Of the
p persons whom the cells of a class cover, n are in the table, so the belief that one of them is in
it is n/p. A person whom no class covers is not in it.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from discreet.requirements.base import Algebra, Domains, SizeRequirement
from discreet.requirements.basis import Counting
from discreet.requirements.exact_ratios import exact, scaled
from discreet.statements import Statement
from discreet.table.counts import ClassCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints


class DeltaPresence(SizeRequirement):
    """In every class from ``lower`` to ``upper`` of the persons whom its cells cover are rows.

    Closed under full-domain generalization, where the cells of merged classes cover the persons of
    both and of cells without rows: a share over such a union lies between the shares of its parts.
    Not absorbing. The figure is the greatest share; where a lower bound is asked for, ``achieved``
    has the least one beside it. Where no population was counted, every share is 1, and nothing
    passes unless the bounds exclude nothing.
    """

    name: ClassVar[str] = "delta-presence"
    algebra: ClassVar[Algebra] = Algebra(
        "upper",
        smaller_is_better=True,
        bears_suppression=False,  # a suppressed row is a person whom no class shows
    )
    counting: ClassVar[Counting] = Counting(sizes="table")

    lower: float = Field(default=0, ge=0, le=1, description="The least belief in presence.")
    upper: float = Field(ge=0, le=1, description="The greatest belief in presence.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.lower > self.upper:
            raise ValueError("'lower' must not exceed 'upper'")
        return self

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        covered, _ = _covered(counts)
        with np.errstate(divide="ignore"):
            return counts.members / covered

    def accepts(self, figures: Floats) -> Bools:
        return (figures >= self.lower) & (figures <= self.upper)

    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        """Compare exactly; every class fails where somebody outside all must look present."""
        if counts.population is None:
            return np.full(counts.classes, self.upper == 1 and self.lower == 0)
        covered, outside = _covered(counts)
        part, whole = scaled(counts.members, covered, exact(self.upper))
        least, share = scaled(counts.members, covered, exact(self.lower))
        return (part <= whole) & (least >= share) & (self.lower == 0 or outside == 0)

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        if not self.lower:
            return {}
        figures = self.figures(counts, domains, attribute)
        return {"lower": 0.0 if _covered(counts)[1] else float(figures.min())}

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.lower:
            return Statement("delta-presence.lower", upper=self.upper, lower=self.lower)
        return Statement("delta-presence", upper=self.upper)


def _covered(counts: ClassCounts) -> tuple[Ints, int]:
    """The persons whom each class covers, and how many no class does."""
    if counts.population is None:
        return counts.members, 0
    return counts.population[:-1], int(counts.population[-1])
