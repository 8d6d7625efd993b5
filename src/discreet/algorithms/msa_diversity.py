"""MSA-diversity: groups of near people in which no sensitive value fills more than 1/ℓ.

Abdalaal, "Preserving privacy in publishing data with multiple sensitive attributes" (paper 001),
chapter 5.

=====================  ========================================================================
paper                  here
=====================  ========================================================================
ℓ-pdiversity           ``p-diversity``; ``m-diversity`` is the same test (docs/theory)
SA-distinct group      a smallest group: ``group_forming.may_join``
1D QI                  ``hilbert.task_keys``
Grouping, Satisfy      ``group_forming.form_groups``
remaining tuples       ``left_overs``
generalize, anatomize  ``publish: generalized``, ``publish: buckets``
=====================  ========================================================================

Departures. (1) Of the rows that may join a group the one with the fewest collisions is taken, as in
the paper's worked example and against its pseudo-code, which strands most people. (2) What is left
over is placed, exchanged, or near groups are joined for it, so long as no value passes 1/ℓ: groups
need not stay SA-distinct, because ℓ-pdiversity is ℓ-mdiversity. (3) A last pass exchanges members
of near groups where that loses less. (4) Strict curve order leaks to a reader who knows the
algorithm; ``grouping: blocks`` cuts the curve without a look at sensitive values and groups inside
a block by sensitive values and chance alone. (5) ℓ may be a fraction and differ between
attributes, and ``k-anonymity`` may ask for more rows than ℓ: a smallest group then has as many rows
as all of them need, and a value may occur in it ⌊size/ℓ⌋ times.

Cost: linear in the rows times window and candidates; the work for rows that are left over is
bounded by a constant for each row of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.algorithms.diverse_groups import RANGE, SET, TREE, Groups, Rows, empty_groups
from discreet.algorithms.group_forming import cut_blocks, form_groups, shuffled_blocks
from discreet.algorithms.hilbert import scale_of_values, task_keys
from discreet.algorithms.left_overs import (
    Limits,
    form_among,
    improve,
    settle,
    settle_in_blocks,
    total_loss,
)
from discreet.algorithms.method import Bucketized, Generalized, Method, Spread, Task
from discreet.algorithms.row_groups import cells_of_groups, published_hierarchy, require_all
from discreet.algorithms.share_bounds import Bounds, bounds_of, require_feasible, too_many
from discreet.data.published import GROUP
from discreet.data.table import Column
from discreet.errors import InputError
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.models.diversity import DistinctLDiversity, EntropyLDiversity, PDiversity
from discreet.models.sizes import KAnonymity

CANDIDATES = 64  # rows that are compared with each other when a group is formed
LARGEST_TREE = 512  # values of a hierarchy whose pairs are looked up
BLOCKS = (8, 16, 32, 64)  # rows of a block, in smallest groups, that are tried
# The passes over left-overs: how many groups each row looks at, and the size, in smallest groups,
# up to which a group takes others in.
PASSES = ((64, 8), (4096, 8), (4096, 8), (4096, 16))
FEW_ROWS = 20_000  # up to here all strategies are tried
WORK = 64  # steps for each row of the table, and at least for MANY_STEPS
MANY_STEPS = 20_000_000

Order = NDArray[np.int64]


class MsaDiversity(Method):
    """Group near people so that no sensitive value fills more than 1/ℓ of any group."""

    name: ClassVar[str] = "msa-diversity"
    spread: ClassVar[Spread | None] = Spread.CURVE

    grouping: Literal["curve", "blocks"] = Field(
        default="curve",
        description="Along the curve (least loss), or in blocks that are cut without a look at "
        "sensitive values (safer from a reader who knows the algorithm).",
    )
    publish: Literal["generalized", "buckets"] = Field(
        default="generalized",
        description="Coarser quasi-identifiers, or exact ones beside the groups' sensitive rows.",
    )
    suppression: float = Field(
        default=0.05, ge=0, le=1, description="The share of the rows that may be suppressed."
    )
    window: int = Field(
        default=256, ge=2, description="Rows of the curve that wait for a group at most."
    )
    block: int | None = Field(
        default=None, ge=2, description="Least rows of a block; several are tried if left out."
    )

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP,) if self.publish == "buckets" else ()

    def run(self, task: Task) -> Generalized | Bucketized:
        """The groups, or InfeasibleError where more rows than allowed would be suppressed."""
        if not task.table.rows:
            raise InputError("msa-diversity: the table has no rows. Give it at least one.")
        bounds = bounds_of(task)
        least = require_feasible(task, bounds, self.suppression)
        best = min(
            self._attempts(task, bounds, curve_order(task)), key=lambda attempt: attempt.merit
        )
        group_of_row = np.full(task.table.rows, -1, np.int32)
        group_of_row[best.order] = _renumbered(best.groups)
        suppressed = int((group_of_row < 0).sum())
        if suppressed > self.suppression * task.table.rows + 1e-9 or suppressed == task.table.rows:
            raise too_many(task, bounds, suppressed, least, self.suppression)
        require_all(
            task,
            group_of_row,
            "msa-diversity: the groups that it found do not meet all requirements",
            (
                "use mondrian for requirements other than p-diversity, m-diversity, distinct and "
                "entropy diversity and k-anonymity",
            ),
            known=(KAnonymity, PDiversity, DistinctLDiversity, EntropyLDiversity),
        )
        facts = {
            "groups": int(group_of_row.max()) + 1,
            "suppressed_rows": suppressed,
            "steps": best.steps,
        }
        private = {  # either would tell a reader how frequent a value is among the suppressed
            "least_suppressed_rows": least,
            "absence": absence(task.table.sensitive, group_of_row),
        }
        if self.publish == "buckets":
            return Bucketized(group_of_row, facts=facts, private=private)
        cells = cells_of_groups(task, group_of_row)
        return Generalized(group_of_row, cells, facts, private=private)

    def _attempts(self, task: Task, bounds: Bounds, order: Order) -> Iterator[Attempt]:
        """What each strategy comes to."""
        if self.grouping == "blocks":
            sizes = [self.block] if self.block else [bounds.least * times for times in BLOCKS]
            if len(sizes) > 1 and len(order) > FEW_ROWS:  # choose on a stretch of the curve
                stretch = order[len(order) // 2 :][:FEW_ROWS]
                tried = [in_blocks(task, bounds, stretch, s, self.window).merit for s in sizes]
                sizes = [sizes[tried.index(min(tried))]]
            for size in sizes:
                yield in_blocks(task, bounds, order, size, self.window)
            return
        yield along_curve(task, bounds, order, self.window, hardest=False)
        if len(order) <= FEW_ROWS:
            yield along_curve(task, bounds, order, self.window, hardest=True)


@dataclass(frozen=True, eq=False)
class Attempt:
    """What one strategy came to."""

    order: Order  # of the rows that the groups number
    groups: Groups
    steps: dict[str, int]  # how many rows each took
    loss: float

    @property
    def merit(self) -> tuple[int, float]:
        """Fewest suppressed first, then the least loss."""
        return self.steps["suppressed"], self.loss


# ---- the steps


def curve_order(task: Task) -> Order:
    """The rows along the curve, those at one place in an order of chance."""
    keys = task_keys(task)
    order = np.argsort(keys)
    keys = keys[order]
    places = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))
    return order[shuffled_blocks(task.rng, places)]


def rows_along(task: Task, bounds: Bounds, order: NDArray[np.int64]) -> Rows:
    """The rows in curve order, as the kernels see them."""
    table = task.table
    columns = table.quasi_identifiers
    kinds, pairs = [], []
    for column in columns:
        hierarchy = published_hierarchy(task, column)
        if hierarchy is None:
            kinds.append(SET if column.numbers is None else RANGE)
        elif column.cardinality > LARGEST_TREE:
            kinds.append(RANGE)
        else:
            kinds.append(TREE)
        pairs.append(_pair_losses(hierarchy) if hierarchy and kinds[-1] == TREE else np.zeros(0))
    places = [scale_of_values(column, task.hierarchies.get(column.name)) for column in columns]
    return Rows(
        values=_stacked(table.sensitive, order),
        part=np.array([ell.denominator for ell in bounds.ell], np.int64),
        whole=np.array([ell.numerator for ell in bounds.ell], np.int64),
        least=bounds.least,
        codes=_stacked(columns, order),
        kind=np.array(kinds, np.int64),
        cardinality=np.array([column.cardinality for column in columns], np.int64),
        start=_starts(places),
        place=np.concatenate([*places, np.zeros(0)]),
        pair_start=_starts(pairs),
        pair=np.concatenate([*pairs, np.zeros(0)]),
    )


def _stacked(columns: Sequence[Column], order: NDArray[np.int64]) -> NDArray[np.int32]:
    if not columns:
        return np.empty((len(order), 0), np.int32)
    stacked = np.empty((len(columns[0].codes), len(columns)), np.int32)
    for number, column in enumerate(columns):
        stacked[:, number] = column.codes
    return stacked.take(order, axis=0)  # one jump a row, not one for each of its cells


def _starts(arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(array) for array in arrays)], dtype=np.int64)[:-1]


def _pair_losses(hierarchy: Hierarchy) -> NDArray[np.float64]:
    """The loss of the lowest common ancestor of every two values, row by row."""
    leaves = len(hierarchy.levels[0].node_of_leaf)
    loss = np.ones((leaves, leaves))
    for level in reversed(hierarchy.levels):
        node = level.node_of_leaf
        same = node[:, None] == node[None, :]
        loss = np.where(same, level.loss[node][:, None], loss)
    return loss.ravel()


def along_curve(task: Task, bounds: Bounds, order: Order, window: int, hardest: bool) -> Attempt:
    """Group strictly along the curve, then let near groups exchange members for less loss."""
    rows = rows_along(task, bounds, order)
    groups = empty_groups(len(order))
    hardness = hardness_of(rows, np.arange(len(order))) if hardest else np.zeros(0)
    form_groups(rows, groups, np.array([0, len(order)]), window, CANDIDATES, hardness)
    steps = {"grouped": int((groups.group_of_row >= 0).sum())}
    settle_left_overs(rows, groups, steps)
    reach = min(64, max(4, 400 * FEW_ROWS // len(order)))
    for _ in range(8 if len(order) <= FEW_ROWS else 1):
        if not improve(rows, groups, reach):
            break
    return Attempt(order, groups, steps, total_loss(rows, groups))


def in_blocks(task: Task, bounds: Bounds, order: Order, block: int, window: int) -> Attempt:
    """Group inside blocks that were cut, and whose rows were shuffled, without looking."""
    rows = rows_along(task, bounds, order)
    cuts = cut_blocks(rows, block)
    shuffled = shuffled_blocks(task.rng, cuts)
    order = order[shuffled]
    rows = rows._replace(
        values=rows.values.take(shuffled, axis=0), codes=rows.codes.take(shuffled, axis=0)
    )
    groups = empty_groups(len(order))
    first_group = form_groups(rows, groups, cuts, window, CANDIDATES, np.zeros(0))
    steps = {"grouped": int((groups.group_of_row >= 0).sum())}
    limits = Limits(0, 10_000, 8 * rows.least, 1)
    _tally(steps, settle_in_blocks(rows, groups, cuts, first_group, task.rng, limits))
    steps["across_blocks"] = int((groups.group_of_row < 0).sum())
    settle_left_overs(rows, groups, steps)
    return Attempt(order, groups, steps, total_loss(rows, groups))


def _tally(steps: dict[str, int], took: NDArray[np.int64]) -> None:
    for name, rows in zip(("placed", "exchanged", "joined"), took.tolist(), strict=True):
        steps[name] = steps.get(name, 0) + rows


def hardness_of(rows: Rows, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """How frequent the most frequent value of each chosen row is, over what is allowed."""
    hardness = np.zeros(len(chosen))
    for j in range(rows.values.shape[1]):
        values = rows.values[chosen, j]
        share = np.bincount(values)[values] * (rows.whole[j] / rows.part[j])
        np.maximum(hardness, share, out=hardness)
    return hardness


def settle_left_overs(rows: Rows, groups: Groups, steps: dict[str, int]) -> None:
    """Find a group for every row that has none: near ones first, then ever farther ones."""
    work = max(WORK * len(rows.values), MANY_STEPS)
    for nearest, most in PASSES:
        left = np.flatnonzero(groups.group_of_row < 0)
        if not len(left):
            break
        tries = int(min(max(work // len(left), 16), 5000))
        nearest = min(nearest, tries, len(rows.values))
        limits = Limits(16 * rows.least * nearest, tries, most * rows.least, 8)
        took = settle(rows, groups, left, np.empty(nearest, np.int64), limits)
        _tally(steps, took)
        if nearest > PASSES[0][0] and took.sum() * 50 < len(left):
            break
    left = np.flatnonzero(groups.group_of_row < 0)
    if len(left):
        hardest_first = left[np.argsort(-hardness_of(rows, left), kind="stable")]
        count = int(groups.group_of_row.max(initial=-1)) + 1
        form_among(rows, groups, hardest_first, int(max(work // len(left), 16)), count)
    steps["suppressed"] = int((groups.group_of_row < 0).sum())
    steps["new_groups"] = len(left) - steps["suppressed"]


# ---- outcomes


def _renumbered(groups: Groups) -> NDArray[np.int32]:
    """Groups that have rows, numbered without gaps."""
    number = np.cumsum(groups.size > 0, dtype=np.int32) - 1
    return np.where(groups.group_of_row >= 0, number[groups.group_of_row], -1).astype(np.int32)


def absence(
    sensitive: Sequence[Column], group_of_row: NDArray[np.int32]
) -> dict[str, dict[str, Any]]:
    """For each attribute the greatest share of a value among the suppressed, and in the table.

    Whoever knows that a person was suppressed knows this much more; it is told to the publisher,
    never to the reader.
    """
    figures = {}
    for column in sensitive:
        gone = np.bincount(column.codes[group_of_row < 0], minlength=column.cardinality)
        if gone.sum():
            top = int(gone.argmax())
            figures[column.name] = {
                "among_suppressed": float(gone[top] / gone.sum()),
                "in_table": float(column.counts[top] / len(column.codes)),
            }
    return figures
