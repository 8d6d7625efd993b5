"""The shape of every requirement: a figure for each class, and a bound on it.

A requirement is a frozen, validated value. Given the counts of the classes it computes one figure
for each class and attribute (a size, an effective ℓ, a distance), says which figures pass, and
reports the worst of them as what was achieved. It never sees rows, files or engines.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from discreet.data.counts import ClassCounts
from discreet.data.roles import Distance
from discreet.hierarchies.hierarchy import Hierarchy

TOLERANCE = 1e-9  # for figures that are sums of logarithms or of shares; counts compare exactly

Figures = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Domain:
    """What a requirement may know about a sensitive attribute beside its counts."""

    values: tuple[str | None, ...]  # the dictionary's text, in the order of the codes
    distance: Distance = Distance.EQUAL
    hierarchy: Hierarchy | None = None  # for the hierarchical distance


Domains = Mapping[str, Domain]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a requirement says of a table."""

    holds: bool
    achieved: dict[str, float]  # the worst figure over classes and attributes, by parameter
    by_attribute: dict[str, float] = field(default_factory=dict)
    passes: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))  # (classes,)

    @classmethod
    def worst(cls, verdicts: Sequence[Verdict], *, smaller_is_better: bool) -> Verdict:
        """The verdict on several tables together: all must hold, the worst figures stand."""
        pick = max if smaller_is_better else min
        achieved: dict[str, float] = {}
        by_attribute: dict[str, float] = {}
        for verdict in verdicts:
            for name, figure in verdict.achieved.items():
                achieved[name] = pick(achieved.get(name, figure), figure)
            for name, figure in verdict.by_attribute.items():
                by_attribute[name] = pick(by_attribute.get(name, figure), figure)
        holds = bool(verdicts) and all(verdict.holds for verdict in verdicts)
        passes = np.concatenate([v.passes for v in verdicts]) if verdicts else np.zeros(0, bool)
        return cls(holds, achieved, by_attribute, passes)

    @property
    def failing(self) -> NDArray[np.intp]:
        """The classes that fail."""
        return np.flatnonzero(~self.passes)


class Requirement(BaseModel):
    """One promise about every class of a release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    figure_name: ClassVar[str]  # the key of ``achieved``: "k", "l", "c", "t"
    smaller_is_better: ClassVar[bool] = False
    needs_refined_counts: ClassVar[bool] = False
    # Whether a passing class still passes after any class, passing or not, is merged into it.
    # (Merging passing classes keeps every requirement of this package.)
    absorbing: ClassVar[bool] = False

    @abstractmethod
    def attributes(self, counts: ClassCounts) -> Iterable[str]:
        """The sensitive attributes that it speaks of; none for a requirement on sizes."""

    @abstractmethod
    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Figures:
        """The figure of every class for one attribute (``""`` for a requirement on sizes)."""

    @abstractmethod
    def accepts(self, figures: Figures) -> NDArray[np.bool_]:
        """Which figures are within the bound."""

    def passes(self, counts: ClassCounts, domains: Domains) -> NDArray[np.bool_]:
        """Which classes pass, for all its attributes together."""
        result = np.ones(counts.classes, bool)
        for attribute in self.attributes(counts):
            result &= self.accepts(self.figures(counts, domains, attribute))
        return result

    def check(self, counts: ClassCounts, domains: Domains) -> Verdict:
        """Judge a table: does it hold, what was achieved, which classes fail."""
        passes = np.ones(counts.classes, bool)
        worst: dict[str, float] = {}
        for attribute in self.attributes(counts):
            figures = self.figures(counts, domains, attribute)
            passes &= self.accepts(figures)
            if len(figures):
                extreme = figures.max() if self.smaller_is_better else figures.min()
                worst[attribute] = float(extreme)
        achieved = {}
        if worst:
            pick = max if self.smaller_is_better else min
            achieved[self.figure_name] = pick(worst.values())
        by_attribute = {name: figure for name, figure in worst.items() if name}
        return Verdict(bool(passes.all()), achieved, by_attribute, passes)

    def parameters(self) -> dict[str, Any]:
        """The parameters as the job and the manifest write them."""
        return self.model_dump(mode="json", exclude_none=True)


class SizeRequirement(Requirement):
    """A requirement on the sizes of classes alone."""

    def attributes(self, counts: ClassCounts) -> Iterable[str]:  # noqa: ARG002
        return ("",)


class AttributeRequirement(Requirement):
    """A requirement on each sensitive attribute, or on the one or those that are named."""

    attribute: str | tuple[str, ...] | None = None

    def attributes(self, counts: ClassCounts) -> Iterable[str]:
        if self.attribute is None:
            return tuple(counts.values)
        return (self.attribute,) if isinstance(self.attribute, str) else self.attribute
