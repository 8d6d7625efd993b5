"""The attacker's view of one generalized table.

The classes of equal cells are the groups; a person is in a group whose cells cover the person's
values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.hierarchies.coverage import Coverage
from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.methods.base import Task
from discreet.releases.adversary_view import (
    EQUAL_ROWS,
    AdversaryView,
    certain_view,
    mixed_view,
)
from discreet.releases.placement import Placement, weigh
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable
from discreet.typing import Codes, Ints

SAMPLED_KINDS = 2000


def view_of_classes(
    name: str,
    table: CodedTable,
    task: Task,
    levels: Mapping[str, int],
    rng: np.random.Generator,
) -> AdversaryView:
    """Read one generalized table with every person's quasi-identifiers given."""
    people = [task.table[column.name] for column in table.quasi_identifiers]
    classes = classes_of(table.quasi_identifiers, table.rows)
    kinds = classes_of(people, task.table.rows)
    coverages = coverages_of(table, people, task.hierarchies, levels)
    cells = [column.codes[classes.first_row] for column in table.quasi_identifiers]
    values = [column.codes[kinds.first_row] for column in people]
    fits = fitting_groups(coverages, values, cells)
    sensitive = {column.name: column for column in table.sensitive}
    if fits is None:
        placement, place_of_kind = sampled_placement(coverages, values, cells, classes.size, rng)
        return mixed_view(
            name, classes, sensitive, placement, place_of_kind[kinds.class_of_row], task
        )
    start, group = fits
    if (np.diff(start) <= 1).all():
        group_of_kind = np.full(kinds.count, -1, np.int32)
        group_of_kind[np.diff(start) > 0] = group
        return certain_view(name, classes, sensitive, group_of_kind, kinds.class_of_row)
    suppressed = task.table.rows - table.rows
    placement = weigh(start, group, kinds.size, classes.size, suppressed)
    return mixed_view(name, classes, sensitive, placement, kinds.class_of_row, task)


def sampled_placement(
    coverages: Sequence[Coverage],
    values: Sequence[Codes],  # by quasi-identifier: (kinds,)
    cells: Sequence[Codes],  # by quasi-identifier: (groups,)
    size: Ints,  # (groups,)
    rng: np.random.Generator,
) -> tuple[Placement, Codes]:
    """Place some kinds of people, where too many fit too many groups: the place of each kind."""
    kinds = len(values[0])
    sample = rng.choice(kinds, min(SAMPLED_KINDS, kinds), replace=False)
    few = fitting_groups(coverages, [value[sample] for value in values], cells)
    if few is None:
        few = np.zeros(len(sample) + 1, np.int64), np.zeros(0, np.int32)
    start, group = few
    place = np.repeat(np.arange(len(sample)), np.diff(start))
    rows = np.bincount(place, size[group], len(sample))
    place_of_kind = np.full(kinds, -1, np.int32)
    place_of_kind[sample] = np.arange(len(sample), dtype=np.int32)
    return Placement(start, group, size[group] / rows[place], EQUAL_ROWS), place_of_kind
