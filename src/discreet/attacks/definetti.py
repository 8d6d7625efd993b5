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

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import IN_TABLE, Attack, Finding, Scene, wilson
from discreet.releases.adversary_view import AdversaryView, KnownMembers
from discreet.releases.worlds.permanents import matching_beliefs_of_groups
from discreet.statements import Statement
from discreet.table.budgets import IN_CACHE, TABLE_CELLS
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Column
from discreet.table.counts import ValueCounts, order_by_class
from discreet.table.interrupts import stop_flag
from discreet.table.kernels.lists import (
    distinct_values,
    entries_of,
    places_of,
    starts_of,
    stretches,
)
from discreet.typing import Bools, Codes, Floats, Ints, StopFlag

ROUNDS = 30
PEOPLE = 25_000  # at most so many learn and are guessed: whole groups, drawn at random
SMALL_STATES = 256  # of the exact one-to-one posterior
MOVED, STILL = 0.01, 0.001  # beliefs stay constant when so few of them move by more than so much
EQUAL = 1e-9  # beliefs that differ by less do so by rounding
FEW_VALUES = 100  # an ordered quasi-identifier with more is cut into quantiles
QUANTILES = 50


class Definetti(Attack):
    """The best guess of an attacker who learns associations from the release itself."""

    name: ClassVar[str] = "definetti"
    also_knows: ClassVar[str] = Statement("also-knows.learning")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ENGINEER,)
    slow: ClassVar[bool] = True
    inside: ClassVar[bool] = False
    may_count_rows: ClassVar[bool] = True
    knows: ClassVar[Statement] = Statement("knows.learning", first=IN_TABLE)

    def lacking(self, scene: Scene) -> str | None:
        if scene.readings and not any(_whole_groups(r).any() for r in scene.readings):
            return Statement("omitted.no-certain-group")
        return None

    def run(self, scene: Scene) -> Iterator[Finding]:
        for reading in scene.readings:
            if not _whole_groups(reading).any():
                self.omit(scene, reading.name, Statement("omitted.no-certain-group"))
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
                values, sizes, members.group.astype(np.int64), starts, counts, stop
            )
        sensitive = scene.is_sensitive(attribute)
        right, people = _expected_right(
            members, reading.members, guess, truth, column.cardinality + 1, counts, sensitive
        )
        accuracy = right / max(people, 1)
        rows = scene.rng.permutation(scene.task.table.rows)[:PEOPLE]
        classifier = _classifier_accuracy(
            np.stack([codes[rows] for codes, _ in quasi]).astype(np.int64), sizes, truth[rows],
            column.cardinality + 1, scene.rng, sensitive,
        )  # fmt: skip
        sampled = len(members.row) < len(reading.members.row)
        return Finding(
            self.name, self.knowledge, attribute, reading.name, people,
            mean=accuracy, greatest=accuracy, above=0.0, certain=0.0, baseline=classifier,
            bound=None, exceeded=False, inside=False,
            method=Statement("figures.best-guess" + ".sampled" * sampled),
            interval=wilson(right, people), is_belief=False, also_knows=self.also_knows,
            attacker=self.attackers[0],
            details={
                "accuracy": accuracy,
                "accuracy_by_shares": _accuracy_by_shares(share, members, counts, sensitive),
                "accuracy_of_classifier_without_release": classifier,
            },
        )  # fmt: skip


