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

from discreet.methods.quasi_sensitive.outcomes import group_outcomes, harmonic, keeps
from discreet.methods.quasi_sensitive.paper_search import paper_search
from discreet.methods.quasi_sensitive.search import (
    branch_and_bound,
    chosen_passes,
    greedy,
)
from discreet.methods.quasi_sensitive.state import Principles, new_state
from discreet.table.interrupts import stop_flag
from discreet.table.kernels import kernel
from discreet.typing import StopFlag

ROWS, PAPER_ADAPTIVE, PAPER_PLAIN = 0, 1, 2  # the searches
UNSOLVED, INFEASIBLE, SOLVED, OPTIMAL, UNTOUCHED = -2, -1, 1, 2, 3  # what became of a group
MOST_OUTCOMES = 4096  # of a row; with more a result is not proved
WITHOUT_END = 2**62
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

    kept: NDArray[np.bool_]  # (occurrences,)
    status: NDArray[np.int64]  # (groups,)
    cost: NDArray[np.float64]  # (groups,) in [0, 1]
    nodes: NDArray[np.int64]  # (groups,)


def remove_terms(
    groups: TermGroups,
    principles: Principles,
    *,
    search: int = ROWS,
    nodes: int = 1000,
    seconds: float | None = None,
    exact: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Removal:
    """Search every group that fails."""
    removal = Removal(
        np.ones(len(groups.term), bool),
        np.full(groups.count, UNSOLVED, np.int64),
        np.zeros(groups.count),
        np.zeros(groups.count, np.int64),
    )
    todo = np.arange(groups.count)
    budget = WITHOUT_END if exact else nodes if seconds is None else FIRST_NODES
    with stop_flag(seconds) as stop:
        while True:
            _run(groups, principles, todo, search, budget, exact, removal, threads, progress, stop)
            if seconds is None or exact:
                return removal
            todo = np.flatnonzero(np.isin(removal.status, (UNSOLVED, SOLVED)))
            if not len(todo) or stop[0]:
                return removal
            budget *= 4


def _run(
    groups: TermGroups,
    principles: Principles,
    todo: NDArray[np.int64],
    search: int,
    budget: int,
    exact: bool,
    removal: Removal,
    threads: int | None,
    progress: Callable[[float], None],
    stop: StopFlag,
) -> None:
    batches = [todo[first : first + BATCH] for first in range(0, len(todo), BATCH)]
    most = WITHOUT_END if exact else MOST_OUTCOMES
    given = (
        groups.row_start,
        groups.term_start,
        groups.term,
        groups.labels_of_term,
        principles,
        budget,
    )
    found = (removal.kept, removal.status, removal.cost, removal.nodes)

    def run(batch: NDArray[np.int64]) -> None:
        if search == ROWS:
            _search_rows(batch, *given, most, *found, stop)
        else:
            _search_paper(batch, *given, search == PAPER_ADAPTIVE, *found, stop)

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        for number, _ in enumerate(pool.map(run, batches), 1):
            progress(number / len(batches))


@kernel(work=6)
def _search_rows(
    batch: NDArray[np.int64],
    row_start: NDArray[np.int64],
    term_start: NDArray[np.int64],
    term: NDArray[np.int32],
    labels_of_term: NDArray[np.uint64],
    principles: Principles,
    budget: int,
    most: int,
    kept: NDArray[np.bool_],
    status: NDArray[np.int64],
    cost: NDArray[np.float64],
    nodes: NDArray[np.int64],
    stop: StopFlag,
) -> None:
    state = new_state(principles)
    for group in batch:
        if stop[0] and status[group] == SOLVED:
            continue
        rows = (row_start[group], row_start[group + 1])
        outcomes = group_outcomes(
            rows, term_start, term, labels_of_term, principles.weight, most, stop
        )
        chosen = outcomes.start[:-1].copy()
        if chosen_passes(state, principles, outcomes, chosen):
            status[group] = UNTOUCHED
            continue
        solved, chosen = greedy(state, principles, outcomes, stop)
        solved, chosen, proved, count = branch_and_bound(
            state, principles, outcomes, solved, chosen, budget, stop
        )
        if stop[0] and status[group] == SOLVED:  # the earlier, unhurried solution may be better
            continue
        nodes[group] = count
        if not solved:
            status[group] = INFEASIBLE if proved else UNSOLVED
            continue
        status[group] = OPTIMAL if proved else SOLVED
        for row in range(rows[0], rows[1]):
            which = chosen[row - rows[0]]
            for place in range(term_start[row], term_start[row + 1]):
                kept[place] = keeps(outcomes.bits, which, labels_of_term, term[place])
        cost[group] = _cost(rows, term_start, kept)


@kernel
def _search_paper(
    batch: NDArray[np.int64],
    row_start: NDArray[np.int64],
    term_start: NDArray[np.int64],
    term: NDArray[np.int32],
    labels_of_term: NDArray[np.uint64],
    principles: Principles,
    budget: int,
    adaptive: bool,
    kept: NDArray[np.bool_],
    status: NDArray[np.int64],
    cost: NDArray[np.float64],
    nodes: NDArray[np.int64],
    stop: StopFlag,
) -> None:
    state = new_state(principles)
    for group in batch:
        if stop[0] and status[group] == SOLVED:
            continue
        rows = (row_start[group], row_start[group + 1])
        before = kept[term_start[rows[0]] : term_start[rows[1]]].copy()
        solved, proved, nodes[group], untouched = paper_search(
            rows, term_start, term, labels_of_term, state, principles, adaptive, budget, kept, stop
        )
        if stop[0] and status[group] == SOLVED:  # the earlier, unhurried solution may be better
            kept[term_start[rows[0]] : term_start[rows[1]]] = before
        elif untouched:
            status[group] = UNTOUCHED
        elif solved:
            status[group] = OPTIMAL if proved else SOLVED
            cost[group] = _cost(rows, term_start, kept)
        else:
            status[group] = INFEASIBLE if proved else UNSOLVED


@kernel
def _cost(rows: tuple[int, int], term_start: NDArray[np.int64], kept: NDArray[np.bool_]) -> float:
    """The inverse weighted cost of a group: 0 nothing removed, 1 everything (equation 2)."""
    removed, everything = 0.0, 0.0
    for row in range(rows[0], rows[1]):
        width = term_start[row + 1] - term_start[row]
        left = 0
        for place in range(term_start[row], term_start[row + 1]):
            left += kept[place]
        sums = harmonic(width)
        removed += sums[width] - sums[left]
        everything += sums[width]
    return removed / everything if everything > 0 else 0.0
