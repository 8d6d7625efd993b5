"""Guarding nodes: no kind of value that a person wants to hide is likelier than p.

Xiao and Tao, "Personalized privacy preservation", 2006: each person names a node of the sensitive
attribute's hierarchy, and the breach probability, the attacker's belief that the person's value
lies below that node, is at most p. In a class it is the share of the values below the node.

The nodes here are those of all persons together, and each is guarded in every class. That implies
the paper's property, whoever named which node. The property itself, a node in the classes of the
persons who named it alone, is lost by merging (README.md), and its audit
would need every person's node, which is as sensitive as a value and is not published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.requirements.base import (
    Algebra,
    AttributeRequirement,
    Domain,
    Domains,
    GuaranteeScope,
    PublishedValues,
    Requirement,
    TableTerms,
    codes_of,
)
from discreet.requirements.covered_values import Value
from discreet.requirements.exact_ratios import exact, scaled
from discreet.table.counts import ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints

Node = Annotated[str, Field(coerce_numbers_to_str=True)]


class GuardingNodes(AttributeRequirement):
    """The values below each of ``nodes`` fill at most ``p`` of every class.

    Closed under merging: a share in a merged class is a mean of the parts' shares. Not absorbing.
    The figure is the greatest share of a node. Not judged on persons with several rows.
    """

    name: ClassVar[str] = "guarding-nodes"
    algebra: ClassVar[Algebra] = Algebra("p", smaller_is_better=True)
    value_fields: ClassVar[tuple[str, ...]] = (*AttributeRequirement.value_fields, "nodes")

    p: float = Field(ge=0, le=1, description="The greatest share of a node in a class.")
    nodes: tuple[Node, ...] | dict[str, tuple[Value, ...]] = Field(
        description="Labels of nodes of the attribute's hierarchy, or single values; or by a name "
        "each the values below it, which the manifest states."
    )

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        return replace(super().coverage, all_values=False)  # it names what it guards

    @property
    def guarded(self) -> Mapping[str, tuple[str | None, ...]] | None:
        """The values below each node; None before a hierarchy gave them, so that nothing passes."""
        return self.nodes if isinstance(self.nodes, Mapping) else None

    def for_table(self, terms: TableTerms) -> Self:
        """The same requirement with the values below each node."""
        if isinstance(self.nodes, Mapping):
            return self
        hierarchies = terms.hierarchies
        covered = [hierarchies[name] for name in self.named or hierarchies if name in hierarchies]
        below = {node: _below(node, covered) for node in self.nodes}
        return self.model_copy(update={"nodes": below})

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        greatest: Floats = self._greatest(values, size, domain) / size
        return greatest

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        part, whole = scaled(self._greatest(values, size, domain), size, exact(self.p))
        return part <= whole

    def accepts(self, figures: Floats) -> Bools:
        return figures <= self.p

    def _greatest(self, values: ValueCounts, size: Ints, domain: Domain) -> Ints:
        """The rows of the most frequent node of every class."""
        if self.guarded is None:
            return size
        greatest = np.zeros(values.classes, np.int64)
        for below in self.guarded.values():
            inside = np.isin(values.value, codes_of(domain, below))
            own = values.class_of_entry[inside]
            rows = np.bincount(own, values.count[inside], values.classes)
            np.maximum(greatest, rows.astype(np.int64), out=greatest)
        return greatest

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        bounds = np.full(len(share), np.inf)
        for below in (self.guarded or {}).values():
            bounds[codes_of(domain, below)] = self.p
        return bounds

    def problems(self, domains: Domains) -> list[str]:
        found = super().problems(domains)
        if not self.nodes:
            found.append(f"{self.name}: 'nodes' is empty. Name at least one node.")
        covered = self.named or tuple(n for n, d in domains.items() if d.role is self.role)
        known = {value for name in covered if name in domains for value in domains[name].values}
        return found + [
            f"{self.name}: '{node}' is neither a value of {self.any_subject} nor a node of its "
            "hierarchy above one."
            for node, below in (self.guarded or {node: (node,) for node in self.nodes}).items()
            if not known.intersection(below)
        ]

    def naming(self, values: PublishedValues) -> Requirement:
        if self.guarded is None:
            return self
        published = {node: self.occurring(below, values) for node, below in self.guarded.items()}
        kept = {node: below for node, below in published.items() if below}
        return self.model_copy(update={"nodes": kept})

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return (
            f"In each {unit}'s group, every kind of value of {self.any_subject} that the job guards"
            f" makes up at most {100 * self.p:.12g} %."
        )


def _below(node: str, hierarchies: list[Hierarchy]) -> tuple[str | None, ...]:
    """The values below a node, or the value itself; at every level that has the label."""
    found = {
        hierarchy.levels[0].labels[hierarchy.levels[0].node_of_leaf[leaf]]: None
        for hierarchy in hierarchies
        for level in hierarchy.levels
        if node in level.labels
        for leaf in np.flatnonzero(level.node_of_leaf == level.labels.index(node)).tolist()
    }
    return tuple(found) or (node,)
