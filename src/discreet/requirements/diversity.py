"""The ℓ-diversity family: how well the values of a sensitive attribute are spread in a class.

Machanavajjhala and others, "ℓ-diversity: privacy beyond k-anonymity" (sections 4 and 5), and the
probability bounds of ℓ-pdiversity and ℓ-mdiversity.

========================  ======================================================================
paper                     here
========================  ======================================================================
r_1 ≥ r_2 ≥ … ≥ r_m       the counts of a class in descending order
Y, s_y, r_y               ``disclosable``; the most frequent value outside it; its count, ``head``
tail(s_y)                 ``tail``: what is left beside s_y without the ℓ − 2 largest others
W, c2                     ``not_ruled_out``; ``c2``, here a proportion and not a percentage
========================  ======================================================================

Definition 4.3 has two cases by the rank y of s_y. In both, the ℓ − 2 most frequent values other
than s_y are ruled out, and r_y is compared with the sum of what remains beside s_y: for
y ≤ ℓ − 1 the ranks 1 … ℓ − 1 without y are struck and ranks ℓ … m remain; for y > ℓ − 1 the ranks
1 … ℓ − 2 are struck and ranks ℓ − 1 … m without y remain. That is the form computed here; unlike
ranks it does not depend on the order of ties. With Y empty, y = 1 and it is Definition 4.2.

All are closed under merging passing classes. Where it is not obvious, the class says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator

from discreet.requirements.base import (
    TOLERANCE,
    Algebra,
    AttributeRequirement,
    ClassNeeds,
    Domain,
    Domains,
    GuaranteeScope,
    PublishedValues,
    RatioRequirement,
    Requirement,
    Spared,
    codes_of,
    group_of_each,
)
from discreet.requirements.basis import Counting
from discreet.requirements.covered_values import (
    LevelledRequirement,
    SparingRequirement,
    Value,
)
from discreet.requirements.exact_ratios import by_class, exact, scaled
from discreet.statements import Statement, stating
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.kernels import kernel
from discreet.table.persons import PersonBasis
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints, Ints32


class Diversity(AttributeRequirement):
    """A requirement on the spread of values in each class by itself.

    With ``ruled_out: harmless`` it is judged on the rows of each class that have a sensitive value,
    and a class without such rows passes (``covered_values``). Closed under merging: the rows with a
    sensitive value of a merged class are those of its parts, and the requirement on all values is
    closed.
    """

    ruled_out: Literal["harmless"] | None = Field(
        default=None,
        description="'harmless': it also holds against attackers who rule out the values that are "
        "not sensitive. Only rows with a sensitive value are counted.",
    )

    @property
    def counts_sensitive_rows(self) -> bool:
        """Whether only rows with a sensitive value are counted: some values can be ruled out."""
        return self.ruled_out is not None and bool(self.spared_values)

    @property
    def on_all_values(self) -> Self:
        """The same requirement where no value is harmless."""
        return self.model_copy(update={"ruled_out": None, self.spared_field: ()})

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        # A person may have sensitive and other values, so the counts do not say how many persons
        # have a sensitive one.
        return replace(
            super().coverage,
            stricter_on_all_values=self.ruled_out is None,
            of_persons=not self.counts_sensitive_rows,
        )

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        return ClassNeeds(self.least_values, self.least_values)

    @property
    def least_values(self) -> int:
        """A class with fewer values of an attribute fails; 1 says that nothing is known."""
        return 1

    def seen(
        self, counts: ClassCounts, domains: Domains, attribute: str
    ) -> tuple[AttributeRequirement, ClassCounts, Ints] | None:
        if not self.counts_sensitive_rows:
            return None
        # The rows with a sensitive value, of each class that has any.
        values = counts.values[attribute]
        sensitive = np.ones(values.cardinality, bool)
        sensitive[codes_of(domains[attribute], self.spared_values)] = False
        entry = sensitive[values.value]
        length = np.bincount(values.class_of_entry[entry], minlength=values.classes)
        disclosing = np.flatnonzero(length)
        part = ValueCounts(
            np.concatenate(([0], np.cumsum(length[disclosing]))),
            values.value[entry],
            values.count[entry],
            values.cardinality,
            None if values.reference is None else np.where(sensitive, values.reference, 0),
        )
        size = np.bincount(values.class_of_entry[entry], values.count[entry], values.classes)
        parts = ClassCounts(size[disclosing].astype(np.int64), {attribute: part})
        return self.on_all_values, parts, disclosing


class DistinctLDiversity(LevelledRequirement, Diversity):
    """At least ``l`` values occur in every class. Absorbing: merging only adds values.

    With a ``level``, at least ``l`` kinds of values (``covered_values``).
    """

    name: ClassVar[str] = "distinct-l-diversity"
    counting: ClassVar[Counting] = Counting(PersonBasis.MATCHED)
    counts_values: ClassVar[bool] = True

    l: int = Field(ge=1, description="The least number of values in a class.")  # noqa: E741 (the job's key)

    @property
    def algebra(self) -> Algebra:  # type: ignore[override]
        # A class of non-sensitive values alone passes; with a sensitive row it may fail.
        return Algebra("l", absorbing=not self.non_sensitive, of_counts=True)

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        # A matching may leave out the one sensitive value, and values of a kind that it needs.
        matched = self.level is None and not self.non_sensitive
        return replace(super().coverage, of_persons=matched)

    @property
    def least_values(self) -> int:
        return 1 if self.non_sensitive else self.l

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        kinds = self.kinds(values, domain)
        if kinds is None:
            return np.zeros(len(size))
        figures = np.diff(kinds.start).astype(np.float64)
        if self.non_sensitive:  # a class without a sensitive value discloses none
            disclosing = self.greatest_sensitive(values, domain) > 0
            figures = np.where(disclosing, figures, np.maximum(figures, self.l))
        return figures

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        kinds = {} if self.level is None else {"level": self.level}
        form = "distinct-l-diversity.kinds" if kinds else "distinct-l-diversity"
        return self.with_exempt(
            Statement(
                f"{form}.one" if self.l == 1 else form,
                group=Statement(f"{self.sparing_form('group')}.{unit.plural}"),
                subject=self.subject,
                l=self.l,
                **kinds,
            )
        )


class EntropyLDiversity(SparingRequirement, Diversity):
    """The entropy of every class is at least ln ``l`` (Definition 4.1).

    The figure is exp(entropy), the class's effective number of values; where some values are not
    sensitive, exp of the mean ln(n/n_s) of the rows with a sensitive one. Closed under merging:
    n_s·ln(n/n_s) is concave in (n_s, n) and scales with them, so a merged class has at least the
    sum of its parts, and the rows with a sensitive value, times ln ℓ, add up.
    Not absorbing: (1, 1) passes ℓ = 2, and with 100 more rows of the first value it does not.
    """

    name: ClassVar[str] = "entropy-l-diversity"
    counting: ClassVar[Counting] = Counting(PersonBasis.MASS)
    algebra: ClassVar[Algebra] = Algebra("l")

    l: float = Field(  # noqa: E741 (the job's key)
        ge=1, allow_inf_nan=False, description="The least effective number of values in a class."
    )

    @property
    def least_values(self) -> int:
        return 1 if self.non_sensitive else math.ceil(self.l * (1 - TOLERANCE))

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        count = self.sensitive_counts(values, domain)
        covered = self._covered(values, size, domain)
        spread = by_class(np.add, count * np.log(np.maximum(count, 1)), values)
        figures: Floats = np.exp(np.log(size) - spread / np.maximum(covered, 1))
        return np.where(covered > 0, figures, np.maximum(figures, self.l))

    def _covered(self, values: ValueCounts, size: Ints, domain: Domain) -> Ints:
        """How many rows of each class have a sensitive value."""
        if not self.non_sensitive:
            return size
        covered: Ints = by_class(np.add, self.sensitive_counts(values, domain), values)
        return covered

    def excess(self, values: ValueCounts, size: Ints, domain: Domain, share: float) -> Floats:
        """If x of n rows go and the rest passes, what is lacking to n_S·ln ℓ is at most x·ln ℓ."""
        if self.counts_sensitive_rows:
            return np.zeros(len(size))
        figures = self.measure(values, size, domain)
        least: Floats = np.where(
            self.accepts(figures),
            0.0,
            self._covered(values, size, domain)
            * (1 - np.log(figures) / max(np.log(self.l), TOLERANCE)),
        )
        return least

    def accepts(self, figures: Floats) -> Bools:
        return figures >= self.l * (1 - TOLERANCE)

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        if self.non_sensitive:
            bound = _surprise_bound(self.l, int(self.is_sensitive(domain).sum()))
            return self.of_sensitive(np.full(len(share), bound), domain)
        return np.full(len(share), _entropy_bound(self.l, len(share)))

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return self.of_groups("entropy-l-diversity", unit, subject=self.subject, l=self.l)


class RecursiveClDiversity(RatioRequirement, Diversity):
    """Recursive (``c``, ``l``)-diversity (Definition 4.2): r_1 < c · (r_ℓ + … + r_m), strictly.

    A class with fewer than ``l`` values fails, unless ℓ = 1, which always passes. The figure is
    r_1 / (r_ℓ + … + r_m): a class passes for every c above it; it is infinite where nothing is
    left to compare with. Closed under merging, as pd-recursive diversity with nothing disclosable.
    Not absorbing: a class of one value can swamp any other.
    """

    name: ClassVar[str] = "recursive-cl-diversity"
    counting: ClassVar[Counting] = Counting(PersonBasis.MASS)
    algebra: ClassVar[Algebra] = Algebra("c", smaller_is_better=True, strict=True, of_counts=True)

    c: float = Field(
        gt=0,
        allow_inf_nan=False,
        description="The most frequent value stays below c times the tail of the others.",
    )
    l: int = Field(  # noqa: E741 (the job's key)
        ge=1, description="An adversary must rule out l − 1 values to disclose one."
    )

    @property
    def least_values(self) -> int:
        return self.l

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        plain = PdRecursiveClDiversity(
            attribute=self.attribute,
            attackers=self.attackers,
            ruled_out=self.ruled_out,
            c=self.c,
            l=self.l,
        )
        split = plain.sparing(spared, sensitive)
        return [self] if split == [plain] else split

    def _may_disclose(self, domain: Domain) -> Ints:
        """The codes of the values that may be disclosed."""
        return np.zeros(0, np.int64)

    def ratio(self, values: ValueCounts, size: Ints, domain: Domain) -> tuple[Ints, Ints]:
        """Return r_y and tail(s_y)."""
        if self.l == 1:  # which excludes nothing
            return np.zeros(len(size), np.int64), size
        may_disclose = np.zeros(values.cardinality, np.bool_)
        may_disclose[self._may_disclose(domain)] = True
        if self.l == 2:  # nothing is struck: no counts are ranked, and no kernel is loaded
            head = by_class(
                np.maximum, np.where(may_disclose[values.value], 0, values.count), values
            )
            return head, by_class(np.add, values.count, values) - head
        return head_and_tail(values.start, values.value, values.count, may_disclose, self.l - 2)

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        """Return c/(c + 1) for l ≥ 2: r1 < c·(the others' rest) ≤ c·(n − r1)."""
        return np.full(len(share), np.inf if self.l == 1 else self.c / (self.c + 1))

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.l == 1:
            return Statement("recursive-cl-diversity.nothing", subject=self.subject)
        struck = self.l - 2
        form = f"{self._form}{('', '.without-one', '.without')[min(struck, 2)]}"
        numbers = {"c": self.c, "struck": struck} if struck > 1 else {"c": self.c}
        return Statement(form, group=group_of_each(unit), subject=self.subject, **numbers)

    @property
    def _form(self) -> str:
        """The id of its statement where no value is ruled out."""
        return "recursive-cl-diversity"


class PdRecursiveClDiversity(RecursiveClDiversity):
    """pd-recursive (``c``, ``l``)-diversity (Definition 4.3): r_y < c · tail(s_y), strictly.

    A class of ``disclosable`` values alone passes, with the figure 0; so does every class at
    ℓ = 1. The figure is r_y / tail(s_y).

    Closed under merging. For a value s let R(s) be the greatest sum of ℓ − 1 counts that include
    the count of s, so tail(s) is the size less R(s). Among values outside Y the greatest count
    has the greatest R (swap it in), so a passing class keeps n(s) < c · tail(s), or n(s) = 0, for
    *every* s outside Y. R is a maximum of sums and so subadditive under merging, tail is
    superadditive, n(s) adds up, and the inequality is kept for the merged class's own s_y.
    Not absorbing.
    """

    name: ClassVar[str] = "pd-recursive-cl-diversity"
    spared_field: ClassVar[str] = "disclosable"

    disclosable: tuple[Value, ...] = Field(
        default=(), description="The values that may be disclosed; null is a missing value."
    )

    @property
    def least_values(self) -> int:
        return 1  # of values that may be disclosed

    def _may_disclose(self, domain: Domain) -> Ints:
        return codes_of(domain, self.disclosable)

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        return AttributeRequirement.sparing(self, spared, sensitive)

    @property
    def _form(self) -> str:
        return "pd-recursive-cl-diversity"

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        """Return the same bound for every value that may not be disclosed."""
        bounds = super().share_bound(share, domain)
        bounds[self._may_disclose(domain)] = np.inf
        return bounds


class NpdRecursiveClDiversity(Diversity):
    """npd-recursive (``c1``, ``c2``, ``l``)-diversity (Definition 4.4).

    pd-recursive (``c1``, ``l``) holds and each value of ``not_ruled_out`` fills at least ``c2``
    of every class. Closed under merging: the first part is, and a merged class's share is a mean
    of the parts' shares. Not absorbing. The figure is that of the pd-recursive part; ``achieved``
    has the least share as ``c2`` beside it.
    """

    name: ClassVar[str] = "npd-recursive-cl-diversity"
    counting: ClassVar[Counting] = Counting(PersonBasis.MASS)
    algebra: ClassVar[Algebra] = Algebra("c1", smaller_is_better=True, strict=True)
    spared_field: ClassVar[str] = "disclosable"

    c1: float = Field(gt=0, allow_inf_nan=False, description="The c of the pd-recursive part.")
    c2: float = Field(
        ge=0, le=1, description="The least share of a class that each value of W fills."
    )
    l: int = Field(ge=1, description="The l of the pd-recursive part.")  # noqa: E741 (the job's key)
    disclosable: tuple[Value, ...] = Field(
        default=(), description="The values that may be disclosed; null is a missing value."
    )
    not_ruled_out: tuple[Value, ...] = Field(
        default=(), description="The values (W) that must stay possible for every row."
    )

    @field_validator("ruled_out")
    @classmethod
    def _judged_on_all_rows(cls, ruled_out: object) -> object:
        if ruled_out is not None:
            raise ValueError("is for the other l-diversity requirements. Remove it")
        return ruled_out

    @property
    def positive(self) -> PdRecursiveClDiversity:
        """The pd-recursive part."""
        return PdRecursiveClDiversity(
            attribute=self.attribute, c=self.c1, l=self.l, disclosable=self.disclosable
        )

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        return self.positive.measure(values, size, domain)

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        result = self.positive.admits(values, size, domain)
        if self.not_ruled_out:
            part, whole = scaled(self._rarest(values, domain), size, exact(self.c2))
            result &= part >= whole
        return result

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        if not self.not_ruled_out:
            return {}
        rarest = self._rarest(counts.values[attribute], domains[attribute])
        return {"c2": float((rarest / counts.size).min())}

    def _rarest(self, values: ValueCounts, domain: Domain) -> Ints:
        """Return how often the rarest value of W occurs in each class."""
        codes = codes_of(domain, self.not_ruled_out)
        if len(codes) < len(set(self.not_ruled_out)):
            return np.zeros(values.classes, np.int64)
        rarest = np.full(values.classes, np.iinfo(np.int64).max)
        for code in codes:
            has_value = values.value == code
            occurs = np.zeros(values.classes, np.int64)
            occurs[values.class_of_entry[has_value]] = values.count[has_value]
            np.minimum(rarest, occurs, out=rarest)
        return rarest

    def naming(self, values: PublishedValues) -> Requirement:
        shown = super().naming(values)
        if self.c2 == 0:
            return shown
        # A value of W that no row has breaks the promise, and must stay.
        return shown.model_copy(update={"not_ruled_out": self.not_ruled_out})

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        positive = self.positive.sentence(unit)
        if not self.not_ruled_out:
            return positive
        return stating("npd-recursive-cl-diversity", positive, c2=self.c2)


class PDiversity(LevelledRequirement, RatioRequirement, Diversity):
    """ℓ-pdiversity: the most frequent value fills at most 1/``l`` of every class.

    With a ``level``, the most frequent kind of values (``covered_values``); so does each value.

    The figure is size / greatest count. Closed under merging: greatest counts are subadditive,
    sizes add up. Not absorbing.
    """

    name: ClassVar[str] = "p-diversity"
    counting: ClassVar[Counting] = Counting(PersonBasis.TOUCHED)
    algebra: ClassVar[Algebra] = Algebra("l", of_counts=True)

    l: float = Field(  # noqa: E741 (the job's key)
        ge=1, allow_inf_nan=False, description="No value fills more than 1/l of a class."
    )

    @property
    def least_values(self) -> int:
        return 1 if self.non_sensitive else math.ceil(exact(self.l))

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        part, whole = self.ratio(values, size, domain)
        figures: Floats = np.where(part > 0, whole / np.maximum(part, 1), np.maximum(size, self.l))
        return figures

    @property
    def bound(self) -> Fraction:
        return 1 / exact(self.l)

    def ratio(self, values: ValueCounts, size: Ints, domain: Domain) -> tuple[Ints, Ints]:
        greatest = self.greatest_kind(values, domain)
        if greatest is None:  # no level to judge by: nothing passes
            return size, np.zeros_like(size)
        return greatest, self._spread(values, size, greatest)

    def _spread(self, values: ValueCounts, size: Ints, greatest: Ints) -> Ints:
        """Return the rows of each class that the greatest count is compared with."""
        return size

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        return self.of_sensitive(np.full(len(share), 1 / self.l), domain)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        kinds = {} if self.level is None else {"level": self.level}
        form = "p-diversity.kinds" if kinds else "p-diversity"
        bearers = Statement(f"one-in.{unit.plural}", l=self.l)
        return self.of_groups(form, unit, subject=self.any_subject, bearers=bearers, **kinds)


class MDiversity(PDiversity):
    """ℓ-mdiversity: (ℓ − i)-pdiversity still holds after any i facts "u does not have value o".

    A class is ℓ-mdiverse exactly when it is ℓ-pdiverse, so the test is the same. i = 0 gives one
    direction. For the other: a fact about the target bars the rows of one value, at most 1/ℓ of
    the class, so i facts leave at least (1 − i/ℓ) of the rows, of which one value, still at most
    1/ℓ of the class, fills at most 1/(ℓ − i). A fact about another person only spreads the belief
    about the target, by exchanging the rows of the two. Closed under merging; not absorbing.

    Where some values are not sensitive they can be ruled out too, and may fill most of a class. Let
    g be the count of the most frequent sensitive value. To rule a value out lowers ℓ by 1 and the
    rows by its count, so it helps the attacker only if the count is above g, and the belief in a
    sensitive value stays within 1/(ℓ − i) for every i exactly if n − Σ_v max(n_v − g, 0) ≥ ℓ·g.
    Closed under merging: for each sensitive s and each i, n_s adds up and the i greatest counts
    beside it are subadditive, so (ℓ − i)·n_s ≤ n − (these) is kept.
    """

    name: ClassVar[str] = "m-diversity"

    @field_validator("level")
    @classmethod
    def _by_values(cls, level: object) -> object:
        if level is not None:
            raise ValueError("is for distinct-l-diversity and p-diversity. Remove it")
        return level

    def _spread(self, values: ValueCounts, size: Ints, greatest: Ints) -> Ints:
        if not self.non_sensitive:
            return size
        above = np.maximum(values.count - greatest[values.class_of_entry], 0)
        spread: Ints = size - by_class(np.add, above, values)
        return spread

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return stating(f"m-diversity.{unit.plural}", super().sentence(unit), l=self.l)


# Compiled: called for every step of searches; NumPy would sort the counts of each class.
@kernel
def head_and_tail(
    start: Ints,
    value: Ints32,
    count: Ints,
    may_disclose: Bools,  # (values,)
    struck: int,  # ℓ − 2
) -> tuple[Ints, Ints]:
    """r_y and tail(s_y) of every class; (0, size) where all values may be disclosed."""
    # Room for the counts that are struck, of the longest class.
    classes = len(start) - 1
    head = np.zeros(classes, np.int64)
    tail = np.zeros(classes, np.int64)
    longest = 0
    for c in range(classes):
        longest = max(longest, start[c + 1] - start[c])
    capacity = min(struck, longest)
    largest = np.empty(capacity + 1, np.int64)  # descending; the last place is for the insertion
    for c in range(classes):
        # The most frequent value that may not be disclosed.
        top = -1
        for entry in range(start[c], start[c + 1]):
            if not may_disclose[value[entry]] and (top < 0 or count[entry] > count[top]):
                top = entry
        # All others, of which the largest are kept in order to be struck.
        filled = 0
        for entry in range(start[c], start[c + 1]):
            if entry == top:
                continue
            tail[c] += count[entry]
            if capacity == 0 or (filled == capacity and count[entry] <= largest[capacity - 1]):
                continue
            place = filled
            while place > 0 and largest[place - 1] < count[entry]:
                largest[place] = largest[place - 1]
                place -= 1
            largest[place] = count[entry]
            filled = min(filled + 1, capacity)
        if top >= 0:
            head[c] = count[top]
            for place in range(filled):
                tail[c] -= largest[place]
    return head, tail


def _surprise_bound(ell: float, values: int) -> float:
    """The greatest share x of one of so many sensitive values where others are not sensitive.

    The rows with a sensitive value have a mean surprise of ln ℓ at least: x·ln(xℓ) is at most the
    greatest r·ln((values − 1)/(rℓ)) with r ≤ 1 − x, the share of the other sensitive values.
    """
    if ell <= 1:
        return 1.0

    def passes(x: float) -> bool:
        others = min(1 - x, (values - 1) / (ell * math.e))
        gain = others * math.log((values - 1) / (others * ell)) if others > 0 else 0.0
        return x * math.log(x * ell) <= max(gain, 0.0) + TOLERANCE

    return _greatest(passes, 1 / ell)


def _greatest(passes: Callable[[float], bool], low: float) -> float:
    """Return the greatest share that passes, from above; all from the lowest up to it pass."""
    high = 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return high


def _entropy_bound(ell: float, values: int) -> float:
    """The greatest share of one value in a group with entropy ≥ ln ℓ over so many values."""
    if ell <= 1:
        return 1.0
    if values < 2 or ell > values:
        return 1.0

    def entropy(x: float) -> float:
        rest = 1 - x
        tail = rest * math.log(rest / (values - 1)) if rest > 0 else 0.0
        return -(x * math.log(x)) - tail

    return _greatest(lambda x: entropy(x) >= math.log(ell) - 1e-12, 1 / values)
