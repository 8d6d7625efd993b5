"""Whether two tables about the same people have their rows in unrelated orders.

Were the orders related, rows at the same place would be of the same person more often than chance
has it, and so agree in what both tables say of people. For each column that both have, with some
labels in common, count the places at which the cells agree. If the orders are independent and at
least one is uniformly random, that count is Σ a(i, π(i)) for a random permutation π with a 0 or 1,
and Chatterjee's bound ("Stein's method for concentration inequalities", 2007, proposition 1.1)
holds whatever the columns are:

    P(|count − mean| ≥ x) ≤ 2 exp(−x² / (4·mean + 2x))

An order is called related where that is below 10⁻¹²: no sound release is ever refused, and orders
that agree are found as soon as a table has more than some dozens of rows that can be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log, sqrt

import numpy as np

from discreet.data.roles import Role
from discreet.data.table import CodedTable, Column
from discreet.releases.comparison import code_of_text

CHANCE = 1e-12  # of calling unrelated orders related
LOOKED_AT = 2**16  # places; the first rows of a random order are a random sample


def related_columns(first: CodedTable, second: CodedTable) -> list[str]:
    """The columns by which the rows of two tables agree more than unrelated orders would."""
    if first.rows != second.rows:
        return []
    shared = [column for column in first if column.name in second.columns]
    return [column.name for column in shared if _related(column, second[column.name])]


def same_order(first: str, second: str, columns: Sequence[str]) -> str:
    """What to say of two tables whose orders are related by some columns."""
    return (
        f"the rows of '{first}' stand in an order that tells of those of '{second}' "
        f"(by {', '.join(columns)}), so that rows can be joined"
    )


def source_order_problems(tables: Mapping[str, CodedTable], original: CodedTable) -> list[str]:
    """Tables whose rows stand as those of the original do, wherever both have as many."""
    problems = []
    for name, table in tables.items():
        columns = {c.name: c for c in table if c.role is not Role.STRUCTURE}
        related = related_columns(replace(table, columns=columns), original)
        if related:
            problems.append(same_order(name, "the original", related))
    return problems


def _related(first: Column, second: Column) -> bool:
    there = code_of_text(second.text, first.text)
    sought = there[first.codes[:LOOKED_AT]]
    agreeing = int((sought == second.codes[:LOOKED_AT]).sum())
    share = np.append(second.counts / max(len(second.codes), 1), 0.0)  # the last for code −1
    mean = float(share[sought].sum())
    return agreeing - mean > _deviation(mean)


def _deviation(mean: float) -> float:
    """The least x with 2 exp(−x² / (4·mean + 2x)) ≤ CHANCE."""
    reach = log(2 / CHANCE)
    return reach + sqrt(reach * reach + 4 * reach * mean)
