"""Groups of a table over whose rows there are too many generalized tuples to look through.

The more quasi-identifiers a table has, the more tuples of nodes cover each row and cost at most a
ceiling; candidates can't be enumerated then. The groups start from Mondrian's classes instead.
Stretches of neighbouring classes are grouped again by k-member clustering (Byun, Kamra, Bertino and
Li, 2007): a group starts with the unit that is farthest from where the last one started, and takes
the unit that its hull grows least by until it has the rows that it needs; the last units of a
stretch join the groups that they cost least in. Clusters that fail a requirement are repaired. Of
all these groups and Mondrian's classes the cheaper are kept, so the loss is at most Mondrian's.

Cost: units × units of a stretch × attributes.
"""

from __future__ import annotations

import numpy as np

from discreet.methods.local_recoding.hulls import Space, UnitGrouping, cell_cost
from discreet.methods.local_recoding.repair import repair
from discreet.methods.local_recoding.requirement_check import Promises
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import stable_order
from discreet.typing import Floats, Ints, Ints32

MOST_TUPLES = 100_000.0  # over a unit; candidates below more of them are not enumerated
STRETCH = 256  # units that are clustered together
STEPS = 256  # of losses up to the ceiling, in which tuples are counted


def too_many_tuples(space: Space, ceiling: float) -> bool:
    """Return whether candidates up to a ceiling can't be enumerated."""
    return tuples_over_unit(space, ceiling) > MOST_TUPLES


def tuples_over_unit(space: Space, ceiling: float) -> float:
    """The number of generalized tuples over a unit that cost at most a ceiling, estimated.

    Nodes of a level are taken to cost what the unit at hand pays for them on average. The walk
    visits a unit once for each of these tuples that has enough rows.
    """
    count = np.zeros(STEPS + 1)  # by what the attributes so far cost
    count[0] = 1
    for j, (first, values) in enumerate(zip(space.first, space.values, strict=True)):
        if space.levels[j]:
            of_nodes = space.loss[first : first + space.levels[j] * values].reshape(-1, values)
            share = np.bincount(space.rank[:, j], minlength=values) / len(space.rank)
            loss = of_nodes @ share
            tuples = np.ones(len(loss))
        else:  # ranges of so many values, each of which may be the unit's
            tuples = 1.0 + np.arange(values)
            loss = (tuples - 1) / max(values - 1, 1) / len(space.first)
        step = (STEPS * loss[loss <= ceiling] / ceiling).astype(np.int64)
        of_attribute = np.bincount(step, tuples[loss <= ceiling], STEPS + 1)
        count = np.convolve(count, of_attribute)[: STEPS + 1]
    return float(count.sum())


def cluster_classes(space: Space, promises: Promises, class_of_unit: Ints) -> UnitGrouping:
    """Classes grouped again in stretches of units, if that costs less."""
    classes = int(class_of_unit.max()) + 1
    order = stable_order(class_of_unit, classes)
    before = np.cumsum(np.bincount(class_of_unit, minlength=classes))
    stretch_of_class = np.unique(np.append(0, before[:-1]) // STRETCH, return_inverse=True)[1]
    start = np.append(0, np.cumsum(np.bincount(stretch_of_class[class_of_unit])))
    cluster = np.full(len(order), -1, np.int64)
    _form_clusters(space, promises.least, order, start, cluster)
    by_class, by_cluster = (
        UnitGrouping.of(space, np.arange(len(order)), group, space.rows)
        for group in (class_of_unit, cluster)
    )
    return min(by_class, repair(by_cluster, promises), key=lambda grouping: grouping.total)


# Compiled: every unit of a stretch is compared with every group that grows in it.
@kernel(work=256)
def _form_clusters(space: Space, least_rows: int, order: Ints, start: Ints, cluster: Ints) -> None:
    """Fill in the cluster of each unit; the units of a stretch are adjacent in an order."""
    attributes = space.rank.shape[1]
    longest = np.diff(start).max()
    free = np.empty(longest, np.int64)
    low, high = np.empty((longest, attributes), np.int32), np.empty((longest, attributes), np.int32)
    cost, size = np.zeros((longest, attributes)), np.zeros(longest, np.int64)
    clusters = 0
    for stretch in range(len(start) - 1):
        left = start[stretch + 1] - start[stretch]
        for p in range(left):
            free[p] = order[start[stretch] + p]
        formed = 0
        seed = free[0]
        # Start a cluster with the unit farthest from where the last one started.
        while left > 0:
            low[formed], high[formed], cost[formed] = space.rank[seed], space.rank[seed], 0.0
            at, farthest = 0, -1.0
            for p in range(left):
                far = _grown(space, low[formed], high[formed], cost[formed], free[p], np.inf)
                if far > farthest:
                    at, farthest = p, far
            seed = free[at]
            low[formed], high[formed] = space.rank[seed], space.rank[seed]
            size[formed] = 0
            before = left
            # Take the unit that the hull grows least by, until rows suffice.
            while at >= 0:
                unit = free[at]
                left -= 1
                free[at], free[left] = free[left], unit  # members follow those that are free
                size[formed] += space.rows[unit]
                for j in range(attributes):
                    low[formed, j] = min(low[formed, j], space.rank[unit, j])
                    high[formed, j] = max(high[formed, j], space.rank[unit, j])
                    cost[formed, j] = cell_cost(space, j, low[formed, j], high[formed, j])
                at = -1
                if size[formed] >= least_rows:
                    break
                least = np.inf
                for p in range(left):
                    pays = _grown(space, low[formed], high[formed], cost[formed], free[p], least)
                    if pays < least:
                        at, least = p, pays
            if size[formed] < least_rows:
                left = before
                break
            for p in range(left, before):
                cluster[free[p]] = clusters + formed
            formed += 1
        # The remaining units join the clusters that they cost least in.
        for p in range(left):  # too few for a group
            at, least = 0, np.inf
            for g in range(formed):
                rows = space.rows[free[p]]
                pays = _grown(space, low[g], high[g], cost[g], free[p], np.inf)
                added = (size[g] + rows) * pays - size[g] * cost[g].sum()
                if added < least:
                    at, least = g, added
            cluster[free[p]] = clusters + at
            if formed:
                size[at] += space.rows[free[p]]
                for j in range(attributes):
                    low[at, j] = min(low[at, j], space.rank[free[p], j])
                    high[at, j] = max(high[at, j], space.rank[free[p], j])
                    cost[at, j] = cell_cost(space, j, low[at, j], high[at, j])
        clusters += max(formed, 1)


# Compiled: called for every pair of a group and a unit.
@kernel
def _grown(space: Space, low: Ints32, high: Ints32, cost: Floats, unit: int, most: float) -> float:
    """What a row pays for a hull that grows over a unit; ∞ where that is not below a limit."""
    total = 0.0
    for j in range(len(cost)):
        total += cost[j]
    for j in range(len(cost)):
        rank = space.rank[unit, j]
        if rank < low[j] or rank > high[j]:
            total += cell_cost(space, j, min(low[j], rank), max(high[j], rank)) - cost[j]
            if total >= most:
                return np.inf
    return total
