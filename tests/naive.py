"""Promises derived from a published CSV in the plainest Python: dictionaries and fractions.

Nothing of discreet is imported here, so that a test which compares with it can fail.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

Row = dict[str, str]
Sens = Callable[[Any], bool]


def read_csv(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_manifest(folder: Path, manifest: dict) -> None:
    """Write a manifest in the form in which discreet writes it."""
    text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")


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


def entropy_of(cells: list) -> float:
    return -sum(
        count / len(cells) * math.log(count / len(cells)) for count in Counter(cells).values()
    )


def mutual_information_of(first: list, second: list) -> float:
    """Σ p(v, v') ln(p(v, v') / p(v) p(v')), as the paper writes it."""
    rows, left, right = len(first), Counter(first), Counter(second)
    return sum(
        both / rows * math.log(both * rows / (left[v] * right[w]))
        for (v, w), both in Counter(zip(first, second, strict=True)).items()
    )


def exposable_of(first: list, second: list, sens_first: Sens, sens_second: Sens) -> float:
    """E(Ai, Aj) by the paper's sum over joint values, its last case put right."""
    rows = len(first)
    mutual = mutual_information_of(first, second)
    new_first, new_second = entropy_of(first) - mutual, entropy_of(second) - mutual
    total = 0.0
    for (v, w), both in Counter(zip(first, second, strict=True)).items():
        if sens_first(v) and sens_second(w):
            exposed = new_first + new_second
        elif sens_first(v):
            exposed = new_first
        elif sens_second(w):
            exposed = new_second
        else:
            exposed = 0.0
        total += both / rows * exposed
    return total


def association_loss_of(columns: dict[str, list], plan: list[list[str]]) -> float:
    home = {name: number for number, block in enumerate(plan) for name in block}
    lost = total = 0.0
    for a, b in combinations(columns, 2):
        information = mutual_information_of(columns[a], columns[b])
        total += information
        lost += information if home[a] != home[b] else 0.0
    return lost / total if total > 1e-12 else 0.0


def exposure_of(
    columns: dict[str, list], plan: list[list[str]], sens: dict[str, Sens] | None = None
) -> float:
    def exposable(a: str, b: str) -> float:
        every: Sens = lambda value: True  # noqa: E731
        marks = sens or {}
        return exposable_of(columns[a], columns[b], marks.get(a, every), marks.get(b, every))

    total = sum(exposable(a, b) for a, b in combinations(columns, 2))
    if total <= 1e-12:
        return 0.0
    return sum(
        sum(exposable(a, b) for a, b in combinations(block, 2)) / total * len(block) / len(columns)
        for block in plan
    )


def greedy_plans(columns: dict[str, list]) -> list[list[list[str]]]:
    """The merge steps of CODIP*, on lists of names."""
    names = list(columns)
    mutual = {
        frozenset(pair): mutual_information_of(columns[pair[0]], columns[pair[1]])
        for pair in combinations(names, 2)
    }
    plan = [[name] for name in names]
    steps = [[list(block) for block in plan]]
    while len(plan) > 1:
        averages = {}
        for u, w in combinations(range(len(plan)), 2):
            pairs = list(combinations(plan[u] + plan[w], 2))
            averages[u, w] = sum(mutual[frozenset(pair)] for pair in pairs) / len(pairs)
        most = max(averages.values())
        u, w = min(pair for pair, average in averages.items() if average >= most - 1e-12)
        merged = sorted(plan[u] + plan[w], key=names.index)
        plan = [block for number, block in enumerate(plan) if number not in (u, w)] + [merged]
        plan.sort(key=lambda block: names.index(block[0]))
        steps.append([list(block) for block in plan])
    return steps


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
    """Whether a cell covers a value: itself, ``*``, ``[a, b]``, ``[a, b)``, ``{a, b}``, ``1*``."""
    if cell in ("*", value):
        return True
    if mask:
        return len(cell) == len(value) and all(
            c in ("*", v) for c, v in zip(cell, value, strict=True)
        )
    if cell.startswith("[") and cell.endswith(")"):
        low, high = cell[1:-1].split(", ")
        return value != "" and float(low) <= float(value) < float(high)
    if cell.startswith("[") and cell.endswith("]"):
        low, high = cell[1:-1].split(", ")
        return value != "" and float(low) <= float(value) <= float(high)
    if cell.startswith("{") and cell.endswith("}"):
        members = next(csv.reader([cell[1:-1]], skipinitialspace=True))
        return value in members
    return False


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


def worlds(groups, sets, rows, names, primary):
    """Every way to give all people all rows within the sets, each row once; equal rows are one.

    Each primary value of a group's set is somebody's. Yields the rows in the order of the people.
    """
    left = Counter(rows)
    place = names.index(primary)

    def complete(person, given):
        if person == len(groups):
            had = {(group, row[place]) for group, row in zip(groups, given, strict=True)}
            if all((g, value) in had for g in set(groups) for value in sets[g][primary]):
                yield tuple(given)
            return
        for row in sorted(left):
            inside = zip(row, names, strict=True)
            if left[row] and all(value in sets[groups[person]][name] for value, name in inside):
                left[row] -= 1
                yield from complete(person + 1, [*given, row])
                left[row] += 1

    yield from complete(0, [])
