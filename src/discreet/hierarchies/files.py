"""Hierarchy files, ours and ARX's: a row for each value, ``leaf, level 1, …, top``, no header.

Cells are separated by ``,``, ``;`` or tabs and may be in double quotes; UTF-8, with or without
a byte-order mark. A file may list leaves that the table lacks. The missing value needs no row, but
a row with an empty leaf says where it goes (an empty cell there: still missing). A value of an
integer or number column finds its row by its text, else by its number (``building.match_leaves``).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.errors import HierarchyError, InputError
from discreet.hierarchies.building import (
    NAMED_AT_MOST,
    LevelGrouping,
    assemble,
    match_leaves,
    missing_problem,
    named,
    present,
)
from discreet.hierarchies.cells import Range, ValueSet, parse_cell, range_cell, set_cell
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.regular_files import read_whole
from discreet.table.coded_table import Column

DELIMITERS = (",", ";", "\t")
_SNIFFED_ROWS = 200


@dataclass(frozen=True)
class _Row:
    line: int
    cells: tuple[str, ...]


def read_hierarchy_file(
    column: Column, path: Path, delimiter: str | None = None, *, place: str | None = None
) -> Hierarchy:
    """Read a file for a column; one HierarchyError names all its problems.

    ``place`` is the file's name in messages, as the job wrote it; else its own name.
    """
    # Read the rows: leaf, level 1, …, top.
    place = place or path.name
    where = f"Hierarchy of '{column.name}' ({place})"
    text = _text(where, path)
    try:
        rows = _rows(text, delimiter or _sniff(text, column))
    except csv.Error:
        raise HierarchyError(f"{where}: not a valid CSV file. Check its quotes.") from None
    if not rows:
        raise HierarchyError(f"{where}: the file is empty. Add a row per value.")
    # A file that was cut by a wrong delimiter has rows of one cell.
    width = max(len(row.cells) for row in rows)
    if width < 2:
        raise HierarchyError(
            f"{where}: line {rows[0].line} has one cell only. A row is a leaf, "
            "level 1, …, top, separated by a comma, a semicolon or a tab; or name its `delimiter`."
        )
    # Match the values of the column with leaves, and collect all problems.
    even = [row for row in rows if len(row.cells) == len(rows[0].cells)]
    null_row, leaf_rows, doubled = _distinct_leaves(column, even)
    row_of_value = match_leaves(column, [row.cells[0] for row in leaf_rows])
    missing = missing_problem(column, row_of_value, "row")
    problems = [
        *_ragged(rows),
        *doubled,
        *_empty_labels(leaf_rows),
        *_badly_nested(column, even),
        *([missing] if missing else []),
    ]
    if problems:
        listed = problems[0] if len(problems) == 1 else "".join(f"\n  - {p}" for p in problems)
        raise HierarchyError(
            f"{where}: {listed}{'.' if len(problems) == 1 else ''}"
            f"{chr(10) if len(problems) > 1 else ' '}Correct the file, or use another hierarchy."
        )
    return _hierarchy(column, place, leaf_rows, null_row, row_of_value)


def hierarchy_from_rows(
    column: Column, rows: Sequence[Sequence[str | None]], place: str
) -> Hierarchy:
    """The hierarchy that the rows of a manifest describe, for a published column."""
    lines = [_Row(0, tuple(cell or "" for cell in row)) for row in rows]
    null_row, leaf_rows, doubled = _distinct_leaves(column, lines)
    row_of_value = match_leaves(column, [row.cells[0] for row in leaf_rows])
    if doubled or (row_of_value < 0).any():
        raise HierarchyError(
            f"Hierarchy of '{column.name}' ({place}): it does not fit the published values."
        )
    return _hierarchy(column, place, leaf_rows, null_row, row_of_value)


def _hierarchy(
    column: Column,
    place: str,
    leaf_rows: Sequence[_Row],
    null_row: _Row | None,
    row_of_value: np.typing.NDArray[np.int64],
) -> Hierarchy:
    absent = np.setdiff1d(np.arange(len(leaf_rows)), row_of_value)
    row_of_leaf = np.concatenate((row_of_value, absent))
    # The missing value is one of the column's own leaves, or one that the table lacks.
    null_absent = null_row is not None and not column.has_null
    width = len(leaf_rows[0].cells) if leaf_rows else len(null_row.cells) if null_row else 1
    groupings = []
    for level in range(1, width):
        node_of_label: dict[str | None, int] = {}
        number = [
            node_of_label.setdefault(row.cells[level], len(node_of_label)) for row in leaf_rows
        ]
        node_of_leaf = np.array(number, np.int64)[row_of_leaf]
        null_node = None
        if null_row is not None:
            label = null_row.cells[level] or None
            null_node = node_of_label.setdefault(label, len(node_of_label))
            if null_absent:
                node_of_leaf = np.append(node_of_leaf, null_node)
        groupings.append(LevelGrouping(node_of_leaf, list(node_of_label), null_node=null_node))
    return assemble(
        column,
        groupings,
        place,
        further_leaves=len(absent) + int(null_absent),
        one_root=len(leaf_rows) > 1,
    )


def rows_of_hierarchy(hierarchy: Hierarchy, column: Column) -> list[list[str | None]]:
    """A row for every value of the column; leaves that the table lacks are not known here."""
    above = [
        [level.labels[node] for node in level.node_of_leaf.tolist()]
        for level in hierarchy.levels[1:]
    ]
    return [list(row) for row in zip(column.text.to_list(), *above, strict=True)]


def rows_of_published(
    rows: Sequence[Sequence[str | None]], shown: Collection[str | None], *, ordered: bool
) -> list[list[str | None]]:
    """Return the rows of published leaves, with labels that name no other value.

    A set or a closed range as the label of a node lists values of the source; it is written anew
    from the published leaves below the node.
    """
    published = [list(row) for row in rows if row[0] in shown]
    for level in range(1, len(published[0]) if published else 0):
        leaves: dict[str | None, list[str | None]] = {}
        for row in published:
            leaves.setdefault(row[level], []).append(row[0])
        for row in published:
            row[level] = _label_of(row[level], leaves[row[level]], ordered)
    return published


def _label_of(label: str | None, leaves: Sequence[str | None], ordered: bool) -> str | None:
    cell = label if label is None else parse_cell(label)
    if not isinstance(cell, ValueSet) and not (isinstance(cell, Range) and cell.closed):
        return label
    if len(leaves) == 1:
        return leaves[0]
    if ordered and None not in leaves:
        return range_cell(str(leaves[0]), str(leaves[-1]), closed=True)
    return set_cell(leaves)


def _text(where: str, path: Path) -> str:
    data = b""
    try:
        data = read_whole(path)
        return data.decode("utf-8-sig")
    except InputError as error:
        raise HierarchyError(f"{where}: {error}") from None
    except FileNotFoundError as error:
        raise HierarchyError(
            f"{where}: there is no file {path}. Correct the path; it is relative to the job file."
        ) from error
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise HierarchyError(
            f"{where}: line {line} is not UTF-8. Save the file as UTF-8."
        ) from error
    except OSError as error:
        raise HierarchyError(
            f"{where}: cannot read {path} ({error.strerror}). Check the path."
        ) from error


def _rows(text: str, delimiter: str, limit: int | None = None) -> list[_Row]:
    """The rows that are not blank, without a last column that is empty throughout."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[_Row] = []
    before = 0
    for cells in reader:
        if cells:
            rows.append(_Row(before + 1, tuple(cells)))
        before = reader.line_num
        if limit is not None and len(rows) == limit:
            break
    has_leaves = any(row.cells[0] for row in rows)  # a row for the missing value is all empty
    while has_leaves and all(len(row.cells) > 2 and not row.cells[-1] for row in rows):
        rows = [_Row(row.line, row.cells[:-1]) for row in rows]
    return rows


