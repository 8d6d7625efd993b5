"""The shape of every requirement: a figure for each class, and a bound on it.

A requirement is a frozen, validated value. Given the counts of the classes it computes one figure
for each class and attribute (a size, an effective ℓ, a distance), says which figures pass, and
reports the worst of them as what was achieved. It never sees rows, files or engines.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.by_name import Named
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.table import Links
from discreet.requirements.attackers.attacker import Attacker
from discreet.requirements.basis import Counting, PopulationSource
from discreet.requirements.exact_ratios import exact, scaled
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.roles import Distance, Role, Unit
from discreet.typing import Bools, Floats, Ints

NAMED_VALUES = ("disclosable", "not_ruled_out", "value")  # parameters: values that a job names
TOLERANCE = 1e-9  # for figures that are sums of logarithms or of shares; counts compare exactly


@dataclass(frozen=True, eq=False)
class Domain:
    """What a requirement may know about an attribute beside its counts.

    Of a quasi-sensitive attribute it is the links of its cells, and ``values`` are the labels.
    """

    values: tuple[str | None, ...]  # the dictionary's text, in the order of the codes
    distance: Distance = Distance.EQUAL
    hierarchy: Hierarchy | None = None  # for the hierarchical distance
    links: Links | None = None  # of a quasi-sensitive attribute
    numbers: Floats | None = None  # (values,) of an ordered type; NaN if missing

    @classmethod
    def of(cls, column: Column, hierarchy: Hierarchy | None = None) -> Domain:
        """Return the domain of a sensitive column."""
        text = tuple(column.text.to_list())
        return cls(text, column.distance, hierarchy, numbers=column.numbers)

    @property
    def role(self) -> Role:
        """The role of the attribute."""
        return Role.SENSITIVE if self.links is None else Role.QUASI_SENSITIVE

    @cached_property
    def code_of(self) -> dict[str | None, int]:
        """The code of every value."""
        return {value: code for code, value in enumerate(self.values)}


Domains = Mapping[str, Domain]
Spared = Mapping[str, Sequence[str | None]]  # by attribute: its values that are not sensitive
PublishedValues = Mapping[str, Collection[str | None]]  # by sensitive attribute


@dataclass(frozen=True)
class TableTerms:
    """What a table says in the place of what a job says.

    Numbers stand for names of levels, ``bits`` for the attributes that they replaced, and
    population sizes come from a source, unless the requirement names its own.
    """

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    bits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: PopulationSource | None = None


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a requirement says of a table."""

    holds: bool
    achieved: dict[str, float]  # the worst figure over classes and attributes, by parameter
    by_attribute: dict[str, float] = field(default_factory=dict)
    passes: Bools = field(default_factory=lambda: np.zeros(0, bool))  # (classes,)
    vacuous_for: tuple[str, ...] = ()  # the attributes of which it excludes nothing

    @classmethod
    def worst(cls, verdicts: Sequence[Verdict], *, smaller_is_better: bool) -> Verdict:
        """The verdict on several tables together: all must hold, with the worst figures."""
        pick = max if smaller_is_better else min
        achieved: dict[str, float] = {}
        by_attribute: dict[str, float] = {}
        for verdict in verdicts:
            for place, (name, figure) in enumerate(verdict.achieved.items()):
                worse = pick if place == 0 else min  # of a second figure a greater one is better
                achieved[name] = worse(achieved.get(name, figure), figure)
            for name, figure in verdict.by_attribute.items():
                by_attribute[name] = pick(by_attribute.get(name, figure), figure)
        holds = bool(verdicts) and all(verdict.holds for verdict in verdicts)
        passes = np.concatenate([v.passes for v in verdicts]) if verdicts else np.zeros(0, bool)
        vacuous_for = dict.fromkeys(name for verdict in verdicts for name in verdict.vacuous_for)
        return cls(holds, achieved, by_attribute, passes, tuple(vacuous_for))

    @property
    def failing(self) -> NDArray[np.intp]:
        """The classes that fail."""
        return np.flatnonzero(~self.passes)


