"""Bounds on what a class says about values: (α,k), LKC-privacy, β-likeness, δ-disclosure.

p is the share of a value in all counted classes together, q its share in a class.

- (α,k)-anonymity (Wong, Li, Fu and Wang, 2006): class size ≥ k, and q ≤ α for the value given, or
  for every value.
- LKC-privacy (Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data: a case study on the
  blood transfusion service", 2009, Definition 3.1): the same with α = C and k = K for the rows that
  any combination of at most L quasi-identifiers leads to, where it leads to any.
- β-likeness (Cao and Karras, 2012): the relative gain (q − p)/p is at most β for every value;
  enhanced: at most min(β, −ln p), which also keeps frequent values from becoming certain.
- δ-disclosure privacy (Brickell and Shmatikov, 2008): |ln(q/p)| < δ for every value of the table,
  so that a value that a class lacks fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, model_validator

from discreet.requirements.base import (
    TOLERANCE,
    Algebra,
    ClassNeeds,
    Domain,
    Domains,
    GuaranteeScope,
    KnownParts,
    PublishedValues,
    RatioRequirement,
    Requirement,
    Spared,
    codes_of,
)
from discreet.requirements.basis import Counting
from discreet.requirements.covered_values import SparingRequirement, Value
from discreet.requirements.exact_ratios import by_class, exact, product, scaled
from discreet.requirements.k_anonymity import KAnonymity
from discreet.statements import Statement
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.persons import PersonBasis
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints


class SharesInLargeClasses(SparingRequirement, RatioRequirement):
    """Every class has ``k`` rows or more, and a sensitive value fills at most a share of it.

    Closed under merging: sizes add up, and the share in a merged class is a mean of the parts'
    shares. Not absorbing. The figure is the greatest share; ``achieved`` has the least size as
    ``k`` beside it.
    """

    if TYPE_CHECKING:
        k: int  # of each: the least number of rows in a class

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        unbounded = self.bound == 0 or self.non_sensitive
        return ClassNeeds(self.k, 1 if unbounded else math.ceil(1 / self.bound))

    def passes(self, counts: ClassCounts, domains: Domains) -> Bools:
        return super().passes(counts, domains) & (counts.members >= self.k)

    def ratio(self, values: ValueCounts, size: Ints, domain: Domain) -> tuple[Ints, Ints]:
        return self.greatest_sensitive(values, domain), size

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        return {"k": float(counts.members.min())}


class AlphaKAnonymity(SharesInLargeClasses):
    """Every class has ``k`` rows or more, and a sensitive value fills at most ``alpha`` of it."""

    name: ClassVar[str] = "alpha-k-anonymity"
    counting: ClassVar[Counting] = Counting(PersonBasis.TOUCHED)
    algebra: ClassVar[Algebra] = Algebra("alpha", smaller_is_better=True, of_counts=True)

    alpha: float = Field(ge=0, le=1, description="The greatest share of a value in a class.")
    k: int = Field(ge=1, description="The least number of rows in a class.")
    value: Value = Field(
        default=None, description="The one value to bound; by default every value."
    )

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        if self.value is not None:  # it names the value that it bounds
            return [self]
        return super().sparing(spared, sensitive)

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        coverage = super().coverage
        return replace(coverage, all_values=self.value is None and coverage.all_values)

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        return super().needs if self.value is None else ClassNeeds(self.k)

    def ratio(self, values: ValueCounts, size: Ints, domain: Domain) -> tuple[Ints, Ints]:
        if self.value is None:
            return super().ratio(values, size, domain)
        bounded = np.isin(values.value, codes_of(domain, (self.value,)))
        occurs = np.zeros(values.classes, np.int64)
        occurs[values.class_of_entry[bounded]] = values.count[bounded]
        return occurs, size

    def naming(self, values: PublishedValues) -> Requirement:
        if self.value is None:
            return super().naming(values)
        # Where no published row has the value, sizes are all it says.
        return self if self.occurring((self.value,), values) else KAnonymity(k=self.k)

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        if self.value is None:
            return self.of_sensitive(np.full(len(share), self.alpha), domain)
        bounds = np.full(len(share), np.inf)
        code = domain.code_of.get(self.value)
        if code is not None:
            bounds[code] = self.alpha
        return bounds

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = self.sparing_form("alpha-k-anonymity")
        return self.with_exempt(
            Statement(
                form if self.value is None else "alpha-k-anonymity.value",
                size=Statement(f"group-size.{unit.plural}", k=self.k),
                subject=self.any_subject,
                alpha=self.alpha,
            )
        )


class LkcPrivacy(SharesInLargeClasses):
    """For any ``l`` quasi-identifiers: ``k`` rows or more, and a value fills at most ``c`` of them.

    It is judged on the groups of every combination of ``l`` columns; that of fewer follows, because
    it is closed under merging.
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

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.l == 1:
            size = Statement(f"group-size.known-one.{unit.plural}", k=self.k)
        else:
            size = Statement(f"group-size.known.{unit.plural}", l=self.l, k=self.k)
        form = self.sparing_form("lkc-privacy")
        return self.with_exempt(Statement(form, size=size, subject=self.any_subject, c=self.c))