def _accuracy_by_shares(
    share: Floats,  # (people,) of the most frequent value in each one's group
    members: KnownMembers,
    counts: ValueCounts,
    sensitive: Bools | None,  # (values,) None where all are
) -> float:
    """How often the most frequent value of the group is right, for people with a sensitive one."""
    if sensitive is None:
        return float(share.mean()) if len(share) else 0.0
    entry, group = entries_of(counts.start, distinct_values(members.group))
    count, told = counts.count[entry], sensitive[counts.value[entry]]
    first = np.lexsort((-count, group))
    first = first[np.diff(group[first], prepend=-1) > 0]  # of equal counts the first
    return float(count[first][told[first]].sum() / max(int(count[told].sum()), 1))


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
    within = (np.cumsum(size) <= PEOPLE) & (np.cumsum(size * distinct[order]) <= TABLE_CELLS)
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
    sensitive: Bools | None = None,  # (values,) None where all are
) -> tuple[float, int]:
    """Return how many guesses are right, and of how many persons with a sensitive value.

    Which of several equal rows is in which group cannot be known. Their values are given to
    their groups in every way that the groups' own values allow, and the average is taken.
    """
    kinds = int(everybody.kind_of_person.max(initial=-1)) + 1
    truth_start, by_kind = order_by_class(everybody.kind_of_person, truth, kinds, cardinality)
    none = np.zeros(len(everybody.kind), np.int32)
    start, order = order_by_class(everybody.kind, none, kinds, 1)
    key = members.kind.astype(np.int64) * counts.classes + members.group
    by_key = np.argsort(key, kind="stable")
    key, guess, group = key[by_key], guess[by_key], everybody.group[order].astype(np.int64)
    value, value_start, held = _distinct(truth_start, truth[by_kind])
    counted = counts.class_of_entry * cardinality + counts.value
    people, alike, distinct = np.diff(start), np.diff(truth_start), np.diff(value_start)
    chosen = distinct_values(key // counts.classes)
    chosen = chosen[(people[chosen] > 0) & (alike[chosen] > 0)]
    right, covered = 0.0, 0.0
    for part in stretches(people[chosen] * distinct[chosen]):
        member, kind = entries_of(start, chosen[part])
        kind = chosen[part][kind]
        entry, person = entries_of(value_start, kind)
        entry_of_value = places_of(counted, group[member[person]] * cardinality + value[entry])
        weight = np.where(entry_of_value >= 0, counts.count[entry_of_value], 0).astype(np.float64)
        chance = weight * held[entry]
        several = (distinct > 1) & (people == alike)
        pairs = several[kind[person]]
        if pairs.any():
            kinds = chosen[part][several[chosen[part]]]
            exact = np.zeros(int(pairs.sum()))
            matching_beliefs_of_groups(
                starts_of(people[kinds]), starts_of(distinct[kinds]),
                held[entries_of(value_start, kinds)[0]],
                starts_of(people[kinds] * distinct[kinds]), weight[pairs], SMALL_STATES, exact,
                np.zeros(1, np.uint8),
            )  # fmt: skip
            chance[pairs] = exact
        total = np.bincount(person, chance, len(member))
        at = places_of(key, kind * counts.classes + group[member])
        hit = (total > 0) & (at >= 0)
        is_told = hit[person] if sensitive is None else hit[person] & sensitive[value[entry]]
        hit = is_told & (value[entry] == guess[at[person]])
        right += float((chance[hit] / total[person[hit]]).sum())
        covered += float((chance[is_told] / total[person[is_told]]).sum())
    return right, len(members.row) if sensitive is None else round(covered)


def _distinct(start: Ints, truth: Codes) -> tuple[Ints, Ints, Ints]:
    """The distinct values of each kind, where those of a kind start, and how many have each."""
    kind = np.repeat(np.arange(len(start) - 1), np.diff(start))
    first = np.flatnonzero((np.diff(kind, prepend=-1) > 0) | (np.diff(truth, prepend=-1) != 0))
    held = np.diff(np.append(first, len(truth)))
    distinct = np.bincount(kind[first], minlength=len(start) - 1)
    return truth[first].astype(np.int64), starts_of(distinct), held


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
    sensitive: Bools | None = None,  # (values,) None where all are
) -> float:
    """Naive Bayes trained on the true pairs of one half, tested on the other, both ways."""
    half = rng.permutation(len(truth)) % 2 == 0
    right = 0
    for train, test in ((half, ~half), (~half, half)):
        prior = np.bincount(truth[train], minlength=classes) + 1.0
        likely = []
        for column, size in zip(values, sizes, strict=True):
            place = column[train] * classes + truth[train]
            joint = 1.0 + np.bincount(place, minlength=size * classes).reshape(size, classes)
            likely.append(np.log(joint / joint.sum(axis=0)))
        tested = np.flatnonzero(test)
        hit = np.empty(len(tested), np.bool_)
        for part in stretches(np.full(len(tested), classes), IN_CACHE):  # few enough for the cache
            score = np.tile(np.log(prior), (part.stop - part.start, 1))
            for column, score_of_code in zip(values, likely, strict=True):
                score += score_of_code[column[tested[part]]]
            hit[part] = score.argmax(axis=1) == truth[tested[part]]
        right += int((hit if sensitive is None else hit & sensitive[truth[test]]).sum())
    return right / max(len(truth) if sensitive is None else int(sensitive[truth].sum()), 1)


def _learn(
    values: NDArray[np.int64],  # (quasi-identifiers, people)
    sizes: NDArray[np.int64],
    group_of_person: NDArray[np.int64],
    start: NDArray[np.int64],  # where each chosen group's people start
    counts: ValueCounts,
    stop: StopFlag,
) -> tuple[NDArray[np.int64], Floats]:
    """The best guess for every person, and the greatest share in each one's group."""
    group = group_of_person[start[:-1]]
    value_of_group, _ = entries_of(counts.start, group)
    value_start = starts_of(np.diff(counts.start)[group])
    pair_start = starts_of(np.diff(start) * np.diff(value_start))
    entry, person = entries_of(counts.start, group_of_person)
    first = starts_of(np.diff(counts.start)[group_of_person])[:-1]
    value = counts.value[entry]
    rows = np.bincount(counts.class_of_entry, counts.count, counts.classes)
    belief = counts.count[entry] / rows[group_of_person][person]
    share = np.maximum.reduceat(belief, first)
    for _ in range(ROUNDS):
        score = np.zeros(len(entry))
        total = np.bincount(value, belief, counts.cardinality)
        for codes, size in zip(values, sizes.tolist(), strict=True):
            # Σ ln P(q_j | s), with 1 added to how often each q_j occurs with each s.
            place = codes[person] * counts.cardinality + value
            seen = 1.0 + np.bincount(place, belief, size * counts.cardinality)
            score += np.log(seen.reshape(size, -1) / (total + size)).reshape(-1)[place]
        weight = np.exp(score - np.maximum.reduceat(score, first)[person])
        last = belief.copy()
        matching_beliefs_of_groups(
            start, value_start, counts.count[value_of_group], pair_start, weight, SMALL_STATES,
            belief, stop,
        )  # fmt: skip
        moved = int((np.abs(belief - last) > MOVED).sum())
        if stop[0] or moved <= STILL * len(belief):
            break
    best = np.flatnonzero(belief > np.maximum.reduceat(belief, first)[person] - EQUAL)
    best = best[np.diff(person[best], prepend=-1) > 0]  # of equal beliefs the first
    return value[best].astype(np.int64), share
