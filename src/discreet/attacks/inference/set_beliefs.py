"""How an attacker averages what T^S says over the groups that a target may be in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.releases.kinds.decomposed.sensitive_sets import SensitiveSignatures
from discreet.table.assignments import Sets
from discreet.table.classes import group_codes
from discreet.table.kernels import kernel
from discreet.typing import Codes, Floats, Ints

PAIRS = 50_000_000  # pairs of values whose counts are kept
LINE_EDGES = 10_000_000  # pairs of a target and a group; beyond, targets are sampled


@dataclass(frozen=True, eq=False)
class PossibleMembers:
    """The original people, and the groups that each may be in."""

    kind: Codes  # (people,)
    start: Ints  # (kinds + 1,)
    group: Codes  # (edges,)
    weight: Floats  # (edges,)
    truth: list[Codes]  # by attribute, in the codes of T^S


@dataclass(frozen=True, eq=False)
class Found:
    """Beliefs in the truth of targets who are alike."""

    belief: Floats
    count: Ints
    weight: Floats  # rows that the attacker weighs, for the bound
    sampled: bool


def _lines(
    people: PossibleMembers, target: int, known: int | None
) -> tuple[Codes, Codes, Codes, Ints]:
    """Targets who are alike: kind, known value, true value, how many."""
    truth = people.truth[target]
    of_known = np.zeros(len(truth), np.int32) if known is None else people.truth[known]
    lines = group_codes(
        [people.kind, of_known, truth],
        [len(people.start) - 1, int(of_known.max(initial=0)) + 1, int(truth.max(initial=0)) + 1],
        len(truth),
    )
    first = lines.first_row
    return people.kind[first], of_known[first], truth[first], lines.size


def row_beliefs(
    people: PossibleMembers,
    sets: Sets,
    signatures: SensitiveSignatures,
    begin: Ints,
    row: Codes,
    target: int,
    known: int | None,
    rng: np.random.Generator,
    chance: Floats | None = None,
) -> Found:
    """Beliefs by the rows of T^S within the sets, those with the known value if one is known.

    ``chance`` has the probability of each row for a person of its group; without it, rows are as
    likely as they are common in T^S.
    """
    start, _ = sets.of(known or 0)
    target_start, target_value = sets.of(target)
    weight = signatures.count[row].astype(np.float64) if chance is None else chance
    share, total = _tally_rows(
        start, begin, row, weight, signatures.codes[:, target], target_start, target_value,
        known is not None,
    )  # fmt: skip
    return _mixed(people, sets, target, known, share, total, rng, chance is not None)


@kernel
def _tally_rows(
    set_start: Ints,
    begin: Ints,
    row: Codes,
    mass: Floats,
    value_of_row: Codes,
    target_start: Ints,
    target_value: Codes,
    by_entry: bool,
) -> tuple[Floats, Floats]:
    """The mass of each value of the target's set, by known value of the group or by group."""
    groups = len(set_start) - 1
    length = 0
    for g in range(groups):
        entries = set_start[g + 1] - set_start[g] if by_entry else 1
        length += entries * (target_start[g + 1] - target_start[g])
    share = np.zeros(length)
    total = np.zeros(set_start[groups] if by_entry else groups)
    at = 0
    for g in range(groups):
        low, high = target_start[g], target_start[g + 1]
        for entry in range(set_start[g], set_start[g + 1]):
            slot = entry if by_entry else g
            for place in range(begin[entry], begin[entry + 1]):
                j = np.searchsorted(target_value[low:high], value_of_row[row[place]])
                share[at + j] += mass[place]
                total[slot] += mass[place]
            if by_entry:
                at += high - low
        if not by_entry:
            at += high - low
    return share, total


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
    share, total = _tally_pairs(start, value, target_start, target_value, together)
    return _mixed(people, sets, target, known, share, total, rng)


@kernel
def _tally_pairs(
    set_start: Ints, set_value: Codes, target_start: Ints, target_value: Codes, together: Floats
) -> tuple[Floats, Floats]:
    groups = len(set_start) - 1
    length = 0
    for g in range(groups):
        entries = set_start[g + 1] - set_start[g]
        length += entries * (target_start[g + 1] - target_start[g])
    share = np.zeros(length)
    total = np.zeros(set_start[groups])
    at = 0
    for g in range(groups):
        for entry in range(set_start[g], set_start[g + 1]):
            for place in range(target_start[g], target_start[g + 1]):
                share[at] = together[set_value[entry], target_value[place]]
                total[entry] += share[at]
                at += 1
    return share, total


def _mixed(
    people: PossibleMembers,
    sets: Sets,
    target: int,
    known: int | None,
    share: Floats,
    total: Floats,
    rng: np.random.Generator,
    is_chance: bool = False,
) -> Found:
    """Mix the groups that each target may be in; a sample of the targets where it is too much."""
    kind, of_known, truth, count = _lines(people, target, known)
    edges = np.diff(people.start)[kind]
    sampled = int(edges.sum()) > LINE_EDGES
    if sampled:
        order = rng.permutation(len(kind))
        order = order[np.cumsum(edges[order]) <= LINE_EDGES]
        kind, of_known, truth = kind[order], of_known[order], truth[order]
        count = count[order]
    start, value = sets.of(known or 0)
    target_start, target_value = sets.of(target)
    width = np.diff(target_start) * (1 if known is None else np.diff(start))
    belief, weight = _mix_sets(
        people.start, people.group, people.weight, kind, of_known, truth, known is not None,
        start, value, target_start, target_value,
        np.concatenate(([0], np.cumsum(width))).astype(np.int64), share, total,
        is_chance,
    )  # fmt: skip
    return Found(belief, count, weight, sampled)


@kernel
def _mix_sets(
    start: Ints,
    group: Codes,
    weight: Floats,
    kind: Codes,
    known: Codes,
    truth: Codes,
    is_known: bool,
    set_start: Ints,
    set_value: Codes,
    target_start: Ints,
    target_value: Codes,
    share_start: Ints,  # (groups + 1,)
    share: Floats,
    total: Floats,
    is_chance: bool,  # whether a total is the probability of the known value in the group
) -> tuple[Floats, Floats]:
    belief = np.zeros(len(kind))
    held = np.zeros(len(kind))
    for line in range(len(kind)):
        top, bottom = 0.0, 0.0
        for edge in range(start[kind[line]], start[kind[line] + 1]):
            g = group[edge]
            low, high = target_start[g], target_start[g + 1]
            at, slot = share_start[g], np.int64(g)
            if is_known:
                entry = set_start[g] + np.searchsorted(
                    set_value[set_start[g] : set_start[g + 1]], known[line]
                )
                if entry == set_start[g + 1] or set_value[entry] != known[line]:
                    continue
                at += (entry - set_start[g]) * (high - low)
                slot = entry
            if total[slot] <= 0:
                continue
            likely = weight[edge] * total[slot] if is_chance else weight[edge]
            bottom += likely
            held[line] = max(held[line], total[slot])
            j = low + np.searchsorted(target_value[low:high], truth[line])
            if j < high and target_value[j] == truth[line]:
                top += likely * share[at + j - low] / total[slot]
        if bottom > 0:
            belief[line] = top / bottom
    return belief, held
