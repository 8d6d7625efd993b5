"""The shape of a family: all that beliefs about it depend on, without its names.

Two families whose members were present and absent alike, in groups that were published with the
same values, look the same to an attacker. A family is written down as a run of numbers with its
members in an order that the past alone decides; equal runs are one shape, and what is enumerated
for it holds for all its families. Values that C does not tell apart are renamed first
(``renaming``). A million people then have some thousand shapes.

A run: the number of members; the group of each member in each release, numbered within the
family, −1 where absent; who is in the table now; the number of groups, and for each group the
number of its entries; the values and the counts of all entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.methods.series.beliefs.equal_runs import distinct_runs
from discreet.methods.series.rho_different.renaming import rename_runs
from discreet.table.kernels import kernel
from discreet.typing import Bools, Ints, Ints32


@dataclass(frozen=True, eq=False)
class Shapes:
    """Families as runs of numbers, and which are alike."""

    start: Ints  # (families + 1,)
    run: Ints32
    original: Ints32  # the runs with the values that were published
    alike: Ints  # (values,) the least value that C does not tell from each
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
        alike: Ints,
    ) -> Shapes:
        """The shapes of families, whose persons are one family after the other."""
        member = member.copy()
        start = _order_and_measure(group_of, groups[0], family_start, member, here)
        original = np.empty(int(start[-1]), np.int32)
        _write_runs(group_of, *groups, family_start, member, here, start, original)
        run = rename_runs(start, original, len(group_of), alike)
        of_family, first = distinct_runs(start, run)
        return cls(start, run, original, alike, member, of_family, first)


@kernel
def _order_and_measure(
    group_of: Ints, start: Ints, family_start: Ints, member: Ints, here: Bools
) -> Ints:
    """Order the members of each family by when they were there; how long each run will be."""
    layers = len(group_of)
    families = len(family_start) - 1
    run_start = np.zeros(families + 1, np.int64)
    seen = np.full(len(start), -1, np.int64)
    for family in range(families):
        people = member[family_start[family] : family_start[family + 1]].copy()
        key = np.zeros(len(people), np.int64)
        length = 2 + len(people) * (layers + 1)
        for layer in range(layers):
            for at in range(len(people)):
                group = group_of[layer, people[at]]
                key[at] = 2 * key[at] + (group >= 0)
                if group >= 0 and seen[group] != family:
                    seen[group] = family
                    length += 1 + 2 * (start[group + 1] - start[group])
        for at in range(len(people)):
            key[at] = 2 * key[at] + here[people[at]]
        order = np.argsort(key, kind="mergesort")
        for at in range(len(people)):
            member[family_start[family] + at] = people[order[at]]
        run_start[family + 1] = run_start[family] + length
    return run_start


@kernel
def _write_runs(
    group_of: Ints,
    start: Ints,
    value: Ints,
    count: Ints,
    family_start: Ints,
    member: Ints,
    here: Bools,
    run_start: Ints,
    run: Ints32,
) -> None:
    layers = len(group_of)
    local = np.full(len(start), -1, np.int64)
    found = np.empty(len(start), np.int64)
    for family in range(len(family_start) - 1):
        people = member[family_start[family] : family_start[family + 1]]
        at = run_start[family]
        run[at] = len(people)
        at += 1
        groups = 0
        for layer in range(layers):
            for person in people:
                group = group_of[layer, person]
                if group >= 0 and local[group] < 0:
                    local[group] = groups
                    found[groups] = group
                    groups += 1
                run[at] = local[group] if group >= 0 else -1
                at += 1
        for person in people:
            run[at] = here[person]
            at += 1
        run[at] = groups
        at += 1
        entries = 0
        for number in range(groups):
            group = found[number]
            run[at + number] = start[group + 1] - start[group]
            entries += start[group + 1] - start[group]
        at += groups
        for number in range(groups):
            group = found[number]
            for entry in range(start[group], start[group + 1]):
                run[at] = value[entry]
                run[at + entries] = count[entry]
                at += 1
            local[group] = -1


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
