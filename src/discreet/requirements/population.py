"""Requirements on the population that a table is drawn from: δ-presence, k-map, risk of a link.

δ-presence: whether a person of a population is in the table stays between two bounds (Nergiz,
Atzori and Clifton, "Hiding the presence of individuals from shared databases", 2007). An attacker
knows the quasi-identifiers of a population that contains the persons of the table. Of the p persons
whom the cells of a class cover, n are in the table, so the belief that one of them is in it is n/p.
A person whom no class covers is not in it.

k-map: every class stands for at least k persons of the population (Sweeney, "k-anonymity: a model
for protecting privacy", 2002, section 4; El Emam and Dankar, "Protecting privacy using
k-anonymity", 2008). An attacker who does not know who is in the table can link a row to each person
of the population whom its cells fit.

Population risk: with F persons of the population in a row's class the risk is 1/F where a
population table shows F, and the expectation of 1/F where sampling weights estimate it (Benedetti
and Franconi, 1998; ``knowledge/population_figures.py``). Regulators bound it by 0.09 (EMA policy
0070; Health Canada).
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from discreet.knowledge.population_figures import risk_from_weights
from discreet.requirements.base import Algebra, Domains, SizeRequirement, TableTerms
from discreet.requirements.basis import Counting, PopulationSource
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


class PopulationRequirement(SizeRequirement):
    """A requirement on the number of persons of the population in each class.

    Where neither persons nor weights were counted, a class has its rows alone.
    """

    by: PopulationSource | None = Field(
        default=None,
        description="Where population sizes come from: the job's population table, or the sums of "
        "sampling weights; by default the table where the job names one.",
    )

    @property
    def counting(self) -> Counting:  # type: ignore[override]
        return Counting(sizes=self.by or "unstated")

    def for_table(self, terms: TableTerms) -> Self:
        return self if self.by or not terms.sizes else self.model_copy(update={"by": terms.sizes})

    def persons(self, counts: ClassCounts) -> Floats:
        """(classes,) The persons of the population in each class, counted or estimated."""
        if self.by == "weights" and counts.weight is not None:
            return counts.weight
        if self.by == "table" and counts.population is not None:
            return counts.population[:-1].astype(np.float64)
        return counts.members.astype(np.float64)

    @property
    def known_by(self) -> Statement:
        """The source of population sizes, as a sentence ends."""
        return Statement(f"population-size.{self.by or 'table'}")


class KMap(PopulationRequirement):
    """Every class covers at least ``k`` persons of the population.

    Absorbing: the cells of a merged class cover the persons of both, and weights are added up.
    """

    name: ClassVar[str] = "k-map"
    algebra: ClassVar[Algebra] = Algebra("k", absorbing=True)

    k: int = Field(ge=1, description="The least number of persons of the population in a class.")

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        return self.persons(counts)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.k == 1:
            return Statement(f"k-map.one.{unit.plural}")
        return Statement(f"k-map.{unit.plural}", k=self.k, source=self.known_by)


class PopulationRisk(PopulationRequirement):
    """The risk of every row, or its mean over all rows, is at most ``at_most``.

    Closed under merging: a union of classes covers the persons of both and has no greater risk than
    the riskier part, and its expected number of re-identifications is no greater than theirs.
    """

    name: ClassVar[str] = "population-risk"

    at_most: float = Field(gt=0, le=1, description="The greatest risk.")
    of: Literal["maximum", "average"] = Field(
        default="maximum", description="Whether each row's risk is bounded, or the mean over rows."
    )

    @property
    def algebra(self) -> Algebra:  # type: ignore[override]
        average = self.of == "average"
        return Algebra(
            "at_most", smaller_is_better=True, bears_suppression=not average, additive=average
        )

    def risks(self, counts: ClassCounts) -> Floats:
        """(classes,) The risk of each row of a class."""
        persons = self.persons(counts)
        if self.by == "weights":
            return risk_from_weights(counts.members, persons)
        return 1 / np.maximum(persons, 1.0)

    def expected(self, counts: ClassCounts) -> Floats:
        """(classes,) The expected number of correct links of each class's rows."""
        return self.risks(counts) * counts.members

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        if self.of == "maximum":
            return self.risks(counts)
        rows = max(int(counts.members.sum()), 1)
        return np.full(counts.classes, float(self.expected(counts).sum()) / rows)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = "population-risk.average" if self.of == "average" else "population-risk"
        return Statement(form, at_most=self.at_most, source=self.known_by)
