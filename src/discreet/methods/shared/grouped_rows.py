"""What every method that numbers the groups of rows does with them in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.base import Bucketized, CellColumn, Counterfeits, GeneralizedBuckets, Task
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.tight_cells import require_one_meaning, tightened
from discreet.requirements.base import Requirement
from discreet.requirements.diversity import PDiversity
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, count_classes, order_by_class
from discreet.typing import Codes, GroupOfRow, Ints

Publish = Literal["buckets", "generalized"]
PUBLISH = (
    "Exact quasi-identifiers beside the groups' sensitive rows, or quasi-identifiers as coarse as "
    "each group needs."
)
UNMET = "its groups do not meet all requirements of the job"  # of a method for series
UNMET_REMEDIES = (
    "a method for a series meets its own guarantee only; leave the other requirements out, or "
    "publish once by mondrian",
)


def published_hierarchy(task: Task, column: Column) -> Hierarchy | None:
    """Texts are published by their hierarchy; integers, numbers and dates as tight ranges."""
    return task.hierarchies.get(column.name) if column.numbers is None else None


def cells_of_groups(
    task: Task,
    group_of_row: GroupOfRow,
    hierarchy_of: Callable[[Task, Column], Hierarchy | None] = published_hierarchy,
    *,
    grid: bool = False,
    codes: Sequence[Codes] | None = None,
) -> dict[str, CellColumn]:
    """The tightest cells of every group, or with ranges on a grid.

    ``codes`` are those of the quasi-identifiers, where rows are in another order than the table's.
    """
    published = np.flatnonzero(group_of_row >= 0)
    of_group = group_of_row[published]
    groups = int(of_group.max(initial=-1)) + 1
    start, order = order_by_class(of_group, np.zeros(len(published), np.int32), groups, 1)
    rows = published[order]
    cells = {}
    columns = task.table.quasi_identifiers
    for column, code in zip(columns, codes or [c.codes for c in columns], strict=True):
        hierarchy = hierarchy_of(task, column)
        if hierarchy is not None:
            require_one_meaning(hierarchy)
        cells[column.name] = tightened(column, hierarchy, code[rows], start, grid=grid)
    return cells


def with_cells(task: Task, outcome: Bucketized) -> GeneralizedBuckets:
    """The same groups with the tightest cells in the place of exact quasi-identifiers."""
    return GeneralizedBuckets(**vars(outcome), cells=cells_of_groups(task, outcome.group_of_row))


def merged_where_equal(
    task: Task,
    group_of_row: GroupOfRow,
    hierarchy_of: Callable[[Task, Column], Hierarchy | None] = published_hierarchy,
) -> GroupOfRow:
    """Merge groups with the same published cells: an attacker sees one class."""
    cells = cells_of_groups(task, group_of_row, hierarchy_of)
    published = group_of_row >= 0
    seen = group_codes(
        [column.cell_of_class for column in cells.values()],
        [len(column.labels) for column in cells.values()],
        int(group_of_row.max(initial=-1)) + 1,
    ).class_of_row
    return np.where(published, seen[group_of_row], -1).astype(np.int32)


def merge_equal_cells(
    cells: Mapping[str, CellColumn], groups: int
) -> tuple[GroupOfRow, dict[str, CellColumn]]:
    """The class of each group, one for all groups with the same cells, and the classes' cells."""
    columns = list(cells.values())
    classes = group_codes(
        [c.cell_of_class for c in columns], [len(c.labels) for c in columns], groups
    )
    merged = {
        name: replace(column, cell_of_class=column.cell_of_class[classes.first_row])
        for name, column in cells.items()
    }
    return classes.class_of_row, merged


def count_groups(
    task: Task, group_of_row: GroupOfRow, fakes: Counterfeits | None = None
) -> ClassCounts:
    """The counts of sensitive values in every group, without the suppressed rows."""
    published = np.flatnonzero(group_of_row >= 0)
    if fakes is not None:
        return _count_with(fakes, task, group_of_row, published)
    of_group = group_of_row[published]
    size = np.bincount(of_group).astype(np.int64)
    first = np.empty(len(size), np.int64)
    first[of_group[::-1]] = np.arange(len(published))[::-1]
    refined = any(requirement.algebra.refined for requirement in task.requirements)
    sensitive = [column.take(published) for column in task.table.sensitive]
    return count_classes(Classes(of_group, first, size), sensitive, refined=refined)


def _count_with(
    fakes: Counterfeits, task: Task, group_of_row: GroupOfRow, kept: Ints
) -> ClassCounts:
    """The same with counterfeits beside the rows of persons."""
    of_group = np.concatenate([group_of_row[kept], fakes.group]).astype(np.int32)
    size = np.bincount(of_group).astype(np.int64)
    first = np.empty(len(size), np.int64)
    first[of_group[::-1]] = np.arange(len(of_group))[::-1]
    columns = [
        replace(column, codes=np.concatenate([column.codes[kept], fakes.value[column.name]]))
        for column in task.table.sensitive
    ]
    refined = any(requirement.algebra.refined for requirement in task.requirements)
    counts = count_classes(Classes(of_group, first, size), columns, refined=refined)
    return replace(counts, real=np.bincount(group_of_row[kept], minlength=len(size)))


def require_all(
    task: Task,
    group_of_row: GroupOfRow,
    said: str,
    remedies: Sequence[str],
    known: tuple[type[Requirement], ...] = (),
    fakes: Counterfeits | None = None,
) -> None:
    """Raise InfeasibleError where the groups do not meet every requirement.

    Requirements of a ``known`` kind hold by construction; the audit judges them all the same.
    """
    open_ones = [r for r in task.requirements if not isinstance(r, known)]
    if not open_ones:
        return
    counts = count_groups(task, group_of_row, fakes)
    if not all(r.check(counts, task.domains).holds for r in open_ones):
        raise infeasible(said, task.requirements, counts, task.domains, remedies, spares=False)


def require_whole_table(task: Task, method: str, known: tuple[type[Requirement], ...] = ()) -> None:
    """Raise InfeasibleError where the whole table as one group fails, before groups are formed.

    For methods that suppress no row: requirements are closed under merging, so what fails for the
    union of all groups fails for some group.
    """
    require_all(
        task,
        np.zeros(task.table.rows, np.int32),
        f"{method}: the whole table as one group does not meet all requirements, so no groups do",
        (),
        known,
    )


def greatest_share(task: Task, group_of_row: GroupOfRow) -> dict[str, float]:
    """For each sensitive attribute the greatest share of a value in any group."""
    counts = count_groups(task, group_of_row)
    whole = PDiversity(l=1).check(counts, task.domains).by_attribute
    return {name: 1 / ell for name, ell in whole.items()}