def _sniff(text: str, column: Column) -> str:
    """The delimiter under which most leaves are values, then rows are even, then longest."""
    values = set(column.text.head(present(column)).to_list())

    def score(delimiter: str) -> tuple[int, int, int]:
        try:
            rows = _rows(text, delimiter, _SNIFFED_ROWS)
        except csv.Error:
            return (0, 0, 2)  # likelier than a delimiter that occurs nowhere
        width = len(rows[0].cells) if rows else 0
        if width < 2:
            return (0, 0, width)
        known = sum(row.cells[0] in values for row in rows)
        return (known, sum(len(row.cells) == width for row in rows), width)

    return max(DELIMITERS, key=score)


def _ragged(rows: Sequence[_Row]) -> list[str]:
    width = len(rows[0].cells)
    odd = [row for row in rows if len(row.cells) != width]
    if not odd:
        return []
    listed = ", ".join(f"line {row.line} has {len(row.cells)}" for row in odd[:NAMED_AT_MOST])
    rest = f", and {len(odd) - NAMED_AT_MOST} more" if len(odd) > NAMED_AT_MOST else ""
    return [f"rows of different length: line {rows[0].line} has {width} cells, {listed}{rest}"]


def _distinct_leaves(
    column: Column, rows: Sequence[_Row]
) -> tuple[_Row | None, list[_Row], list[str]]:
    """The missing value's row, a row for each other leaf, and the leaves with two histories."""
    first: dict[str, _Row] = {}
    problems = []
    for row in rows:
        known = first.setdefault(row.cells[0], row)
        if known.cells != row.cells:
            name = named(column, [row.cells[0] or "(empty)"])
            problems.append(
                f"a leaf has two rows with different ancestors, lines {known.line} and "
                f"{row.line}{name}"
            )
    # An empty leaf is the missing value, unless the table has empty text that is not missing.
    has_empty_text = bool((column.text == "").any())
    null_row = None if has_empty_text else first.pop("", None)
    return null_row, list(first.values()), _shortened(problems)


def _empty_labels(rows: Sequence[_Row]) -> list[str]:
    problems = [
        f"line {row.line} has an empty label at level {row.cells.index('', 1)}"
        for row in rows
        if "" in row.cells[1:]
    ]
    return _shortened(problems)


def _badly_nested(column: Column, rows: Sequence[_Row]) -> list[str]:
    """Labels with one parent in one row and another parent in a second."""
    parent: dict[tuple[int, str], tuple[str, int]] = {}
    problems: dict[tuple[int, str], str] = {}
    for row in rows:
        for level in range(1, len(row.cells) - 1):
            key = (level, row.cells[level])
            above = row.cells[level + 1]
            known, line = parent.setdefault(key, (above, row.line))
            if known != above and key not in problems:
                what, both = "a label", "two labels"
                if named(column, [""]):
                    what, both = f"'{key[1]}'", f"'{known}' and under '{above}'"
                problems[key] = (
                    f"{what} at level {level} is under {both} at level {level + 1} "
                    f"(lines {line} and {row.line})"
                )
    return _shortened(list(problems.values()))


def _shortened(problems: list[str]) -> list[str]:
    if len(problems) <= NAMED_AT_MOST:
        return problems
    return [*problems[:NAMED_AT_MOST], f"{len(problems) - NAMED_AT_MOST} more of this kind"]
