"""What the published members of each family are published with: their values and counterfeits."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.methods.series.beliefs.enumeration import EXACT, component_beliefs
from discreet.methods.series.rho_different.shapes import Shapes, distinct_runs, read_run
from discreet.methods.shared.different_values import rank_in_run
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import starts_of
from discreet.typing import Floats, Ints, Ints32

ROOM = 1.1  # beliefs should stay below ρ by this factor where a few more counterfeits do it
CANDIDATES = 6  # values that are tried as the next counterfeit
MOST_FAKES = 8  # counterfeits of one group, before its members are published alone
LEAST_GAIN = 0.01  # what one more counterfeit must lower a belief by that is low enough already
LEAST_PART = 1000  # cases that are worth a thread
TOLERANCE = 1e-9
BLANK = -1


@dataclass(frozen=True, eq=False)
class Completions:
    """What each family is published with: some counterfeits, or all blank, each of its members
    alone with all values once.

    Families of one shape whose published members have the same values are one case, solved once.
    """

    fakes: Ints  # (families,) how many counterfeits there are, or BLANK
    start: Ints  # (families + 1,) where they begin
    value: Ints
    greatest: float  # belief that any case leads to


def solve(
    releases: int,
    shapes: Shapes,
    family_start: Ints,
    truth: Ints,  # (people,) the value now of who is published, −1 for others
    before: Floats,  # (families,) the greatest belief after the earlier releases
    matrix: Floats,
    rho: float,
) -> Completions:
    """Counterfeits for the families that can be enumerated."""
    # Families of one shape with the same values now are one case.
    now_start, now = _values_now(family_start, shapes.member, truth)
    start, run = _write_cases(shapes.of_family, now_start, now)
    number, first = distinct_runs(start, run)
    somebody = np.diff(now_start) > 0
    # Solve the cases, on all cores where there are many.
    parts = np.array_split(first, min(os.cpu_count() or 1, 1 + len(first) // LEAST_PART))
    with ThreadPoolExecutor(len(parts)) as pool:
        results_of_parts = list(
            pool.map(
                lambda part: _solve(
                    releases, shapes.start, shapes.run, family_start, shapes.member, truth,
                    start, run, before, part, matrix, rho,
                ),
                parts,
            )
        )  # fmt: skip
    solved, fakes, greatest = (
        np.concatenate(results) for results in zip(*results_of_parts, strict=True)
    )
    # Each family is published with the counterfeits of its case.
    added = fakes >= 0  # (cases, most)
    count = np.where(solved, added.sum(axis=1), BLANK)
    highest = np.where(somebody[first], np.where(solved, greatest, rho), 0.0)
    times = np.where(somebody, np.maximum(count[number], 0), 0)
    begin = np.concatenate([[0], np.cumsum(added.sum(axis=1))]).astype(np.int64)
    place = np.repeat(begin[number], times) + rank_in_run(np.repeat(np.arange(len(times)), times))
    return Completions(
        np.where(somebody, count[number], 0),
        np.concatenate([[0], np.cumsum(times)]),
        fakes[added].astype(np.int64)[place],
        float(highest.max(initial=0.0)),
    )


def _values_now(family_start: Ints, member: Ints, truth: Ints) -> tuple[Ints, Ints]:
    """The values of the published members of each family in order: where they begin, and which."""
    published = truth[member] >= 0
    start, now = starts_of(published.view(np.int8))[family_start], truth[member][published]
    family = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return start, now[np.lexsort((now, family))]


def _write_cases(shape: Ints, now_start: Ints, now: Ints) -> tuple[Ints, Ints32]:
    """The shape of each family and the values of its members, in order."""
    start = now_start + np.arange(len(shape) + 1)
    case = np.empty(start[-1], np.int32)
    case[start[:-1]] = shape
    family = np.repeat(np.arange(len(shape)), np.diff(now_start))
    case[np.arange(len(now)) + family + 1] = now
    return start, case


# Compiled: one call for all cases of a thread, without the lock of the interpreter.
@kernel
def _solve(
    layers: int,
    run_start: Ints,
    run: Ints32,
    family_start: Ints,
    member: Ints,
    truth: Ints,
    case_start: Ints,  # (families + 1,)
    cases: Ints32,
    before: Floats,
    first: Ints,  # (cases,) a family of each
    matrix: Floats,
    rho: float,
) -> tuple[NDArray[np.bool_], NDArray[np.int32], Floats]:
    """For each case whether counterfeits keep all beliefs below ρ, which, and how far."""
    solved = np.zeros(len(first), np.bool_)
    fakes = np.full((len(first), MOST_FAKES), -1, np.int32)
    greatest = np.zeros(len(first))
    for case in range(len(first)):
        family = first[case]
        people = member[family_start[family] : family_start[family + 1]]
        now = cases[case_start[family] + 1 : case_start[family + 1]].astype(np.int64)
        if not len(now):
            continue
        past, _, start, value, count = read_run(
            run[run_start[family] : run_start[family + 1]], layers
        )
        group_of = np.full((layers + 1, len(people)), -1, np.int64)
        group_of[:layers] = past
        for at in range(len(people)):
            if truth[people[at]] >= 0:
                group_of[layers, at] = len(start) - 1
        starts = np.append(start, 0)
        low = max(rho / ROOM, before[family])
        rows = np.zeros(len(matrix), np.int64)
        for code in now:
            rows[code] += 1
        # The likeliest counterfeits: none, or all values of the family's last group that no person
        # has now. What is missing tells who left or changed; often only all of it together helps.
        added, belief = now[:0], _greatest_with(group_of, starts, value, count, matrix, rows)
        if belief > low + TOLERANCE:
            last = value[start[len(start) - 2] : start[len(start) - 1]]
            missing = last[rows[last] == 0]
            if len(missing) <= MOST_FAKES:
                rows[missing] += 1
                added, belief = (
                    missing,
                    _greatest_with(group_of, starts, value, count, matrix, rows),
                )
        if belief > low + TOLERANCE:
            # counterfeits to try: values the family was seen with, others, those it has now
            order = np.full(len(matrix), 1, np.int64)
            order[value] = 0
            order[now] = 2
            candidates = np.argsort(order, kind="mergesort")[:CANDIDATES]
            added, belief = _add_fakes(
                group_of, starts, value, count, matrix, now, candidates, rho, low
            )
        if belief <= rho + TOLERANCE:
            solved[case] = True
            fakes[case, : len(added)] = added
            greatest[case] = belief
    return solved, fakes, greatest


# Compiled: tries counterfeits in turn, for every case.
@kernel
def _add_fakes(
    group_of: Ints,  # (releases and the new one, members)
    start: Ints,  # (groups + the new one + 1,)
    value: Ints,
    count: Ints,
    matrix: Floats,
    truth: Ints,
    candidates: Ints,
    rho: float,
    low: float,
) -> tuple[Ints, float]:
    """Add counterfeits until the greatest belief is low enough: the first that makes it so.

    Where none does, the one that lowers it most. Low enough is ρ, or ``low`` if a few more do it;
    the greatest belief stays above ρ where no counterfeits help.
    """
    rows = np.zeros(len(matrix), np.int64)
    for code in truth:
        rows[code] += 1
    fakes = np.empty(MOST_FAKES, np.int64)
    added = 0
    greatest = _greatest_with(group_of, start, value, count, matrix, rows)
    enough, best = -1, greatest  # the fewest counterfeits that suffice, and their belief
    if greatest <= rho + TOLERANCE:
        enough = added
    while greatest > low + TOLERANCE and added < MOST_FAKES:
        if enough >= 0 and added >= enough + len(truth) + 1:
            break
        lowest, chosen = 3.0, -1
        # Try each candidate, and take the one that lowers the belief most.
        for code in candidates:
            rows[code] += 1
            tried = _greatest_with(group_of, start, value, count, matrix, rows)
            rows[code] -= 1
            if tried < lowest:
                lowest, chosen = tried, code
            if tried <= low + TOLERANCE:
                break
        if chosen < 0 or lowest >= 2.0 or (enough >= 0 and lowest > greatest - LEAST_GAIN):
            break
        rows[chosen] += 1
        fakes[added] = chosen
        added += 1
        greatest = lowest
        if enough < 0 and greatest <= rho + TOLERANCE:
            enough, best = added, greatest
    # Return what is low enough, or the fewest that suffice.
    if greatest <= low + TOLERANCE:
        return fakes[:added].copy(), greatest
    if enough >= 0:
        return fakes[:enough].copy(), best
    return fakes[:0].copy(), 2.0


# Compiled: called for every counterfeit that is tried.
@kernel
def _greatest_with(
    group_of: Ints,
    start: Ints,
    value: Ints,
    count: Ints,
    matrix: Floats,
    rows: Ints,  # (values,) of the new group
) -> float:
    """The greatest belief with a new group, or the greatest share in it; 2 if not to be found."""
    old = len(value)
    new = 0
    for code in range(len(rows)):
        if rows[code]:
            new += 1
    values = np.empty(old + new, np.int64)
    counts = np.empty(old + new, np.int64)
    values[:old] = value
    counts[:old] = count
    at = old
    for code in range(len(rows)):
        if rows[code]:
            values[at] = code
            counts[at] = rows[code]
            at += 1
    start[len(start) - 1] = at
    belief = np.zeros((group_of.shape[0], group_of.shape[1], len(matrix)))
    if component_beliefs(group_of, start, values, counts, matrix, belief) != EXACT:
        return 2.0
    share = rows.max() / rows.sum()  # for an attacker who has only this release
    return float(max(belief.max(), share))
