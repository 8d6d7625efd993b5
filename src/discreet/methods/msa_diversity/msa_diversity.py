"""MSA-diversity: groups of near people in which no sensitive value fills more than 1/ℓ.

Abdalaal, "Privacy preserving data publishing with multiple sensitive attributes", dissertation,
Sabanci University, 2012, chapter 5.

=====================  ========================================================================
paper                  here
=====================  ========================================================================
ℓ-pdiversity           ``p-diversity``; ``m-diversity`` is the same (docs/papers/opinion-polls.md)
SA-distinct group      a smallest group: ``group_forming.may_join``
1D QI                  ``hilbert.task_keys``
Grouping, Satisfy      ``group_forming.form_groups``
remaining tuples       ``unplaced_rows``, ``donors``
don't-care values      ``diverse_groups.HARMLESS``
generalize, anatomize  ``publish: generalized``, ``publish: buckets``
=====================  ========================================================================

Departures. (1) Of the rows that may join a group the one with the fewest collisions is taken, as in
the paper's worked example and against its pseudo-code, which strands most people (it is built too,
``grouping: paper``). (2) What is left over is placed, exchanged, or near groups are joined for it,
so long as no value passes 1/ℓ: groups need not stay SA-distinct, because ℓ-pdiversity is
ℓ-mdiversity. (3) A last pass exchanges members of near groups where that loses less. (4) Strict
curve order leaks to an attacker who knows the algorithm; ``grouping: blocks`` cuts the curve
without a look at sensitive values and groups inside a block by sensitive values and chance alone.
(5) ℓ may be a fraction and differ between attributes, and ``k-anonymity`` may ask for more rows
than ℓ: a smallest group then has as many rows as all of them need, and a value may occur in it
⌊size/ℓ⌋ times. A value that the job declares non-sensitive is bounded by nothing and makes no two
rows collide (ℓ-diversity's don't-care set, Machanavajjhala et al., 2006, 4.3);
``joined_groups`` adds what distinct and m-diversity then ask for beyond shares.

(6) Rows with the same sensitive values wait in one stack, so that the pool of rows does not fill up
with rows that exclude each other. (7) Rows that fit nowhere nearby are
placed with donors, and the last ones in unions of groups: no row is suppressed if the whole table
keeps the bounds.

Cost: linear in the rows times window and candidates; the work for each unplaced row is bounded by a
constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InputError
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.base import Ability, Bucketized, Generalized, Method, Spread, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.msa_diversity.diverse_groups import (
    RANGE,
    SET,
    TREE,
    DiverseGroups,
    Rows,
    empty_groups,
)
from discreet.methods.msa_diversity.donors import (
    count_values,
    must_go,
    place_with_donors,
    unite_remaining,
)
from discreet.methods.msa_diversity.exchanges import exchange_members
from discreet.methods.msa_diversity.group_forming import cut_blocks, form_groups
from discreet.methods.msa_diversity.joined_groups import join_failing
from discreet.methods.msa_diversity.manifest_entry import MsaDiversityEntry
from discreet.methods.msa_diversity.paper_grouping import paper_groups
from discreet.methods.msa_diversity.share_bounds import (
    Bounds,
    bounds_of,
    require_feasible,
    too_many,
)
from discreet.methods.msa_diversity.unplaced_rows import Limits, settle
from discreet.methods.shared.grouped_rows import (
    cells_of_groups,
    merge_equal_cells,
    published_hierarchy,
    require_all,
    require_whole_table,
)
from discreet.methods.shared.hilbert import scale_of_values, task_keys
from discreet.methods.shared.list_orders import order_of_words, shuffled_lists
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity, PDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import Column
from discreet.table.persons import Keeping
from discreet.table.published import GROUP
from discreet.typing import Codes, Ints

# Requirements that groups meet by construction.
KNOWN = (KAnonymity, PDiversity, DistinctLDiversity, EntropyLDiversity)
LARGEST_TREE = 512  # values of a hierarchy whose pairs are looked up
COMPARED = 1024  # combinations of sensitive values among which partners are sought across blocks
BLOCK = 8  # rows of a block, in smallest groups
NEAREST = 1024  # groups near an unplaced row that are tried, and exchanges with their members
BUNDLE = 8  # unplaced rows of the last unions, in smallest groups


class MsaDiversity(Method):
    """Group near people so that no sensitive value fills more than 1/ℓ of any group."""

    name: ClassVar[str] = "msa-diversity"
    entry: ClassVar[type[MethodEntry]] = MsaDiversityEntry
    spread: ClassVar[Spread | None] = Spread.CURVE
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.COUNTS, Ability.SENSITIVE_VALUES})

    grouping: Literal["curve", "blocks", "paper"] = Field(
        default="curve",
        description="Along the curve (least loss), in blocks formed without sensitive values "
        "(safer against an attacker who knows the algorithm), or by the paper's algorithm 1, "
        "which leaves most rows over.",
    )
    publish: Literal["generalized", "buckets"] = Field(
        default="generalized",
        description="Coarser quasi-identifiers, or exact ones beside the groups' sensitive rows.",
    )
    cells: Literal["free", "grid"] = Field(
        default="free",
        description="With grid, ranges are rounded outwards to fixed steps and sets are nodes of "
        "an automatic hierarchy, so that no end and no member need occur.",
    )
    suppression: float = Field(
        default=0.05, ge=0, le=1, description="The share of the rows that may be suppressed."
    )
    window: int = Field(
        default=256,
        ge=2,
        description="Greatest number of combinations of sensitive values that are searched for "
        "the partners of a row.",
    )
    block: int | None = Field(
        default=None,
        ge=2,
        description="Least number of rows in a block; by default 8 smallest groups.",
    )

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP,) if self.publish == "buckets" else ()

    @property
    def needs_hierarchies(self) -> bool:
        return self.cells == "grid"

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        if self.cells == "grid":
            return "with several rows of a person, groups may be merged. Use 'cells: free'"
        if self.publish == "generalized":
            return None
        return "with several rows of a person, groups may be merged. Use 'publish: generalized'"

    def cell_hierarchy(self, task: Task, column: Column) -> Hierarchy | None:
        return published_hierarchy(task, column)

    def most_suppressed(self, rows: int) -> int:
        return math.floor(self.suppression * rows + 1e-9)

    def run(self, task: Task) -> Generalized | Bucketized:
        """The groups, or InfeasibleError where more rows than allowed would be suppressed."""
        if not task.table.rows:
            raise InputError("msa-diversity: the table has no rows. Check the source.")
        # Refuse what no grouping can meet.
        bounds = bounds_of(task)
        least = require_feasible(task, bounds, self.suppression)
        if not self.most_suppressed(task.table.rows):
            require_whole_table(task, self.name, KNOWN)
        # Form groups, and join those that fail what shares do not imply.
        grouped = self._grouped(task, bounds)
        group = join_failing(task, grouped.order, grouped.group)
        group_of_row = np.empty(task.table.rows, np.int32)
        group_of_row[grouped.order] = group
        # Judge the outcome.
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
            known=KNOWN,
        )
        facts = {
            "groups": int(group_of_row.max()) + 1,
            "suppressed_rows": suppressed,
            "steps": grouped.steps,
        }
        private = {  # either would tell an attacker how frequent a value is among the suppressed
            "least_suppressed_rows": least,
            "absence": absence(task.table.sensitive, group_of_row),
        }
        # Give the groups their cells.
        if self.publish == "buckets":
            return Bucketized(group_of_row, facts=facts, private=private)
        codes = list(grouped.codes.T)
        cells = cells_of_groups(task, group, grid=self.cells == "grid", codes=codes)
        if self.cells == "grid":
            merged, cells = merge_equal_cells(cells, int(group_of_row.max()) + 1)
            group_of_row = np.where(group_of_row >= 0, merged[group_of_row], -1).astype(np.int32)
            facts["groups"] = int(group_of_row.max()) + 1
        return Generalized(group_of_row, cells, facts, private=private)

    def _grouped(self, task: Task, bounds: Bounds) -> Grouped:
        """Order the rows along the curve, form groups, and place the rows that remain."""
        order = curve_order(task)
        if self.grouping == "paper":
            values = _bounded_values(task, bounds, order)
            group = paper_groups(values, _places(task, order), bounds.least)
            codes = _stacked(task.table.quasi_identifiers, order)
            return Grouped(order, group, codes, {"grouped": int((group >= 0).sum())})
        # Blocks are cut, and their rows shuffled, without a look at sensitive values.
        rows = rows_along(task, bounds, order)
        cuts = np.array([0, len(order)])
        if self.grouping == "blocks":
            cuts = cut_blocks(rows, self.block or BLOCK * bounds.least)
            shuffled = shuffled_lists(task.rng, cuts)
            order = order[shuffled]
            rows = rows._replace(
                values=rows.values.take(shuffled, axis=0), codes=rows.codes.take(shuffled, axis=0)
            )
        groups = empty_groups(len(order))
        first_group = form_groups(rows, groups, np.arange(len(order)), cuts, self.window)
        steps = {"grouped": int((groups.group_of_row >= 0).sum())}
        if self.grouping == "blocks":
            _settle_in_blocks(task, rows, groups, cuts, first_group, steps)
        settle_remaining_rows(rows, groups, steps)
        # Along the curve, near groups exchange members for less loss.
        if self.grouping == "curve":
            exchange_members(rows, groups)
        return Grouped(order, _renumbered(groups), rows.codes, steps)


class Grouped(NamedTuple):
    """Groups of all rows, in an order in which the rows of a group are near each other."""

    order: Ints
    group: Codes  # (rows,) −1 for a suppressed one
    codes: Codes  # (rows, quasi-identifiers)
    steps: dict[str, int]  # how many rows each took


# ---- the steps


def curve_order(task: Task) -> Ints:
    """The rows along the curve, those at one place in an order of chance."""
    keys = task_keys(task)
    order = order_of_words(keys)
    keys = keys[order]
    places = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))
    return order[shuffled_lists(task.rng, places)]


def _places(task: Task, order: Ints) -> Ints:
    """Where each distinct combination of quasi-identifiers begins along the curve, and the end."""
    kinds = task.table.classes.class_of_row[order]
    return np.flatnonzero(np.concatenate(([True], kinds[1:] != kinds[:-1], [True])))


def rows_along(task: Task, bounds: Bounds, order: NDArray[np.int64]) -> Rows:
    """The rows in curve order, as the kernels see them."""
    table = task.table
    columns = table.quasi_identifiers
    # How each quasi-identifier loses: by ranges, sets or a tree whose pairs are looked up.
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
        values=_bounded_values(task, bounds, order),
        part=np.array([share.ell.denominator for share in bounds.shares], np.int64),
        whole=np.array([share.ell.numerator for share in bounds.shares], np.int64),
        least=bounds.least,
        codes=_stacked(columns, order),
        kind=np.array(kinds, np.int64),
        cardinality=np.array([column.cardinality for column in columns], np.int64),
        start=_starts(places),
        place=np.concatenate([*places, np.zeros(0)]),
        pair_start=_starts(pairs),
        pair=np.concatenate([*pairs, np.zeros(0)]),
    )


def _bounded_values(task: Task, bounds: Bounds, order: Ints) -> Codes:
    """(rows, bounds) The value that each bound counts, HARMLESS where it covers none."""
    columns = [task.table[share.attribute] for share in bounds.shares]
    values = _stacked(columns, order)
    for number, share in enumerate(bounds.shares):
        values[:, number] = share.code_of_value.take(values[:, number])
    return values


def _stacked(columns: Sequence[Column], order: NDArray[np.int64]) -> NDArray[np.int32]:
    if not columns:
        return np.empty((len(order), 0), np.int32)
    every = len(order) == len(columns[0].codes)
    stacked = np.empty((len(order), len(columns)), np.int32)
    for number, column in enumerate(columns):
        stacked[:, number] = column.codes if every else column.codes[order]
    return stacked.take(order, axis=0) if every else stacked  # one jump a row, not one a cell


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


def _tally(steps: dict[str, int], took: NDArray[np.int64]) -> None:
    for name, rows in zip(("placed", "exchanged", "joined"), took.tolist(), strict=True):
        steps[name] = steps.get(name, 0) + rows


def _frequency(rows: Rows, chosen: Ints | slice) -> NDArray[np.float64]:
    """For each bound and chosen row how often its value occurs, over what is allowed."""
    start = _value_starts(rows)
    values = rows.values[chosen]
    counts = np.append(count_values(rows.values, start), 0)  # the last for harmless ones
    counts = counts[np.where(values >= 0, values + start[:-1], len(counts) - 1)]
    return np.asarray((counts * (rows.whole / rows.part)).T)


def _value_starts(rows: Rows) -> Ints:
    """Where the values of each bound begin in a list of all values, and its end."""
    return np.cumsum([0, *(rows.values.max(axis=0) + 1)], dtype=np.int64)


def _settle_in_blocks(
    task: Task,
    rows: Rows,
    groups: DiverseGroups,
    cuts: Ints,
    first_group: Ints,
    steps: dict[str, int],
) -> None:
    """Place remaining rows in groups of their block by chance, then form groups across blocks."""
    limits = Limits(0, 10_000, 8 * rows.least, 1)
    by_chance = shuffled_lists(task.rng, first_group)
    unplaced = np.flatnonzero(groups.group_of_row < 0)
    block_of_row = np.searchsorted(cuts, unplaced, side="right") - 1
    near = np.stack([first_group[block_of_row], first_group[block_of_row + 1]], axis=1)
    _tally(steps, settle(rows, groups, unplaced, by_chance, near, limits))
    unplaced = np.flatnonzero(groups.group_of_row < 0)
    if len(unplaced):
        form_groups(rows, groups, unplaced, np.array([0, len(unplaced)]), COMPARED)
    steps["across_blocks"] = len(unplaced)
    steps["new_groups"] = len(unplaced) - _unplaced(groups)


def settle_remaining_rows(rows: Rows, groups: DiverseGroups, steps: dict[str, int]) -> None:
    """Find a group for every row that has none: near groups first, then donors, then unions."""
    limits = Limits(16 * rows.least * NEAREST, NEAREST, 8 * rows.least, 8)
    unplaced = np.flatnonzero(groups.group_of_row < 0)
    room = np.empty(min(NEAREST, len(rows.values)), np.int64)
    _tally(steps, settle(rows, groups, unplaced, room, np.zeros((0, 2), np.int64), limits))
    if _unplaced(groups):
        _tally(steps, settle_with_donors(rows, groups, NEAREST, limits))
    unplaced = np.flatnonzero(groups.group_of_row < 0)
    if len(unplaced):
        settle_in_unions(rows, groups, unplaced)
    steps["suppressed"] = _unplaced(groups)
    steps["united"] = len(unplaced) - steps["suppressed"]


def _unplaced(groups: DiverseGroups) -> int:
    return int((groups.group_of_row < 0).sum())


def _along(groups: DiverseGroups, rows: Ints) -> tuple[Ints, Ints]:
    """Return the groups whose place on the curve is one of ``rows``, and these places.

    The place of a group is one of its own rows.
    """
    group = groups.group_of_row[rows]
    here = (group >= 0) & (groups.first[group] == rows)
    return group[here].astype(np.int64), rows[here]


def settle_with_donors(rows: Rows, groups: DiverseGroups, nearest: int, limits: Limits) -> Ints:
    """Place rows with the nearest groups that have room for their most frequent value."""
    took = np.zeros(3, np.int64)
    unplaced = np.flatnonzero(groups.group_of_row < 0)
    frequency = _frequency(rows, unplaced)
    attribute = frequency.argmax(axis=0)
    value = rows.values[unplaced, attribute]
    order = np.lexsort((value, attribute))
    bounds = np.flatnonzero(np.diff(attribute[order]) | np.diff(value[order])) + 1
    near = np.empty(nearest, np.int64)
    runs = sorted(np.split(order, bounds), key=lambda run: -frequency[:, run[0]].max())
    for run in runs:
        rows_of_value, j = unplaced[run], int(attribute[run[0]])
        run_took, reach = np.array([-1]), 16 * rows.least * nearest
        while run_took[0] < 0:  # as near as donors are certain to be, so that few rows cost little
            around, places = _along(groups, _rows_around(rows_of_value, reach, len(rows.values)))
            within = limits._replace(reach=reach)
            run_took = place_with_donors(
                rows, groups, rows_of_value, j, around, places, near, within
            )
            reach *= 16
        took += run_took
    return took


def _rows_around(rows: Ints, reach: int, count: int) -> Ints:
    """Return the rows of a curve of ``count`` rows that are within ``reach`` of one of ``rows``."""
    end = np.minimum(rows + reach + 1, count)
    start = np.maximum(rows - reach, np.concatenate([[0], end[:-1]]))
    length = end - start
    return np.asarray(np.arange(length.sum()) + np.repeat(end - np.cumsum(length), length))


def settle_in_unions(rows: Rows, groups: DiverseGroups, unplaced: NDArray[np.int64]) -> None:
    """Unite unplaced rows with as many groups as they need; suppress those that never fit."""
    start = _value_starts(rows)
    counts = count_values(rows.values, start)
    placed = counts - count_values(rows.values[unplaced], start)
    unplaced = unplaced[~must_go(rows, unplaced, start, counts)]
    ordered, _ = _along(groups, np.arange(len(rows.values)))
    count = int(groups.group_of_row.max(initial=-1)) + 1
    unite_remaining(rows, groups, unplaced, ordered, start, BUNDLE * rows.least, count, placed)


# ---- outcomes


def _renumbered(groups: DiverseGroups) -> NDArray[np.int32]:
    """Groups that have rows, numbered without gaps."""
    number = np.cumsum(groups.size > 0, dtype=np.int32) - 1
    return np.where(groups.group_of_row >= 0, number[groups.group_of_row], -1).astype(np.int32)


def absence(
    sensitive: Sequence[Column], group_of_row: NDArray[np.int32]
) -> dict[str, dict[str, Any]]:
    """For each attribute the greatest share of a value among the suppressed, and in the table.

    An attacker who knows that a person was suppressed learns this; it is reported to the publisher,
    never to the attacker.
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
