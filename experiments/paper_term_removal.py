"""The search of Shi, Xiong and Fung (2010, section 3): terms are removed one by one, depth first.

A node is a set of removed occurrences; its tailset holds those that may still be removed below it.
``adaptive`` tries every occurrence of the tailset, orders them by Δl' per cost (the rise of the
largest ℓ' that passes) or by the drop of the distance per cost, ties by the lower cost, and
descends in that order; otherwise the order is that of the rows. The search is complete, and its
result optimal where it ends within its budget; but a first solution costs up to twice as much as
that of ``discreet.methods.quasi_sensitive.search``, which the product has alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.methods.quasi_sensitive.outcomes import RowTerms, labels_of_sets
from discreet.methods.quasi_sensitive.removal import (
    INFEASIBLE,
    OPTIMAL,
    SOLVED,
    UNSOLVED,
    UNTOUCHED,
    Removal,
    TermGroups,
    costs_of,
    row_terms,
)
from discreet.methods.quasi_sensitive.state import (
    DIVERSITY,
    SLACK,
    Principles,
    State,
    form,
    new_state,
    passes,
)
from discreet.table.interrupts import stop_flag
from discreet.table.kernels import kernel
from discreet.typing import StopFlag

FIRST_NODES = 2**16  # within which a first solution must be found


def remove_by_paper(
    groups: TermGroups, principles: Principles, *, adaptive: bool, nodes: int
) -> Removal:
    """Search every group that fails, one after the other."""
    removal = Removal.untouched(groups)
    rows, state = row_terms(groups, principles), new_state(principles)
    with stop_flag(None) as stop:
        for group in range(groups.count):
            first, last = groups.row_start[group : group + 2]
            solved, proved, removal.nodes[group], untouched = paper_search(
                first, last, rows, state, principles, adaptive, nodes, removal.stays, stop
            )
            if untouched:
                removal.status[group] = UNTOUCHED
            elif solved:
                removal.status[group] = OPTIMAL if proved else SOLVED
            else:
                removal.status[group] = INFEASIBLE if proved else UNSOLVED
    removal.cost[:] = costs_of(groups.row_start, rows, removal.stays)
    return removal


# Compiled: a search of its own for every group.
@kernel
def paper_search(
    begin: int,
    end: int,
    rows: RowTerms,
    state: State,
    principles: Principles,
    adaptive: bool,
    budget: int,
    kept: NDArray[np.bool_],
    stop: StopFlag,
) -> tuple[bool, bool, int, bool]:
    """Whether a removal passes, whether it is proved optimal, the nodes, whether none is needed.

    Writes the best removal into ``kept``. The first solution is always looked for to its end, but
    for 2¹⁶ nodes; the budget counts from there.
    """
    first, last = rows.start[begin], rows.start[end]
    size = last - first
    row_of = np.empty(size, np.int64)
    for row in range(begin, end):
        row_of[rows.start[row] - first : rows.start[row + 1] - first] = row - begin
    left = np.diff(rows.start[begin : end + 1]).copy()
    here = np.ones(size, np.bool_)
    best = here.copy()
    own = rows.term[first:last]
    _believe(state, here, row_of, own, len(left), rows, principles)
    if passes(state, principles):
        return True, True, 0, True
    # a stack of tailsets: at depth k the occurrences in order, and which one is being tried
    tail = np.empty((size + 1, size), np.int64)
    length = np.zeros(size + 1, np.int64)
    place = np.zeros(size + 1, np.int64)
    spent = np.zeros(size + 1)
    solved, best_cost, nodes, depth = False, np.inf, 0, 0
    tail[0], length[0] = np.arange(size), size
    limit = FIRST_NODES
    if adaptive:
        _reorder(state, tail[0], size, here, row_of, own, left, rows, principles)
    while depth >= 0:
        if place[depth] >= length[depth]:
            depth -= 1
            if depth >= 0:
                gone = tail[depth, place[depth]]
                here[gone] = True
                left[row_of[gone]] += 1
                place[depth] += 1
            continue
        which = tail[depth, place[depth]]
        cost = spent[depth] + 1 / left[row_of[which]]
        if cost >= best_cost - SLACK:
            place[depth] += 1
            continue
        if nodes >= limit or stop[0]:
            break
        nodes += 1
        here[which] = False
        left[row_of[which]] -= 1
        _believe(state, here, row_of, own, len(left), rows, principles)
        if passes(state, principles):
            if not solved:
                limit = nodes + budget
            solved, best_cost = True, cost
            best[:] = here
        else:
            rest = length[depth] - place[depth] - 1
            tail[depth + 1, :rest] = tail[depth, place[depth] + 1 : length[depth]]
            if adaptive:
                _reorder(
                    state,
                    tail[depth + 1],
                    rest,
                    here,
                    row_of,
                    own,
                    left,
                    rows,
                    principles,
                )
            depth += 1
            length[depth], place[depth], spent[depth] = rest, 0, cost
            continue
        here[which] = True
        left[row_of[which]] += 1
        place[depth] += 1
    if solved:
        kept[first:last] = best
    return solved, depth < 0, nodes, False


# Compiled: called at every node of the search.
@kernel
def _believe(
    state: State,
    here: NDArray[np.bool_],
    row_of: NDArray[np.int64],
    term: NDArray[np.int32],
    count: int,
    rows: RowTerms,
    principles: Principles,
) -> None:
    """Form the state of the group with the occurrences that are left."""
    sets = np.empty((count, len(rows.every_label)), np.uint64)
    for row in range(count):
        sets[row] = rows.every_label
    for which in range(len(here)):
        if here[which]:
            sets[row_of[which]] &= rows.labels_of_term[term[which]]
    linked = labels_of_sets(sets, principles.weight, count)
    form(state, principles, linked, np.arange(count), -1)


# Compiled: tries every occurrence at every node of the search.
@kernel
def _reorder(
    state: State,
    tail: NDArray[np.int64],
    length: int,
    here: NDArray[np.bool_],
    row_of: NDArray[np.int64],
    term: NDArray[np.int32],
    left: NDArray[np.int64],
    rows: RowTerms,
    principles: Principles,
) -> None:
    """Order a tailset by what each removal gains for its cost, the most first; ties by the cost."""
    if length == 0:
        return
    gain = np.zeros(length + 1)  # how far the group comes without each, the last: with all
    cheapness = np.empty(length)
    for place in range(length + 1):
        if place < length:
            here[tail[place]] = False
            cheapness[place] = left[row_of[tail[place]]]  # the cost is 1 / terms left
        _believe(state, here, row_of, term, len(left), rows, principles)
        for number in range(len(principles.kind)):
            if principles.kind[number] == DIVERSITY:
                ordered = np.sort(state.belief)
                below = 0.0
                ell = len(ordered) + 1  # the largest ℓ' with p1 ≤ c (p_ℓ' + …)
                for label in range(len(ordered)):
                    below += ordered[label]
                    ell -= 1
                    if ordered[-1] <= principles.bound[number] * below + SLACK:
                        break
                gain[place] += ell
            else:
                gain[place] -= ((state.belief - principles.prior) ** 2).sum()
        if place < length:
            here[tail[place]] = True
    score = (gain[:length] - gain[length]) * cheapness
    order = np.argsort(-cheapness, kind="mergesort")  # so goes a tie
    order = order[np.argsort(-score[order], kind="mergesort")]
    tail[:length] = tail[:length][order]
