"""Families: the persons whose beliefs hang together, and what a new release may do with each.

A family is a component of persons who shared a group in some earlier release. Kernels walk over
all families at once; only those whose values need counterfeits are looked at more closely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.completion import ROOM, TOLERANCE, Scene
from discreet.data.history import History
from discreet.data.table import Codes
from discreet.kernels import kernel
from discreet.models.series import (
    MOST_PEOPLE,
    Floats,
    Groups,
    Places,
    component_beliefs,
    components,
)


@dataclass(frozen=True, eq=False)
class Families:
    """All persons of the past in families, and the rows of the table that belong to them."""

    group_of: Places  # (releases, people), −1 where a person is absent
    groups: Groups
    matrix: Floats
    start: Places  # (families + 1,)
    member: Places  # (people in families,) persons, ordered by family
    row_of: Places  # (people,) the row of each person, −1 for who is not in the table
    family_of_row: Places  # (rows,) −1 for a newcomer

    @property
    def count(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What was decided about every family without a look at the table's values."""

    published: NDArray[np.bool_]  # (people,) whether the person will be in the release
    roomy: NDArray[np.bool_]  # (families,) whether a flat group is safe
    broken: NDArray[np.bool_]  # (families,) an earlier release lets a belief pass the bound
    too_large: NDArray[np.bool_]  # (families,)


def read_families(history: History, matrix: Floats) -> Families:
    """The families of a history."""
    groups, first = Groups.of([(r.start, r.value, r.count) for r in history.releases])
    group_of = np.full((len(history.releases), history.people), -1, np.int64)
    for layer, release in enumerate(history.releases):
        group_of[layer, release.person] = release.group + first[layer]
    family = components(group_of, len(groups.start) - 1)
    known = np.flatnonzero(family >= 0)
    member = known[np.argsort(family[known], kind="stable")]
    sizes = np.bincount(family[known]) if len(known) else np.zeros(0, np.int64)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    row_of = np.full(history.people, -1, np.int64)
    row_of[history.person_of_row] = np.arange(len(history.person_of_row))
    return Families(group_of, groups, matrix, start, member, row_of, family[history.person_of_row])


def decide(families: Families, rho: float) -> Verdicts:
    """Who is published, from what was published before and C alone."""
    published = families.row_of >= 0
    roomy = np.zeros(families.count, bool)
    broken = np.zeros(families.count, bool)
    too_large = np.zeros(families.count, bool)
    tight = _judge(
        families.group_of,
        families.groups.start,
        families.groups.value,
        families.groups.count.copy(),
        families.matrix,
        families.start,
        families.member,
        rho,
        published,
        roomy,
        broken,
        too_large,
    )
    for family in np.flatnonzero(tight):
        members = _members(families, int(family))
        if not _safe_for_all_values(families, members[published[members]], members, rho):
            published[members] = False
    return Verdicts(published, roomy, broken, too_large)


def _members(families: Families, family: int) -> Places:
    return families.member[families.start[family] : families.start[family + 1]]


