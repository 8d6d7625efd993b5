"""Singling out: statements that hold for one person of the original, found in the table alone.

The attacker looks for predicates that hold for one published row and claims that they hold for one
person: a value that occurs once in a column, or the least or greatest number; and three cells of a
published row together, a number as at least or at most, whichever side of the median it is on.
The baseline claims the same of random predicates: random values with random comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.addons.tables.joint_tables import JointColumn, JointTables
from discreet.addons.tables.success import Rate, Success
from discreet.attacks.base import Criterion
from discreet.statements import Statement
from discreet.table.budgets import SAMPLE
from discreet.typing import Bools, Codes, Ints

TRIED = 4  # published rows that are tried for each predicate that is wanted
TOGETHER = (3, 6)  # cells of predicates about several columns

_HOLDS: dict[str, Callable[[Any, Any], Bools]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "<": np.less,
    ">": np.greater,
}


class CellTest(NamedTuple):
    """A column, a comparison and the code of a value."""

    column: int
    sign: str
    code: int


Predicate = tuple[CellTest, ...]


class Cells(NamedTuple):
    """The codes of one table by column, and which code is a missing value."""

    codes: Sequence[Codes]
    missing: Sequence[int]
    rows: int

    def take(self, rows: Ints) -> Cells:
        """Return some of the rows."""
        return Cells([column[rows] for column in self.codes], self.missing, len(rows))

    def isolates(self, predicate: Predicate) -> bool:
        """Return whether a predicate holds for exactly one row."""
        rows: Ints | None = None
        for column, sign, code in predicate:
            codes = self.codes[column] if rows is None else self.codes[column][rows]
            holds = _HOLDS[sign](codes, code)
            if sign in ("<=", ">=", "<", ">", "!=") and code != self.missing[column]:
                holds &= codes != self.missing[column]
            rows = np.flatnonzero(holds) if rows is None else rows[holds]
            if not len(rows):
                return False
        return rows is not None and len(rows) == 1


def cells_of(joint: JointTables, codes: Callable[[JointColumn], Codes], rows: int) -> Cells:
    """Return the cells of one of the joint tables."""
    missing = [column.cardinality - 1 for column in joint.columns]
    return Cells([codes(column) for column in joint.columns], missing, rows)


def single_out(joint: JointTables, rng: np.random.Generator) -> Iterator[Success]:
    """Attack by one column, and by several together."""
    published = cells_of(joint, lambda column: column.published, joint.rows)
    original = cells_of(joint, lambda column: column.original, joint.original_rows)
    control = None
    if joint.control_rows:
        control = cells_of(joint, _control, joint.control_rows)
    ways = [(1, _univariate(joint, published, rng))]
    ways += [
        (columns, _multivariate(joint, published, columns, rng))
        for columns in TOGETHER
        if columns <= len(joint.columns)
    ]
    for columns, claims in ways:
        if not claims:
            continue
        random = _random(joint, published, len(claims), columns, rng)
        beside = None if control is None else _of_equal_size(original, control, rng)
        yield Success(
            "singling-out",
            Criterion.SINGLING_OUT,
            Statement("aim.singled-out", columns=columns)
            if columns > 1
            else Statement("aim.singled-out.one"),
            Statement("knows.nothing-but-the-table"),
            _rate(original, claims),
            _rate(original, random),
            None if beside is None else _rate(beside[1], claims),
            None if beside is None else _rate(beside[0], claims),
            {"columns": columns},
        )


def _control(column: JointColumn) -> Codes:
    assert column.control is not None
    return column.control


def _rate(cells: Cells, claims: Sequence[Predicate]) -> Rate:
    return Rate(sum(map(cells.isolates, claims)), len(claims))


def _of_equal_size(
    original: Cells, control: Cells, rng: np.random.Generator
) -> tuple[Cells, Cells]:
    """Return as many rows of both: how many persons there are decides who is unique."""
    rows = min(original.rows, control.rows)
    return tuple(  # type: ignore[return-value]
        cells if cells.rows == rows else cells.take(rng.choice(cells.rows, rows, replace=False))
        for cells in (original, control)
    )


def _univariate(joint: JointTables, published: Cells, rng: np.random.Generator) -> list[Predicate]:
    """Values that occur once in a column, and ends of its numbers that one row has."""
    claims: list[Predicate] = []
    for number, column in enumerate(joint.columns):
        counts = np.bincount(column.published, minlength=column.cardinality)
        claims += [(CellTest(number, "==", int(code)),) for code in np.flatnonzero(counts == 1)]
        present = np.flatnonzero(counts[:-1])
        if column.numbers is not None and len(present):
            ends = CellTest(number, "<=", present[0]), CellTest(number, ">=", present[-1])
            claims += [(end,) for end in ends if published.isolates((end,))]
    chosen = rng.permutation(len(claims))[:SAMPLE]
    return [claims[place] for place in chosen.tolist()]


def _multivariate(
    joint: JointTables, published: Cells, together: int, rng: np.random.Generator
) -> list[Predicate]:
    """Some cells of a published row, as far as they hold for that row alone."""
    medians = [_median(column) for column in joint.columns]
    claims: dict[Predicate, None] = {}
    for _ in range(SAMPLE * TRIED):
        row = int(rng.integers(published.rows))
        chosen = np.sort(rng.choice(len(joint.columns), together, replace=False)).tolist()
        predicate = []
        for number in chosen:
            code, median = int(published.codes[number][row]), medians[number]
            sign = "==" if median is None else ">=" if code > median else "<="
            if code == published.missing[number]:
                sign = "=="
            predicate.append(CellTest(number, sign, code))
        # Comparisons that few rows pass come first, so that the others look at few.
        predicate.sort(key=lambda comparison: comparison.sign != "==")
        if tuple(predicate) not in claims and published.isolates(tuple(predicate)):
            claims[tuple(predicate)] = None
        if len(claims) == SAMPLE:
            break
    return list(claims)


def _median(column: JointColumn) -> float | None:
    """The code of the median published number; None of other columns."""
    if column.numbers is None:
        return None
    present = column.published[column.published < column.cardinality - 1]
    return float(np.median(present)) if len(present) else None


def _random(
    joint: JointTables, published: Cells, count: int, together: int, rng: np.random.Generator
) -> list[Predicate]:
    """Random values of random columns, with random comparisons."""
    values = [np.unique(codes) for codes in published.codes]
    claims = []
    for _ in range(count):
        chosen = np.sort(rng.choice(len(joint.columns), together, replace=False)).tolist()
        predicate = []
        for number in chosen:
            code = int(rng.choice(values[number]))
            ordered = joint.columns[number].numbers is not None
            signs = list(_HOLDS) if ordered and code != published.missing[number] else ["==", "!="]
            predicate.append(CellTest(number, str(rng.choice(signs)), code))
        claims.append(tuple(predicate))
    return claims
