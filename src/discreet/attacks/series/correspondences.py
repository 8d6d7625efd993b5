"""BCF-anonymity: how many rows remain for a person after correspondence attacks on a series.

Fung, Wang, Fu and Pei (2008), whose BCF-anonymity Abdalaal (2012, section 4.2.3) names. An attacker
knows a person's groups and that values stay, so a row of a person has a counterpart with the same
value in every release that has the person. n_G(s) is the number of rows of group G with value s.

- *Forward and cross*: of a person in several releases, only min n_G(s) rows with s, over the
  person's groups, can have counterparts in all of them; the other rows of each group are excluded.
  Both attacks leave Σ_s min n_G(s) rows: forward of the earlier group, cross of the later one.
- *Backward*: of a person who is in R_j and not in R_i, rows of the person's group G that must
  belong to people of R_i are excluded. Let H be all groups of R_i that share a person with G, and K
  all groups of R_j that share a person with a group of H. Of the rows of H with s, those of people
  who left and counterfeits need no counterpart, and the groups of K other than G take at most
  n_K(s) − n_G(s); so max(0, n_H(s) − left(H) − counterfeits(H) − (n_K(s) − n_G(s))) rows of G with
  s are excluded. The same, with the two releases exchanged, holds of a person who left: R_i is then
  the later release, and its rows of people who arrived and counterfeits need no counterpart.

Departures: groups share a person instead of having comparable cells, which an attacker who knows
everybody's group can tell; people may leave, where the paper only has insertions; forward and cross
attacks use all releases of a person at once, backward attacks every pair of releases. Values must
stay: a value that changed has no counterpart.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.attacks.series.series_view import Series
from discreet.methods.series.beliefs.correlation import Value
from discreet.typing import Ints

ALL = np.iinfo(np.int64).max  # rows left of a person whom no attack concerns


@dataclass(frozen=True)
class Correspondences:
    """The fewest rows that remain for a person; None where no person can be attacked so."""

    returning: int | None  # after forward and cross attacks on people in several releases
    arriving: int | None  # after backward attacks on people who another release lacks
    people: int  # who can be attacked
    below: int  # of them, people for whom fewer than k rows remain

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def correspondences(series: Series, k: int) -> Correspondences:
    """Run the three attacks on every person of a series."""
    returning, arriving = _returning(series), _arriving(series)
    left = np.minimum(returning, arriving)
    return Correspondences(
        _least(returning), _least(arriving), int((left < ALL).sum()), int((left < k).sum())
    )


def correspondence_problems(found: Correspondences, k: int) -> list[str]:
    """Return the sentence about people for whom too few rows remain."""
    if not found.below:
        return []
    least = min(left for left in (found.returning, found.arriving) if left is not None)
    return [
        f"BCF-anonymity of the series: correspondence attacks leave fewer than {k} rows for "
        f"{found.below} records, down to {least}"
    ]


def _least(left: Ints) -> int | None:
    least = int(left.min(initial=ALL))
    return None if least == ALL else least


def _returning(series: Series) -> Ints:
    """For each person in several releases the rows that forward and cross attacks leave."""
    _, first, alike = np.unique(series.group_of, axis=1, return_index=True, return_inverse=True)
    left = np.full(len(first), ALL)
    for number, person in enumerate(first):
        groups = [int(group) for group in series.group_of[:, person] if group >= 0]
        if len(groups) > 1:
            common = Counter(series.signature(groups[0]))
            for group in groups[1:]:
                common &= Counter(series.signature(group))  # the least counts
            left[number] = common.total()
    return left[alike.reshape(-1)]


def _arriving(series: Series) -> Ints:
    """For each person whom another release lacks the rows that backward attacks leave."""
    left = np.full(len(series.people), ALL)
    for own, other in itertools.permutations(range(series.releases), 2):
        remaining = np.full(len(series.groups.start), ALL)  # the last for who is in no group
        for group, rows in _remaining(series, other, own).items():
            remaining[group] = rows
        alone = (series.group_of[other] < 0) & (series.group_of[own] >= 0)
        left[alone] = np.minimum(left, remaining[series.group_of[own]])[alone]
    return left


def _remaining(series: Series, other: int, own: int) -> dict[int, int]:
    """The rows of each group of a release that need not belong to people of another one."""
    before, after = series.group_of[other], series.group_of[own]
    sources: dict[int, set[int]] = defaultdict(set)
    targets: dict[int, set[int]] = defaultdict(set)
    for source, target in {*zip(before.tolist(), after.tolist(), strict=True)}:
        if source >= 0 and target >= 0:
            sources[target].add(source)
            targets[source].add(target)
    free = Counter(before[(before >= 0) & (after < 0)].tolist())  # people of the other one alone
    members = Counter(before[before >= 0].tolist())
    for source, people in members.items():
        free[source] += sum(series.signature(source).values()) - people  # counterfeits
    found = {}
    for group in {*after[after >= 0].tolist()}:
        signature = series.signature(group)
        around = {target for source in sources[group] for target in targets[source]}
        held = _rows(series, sources[group])
        room = _rows(series, around - {group})
        loose = sum(free[source] for source in sources[group])
        excluded = (max(0, held[value] - loose - room[value]) for value in signature)
        found[group] = sum(signature.values()) - sum(excluded)
    return found


def _rows(series: Series, groups: set[int]) -> Counter[Value]:
    """How often some groups together have each value."""
    found: Counter[Value] = Counter()
    for group in groups:
        found.update(series.signature(group))
    return found
