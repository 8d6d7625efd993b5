"""The figures of a table, written out with dictionaries and fractions; imports nothing of ours.

A row is a dictionary. Every figure is that of one class; ``whole`` holds all classes. Where persons
are counted, a class is first reduced to the weights that the requirement is about.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

Row = dict[str, object]
Weights = dict[object, Fraction]  # by value


def classes_of(rows: list[Row], quasi: list[str]) -> list[list[Row]]:
    found: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append(row)
    return list(found.values())


def members(rows: list[Row], person: str | None) -> list[list[Row]]:
    """The rows of each member: one row, or all of a person; unnamed rows are members each."""
    if person is None:
        return [[row] for row in rows]
    named = classes_of([row for row in rows if row[person] is not None], [person])
    return [*named, *([row] for row in rows if row[person] is None)]


def having_each(rows: list[Row], name: str, person: str | None) -> list[list[Row]]:
    """For each value: all rows of the members who have it in some row."""
    return [
        [row for own in members(rows, person) if any(r[name] == value for r in own) for row in own]
        for value in {row[name] for row in rows}
    ]


def mass(rows: list[Row], name: str, person: str | None) -> Weights:
    """Every member weighs 1, spread over their rows."""
    found: Weights = defaultdict(Fraction)
    for own in members(rows, person):
        for row in own:
            found[row[name]] += Fraction(1, len(own))
    return found


def touched(rows: list[Row], name: str, person: str | None) -> Weights:
    """How many members have each value at all."""
    found: Weights = defaultdict(Fraction)
    for own in members(rows, person):
        for value in {row[name] for row in own}:
            found[value] += 1
    return found


def distinct(rows: list[Row], name: str, person: str | None) -> int:
    """The most values that different members can supply, one each, by Hall's theorem."""
    own = [{row[name] for row in member} for member in members(rows, person)]
    values = sorted({value for one in own for value in one}, key=str)
    lacking = 0
    for size in range(1, len(values) + 1):
        for some in combinations(values, size):
            reached = sum(bool(one & set(some)) for one in own)
            lacking = max(lacking, size - reached)
    return len(values) - lacking


def entropy(weights: Weights) -> float:
    total = sum(weights.values())
    shares = [float(weight / total) for weight in weights.values()]
    return math.exp(-math.fsum(share * math.log(share) for share in shares))


def recursive(weights: Weights, ell: int) -> float:
    ordered = sorted(weights.values(), reverse=True)
    tail = sum(ordered[ell - 1 :], Fraction(0))
    return float(ordered[0] / tail) if tail else math.inf


def shares_of(weights: Weights, whole: Weights) -> list[tuple[Fraction, Fraction]]:
    """(share in the table, share in the class) of every value of the table."""
    size, total = sum(weights.values()), sum(whole.values())
    return [(weight / total, weights.get(value, 0) / size) for value, weight in whole.items()]


def beta(weights: Weights, whole: Weights) -> float:
    return float(max((q - p) / p for p, q in shares_of(weights, whole)))


def delta(weights: Weights, whole: Weights) -> float:
    return max(abs(math.log(q / p)) if q else math.inf for p, q in shares_of(weights, whole))


def t_equal(weights: Weights, whole: Weights) -> float:
    return float(sum(abs(q - p) for p, q in shares_of(weights, whole)) / 2)


def t_ordered(weights: Weights, whole: Weights) -> float:
    """Over the values that occur in the table, in order, a missing one last."""
    values = sorted(whole, key=lambda value: (value is None, 0 if value is None else value))
    if len(values) == 1:
        return 0.0
    size, total = sum(weights.values()), sum(whole.values())
    moved = moving = Fraction(0)
    for value in values[:-1]:
        moving += weights.get(value, Fraction(0)) / size - whole[value] / total
        moved += abs(moving)
    return float(moved / (len(values) - 1))


def worst(
    rows: list[Row], quasi: list[str], figure: Callable[[list[Row]], float], pick: Callable
) -> float:
    return pick(figure(own) for own in classes_of(rows, quasi))


def failing_sizes(
    rows: list[Row],
    quasi: list[str],
    person: str | None,
    passes: Callable[[list[Row]], bool],
) -> dict[int, int]:
    """By size: how many classes fail."""
    broken = [own for own in classes_of(rows, quasi) if not passes(own)]
    return dict(sorted(Counter(len(members(own, person)) for own in broken).items()))
