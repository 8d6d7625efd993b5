"""Families: the persons whose beliefs hang together, and who of each is published.

A family is a component of persons who shared a group in some earlier release. What is decided here
follows from what was published and from C alone; the values in the table are not looked at.

Who is published of families too large to enumerate follows from the cohort certificate alone.
Members with the same past are a cohort. If some of them are published together now and the others
not, both parts are smaller cohorts from then on, also in the eyes of an attacker who has earlier
releases. So each part must be large enough for every count of the past, or empty; where too few are
absent, some are held back for company: those who come first by their keyed hashes, which values
have no part in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.methods.series.beliefs.cohort_bounds import (
    ahead_bound,
    cohorts_of,
    distinct_pasts,
    most_alike,
)
from discreet.methods.series.beliefs.components import PublishedGroups, components
from discreet.methods.series.beliefs.enumeration import (
    EXACT,
    MOST_PEOPLE,
    TOO_LARGE,
    component_beliefs,
)
from discreet.methods.series.rho_different.completion import TOLERANCE
from discreet.methods.series.rho_different.shapes import Shapes, read_run
from discreet.methods.shared.different_values import rank_in_run
from discreet.table.past_releases import History
from discreet.typing import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Families:
    """All persons of the past in families, and the rows of the table that belong to them."""

    releases: int
    matrix: Floats
    start: Ints  # (families + 1,) among the members of the shapes
    shapes: Shapes
    row_of: Ints  # (people,) the row of each person, −1 for who is not in the table
    family_of_row: Ints  # (rows,) −1 for a newcomer

    @property
    def count(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What was decided about every family without a look at the table's values.

    A *party* is published together: all members of a family who are published, or in a family
    too large to enumerate those with the same past.
    """

    published: Bools  # (people,) whether the person will be in the release
    party: Ints  # (people,) the number of the party within the family, −1 for none
    greatest: Floats  # (families,) belief after the earlier releases
    too_large: Bools  # (families,)


def read_families(history: History, matrix: Floats) -> Families:
    """The families of a history."""
    groups, first = PublishedGroups.of([(r.start, r.value, r.count) for r in history.releases])
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
    shapes = Shapes.of(
        group_of,
        (groups.start, groups.value, groups.count),
        start,
        member,
        row_of >= 0,
    )
    return Families(
        len(history.releases), matrix, start, shapes, row_of, family[history.person_of_row]
    )


def decide(families: Families, rho: float) -> Verdicts:
    """Who is published, from what was published before and C alone."""
    shapes = families.shapes
    sizes = np.diff(families.start)[shapes.first]
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    party = np.full(int(begin[-1]), -1, np.int64)  # of the members of every shape
    status = np.zeros(len(shapes.first), np.int64)
    greatest = np.zeros(len(shapes.first))
    _judge(families, begin, rho, party, status, greatest)
    of_member = np.repeat(np.arange(families.count), np.diff(families.start))
    inside = np.arange(len(of_member)) - families.start[of_member]
    of_person = np.full(len(families.row_of), -1, np.int64)
    of_person[shapes.member] = party[begin[shapes.of_family[of_member]] + inside]
    return Verdicts(
        of_person >= 0,
        of_person,
        greatest[shapes.of_family],
        (status == TOO_LARGE)[shapes.of_family],
    )


def _judge(
    families: Families, begin: Ints, rho: float, party: Ints, status: Ints, greatest: Floats
) -> None:
    """The party of every member of every shape, −1 for who is held back or not in the table.

    A person is published unless earlier releases, alone or combined with C, already reveal them:
    however the values are, such a person can be alone among all values equally often, which tells
    nothing.
    """
    shapes, layers, matrix = families.shapes, families.releases, families.matrix
    for shape, family in enumerate(shapes.first):
        run = shapes.run[shapes.start[family] : shapes.start[family + 1]]
        group_of, here, start, value, count = read_run(run, layers)
        people = group_of.shape[1]
        parties = party[begin[shape] : begin[shape + 1]]
        outcome = TOO_LARGE
        belief = np.zeros((layers, people if people <= MOST_PEOPLE else 0, len(matrix)))
        if people <= MOST_PEOPLE:
            outcome = component_beliefs(group_of, start, value, count, matrix, belief)
        status[shape] = outcome
        if outcome == TOO_LARGE:
            judge_cohorts(group_of, here, start, value, count, matrix, rho, parties)
            continue
        greatest[shape] = belief.max()
        if outcome != EXACT or greatest[shape] > rho + TOLERANCE:
            continue
        last = layers - 1 - (group_of[::-1] >= 0).argmax(axis=0)
        expected = belief[last, np.arange(people)] @ matrix  # of the past and C alone
        parties[here & (expected.max(axis=1) <= rho + TOLERANCE)] = 0


def judge_cohorts(
    group_of: Ints,  # (releases, members)
    here: Bools,
    start: Ints,
    value: Ints,
    count: Ints,
    matrix: Floats,
    rho: float,
    party: Ints,  # (members,) −1 for all; the result
) -> None:
    """The parties of a family: parts of cohorts, and single people who must stay blank."""
    cohort, sizes, blank = cohorts_of(group_of, start, count, len(matrix))
    least = np.zeros(len(sizes), np.int64)
    first, number = distinct_pasts(group_of, blank, cohort)
    may = np.zeros(len(first), np.bool_)  # be published as far as the past and C go
    # Whether the past and C leave a person of each past publishable.
    for at, person in enumerate(first):
        if cohort[person] < 0:
            continue
        size = int(sizes[cohort[person]])
        most = most_alike(group_of[:, person], blank[:, person], start, count)
        least[cohort[person]] = max(math.ceil(most / rho - TOLERANCE), 1)
        if most <= rho * size + TOLERANCE:
            ahead = ahead_bound(
                group_of[:, person], blank[:, person], size, start, value, count, matrix
            )
            may[at] = ahead <= rho + TOLERANCE
    # How many of each cohort are held back, so that both parts stay large enough.
    free = may[number] & here
    was_blank = blank.any(axis=0)
    ready = np.bincount(cohort[free & ~was_blank], minlength=len(sizes))
    absent = sizes - ready
    held = np.where((absent > 0) & (absent < least), least - absent, 0)  # held back for company
    held = np.where(ready - held < least, ready, held)
    # Those who were blank stay alone; the others are published by cohort.
    alone = np.flatnonzero(free & was_blank)
    party[alone] = len(sizes) + np.arange(len(alone))  # alone, and so blank again
    together = np.flatnonzero(free & ~was_blank)
    together = together[np.argsort(cohort[together], kind="stable")]
    stays = rank_in_run(cohort[together]) >= held[cohort[together]]
    party[together[stays]] = cohort[together[stays]]
