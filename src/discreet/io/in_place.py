"""A table that counts its own rows: one GROUP BY, and only combinations with their counts leave.

Every requirement follows from counts, so a check needs no row. Identifiers are numbered where they
are (``DENSE_RANK``) and do not leave either.

Add-ons register the kinds of places, by the scheme of a URL or the library of a frame.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import EMPTY, InputError
from discreet.io.databases import READ_SCHEMES, dialect_of
from discreet.io.frames import code_frame
from discreet.io.header import distinct_names, renaming_notice
from discreet.plugins import Registry
from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons
from discreet.table.roles import ColumnSpec

NUMBER = "discreet_person"  # the column of numbers in the place of identifiers
COUNT = "discreet_count"


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The distinct combinations of some columns, with the number of rows that have each."""

    frame: pl.DataFrame  # a row for each combination
    times: NDArray[np.int64]  # (combinations,)
    # (combinations,) where persons are told apart: the number of a person, −1 for an unnamed one
    person: NDArray[np.int64] | None = None


class Place(ABC):
    """A table somewhere else that can count."""

    name: str  # for messages
    remarks: tuple[str, ...] = ()  # what counts in this place do not say, once it has counted

    def named(self, written: Sequence[str]) -> tuple[str, ...]:
        """Return a name of its own for every column; where some share one, remark it."""
        names = distinct_names(written, self.name)
        notice = renaming_notice(written, names)
        self.remarks = () if notice is None else (notice,)
        return tuple(names)

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Return the names of its columns."""

    @abstractmethod
    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        """Return the cells of each combination, then with persons its person, then its rows."""

    def count(self, columns: Sequence[str], person: Sequence[str] = ()) -> CountedRows:
        """Count the rows of each combination of cells, and of each person if some are named."""
        counts = self.counted(columns, person)
        if not counts.height:
            raise InputError(f"{self.name}: the table has columns but no rows.").with_code(EMPTY)
        names = [*columns, *([NUMBER] if person else []), COUNT]
        counts = counts.rename(dict(zip(counts.columns, names, strict=True)))
        times = counts.get_column(COUNT).cast(pl.Int64).to_numpy()
        numbers = None
        if person:
            numbers = counts.get_column(NUMBER).cast(pl.Int64).fill_null(-1).to_numpy()
        return CountedRows(counts.select(list(columns)), times, numbers)


def is_url(data: Any) -> bool:
    """Return whether a table is named by the URL of a database."""
    return isinstance(data, str) and "://" in data


def require_one_table(table: str | None, query: str | None, *, url: bool = True) -> None:
    """Raise unless a URL comes with a table or a query, and anything else with neither."""
    if url and (table is None) == (query is None):
        raise InputError("Name either the table of the database or a query.")
    if not url and (table is not None or query is not None):
        raise InputError("A table or a query is for the URL of a database.")


def require_file_for(options: Mapping[str, Any] | None, data: Any) -> None:
    """Raise where options to read a file come with something else."""
    if options and (not isinstance(data, str | Path) or is_url(data)):
        raise InputError(f"source: {', '.join(options)} says how to read a file. Name a file.")


class RemoteTable(Protocol):
    """The result of one statement, whose rows are read once."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def written(self) -> Sequence[str]:
        """The names of the statement, which columns may share."""

    def coded(self, specs: Mapping[str, ColumnSpec], missing: Collection[str]) -> CodedTable:
        """Code every column that may be published; specs name all columns."""


class PlaceKind(ABC):
    """The tables of a kind of database, by URL, or the frames of a library."""

    name: ClassVar[str]  # the scheme of a URL, or the module of a library

    @classmethod
    def opened(
        cls, url: str, folder: Path, table: str | None, query: str | None
    ) -> AbstractContextManager[RemoteTable]:
        """Run one statement by a connection that cannot write."""
        raise _no_url(cls.name)

    @classmethod
    def place(cls, url: str, folder: Path, table: str | None, query: str | None) -> Place:
        """Return the place of a table or a query."""
        raise _no_url(cls.name)

    @classmethod
    def place_of_frame(cls, frame: Any) -> Place:
        """Return the place of a frame of the library."""
        raise InputError(f"A table of {cls.name} is named by its URL, as text.")


PLACES: Registry[PlaceKind] = Registry("place of tables", "discreet.places", PlaceKind, {})


def _no_url(scheme: str) -> InputError:
    known = ", ".join(READ_SCHEMES)
    return InputError(
        f"A check in place by URL is for {known}, not '{scheme}'. Other databases are checked in "
        "Python through Ibis: dc.check(connection.table('people'), …)."
    )


def place_of_url(url: str, folder: Path, table: str | None, query: str | None) -> Place:
    """Return the place of a database's table or query."""
    scheme = urlsplit(url).scheme
    dialect = READ_SCHEMES.get(scheme, scheme)
    if dialect not in PLACES:
        raise _no_url(scheme)
    dialect_of(url, to_read=True)
    return PLACES[dialect].place(url, folder, table, query)


def opened_table(
    url: str, folder: Path, table: str | None, query: str | None
) -> AbstractContextManager[RemoteTable]:
    """Open the table or the query of a database, to read its rows once."""
    dialect = dialect_of(url, to_read=True)
    return PLACES[dialect].opened(url, folder, table, query)


def place_of(data: Any, folder: Path, table: str | None, query: str | None) -> Place | None:
    """Return the place of a table that counts by itself; None for a file or a frame.

    A URL names a database, whose ``table`` or ``query`` is given beside it.
    """
    require_one_table(table, query, url=is_url(data))
    if is_url(data):
        return place_of_url(data, folder, table, query)
    library = type(data).__module__.partition(".")[0].lstrip("_")
    if library in ("builtins", "pathlib", "polars", "pandas", "pyarrow") or library not in PLACES:
        return None  # without a search of the installed packages for what is read as it is
    return PLACES[library].place_of_frame(data)


def coded_counts(
    place: Place,
    specs: Mapping[str, ColumnSpec],
    person: Sequence[str] = (),
    missing: Collection[str] = (),
) -> tuple[CodedTable, Persons | None]:
    """Count and code some columns: an entry for each combination, with persons one for each row."""
    counted = place.count(list(specs), person)
    table = code_frame(counted.frame, specs, missing)
    if counted.person is None:
        return table.counted(counted.times), None
    entry = np.repeat(np.arange(len(counted.times)), counted.times)
    return table.take(entry), numbered_persons(counted.person[entry])


def numbered_persons(number: NDArray[np.int64]) -> Persons:
    """Return the person of each row; a row without a number is a person of its own."""
    unnamed = number < 0
    number = number.copy()
    number[unnamed] = number.max(initial=-1) + 1 + np.arange(int(unnamed.sum()))
    distinct, number = np.unique(number, return_inverse=True)
    return Persons(number.astype(np.int64), len(distinct), int(unnamed.sum()))
