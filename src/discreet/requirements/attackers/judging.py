"""Judge requirements on the groups of attackers, from the cells of a table alone.

The rows are grouped anew for every set of columns; nothing is shared with the methods, which
count while they search. Columns with one cell drop out. Where the sets are all combinations of
some columns, the key of all columns but the last is kept while the last one changes, so that one
set costs one pass over the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np

from discreet.requirements.attackers.attacker import KeySets
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.table.classes import classes_of, pack_keys
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts, ValueCounts, count_classes
from discreet.typing import Codes, Ints

DENSE = 2**21  # counts that are kept in a table for each combination of cells, occurring or not
BATCH = 2**19  # such counts that are judged together


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
class _Batch:
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
    found = [_judge(requirement, keys, table, domains) for keys in key_sets]
    verdicts = [one.verdict for one in found if one.verdict.achieved or not one.verdict.holds]
    _, smaller_is_better = requirement.figure
    verdict = Verdict.worst(verdicts, smaller_is_better=smaller_is_better)
    if not verdicts:  # attackers know all that it protects, or there is no row
        verdict = Verdict(not table.rows, {})
    elif table.rows:
        whole = count_classes(
            classes_of([], table.entries, table.weights), table.sensitive,
            refined=requirement.needs_refined_counts,
        )  # fmt: skip
        verdict = replace(verdict, vacuous_for=requirement.vacuous_for(whole, domains))
    failing = [one for one in found if one.failing_sets]
    sizes: Counter[int] = Counter()
    for one in failing:
        sizes.update(one.failing_sizes)
    lengths: dict[int, Mapping[str, float]] = {}
    if by_length:
        for length in range(1, max((keys.length for keys in key_sets), default=0)):
            shorter = [replace(keys, length=min(length, keys.length)) for keys in key_sets]
            below = judge_key_sets(requirement, shorter, table, domains)
            lengths[length] = below.verdict.achieved
        lengths[max(keys.length for keys in key_sets)] = verdict.achieved
    return KeyFindings(
        verdict,
        sum(one.sets for one in found),
        sum(one.failing_sets for one in failing),
        min(failing, key=lambda one: min(one.failing_sizes)).worst_set if failing else (),
        dict(sorted(sizes.items())),
        lengths,
    )


def _judge(
    requirement: Requirement, keys: KeySets, table: CodedTable, domains: Domains
) -> KeyFindings:
    """Judge a requirement on the sets of one attacker."""
    names = [column.name for column in table.sensitive if column.name not in keys.known]
    own = requirement.within(names)
    if own is None:
        return KeyFindings(Verdict(True, {}))
    bare = ClassCounts(np.zeros(0, np.int64), dict.fromkeys(names))  # type: ignore[arg-type]
    judged = [name for name in own.attributes(bare) if name]
    _, smaller_is_better = own.figure
    verdict: Verdict | None = None
    failing_sets, worst_set = 0, tuple[str, ...]()
    sizes: Counter[int] = Counter()
    least = np.inf
    for batch in _batches(keys, table, judged, refined=own.needs_refined_counts):
        found = own.check(batch.counts, domains)
        failing = ~found.passes
        if failing.any():
            failing_sets += int(np.count_nonzero(np.add.reduceat(failing, batch.start[:-1])))
            small = np.where(failing, batch.counts.size, np.iinfo(np.int64).max)
            group = int(small.argmin())
            if small[group] < least:
                least = small[group]
                worst_set = batch.sets[int(np.searchsorted(batch.start, group, "right")) - 1]
            sizes.update(batch.counts.size[failing].tolist())
        found = replace(found, passes=np.zeros(0, bool))
        verdict = (
            found
            if verdict is None
            else Verdict.worst((verdict, found), smaller_is_better=smaller_is_better)
        )
    if verdict is None:
        verdict = Verdict(True, {})
    varying = [name for name in keys.columns if table[name].cardinality > 1]
    judged_sets = comb(len(varying), min(keys.length, len(varying)))
    return KeyFindings(verdict, judged_sets, failing_sets, worst_set, dict(sizes))


def _batches(
    keys: KeySets, table: CodedTable, judged: Sequence[str], *, refined: bool
) -> Iterator[_Batch]:
    """Yield the groups of every set of columns, those of several sets at once."""
    if not table.rows:
        return
    columns = [table[name] for name in keys.columns if table[name].cardinality > 1]
    known = [table[name] for name in keys.known]
    length = min(keys.length, len(columns))
    dense = _Dense(table, judged)
    for prefix in combinations(range(len(columns)), max(length - 1, 0)):
        chosen = [*known, *(columns[number] for number in prefix)]
        after = prefix[-1] + 1 if prefix else 0
        for last in columns[after:] if length else [None]:
            both = chosen if last is None else [*chosen, last]
            named = tuple(column.name for column in both)
            if not refined and dense.fits(both):
                yield from dense.add(named, chosen, last)
                continue
            classes = classes_of(both, table.entries, table.weights)
            sensitive = [c for c in table.sensitive if c.name not in keys.known]
            counts = _with_reference(count_classes(classes, sensitive, refined=refined), table)
            yield _Batch([named], np.array([0, classes.count]), counts)
    yield from dense.rest()


def _with_reference(counts: ClassCounts, table: CodedTable) -> ClassCounts:
    values = {
        name: replace(found, reference=table[name].reference)
        for name, found in counts.values.items()
    }
    return replace(counts, values=values)


class _Dense:
    """Counts of all combinations of cells of a set, collected until many can be judged at once."""

    def __init__(self, table: CodedTable, judged: Sequence[str]) -> None:
        self._table = table
        self._judged = [table[name] for name in judged]
        self._passes: list[Column | None] = [*self._judged] or [None]  # None: rows alone
        self._codes: dict[str, Ints] = {}  # as the counting needs them
        self._prefix: tuple[str, ...] | None = None
        self._base: list[tuple[Ints, int]] = []  # by judged attribute: keys and their bound
        self._sets: list[tuple[str, ...]] = []
        self._found: list[list[Ints]] = []  # by set and judged attribute: (cells, values)
        self._held = 0
        self._place = np.empty(table.entries, np.int64)

    def fits(self, columns: Sequence[Column]) -> bool:
        """Return whether the combinations of the columns' cells are few enough."""
        cells = max((column.cardinality for column in self._judged), default=1)
        for column in columns:
            cells *= column.cardinality
        return cells <= DENSE

    def add(
        self, named: tuple[str, ...], prefix: Sequence[Column], last: Column | None
    ) -> Iterator[_Batch]:
        """Count the groups of a set, and yield all that were counted if they are many."""
        names = tuple(column.name for column in prefix)
        if names != self._prefix:
            self._prefix, self._base = (
                names,
                [self._packed(prefix, attribute) for attribute in self._passes],
            )
        found = []
        for attribute, (base, bound) in zip(self._passes, self._base, strict=True):
            place, cells = base, bound
            if last is not None:
                np.multiply(self._of(last), bound, out=self._place)
                place, cells = np.add(self._place, base, out=self._place), bound * last.cardinality
            counted = np.bincount(place, self._table.weights, cells).astype(np.int64, copy=False)
            values = 1 if attribute is None else attribute.cardinality
            found.append(counted.reshape(-1, values))
            self._held += cells
        self._sets.append(named)
        self._found.append(found)
        if self._held > BATCH:
            yield from self.rest()

    def _of(self, column: Column) -> Ints:
        if column.name not in self._codes:
            self._codes[column.name] = column.codes.astype(np.int64)
        return self._codes[column.name]

    def _packed(self, prefix: Sequence[Column], attribute: Column | None) -> tuple[Ints, int]:
        """One key a row of the first columns of a set and a judged attribute."""
        packed = [*prefix, *([] if attribute is None else [attribute])]
        codes: list[Codes] = [column.codes for column in packed]
        return pack_keys(codes, [column.cardinality for column in packed], self._table.entries)

    def rest(self) -> Iterator[_Batch]:
        """Yield what was counted and not judged."""
        if not self._sets:
            return
        whole = [np.concatenate(parts) for parts in zip(*self._found, strict=True)]
        size = whole[0].sum(axis=1)
        occurs = size > 0
        of_set = np.repeat(np.arange(len(self._sets)), [len(parts[0]) for parts in self._found])
        groups = np.bincount(of_set[occurs], minlength=len(self._sets))
        values = {
            column.name: _sparse(counted[occurs], column)
            for column, counted in zip(self._judged, whole, strict=False)
        }
        yield _Batch(
            self._sets,
            np.concatenate(([0], np.cumsum(groups))),
            ClassCounts(size[occurs], values),
        )
        self._sets, self._found, self._held = [], [], 0


def _sparse(counted: Ints, column: Column) -> ValueCounts:
    group, value = np.nonzero(counted)
    start = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=len(counted)))))
    return ValueCounts(
        start.astype(np.int64), value.astype(np.int32), counted[group, value],
        column.cardinality, column.reference,
    )  # fmt: skip
