"""deFinetti: learn from the groups themselves which quasi-identifiers predict which values.

Kifer, "Attacks on privacy and deFinetti's theorem". The groups say how often each value occurs
among a few people; over many groups that betrays which quasi-identifiers it goes with. P(q_j | s)
is estimated, with 1 added to every count, from the beliefs W of the last round; W is then, within
each group, the share of one-to-one assignments weighted by Π P(q_j | s) (exact in small groups,
by scaling in others). It starts from the shares and ends after ``ROUNDS`` rounds, or when beliefs
stay constant.

The beliefs are not calibrated, so what is reported is the accuracy of the best guess with an
interval, beside guessing by the shares alone (1/ℓ) and beside a naive Bayes classifier that knows
the true pairs of half the people and no release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.base import Attack, Finding, Scene, wilson
from discreet.attacks.class_attacks import IN_TABLE
from discreet.attacks.inference.permanents import matching_beliefs_within
from discreet.releases.adversary_view import AdversaryView, KnownMembers
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Column
from discreet.table.counts import ValueCounts, order_by_class
from discreet.table.interrupts import stop_flag
from discreet.table.kernels import kernel
from discreet.typing import Codes, Floats, StopFlag

ROUNDS = 30
PEOPLE = 50_000  # at most so many learn and are guessed: whole groups, drawn at random
ENTRIES = 20_000_000  # pairs of a person and a value of the person's group
SMALL_STATES = 256  # of the exact one-to-one posterior
MOVED, STILL = 0.01, 0.001  # beliefs stay constant when so few of them move by more than so much
FEW_VALUES = 100  # an ordered quasi-identifier with more is cut into quantiles
QUANTILES = 50


class Definetti(Attack):
    """The best guess of an attacker who learns associations from the release itself."""

    name: ClassVar[str] = "definetti"
    also_knows: ClassVar[str] = "how to learn from all groups"
    slow: ClassVar[bool] = True
    inside: ClassVar[bool] = False
    may_count_rows: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        return f"{IN_TABLE}, and learns from all groups which quasi-identifiers predict which value"

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason is None and not any(_whole_groups(r).any() for r in scene.readings):
            return "no group has only rows that are certain"
        return reason

    def run(self, scene: Scene) -> Iterator[Finding]:
        for reading in scene.readings:
            if not _whole_groups(reading).any():
                self.omit(scene, reading.name, "no group has only rows that are certain")
                continue
            for attribute in reading.sensitive:
                yield self._one(scene, reading, attribute)

    def _one(self, scene: Scene, reading: AdversaryView, attribute: str) -> Finding:
        members, starts = _chosen_members(reading, attribute, scene.rng)
        quasi = [_binned(column) for column in scene.task.table.quasi_identifiers]
        if not quasi:
            quasi = [(np.zeros(scene.task.table.rows, np.int32), 1)]
        values = np.stack([codes[members.row] for codes, _ in quasi]).astype(np.int64)
        sizes = np.array([size for _, size in quasi])
        column = reading.sensitive[attribute]
        truth = recoded(column, scene.task.table[attribute])
        counts = reading.counts.values[attribute]
        with stop_flag() as stop:
            guess, share = _learn(
                values, sizes, members.group.astype(np.int64),
                starts, counts.start, counts.value, counts.count, column.cardinality, stop,
            )  # fmt: skip
        people = len(members.row)
        right = _expected_right(
            members, reading.members, guess, truth, column.cardinality + 1, counts
        )
        accuracy = right / max(people, 1)
        rows = scene.rng.permutation(scene.task.table.rows)[:PEOPLE]
        classifier = _classifier_accuracy(
            np.stack([codes[rows] for codes, _ in quasi]).astype(np.int64), sizes, truth[rows],
            column.cardinality + 1, scene.rng,
        )  # fmt: skip
        sampled = people < len(reading.members.row)
        return Finding(
            self.name, self.knowledge, attribute, reading.name, people,
            mean=accuracy, greatest=accuracy, above=0.0, certain=0.0, baseline=classifier,
            bound=None, exceeded=False, inside=False,
            method="accuracy of the best guess" + (", whole groups sampled" if sampled else ""),
            interval=wilson(right, people), is_belief=False, also_knows=self.also_knows,
            details={
                "accuracy": accuracy,
                "accuracy_by_shares": float(share.mean()) if len(share) else 0.0,
                "accuracy_of_classifier_without_release": classifier,
            },
        )  # fmt: skip


def _whole_groups(reading: AdversaryView) -> NDArray[np.bool_]:
    """The groups of which every member is known."""
    held = np.bincount(reading.members.group, minlength=reading.groups)
    return np.asarray(held == reading.size)


def _chosen_members(
    reading: AdversaryView, attribute: str, rng: np.random.Generator
) -> tuple[KnownMembers, NDArray[np.int64]]:
    """Members of whole groups, ordered by group, and where each of these groups starts."""
    whole = np.flatnonzero(_whole_groups(reading))
    distinct = np.diff(reading.counts.values[attribute].start)
    small = whole[reading.size[whole] <= PEOPLE // 4]  # many groups teach more than a large one
    order = rng.permutation(small if len(small) else whole)
    size = reading.size[order]
    within = (np.cumsum(size) <= PEOPLE) & (np.cumsum(size * distinct[order]) <= ENTRIES)
    within[:1] = True
    chosen = np.zeros(reading.groups, bool)
    chosen[order[within]] = True
    members = reading.members.take(np.flatnonzero(chosen[reading.members.group]))
    none = np.zeros(len(members.group), np.int32)
    _, by_group = order_by_class(members.group, none, reading.groups, 1)
    members = members.take(by_group)
    starts = np.flatnonzero(np.diff(members.group, prepend=-1))
    return members, np.append(starts, len(members.group))


def _expected_right(
    members: KnownMembers,  # who were guessed
    everybody: KnownMembers,
    guess: NDArray[np.int64],
    truth: Codes,  # (original rows,)
    cardinality: int,
    counts: ValueCounts,
) -> float:
    """Return how many guesses are right.

    Which of several equal rows is in which group cannot be known. Their values are given to
    their groups in every way that the groups' own values allow, and the average is taken.
    """
    kinds = int(everybody.kind_of_person.max(initial=-1)) + 1
    truth_start, by_kind = order_by_class(everybody.kind_of_person, truth, kinds, cardinality)
    none = np.zeros(len(everybody.kind), np.int32)
    start, order = order_by_class(everybody.kind, none, kinds, 1)
    key = members.kind.astype(np.int64) * counts.classes + members.group
    by_key = np.argsort(key, kind="stable")
    return _hits(
        start, everybody.group[order], truth_start, truth[by_kind], key[by_key], guess[by_key],
        counts.start, counts.value, counts.count,
    )  # fmt: skip


@kernel
def _hits(
    start: NDArray[np.int64],  # (kinds + 1,) of the members
    group: NDArray[np.int32],
    truth_start: NDArray[np.int64],  # (kinds + 1,) of the people
    truth: Codes,  # ascending within a kind
    key: NDArray[np.int64],  # (guessed,) kind and group, ascending
    guess: NDArray[np.int64],
    value_start: NDArray[np.int64],
    value: Codes,
    count: NDArray[np.int64],
) -> float:
    groups = len(value_start) - 1
    right = 0.0
    for kind in range(len(start) - 1):
        people, alike = start[kind + 1] - start[kind], truth_start[kind + 1] - truth_start[kind]
        if people == 0 or alike == 0:
            continue
        values = np.empty(alike, np.int64)
        held = np.zeros(alike, np.int64)
        distinct = 0
        for at in range(truth_start[kind], truth_start[kind + 1]):
            if distinct == 0 or values[distinct - 1] != truth[at]:
                values[distinct] = truth[at]
                distinct += 1
            held[distinct - 1] += 1
        weight = np.zeros((people, distinct))
        for p in range(people):
            g = group[start[kind] + p]
            for v in range(distinct):
                low, high = value_start[g], value_start[g + 1]
                at = low + np.searchsorted(value[low:high], values[v])
                if at < high and value[at] == values[v]:
                    weight[p, v] = count[at]
        if distinct == 1 or people != alike:
            chance = weight * held[:distinct]
        else:
            chance, _ = matching_beliefs_within(weight, held[:distinct], SMALL_STATES)
        for p in range(people):
            wanted = np.int64(kind) * groups + group[start[kind] + p]
            total = chance[p].sum()
            at = np.searchsorted(key, wanted)
            if total == 0 or at == len(key) or key[at] != wanted:
                continue
            for v in range(distinct):
                if values[v] == guess[at]:
                    right += chance[p, v] / total
    return right


def _binned(column: Column) -> tuple[Codes, int]:
    """A quasi-identifier as the classifier reads it."""
    if not column.type.ordered or column.cardinality <= FEW_VALUES:
        return column.codes, column.cardinality
    before = np.cumsum(column.counts) - column.counts
    bin_of_value = (before * QUANTILES // max(len(column.codes), 1)).astype(np.int32)
    return bin_of_value[column.codes], QUANTILES


def _classifier_accuracy(
    values: NDArray[np.int64],
    sizes: NDArray[np.int64],
    truth: Codes,
    classes: int,
    rng: np.random.Generator,
) -> float:
    """Naive Bayes trained on the true pairs of one half, tested on the other, both ways."""
    half = rng.permutation(len(truth)) % 2 == 0
    right = 0
    for train, test in ((half, ~half), (~half, half)):
        prior = np.bincount(truth[train], minlength=classes) + 1.0
        score = np.tile(np.log(prior), (int(test.sum()), 1))
        for column, size in zip(values, sizes, strict=True):
            joint = np.ones((size, classes))
            np.add.at(joint, (column[train], truth[train]), 1.0)
            score += np.log(joint / joint.sum(axis=0))[column[test]]
        right += int((score.argmax(axis=1) == truth[test]).sum())
    return right / max(len(truth), 1)


@kernel
def _learn(
    values: NDArray[np.int64],  # (quasi-identifiers, people)
    sizes: NDArray[np.int64],
    group_of_person: NDArray[np.int64],
    start: NDArray[np.int64],  # where each chosen group's people start
    value_start: NDArray[np.int64],
    value: Codes,
    count: NDArray[np.int64],
    cardinality: int,
    stop: StopFlag,
) -> tuple[NDArray[np.int64], Floats]:
    """The best guess for every person, and the greatest share in each one's group."""
    columns, people = values.shape
    offset = np.zeros(columns + 1, np.int64)
    for j in range(columns):
        offset[j + 1] = offset[j] + sizes[j]
    entry = np.zeros(people + 1, np.int64)
    for p in range(people):
        g = group_of_person[p]
        entry[p + 1] = entry[p] + value_start[g + 1] - value_start[g]
    belief = np.empty(entry[people])
    share = np.zeros(people)
    for p in range(people):
        g = group_of_person[p]
        low = value_start[g]
        total = 0
        for e in range(low, value_start[g + 1]):
            total += count[e]
        for e in range(low, value_start[g + 1]):
            belief[entry[p] + e - low] = count[e] / total
            share[p] = max(share[p], count[e] / total)
    for _ in range(ROUNDS):
        likelihood = _likelihoods(
            values, sizes, offset, group_of_person, entry, value_start, value, belief, cardinality
        )
        moved = 0
        for number in range(len(start) - 1):
            if stop[0]:
                break
            first, last = start[number], start[number + 1]
            g = group_of_person[first]
            low, high = value_start[g], value_start[g + 1]
            weight = np.empty((last - first, high - low))
            for p in range(first, last):
                best = -np.inf
                for e in range(low, high):
                    score = 0.0
                    for j in range(columns):
                        score += likelihood[offset[j] + values[j, p], value[e]]
                    weight[p - first, e - low] = score
                    best = max(best, score)
                for e in range(high - low):
                    weight[p - first, e] = np.exp(weight[p - first, e] - best)
            found, _ = matching_beliefs_within(weight, count[low:high], SMALL_STATES)
            for p in range(first, last):
                for e in range(high - low):
                    at = entry[p] + e
                    moved += abs(belief[at] - found[p - first, e]) > MOVED
                    belief[at] = found[p - first, e]
        if stop[0] or moved <= STILL * len(belief):
            break
    guess = np.empty(people, np.int64)
    for p in range(people):
        low = value_start[group_of_person[p]]
        best = entry[p]
        for at in range(entry[p], entry[p + 1]):
            if belief[at] > belief[best]:
                best = at
        guess[p] = value[low + best - entry[p]]
    return guess, share


@kernel
def _likelihoods(
    values: NDArray[np.int64],
    sizes: NDArray[np.int64],
    offset: NDArray[np.int64],
    group_of_person: NDArray[np.int64],
    entry: NDArray[np.int64],
    value_start: NDArray[np.int64],
    value: Codes,
    belief: Floats,
    cardinality: int,
) -> Floats:
    """ln P(q_j | s) by believed counts, with 1 added to each."""
    columns, people = values.shape
    seen = np.ones((offset[columns], cardinality))
    total = np.zeros(cardinality)
    for p in range(people):
        low = value_start[group_of_person[p]]
        for at in range(entry[p], entry[p + 1]):
            s = value[low + at - entry[p]]
            total[s] += belief[at]
            for j in range(columns):
                seen[offset[j] + values[j, p], s] += belief[at]
    for j in range(columns):
        for s in range(cardinality):
            whole = total[s] + sizes[j]
            for v in range(offset[j], offset[j + 1]):
                seen[v, s] = np.log(seen[v, s] / whole)
    return seen
