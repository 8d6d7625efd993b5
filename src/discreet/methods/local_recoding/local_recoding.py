"""Local recoding by prices: every class its own cells, at nearly the least loss there is.

Ours, beyond the papers. Choosing the classes is facility location in which a facility must serve
at least k: a candidate is a generalized tuple, its facility cost what each row pays for being
published as it.

=====================  ==========================================================================
notion                 here
=====================  ==========================================================================
unit                   rows that are never told apart (``hulls``)
needs                  rows and values that every group must have (``requirement_check``)
candidate g, c(g)      a closed generalized tuple over what a group needs (``candidates``)
price u                what a row would pay at least; their sum is a lower bound on the loss
regret                 least Σ (c(g) − u) over sets of enough rows (``greedy``)
round                  greedy choice up to a ceiling, then the remaining rows up to a higher one
pass                   all rounds again, each row's price a step nearer to what it paid
=====================  ==========================================================================

``effort`` is the number of passes, of which the cheapest is kept. What requirements ask beyond rows
and different values is met by repairing groups that fail (``repair``): they borrow a row or join a
neighbour. The first round has as many candidates as fit in memory, the later ones are held block by
block, and the last few rows join the nearest groups (``nearest_groups``).

Over the rows of a table with many quasi-identifiers there are too many generalized tuples to look
through. Where an estimate of their number up to the first ceiling is above 100 000 for each unit,
the groups are clusters within Mondrian's classes (``member_clusters``): the loss is at most
Mondrian's, and the bound that is reported is 0.

The lower bound holds for every release that gives each row one node (or range) an attribute and
keeps at least as many rows and values a class as the requirements imply: a row pays at least the
cheapest candidate over it, whatever else is promised.

Groups with the same cells become one class. That keeps every guarantee, since all requirements are
closed under merging; classes are judged once more at the end.

Cost: follows the distinct tuples, not the rows; see ``candidates``. All randomness is the task's
generator's, so a seed gives the same release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from discreet.errors import InputError
from discreet.hierarchies.hierarchy import Hierarchy, public_place
from discreet.methods.base import Ability, CellColumn, Generalized, Method, Task
from discreet.methods.local_recoding.greedy import (
    FIRST_CEILING,
    Opening,
    group_in_rounds,
    open_candidates,
)
from discreet.methods.local_recoding.hulls import (
    Space,
    UnitGrouping,
    build_space,
)
from discreet.methods.local_recoding.member_clusters import cluster_classes, too_many_tuples
from discreet.methods.local_recoding.repair import repair
from discreet.methods.local_recoding.requirement_check import Promises
from discreet.methods.manifest_entry import LabelledEntry, MethodEntry
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.shared.grouped_rows import merge_equal_cells
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.tight_cells import require_one_meaning, tightened
from discreet.table.classes import classes_of, group_codes
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import stable_order
from discreet.table.persons import Keeping
from discreet.typing import Ints

PASS_STEP = 0.2  # how far a price goes towards what its row paid
PASSES = {"quick": 1, "good": 4, "best": 8}  # by the name of an effort
MOST_PASSES = 16


class LocalRecoding(Method):
    """Give every class its own cells, so that as little as possible is lost."""

    name: ClassVar[str] = "local-recoding"
    abilities: ClassVar[frozenset[Ability]] = frozenset(
        {Ability.COUNTS, Ability.RULED_OUT, Ability.SENSITIVE_VALUES}
    )
    entry: ClassVar[type[MethodEntry]] = LabelledEntry

    effort: Literal["quick", "good", "best"] | Annotated[float, Field(gt=0, le=1e6)] = Field(
        default="quick",
        description="Passes of the greedy choice, of which the one with the least loss is kept: a "
        "number, rounded up and at most 16, or quick (1), good (4) or best (8).",
    )
    ranges: bool = Field(
        default=False,
        description="Whether numbers and dates are published in free ranges, without hierarchies.",
    )
    cells: Literal["free", "levels", "grid"] = Field(
        default="free",
        description="With levels, every cell is a label of a hierarchy's level, never a range or a "
        "'*' that its hierarchy lacks; the release names the hierarchies that read it back. With "
        "grid, numbers and dates are published in ranges rounded outwards to fixed steps, so that "
        "the ends of a range need not occur.",
    )

    @property
    def needs_hierarchies(self) -> bool:
        return True

    @model_validator(mode="after")
    def _one_notation(self) -> LocalRecoding:
        if self.ranges and self.cells == "levels":
            raise ValueError("'ranges: true' and 'cells: levels' exclude each other. Drop one.")
        return self

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        if self.cells == "free":
            return None
        return "with several rows of a person, groups may be merged. Use 'cells: free'"

    def cell_hierarchy(self, task: Task, column: Column) -> Hierarchy | None:
        free = (self.ranges or self.cells == "grid") and column.type.ordered
        return None if free else task.hierarchies.get(column.name)

    def most_suppressed(self, rows: int) -> int:
        return 0

    @property
    def passes(self) -> int:
        """The number of passes that the effort stands for."""
        if isinstance(self.effort, str):
            return PASSES[self.effort]
        return min(ceil(self.effort), MOST_PASSES)

    def run(self, task: Task) -> Generalized:
        """The classes, or InfeasibleError where not even the whole table passes."""
        if not task.table.rows:
            raise InputError("local-recoding: the table has no rows. Check the source.")
        recoding = Recoding(task, self)
        return recoding.run(self.passes)


class Recoding:
    """One task on its way to an outcome."""

    def __init__(self, task: Task, method: LocalRecoding) -> None:
        self.task = task
        self.form = method.cells
        columns = task.table.quasi_identifiers
        self.hierarchies: dict[str, Hierarchy] = {}
        for column in columns:
            hierarchy = method.cell_hierarchy(task, column)
            if hierarchy is not None:
                require_one_meaning(hierarchy)
                self.hierarchies[column.name] = hierarchy
        # few values first: stretches without enough rows are then seen early
        self.columns = sorted(
            columns, key=lambda c: (c.name not in self.hierarchies, c.cardinality)
        )
        only_sizes = Promises(task, np.zeros(0, np.int64)).only_sizes
        split_by = [] if only_sizes else task.table.sensitive
        self.units = classes_of([*self.columns, *split_by], task.table.rows)
        self.space = self._space()
        self.promises = Promises(task, self.units.first_row)
        self._too_wide = too_many_tuples(self.space, FIRST_CEILING)
        self._opening: Opening | None = None  # of the whole table, where it is one region

    def _space(self) -> Space:
        hierarchies = [self.hierarchies.get(column.name) for column in self.columns]
        return build_space(self.columns, hierarchies, self.units.first_row, self.units.size)

    def run(self, passes: int) -> Generalized:
        """Group the rows of every region, bound the loss, form the classes."""
        regions = self._regions()
        for units in regions:
            self._require_feasible(units, len(regions))
        parts = []
        for number, units in enumerate(regions):
            parts.append(self._group(units, passes))
            self.task.progress(LocalRecoding.name, (number + 1) / len(regions))
        return self._outcome(UnitGrouping.joined(parts), self._bound())

    def _part(self, units: Ints) -> Space:
        return self.space.take(units, self.space.rows[units])

    def _regions(self) -> list[Ints]:
        """Units that may share a class: all, unless hierarchies must do without a common root."""
        apart = []
        if self.form == "levels":
            tops = [(c, self.hierarchies[c.name].levels[-1]) for c in self.columns]
            apart = [(c, top) for c, top in tops if top.nodes > 1]
        node = [top.node_of_leaf[c.codes[self.units.first_row]] for c, top in apart]
        region = group_codes(node, [top.nodes for _, top in apart], self.units.count)
        order = np.argsort(region.class_of_row, kind="stable")
        return np.split(order, np.cumsum(region.size)[:-1])

    def _require_feasible(self, units: Ints, regions: int) -> None:
        whole = units, np.zeros_like(units), self.space.rows[units], 1
        if self.promises.passes(*whole).all():
            return
        named = "the whole table as one"
        remedies: tuple[str, ...] = ()
        if regions > 1:
            named = "all rows below one combination of the hierarchies' top labels as one"
            remedies = ("add a level '*' to the hierarchies",)
        raise infeasible(
            f"local-recoding: no groups meet the requirements, not even {named}",
            self.promises.requirements,
            self.promises.counts(*whole),
            self.promises.domains,
            remedies,
        )

    # ---- grouping

    def _group(self, units: Ints, passes: int) -> UnitGrouping:
        """The groups of one region, as groups of the whole table."""
        space, promises = self._part(units), self.promises.of(units)
        if not self.columns:
            return UnitGrouping.of(space, units, np.zeros_like(units), space.rows)
        if self._too_wide:
            grouping = cluster_classes(space, promises, self._mondrian_classes(units))
        else:
            opening = open_candidates(space, promises.needs, FIRST_CEILING)
            if len(units) == self.units.count:
                self._opening = opening
            grouping = self._passes(space, promises, opening, passes)
        return replace(grouping, space=self.space, unit=units[grouping.unit])

    def _mondrian_classes(self, units: Ints) -> Ints:
        """The number of the class that Mondrian puts each unit of a region in, as it cut them."""
        of_unit = self._mondrian[self.units.first_row[units]]
        return np.unique(of_unit, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def _mondrian(self) -> NDArray[np.int32]:
        cells: Literal["levels", "free"] = "levels" if self.form == "levels" else "free"
        return Mondrian(cells=cells).run(self.task).class_of_row

    def _passes(
        self, space: Space, promises: Promises, opening: Opening, passes: int
    ) -> UnitGrouping:
        """The cheapest grouping of some passes."""
        price = opening.price
        groupings = []
        for _ in range(passes):
            grouping = group_in_rounds(space, promises.needs, Opening(opening.candidates, price))
            grouping = repair(grouping, promises)
            groupings.append(grouping)
            # the next pass prices each row nearer to what it paid in this one
            pays = grouping.rows * grouping.cost[grouping.group_of_piece]
            paid = np.bincount(grouping.unit, pays, len(space.rows)) / space.rows
            price = price + PASS_STEP * (paid - price)
        return min(groupings, key=lambda grouping: grouping.total)

    # ---- bound and outcome

    def _bound(self) -> float:
        """A loss below which no release with the same promise can be.

        A row pays at least the cheapest candidate over it, or the ceiling where there is none.
        """
        if not self.columns or self._too_wide:
            return 0.0
        opening = self._opening
        if opening is None:
            opening = open_candidates(self.space, self.promises.needs, FIRST_CEILING)
        return float(self.space.rows @ opening.price) / self.task.table.rows * (1 - 1e-12)

    def _outcome(self, grouping: UnitGrouping, bound: float) -> Generalized:
        row = self.units.first_row[grouping.unit]
        cells = {}
        for column in self.task.table.quasi_identifiers:
            hierarchy = self.hierarchies.get(column.name)
            cells[column.name] = tightened(
                column, hierarchy, column.codes[row], grouping.start, suppress_mixed=True,
                grid=self.form == "grid",
            )  # fmt: skip
        at_root = np.isclose(grouping.cost, 1.0) & bool(cells)
        facts: dict[str, Any] = {
            "loss": (_loss(cells, grouping.size) if self.form == "grid" else grouping.total)
            / self.task.table.rows,
            "lower_bound": bound,
            "root_rows": int(grouping.size[at_root].sum()),
        }
        if self.form == "levels":
            facts["hierarchies"] = {n: public_place(h.place) for n, h in self.hierarchies.items()}
        number, cells = merge_equal_cells(cells, grouping.count)
        return Generalized(number[self._deal(grouping)], cells, facts)

    def _deal(self, grouping: UnitGrouping) -> NDArray[np.int32]:
        """The group of each row; the rows of a unit in several groups are dealt at random."""
        unit, group, rows = grouping.unit, grouping.group_of_piece, grouping.rows
        order = stable_order(unit, self.units.count)
        pieces_of_unit = np.bincount(unit, minlength=self.units.count)
        first = np.cumsum(pieces_of_unit) - pieces_of_unit
        group_of_unit: NDArray[np.int32] = group.astype(np.int32)[order[first]]
        group_of_row = group_of_unit[self.units.class_of_row]
        split = pieces_of_unit > 1
        torn = self.task.rng.permutation(np.flatnonzero(split[self.units.class_of_row]))
        torn = torn[np.argsort(self.units.class_of_row[torn], kind="stable")]
        pieces = order[split[unit[order]]]
        group_of_row[torn] = np.repeat(group[pieces], rows[pieces])
        return group_of_row


def _loss(cells: Mapping[str, CellColumn], size: Ints) -> float:
    """The loss of all rows, the mean over the columns."""
    lost = [column.loss[column.cell_of_class] @ size for column in cells.values()]
    return float(np.mean(lost)) if lost else 0.0