@dataclass(frozen=True)
class Algebra:
    """How a figure behaves where classes are merged, suppressed or compared."""

    # The key of ``achieved``, and the parameter that bounds it: "k", "l", "c", "t".
    figure: str = ""
    smaller_is_better: bool = False
    strict: bool = False  # whether a figure at the bound fails, where smaller ones are better
    # Whether a passing class still passes after any class, passing or not, is merged into it.
    absorbing: bool = False
    # Whether classes are compared with all counted classes together, not judged on their own.
    against_table: bool = False
    refined: bool = False  # judged also where the other sensitive attributes are known
    bears_suppression: bool = True  # suppressing other classes leaves a class's figure as it is
    additive: bool = False  # a mean over all rows is bounded, to which classes add
    # Whether counts are compared, and no sums of shares or logarithms: a share above the bound of a
    # passing class is then no rounding.
    of_counts: bool = False


@dataclass(frozen=True)
class ClassNeeds:
    """What a class must have to pass, whatever its rows hold; 1 says that nothing is known."""

    rows: int = 1
    values: int = 1  # of each attribute that the requirement covers


@dataclass(frozen=True)
class GuaranteeScope:
    """Which attributes and values a requirement covers."""

    names: tuple[str, ...] = ()  # the attributes that it names; none where it covers all, or sizes
    spared: tuple[str | None, ...] = ()  # the values of its attributes that may be disclosed
    all_values: bool = True  # every value of its attributes, also those that are not sensitive
    # Whether it is stricter, so always safe, where all values count as sensitive.
    stricter_on_all_values: bool = True
    of_persons: bool = True  # whether counts of persons tell who has a covered value


@dataclass(frozen=True)
class KnownParts:
    """What the parameters of a requirement say of attackers: the most that each knows."""

    columns: int | None = None  # quasi-identifiers
    items: int | None = None  # of a set: it is judged on the items of sets, not on classes


class Requirement(Named):
    """One promise about every class of a release.

    Every requirement of this package is closed under merging: two passing classes of one table
    make a passing class, so each figure is at its best where the whole table is one class. Where
    ``against_table`` is set this holds as long as the counted rows stay the same: suppressing a
    class moves the distribution that all others are compared with.
    """

    # Each is a property where it depends on the parameters.
    algebra: ClassVar[Algebra] = Algebra()
    counting: ClassVar[Counting] = Counting()
    needs: ClassVar[ClassNeeds] = ClassNeeds()
    coverage: ClassVar[GuaranteeScope] = GuaranteeScope()
    known_parts: ClassVar[KnownParts | None] = None
    # Parameters that are values of sensitive attributes, which no message repeats.
    value_fields: ClassVar[tuple[str, ...]] = ("non_sensitive", *NAMED_VALUES)

    attackers: dict[str, Attacker] | None = Field(
        default=None,
        min_length=1,
        description="The attackers that it holds for, as `attackers:` of the job; by default those "
        "of the job, or one who knows all quasi-identifiers.",
    )

    @abstractmethod
    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        """The promise about people or rows, for the person who signs it.

        A statement, which pages write in their language, or plain English.
        """

    @abstractmethod
    def attributes(self, counts: ClassCounts) -> Iterable[str]:
        """The sensitive attributes that it covers; none for a requirement on sizes."""

    @abstractmethod
    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        """The figure of every class for one attribute (``""`` for a requirement on sizes)."""

    @abstractmethod
    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        """Which classes pass for one attribute; exact where the figure is a ratio of counts."""

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        """The worst of any second figure, by parameter; of these a greater one is better."""
        return {}

    def passes(self, counts: ClassCounts, domains: Domains) -> Bools:
        """Return which classes pass, for all its attributes together."""
        result = np.ones(counts.classes, bool)
        for attribute in self.attributes(counts):
            result &= self.judge(counts, domains, attribute)
        return result

    def check(self, counts: ClassCounts, domains: Domains) -> Verdict:
        """Judge a table: does it hold, what was achieved, which classes fail."""
        passes = self.passes(counts, domains)
        if not tuple(self.attributes(counts)):  # it says nothing here, so nothing is kept
            return Verdict(False, {}, {}, passes)
        if not counts.classes:
            return Verdict(True, {}, {}, passes)
        name, smaller_is_better = self.algebra.figure, self.algebra.smaller_is_better
        worse = max if smaller_is_better else min
        worst: dict[str, float] = {}
        achieved: dict[str, float] = {}
        for attribute in self.attributes(counts):
            figures = self.figures(counts, domains, attribute)
            worst[attribute] = float(figures.max() if smaller_is_better else figures.min())
            achieved[name] = worse(achieved.get(name, worst[attribute]), worst[attribute])
            for key, least in self.further(counts, domains, attribute).items():
                achieved[key] = min(achieved.get(key, least), least)
        by_attribute = {attribute: figure for attribute, figure in worst.items() if attribute}
        return Verdict(bool(passes.all()), achieved, by_attribute, passes)

    def problems(self, domains: Domains) -> list[str]:
        """What is wrong with it for a table with these sensitive attributes, in sentences."""
        return []

    def for_table(self, terms: TableTerms) -> Self:
        """The same requirement in the terms of a table."""
        return self

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        """The requirements that say the same, but of sensitive values alone.

        ``spared`` has the values of some attributes that are not sensitive. A requirement that has
        no meaning for a part of the values stays as it is: that is stricter, and so always safe.
        """
        return [self]

    def within(self, attributes: Collection[str]) -> Self | None:
        """What it says of a table with these sensitive attributes alone; None for nothing."""
        return self

    def naming(self, values: PublishedValues) -> Requirement:
        """Return what it says of a release with these values, without naming any other value."""
        return self


