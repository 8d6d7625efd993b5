"""The masses that a decomposed release implies: rows of T^S raked into the groups' sets.

A person in a group has a row of T^S whose values are all in the group's sets. Starting from the
rows' counts, masses are scaled in turn until each primary value of a group has the mass of its one
person (a merged group as a whole that of its people) and each row of T^S its count: iterative
proportional fitting, which finds the distribution nearest to "any row of T^S" that agrees with all
that is published.

A mass is a factor of its row times one of its cell, a primary value of a group or a merged group.
The first decides the second, and cells of the same people and rows have the same, so only the rows'
factors are fitted, on the cells that differ: tens of thousands where people are a million.
"""

from __future__ import annotations

import numpy as np

from discreet.releases.kinds.decomposed.sensitive_sets import SensitiveSignatures
from discreet.table.assignments import Sets, supporting_rows
from discreet.table.classes import group_codes, group_lists
from discreet.table.kernels.lists import starts_of
from discreet.typing import Floats, Ints, Ints32

ROUNDS = 200
CLOSE = 1e-6  # how far a mass may be off, relatively
ENTRIES = 2**26  # more are not raked
LEAST, GREATEST = 1e-100, 1e100  # a factor beyond belongs to a release that cannot be fitted


def rake(
    sets: Sets, signatures: SensitiveSignatures, primary: int, size: Ints
) -> tuple[Ints, Ints32, Floats] | None:
    """Where each group's rows begin, the rows, and their masses; None where they are too many."""
    pair_start, _ = sets.of(primary)
    begin, signature = supporting_rows(sets, signatures.codes, primary, ENTRIES)
    if signature is None:
        return None
    single = np.diff(pair_start) == size
    opens = np.repeat(single, np.diff(pair_start))  # a cell: each pair, or a merged group's first
    opens |= np.isin(np.arange(len(opens)), pair_start[:-1])
    first_pair = np.flatnonzero(opens)
    start = np.append(begin[first_pair], begin[-1])
    group = np.repeat(np.arange(sets.groups), np.diff(pair_start))[first_pair]
    people = np.where(single, 1, size)[group]
    count = signatures.count.astype(np.float64)
    factor = _fit_distinct(start, signature, people, count)
    return begin[pair_start], signature, _masses(start, signature, people, factor)


def _fit_distinct(start: Ints, signature: Ints32, people: Ints, count: Floats) -> Floats:
    """The rows' factors, fitted on one of each kind of cell."""
    lists = group_lists(start, signature, len(count))
    greatest = int(people.max(initial=0)) + 1
    kinds = group_codes(
        [lists.class_of_row, people.astype(np.int32)], [lists.count, greatest], len(people)
    )
    one = kinds.first_row
    return _fit(start[one], start[one + 1], signature, people[one] * kinds.size, count)


def _fit(begin: Ints, end: Ints, signature: Ints32, target: Ints, count: Floats) -> Floats:
    some = begin < end
    start = starts_of((end - begin)[some])
    cell = np.repeat(np.arange(len(start) - 1), np.diff(start))
    row = signature[np.arange(start[-1]) + (begin[some] - start[:-1])[cell]]
    target = target[some]
    factor = count.copy()
    for _ in range(ROUNDS - 1):
        held = np.bincount(cell, factor[row], len(target))
        total = np.bincount(row, (target / held)[cell], len(count))  # of each row, over its factor
        used = total > 0
        better = factor.copy()
        better[used] = count[used] / total[used]
        away = np.abs(factor[used] / better[used] - 1).max(initial=0.0)
        bounded = ((better[used] > LEAST) & (better[used] < GREATEST)).all()
        if away < CLOSE or not bounded:
            break
        factor = better
    return factor


def _masses(start: Ints, signature: Ints32, people: Ints, factor: Floats) -> Floats:
    """The mass of every row in every cell: together that of its people, exactly."""
    cell = np.repeat(np.arange(len(people)), np.diff(start))
    held = np.bincount(cell, factor[signature], len(people))
    return np.asarray(factor[signature] * people[cell] / held[cell], np.float64)
