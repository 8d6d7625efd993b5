"""How an attacker averages what T^S says over the groups that a target may be in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.releases.kinds.decomposed.sensitive_sets import SensitiveSignatures
from discreet.table.assignments import Sets, most_various_first, prefix_levels, sets_of_groups
from discreet.table.classes import group_codes
from discreet.table.coded_table import Derives
from discreet.table.kernels.lists import AT_ONCE, entries_of, places_of, starts_of, stretches
from discreet.typing import AnyInts, Bools, Codes, Floats, Ints, Ints32

PAIRS = 50_000_000  # pairs of values whose counts are kept
TABLE = 2**25  # values of all groups whose places in the sets are kept
LINE_EDGES = 10_000_000  # pairs of a target and a group; beyond, targets are sampled


@dataclass(frozen=True, eq=False)
class PossibleMembers:
    """The original people, and the groups that each may be in."""

    kind: Codes  # (people,)
    start: Ints  # (kinds + 1,)
    group: Codes  # (edges,)
    weight: Floats  # (edges,)
    truth: list[Codes]  # by attribute, in the codes of T^S

    def drawn(self, person: Ints, sets: Sets) -> tuple[PossibleMembers, Sets]:
        """Return some people, drawn with replacement, and the sets of the groups of these alone."""
        kinds, kind = np.unique(self.kind[person], return_inverse=True)
        edge, _ = entries_of(self.start, kinds)
        groups, group = np.unique(self.group[edge], return_inverse=True)
        start = starts_of(np.diff(self.start)[kinds])
        truth = [of_attribute[person] for of_attribute in self.truth]
        members = PossibleMembers(
            kind.astype(np.int32), start, group.astype(np.int32), self.weight[edge], truth
        )
        return members, sets_of_groups(sets, groups.astype(np.int64))[1]


@dataclass(frozen=True, eq=False)
class RowsOfGroups(Derives):
    """The rows of T^S that people of each group may have."""

    start: Ints  # (groups + 1,)
    row: Ints32  # (edges,)

    @classmethod
    def of_few(cls, sets: Sets, codes: Ints32) -> RowsOfGroups | None:
        """Find the rows within the sets of a few groups; None where they may be many.

        One attribute after the other, all groups at once, so that no kernel has to be loaded.
        """
        length = np.diff(sets.start).reshape(codes.shape[1], -1)
        if length.astype(np.float64).prod(axis=0).sum() > AT_ONCE:
            return None
        attributes = most_various_first(codes, 0)
        order = np.lexsort(codes[:, attributes[::-1]].T).astype(np.int32)
        width = codes.max(axis=0, initial=-1).astype(np.int64)[attributes] + 1
        (keys, key_start, *_), _ = prefix_levels(codes[order][:, attributes], width)
        group, prefix = np.arange(sets.groups), np.zeros(sets.groups, np.int64)
        for level, attribute in enumerate(attributes.tolist()):
            start, value = sets.of(attribute)
            entry, line = entries_of(start, group)
            longer = keys[key_start[level] : key_start[level + 1]]
            number = places_of(longer, prefix[line] * width[level] + value[entry])
            kept = np.flatnonzero((number >= 0) & (value[entry] < width[level]))
            group, prefix = group[line[kept]], number[kept]
        return cls(starts_of(np.bincount(group, minlength=sets.groups)), order[prefix])

    def places(self, sets: Sets, signatures: SensitiveSignatures, attribute: int) -> AnyInts:
        """Return the place of each row's value in its group's set; found once."""
        return self.once(("places", attribute), lambda: self._places(sets, signatures, attribute))

    def _places(self, sets: Sets, signatures: SensitiveSignatures, attribute: int) -> AnyInts:
        widest = int(_widths(sets, attribute).max(initial=0))
        found = np.empty(len(self.row), np.min_scalar_type(widest))
        for _, within, group in self.parts():
            of_row = signatures.codes[self.row[within], attribute]
            found[within] = _places_in_sets(sets, attribute, group, of_row)
        return found

    def shares(
        self,
        sets: Sets,
        signatures: SensitiveSignatures,
        one: int | None,
        other: int | None,
        chance: Floats | None,
    ) -> Floats:
        """Return the mass of each group's rows by values of one attribute and of another.

        By the places of the values in the group's sets, those of the other attribute within each
        of the first; None for all values together. Found once.
        """
        return self.once(
            ("shares", one, other), lambda: self._shares(sets, signatures, one, other, chance)
        )

    def _shares(
        self,
        sets: Sets,
        signatures: SensitiveSignatures,
        one: int | None,
        other: int | None,
        chance: Floats | None,
    ) -> Floats:
        start = starts_of(_widths(sets, one) * _widths(sets, other))
        found = np.zeros(start[-1])
        for part, within, group in self.parts():
            mass = signatures.count[self.row[within]] if chance is None else chance[within]
            first, last = start[part.start], start[part.stop]
            at = (start - first)[group]
            if one is not None:
                place = self.places(sets, signatures, one)[within]
                at += place if other is None else place * _widths(sets, other)[group]
            if other is not None:
                at += self.places(sets, signatures, other)[within]
            found[first:last] = np.bincount(at, mass, last - first)
        return found

    def parts(self) -> Iterator[tuple[slice, slice, Ints]]:
        """Yield stretches of groups: which, their edges, and the group of each of these."""
        length = np.diff(self.start)
        for part in stretches(length):
            within = slice(self.start[part.start], self.start[part.stop])
            yield part, within, np.repeat(np.arange(part.start, part.stop), length[part])


@dataclass(frozen=True, eq=False)
class Found:
    """Beliefs in the truth of targets who are alike."""

    belief: Floats
    count: Ints
    weight: Floats  # rows that the attacker weighs, for the bound
    value: Codes  # the true value
    line_of_person: Ints  # (people,) −1 for a person who is not a target
    sampled: bool

    def of(self, chosen: Bools) -> Found:
        """The beliefs in some of the lines."""
        number = np.append(np.where(chosen, np.cumsum(chosen) - 1, -1), -1)
        return Found(
            self.belief[chosen],
            self.count[chosen],
            self.weight[chosen],
            self.value[chosen],
            number[self.line_of_person],
            self.sampled,
        )


def _lines(
    people: PossibleMembers, target: int, known: int | None
) -> tuple[Codes, Codes, Codes, Ints, Ints]:
    """Targets who are alike: kind, known value, true value, how many; and the line of each."""
    truth = people.truth[target]
    of_known = np.zeros(len(truth), np.int32) if known is None else people.truth[known]
    lines = group_codes(
        [people.kind, of_known, truth],
        [len(people.start) - 1, int(of_known.max(initial=0)) + 1, int(truth.max(initial=0)) + 1],
        len(truth),
    )
    first = lines.first_row
    line = lines.class_of_row.astype(np.int64)
    return people.kind[first], of_known[first], truth[first], lines.size, line


def row_beliefs(
    people: PossibleMembers,
    sets: Sets,
    signatures: SensitiveSignatures,
    rows: RowsOfGroups,
    target: int,
    known: int | None,
    rng: np.random.Generator,
    chance: Floats | None = None,
) -> Found:
    """Beliefs by the rows of T^S within the sets, those with the known value if one is known.

    ``chance`` has the probability of each row for a person of its group; without it, rows are as
    likely as they are common in T^S.
    """
    total = rows.shares(sets, signatures, known, None, chance)
    first, second = sorted((target, target if known is None else known))
    share = rows.shares(sets, signatures, first, None if known is None else second, chance)
    by_target = known is not None and target < known
    return _mixed(people, sets, target, known, share, total, rng, chance is not None, by_target)


def _widths(sets: Sets, attribute: int | None) -> Ints:
    """Return how many values of an attribute each group has; one if there is no attribute."""
    return np.ones(sets.groups, np.int64) if attribute is None else np.diff(sets.of(attribute)[0])


def _places_in_sets(sets: Sets, attribute: int, group: Ints, value: AnyInts) -> Ints:
    """Return the place of each value in the set of its group, −1 where that does not have it."""
    start, listed = sets.of(attribute)
    width = int(listed.max(initial=0)) + 2  # the last: values that no set has
    wanted = group * width + np.minimum(value, width - 1)
    if sets.groups * width > TABLE:
        place = places_of(_keys(start, listed, width), wanted)
        return np.where(place >= 0, place - start[group], -1)
    return sets.once(("places", attribute), lambda: _place_table(start, listed, width))[
        wanted
    ].astype(np.int64)


def _place_table(start: Ints, listed: Codes, width: int) -> AnyInts:
    """Return the place of every value in the set of every group, −1 where it is missing."""
    length = np.diff(start)
    place = np.arange(len(listed)) - np.repeat(start[:-1], length)
    table = np.full(len(length) * width, -1, np.min_scalar_type(-int(length.max(initial=0)) - 1))
    table[_keys(start, listed, width)] = place
    return table


def _keys(start: Ints, value: Codes, cardinality: int) -> Ints:
    """Number the entries of all groups' sets, ascending, so that one can be searched for."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start)) * cardinality + value


