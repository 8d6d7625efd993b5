"""Projection plans: which sensitive attributes share a table, and how plans are found.

A plan is a partition of the sensitive attributes. Blocks hold attributes by number, ascending, and
are ordered by their first. ``merge_steps`` is the greedy path of CODIP* from singletons to one
table; ``partitions`` are all plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from discreet.requirements.mutual_information import NEGLIGIBLE, Information

Block = tuple[int, ...]  # numbers of attributes, ascending
Plan = tuple[Block, ...]  # ordered by their first attributes

TIE = 1e-12  # averages and ratios no further apart than this are equal


def ordered(blocks: Iterable[Iterable[int]]) -> Plan:
    """A plan in its usual order."""
    return tuple(sorted(tuple(sorted(block)) for block in blocks))


def singletons(attributes: int) -> Plan:
    """Every attribute in a table of its own."""
    return tuple((attribute,) for attribute in range(attributes))


def merge_steps(information: Information) -> Iterator[Plan]:
    """The plans of CODIP*: from singletons, merge the two blocks with the largest AvgI.

    AvgI is the average mutual information over all pairs of the union (step 7 of figure 4).
    Averages within 1e-12 are ties, of which the lexicographically least pair of blocks wins.
    """
    count = len(information.names)
    plan = list(singletons(count))
    # between[u, w]: the sum over pairs with one attribute in u and one in w; within u if u = w
    between = information.mutual.copy()
    size = np.ones(count, np.int64)
    yield tuple(plan)
    while len(plan) > 1:
        inside = np.diagonal(between)
        union = between + inside[:, None] + inside[None, :]
        members = size[:, None] + size[None, :]
        average = union / (members * (members - 1) / 2)
        first, second = np.triu_indices(len(plan), 1)
        averages = average[first, second]
        best = int(np.argmax(averages >= averages.max() - TIE))  # the first that ties
        u, w = int(first[best]), int(second[best])
        plan[u] = tuple(sorted(plan[u] + plan[w]))
        del plan[w]
        within_union = union[u, w]
        between[u] += between[w]
        between[:, u] = between[u]
        between[u, u] = within_union
        between = np.delete(np.delete(between, w, 0), w, 1)
        size[u] += size[w]
        size = np.delete(size, w)
        yield tuple(plan)


def partitions(attributes: int) -> Iterator[Plan]:
    """All plans: the partitions of so many attributes, each once."""

    def grow(blocks: list[list[int]], attribute: int) -> Iterator[Plan]:
        if attribute == attributes:
            yield tuple(tuple(block) for block in blocks)
            return
        for block in blocks:
            block.append(attribute)
            yield from grow(blocks, attribute + 1)
            block.pop()
        blocks.append([attribute])
        yield from grow(blocks, attribute + 1)
        blocks.pop()

    return grow([], 0)


@dataclass(eq=False)
class Ratios:
    """Γα and Γβ of many plans, each block summed once."""

    information: Information
    _kept: dict[Block, float] = field(default_factory=dict)
    _exposed: dict[Block, float] = field(default_factory=dict)

    def association_loss(self, plan: Plan) -> float:
        """Γα, equation 1."""
        total = self.information.total_mutual
        if total <= NEGLIGIBLE:
            return 0.0
        within_tables = sum([self._sums(block)[0] for block in plan])
        return min(1.0, max(0.0, 1.0 - within_tables / total))

    def exposure(self, plan: Plan) -> float:
        """Γβ, equation 2."""
        total = self.information.total_exposable
        if total <= NEGLIGIBLE:
            return 0.0
        exposed = sum([len(block) * self._sums(block)[1] for block in plan])
        return exposed / total / len(self.information.names)

    def _sums(self, block: Block) -> tuple[float, float]:
        """Mutual and exposable information over the pairs of a block."""
        mutual = self._kept.get(block)
        if mutual is None:
            chosen = np.ix_(block, block)
            mutual = float(np.triu(self.information.mutual[chosen], 1).sum())
            self._kept[block] = mutual
            self._exposed[block] = float(np.triu(self.information.exposable[chosen], 1).sum())
        return mutual, self._exposed[block]


def least(plans: Iterable[Plan], ratios: Ratios) -> Plan | None:
    """The plan with the least Γα, then Γβ, then number of tables, then the first in order."""
    left = list(plans)
    for figure in (ratios.association_loss, ratios.exposure, len):
        figures = [figure(plan) for plan in left]
        bound = min(figures, default=0.0) + TIE
        left = [plan for plan, found in zip(left, figures, strict=True) if found <= bound]
    return min(left, default=None)
