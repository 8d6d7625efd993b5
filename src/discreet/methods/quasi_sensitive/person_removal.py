"""Removal of terms where a person has several rows.

Groups are of persons, by Mondrian. A label fits a person if it has all terms of the person's rows,
and it fits a row if it has the terms of that row: an attacker who does not know which rows belong
together sees rows. The union may fit no label though each row fits some, so both must meet the
requirements. Terms are first removed from the unions, and so from all rows of the person, then from
single rows; groups that fail in either way in the end are suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from discreet.knowledge.table import Links, link, rows_within, union_of_rows
from discreet.methods.base import RowColumn, Task
from discreet.requirements.base import Domain, Domains, Requirement
from discreet.requirements.quasi_sensitive import LinkRequirement
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, count_values
from discreet.table.persons import Persons
from discreet.typing import Bools, GroupOfRow


class Removed(Protocol):
    """The outcome of a search for terms to remove from one column."""

    column: Column
    links: Links
    failing: np.ndarray[tuple[int], np.dtype[np.intp]]  # classes, before the removal

    @property
    def removed_any(self) -> bool:
        """Whether some cell has changed."""

    def cells(self) -> RowColumn:
        """The cells that are left."""


Remove = Callable[[Column, Links, Classes], Removed]


@dataclass(frozen=True, eq=False)
class PersonRemoval:
    """The terms that stay, and the groups that may be published."""

    columns: dict[str, Column]  # (rows,) by attribute
    passes: Bools  # (groups,)
    failed: Bools  # (groups,) before terms were removed
    works: list[Removed] = field(default_factory=list)  # on rows


def remove_from_persons(
    task: Task,
    persons: Persons,
    group: GroupOfRow,
    linked: Sequence[LinkRequirement],
    remove: Remove,
) -> PersonRemoval:
    """Remove terms until the persons and the rows of as many groups as possible pass."""
    by_row = Classes.of_numbers(group)
    by_person = Classes.of_numbers(group[persons.first_row])
    removal = PersonRemoval({}, np.ones(by_row.count, bool), np.zeros(by_row.count, bool))
    for name, links in task.links.items():
        column = task.table[name]
        asked = [r for r in linked if r.attribute is None or name in r.named]
        union = union_of_rows(column, persons)
        of_persons = remove(union, _relinked(union, links), by_person)
        rows = rows_within(column, persons, _after(of_persons))
        of_rows = remove(rows, _relinked(rows, links), by_row)
        rows = _after(of_rows)
        for work in (of_persons, of_rows):
            removal.failed[work.failing] = True
        removal.columns[name] = rows
        removal.works.append(of_rows)
        for cells, classes in ((rows, by_row), (union_of_rows(rows, persons), by_person)):
            removal.passes[:] &= _passing(cells, _relinked(cells, links), classes, asked)
    return removal


def _relinked(column: Column, links: Links) -> Links:
    """The links of other cells of an attribute, with its prior."""
    return link(column, links.knowledge).with_prior(links.prior)


def _after(work: Removed) -> Column:
    if not work.removed_any:
        return work.column
    left = work.cells()
    return replace(work.column, codes=left.codes, text=left.cells, values=left.cells)


def _passing(
    column: Column, links: Links, classes: Classes, requirements: Sequence[LinkRequirement]
) -> Bools:
    """Which classes meet the requirements on a column."""
    values = count_values(classes, column)
    domain = Domain(links.knowledge.labels, links=links)
    passes = np.ones(classes.count, bool)
    for requirement in requirements:
        passes &= requirement.admits(values, classes.size, domain)
    return passes


def without_drift(
    requirements: Sequence[Requirement],
    counts_of: Callable[[Requirement], ClassCounts],  # of all groups
    domains: Domains,
    passes: Bools,
) -> Bools:
    """Take out groups that no longer pass against the table once suppressed groups are gone."""
    judged = [requirement for requirement in requirements if requirement.algebra.against_table]
    while judged and passes.any() and not passes.all():
        still = passes.copy()
        for requirement in judged:
            good = requirement.passes(counts_of(requirement).keep(passes), domains)
            still[np.flatnonzero(passes)[~good]] = False
        if (still == passes).all():
            break
        passes = still
    return passes
