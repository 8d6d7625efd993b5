"""A hierarchy file from the code list of a classification.

Offices publish classifications so: a row for each code, often with the code above it and its name.
A row of the hierarchy file has a code, and the labels of the codes above it, up to ``*``. A code of
a higher level is a value too: it stays as it is up to the level on which its own codes are joined.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from discreet.errors import HierarchyError, InputError
from discreet.hierarchies.cells import SUPPRESSED
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table, suspect_names
from discreet.listing import nearest_column
from discreet.table.roles import ColumnSpec, Role, ValueType


def hierarchy_rows(
    parents: Mapping[str, str | None], names: Mapping[str, str | None]
) -> list[list[str]]:
    """A row for each code: itself, the labels above it, and ``*``; rows have equal length."""
    trails = {code: _trail(code, parents) for code in parents}
    deepest = max(map(len, trails.values()), default=0)
    joined = {above for above in parents.values() if above is not None}
    label = {code: f"{code} {names[code]}" if names.get(code) else f"{code}*" for code in joined}
    rows = []
    for code, trail in trails.items():  # a trail goes from the root to the code
        above = [
            label.get(trail[depth - 1], code) if depth <= len(trail) else code
            for depth in range(deepest - 1, 0, -1)
        ]
        rows.append([code, *above, SUPPRESSED])
    return rows


def _trail(code: str, parents: Mapping[str, str | None]) -> list[str]:
    """The codes from the root down to a code."""
    trail = [code]
    while (above := parents[trail[-1]]) is not None:
        if above not in parents:
            raise HierarchyError(
                f"Code list: the code {above!r}, above {trail[-1]!r}, has no row. Add one."
            )
        if above in trail:
            raise HierarchyError(f"Code list: the code {above!r} is above itself. Correct it.")
        trail.append(above)
    return trail[::-1]


def _beginning(code: str | None, known: set[str | None]) -> str | None:
    """The longest other code that a code begins with."""
    heads = (code[:length] for length in range(len(code) - 1, 0, -1)) if code else ()
    return next((head for head in heads if head in known), None)


def write_code_hierarchy(
    source: Source, path: Path, *, code: str, parent: str | None = None, name: str | None = None
) -> int:
    """Write the hierarchy file of a code list; return its number of codes.

    Without a column of parents, the parent is the longest other code that a code begins with.
    """
    # Read the columns that are named.
    present = column_names(source)
    wanted = [column for column in (code, parent, name) if column]
    lacking = [column for column in wanted if column not in present]
    if lacking:
        hint = nearest_column(lacking[0], present, suspect=suspect_names(source))
        raise InputError(f"{source.path}: no column {', '.join(map(repr, lacking))}. {hint}")
    specs = {
        column: ColumnSpec(Role.INSENSITIVE if column in wanted else Role.DROP, ValueType.TEXT)
        for column in present
    }
    table = read_table(source, specs)
    cells = {
        column: table[column].text.gather(pl.Series(table[column].codes)).to_list()
        for column in wanted
    }
    # The code above each code.
    parents: dict[str, str | None] = {}
    known = set(cells[code])
    above_all = cells[parent] if parent else [_beginning(child, known) for child in cells[code]]
    for child, above in zip(cells[code], above_all, strict=True):
        if child is None:
            continue
        if child in parents:
            raise HierarchyError(f"Code list: the code {child!r} has two rows. Remove one.")
        parents[child] = None if above == child else above
    # A row for each code.
    names = dict(zip(cells[code], cells[name], strict=True)) if name else {}
    rows = hierarchy_rows(parents, names)
    with path.open("x", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return len(rows)
