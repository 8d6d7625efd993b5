"""Which values requirements cover: the sensitive ones alone, or kinds of values.

Non-sensitive values ("none", "not tested"): disclosing one harms no person. They count as values
that a person may have, never as disclosed ones, as the set Y of Machanavajjhala and others
(Definition 4.3). n is the size of a class, n_s the count of a sensitive value s in it, p_s = n_s/n,
q_s the share of s in the table. What each requirement asks of every class:

=====================  =========================================================================
distinct ℓ             ℓ values of any sort, if some row has a sensitive one
p-diversity            p_s ≤ 1/ℓ for every sensitive s
m-diversity            the same with 1/(ℓ − i), after any i values are ruled out, of either sort
entropy ℓ              Σ_s n_s·ln(n/n_s) ≥ (Σ_s n_s)·ln ℓ: the mean surprise of the rows with a
                       sensitive value at their own value
recursive (c, ℓ)       pd-recursive (c, ℓ) with Y = the non-sensitive values
t-closeness            the least work that moves the sensitive rows of the class into the table's
                       distribution is at most t; rows with other values are moved for nothing
(α, k), β, δ           the bounds on shares, for every sensitive s; the size for every class
multi-attribute        as its inner model, in every refined class
=====================  =========================================================================

With ``ruled_out: harmless`` an ℓ-diversity requirement is judged on the n_S rows of a class that
have a sensitive value, as if they were the class, and a class without any passes: distinct ℓ asks
for ℓ sensitive values, p-diversity for n_s ≤ n_S/ℓ. An attacker who knows of some persons whether
they have a non-sensitive value believes s with n_s/n_S at most: given who has none, each of them is
equally likely to have each of the n_S rows, and to know less is a mean over that.

Without non-sensitive values each is the requirement as published. A class without a sensitive value
passes all of them but δ-disclosure, which also bounds from below: such a class rules every
sensitive value out. Each is closed under merging: see the classes.

*Kinds*: values that share a node of their hierarchy count as one.
Three diagnoses that are all diabetes are no diversity. At level 1 of a hierarchy, or at a level by
its name, such as ``level: block``, values below one node are one kind, and counts are of kinds.
Merging classes merges the counts of kinds, so a requirement that is closed under merging stays so.
A missing value is a kind of its own until a level with a single node.

Where some values are not sensitive, p-diversity bounds the sensitive values of each kind together;
for distinct ℓ-diversity a non-sensitive value is of its own kind or of that of the others there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, PositiveInt, StringConstraints

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.requirements.base import (
    AttributeRequirement,
    Domain,
    Domains,
    Requirement,
    Spared,
    TableTerms,
    codes_of,
    group_of_each,
)
from discreet.requirements.exact_ratios import by_class
from discreet.requirements.judge import person_basis
from discreet.statements import Statement, stating
from discreet.table.coded_table import CodedTable
from discreet.table.counts import ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Codes, Floats, Ints

Value = Annotated[str, Field(coerce_numbers_to_str=True)] | None
LevelName = Annotated[str, StringConstraints(min_length=1)]


class SparingRequirement(AttributeRequirement):
    """A requirement that can cover the sensitive values of an attribute alone."""

    non_sensitive: tuple[Value, ...] | None = Field(
        default=None,
        description="Values that may be disclosed; from `non_sensitive_values` of the attribute.",
    )

    spared_field: ClassVar[str] = "non_sensitive"

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        return [self] if self.non_sensitive is not None else super().sparing(spared, sensitive)

    def is_sensitive(self, domain: Domain) -> Bools:
        """(values,) Which values are sensitive."""
        sensitive = np.ones(len(domain.values), bool)
        sensitive[codes_of(domain, self.non_sensitive or ())] = False
        return sensitive

    def counted_as(self, domain: Domain) -> Codes:
        """(values,) The code under which each sensitive value is counted; −1 for others."""
        codes = np.arange(len(domain.values), dtype=np.int32)
        return np.where(self.is_sensitive(domain), codes, -1).astype(np.int32)

    def sensitive_counts(self, values: ValueCounts, domain: Domain) -> Ints:
        """(entries,) The counts of sensitive values, 0 for others."""
        if not self.non_sensitive:
            return values.count
        return np.where(self.is_sensitive(domain)[values.value], values.count, 0)

    def greatest_sensitive(self, values: ValueCounts, domain: Domain) -> Ints:
        """(classes,) How often the most frequent sensitive value occurs; 0 where none does."""
        greatest: Ints = by_class(np.maximum, self.sensitive_counts(values, domain), values)
        return greatest

    def of_sensitive(self, bounds: Floats, domain: Domain) -> Floats:
        """The bounds of sensitive values, infinite for others."""
        if not self.non_sensitive:
            return bounds
        return np.where(self.is_sensitive(domain), bounds, np.inf)

    @property
    def _exempts(self) -> bool:
        """Whether its sentence exempts values: not where attackers rule them out."""
        return bool(self.non_sensitive) and self.coverage.stricter_on_all_values

    def sparing_form(self, id: str) -> str:
        """The id of a statement about values, or of the same about sensitive values alone."""
        return f"{id}.sensitive" if self._exempts else id

    def of_groups(self, form: str, unit: Unit, **parameters: Any) -> str:
        """Return a statement about every group, with the values that it does not cover."""
        form = self.sparing_form(form)
        return self.with_exempt(Statement(form, group=group_of_each(unit), **parameters))

    def with_exempt(self, sentence: str) -> str:
        """The sentence, with the values that it does not cover."""
        return stating("guarantee.exempt", sentence) if self._exempts else sentence


def of_sensitive_values(
    requirements: Iterable[Requirement],
    table: CodedTable,
    marks: Mapping[str, Bools],  # by attribute: (values,) which are sensitive
    *,
    of_persons: bool = False,
) -> list[Requirement]:
    """Return requirements that do not cover values which the job declares non-sensitive.

    Those that could not be judged on persons with several rows then stay as they are, if that is
    stricter.
    """
    # By attribute the values that are not sensitive.
    spared = {
        name: [
            text
            for text, marked in zip(table[name].text.to_list(), mark, strict=True)
            if not marked
        ]
        for name, mark in marks.items()
        if not mark.all()
    }
    names = [column.name for column in table.sensitive]
    # Split each requirement, unless it could then not be judged on persons.
    covering: list[Requirement] = []
    for requirement in requirements:
        split = requirement.sparing(spared, names)
        judged = not of_persons or all(person_basis(part) is not None for part in split)
        judged |= not requirement.coverage.stricter_on_all_values
        covering += split if judged else [requirement]
    return covering


class LevelledRequirement(SparingRequirement):
    """A requirement that can count kinds of values instead of values."""

    level: PositiveInt | LevelName | None = Field(
        default=None,
        description="Count kinds of values: those that share a node at this level of the "
        "attribute's hierarchy, by its number from 1 or by its name.",
    )

    def counted_as(self, domain: Domain) -> Codes:
        codes = super().counted_as(domain)
        if not isinstance(self.level, int) or domain.hierarchy is None:
            return codes
        kind = domain.hierarchy.levels[self.level].node_of_leaf.astype(np.int32)
        return np.where(codes >= 0, kind, codes)

    def kinds(self, values: ValueCounts, domain: Domain) -> ValueCounts | None:
        """The counts that are judged; None where the level is unknown, so that nothing passes."""
        if self.level is None:
            return values
        hierarchy = domain.hierarchy
        if hierarchy is None or not isinstance(self.level, int) or self.level > hierarchy.height:
            return None
        level = hierarchy.levels[self.level]
        return values.grouped(level.node_of_leaf, level.nodes)

    def greatest_kind(self, values: ValueCounts, domain: Domain) -> Ints | None:
        """(classes,) How often the most frequent kind of sensitive values occurs; None as above."""
        counted = replace(values, count=self.sensitive_counts(values, domain))
        kinds = self.kinds(counted, domain)
        if kinds is None or not self.non_sensitive:
            return None if kinds is None else by_class(np.maximum, kinds.count, kinds)
        greatest = np.zeros(kinds.classes, np.int64)  # a class may have no sensitive value
        np.maximum.at(greatest, kinds.class_of_entry, kinds.count)
        return greatest

    def for_table(self, terms: TableTerms) -> Self:
        with_bits = super().for_table(terms)
        if not isinstance(self.level, str):
            return with_bits
        hierarchies = terms.hierarchies
        numbers = {
            hierarchies[name].number_of(self.level)
            for name in with_bits.named or tuple(hierarchies)
            if name in hierarchies
        } - {None}
        if len(numbers) != 1:
            return with_bits
        return with_bits.model_copy(update={"level": numbers.pop()})

    def problems(self, domains: Domains) -> list[str]:
        problems = super().problems(domains)
        if self.level is None or problems:
            return problems
        covered = self.named or tuple(n for n, d in domains.items() if d.role is self.role)
        return [
            f"{self.name}: level {self.level!r} is not a level of the hierarchy of '{name}'. "
            + _levels(domains[name].hierarchy)
            for name in covered
            if self._lacks_level(domains[name].hierarchy)
        ]

    def _lacks_level(self, hierarchy: Hierarchy | None) -> bool:
        if hierarchy is None or not isinstance(self.level, int):
            return True
        return self.level > hierarchy.height


def _levels(hierarchy: Hierarchy | None) -> str:
    if hierarchy is None:
        return "Give it a hierarchy, or name the attribute of the requirement."
    return hierarchy.levels_in_words
