"""Requirements on kinds of values, or on sensitive values alone.

Kinds: values that share a node of their hierarchy count as one.

Three diagnoses that are all diabetes are no diversity. At level 1 of a hierarchy, or at a level by
its name, such as ``level: block``, values below one node are one kind, and counts are of kinds.
Merging classes merges the counts of kinds, so a requirement that is closed under merging stays so.
A missing value is a kind of its own until a level with a single node.

Non-sensitive values ("none", "not tested"): disclosing one harms no person. A class of such values
alone passes, and in others they count as values that a person may have, never as disclosed ones,
as the set Y of Machanavajjhala and others (Definition 4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, StringConstraints

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.requirements.base import (
    AttributeRequirement,
    Domain,
    Domains,
    PublishedValues,
    Requirement,
    codes_of,
)
from discreet.table.counts import ValueCounts
from discreet.table.person_counts import PersonBasis

Value = Annotated[str, Field(coerce_numbers_to_str=True)] | None
LevelName = Annotated[str, StringConstraints(min_length=1)]


class LevelledRequirement(AttributeRequirement):
    """A requirement that can count kinds of values instead of values."""

    level: PositiveInt | LevelName | None = Field(
        default=None,
        description="Count kinds of values: those that share a node at this level of the "
        "attribute's hierarchy, by its number from 1 or by its name.",
    )

    non_sensitive: tuple[Value, ...] | None = Field(
        default=None,
        description="Values that may be disclosed; from `non_sensitive_values` of the attribute.",
    )

    spares: ClassVar[bool] = True

    @property
    def person_basis(self) -> PersonBasis | None:
        return None if self.level is not None or self.non_sensitive else super().person_basis

    def kinds(self, values: ValueCounts, domain: Domain) -> ValueCounts | None:
        """The counts that are judged; None where the level is unknown, so that nothing passes."""
        if self.level is None:
            return values
        hierarchy = domain.hierarchy
        if hierarchy is None or not isinstance(self.level, int) or self.level > hierarchy.height:
            return None
        level = hierarchy.levels[self.level]
        return values.grouped(level.node_of_leaf, level.nodes)

    def with_numbered_levels(self, hierarchies: Mapping[str, Hierarchy]) -> Self:
        if not isinstance(self.level, str):
            return self
        covered = self.named or tuple(hierarchies)
        numbers = {
            hierarchies[name].level_names.index(self.level) + 1
            for name in covered
            if name in hierarchies and self.level in hierarchies[name].level_names
        }
        return self.model_copy(update={"level": numbers.pop()}) if len(numbers) == 1 else self

    def sparing(
        self, spared: Mapping[str, Sequence[str | None]], sensitive: Sequence[str]
    ) -> list[Requirement]:
        covered = self.named or tuple(sensitive)
        own = [name for name in covered if name in spared]
        rest = tuple(name for name in covered if name not in spared)
        if not own or self.non_sensitive is not None:
            return [self]
        kept: list[Requirement] = []
        if rest:
            kept.append(self.model_copy(update={"attribute": rest}))
        for name in own:
            given = {"attribute": name, "non_sensitive": tuple(spared[name])}
            kept.append(self.model_copy(update=given))
        return kept

    def is_sensitive(self, domain: Domain) -> NDArray[np.bool_]:
        """(values,) Which values are sensitive."""
        sensitive = np.ones(len(domain.values), bool)
        sensitive[codes_of(domain, self.non_sensitive or ())] = False
        return sensitive

    def naming(self, values: PublishedValues) -> Requirement:
        if self.non_sensitive is None:
            return self
        shown = self.occurring(self.non_sensitive, values)
        return self.model_copy(update={"non_sensitive": shown})

    @property
    def exempt(self) -> str:
        """The end of a sentence: which values are not covered."""
        if not self.non_sensitive:
            return ""
        return " Values that the publisher declares non-sensitive may be disclosed."

    def problems(self, domains: Domains) -> list[str]:
        found = super().problems(domains)
        if self.level is not None and self.non_sensitive is not None:
            found.append(
                f"{self.name}: a level counts kinds of values, of which some would be sensitive "
                "and others not. Remove the level or the non-sensitive values."
            )
        if self.level is None or found:
            return found
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

    @property
    def place(self) -> str:
        """Where kinds are defined, for a sentence."""
        return f"(kinds: level {self.level} of its hierarchy)"


def _levels(hierarchy: Hierarchy | None) -> str:
    if hierarchy is None:
        return "Give it a hierarchy, or name the attribute of the requirement."
    names = f" ({', '.join(hierarchy.level_names)})" if hierarchy.level_names else ""
    return f"It has levels 1 to {hierarchy.height}{names}."
