"""Remove items from sets until every combination of at most m of them has k rows.

An item is removed from all rows, so that the counts of other combinations stay as they are, and an
attacker who knows removed items knows fewer of those that count. What must go is a hitting set of
the rare combinations: the item in most of them for each row that has it goes first; at the end
items come back that no rare combination needs any more, the most frequent first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.table import Terms, terms_of
from discreet.methods.base import RowColumn
from discreet.requirements.attackers.km_anonymity import KmAnonymity
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import entries_of
from discreet.typing import Bools, Codes, Ints


def without_rare_items(
    column: Column, requirements: Sequence[KmAnonymity]
) -> tuple[RowColumn | None, int]:
    """The sets without the items that must go, None if none must; and how many went."""
    terms = terms_of(column)
    support = terms.counts(column.counts)
    kept = support > 0
    for one in requirements:
        kept &= _kept(terms, column.counts, support, kept, one)
    gone = int((~kept & (support > 0)).sum())
    return (_cells(column, terms, kept) if gone else None), gone


def _kept(terms: Terms, rows: Ints, support: Ints, given: Bools, requirement: KmAnonymity) -> Bools:
    """(terms,) Which of some items can be kept."""
    frequent = given & (support >= requirement.k)
    rare = [
        found
        for size in range(2, requirement.m + 1)
        for found in [_rare_combinations(terms, rows, frequent, size, requirement.k)]
        if len(found)
    ]
    kept, removed = frequent.copy(), []
    left = rare
    while left := [some for some in (_inside(one, kept) for one in left) if len(some)]:
        times = sum(np.bincount(one.ravel(), minlength=len(kept)) for one in left)
        worst = int(np.argmax(times / np.maximum(support, 1)))
        kept[worst] = False
        removed.append(worst)
    for item in sorted(removed, key=lambda one: -support[one]):
        kept[item] = True
        if any(len(_inside(one[(one == item).any(axis=1)], kept)) for one in rare):
            kept[item] = False
    return kept


def _inside(combination: Codes, kept: Bools) -> Codes:
    """The combinations of which all items are kept."""
    return combination[kept[combination].all(axis=1)]


def _rare_combinations(terms: Terms, rows: Ints, kept: Bools, size: int, k: int) -> Codes:
    """(combinations, size) The items that fewer than k rows, and some, have together."""
    used = np.flatnonzero(rows)
    entry, place = entries_of(terms.start, used)
    entry, place = entry[kept[terms.term[entry]]], place[kept[terms.term[entry]]]
    length = np.bincount(place, minlength=len(used))
    begin = np.cumsum(length) - length
    found, weight = [], []
    for many in np.unique(length[length >= size]).tolist():
        own = np.flatnonzero(length == many)
        items = np.sort(terms.term[entry[begin[own][:, None] + np.arange(many)]], axis=1)
        for chosen in combinations(range(many), size):
            found.append(items[:, list(chosen)])
            weight.append(rows[used[own]])
    if not found:
        return np.zeros((0, size), np.int32)
    every = np.concatenate(found)
    columns = [np.ascontiguousarray(every[:, number]) for number in range(size)]
    groups = group_codes(columns, [len(kept)] * size, len(every), np.concatenate(weight))
    return every[groups.first_row[groups.size < k]]


def _cells(column: Column, terms: Terms, kept: Bools) -> RowColumn:
    """The published sets; ``*`` where all items of a set were removed."""
    names = set(terms.names.filter(pl.Series(kept)).to_list())
    cells = [
        None if text is None else _cell(text, column.separator, names)
        for text in column.text.to_list()
    ]
    distinct = list(dict.fromkeys(cells))
    number = {cell: code for code, cell in enumerate(distinct)}
    code = np.array([number[cell] for cell in cells], np.int32)
    return RowColumn(code[column.codes], pl.Series(column.name, distinct, dtype=pl.String))


def _cell(text: str, separator: str | None, names: set[str]) -> str:
    items = [text] if separator is None else text.split(separator)
    return (separator or "").join(item for item in items if item in names) or SUPPRESSED
