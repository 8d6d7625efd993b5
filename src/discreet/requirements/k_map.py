"""k-map: every class stands for at least k persons of the population.

Sweeney, "k-anonymity: a model for protecting privacy", 2002, section 4; El Emam and Dankar,
"Protecting privacy using k-anonymity", 2008: an attacker who does not know who is in the table
can link a row to each person of the population whom its cells fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from pydantic import Field

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.requirements.base import (
    TOLERANCE,
    Algebra,
    Domains,
    SizeRequirement,
)
from discreet.requirements.basis import Counting, PopulationSource
from discreet.statements import Statement
from discreet.table.counts import ClassCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats


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

    def for_table(
        self,
        hierarchies: Mapping[str, Hierarchy],
        bits: Mapping[str, Sequence[str]] | None = None,
        sizes: PopulationSource | None = None,
    ) -> Self:
        return (
            self if self.by is not None or sizes is None else self.model_copy(update={"by": sizes})
        )

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

    def accepts(self, figures: Floats) -> Bools:
        return figures >= self.k - TOLERANCE  # sums of weights are rounded

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.k == 1:
            return Statement(f"k-map.one.{unit.plural}")
        return Statement(f"k-map.{unit.plural}", k=self.k, source=self.known_by)
