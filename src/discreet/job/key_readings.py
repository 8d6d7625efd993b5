"""How a check reads keys that another tool suppressed, and what other readings would give.

*Value*: ``*`` and a missing cell are values like any other. *Suppressed apart*: a row whose
quasi-identifiers are all suppressed is in no class, and is counted by itself, as ARX counts it.
*Match*: a suppressed or missing key equals every value, as sdcMicro counts frequencies: a row is
in a class of its own with all rows that agree wherever both have a value. Such classes overlap,
so every model is judged on the rows that match, and compared with the whole table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from discreet.errors import InputError
from discreet.hierarchies.other_notations import one_spelling
from discreet.statements import Statement
from discreet.table.budgets import MOST_ENTRIES
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import entries_of, starts_of
from discreet.typing import Bools, Ints

Reading = Literal["value", "match"]
SUPPRESSED = ("*",)  # cells that may mean "suppressed", where none are named


@dataclass(frozen=True, eq=False)
class ReadKeys:
    """A table with its keys as they are to be read."""

    table: CodedTable  # whose classes are judged
    rows: int  # in some class
    suppressed: int  # rows that are counted apart
    remarks: tuple[str, ...]


def read_keys(table: CodedTable, suppressed: Collection[str], reading: Reading) -> ReadKeys:
    """Read the keys of a table; the remarks say what the other readings give.

    Rows that consist of ``suppressed`` cells are counted apart; nothing is where none are named.
    """
    quasi = table.quasi_identifiers
    remarks = tuple(_differences(table, suppressed, reading))
    apart = 0
    if suppressed:
        gone = _all(wildcards(quasi, suppressed, missing=False), table.entries)
        apart = int(gone.sum() if table.weights is None else table.weights[gone].sum())
        if apart == table.rows:
            raise InputError(
                "All rows are suppressed: every quasi-identifier of each is "
                f"{', '.join(suppressed)}. Nothing remains to be checked."
            )
        if apart:
            table = _some(table, np.flatnonzero(~gone))
    rows = table.rows
    if reading == "match":
        table = matching(table, suppressed or SUPPRESSED)
    return ReadKeys(table, rows, apart, remarks)


def wildcards(quasi: Collection[Column], cells: Collection[str], *, missing: bool) -> list[Bools]:
    """By quasi-identifier: (entries,) whether the cell is suppressed, or also missing."""
    marks = []
    for column in quasi:
        is_wild = column.text.is_in(list(cells)).fill_null(missing).to_numpy()
        marks.append(is_wild[column.codes])
    return marks


def _all(of_columns: Collection[Bools], entries: int) -> Bools:
    if not of_columns:
        return np.zeros(entries, bool)
    return np.asarray(np.logical_and.reduce(list(of_columns)))


def _some(table: CodedTable, rows: Ints) -> CodedTable:
    """Return some entries; what models compare with is the table of these entries."""
    columns = {column.name: column.take(rows) for column in table}
    weights = None if table.weights is None else table.weights[rows]
    count = len(rows) if weights is None else int(weights.sum())
    return replace(table, columns=columns, rows=count, weights=weights)


def matching(table: CodedTable, cells: Collection[str]) -> CodedTable:
    """Return the rows that match each distinct key, as one class for each key."""
    quasi = table.quasi_identifiers
    classes = classes_of(quasi, table.entries, table.weights)
    wild = [one[classes.first_row] for one in wildcards(quasi, cells, missing=True)]
    codes = [column.codes[classes.first_row] for column in quasi]
    pairs = list(_matching_classes(classes, quasi, codes, wild))
    of_class, matched = (np.concatenate(side) for side in zip(*pairs, strict=True))
    entries = np.bincount(classes.class_of_row, minlength=classes.count)
    if entries[matched].sum() > MOST_ENTRIES:
        raise InputError(
            "So many rows have suppressed keys that the rows matching each cannot be listed. "
            "Check without --missing match."
        )
    # The entries of each class, and for each pair of classes those of the matched one.
    order = np.argsort(classes.class_of_row, kind="stable")
    place, pair = entries_of(starts_of(entries), matched)
    entry, class_of_entry = order[place], of_class[pair]
    columns = {}
    for column in table:
        taken = column.take(entry)
        if column in quasi:
            taken = replace(taken, codes=column.codes[classes.first_row][class_of_entry])
        columns[column.name] = replace(taken, total=column.reference)
    weights = None if table.weights is None else table.weights[entry]
    count = len(entry) if weights is None else int(weights.sum())
    return CodedTable(columns, count, table.left_out, weights)


def _matching_classes(
    classes: Classes, quasi: list[Column], codes: list[np.typing.NDArray[np.int32]],
    wild: list[Bools],
) -> Iterator[tuple[Ints, Ints]]:  # fmt: skip
    """Pairs of classes that agree wherever both have a value, each pair both ways."""
    pattern = group_codes([one.astype(np.int32) for one in wild], [2] * len(wild), classes.count)
    members = [np.flatnonzero(pattern.class_of_row == p) for p in range(pattern.count)]
    is_wild = np.stack(wild)[:, pattern.first_row]  # (columns, patterns)
    for first in range(pattern.count):
        for second in range(pattern.count):
            shared = np.flatnonzero(~(is_wild[:, first] | is_wild[:, second]))
            ours, theirs = members[first], members[second]
            if not len(shared):
                yield np.repeat(ours, len(theirs)), np.tile(theirs, len(ours))
                continue
            both = np.concatenate([ours, theirs])
            keys = group_codes(
                [codes[n][both] for n in shared],
                [quasi[n].cardinality for n in shared],
                len(both),
            ).class_of_row
            key_of_ours, key_of_theirs = np.split(keys, [len(ours)])
            order = np.argsort(key_of_theirs, kind="stable")
            counts = np.bincount(key_of_theirs, minlength=int(keys.max()) + 1)
            place, pair = entries_of(starts_of(counts), key_of_ours)
            yield ours[pair], theirs[order[place]]


def _differences(table: CodedTable, suppressed: Collection[str], reading: Reading) -> Iterator[str]:
    """Say what the smallest class is under each reading, where they differ."""
    quasi = table.quasi_identifiers
    cells = suppressed or SUPPRESSED
    any_wild = [bool(one.any()) for one in wildcards(quasi, cells, missing=True)]
    if any(any_wild):
        gone = _all(wildcards(quasi, cells, missing=False), table.entries)
        apart = int(gone.sum() if table.weights is None else table.weights[gone].sum())
        rest = _some(table, np.flatnonzero(~gone)) if 0 < apart < table.rows else table
        try:
            smallest = int(matching(rest if suppressed else table, cells).classes.size.min())
        except InputError:  # too many rows match: this figure is left out
            smallest = None
        figures = {"values": int(table.classes.size.min())}
        if 0 < apart < table.rows:
            figures["apart"] = int(rest.classes.size.min())
        if smallest is not None:
            figures["match"] = smallest
        if len(set(figures.values())) > 1 or apart:
            form = ["check.readings", *(name for name in ("apart", "match") if name in figures)]
            further = {"rows": apart} if "apart" in figures else {}
            yield Statement(".".join(form), **figures, **further)
    alike = [_respelled(column) for column in quasi]
    if any(one is not column for one, column in zip(alike, quasi, strict=True)):
        count, merged = table.classes.count, classes_of(alike, table.entries, table.weights)
        if merged.count < count:
            yield Statement(
                "check.one-spelling", classes=count, merged=merged.count,
                values=int(table.classes.size.min()), smallest=int(merged.size.min()),
            )  # fmt: skip


def _respelled(column: Column) -> Column:
    """The column with ranges and sets in one spelling; itself where that changes no class."""
    texts = column.text.to_list()
    spelled = [None if text is None else one_spelling(text) for text in texts]
    number = {text: code for code, text in enumerate(dict.fromkeys(spelled))}
    if len(number) == len(texts):
        return column
    code = np.array([number[text] for text in spelled], np.int32)
    return replace(column, codes=code[column.codes])
