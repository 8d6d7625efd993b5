"""Requirements on kinds of values: values that share a node of their hierarchy count as one.

Three diagnoses that are all diabetes are no diversity. At level 1 of a hierarchy, or at a level by
its name, such as ``level: block``, values below one node are one kind, and counts are of kinds.
Merging classes merges the counts of kinds, so a requirement that is closed under merging stays so.
A missing value is a kind of its own until a level with a single node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, PositiveInt, StringConstraints

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.requirements.base import AttributeRequirement, Domain, Domains
from discreet.table.counts import ValueCounts
from discreet.table.person_counts import PersonBasis

LevelName = Annotated[str, StringConstraints(min_length=1)]


class LevelledRequirement(AttributeRequirement):
    """A requirement that can count kinds of values instead of values."""

    level: PositiveInt | LevelName | None = Field(
        default=None,
        description="Count kinds of values: those that share a node at this level of the "
        "attribute's hierarchy, by its number from 1 or by its name.",
    )

    @property
    def person_basis(self) -> PersonBasis | None:
        return self.counted_on_persons if self.level is None else None

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

    def problems(self, domains: Domains) -> list[str]:
        found = super().problems(domains)
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
