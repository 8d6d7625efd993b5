"""What a requirement says of groups of published rows, written out by its definition.

Nothing of discreet is imported here. ``None`` as the verdict of a requirement means that these
groups cannot tell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests import naive

Cell = str | Fraction
Rows = list[dict[str, Any]]
Tally = Counter[Cell]
SLACK = 1e-9


def entropy_l(tally: Tally) -> float:
    size = tally.total()
    return math.exp(-math.fsum(n / size * math.log(n / size) for n in tally.values()))


def recursive_c(tally: Tally, ell: int) -> Fraction | float:
    """The greatest count over the sum of the ℓ-th and smaller ones."""
    if ell == 1:
        return Fraction(0)
    counts = sorted(tally.values(), reverse=True)
    tail = sum(counts[ell - 1 :])
    return Fraction(counts[0], tail) if tail else math.inf


def equal_distance(tally: Tally, table: Tally) -> Fraction:
    return sum(abs(q - p) for p, q in shares(tally, table)) / 2


def ordered_distance(tally: Tally, table: Tally) -> Fraction:
    values = sorted(table, key=lambda cell: (cell == "", Fraction(cell) if cell != "" else 0))
    moved = total = Fraction(0)
    for value in values[:-1]:
        moved += Fraction(tally[value], tally.total()) - Fraction(table[value], table.total())
        total += abs(moved)
    return total / max(len(values) - 1, 1)


def shares(tally: Tally, table: Tally) -> list[tuple[Fraction, Fraction]]:
    """The share in the table and in the class of every value of the table."""
    size, whole = tally.total(), table.total()
    return [(Fraction(n, whole), Fraction(tally[v], size)) for v, n in table.items()]


def likeness(tally: Tally, table: Tally) -> Fraction:
    return max((q - p) / p for p, q in shares(tally, table))


def disclosure(tally: Tally, table: Tally) -> float:
    return max(abs(math.log(q / p)) if q else math.inf for p, q in shares(tally, table))


def greatest(tally: Tally) -> Fraction:
    return Fraction(max(tally.values()), tally.total())


def _exact(number: float) -> Fraction:
    return Fraction(str(number))


# For each requirement: the figure of a class (by its tally and the table's), which of two is worse,
# and whether a figure is good enough.
Figure = Callable[[Tally, Tally, dict[str, Any]], Any]
Judged = Callable[[Any, dict[str, Any]], bool]
DEFINITIONS: dict[str, tuple[Figure, Callable[..., Any], Judged]] = {
    "distinct-l-diversity": (lambda q, p, a: len(q), min, lambda f, a: f >= a["l"]),
    "entropy-l-diversity": (
        lambda q, p, a: entropy_l(q), min, lambda f, a: f >= a["l"] * (1 - SLACK)
    ),
    "recursive-cl-diversity": (
        lambda q, p, a: recursive_c(q, a["l"]), max, lambda f, a: f < _exact(a["c"]) or a["l"] == 1
    ),
    "pd-recursive-cl-diversity": (
        lambda q, p, a: recursive_c(q, a["l"]), max, lambda f, a: f < _exact(a["c"]) or a["l"] == 1
    ),
    "npd-recursive-cl-diversity": (
        lambda q, p, a: recursive_c(q, a["l"]), max, lambda f, a: f < _exact(a["c1"]) or a["l"] == 1
    ),
    "p-diversity": (lambda q, p, a: 1 / greatest(q), min, lambda f, a: f >= _exact(a["l"])),
    "m-diversity": (lambda q, p, a: 1 / greatest(q), min, lambda f, a: f >= _exact(a["l"])),
    "alpha-k-anonymity": (lambda q, p, a: greatest(q), max, lambda f, a: f <= _exact(a["alpha"])),
    "beta-likeness": (lambda q, p, a: likeness(q, p), max, lambda f, a: f <= _exact(a["beta"])),
    "delta-disclosure": (lambda q, p, a: disclosure(q, p), max, lambda f, a: f < a["delta"]),
    "sa-diversity": (lambda q, p, a: len(q), min, lambda f, a: True),
}  # fmt: skip


def figures_of(
    kind: str, asked: dict[str, Any], groups: list[Rows], names: list[str], ordered: set[str]
) -> tuple[dict[str, Any], bool]:
    """The worst figure of each attribute, and whether all of them are good enough."""
    if kind == "k-anonymity":
        least = naive.k_of(groups)
        return {"": least}, least >= asked["k"]
    figures, holds = {}, True
    for name in names:
        if kind == "multi-attribute-l-diversity":
            inner = asked.get("inner") or {"distinct-l-diversity": {"l": asked["l"]}}
            ((inner_kind, inner_asked),) = inner.items()
            others = [other for other in asked[".all"] if other != name]
            parts = [part for group in groups for part in naive.classes(group, others)]
            found, good = figures_of(inner_kind, inner_asked, parts, [name], ordered)
            figures |= found
            holds &= good
            continue
        table = Counter(row[name] for group in groups for row in group)
        tallies = [Counter(row[name] for row in group) for group in groups]
        if kind == "t-closeness":
            distance = ordered_distance if name in ordered else equal_distance
            figures[name] = max(distance(tally, table) for tally in tallies)
            holds &= figures[name] <= _exact(asked["t"]) + Fraction(1, 10**9)
            continue
        figure, worse, judged = DEFINITIONS[kind]
        figures[name] = worse(figure(tally, table, asked) for tally in tallies)
        holds &= judged(figures[name], asked)
        if kind == "sa-diversity":
            holds &= figures[name] >= asked["l"][name]
        if kind == "alpha-k-anonymity":
            holds &= naive.k_of(groups) >= asked["k"]
        if kind == "beta-likeness" and asked.get("enhanced"):
            holds &= all(
                (q - p) / p <= -math.log(p) + SLACK
                for tally in tallies
                for p, q in shares(tally, table)
            )
    return figures, holds
