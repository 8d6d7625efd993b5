"""Check that two tables about the same people have their rows in unrelated orders.

If the orders were related, rows at the same place, or in the same sequence, would belong to the
same person more often than by chance, and so agree in the cells of that person. Two tests compare
the first table's rows with those of the second: by each column that both have, and by all of them
together (``PLACES`` rows; a row of a few common values is rare by all its values). The first counts
the places at which rows agree; the second also measures the longest sequence of rows that agree in
the same order, which shifted or suppressed rows do not break.

No sound release is refused, whatever the columns hold and however the other table is sorted:

1. Let n be the number of rows, and d(i) the rows of the second table that agree with row i of the
   first. Of a sound release at least one of the two orders is uniformly random and independent of
   the other, so that row i is at the place π(i) of a uniformly random permutation π.
2. The rows of a set S all agree with those at their places with a chance of at most the product of
   β(i) = (d(i)!)^(1/d(i)) / (n!)^(1/n) over S: the permutations that do so, times (n − |S|)!, are
   the permanent of a matrix with row sums d(i) in S and n elsewhere, which Brègman ("Some
   properties of nonnegative matrices and their permanents", 1973) bounds.
3. Let X be the number of rows that agree. The mean of C(X, j) is a sum of such chances over all
   sets of j rows, so that the mean of (1 + t)^X is at most Π (1 + t·β(i)), and
   P(X ≥ m) ≤ min over t of Π (1 + t·β(i)) / (1 + t)^m (Markov). For m = n this is Π β(i), which is
   exact where the agreeing rows form groups: 1/n! for rows that all differ.
4. A sequence of m rows that agree with m of N rows of the other table in the same order has a
   chance of at most C(n, m) times the sum of Π β over all sets of m of the N rows, which is at most
   min over t of Π (1 + t·β(j)) / t^m; β(j) counts the rows of the first table that agree with j.

The order of the original is compared as it is, reversed, and sorted by each published column, up
and down (rows with equal cells in their order): each is a fixed order, so the bounds hold.

Orders are called related where a bound is below 10⁻¹². So the power follows from the rows alone
(``chance_of_same_order``): an order that was kept is found where a random one would agree
throughout with a chance below 10⁻¹², from 15 rows on if all differ. Else the audit says that the
order could not be tested. The Spark engine compares the first places of two shuffled tables by the
counts of these places: given which rows are there, their order is again uniformly random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb, exp, lgamma, log

import numpy as np

from discreet.errors import InputError
from discreet.methods.base import Task
from discreet.releases.audit.matching import coverage_of
from discreet.releases.kinds.base import tables_of_rows
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.statements import Statement
from discreet.table.code_maps import code_of_text, taken
from discreet.table.coded_table import CodedTable, Column, Tables
from discreet.table.roles import Role
from discreet.typing import Bools, Floats, Ints

CHANCE = 1e-12  # of calling unrelated orders related
PLACES = 1 << 10  # first places of a table whose rows are compared by all columns together
SORTED_PLACES = 1 << 8  # the same, where the other table is sorted by one of its columns


def related_columns(first: CodedTable, second: CodedTable) -> list[str]:
    """The columns by which the rows of two tables agree more than unrelated orders would."""
    if first.rows != second.rows:
        return []
    shared = [column for column in first if column.name in second.columns]
    alone = [column.name for column in shared if _related(column, second[column.name])]
    if alone:
        return alone
    alike = [c for c in shared if (code_of_text(second[c.name].text, c.text) >= 0).any()]
    rows = np.arange(min(first.rows, PLACES))
    agreeing = np.ones((len(rows), len(rows)), bool)
    for column in alike:
        other = second[column.name]
        code = code_of_text(other.text, column.text)[column.codes[rows]]
        agreeing &= code[:, None] == other.codes[rows]
    return [c.name for c in alike] if len(alike) > 1 and are_related(agreeing) else []


def same_order(first: str, second: str, columns: Sequence[str]) -> str:
    """Return the problem of two tables whose orders are related by some columns."""
    return (
        f"the row order of '{first}' is related to that of '{second}' (by "
        f"{', '.join(columns)}), so rows can be joined"
    )


def source_order_problems(
    tables: Tables, original: Task, manifest: Manifest
) -> tuple[list[str], list[str]]:
    """Return tables whose rows are in the order of the original, and remarks on untested ones."""
    problems, remarks = [], []
    of_rows = tables_of_rows(kind_of(manifest.kind), manifest)
    for name, table in tables.items():
        columns = {c.name: c for c in table if c.role is not Role.STRUCTURE}
        bare = replace(table, columns=columns)
        # By the cells that are published as they are.
        related = related_columns(bare, original.table)
        if related or not (name in of_rows or table.rows == original.table.rows):
            problems += [same_order(name, "the original", related)] if related else []
            continue
        # By the values that cells cover, in the order of the original and in others.
        levels = manifest.method.levels_of(name) or {}
        agreeing = covered_rows(bare, original, levels)
        if agreeing is None:
            continue
        if are_related(agreeing):
            problems.append(same_order(name, "the original", list(columns)))
        elif (sorted_problem := _sorted_order(name, bare, original, levels)) is not None:
            problems.append(sorted_problem)
        elif (chance := chance_of_same_order(agreeing)) > CHANCE and table.rows > 1:
            remarks.append(
                f"The order of '{name}' could not be tested: its {table.rows} rows are so few, or "
                "so much alike, that a random order agrees with that of the original throughout "
                f"with a chance of {chance:.2g}; a kept order is found where it is below "
                f"{CHANCE:g}."
            )
    return problems, remarks


def _sorted_order(
    name: str, published: CodedTable, original: Task, levels: Mapping[str, int]
) -> Statement | None:
    """Return the problem of a table in the original's order reversed, or sorted by a column."""
    reverse = np.arange(original.table.rows)[::-1]
    agreeing = covered_rows(published, original, levels, reverse)
    if agreeing is not None and are_related(agreeing):
        return Statement("order.reversed", table=[name])
    for column in published:
        codes = original.table[column.name].codes
        for order in (np.argsort(codes, kind="stable"), np.argsort(-codes, kind="stable")):
            agreeing = covered_rows(published, original, levels, order, SORTED_PLACES)
            if agreeing is not None and are_related(agreeing):
                return Statement("order.sorted", table=[name], column=[column.name])
    return None