def pair_beliefs(
    people: PossibleMembers,
    sets: Sets,
    signatures: SensitiveSignatures,
    target: int,
    known: int,
    rng: np.random.Generator,
) -> Found | None:
    """Beliefs by the rows with the known value and a value of the group's set."""
    codes = signatures.codes
    shape = int(codes[:, known].max()) + 1, int(codes[:, target].max()) + 1
    if shape[0] * shape[1] > PAIRS:
        return None
    together = np.zeros(shape)
    np.add.at(together, (codes[:, known], codes[:, target]), signatures.count)
    start, value = sets.of(known)
    target_start, target_value = sets.of(target)
    group = np.repeat(np.arange(sets.groups), np.diff(start))
    place, entry = entries_of(target_start, group)
    share = together[value[entry], target_value[place]]
    total = np.bincount(entry, share, len(group)).astype(np.float64)
    return _mixed(people, sets, target, known, share, total, rng)


def _mixed(
    people: PossibleMembers,
    sets: Sets,
    target: int,
    known: int | None,
    share: Floats,
    total: Floats,
    rng: np.random.Generator,
    is_chance: bool = False,
    by_target: bool = False,  # whether shares are by the target's values first
) -> Found:
    """Mix the groups that each target may be in; a sample of the targets where it is too much."""
    kind, of_known, truth, count, line_of_person = _lines(people, target, known)
    edges = np.diff(people.start)[kind]
    sampled = int(edges.sum()) > LINE_EDGES
    if sampled:
        order = rng.permutation(len(kind))
        order = order[np.cumsum(edges[order]) <= LINE_EDGES]
        kind, of_known, truth = kind[order], of_known[order], truth[order]
        count = count[order]
        number = np.full(len(edges), -1)
        number[order] = np.arange(len(order))
        line_of_person = number[line_of_person]
    start, _ = sets.of(known or 0)
    width, known_width = _widths(sets, target), _widths(sets, known)
    share_start = starts_of(width * known_width)
    total = np.append(total, 0.0)  # found by the place −1, of a value that a set does not have
    belief, weight = np.zeros(len(kind)), np.zeros(len(kind))
    for part in stretches(np.diff(people.start)[kind]):
        edge, line = entries_of(people.start, kind[part])
        group = people.group[edge].astype(np.int64)
        at, slot = share_start[group], group
        if known is not None:
            place = _places_in_sets(sets, known, group, of_known[part][line])
            slot = np.where(place >= 0, start[group] + place, -1)
            at = at + place * (1 if by_target else width[group])
        possible = np.flatnonzero(total[slot] > 0)
        edge, line, group = edge[possible], line[possible], group[possible]
        at, whole = at[possible], total[slot[possible]]
        likely = people.weight[edge] * whole if is_chance else people.weight[edge]
        bottom = np.bincount(line, likely, len(kind[part]))
        np.maximum.at(weight[part], line, whole)
        place = _places_in_sets(sets, target, group, truth[part][line])
        held = np.flatnonzero(place >= 0)
        step = known_width[group[held]] if by_target else 1
        of_truth = share[at[held] + place[held] * step]
        mass = likely[held] * of_truth / whole[held]
        top = np.bincount(line[held], mass, len(bottom))
        belief[part] = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
    return Found(belief, count, weight, truth, line_of_person, sampled)
