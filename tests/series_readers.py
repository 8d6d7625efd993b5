"""Readers of a small series whose full beliefs tests compare with examples and enumerations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from discreet.attacks.cross_release import _known, _listed_worlds, common_rows
from discreet.attacks.series_beliefs import Series, members_of, value_matrix
from discreet.methods.series.beliefs.components import PublishedGroups, beliefs, components
from discreet.methods.series.beliefs.correlation import Correlation, Value


def series_of(
    releases: Sequence[Sequence[tuple[Sequence[str], Sequence[Value]]]],
) -> Series:
    """The series of releases that are given as groups of persons and published values."""
    names = dict.fromkeys(
        name for release in releases for persons, _ in release for name in persons
    )
    people = tuple(names)
    number = {name: at for at, name in enumerate(people)}
    known = {value for release in releases for _, values in release for value in values}
    dictionary = tuple(sorted(known, key=lambda value: (value is None, value or "")))
    code = {value: at for at, value in enumerate(dictionary)}
    group_of = np.full((len(releases), len(people)), -1, np.int64)
    start, entries, counts = [0], [], []
    for layer, release in enumerate(releases):
        for persons, published in release:
            group_of[layer, [number[name] for name in persons]] = len(start) - 1
            codes, count = np.unique([code[value] for value in published], return_counts=True)
            entries += codes.tolist()
            counts += count.tolist()
            start.append(len(entries))
    groups = PublishedGroups(
        np.array(start, np.int64), np.array(entries, np.int64), np.array(counts, np.int64)
    )
    return Series(people, group_of, groups, dictionary)


def corresponding(series: Series, person: str) -> dict[Value, float] | None:
    """The correspondence attack on one person; None for who is in one release only."""
    rows = common_rows(series, series.people.index(person))
    return rows and {value: count / rows.total() for value, count in rows.items()}


def agreement(
    series: Series, alike: Sequence[Sequence[str]] = ()
) -> tuple[dict[tuple[str, str], float], int]:
    """How likely two people of a component have the same value; and who is in none assessed."""
    result: dict[tuple[str, str], float] = {}
    skipped = 0
    for members, worlds in _listed_worlds(series):
        if worlds is None:
            skipped += len(members)
            continue
        names = [series.people[member] for member in members]
        one, other = np.triu_indices(len(members), 1)
        left = _known(series, members, worlds, alike)
        shares = (left[:, one] == left[:, other]).mean(axis=0) if len(left) else np.zeros(len(one))
        for i, j, share in zip(one, other, shares, strict=True):
            result[names[i], names[j]] = float(share)
    return result, skipped


def all_beliefs(series: Series, correlation: Correlation) -> Mapping[str, list[dict[Value, float]]]:
    """The full beliefs about every person of a small series, for reports and examples."""
    matrix = value_matrix(series, correlation)
    component = components(series.group_of, len(series.groups.start) - 1)
    result: dict[str, list[dict[Value, float]]] = {name: [] for name in series.people}
    ordered, start = members_of(component)
    for begin, end in itertools.pairwise(start):
        members = ordered[begin:end]
        _, belief = beliefs(series.group_of[:, members], series.groups, matrix)
        for at, person in enumerate(members):
            result[series.people[person]] = [
                {
                    series.values[code]: float(belief[layer, at, code])
                    for code in np.flatnonzero(belief[layer, at] > 0)
                }
                for layer in range(series.releases)
            ]
    return result
