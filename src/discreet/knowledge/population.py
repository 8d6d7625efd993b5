"""The population: every person's quasi-identifiers, also of people who are not in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.code_maps import code_of_value, recoded
from discreet.table.coded_table import CodedTable, Column
from discreet.typing import Codes, Ints, Ints32


@dataclass(frozen=True, eq=False)
class Population:
    """A table of people, with hierarchies over its own dictionaries."""

    table: CodedTable
    hierarchies: Mapping[str, Hierarchy]

    @property
    def rows(self) -> int:
        return self.table.rows

    @cached_property
    def kinds(self) -> Classes:
        """The people who agree in all quasi-identifiers."""
        return classes_of(self.table.quasi_identifiers, self.table.rows)

    def fits(
        self, published: CodedTable, levels: Mapping[str, int]
    ) -> tuple[Ints, Ints32, Classes] | None:
        """The classes of a published table that each kind fits, and those classes."""
        columns = [self.table[column.name] for column in published.quasi_identifiers]
        classes = classes_of(published.quasi_identifiers, published.rows)
        coverages = coverages_of(published, columns, self.hierarchies, levels)
        cells = [column.codes[classes.first_row] for column in published.quasi_identifiers]
        values = [column.codes[self.kinds.first_row] for column in columns]
        fitting = fitting_groups(coverages, values, cells)
        return None if fitting is None else (*fitting, classes)

    def persons_fitting(
        self, published: CodedTable, levels: Mapping[str, int], *, alone: bool = False
    ) -> Ints | None:
        """(classes + 1,) The persons whom the cells of each class fit; the last: whom none does.

        A person may fit several classes. None where there are too many pairs to count, or where a
        person fits several although each must fit one ``alone``.
        """
        pairs = self.fits(published, levels)
        if pairs is None or (alone and (np.diff(pairs[0]) > 1).any()):
            return None
        start, group, classes = pairs
        people = np.repeat(self.kinds.size, np.diff(start))
        fitting = np.bincount(group, people, classes.count).astype(np.int64)
        outside = int(self.kinds.size[np.diff(start) == 0].sum())
        return np.append(fitting, outside)

    def recoded(self, table: CodedTable) -> CodedTable:
        """A table whose quasi-identifiers are numbered as those of the population."""
        columns = dict(table.columns)
        for theirs in table.quasi_identifiers:
            mine = self.table[theirs.name]
            code = code_of_value(mine, theirs)
            absent = int(((code < 0) & (theirs.counts > 0)).sum())
            if absent:
                raise InputError(
                    f"population: {absent} values of '{theirs.name}' do not occur in it. It must "
                    "contain every row of the table; add the rows that it lacks."
                )
            codes = code.astype(np.int32)[theirs.codes]
            columns[theirs.name] = replace(mine, codes=codes)
        return replace(table, columns=columns)

    def kind_of_row(self, table: CodedTable) -> Codes:
        """(rows,) The kind of each row of a table that ``recoded`` made."""
        columns = table.quasi_identifiers
        classes = self._with_kinds(columns, [column.codes for column in columns], table.rows)
        count = self.kinds.count
        kind = np.full(classes.count, -1, np.int32)
        kind[classes.class_of_row[:count]] = np.arange(count)
        row_kinds = kind[classes.class_of_row[count:]]
        absent = int((row_kinds < 0).sum())
        if absent:
            raise InputError(
                f"population: {absent} rows of the table do not occur in it, by their "
                f"{len(columns)} quasi-identifiers. It must contain every row; add those that it "
                "lacks."
            )
        return row_kinds

    def _with_kinds(self, columns: Sequence[Column], codes: Sequence[Codes], rows: int) -> Classes:
        """The classes of the kinds, then of another table's rows in the population's codes."""
        mine = [self.table[column.name] for column in columns]
        both = [
            np.concatenate([column.codes[self.kinds.first_row], theirs])
            for column, theirs in zip(mine, codes, strict=True)
        ]
        # A value that the population lacks has one code beyond.
        sizes = [column.cardinality + 1 for column in mine]
        return group_codes(both, sizes, self.kinds.count + rows)

    def same_people(self, other: Population) -> bool:
        """Whether another population has the same persons, by their quasi-identifiers."""
        columns = other.table.quasi_identifiers
        if self.rows != other.rows or len(columns) != len(self.table.quasi_identifiers):
            return False
        return bool((self.alike(columns, other.rows) == self.kinds.size).all())

    def alike(self, columns: Sequence[Column], rows: int) -> Ints:
        """For each kind, how many rows of another table agree with it in all given columns."""
        codes = [recoded(self.table[column.name], column) for column in columns]
        classes = self._with_kinds(columns, codes, rows)
        count = self.kinds.count
        seen = np.bincount(classes.class_of_row[count:], minlength=classes.count)
        return seen[classes.class_of_row[:count]]
