"""(n,t)-closeness: every class is near some large set of rows around it.

Li, Li and Venkatasubramanian, "Closeness: a new privacy measure for data publishing", 2010: a class
has (n,t)-closeness if a *natural superset* of it, a set of rows around it in the space of the
quasi-identifiers, has at least n rows and a distribution within t of the class's. An attacker may
know what a large population has; the class must not say more than that.

Two natural supersets every class has: itself and the whole table. A class passes with one of them,
so what passes has (n,t)-closeness as the paper defines it. Others are not used: with them a class
depends on which rows the others took, and two passing classes may merge into one that fails
(README.md), which the search of every method excludes.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.requirements.base import TOLERANCE, Algebra, Domain, Domains
from discreet.requirements.closeness import distance_from_table, distance_problems
from discreet.requirements.covered_values import SparingRequirement
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints


class NtCloseness(SparingRequirement):
    """Every class has ``n`` rows, or is within ``t`` of the table, which has ``n`` rows.

    Closed under merging: a class of n rows stays one, and two classes within t of the table make
    one within t, as for t-closeness. Not absorbing; leaving a class out moves the reference. The
    figure is the distance from the nearer superset of n rows: 0 for a class of n rows, infinite
    where the table has fewer. It bounds no share: n rows may all have one value. Not judged on
    persons with several rows: their weights are not numbers of rows.
    """

    name: ClassVar[str] = "nt-closeness"
    algebra: ClassVar[Algebra] = Algebra("t", smaller_is_better=True, against_table=True)

    n: int = Field(ge=1, description="The least number of rows of a natural superset.")
    t: float = Field(ge=0, le=1, description="The greatest distance of a class from it.")

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        return self._distance(values, size, size, domain)

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        values = self.counted(counts)[attribute]
        return self._distance(values, counts.size, counts.members, domains[attribute])

    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        return self.accepts(self.figures(counts, domains, attribute))

    def _distance(self, values: ValueCounts, size: Ints, members: Ints, domain: Domain) -> Floats:
        """The distance from the nearer superset; counterfeits are no rows of a population."""
        distance = np.full(len(size), np.inf)
        if values.total.sum() - (size - members).sum() >= self.n:
            distance = distance_from_table(self, values, size, domain)
        return np.where(members >= self.n, 0.0, distance)

    def accepts(self, figures: Floats) -> Bools:
        return figures <= self.t + TOLERANCE

    def problems(self, domains: Domains) -> list[str]:
        return super().problems(domains) + distance_problems(self, domains)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.non_sensitive:
            return self.with_exempt(
                f"In each {unit}'s group of fewer than {self.n} rows, the sensitive values of"
                f" {self.subject} exceed their distribution in the whole table by at most"
                f" {self.t:.12g} (0 = not at all, 1 = as far as possible). Larger groups may differ"
                " more."
            )
        return (
            f"In each {unit}'s group of fewer than {self.n} rows, the distribution of"
            f" {self.subject} differs from that of the whole table by at most {self.t:.12g} (0 ="
            " the same, 1 = as far apart as possible). Larger groups may differ more."
        )
