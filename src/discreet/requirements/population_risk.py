"""A bound on the risk that a row is linked to its person in the population.

With F persons of the population in a row's class the risk is 1/F where a population table shows F,
and the expectation of 1/F where sampling weights estimate it (Benedetti and Franconi, 1998; see
``knowledge/individual_risk.py``). Regulators bound it by 0.09 (EMA policy 0070; Health Canada).
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from discreet.knowledge.population_figures import risk_from_weights
from discreet.requirements.base import TOLERANCE, Algebra, Domains
from discreet.requirements.k_map import PopulationRequirement
from discreet.statements import Statement
from discreet.table.counts import ClassCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats


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

    def accepts(self, figures: Floats) -> Bools:
        return figures <= self.at_most + TOLERANCE

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = "population-risk.average" if self.of == "average" else "population-risk"
        return Statement(form, at_most=self.at_most, source=self.known_by)
