"""What must hold for whom, and requirements judged on the groups of attackers.

A demand is a set of columns that attackers know, with its requirements.

The rows are grouped anew for every set of columns; nothing is shared with the methods, which
count while they search. Columns with one cell drop out. Where the sets are all combinations of
some columns, the key of all columns but the last is kept while the last one changes, so that one
set costs one pass over the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb, prod

import numpy as np

from discreet.requirements.attackers.attacker import KeySets
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.requirements.judge import key_sets as key_sets_of
from discreet.requirements.judge import limits_knowledge, vacuous_for
from discreet.table.budgets import AT_ONCE
from discreet.table.classes import classes_of, group_codes, pack_keys
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts, ValueCounts, count_cells, count_classes, sum_counts
from discreet.typing import AnyInts, Bools, Codes, Ints


@dataclass(frozen=True, eq=False)
class Demand:
    """Requirements that hold for the groups of some sets of columns."""

    keys: KeySets
    requirements: tuple[Requirement, ...]  # without the attributes whose values are known

    def passes_where_known(
        self,
        of_class: Ints,  # (entries,)
        row: Ints,  # (entries,) a row that has the entry's sensitive values
        count: Ints,  # (entries,)
        classes: int,
        sensitive: Mapping[str, Column],
        domains: Domains,
    ) -> Bools:
        """(classes,) Which pass for each value of the known sensitive attributes that they have."""
        # Cut each class by the known values.
        known = [sensitive[name] for name in self.keys.known]
        codes: list[Codes] = [of_class.astype(np.int32), *(column.codes[row] for column in known)]
        inner = group_codes(codes, [classes, *(column.cardinality for column in known)], len(row))
        size = np.bincount(inner.class_of_row, count, inner.count).astype(np.int64)
        of_group = inner.class_of_row.astype(np.int64)
        # Count the values of the other attributes there, and judge them.
        values = {
            name: sum_counts(
                of_group, column.codes[row], count, (inner.count, column.cardinality),
                column.reference,
            )
            for name, column in sensitive.items()
            if name not in self.keys.known
        }  # fmt: skip
        passes = np.ones(inner.count, bool)
        for requirement in self.requirements:
            passes &= requirement.passes(ClassCounts(size, values), domains)
        passing = np.ones(classes, bool)
        passing[of_class[inner.first_row[~passes]]] = False
        return passing


def demands_of(requirements: Iterable[Requirement], table: CodedTable) -> list[Demand]:
    """The sets of columns that the attackers of some requirements know, with what must hold."""
    quasi = tuple(column.name for column in table.quasi_identifiers)
    sensitive = [column.name for column in table.sensitive]
    by_keys: dict[KeySets, list[Requirement]] = {}
    for requirement in requirements:
        for keys in key_sets_of(requirement, quasi) or (KeySets(quasi, len(quasi)),):
            judged = requirement.within([name for name in sensitive if name not in keys.known])
            if judged is not None:
                by_keys.setdefault(keys, []).append(judged)
    return [Demand(keys, tuple(judged)) for keys, judged in by_keys.items()]


def limited(requirements: Sequence[Requirement]) -> bool:
    """Return whether some requirement holds only for attackers who know some columns."""
    return any(limits_knowledge(requirement) for requirement in requirements)


@dataclass(frozen=True, eq=False)
class KeyFindings:
    """What a requirement says of the groups of all sets of columns."""

    verdict: Verdict  # without the details of each group
    sets: int = 0  # of columns with more than one cell
    failing_sets: int = 0
    worst_set: tuple[str, ...] = ()  # of those that fail, the first with the smallest group
    failing_sizes: Mapping[int, int] = field(default_factory=dict)  # groups that fail, by size
    # by the number of known columns: the figures of all groups
    by_length: Mapping[int, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _SetGroups:
    """The groups of some sets of columns, one set after the other."""

    sets: Sequence[tuple[str, ...]]
    start: Ints  # (sets + 1,) where the groups of each set start
    counts: ClassCounts


def judge_key_sets(
    requirement: Requirement,
    key_sets: Sequence[KeySets],
    table: CodedTable,
    domains: Domains,
    *,
    by_length: bool = False,
) -> KeyFindings:
    """Judge a requirement on the groups of every set of columns.

    ``by_length`` also finds the figures of smaller sets, which no verdict needs.
    """
    findings = [_judge(requirement, keys, table, domains) for keys in key_sets]
    # The worst of all sets of columns.
    verdicts = [finding.verdict for finding in findings]
    verdicts = [verdict for verdict in verdicts if verdict.achieved or not verdict.holds]
    smaller_is_better = requirement.algebra.smaller_is_better
    verdict = Verdict.worst(verdicts, smaller_is_better=smaller_is_better)
    if not verdicts:  # attackers know all that it protects, or there is no row
        verdict = Verdict(not table.rows, {})
    elif table.rows:
        whole = count_classes(
            classes_of([], table.entries, table.weights), table.sensitive,
            refined=requirement.algebra.refined,
        )  # fmt: skip
        verdict = replace(verdict, vacuous_for=vacuous_for(requirement, whole, domains))
    # The groups that fail, and the set with the smallest of them.
    failing = [finding for finding in findings if finding.failing_sets]
    sizes: Counter[int] = Counter()
    for finding in failing:
        sizes.update(finding.failing_sizes)
    # The figures of attackers who know fewer columns.
    lengths: dict[int, Mapping[str, float]] = {}
    if by_length:
        for length in range(1, max((keys.length for keys in key_sets), default=0)):
            shorter = [replace(keys, length=min(length, keys.length)) for keys in key_sets]
            below = judge_key_sets(requirement, shorter, table, domains)
            lengths[length] = below.verdict.achieved
        lengths[max(keys.length for keys in key_sets)] = verdict.achieved
    return KeyFindings(
        verdict,
        sum(finding.sets for finding in findings),
        sum(finding.failing_sets for finding in failing),
        min(failing, key=lambda finding: min(finding.failing_sizes)).worst_set if failing else (),
        dict(sorted(sizes.items())),
        lengths,
    )


def _judge(
    requirement: Requirement, keys: KeySets, table: CodedTable, domains: Domains
) -> KeyFindings:
    """Judge a requirement on the sets of one attacker."""
    names = [column.name for column in table.sensitive if column.name not in keys.known]
    narrowed = requirement.within(names)
    if narrowed is None:
        return KeyFindings(Verdict(True, {}))
    # What is judged: attributes whose values the attacker does not know.
    bare = ClassCounts(np.zeros(0, np.int64), dict.fromkeys(names))  # type: ignore[arg-type]
    judged = [name for name in narrowed.attributes(bare) if name]
    smaller_is_better = narrowed.algebra.smaller_is_better
    verdict: Verdict | None = None
    failing_sets, worst_set = 0, tuple[str, ...]()
    sizes: Counter[int] = Counter()
    least = np.inf
    # Judge batch by batch, and keep the worst alone.
    for batch in _batches(keys, table, judged, refined=narrowed.algebra.refined):
        verdict_of_batch = narrowed.check(batch.counts, domains)
        failing = ~verdict_of_batch.passes
        if failing.any():
            failing_sets += int(np.count_nonzero(np.add.reduceat(failing, batch.start[:-1])))
            small = np.where(failing, batch.counts.size, np.iinfo(np.int64).max)
            group = int(small.argmin())
            if small[group] < least:
                least = small[group]
                worst_set = batch.sets[int(np.searchsorted(batch.start, group, "right")) - 1]
            size, times = np.unique(batch.counts.size[failing], return_counts=True)
            sizes.update(dict(zip(size.tolist(), times.tolist(), strict=True)))
        verdict_of_batch = replace(verdict_of_batch, passes=np.zeros(0, bool))
        verdict = (
            verdict_of_batch
            if verdict is None
            else Verdict.worst((verdict, verdict_of_batch), smaller_is_better=smaller_is_better)
        )
    if verdict is None:
        verdict = Verdict(True, {})
    varying = [name for name in keys.columns if table[name].cardinality > 1]
    judged_sets = comb(len(varying), min(keys.length, len(varying)))
    return KeyFindings(verdict, judged_sets, failing_sets, worst_set, dict(sizes))


def _batches(
    keys: KeySets, table: CodedTable, judged: Sequence[str], *, refined: bool
) -> Iterator[_SetGroups]:
    """Yield the groups of every set of columns, those of several sets at once."""
    if not table.rows:
        return
    # Columns with one cell drop out; the last column of a set changes fastest.
    columns = [table[name] for name in keys.columns if table[name].cardinality > 1]
    known = [table[name] for name in keys.known]
    length = min(keys.length, len(columns))
    dense = _Dense(table, columns, [table[name] for name in judged])
    for prefix in combinations(range(len(columns)), max(length - 1, 0)):
        first = [*known, *(columns[number] for number in prefix)]
        last = range(prefix[-1] + 1 if prefix else 0, len(columns) if length else 0)
        # Last columns with few combinations of cells are counted several at once.
        fitting = [] if refined or not length else dense.fitting(first, last)
        if fitting:
            yield from dense.batches(first, fitting)
        # The others form classes one by one.
        for number in sorted({*last} - {*fitting}) if length else [None]:
            both = first if number is None else [*first, columns[number]]
            classes = classes_of(both, table.entries, table.weights)
            sensitive = [c for c in table.sensitive if c.name not in keys.known]
            counts = count_classes(classes, sensitive, refined=refined)
            values = {
                name: replace(of_attribute, reference=table[name].reference)
                for name, of_attribute in counts.values.items()
            }
            named = tuple(column.name for column in both)
            yield _SetGroups([named], np.array([0, classes.count]), replace(counts, values=values))


class _Dense:
    """Counts of all combinations of cells, occurring or not, of sets that differ in one column."""

    def __init__(
        self, table: CodedTable, columns: Sequence[Column], judged: Sequence[Column]
    ) -> None:
        self._table = table
        self._columns = columns
        self._judged = judged
        self._values = max((column.cardinality for column in judged), default=1)
        few = all(column.cardinality <= np.iinfo(np.uint8).max for column in columns)
        self._cells = np.empty((len(columns), table.entries), np.uint8 if few else np.int32)
        for number, column in enumerate(columns):
            self._cells[number] = column.codes

    def fitting(self, first: Sequence[Column], last: Sequence[int]) -> list[int]:
        """The last columns with which the combinations of cells are few enough."""
        cells = self._values * prod(column.cardinality for column in first)
        return [n for n in last if cells * self._columns[n].cardinality <= AT_ONCE]

    def batches(self, first: Sequence[Column], last: Sequence[int]) -> Iterator[_SetGroups]:
        """Yield the groups of some columns with each of the last ones."""
        cells = self._values * prod(column.cardinality for column in first)
        batch: list[int] = []
        for place, number in enumerate(last):
            batch.append(number)
            held = cells * sum(self._columns[column].cardinality for column in batch)
            if held > AT_ONCE // 4 or place == len(last) - 1:
                yield self._counted(first, batch)
                batch = []

    def _counted(self, first: Sequence[Column], last: Sequence[int]) -> _SetGroups:
        widths = np.array([self._columns[number].cardinality for number in last], np.int64)
        counts, rows = [], self._table.entries
        passes: list[Column | None] = [*self._judged] or [None]  # None: rows alone
        # Count every combination of cells, and of values, with each of the last columns.
        for attribute in passes:
            packed = [*first, *([] if attribute is None else [attribute])]
            codes: list[Codes] = [column.codes for column in packed]
            key, bound = pack_keys(codes, [column.cardinality for column in packed], rows)
            counted = np.zeros(bound * int(widths.sum()), np.int64)
            if self._table.weights is None:
                count_cells(key, bound, self._cells[last], widths, counted)
            else:
                _count_weighted(key, bound, self._cells[last], widths, self._table.weights, counted)
            counts.append(counted.reshape(-1, 1 if attribute is None else attribute.cardinality))
        # Keep the combinations that occur, as groups.
        size = counts[0].sum(axis=1)
        occurs = np.flatnonzero(size)
        groups = np.searchsorted(occurs, np.cumsum(widths) * (len(size) // int(widths.sum())))
        values = {
            column.name: ValueCounts.of_table(counted[occurs], column)
            for column, counted in zip(self._judged, counts, strict=False)
        }
        names = tuple(column.name for column in first)
        return _SetGroups(
            [(*names, self._columns[number].name) for number in last],
            np.concatenate(([0], groups)),
            ClassCounts(size[occurs], values),
        )


def _count_weighted(
    key: Ints, bound: int, cells: AnyInts, widths: Ints, weights: Ints, counted: Ints
) -> None:
    """The same where an entry represents several rows."""
    begin = 0
    for cell, width in zip(cells, widths.tolist(), strict=True):
        counts = np.bincount(cell.astype(np.int64) * bound + key, weights, bound * width)
        counted[begin : begin + bound * width] = counts
        begin += bound * width
