"""t-closeness: the distribution of a sensitive attribute in every class is near the table's.

Li, Li and Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and ℓ-diversity". Near is
the Earth Mover's Distance with one of three ground distances, each in closed form and computed
from the sparse counts alone. P is the class, Q the reference, m the values that occur in Q:

- equal: half of Σ|p − q|, which is Σ (p − q) over the values where p > q; those occur in the class.
- ordered: Σ |P(≤ i) − Q(≤ i)| / (m − 1). Between two values of a class P(≤ i) is constant and
  Q(≤ i) rises, so each stretch is two differences of prefix sums, split by a binary search:
  O(entries · log m), not classes × m. A missing value comes last in the order.
- hierarchical: the distance of two values, the height of their lowest common ancestor over the
  height H of the hierarchy, is a path in a tree whose every edge weighs 1/2H; the work over a tree
  is Σ over edges of weight · |p − q| of the nodes below, which is the mean over the levels below
  the top of the equal distance between the two distributions at that level.

Where some values are not sensitive, only the rows with a sensitive value are moved, into the
reference as room for them: the least work over all that others may have (``SparingRequirement``).
P is then the sensitive part of the class. The distances become Σ max(p − q, 0) over values; the
same over nodes, as mean over levels; and, of ordered values, the greatest Σ f·(p − q), over m − 1,
for functions f ≥ 0 of the ranks that change by at most 1 from one to the next (the dual problem).
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.errors import InputError
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.requirements.base import (
    TOLERANCE,
    Algebra,
    AttributeRequirement,
    Domain,
    Domains,
)
from discreet.requirements.basis import Counting
from discreet.requirements.covered_values import SparingRequirement
from discreet.requirements.exact_ratios import by_class
from discreet.table.counts import ValueCounts
from discreet.table.kernels.lists import stretches
from discreet.table.persons import PersonBasis
from discreet.table.roles import Distance, Unit
from discreet.typing import Codes, Floats, Ints


class TCloseness(SparingRequirement):
    """Every class is within ``t`` of all counted classes together, by the Earth Mover's Distance.

    The ground distance is the attribute's own (``Domain.distance``). Closed under merging of
    classes of the same table: a merged class is a mixture, and the distance to a fixed
    distribution is convex, also where only sensitive rows are moved: both ways are a least cost
    under linear constraints. Not absorbing; and leaving a class out moves the reference.
    """

    name: ClassVar[str] = "t-closeness"
    counting: ClassVar[Counting] = Counting(PersonBasis.MASS)
    algebra: ClassVar[Algebra] = Algebra("t", smaller_is_better=True, against_table=True)

    t: float = Field(ge=0, le=1, description="The greatest distance of a class from the table.")

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        return distance_from_table(self, values, size, domain)

    def excess(self, values: ValueCounts, size: Ints, domain: Domain, share: float) -> Floats:
        """The distance is convex and at most 1, and leaving out a share moves it by no more.

        So if x of n rows go and the rest is within t of what is published, n·d is at most
        (n − x)·(t + share) + x. Under the equal distance the values that a class lacks, and so
        each part of it, must also fill no more than t of what is published. The ordered distance
        counts the steps between the published values, so each value that may vanish takes one of
        m − 1 steps away.
        """
        if self.non_sensitive:
            return np.zeros(len(size))
        # How far a class may be from the table once rows have gone.
        reach = self.t + share + TOLERANCE
        if domain.distance is Distance.ORDERED:
            reference = np.sort(values.total[values.total > 0])
            may_vanish = np.cumsum(reference) <= share * size.sum() + TOLERANCE
            reach += int(may_vanish.sum()) / max(len(reference) - 1, 1)
        if reach >= 1:
            return np.zeros(len(size))
        # The rows that have to go, by the distance and by the values that are lacking.
        distance = self.measure(values, size, domain)
        least: Floats = size * np.maximum(distance - reach, 0.0) / (1 - reach)
        if domain.distance is Distance.EQUAL:
            rows = size.sum()
            covered = by_class(np.add, values.total[values.value], values)
            enough = (1 - self.t - TOLERANCE) * (1 - share - TOLERANCE) * rows
            least = np.where(covered < enough, size, least)
        return least

    def problems(self, domains: Domains) -> list[str]:
        return super().problems(domains) + distance_problems(self, domains)

    def share_bound(self, share: Floats, domain: Domain) -> Floats:
        bounds = np.minimum(share + self.t * _steps(domain, share), 1.0)
        return self.of_sensitive(bounds, domain)

    def kind_share_bound(self, share: Floats, domain: Domain, apart: float | None) -> Floats:
        if self.non_sensitive:  # a kind may have values of both sorts
            return super().kind_share_bound(share, domain, apart)
        if domain.distance is Distance.EQUAL:
            return share + self.t
        if domain.distance is Distance.HIERARCHICAL and apart:
            return share + self.t / apart
        return super().kind_share_bound(share, domain, apart)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        return self.of_groups("t-closeness", unit, subject=self.subject, t=self.t)


def distance_problems(requirement: AttributeRequirement, domains: Domains) -> list[str]:
    """A sentence for each attribute whose distance needs a hierarchy that it lacks."""
    return [
        f"{requirement.name}: '{name}' has the hierarchical distance and no hierarchy. Give it a"
        " hierarchy, or another distance."
        for name in requirement.named or tuple(domains)
        if name in domains
        and domains[name].distance is Distance.HIERARCHICAL
        and domains[name].hierarchy is None
    ]


def distance_from_table(
    requirement: SparingRequirement, values: ValueCounts, size: Ints, domain: Domain
) -> Floats:
    """The distance of every class from the table; of its sensitive rows, where others are not."""
    if not requirement.non_sensitive:
        return earth_movers_distance(values, size, values.total, domain)
    sensitive = replace(values, count=requirement.sensitive_counts(values, domain))
    return earth_movers_distance(sensitive, size, values.total, domain, partial=True)


def earth_movers_distance(
    values: ValueCounts,
    size: Ints,
    reference: Ints,  # (values,) how often each occurs in the reference
    domain: Domain,
    *,
    partial: bool = False,
) -> Floats:
    """The distance of every class from a reference that holds all the classes' values.

    ``partial``: the counts are of some rows of the classes, and only these are moved.
    """
    if domain.distance is Distance.ORDERED and partial:
        return _ordered_part(values, size, reference)
    if domain.distance is Distance.ORDERED:
        occurs = reference > 0
        rank_of_value = np.cumsum(occurs) - 1
        cumulative = np.cumsum(reference[occurs])
        return _ordered(values, size, rank_of_value, cumulative)
    if domain.distance is Distance.EQUAL:
        return _equal(values, size, reference)
    if domain.hierarchy is None:
        raise InputError("The hierarchical distance of an attribute needs a hierarchy for it.")
    return _hierarchical(values, size, reference, domain.hierarchy)


def _hierarchical(values: ValueCounts, size: Ints, reference: Ints, hierarchy: Hierarchy) -> Floats:
    distance = np.zeros(values.classes)
    for level in hierarchy.levels[: hierarchy.height]:
        at_level = np.bincount(level.node_of_leaf, reference, level.nodes).astype(np.int64)
        distance += _equal(values, size, at_level, level.node_of_leaf)
    return distance / max(hierarchy.height, 1)


def _equal(
    values: ValueCounts, size: Ints, reference: Ints, node_of_value: Codes | None = None
) -> Floats:
    """Σ (p − q) over the values where p > q, or over nodes; ``reference`` has as many."""
    of_class, node, count = values.class_of_entry, values.value, values.count
    if node_of_value is not None:  # several values of a class may be one node
        node = node_of_value[values.value]
        key, of_entry = np.unique(of_class * len(reference) + node, return_inverse=True)
        count = np.bincount(of_entry, count)
        of_class, node = np.divmod(key, len(reference))
    excess = count / size[of_class] - reference[node] / reference.sum()
    return np.bincount(of_class, np.maximum(excess, 0.0), values.classes).astype(np.float64)


def _ordered(values: ValueCounts, size: Ints, rank_of_value: Ints, cumulative: Ints) -> Floats:
    """Σ |P(≤ i) − Q(≤ i)| / (m − 1); ``cumulative`` is (m,), rows of the reference to each rank."""
    m = len(cumulative)
    if m < 2:
        return np.zeros(values.classes)
    rows = cumulative[m - 1]
    # floats, since sums of sums of persons' weights pass 64 bits
    prefix = np.concatenate(([0.0], np.cumsum(cumulative, dtype=np.float64)))
    first, last = values.start[:-1], values.start[1:] - 1
    before = np.cumsum(values.count) - values.count
    held = before + values.count - np.repeat(before[first], np.diff(values.start))
    level = held.astype(np.float64) * rows / size[values.class_of_entry]
    low = rank_of_value[values.value]
    high = np.append(low[1:], m)
    high[last] = m
    # the first rank where the reference is above the class
    split = np.clip(np.searchsorted(cumulative, level, side="right"), low, high)
    work = level * (split - low) - (prefix[split] - prefix[low])
    work += (prefix[high] - prefix[split]) - level * (high - split)
    moved = prefix[low[first]] + np.bincount(values.class_of_entry, work, values.classes)
    return np.asarray(moved / rows / (m - 1), np.float64)  # before its first value P is 0


def _ordered_part(values: ValueCounts, size: Ints, reference: Ints) -> Floats:
    """The greatest Σ f·(p − q) over f ≥ 0 that change by at most 1 a rank, over m − 1.

    Rank by rank, ``best`` has the greatest sum so far for every height of f.
    """
    occurs = reference > 0
    m = int(occurs.sum())
    result = np.zeros(values.classes)
    if m < 2:
        return result
    # The values that occur in the reference, in their order.
    rank_of_value = np.cumsum(occurs) - 1
    q, height = reference[occurs] / reference.sum(), np.arange(m, dtype=np.float64)
    for part in stretches(np.full(values.classes, m)):
        # p − q at every rank, for some classes at once.
        gap = np.tile(-q, (part.stop - part.start, 1))  # p − q
        entries = slice(values.start[part.start], values.start[part.stop])
        of_class = values.class_of_entry[entries]
        share = values.count[entries] / size[of_class]
        gap[of_class - part.start, rank_of_value[values.value[entries]]] += share
        best = np.zeros_like(gap)
        for rank in range(m):
            before = best.copy()
            np.maximum(best[:, 1:], before[:, :-1], out=best[:, 1:])
            np.maximum(best[:, :-1], before[:, 1:], out=best[:, :-1])
            best += gap[:, rank, None] * height
        result[part] = best.max(axis=1)
    return result / (m - 1)


def _steps(domain: Domain, share: Floats) -> float:
    """One over the least ground distance between two values."""
    if domain.distance is Distance.ORDERED:
        return max(int((share > 0).sum()) - 1, 1)
    if domain.distance is Distance.HIERARCHICAL and domain.hierarchy is not None:
        return max(domain.hierarchy.height, 1)
    return 1.0