class BetaLikeness(SparingRequirement):
    """No value is more frequent in a class than in the table by more than ``beta`` in relation.

    The figure is the greatest relative gain (q − p)/p. Closed under merging of classes of the
    same table: q in a merged class is a mean of the parts' q, and the bound on q depends on the
    table alone. Not absorbing; and leaving a class out moves p.
    """

    name: ClassVar[str] = "beta-likeness"
    counting: ClassVar[Counting] = Counting(PersonBasis.MASS)
    algebra: ClassVar[Algebra] = Algebra("beta", smaller_is_better=True, against_table=True)

    beta: float = Field(
        gt=0, allow_inf_nan=False, description="The greatest relative gain of a value's share."
    )
    enhanced: bool = Field(
        default=False, description="Bound the gain by −ln(share in the table) as well."
    )

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        gain = _lift(values, size) - 1
        figures: Floats = by_class(np.maximum, gain, values)
        if self.non_sensitive:
            covered = self.is_sensitive(domain)[values.value]
            figures = by_class(np.maximum, np.where(covered, gain, 0.0), values)
        return figures

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        total = values.total
        part, whole = scaled(
            product(values.count, total.sum()),
            product(total[values.value], size[values.class_of_entry]),
            exact(self.beta) + 1,
        )
        within = part <= whole
        if self.enhanced:
            surprise = -np.log(np.maximum(total, 1) / max(total.sum(), 1))  # −ln p
            within &= _lift(values, size) - 1 <= surprise[values.value] + TOLERANCE
        if self.non_sensitive:
            within |= ~self.is_sensitive(domain)[values.value]
        return by_class(np.logical_and, within, values)

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        return self.of_sensitive(np.minimum(share * (1 + self.beta), 1.0), domain)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = "beta-likeness.enhanced" if self.enhanced else "beta-likeness"
        return self.of_groups(form, unit, subject=self.any_subject, times=1 + self.beta)


class DeltaDisclosure(SparingRequirement):
    """|ln(q/p)| < ``delta`` for every value of the table and every class.

    The figure is the greatest |ln(q/p)|, infinite where a class lacks a value. For δ > 0 the two
    sides are never equal (a power of e is irrational), so no tolerance is called for. Closed under
    merging of classes of the same table: q in a merged class is a mean of the parts' q, and those
    within e^−δ · p < q < e^δ · p are an interval. Not absorbing; leaving a class out moves p.
    A class of non-sensitive values alone fails: it rules every sensitive value out.
    """

    name: ClassVar[str] = "delta-disclosure"
    counting: ClassVar[Counting] = Counting(PersonBasis.MASS)
    algebra: ClassVar[Algebra] = Algebra(
        "delta", smaller_is_better=True, strict=True, against_table=True
    )

    delta: float = Field(
        gt=0, allow_inf_nan=False, description="The bound on |ln(share in class / in table)|."
    )

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        change = np.abs(np.log(_lift(values, size)))
        covered = self.is_sensitive(domain)
        is_covered = covered[values.value]
        figures: Floats = by_class(np.maximum, np.where(is_covered, change, 0.0), values)
        lacks = by_class(np.add, is_covered.astype(np.int64), values) < np.count_nonzero(
            values.total[covered]
        )
        figures[lacks] = np.inf
        return figures

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        return self.of_sensitive(np.minimum(share * math.exp(self.delta), 1.0), domain)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        above, below = math.exp(-self.delta), math.exp(self.delta)
        return self.of_groups(
            "delta-disclosure", unit, subject=self.subject, above=above, below=below
        )


def _lift(values: ValueCounts, size: Ints) -> Floats:
    """q/p of every entry: its share in the class over its share in the table."""
    total = values.total
    part = product(values.count, total.sum())
    whole = product(size[values.class_of_entry], total[values.value])
    lift: Floats = (part / whole).astype(np.float64)
    return lift
