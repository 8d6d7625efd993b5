"""The coded table: every column as int32 codes and a dictionary of its distinct values.

Every method, model and measure works on codes. A dictionary is sorted: text by code point,
integers, numbers and dates by value. A number that is written in several ways, ``7`` and ``007``,
is one value, published in its canonical form, ``7``; in an insensitive column, which is published
as it is, each way is a value of its own. The text of a sensitive number is canonical in any case:
it identifies the value, while ``values`` keeps the published form. A missing value is a value of
its own: it has the last code of its dictionary, where the dictionary's text is null.

A table may be *counted*: an entry then represents several equal rows, and has their number
as its weight. Where only a part of a table is given, its columns carry how often each value
occurs in the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import numpy as np
import polars as pl

from discreet.table.budgets import IN_CACHE
from discreet.table.roles import Distance, Role, ValueType
from discreet.typing import AnyInts, Codes, Floats, Ints

if TYPE_CHECKING:
    from discreet.table.classes import Classes

Derived = TypeVar("Derived")
Keys = ParamSpec("Keys")


class Derives:
    """Base of objects that keep the values derived from them, so that each is computed once."""

    def once(self, key: Hashable, derive: Callable[[], Derived]) -> Derived:
        """Return the value under a key; derive it the first time."""
        derived: dict[Hashable, Derived] = self.__dict__.setdefault("_derived", {})
        if key not in derived:
            derived[key] = derive()
        return derived[key]


Source = TypeVar("Source", bound=Derives)


def derived_once(
    derive: Callable[Concatenate[Source, Keys], Derived],
) -> Callable[Concatenate[Source, Keys], Derived]:
    """Keep what a function derives from its first argument, by the others, which need a hash."""

    @wraps(derive)
    def derived(source: Source, /, *keys: Keys.args, **named: Keys.kwargs) -> Derived:
        key = derive.__module__, derive.__qualname__, keys, *named.items()
        return source.once(key, lambda: derive(source, *keys, **named))

    return derived


class Itself:
    """A key for an object without a hash, such as an array; equal for the same object alone."""

    def __init__(self, thing: object) -> None:
        self._thing = thing  # kept, so that no other object gets its identity

    def __hash__(self) -> int:
        return id(self._thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self._thing is other._thing


@dataclass(frozen=True, eq=False)
class Column(Derives):
    """One column: a code for each row, and the values of the codes."""

    name: str
    role: Role
    type: ValueType
    codes: Codes  # (rows,)
    text: pl.Series  # (values,) String, sorted by value; null, if any, last
    values: pl.Series  # (values,) as published: in the source's own dtype and spelling
    numbers: Floats | None = None  # (values,) for ordered types; NaN for null
    distance: Distance = Distance.EQUAL
    separator: str | None = None  # between the members of a multi-valued cell
    weights: Ints | None = None  # (entries,) the rows that each represents; None: one
    total: Ints | None = None  # (values,) in the whole table, where this is a part
    importance: float = 1.0  # of a quasi-identifier: how much its loss of information weighs
    # (values,) what cells lost before any method, where rare values were lifted or masked
    lost: Floats | None = None

    @property
    def cardinality(self) -> int:
        """The number of distinct values, a missing one included."""
        return len(self.text)

    @property
    def has_null(self) -> bool:
        """Whether some cell is missing; its code is then the last."""
        return self.text.null_count() > 0

    @cached_property
    def counts(self) -> Ints:
        """The number of rows with each value."""
        if self.weights is None:
            return count_codes(self.codes, self.cardinality)
        return np.bincount(self.codes, self.weights, self.cardinality).astype(np.int64, copy=False)

    @property
    def reference(self) -> Ints:
        """The number of rows with each value in the whole table."""
        return self.counts if self.total is None else self.total

    def take(self, rows: AnyInts) -> Column:
        """The same column for some rows; the dictionary stays."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=self.codes[rows], weights=weights)

    def occurring(self) -> Column:
        """The same column with a dictionary of the values that occur."""
        occurs = self.counts > 0
        in_use = pl.Series(occurs)
        return replace(
            self,
            codes=(np.cumsum(occurs, dtype=np.int32) - 1)[self.codes],
            text=self.text.filter(in_use),
            values=self.values.filter(in_use),
            numbers=None if self.numbers is None else self.numbers[occurs],
            lost=None if self.lost is None else self.lost[occurs],
        )

    def with_domain(self, values: Collection[str | None]) -> Column:
        """The same column with a dictionary of the values that occur and of those given."""
        known = dict(zip(self.text.to_list(), self.counts.tolist(), strict=True))
        wanted = {*values, *(value for value, count in known.items() if count)}
        if wanted == set(known):
            return self
        texts: list[str | None] = sorted(value for value in wanted if value is not None)
        numbers = None
        if self.numbers is not None:
            texts.sort(key=lambda text: (_number(str(text), self.type), text))
            numbers = [_number(str(text), self.type) for text in texts]
        if None in wanted:
            texts.append(None)
            numbers = None if numbers is None else [*numbers, np.nan]
        place = {value: code for code, value in enumerate(texts)}
        code = np.array([place.get(value, -1) for value in known], np.int32)
        text = pl.Series(self.text.name, texts, dtype=pl.String)
        return replace(
            self,
            codes=code[self.codes],
            text=text,
            values=self._spelled(text),
            numbers=None if numbers is None else np.array(numbers, np.float64),
            lost=None,
        )

    def _spelled(self, text: pl.Series) -> pl.Series:
        """Return texts as they are published: in the column's spelling, or in that of its type."""
        if self.values.dtype != pl.String:
            return _typed(text, self.values.dtype)
        spelling = dict(zip(self.text.to_list(), self.values.to_list(), strict=True))
        spelled = [spelling.get(value, value) for value in text.to_list()]
        return pl.Series(self.values.name, spelled, dtype=pl.String)