def covered_rows(
    published: CodedTable,
    original: Task,
    levels: Mapping[str, int],
    order: Ints | None = None,
    places: int = PLACES,
) -> Bools | None:
    """(places, source places) Whether the cells of a row cover those of a source row.

    Of the first rows, and of the source rows that they may be, these in an order; None where cells
    cannot be read, which is a problem of its own. Sets may have lost terms and are not compared.
    """
    # The first rows, and the source rows that may be behind them.
    suppressed = max(original.table.rows - published.rows, 0)
    rows = np.arange(min(published.rows, places))
    sources = np.arange(original.table.rows) if order is None else order
    sources = sources[: len(rows) + min(suppressed, places)]
    agreeing = np.ones((len(rows), len(sources)), bool)
    for column in published:
        if column.role is Role.QUASI_SENSITIVE:
            continue
        try:
            coverage = coverage_of(column, original, levels)
        except InputError:
            return None
        # Compare each distinct cell with each distinct value.
        cells, cell = np.unique(column.codes[rows], return_inverse=True)
        values, value = np.unique(original.table[column.name].codes[sources], return_inverse=True)
        covered = coverage.covers(np.repeat(cells, len(values)), np.tile(values, len(cells)))
        agreeing &= covered.reshape(len(cells), len(values))[cell][:, value]
    return agreeing


def chance_of_same_order(agreeing: Bools) -> float:
    """Return how often at most a random order agrees throughout with that of the other table."""
    fitting = np.maximum(agreeing.sum(axis=1), 1)
    return exp(min(float(_log_share(fitting, len(agreeing)).sum()), 0.0))


def beyond_chance(agreeing: int, fitting: Ints, rows: Ints | None = None) -> bool:
    """Return whether more places agree than unrelated orders explain.

    ``fitting`` has the numbers of rows of the other table that a row agrees with, and ``rows`` how
    many rows have each number.
    """
    rows = np.ones(len(fitting), np.int64) if rows is None else rows
    share = _log_share(fitting[fitting > 0], int(rows.sum()))
    with np.errstate(divide="ignore"):
        rest = np.log1p(-np.minimum(np.exp(share), 1.0))
    return _least(rest, share, rows[fitting > 0], agreeing) < log(CHANCE)


def _related(first: Column, second: Column) -> bool:
    code = code_of_text(second.text, first.text)
    agreeing = int(np.count_nonzero(taken(code.astype(np.int32), first.codes) == second.codes))
    fitting = np.where(code >= 0, second.counts[np.maximum(code, 0)], 0)
    return beyond_chance(agreeing, fitting, first.counts)


def are_related(agreeing: Bools) -> bool:
    """Return whether rows agree at their places, or in their sequence, more than by chance."""
    if not agreeing.size:
        return False
    at_places = int(np.count_nonzero(agreeing.diagonal()))
    square = agreeing[:, : len(agreeing)]
    if square.shape[0] == square.shape[1] and beyond_chance(at_places, square.sum(axis=1)):
        return True
    rows, length = len(agreeing), _longest_sequence(agreeing)
    fitting = agreeing.sum(axis=0)
    share = _log_share(fitting[fitting > 0], rows)
    places = log(comb(rows, length))
    bound = _least(np.zeros(len(share)), share, np.ones(len(share)), length)
    return bool(places + bound < log(CHANCE))


def _longest_sequence(agreeing: Bools) -> int:
    """Return the length of the longest sequence of rows that agree in the same order.

    A common subsequence by whole words of bits (Crochemore and others, 2001).
    """
    every = (1 << agreeing.shape[1]) - 1
    state = every
    for packed in np.packbits(agreeing, axis=1, bitorder="little"):
        matching = state & int.from_bytes(packed.tobytes(), "little")
        state = ((state + matching) | (state - matching)) & every
    return int(agreeing.shape[1]) - int(state.bit_count())


def _log_share(fitting: Ints, rows: int) -> Floats:
    """The logarithm of β for rows that agree with so many of ``rows`` rows."""
    distinct, code = np.unique(fitting, return_inverse=True)
    mean = np.array([lgamma(count + 1) / count for count in distinct.tolist()])
    return np.asarray(mean[code] - lgamma(rows + 1) / max(rows, 1))


def _least(rest: Floats, share: Floats, rows: Ints | Floats, count: int) -> float:
    """Return the least Σ rows·log(e^rest + e^(share + s)) − count·s over s ≥ 0, which is convex."""

    def slope(s: float) -> float:
        return float(rows @ np.exp(share + s - np.logaddexp(rest, share + s))) - count

    low, high = 0.0, 1024.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return float(rows @ np.logaddexp(rest, share + low)) - count * low
