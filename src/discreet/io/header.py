"""The names of a table's columns: all distinct, and all named by the job.

A file without a header, or with a damaged one, has a person's cells in place of the names, which
are never repeated in a message (``discreet.listing``); columns are then identified by number.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Sequence

from discreet.errors import InputError
from discreet.listing import listed_columns, may_be_cells, nearest_column, some_of
from discreet.statements import Statement


def require_names(names: Sequence[str], place: str, *, suspect: bool = False) -> None:
    """Raise unless every column has a name of its own; a suspect header is not repeated."""
    problems = []
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated and (suspect or may_be_cells(names)):
        again = [number for number, name in enumerate(names, 1) if name in repeated]
        problems.append(f"the same name for columns {_numbers(again)}; give each its own")
    elif repeated:
        listed = listed_columns(repeated)
        problems.append(f"columns with the same name: {listed}; give each its own")
    nameless = [number for number, name in enumerate(names, 1) if not name]
    if nameless:
        problems.append(f"no name for column {_numbers(nameless)}; give each one")
    if not names:
        problems.append("no column")
    patterns = [number for number, name in enumerate(names, 1) if _is_pattern(name)]
    if patterns:
        problems.append(
            f"a name that begins with '^' and ends with '$' for column {_numbers(patterns)}, "
            "which data frames read as a pattern; rename it"
        )
    if problems:
        raise InputError(f"{place}: the header has {'; and '.join(problems)}.")


def distinct_names(names: Sequence[str], place: str, *, suspect: bool = False) -> list[str]:
    """Return a name of its own for every column: the second ``age`` is read as ``age_2``.

    A number that would give the name of another column is skipped. A first column without a name,
    as R and pandas write row numbers, is read as ``column_1``. A header that may be a row of cells
    is refused: there equal cells are no names.
    """
    if len(names) > 1 and not names[0]:
        names = [*numbered_names(1), *names[1:]]
    suspect = suspect or may_be_cells(names)
    if suspect or not all(names) or not names or any(map(_is_pattern, names)):
        require_names(names, place, suspect=suspect)
    taken, times = set(names), Counter[str]()
    distinct = []
    for name in names:
        times[name] += 1
        if times[name] > 1:
            while f"{name}_{times[name]}" in taken:
                times[name] += 1
            name = f"{name}_{times[name]}"
            taken.add(name)
        distinct.append(name)
    return distinct


def _is_pattern(name: str) -> bool:
    """Return whether Polars takes a name for a regular expression over names."""
    return name.startswith("^") and name.endswith("$")


def renaming_notice(names: Sequence[str], distinct: Sequence[str]) -> str | None:
    """Return which columns of a header share a name, and the names that they are read by."""
    renamed = [
        Statement("columns.renamed.one", written=[name], read=[read])
        for name, read in zip(names, distinct, strict=True)
        if name != read and name
    ]
    return Statement("columns.renamed", columns=renamed) if renamed else None


def without_copies(notice: str, copies: Sequence[str]) -> str:
    """Return a notice of renamed columns that names those that equal the first of their name."""
    return Statement("columns.copies", notice=notice, columns=list(copies)) if copies else notice


def names_read(names: Sequence[str], place: str) -> list[str]:
    """Return a name of its own for every column of a frame or a query; warn where some share one.

    A file has its notice in the results of a command instead.
    """
    distinct = distinct_names(names, place)
    notice = renaming_notice(names, distinct)
    if notice is not None:
        warnings.warn(str(notice), stacklevel=4)
    return distinct


def unnamed_notice(names: Sequence[str], *, suspect: bool = False) -> str | None:
    """Return which columns of a table a job does not name, and so does not publish."""
    if not names:
        return None
    if suspect or may_be_cells(names):
        return Statement("columns.unnamed.hidden", count=len(names))
    return Statement("columns.unnamed", count=len(names), columns=listed_columns(names))


def numbered_names(count: int) -> list[str]:
    """Return the names of the columns of a table without a header."""
    return [f"column_{number}" for number in range(1, count + 1)]


def check_columns(
    present: Sequence[str], named: Collection[str], *, suspect: bool = False
) -> list[str]:
    """Return the differences between the columns of a table and those that a job names.

    Names of a suspect header, which may be the cells of a row, are not repeated.
    """
    problems = []
    # Columns without a role; a header that may be cells is not repeated.
    unnamed = [name for name in present if name not in named]
    suspect = suspect or may_be_cells(present)
    if unnamed:
        noun = "column of the table has" if len(unnamed) == 1 else "columns of the table have"
        listed = listed_columns(unnamed)
        advice = (
            "Name each under `attributes:`; `role: drop` leaves one out, `others: drop` all that "
            "are not named."
        )
        if suspect:
            numbers = [number for number, name in enumerate(present, 1) if name not in named]
            listed = f"numbers {_numbers(numbers)}"
            advice = (
                "Some names look like cells, so they are not repeated here: check that the first "
                "line is a header."
            )
        problems.append(f"{len(unnamed)} {noun} no role: {listed}. {advice}")
    # Columns that the table lacks.
    for name in named:
        if name not in present:
            advice = nearest_column(name, present, suspect=suspect)
            problems.append(f"the table has no column {name!r}. {advice}")
    return problems


def _numbers(numbers: Sequence[int]) -> str:
    return some_of([str(number) for number in numbers])
