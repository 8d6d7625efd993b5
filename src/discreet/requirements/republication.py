"""What a release of a series guarantees: by itself, and together with the earlier releases.

The guarantees of one release are derived from its files. Those of the series need all releases and
who was in which group of each: ``publish`` judges them with the ledger, ``audit --ledger`` again.

These are promises of methods, not requirements of jobs: merging two groups that keep them does not
give a group that keeps them, so no search that generalizes step by step can aim at them.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from discreet.requirements.base import Algebra, AttributeRequirement, Domain, RatioRequirement
from discreet.requirements.covered_values import SparingRequirement
from discreet.requirements.exact_ratios import by_class
from discreet.statements import Statement
from discreet.table.counts import ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Floats, Ints

Buckets = Literal["distinct", "equal-multiplicity"]


class MInvarianceRequirement(SparingRequirement):
    """Every group has at least ``m`` values, each once (or each equally often).

    Where some values are not sensitive, a group of a single one of these passes too: its members
    keep this signature as others keep theirs, and no sensitive value is believed of them.
    """

    name: ClassVar[str] = "m-invariance"
    algebra: ClassVar[Algebra] = Algebra("m")

    m: int = Field(ge=1, description="The least number of values in a group.")
    buckets: Buckets = Field(
        default="distinct",
        description="Whether each value occurs once, or all of them equally often.",
    )

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        distinct = np.diff(values.start)
        most, least = (by_class(pick, values.count, values) for pick in (np.maximum, np.minimum))
        even = most <= 1 if self.buckets == "distinct" else most == least
        figures = np.where(even, distinct, 0).astype(np.float64)
        if self.non_sensitive:
            harmless = even & (self.greatest_sensitive(values, domain) == 0)
            figures = np.where(harmless, np.maximum(figures, self.m), figures)
        return figures

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        return self.of_sensitive(np.full(len(share), 1 / self.m), domain)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = f"m-invariance.{self.buckets}.{unit.plural}"
        if self.non_sensitive:
            form = f"m-invariance.sensitive.{self.buckets}.{unit.plural}"
        return self.with_exempt(Statement(form, m=self.m, subject=self.subject))


class RhoDifference(RatioRequirement):
    """No value fills more than the share ``rho`` of a group."""

    name: ClassVar[str] = "rho-different"
    algebra: ClassVar[Algebra] = Algebra("rho", smaller_is_better=True)

    rho: float = Field(gt=0, le=1, description="The greatest belief that an attacker may reach.")

    def ratio(self, values: ValueCounts, size: Ints, domain: Domain) -> tuple[Ints, Ints]:
        return by_class(np.maximum, values.count, values), size

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        return np.full(len(share), self.rho)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = f"rho-different.{unit.plural}"
        return Statement(form, subject=self.any_subject, rho=self.rho)


class SeriesRequirement(AttributeRequirement):
    """A guarantee about all releases of a series, which no single release can prove."""

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        raise NotImplementedError(f"{self.name} is judged on a series, not on one release.")


class SeriesMInvariance(SeriesRequirement):
    """Every person is always among the same values, or among values that are all new."""

    name: ClassVar[str] = "m-invariance-in-series"
    algebra: ClassVar[Algebra] = Algebra("m")

    m: int = Field(ge=1, description="The least number of values in a group.")

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return Statement("m-invariance-in-series", subject=self.subject)


class SeriesRhoDifference(SeriesRequirement):
    """No reader of all releases believes a value of a person with more than ``rho``."""

    name: ClassVar[str] = "rho-different-in-series"
    algebra: ClassVar[Algebra] = Algebra("rho", smaller_is_better=True)

    rho: float = Field(gt=0, le=1, description="The greatest belief that an attacker may reach.")

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return Statement("rho-different-in-series", subject=self.any_subject, rho=self.rho)


class SeriesBcfAnonymity(SeriesRequirement):
    """Correspondence attacks on all releases leave at least ``k`` rows for every person."""

    name: ClassVar[str] = "bcf-anonymity-in-series"
    algebra: ClassVar[Algebra] = Algebra("k")

    k: int = Field(ge=2, description="The least number of rows that remain for a person.")

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return Statement("bcf-anonymity-in-series", k=self.k, subject=self.subject)