class BoundedRequirement(Requirement):
    """A requirement whose figure is bounded by the parameter of the same name."""

    def accepts(self, figures: Floats) -> Bools:
        """Which figures are within the bound, as far as a float can tell; ``judge`` decides."""
        bound, algebra = float(getattr(self, self.algebra.figure)), self.algebra
        if algebra.strict:
            return figures < bound
        slack = 0.0 if algebra.of_counts else TOLERANCE
        return figures <= bound + slack if algebra.smaller_is_better else figures >= bound - slack


class SizeRequirement(BoundedRequirement):
    """A requirement on the sizes of classes alone."""

    # A class may share one value.
    coverage: ClassVar[GuaranteeScope] = GuaranteeScope(all_values=False)

    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        return self.accepts(self.figures(counts, domains, attribute))

    def attributes(self, counts: ClassCounts) -> Iterable[str]:
        return ("",)


class AttributeRequirement(BoundedRequirement):
    """A requirement on each sensitive attribute, or on the one or those that are named."""

    role: ClassVar[Role] = Role.SENSITIVE  # of the attributes that it covers
    counts_values: ClassVar[bool] = False  # whether it asks for a number of values, not for shares
    # The parameter with the values that may be disclosed; "" where it covers all of them.
    spared_field: ClassVar[str] = ""

    attribute: str | tuple[str, ...] | None = Field(
        default=None, description="The sensitive attribute or attributes; by default all."
    )

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        spared = self.spared_values
        return GuaranteeScope(self.named, spared, all_values=not spared)

    @property
    def spared_values(self) -> tuple[str | None, ...]:
        """The values of its attributes that may be disclosed."""
        return (getattr(self, self.spared_field) or ()) if self.spared_field else ()

    @abstractmethod
    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        """The figure of every class, from the counts of one attribute and the classes' sizes."""

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        """Return which classes pass, from the same."""
        return self.accepts(self.measure(values, size, domain))

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        """Return the greatest share of each value in any passing class; infinite for no bound.

        ``share`` has the share of each value in the whole table. An attacker's belief in a value
        is such a share, or a mean of some, so the same number bounds the posterior.
        """
        return np.full(len(share), np.inf)

    def kind_share_bound(self, share: Floats, domain: Domain, apart: float | None) -> Floats:
        """Return the same for kinds of values; ``apart`` is the least distance between two."""
        return np.full(len(share), np.inf)

    def seen(
        self, counts: ClassCounts, domains: Domains, attribute: str
    ) -> tuple[AttributeRequirement, ClassCounts, Ints] | None:
        """Return what is judged in the place of the classes; None where these are.

        A requirement, the parts of classes for which it must hold, and the class of each part. The
        figure of a class is that of its worst part.
        """
        return None

    def given_others(self) -> AttributeRequirement | None:
        """Return what holds where other sensitive attributes are known; None for nothing."""
        return None

    def counted(self, counts: ClassCounts) -> Mapping[str, ValueCounts]:
        """The counts of the attributes with its role."""
        return counts.values

    def attributes(self, counts: ClassCounts) -> Iterable[str]:
        return tuple(self.counted(counts)) if self.attribute is None else self.named

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        seen = self.seen(counts, domains, attribute)
        if seen is None:
            return self.measure(self.counted(counts)[attribute], counts.size, domains[attribute])
        requirement, parts, class_of_part = seen
        smaller_is_better = self.algebra.smaller_is_better
        worse = np.maximum if smaller_is_better else np.minimum
        figures = np.full(counts.classes, -np.inf if smaller_is_better else np.inf)
        worse.at(figures, class_of_part, requirement.figures(parts, domains, attribute))
        # A class of which no part is judged passes.
        without = np.bincount(class_of_part, minlength=counts.classes) == 0
        if without.any():
            figures[without] = 0.0 if smaller_is_better else getattr(self, self.algebra.figure)
        return figures

    def excess(self, values: ValueCounts, size: Ints, domain: Domain, share: float) -> Floats:
        """``least_removed`` for one attribute, where the requirement is not absorbing."""
        return np.zeros(len(size))

    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        seen = self.seen(counts, domains, attribute)
        if seen is None:
            return self.admits(self.counted(counts)[attribute], counts.size, domains[attribute])
        requirement, parts, class_of_part = seen
        passes = np.ones(counts.classes, bool)
        passes[class_of_part[~requirement.judge(parts, domains, attribute)]] = False
        return passes

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        covered = self.named or tuple(sensitive)
        if not self.spared_field or not set(covered) & set(spared):
            return [self]
        # Attributes with the same values share a requirement.
        names_of: dict[tuple[str | None, ...] | None, list[str]] = {}
        for name in covered:
            values = dict.fromkeys([*self.spared_values, *spared.get(name, ())])
            names_of.setdefault(tuple(values) if name in spared else None, []).append(name)
        return [
            self.model_copy(
                update={
                    "attribute": names[0] if len(names) == 1 else tuple(names),
                    **({} if values is None else {self.spared_field: values}),
                }
            )
            for values, names in names_of.items()
        ]

    def for_table(self, terms: TableTerms) -> Self:
        if not set(self.named) & set(terms.bits):
            return self
        named = [bit for name in self.named for bit in terms.bits.get(name, (name,))]
        return self.model_copy(update={"attribute": tuple(dict.fromkeys(named))})

    def within(self, attributes: Collection[str]) -> Self | None:
        if self.attribute is None:
            return self if attributes else None
        left = tuple(name for name in self.named if name in attributes)
        return self.model_copy(update={"attribute": left}) if left else None

    @property
    def named(self) -> tuple[str, ...]:
        """The attributes that it names."""
        if self.attribute is None:
            return ()
        return (self.attribute,) if isinstance(self.attribute, str) else self.attribute

    @property
    def subject(self) -> Statement:
        """What it covers, as a sentence writes it after "in every group"."""
        if not self.named:
            return Statement(f"subject.every.{self.role}")
        form = "subject.one" if len(self.named) == 1 else "subject.each"
        return Statement(form, names=self.named)

    @property
    def any_subject(self) -> Statement:
        """The same after "no value of"."""
        if not self.named:
            return Statement(f"subject.any.{self.role}")
        return Statement("subject.any", names=self.named)

    def problems(self, domains: Domains) -> list[str]:
        problems = self._unknown_names(domains)
        for name in NAMED_VALUES:
            problems += self.missing_values(domains, name, self._values_in(name))
        return problems

    def _unknown_names(self, domains: Domains) -> list[str]:
        """A sentence for each attribute that it names and the table lacks."""
        known = [name for name, domain in domains.items() if domain.role is self.role]
        if self.attribute is None and known:
            return []
        if not known:
            return [f"{self.name}: no attribute is {self.role}. Give one the role '{self.role}'."]
        allowed = ", ".join(f"'{name}'" for name in known)
        if not self.named:
            return [f"{self.name}: 'attribute' is an empty list. Allowed: {allowed}."]
        return [
            f"{self.name}: '{name}' is not a {self.role} attribute. Allowed: {allowed}."
            for name in self.named
            if name not in known
        ]

    def _values_in(self, name: str) -> tuple[str | None, ...]:
        """The values in one of its parameters."""
        written = getattr(self, name, None)
        if written is None:
            return ()
        return written if isinstance(written, tuple) else (written,)

    def naming(self, values: PublishedValues) -> Requirement:
        written = {name: self._values_in(name) for name in ("non_sensitive", *NAMED_VALUES)}
        shown = {name: self.occurring(of, values) for name, of in written.items() if of}
        return self.model_copy(update=shown) if shown else self

    def occurring(
        self, wanted: Iterable[str | None], values: PublishedValues
    ) -> tuple[str | None, ...]:
        """Return those of some values that one of its attributes has."""
        spoken_of = self.named or tuple(values)
        return tuple(
            value for value in wanted if any(value in values.get(name, ()) for name in spoken_of)
        )

    def missing_values(
        self, domains: Domains, field_name: str, wanted: Iterable[str | None]
    ) -> list[str]:
        """A sentence for each value that the job names and none of its attributes has."""
        spoken_of = self.named or tuple(n for n, d in domains.items() if d.role is self.role)
        known = {value for name in spoken_of if name in domains for value in domains[name].values}
        return [
            f"{self.name}: {'a missing value' if value is None else repr(value)} in"
            f" '{field_name}' does not occur in {self.subject}. Text is compared letter by"
            " letter, a number in its plain form: 7, not 007 or 7.0."
            for value in wanted
            if value not in known
        ]