@kernel
def _judge(
    group_of: Places,
    start: Places,
    value: Places,
    left: Places,
    matrix: Floats,
    family_start: Places,
    member: Places,
    rho: float,
    published: NDArray[np.bool_],
    roomy: NDArray[np.bool_],
    broken: NDArray[np.bool_],
    too_large: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Hold back who must be; the families that are neither roomy nor held back altogether."""
    layers = len(group_of)
    values = len(matrix)
    tight = np.zeros(len(family_start) - 1, np.bool_)
    for family in range(len(family_start) - 1):
        people = member[family_start[family] : family_start[family + 1]]
        if len(people) > MOST_PEOPLE:
            too_large[family] = True
            for person in people:
                published[person] = False
            continue
        own = np.empty((layers, len(people)), np.int64)
        for layer in range(layers):
            for at in range(len(people)):
                own[layer, at] = group_of[layer, people[at]]
        belief = np.zeros((layers, len(people), values))
        found = component_beliefs(own, start, value, left, matrix, belief)
        greatest = belief.max() if found == 1 else 2.0
        broken[family] = found == 1 and greatest > rho + TOLERANCE
        too_large[family] = found == -1
        here = 0
        for at in range(len(people)):
            if not published[people[at]]:
                continue
            ahead = 2.0
            if found == 1 and greatest <= rho + TOLERANCE:
                ahead = _expected(belief, own, at, matrix)
            if ahead > rho + TOLERANCE:
                published[people[at]] = False
            else:
                here += 1
                greatest = max(greatest, ahead)
        roomy[family] = greatest * ROOM <= rho
        tight[family] = here > 0 and not roomy[family]
    return tight


@kernel
def _expected(belief: Floats, own: Places, at: int, matrix: Floats) -> float:
    """The greatest belief about a person's next value that the past and C alone give."""
    layer = len(own) - 1
    while own[layer, at] < 0:
        layer -= 1
    greatest = 0.0
    for new in range(len(matrix)):
        total = 0.0
        for old in range(len(matrix)):
            total += belief[layer, at, old] * matrix[old, new]
        greatest = max(greatest, total)
    return greatest


def _safe_for_all_values(families: Families, here: Places, members: Places, rho: float) -> bool:
    """Whether a safe completion is found for every combination of values that C leaves possible."""
    scene = Scene(families.groups, families.matrix, families.group_of, members, here)
    truths = scene.possible_values()
    if truths is None:
        return False
    return all(scene.completion(truth, rho) is not None for truth in truths)


def complete(
    families: Families, verdicts: Verdicts, codes: Codes, rho: float, rng: np.random.Generator
) -> tuple[Places, tuple[Places, Places], float]:
    """The groups of all survivors who are published, counterfeits, and the greatest belief.

    (rows,) the group of each row, −1 for newcomers and who is held back; the group and the value of
    each counterfeit.
    """
    group = np.full(len(families.family_of_row), -1, np.int64)
    row = np.where(verdicts.published, families.row_of, -1)
    greatest = _greatest_as_they_are(
        families.group_of,
        families.groups.start,
        families.groups.value,
        families.groups.count.copy(),
        families.matrix,
        families.start,
        families.member,
        row,
        codes.astype(np.int64),
    )
    begun = 0
    of_fake: list[int] = []
    fakes: list[int] = []
    highest = 0.0
    for family in np.flatnonzero(greatest >= 0):
        members = _members(families, int(family))
        here = members[row[members] >= 0]
        if greatest[family] * ROOM <= rho:
            group[row[here]] = begun
            begun += 1
            highest = max(highest, float(greatest[family]))
            continue
        truth = codes[row[here]].astype(np.int64)
        found = Scene(
            families.groups, families.matrix, families.group_of, members, here
        ).completion(truth, rho)
        if found is not None:
            group[row[here]] = begun
            of_fake += [begun] * len(found[0])
            fakes += found[0].tolist()
            begun += 1
            highest = max(highest, found[1])
            continue
        copies = flat_copies(len(here))
        for person in here:  # every value equally often, but for the person's own
            group[row[person]] = begun
            flat = np.repeat(np.arange(len(families.matrix)), copies)
            of_fake += [begun] * len(flat)
            fakes += flat.tolist()
            begun += 1
        highest = max(highest, rho)
    return group, (np.array(of_fake, np.int64), np.array(fakes, np.int64)), highest


def flat_copies(people: int) -> int:
    """How often a flat group repeats every value, so that ((c + 1)/c)^people ≤ ROOM."""
    return int(np.ceil(1.0 / (ROOM ** (1.0 / people) - 1.0)))


@kernel
def _greatest_as_they_are(
    group_of: Places,
    start: Places,
    value: Places,
    count: Places,
    matrix: Floats,
    family_start: Places,
    member: Places,
    row: Places,
    codes: Places,
) -> Floats:
    """The greatest belief about each family if its members are published with no counterfeits.

    −1 for a family of which nobody is here, 2 where it cannot be found.
    """
    layers = len(group_of)
    groups = len(start) - 1
    entries = len(value)
    most = 0
    for family in range(len(family_start) - 1):
        most = max(most, family_start[family + 1] - family_start[family])
    starts = np.empty(groups + 2, np.int64)
    starts[:-1] = start
    values = np.empty(entries + most, np.int64)
    values[:entries] = value
    counts = np.empty(entries + most, np.int64)
    counts[:entries] = count
    result = np.full(len(family_start) - 1, -1.0)
    for family in range(len(family_start) - 1):
        people = member[family_start[family] : family_start[family + 1]]
        own = np.full((layers + 1, len(people)), -1, np.int64)
        end = entries
        for at in range(len(people)):
            for layer in range(layers):
                own[layer, at] = group_of[layer, people[at]]
            if row[people[at]] < 0:
                continue
            own[layers, at] = groups
            code = codes[row[people[at]]]
            place = entries
            while place < end and values[place] != code:
                place += 1
            if place == end:
                values[end] = code
                counts[end] = 0
                end += 1
            counts[place] += 1
        if end == entries or len(people) > MOST_PEOPLE:
            continue
        starts[groups + 1] = end
        belief = np.zeros((layers + 1, len(people), len(matrix)))
        found = component_beliefs(own, starts, values, counts, matrix, belief)
        most_alike = counts[entries:end].max() / counts[entries:end].sum()
        result[family] = max(belief.max(), most_alike) if found == 1 else 2.0
    return result
