"""The coded table: every column as int32 codes and a dictionary of its distinct values.

Every method, model and measure works on codes. A dictionary is sorted: text by code point,
integers, numbers and dates by value (equal numbers written differently, ``7`` and ``007``, are two
values, neighbours in order). A missing value is a value of its own: it has the last code of its
dictionary, where the dictionary's text is null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.roles import Distance, Role, ValueType
from discreet.kernels import kernel

if TYPE_CHECKING:
    from discreet.data.classes import Classes

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Column:
    """One column: a code for each row, and what the codes stand for."""

    name: str
    role: Role
    type: ValueType
    codes: Codes  # (rows,)
    text: pl.Series  # (values,) String, as in the source, sorted by value; null, if any, last
    values: pl.Series  # (values,) the same in the source's own dtype
    numbers: NDArray[np.float64] | None = None  # (values,) for ordered types; NaN for null
    distance: Distance = Distance.EQUAL
    separator: str | None = None  # between the members of a multi-valued cell

    @property
    def cardinality(self) -> int:
        """The number of distinct values, a missing one included."""
        return len(self.text)

    @property
    def has_null(self) -> bool:
        """Whether some cell is missing; its code is then the last."""
        return self.text.null_count() > 0

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows with each value."""
        return count_codes(self.codes, self.cardinality)

    def take(self, rows: NDArray[np.integer]) -> Column:
        """The same column for some rows; the dictionary stays."""
        return replace(self, codes=self.codes[rows])


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Columns of equal length, in the source's order, without those that are never published."""

    columns: Mapping[str, Column]
    rows: int
    left_out: Sequence[str] = field(default=())  # identifiers and dropped columns: never coded

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns.values())

    def with_role(self, role: Role) -> list[Column]:
        """The columns with a role, in order."""
        return [column for column in self if column.role is role]

    @property
    def quasi_identifiers(self) -> list[Column]:
        return self.with_role(Role.QUASI_IDENTIFIER)

    @cached_property
    def classes(self) -> Classes:
        """The rows that share all quasi-identifiers."""
        from discreet.data.classes import classes_of

        return classes_of(self.quasi_identifiers, self.rows)

    @property
    def sensitive(self) -> list[Column]:
        return self.with_role(Role.SENSITIVE)

    @property
    def quasi_sensitive(self) -> list[Column]:
        return self.with_role(Role.QUASI_SENSITIVE)

    @property
    def insensitive(self) -> list[Column]:
        return self.with_role(Role.INSENSITIVE)

    def take(self, rows: NDArray[np.integer]) -> CodedTable:
        """The same table for some rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, rows=len(rows))


@kernel
def count_codes(codes: Codes, cardinality: int) -> NDArray[np.int64]:
    """How often each code occurs."""
    count = np.zeros(cardinality, np.int64)
    for code in codes:
        count[code] += 1
    return count


@kernel
def gather(of_code: Codes, codes: Codes) -> Codes:
    """``of_code[codes]``, several times faster."""
    result = np.empty(len(codes), np.int32)
    for row in range(len(codes)):
        result[row] = of_code[codes[row]]
    return result