class RatioRequirement(AttributeRequirement):
    """A requirement on the ratio of two counts of each class, which compares without rounding.

    A class passes if the first count is at most ``bound`` times the second, or below that.
    """

    @property
    def bound(self) -> Fraction:
        """What the first count may be of the second."""
        return exact(getattr(self, self.algebra.figure))

    @abstractmethod
    def ratio(self, values: ValueCounts, size: Ints, domain: Domain) -> tuple[Ints, Ints]:
        """Return both counts of every class."""

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        part, whole = self.ratio(values, size, domain)
        figures = np.full(len(size), np.inf)
        np.divide(part, whole, out=figures, where=whole > 0)
        return figures

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        part, whole = scaled(*self.ratio(values, size, domain), self.bound)
        passes: Bools = part < whole if self.algebra.strict else part <= whole
        return passes


def group_of_each(unit: Unit) -> Statement:
    """The beginning of a sentence about each person's or each row's group."""
    return Statement(f"group.{unit.plural}")


def requirements_within(
    requirements: Iterable[Requirement], left: Collection[str], gone: Collection[str]
) -> list[Requirement]:
    """Return what requirements say once some attributes are gone; those on them alone go too."""
    narrowed = (r.within(left) if set(r.coverage.names) & set(gone) else r for r in requirements)
    return [requirement for requirement in narrowed if requirement is not None]


def codes_of(domain: Domain, wanted: Iterable[str | None]) -> Ints:
    """The codes of some values; those that do not occur have none."""
    known = domain.code_of
    return np.array([known[value] for value in dict.fromkeys(wanted) if value in known], np.int64)
