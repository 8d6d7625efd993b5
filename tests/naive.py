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


Sets = dict[str, dict[str, set[str]]]  # by group and attribute


def group_sets(path: Path, names: list[str]) -> Sets:
    """The sets of a decomposed release; each row must be there once, in sorted order."""
    rows = read_csv(path)
    keys = [(row["group"], row["attribute"], row["value"]) for row in rows]
    assert len(set(keys)) == len(keys)
    sets: Sets = {}
    for group, attribute, value in keys:
        sets.setdefault(group, {name: set() for name in names})[attribute].add(value)
    return sets


def supported_rows(
    sets: Sets, sensitive: list[tuple[str, ...]], names: list[str]
) -> dict[str, set[tuple[str, ...]]]:
    """For each group, the rows of T^S all of whose values are in its sets."""
    distinct = set(sensitive)
    return {
        group: {
            row
            for row in distinct
            if all(v in values[name] for v, name in zip(row, names, strict=True))
        }
        for group, values in sets.items()
    }


def left_to_reader(
    sets: Sets, sensitive: list[tuple[str, ...]], names: list[str], known: str, reader: str
) -> list[int]:
    """For each group, known value and other attribute: how many values a reader keeps."""
    place = names.index(known)
    supported = supported_rows(sets, sensitive, names)
    left = []
    for group, values in sets.items():
        rows = supported[group] if reader == "row" else set(sensitive)
        for value in values[known]:
            for number, name in enumerate(names):
                if name != known:
                    seen = {row[number] for row in rows if row[place] == value}
                    left.append(len(seen & values[name]))
    return left
