"""The paper's search: one term occurrence after the other, depth first (section 3, figure 4).

A node is a set of removed occurrences; its tailset holds those that may still be removed below it.
``adaptive`` tries every occurrence of the tailset, orders them by Δl' per cost (the rise of the
largest ℓ' that passes) or by the drop of the distance per cost, ties by the lower cost, and
descends in that order; otherwise the order is that of the rows. The search is complete, and its
result optimal where it ends within its budget; but a first solution is often far from the optimum,
which is why this is not the default.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.knowledge.table import every_label
from discreet.methods.quasi_sensitive.outcomes import labels_of_sets
from discreet.methods.quasi_sensitive.state import (
    DIVERSITY,
    SLACK,
    Principles,
    State,
    add,
    clear,
    passes,
)
from discreet.table.kernels import kernel
from discreet.typing import StopFlag

FIRST_NODES = 2**16  # within which a first solution must be found


@kernel
def paper_search(
    rows: tuple[int, int],
    term_start: NDArray[np.int64],
    term: NDArray[np.int32],
    labels_of_term: NDArray[np.uint64],
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
    first, last = term_start[rows[0]], term_start[rows[1]]
    size = last - first
    row_of = np.empty(size, np.int64)
    for row in range(rows[0], rows[1]):
        row_of[term_start[row] - first : term_start[row + 1] - first] = row - rows[0]
    left = np.diff(term_start[rows[0] : rows[1] + 1]).copy()
    here = np.ones(size, np.bool_)
    best = here.copy()
    own = term[first:last]
    _believe(state, here, row_of, own, len(left), labels_of_term, principles)
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
        _reorder(state, tail[0], size, here, row_of, own, left, labels_of_term, principles)
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
        _believe(state, here, row_of, own, len(left), labels_of_term, principles)
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
                    labels_of_term,
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


@kernel
def _believe(
    state: State,
    here: NDArray[np.bool_],
    row_of: NDArray[np.int64],
    term: NDArray[np.int32],
    rows: int,
    labels_of_term: NDArray[np.uint64],
    principles: Principles,
) -> None:
    """Form the state of the group with the occurrences that are left."""
    clear(state, principles)
    sets = np.empty((rows, labels_of_term.shape[1]), np.uint64)
    everything = every_label(len(principles.weight))
    for row in range(rows):
        sets[row] = everything
    for which in range(len(here)):
        if here[which]:
            sets[row_of[which]] &= labels_of_term[term[which]]
    share, start, label = labels_of_sets(sets, principles.weight, rows)
    for row in range(rows):
        add(state, principles, label[start[row] : start[row + 1]], share[row])


@kernel
def _reorder(
    state: State,
    tail: NDArray[np.int64],
    length: int,
    here: NDArray[np.bool_],
    row_of: NDArray[np.int64],
    term: NDArray[np.int32],
    left: NDArray[np.int64],
    labels_of_term: NDArray[np.uint64],
    principles: Principles,
) -> None:
    """Order a tailset by what each removal gains for its cost, the most first; ties by the cost."""
    if length == 0:
        return
    _believe(state, here, row_of, term, len(left), labels_of_term, principles)
    now = _progress(state.belief, principles)
    score = np.empty(length)
    cheapness = np.empty(length)
    for place in range(length):
        which = tail[place]
        here[which] = False
        _believe(state, here, row_of, term, len(left), labels_of_term, principles)
        then = _progress(state.belief, principles)
        here[which] = True
        cheapness[place] = left[row_of[which]]  # the cost is 1 / terms left
        score[place] = (then - now) * cheapness[place]
    order = np.argsort(-cheapness, kind="mergesort")  # so goes a tie
    order = order[np.argsort(-score[order], kind="mergesort")]
    tail[:length] = tail[:length][order]


@kernel
def _progress(belief: NDArray[np.float64], principles: Principles) -> float:
    """Return how far a group has come: Σ of ℓ' for diversity and of −(distance²) for closeness."""
    total = 0.0
    for number in range(len(principles.kind)):
        if principles.kind[number] == DIVERSITY:
            ordered = np.sort(belief)
            tail = 0.0
            ell = len(ordered) + 1  # the largest ℓ' with p1 ≤ c (p_ℓ' + …)
            for place in range(len(ordered)):
                tail += ordered[place]
                ell -= 1
                if ordered[-1] <= principles.bound[number] * tail + SLACK:
                    break
            total += ell
        else:
            total -= ((belief - principles.prior) ** 2).sum()
    return total
