"""A reader of a whole series, written down plainly; imports nothing of discreet.

A release is a list of groups, a group is (persons, published values).
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import naive

Group = tuple[list[str], list[str]]
Fact = tuple[int, str, str]  # release, person, value


def read_release(folder: Path, person_of: Mapping[str, str], key: str, value: str) -> list[Group]:
    """The groups of a bucketized release; ``key`` is a quasi-identifier that tells people apart."""
    groups: dict[str, Group] = defaultdict(lambda: ([], []))
    for row in naive.read_csv(folder / "quasi_identifiers.csv"):
        groups[row["group"]][0].append(person_of[row[key]])
    for row in naive.read_csv(folder / "sensitive.csv"):
        groups[row["group"]][1].append(row[value])
    return list(groups.values())


def families(releases: Sequence[Sequence[Group]]) -> list[set[str]]:
    """Persons who share a group, directly or through others."""
    found: list[set[str]] = []
    for persons, _ in (group for release in releases for group in release):
        joined = set(persons)
        apart = []
        for family in found:
            if family & joined:
                joined |= family
            else:
                apart.append(family)
        found = [*apart, joined]
    return found


def assignments(groups: Sequence[Group]) -> list[dict[str, str]]:
    """Every way to give the persons of some groups one row each."""
    ways = [
        [dict(zip(persons, rows, strict=True)) for rows in
         itertools.permutations(values, len(persons))]
        for persons, values in groups
    ]  # fmt: skip
    return [
        {person: value for part in parts for person, value in part.items()}
        for parts in itertools.product(*ways)
    ]


def beliefs(
    releases: Sequence[Sequence[Group]],
    family: set[str],
    chance: Mapping[str, Mapping[str, float]],
) -> dict[Fact, float]:
    """The share of worlds in which a fact holds, each world weighed by the chances of its steps.

    Worlds are summed up release by release: what is kept of them is the last value of everybody,
    the weight, and the weight of the worlds in which each fact holds.
    """
    names = sorted(family)
    worlds: dict[tuple[str | None, ...], tuple[float, Counter[Fact]]] = {
        (None,) * len(names): (1.0, Counter())
    }
    for number, release in enumerate(releases):
        own = [group for group in release if set(group[0]) & family]
        after: dict[tuple[str | None, ...], tuple[float, Counter[Fact]]] = {}
        ways = assignments(own)
        for state, (weight, facts) in worlds.items():
            for way in ways:
                step = 1.0
                for place, name in enumerate(names):
                    old = state[place]
                    if name in way and old is not None:
                        step *= chance[old][way[name]]
                if step == 0:
                    continue
                new = tuple(way.get(name, old) for name, old in zip(names, state, strict=True))
                total, known = after.setdefault(new, (0.0, Counter()))
                for fact, mass in facts.items():
                    known[fact] += mass * step
                for name, value in way.items():
                    known[number, name, value] += weight * step
                after[new] = (total + weight * step, known)
        worlds = after
    total = sum(weight for weight, _ in worlds.values())
    together: Counter[Fact] = Counter()
    for _, facts in worlds.values():
        together.update(facts)
    return {fact: mass / total for fact, mass in together.items()}


def chances(
    stated: Mapping[tuple[str, str], float], values: Sequence[str], unstated: str
) -> dict[str, dict[str, float]]:
    """P(new | old) with the unstated mass spread over what is unstated, or staying."""
    table: dict[str, dict[str, float]] = {}
    for old in values:
        row = {new: p for (before, new), p in stated.items() if before == old}
        rest = 1 - sum(row.values())
        free = [value for value in values if value not in row]
        table[old] = {new: row.get(new, 0.0) for new in values}
        if unstated == "stay":
            table[old][old] += rest
        else:
            for new in free:
                table[old][new] = rest / len(free)
        total = sum(table[old].values())
        table[old] = {new: p / total for new, p in table[old].items()}
    return table
