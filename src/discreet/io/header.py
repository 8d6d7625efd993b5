"""The names of a table's columns: all distinct, and all named by the job.

A file without a header, or with a damaged one, has a person's cells in place of the names. A name
that looks like a cell is never repeated in a message; columns are then identified by number.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Sequence

from discreet.errors import InputError

LISTED_AT_MOST = 10
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


def require_names(names: Sequence[str], place: str, *, suspect: bool = False) -> None:
    """Raise unless every column has a name of its own; a suspect header is not repeated."""
    problems = []
    doubled = [name for name, count in Counter(names).items() if count > 1 and name]
    if doubled and (suspect or any(looks_like_cell(name) for name in names)):
        again = [number for number, name in enumerate(names, 1) if name in doubled]
        problems.append(f"the same name for columns {_numbers(again)}; give each its own")
    elif doubled:
        listed = ", ".join(repr(name) for name in doubled)
        problems.append(f"columns with the same name: {listed}; give each its own")
    nameless = [number for number, name in enumerate(names, 1) if not name]
    if nameless:
        problems.append(f"no name for column {_numbers(nameless)}; give each one")
    if not names:
        problems.append("no column")
    if problems:
        raise InputError(f"{place}: the header has {'; and '.join(problems)}.")


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
    unnamed = [name for name in present if name not in named]
    suspect = suspect or any(looks_like_cell(name) for name in unnamed)
    if unnamed:
        noun = "column of the table has" if len(unnamed) == 1 else "columns of the table have"
        listed = ", ".join(repr(name) for name in unnamed)
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
    for name in named:
        if name not in present:
            near = difflib.get_close_matches(name, present, n=3)
            advice = " or ".join(repr(other) for other in near)
            tail = f" Did you mean {advice}?" if near else f" It has {_some(present)}."
            problems.append(f"the table has no column {name!r}.{'' if suspect else tail}")
    return problems


def _some(names: Sequence[str], most: int = LISTED_AT_MOST) -> str:
    listed = ", ".join(repr(name) for name in names[:most])
    return listed + (f" and {len(names) - most} more" if len(names) > most else "")


def _numbers(numbers: Sequence[int]) -> str:
    listed = ", ".join(str(number) for number in numbers[:LISTED_AT_MOST])
    more = len(numbers) - LISTED_AT_MOST
    return listed + (f" and {more} more" if more > 0 else "")
