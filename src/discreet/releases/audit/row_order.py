"""Check that two tables about the same people have their rows in unrelated orders.

If the orders were related, rows at the same place would belong to the same person more often than
by chance, and so agree in the cells of that person. For each column that both tables
have, with some labels in common, count the places at which the cells agree.

No sound release is refused, whatever the columns hold and however the other table is sorted:

1. Let n be the number of rows, f(i) the cell at place i of one table, s(j) that of the other, and
   a(i, j) = 1 if f(i) = s(j), else 0. Of a sound release at least one of the two orders is
   uniformly random and independent of the other. Given the other order, sorted or not, and given
   the rows of the shuffled table, the count is Σ a(i, π(i)) for a uniformly random permutation π
   of all n places.
2. Its mean is Σ_i Σ_j a(i, j) / n = Σ over labels of (cells of one) · (cells of the other) / n.
   Both counts must be those of the places that are compared: the first places of a sorted file are
   no sample of it. All places are compared here. The Spark engine compares the first places of two
   shuffled tables by the counts of these places: given which rows are there, their order is again
   uniformly random, so that n is the number of these places and the same holds.
3. With a in [0, 1], Chatterjee ("Stein's method for concentration inequalities", 2007,
   proposition 1.1) bounds P(|count − mean| ≥ x) ≤ 2 exp(−x² / (4·mean + 2x)).

Orders are called related where that is below 10⁻¹². Orders that agree are found as soon as a table
has more than some dozens of rows that can be told apart; orders that agree in part, as soon as the
agreeing rows are some √(113·mean) more than chance explains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log, sqrt

import numpy as np

from discreet.table.code_maps import code_of_text, taken
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role

CHANCE = 1e-12  # of calling unrelated orders related


def related_columns(first: CodedTable, second: CodedTable) -> list[str]:
    """The columns by which the rows of two tables agree more than unrelated orders would."""
    if first.rows != second.rows:
        return []
    shared = [column for column in first if column.name in second.columns]
    return [column.name for column in shared if _related(column, second[column.name])]


def same_order(first: str, second: str, columns: Sequence[str]) -> str:
    """Return the problem of two tables whose orders are related by some columns."""
    return (
        f"the row order of '{first}' is related to that of '{second}' (by "
        f"{', '.join(columns)}), so rows can be joined"
    )


def source_order_problems(tables: Mapping[str, CodedTable], original: CodedTable) -> list[str]:
    """Return tables whose rows are in the order of the original, where both have as many."""
    problems = []
    for name, table in tables.items():
        columns = {c.name: c for c in table if c.role is not Role.STRUCTURE}
        related = related_columns(replace(table, columns=columns), original)
        if related:
            problems.append(same_order(name, "the original", related))
    return problems


def _related(first: Column, second: Column) -> bool:
    code = code_of_text(second.text, first.text)
    agreeing = int(np.count_nonzero(taken(code.astype(np.int32), first.codes) == second.codes))
    shared = np.flatnonzero(code >= 0)
    pairs = float(first.counts[shared].astype(np.float64) @ second.counts[code[shared]])
    mean = pairs / max(len(first.codes), 1)
    return beyond_chance(agreeing, mean)


def beyond_chance(agreeing: int, mean: float) -> bool:
    """Return whether more places agree than unrelated orders explain."""
    return agreeing - mean > _deviation(mean)


def _deviation(mean: float) -> float:
    """The least x with 2 exp(−x² / (4·mean + 2x)) ≤ CHANCE."""
    reach = log(2 / CHANCE)
    return reach + sqrt(reach * reach + 4 * reach * mean)
