"""Beliefs derived from a knowledge table in the plainest Python: sets and fractions.

Nothing of discreet is imported here, so that a test which compares with it can fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

Table = dict[str, frozenset[str]]
Prior = dict[str, Fraction]
Belief = dict[str, Fraction]


def labels_of(table: Table, terms: Iterable[str]) -> set[str]:
    """K: the labels whose set holds every term."""
    return {label for label, known in table.items() if set(terms) <= known}


def estimated(table: Table, rows: Sequence[Iterable[str]]) -> Prior:
    """The prior: the mean over linked rows; equal where none is linked."""
    linked = [found for found in (labels_of(table, row) for row in rows) if found]
    if not linked:
        return {label: Fraction(1, len(table)) for label in table}
    return {
        label: sum((Fraction(1, len(found)) for found in linked if label in found), Fraction())
        / len(linked)
        for label in table
    }


def belief(table: Table, rows: Sequence[Iterable[str]], prior: Prior | None) -> Belief | None:
    """β of a group; None where no row is linked. With a prior, labels are weighed by it."""
    linked = [found for found in (labels_of(table, row) for row in rows) if found]
    if not linked:
        return None
    weight = prior or {label: Fraction(1) for label in table}
    return {
        label: sum(
            (weight[label] / sum(weight[o] for o in found) for found in linked if label in found),
            Fraction(),
        )
        / len(linked)
        for label in table
    }


def diverse(found: Belief | None, c: Fraction, ell: int) -> bool:
    if found is None:
        return True
    ordered = sorted(found.values(), reverse=True)
    return ordered[0] <= c * sum(ordered[ell - 1 :])


def close(found: Belief | None, prior: Prior, t: Fraction, distance: str) -> bool:
    if found is None:
        return True
    off = [found[label] - prior[label] for label in prior]
    if distance == "l2":
        return sum(o * o for o in off) <= t * t
    return sum(abs(o) for o in off) <= 2 * t


def harmonic(terms: int) -> Fraction:
    return sum((Fraction(1, i) for i in range(1, terms + 1)), Fraction())


def cost(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> Fraction:
    """The inverse weighted cost of what was removed from the linked rows of a group."""
    full = sum((harmonic(len(row)) for row in before), Fraction())
    left = sum((harmonic(len(row)) for row in after), Fraction())
    return (full - left) / full if full else Fraction()


def removals(rows: Sequence[Sequence[str]]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Every way to remove terms from the rows of a group."""
    subsets = [
        [kept for size in range(len(row), -1, -1) for kept in combinations(row, size)]
        for row in rows
    ]
    return product(*subsets)
