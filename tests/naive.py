"""Promises derived from a published CSV in the plainest Python: dictionaries and fractions.

Nothing of discreet is imported here, so that a test which compares with it can fail.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

Row = dict[str, str]


def read_csv(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def classes(rows: list[Row], quasi_identifiers: list[str]) -> list[list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in quasi_identifiers)].append(row)
    return list(groups.values())


def k_of(groups: list[list[Row]]) -> int:
    return min(len(group) for group in groups)


def distinct_of(groups: list[list[Row]], attribute: str) -> int:
    return min(len({row[attribute] for row in group}) for group in groups)


def entropy_l_of(groups: list[list[Row]], attribute: str) -> float:
    worst = math.inf
    for group in groups:
        counts = Counter(row[attribute] for row in group).values()
        entropy = -sum(c / len(group) * math.log(c / len(group)) for c in counts)
        worst = min(worst, math.exp(entropy))
    return worst


def recursive_holds(groups: list[list[Row]], attribute: str, c: Fraction, ell: int) -> bool:
    if ell == 1:
        return True
    for group in groups:
        counts = sorted(Counter(row[attribute] for row in group).values(), reverse=True)
        if not counts[0] < c * sum(counts[ell - 1 :]):
            return False
    return True


def p_diversity_holds(groups: list[list[Row]], attribute: str, ell: Fraction) -> bool:
    return all(
        max(Counter(row[attribute] for row in group).values()) * ell <= len(group)
        for group in groups
    )


def t_equal_of(groups: list[list[Row]], attribute: str) -> Fraction:
    rows = [row for group in groups for row in group]
    overall = Counter(row[attribute] for row in rows)
    worst = Fraction(0)
    for group in groups:
        inside = Counter(row[attribute] for row in group)
        distance = sum(
            abs(Fraction(inside[value], len(group)) - Fraction(overall[value], len(rows)))
            for value in overall
        )
        worst = max(worst, distance / 2)
    return worst


def t_ordered_of(groups: list[list[Row]], attribute: str) -> Fraction:
    rows = [row for group in groups for row in group]
    overall = Counter(row[attribute] for row in rows)
    values = sorted(overall, key=lambda text: (text == "", float(text) if text else 0.0))
    if len(values) == 1:
        return Fraction(0)
    worst = Fraction(0)
    for group in groups:
        inside = Counter(row[attribute] for row in group)
        moved, total = Fraction(0), Fraction(0)
        for value in values[:-1]:
            moved += Fraction(inside[value], len(group)) - Fraction(overall[value], len(rows))
            total += abs(moved)
        worst = max(worst, total / (len(values) - 1))
    return worst


def multi_attribute_distinct_of(
    groups: list[list[Row]], attribute: str, sensitive: list[str]
) -> int:
    others = [name for name in sensitive if name != attribute]
    return min(distinct_of(classes(group, others), attribute) for group in groups)


def greatest_share_of(groups: list[list[Row]], attribute: str) -> Fraction:
    return max(
        Fraction(max(Counter(row[attribute] for row in group).values()), len(group))
        for group in groups
    )


def beta_of(groups: list[list[Row]], attribute: str) -> Fraction:
    """The greatest relative gain of a value's share in a class over its share in the table."""
    rows = [row for group in groups for row in group]
    overall = Counter(row[attribute] for row in rows)
    worst = Fraction(0)
    for group in groups:
        for value, count in Counter(row[attribute] for row in group).items():
            share = Fraction(overall[value], len(rows))
            worst = max(worst, (Fraction(count, len(group)) - share) / share)
    return worst


def covers(cell: str, value: str, *, mask: bool = False) -> bool:
    """Whether a cell may stand for a value: itself, ``*``, ``[a, b]``, ``{a, b}``, or ``13**``."""
    if cell in ("*", value):
        return True
    if mask:
        return len(cell) == len(value) and all(
            c in ("*", v) for c, v in zip(cell, value, strict=True)
        )
    if cell.startswith("[") and cell.endswith("]"):
        low, high = cell[1:-1].split(", ")
        return value != "" and float(low) <= float(value) <= float(high)
    if cell.startswith("{") and cell.endswith("}"):
        members = next(csv.reader([cell[1:-1]], skipinitialspace=True))
        return value in members
    return False
