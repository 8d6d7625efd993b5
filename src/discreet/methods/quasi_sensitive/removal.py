"""Removing terms from every failing group: groups side by side, on all cores.

A batch of groups is one call of a compiled kernel without the interpreter's lock, so threads run
them at once; every group is searched on its own, so the result depends neither on the number of
threads nor on the batches. With a budget in seconds the groups that are not proved optimal are
searched again with four times the nodes until the time is over.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.knowledge.table import every_label
from discreet.methods.quasi_sensitive.outcomes import RowTerms, group_outcomes
from discreet.methods.quasi_sensitive.search import branch_and_bound, greedy
from discreet.methods.quasi_sensitive.state import Principles, State, form, new_state, passes
from discreet.table.budgets import BEYOND
from discreet.table.classes import group_lists
from discreet.table.interrupts import stop_flag
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import starts_of, stretches
from discreet.typing import Bools, Floats, Ints, StopFlag, Words

UNSOLVED, INFEASIBLE, SOLVED, OPTIMAL, UNTOUCHED = -2, -1, 1, 2, 3  # what became of a group
MOST_OUTCOMES = 4096  # of a row; with more a result is not proved
BATCH = 64  # groups
FIRST_NODES = 256  # of a budget in seconds


@dataclass(frozen=True, eq=False)
class TermGroups:
    """Groups of linked rows with their terms; the rows of a group lie together."""

    row_start: NDArray[np.int64]  # (groups + 1,)
    term_start: NDArray[np.int64]  # (rows + 1,)
    term: NDArray[np.int32]  # (occurrences,) codes in the knowledge table
    labels_of_term: NDArray[np.uint64]  # (terms, words)

    @property
    def count(self) -> int:
        return len(self.row_start) - 1


@dataclass(frozen=True, eq=False)
class Removal:
    """Which term occurrences stay."""

    stays: NDArray[np.bool_]  # (occurrences,)
    status: NDArray[np.int64]  # (groups,)
    cost: NDArray[np.float64]  # (groups,) in [0, 1]
    nodes: NDArray[np.int64]  # (groups,)

    @classmethod
    def untouched(cls, groups: TermGroups) -> Removal:
        """Return a removal before any search: every occurrence stays."""
        return cls(
            np.ones(len(groups.term), bool),
            np.full(groups.count, UNSOLVED, np.int64),
            np.zeros(groups.count),
            np.zeros(groups.count, np.int64),
        )


def remove_terms(
    groups: TermGroups,
    principles: Principles,
    *,
    nodes: int = 1000,
    seconds: float | None = None,
    exact: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Removal:
    """Search every group that fails."""
    removal = Removal.untouched(groups)
    rows = row_terms(groups, principles)
    # Rows that stay as they are link to no set of their own, so that all their terms are kept.
    sets = np.zeros((len(rows.kind), len(rows.every_label)), np.uint64)
    unproved = np.arange(groups.count)
    budget = BEYOND if exact else nodes if seconds is None else FIRST_NODES
    with stop_flag(seconds) as stop:

        def search(batch: Ints) -> None:
            _search_rows(
                batch, groups.row_start, rows, new_state(principles), new_state(principles),
                principles, budget, BEYOND if exact else MOST_OUTCOMES, sets, removal.status,
                removal.nodes, stop,
            )  # fmt: skip

        while True:
            # Search all groups that are not proved, batches side by side.
            batches = [unproved[first : first + BATCH] for first in range(0, len(unproved), BATCH)]
            with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
                for number, _ in enumerate(pool.map(search, batches), 1):
                    progress(number / len(batches))
            # With a budget in seconds, search again with more nodes until the time is over.
            unproved = np.flatnonzero(np.isin(removal.status, (UNSOLVED, SOLVED)))
            if seconds is None or exact or not len(unproved) or stop[0]:
                break
            budget *= 4
    _mark_kept(rows, sets, removal.stays)
    removal.cost[:] = costs_of(groups.row_start, rows, removal.stays)
    return removal


def row_terms(groups: TermGroups, principles: Principles) -> RowTerms:
    """Return the terms of all rows, as the kernels read them."""
    lists = group_lists(groups.term_start, groups.term, len(groups.labels_of_term))
    longest = int(np.diff(groups.term_start).max(initial=0))
    return RowTerms(
        groups.term_start,
        groups.term,
        lists.class_of_row,
        groups.labels_of_term,
        every_label(len(principles.weight)),
        np.concatenate(([0.0], np.cumsum(1 / np.arange(1, longest + 1)))),
    )


# Compiled: all searches of a batch of groups in one call, without the interpreter's lock.
@kernel(work=6)
def _search_rows(
    batch: Ints,
    row_start: Ints,
    rows: RowTerms,
    state: State,
    spare: State,
    principles: Principles,
    budget: int,
    most: int,
    sets: Words,  # (rows, words) the label set that each row is to link to
    status: Ints,
    nodes: Ints,
    stop: StopFlag,
) -> None:
    for group in batch:
        if stop[0] and status[group] == SOLVED:
            continue
        first, last = row_start[group], row_start[group + 1]
        outcomes = group_outcomes(first, last, rows, principles.weight, most, stop)
        chosen = outcomes.start[:-1].copy()
        form(state, principles, outcomes.linked, chosen, -1)
        if passes(state, principles):
            status[group] = UNTOUCHED
            continue
        solved, chosen = greedy(state, principles, outcomes, stop)
        solved, chosen, proved, count = branch_and_bound(
            state, spare, principles, outcomes, solved, chosen, budget, stop
        )
        if stop[0] and status[group] == SOLVED:  # the earlier, unhurried solution may be better
            continue
        nodes[group] = count
        if not solved:
            status[group] = INFEASIBLE if proved else UNSOLVED
            continue
        status[group] = OPTIMAL if proved else SOLVED
        for row in range(first, last):
            sets[row] = outcomes.bits[chosen[row - first]]


def _mark_kept(rows: RowTerms, sets: Words, stays: Bools) -> None:
    """Keep the terms whose own labels hold the label set that a row is to link to."""
    row = np.repeat(np.arange(len(sets)), np.diff(rows.start))
    for part in stretches(np.full(len(stays), sets.shape[1])):
        gone = sets[row[part]] & ~rows.labels_of_term[rows.term[part]]
        stays[part] = ~gone.any(axis=1)


def costs_of(row_start: Ints, rows: RowTerms, stays: Bools) -> Floats:
    """The inverse weighted cost of each group: 0 nothing removed, 1 everything (equation 2)."""
    whole = rows.harmonic[np.diff(rows.start)]
    left = rows.harmonic[np.diff(starts_of(stays.view(np.int8))[rows.start])]
    group = np.repeat(np.arange(len(row_start) - 1), np.diff(row_start))
    removed = np.bincount(group, whole - left, len(row_start) - 1)
    everything = np.bincount(group, whole, len(row_start) - 1)
    return np.asarray(removed / np.where(everything > 0, everything, 1.0), np.float64)