@dataclass(frozen=True, eq=False)
class CodedTable(Derives):
    """Columns of equal length, in the source's order, without those that are never published."""

    columns: Mapping[str, Column]
    rows: int
    left_out: Sequence[str] = field(default=())  # identifiers and dropped columns: never coded
    weights: Ints | None = None  # (entries,) of a counted table; its columns have them

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns.values())

    def with_role(self, role: Role) -> list[Column]:
        """The columns with a role, in order."""
        return [column for column in self if column.role is role]

    @property
    def entries(self) -> int:
        """The length of the columns: the number of rows, but of a counted table."""
        return self.rows if self.weights is None else len(self.weights)

    def counted(self, weights: Ints) -> CodedTable:
        """The same entries, each representing several rows."""
        columns = {c.name: replace(c, weights=weights) for c in self}
        return replace(self, columns=columns, rows=int(weights.sum()), weights=weights)

    @property
    def quasi_identifiers(self) -> list[Column]:
        return self.with_role(Role.QUASI_IDENTIFIER)

    @cached_property
    def classes(self) -> Classes:
        """The rows that share all quasi-identifiers."""
        from discreet.table.classes import classes_of

        return classes_of(self.quasi_identifiers, self.entries, self.weights)

    @property
    def sensitive(self) -> list[Column]:
        return self.with_role(Role.SENSITIVE)

    @property
    def quasi_sensitive(self) -> list[Column]:
        return self.with_role(Role.QUASI_SENSITIVE)

    @property
    def insensitive(self) -> list[Column]:
        """The columns that are published as they are, a weight among them."""
        return [column for column in self if column.role.unchanged]

    @property
    def analysis_weights(self) -> Floats | None:
        """(rows,) The weight of each row, as analysts use it; None without a weight."""
        for column in self.with_role(Role.WEIGHT):
            assert column.numbers is not None
            return column.numbers[column.codes]
        return None

    @property
    def sampling_weights(self) -> Floats | None:
        """(rows,) The persons that each row represents, at least itself; None without a weight."""
        weights = self.analysis_weights
        return None if weights is None else np.maximum(weights, 1.0)

    def take(self, rows: AnyInts) -> CodedTable:
        """The same table for some rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        weights = None if self.weights is None else self.weights[rows]
        count = len(rows) if weights is None else int(weights.sum())
        return replace(self, columns=columns, rows=count, weights=weights)


Tables = Mapping[str, CodedTable]  # of a release, by name
SourceRows = Mapping[str, Codes]  # by table: the original's row behind each published row


def count_codes(codes: AnyInts, size: int) -> Ints:
    """Count how often each code below a size occurs.

    Part by part: NumPy makes eight bytes of every code that it is given at once.
    """
    step = max(IN_CACHE, 4 * size)
    counts = np.bincount(codes[:step], minlength=size)
    for begin in range(step, len(codes), step):
        counts += np.bincount(codes[begin : begin + step], minlength=size)
    return counts


def exact_value(text: str, kind: ValueType) -> Decimal | date | str:
    """Return the exact value of a cell: as numbers ``7`` and ``007`` are equal."""
    if kind is ValueType.DATE:
        return date.fromisoformat(text.strip())
    return Decimal(text.strip()) if kind.ordered else text


def _number(text: str, kind: ValueType) -> float:
    if kind is ValueType.DATE:
        return float(date.fromisoformat(text.strip()).toordinal() - date(1970, 1, 1).toordinal())
    return float(text)


def _typed(text: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Texts as values of another type; as they are where that type cannot be read from text."""
    typed = text.str.to_date("%Y-%m-%d", strict=False) if dtype == pl.Date else None
    typed = text.cast(dtype, strict=False) if typed is None else typed
    return typed if typed.null_count() == text.null_count() else text
