"""The shape of a family: all that beliefs about it depend on, without its names.

Two families whose members were present and absent alike, in groups that were published with the
same values, look the same to an attacker. A family is written down as a run of numbers with its
members in an order that the past alone decides; equal runs are one shape, and what is enumerated
for it holds for all its families.

A run: the number of members; the group of each member in each release, numbered within the
family, −1 where absent; who is in the table now; the number of groups, and for each group the
number of its entries; the values and the counts of all entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.table.kernels import kernel
from discreet.table.kernels.lists import entries_of, starts_of
from discreet.typing import Bools, Ints, Ints32


@dataclass(frozen=True, eq=False)
class Shapes:
    """Families as runs of numbers, and which are alike."""

    start: Ints  # (families + 1,)
    run: Ints32
    member: Ints  # (people in families,) persons by family, in the order of the run
    of_family: Ints  # (families,) the number of its shape
    first: Ints  # (shapes,) a family of each

    @classmethod
    def of(
        cls,
        group_of: Ints,
        groups: tuple[Ints, Ints, Ints],  # start, value, count
        family_start: Ints,
        member: Ints,
        here: Bools,
    ) -> Shapes:
        """The shapes of families, whose persons are one family after the other."""
        family = np.repeat(np.arange(len(family_start) - 1), np.diff(family_start))
        member = _ordered(group_of, family, member, here)
        start, run = _write_runs(group_of, groups, family_start, member, here)
        of_family, first = distinct_runs(start, run)
        return cls(start, run, member, of_family, first)


def _ordered(group_of: Ints, family: Ints, member: Ints, here: Bools) -> Ints:
    """The members of each family, in the order of when they were there."""
    present = np.concatenate((group_of[:, member] >= 0, here[member][None]))
    return member[np.lexsort((*present[::-1], family))]


def _write_runs(
    group_of: Ints,
    groups: tuple[Ints, Ints, Ints],
    family_start: Ints,
    member: Ints,
    here: Bools,
) -> tuple[Ints, Ints32]:
    """The runs of all families, and where each begins."""
    group_start, value, count = groups
    layers, families = len(group_of), len(family_start) - 1
    people = np.diff(family_start)
    family = np.repeat(np.arange(families), people)
    group_of_member = group_of[:, member]  # (releases, members)
    # groups are numbered within the family in the order of their first appearance
    layer, place = np.nonzero(group_of_member >= 0)
    appearance = np.lexsort((place, layer, family[place]))
    of_group = group_of_member[layer[appearance], place[appearance]]
    group, first = np.unique(of_group, return_index=True)
    group = group[np.argsort(first)]
    family_of_group = family[place[appearance]][np.sort(first)]
    held = starts_of(np.bincount(family_of_group, minlength=families))  # groups of each family
    local = np.full(len(group_start), -1, np.int64)
    local[group] = np.arange(len(group)) - held[family_of_group]
    sizes = np.diff(group_start)[group]
    entries = np.bincount(family_of_group, sizes, families).astype(np.int64)
    start = starts_of(2 + people * (layers + 1) + np.diff(held) + 2 * entries)
    run = np.empty(start[-1], np.int32)
    run[start[:-1]] = people
    within = np.arange(len(member)) - family_start[family]
    at = start[family] + 1 + within
    for groups_here in group_of_member:
        run[at] = np.where(groups_here >= 0, local[groups_here], -1)
        at += people[family]
    run[at] = here[member]
    at_groups = start[:-1] + 1 + people * (layers + 1)
    run[at_groups] = np.diff(held)
    run[at_groups[family_of_group] + 1 + local[group]] = sizes
    entry, of_entry = entries_of(group_start, group)
    own_family = family_of_group[of_entry]
    before = starts_of(entries)[own_family]
    at = at_groups[own_family] + 1 + np.diff(held)[own_family] + np.arange(len(entry)) - before
    run[at], run[at + entries[own_family]] = value[entry], count[entry]
    return start, run


def distinct_runs(start: Ints, run: Ints32) -> tuple[Ints, Ints]:
    """Number equal runs alike, in the order of their first; also the first of each."""
    content = run.tobytes()
    ends = (start * run.itemsize).tolist()
    number_of: dict[bytes, int] = {}
    number = np.empty(len(start) - 1, np.int64)
    for place in range(len(number)):
        cells = content[ends[place] : ends[place + 1]]
        number[place] = number_of.setdefault(cells, len(number_of))
    return number, np.unique(number, return_index=True)[1]


# Compiled: called by the kernel that tries counterfeits, for every case.
@kernel
def read_run(run: Ints32, layers: int) -> tuple[Ints, Bools, Ints, Ints, Ints]:
    """What a run says: groups of members, who is here, start, value and count of the groups."""
    people = int(run[0])
    group_of = np.empty((layers, people), np.int64)
    at = 1
    for layer in range(layers):
        for person in range(people):
            group_of[layer, person] = run[at]
            at += 1
    here = np.empty(people, np.bool_)
    for person in range(people):
        here[person] = run[at] != 0
        at += 1
    groups = int(run[at])
    at += 1
    start = np.zeros(groups + 1, np.int64)
    for group in range(groups):
        start[group + 1] = start[group] + run[at]
        at += 1
    entries = start[groups]
    value = run[at : at + entries].astype(np.int64)
    count = run[at + entries : at + 2 * entries].astype(np.int64)
    return group_of, here, start, value, count
