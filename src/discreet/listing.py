"""The one way to list the names of a table's columns in a message.

A file without a header, or with a damaged one, has a person's cells in place of the names. Where
one name looks like a cell, or a reader suspects the header, none is repeated: the message says how
many columns there are, or their numbers, and how to read the file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

LISTED_AT_MOST = 10
WITHOUT_HEADER = (
    "If the first line is not a header, read it with 'header: false' (--source header=false)."
)
_CELL = re.compile(
    r"[^@\s]+@[^@\s]+\.[^@\s]+"  # an e-mail address
    r"|[+-]?[0-9][-+0-9.,:;/()Te ]*"  # a number, a date, a time, a telephone number
    r"|.*[0-9]{5}.*"  # any text with a long number
    r"|.*[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}.*",  # or a date
    re.DOTALL,
)


def looks_like_cell(name: str) -> bool:
    """Return whether a name of a column looks like a cell rather than like a name."""
    return _CELL.fullmatch(name.strip()) is not None


def may_be_cells(names: Iterable[str]) -> bool:
    """Return whether the names of a table's columns may be the cells of a row."""
    return any(looks_like_cell(name) for name in names)


def listed_columns(names: Sequence[str], *, suspect: bool = False) -> str:
    """Return some names of columns for a message; only their number where they may be cells."""
    if suspect or may_be_cells(names):
        return hidden_columns(len(names))
    return some_of([repr(name) for name in names])


def hidden_columns(count: int) -> str:
    """Return what a message says in place of names that may be cells."""
    return f"{count} column{'s'[: count > 1]}; names that look like cells are not repeated here"


def nearest_column(name: str, present: Sequence[str], *, suspect: bool = False) -> str:
    """Return a hint for a column that a table lacks: the nearest names, else those that it has."""
    if suspect or may_be_cells(present):
        return (
            f"Names of its {len(present)} columns look like cells, so they are not repeated here. "
            f"{WITHOUT_HEADER}"
        )
    near = difflib.get_close_matches(name, present, n=3)
    if near:
        return f"Did you mean {' or '.join(repr(other) for other in near)}?"
    return f"It has {listed_columns(present)}."


def some_of(words: Sequence[str]) -> str:
    """Return the first words, and how many more there are."""
    more = len(words) - LISTED_AT_MOST
    return ", ".join(words[:LISTED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
