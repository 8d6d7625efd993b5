"""Attackers who look for the published row that is nearest to what they know of a person.

*Linkability*: two halves of a person's values have the same nearest row, so they are linked.
*Inference*: the nearest row by what is known has the value that is sought; a number within 5 %.
*Membership*: a person so near to some row must be in the original. *Record linkage*: the nearest
row is the person's own, where rows are in the order of the original; at once for all persons, by
the assignment of rows to persons with the least sum of distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discreet.addons.tables.joint_tables import (
    JointColumn,
    JointTables,
    Neighbours,
    distances_between,
    nearest_rows,
)
from discreet.addons.tables.success import Rate, Success
from discreet.attacks.base import Criterion
from discreet.statements import Statement
from discreet.table.budgets import SAMPLE
from discreet.typing import Codes, Floats, Ints

TOLERANCE = 0.05  # of a guessed number, relative to it
QUASI, FIRST, SECOND = "quasi-identifiers", "first half", "second half"


def neighbour_attacks(
    joint: JointTables,
    quasi: Sequence[str],
    secrets: Sequence[str],
    halves: tuple[Sequence[str], Sequence[str]],
    rng: np.random.Generator,
) -> Iterator[Success]:
    """Run the attacks on some persons, and the same on persons of the holdout."""
    sets = _sets(joint, quasi, secrets, halves)
    targets = _drawn(joint.original_rows, rng)
    of_original = nearest_rows(joint, targets, sets, rng)
    apart, of_control = None, None
    if joint.control_rows:
        apart = _drawn(joint.control_rows, rng)
        of_control = nearest_rows(joint, apart, sets, rng, of_control=True)
    if FIRST in sets:
        yield _linkability(joint, halves, of_original, of_control)
    for secret in secrets:
        column = joint.columns[joint.names.index(secret)]
        for key in (QUASI, f"all but {secret}"):
            if key in sets:
                yield _inference(column, sets, key, targets, of_original, apart, of_control)
    if of_control is not None:
        yield _membership(joint, of_original, of_control, rng)


def _drawn(rows: int, rng: np.random.Generator) -> Ints:
    return rng.permutation(rows)[:SAMPLE]


def _sets(
    joint: JointTables,
    quasi: Sequence[str],
    secrets: Sequence[str],
    halves: tuple[Sequence[str], Sequence[str]],
) -> dict[str, list[str]]:
    """The sets of columns by which nearest rows are looked for."""
    sets: dict[str, list[str]] = {}
    if all(halves):
        sets[FIRST], sets[SECOND] = map(list, halves)
    if quasi:
        sets[QUASI] = list(quasi)
    for secret in secrets:
        others = [name for name in joint.names if name != secret]
        if others and set(others) != set(quasi):
            sets[f"all but {secret}"] = others
    return sets


def _linkability(
    joint: JointTables,
    halves: tuple[Sequence[str], Sequence[str]],
    of_original: Neighbours,
    of_control: Neighbours | None,
) -> Success:
    """Whether both halves of a person's values lead to one row; at random they do so 1 in n."""
    rates = [
        Rate(int((neighbours.of_columns[FIRST] == neighbours.of_columns[SECOND]).sum()),
             len(neighbours.of_columns[FIRST]))
        for neighbours in (of_original, of_control)
        if neighbours is not None
    ]  # fmt: skip
    guesses = rates[0].guesses
    return Success(
        "linkability",
        Criterion.LINKABILITY,
        Statement("aim.linked"),
        Statement("knows.halves", first=list(halves[0]), second=list(halves[1])),
        rates[0],
        Rate(guesses / joint.rows, guesses),
        rates[1] if of_control is not None else None,
    )


def _inference(
    column: JointColumn,
    sets: Mapping[str, Sequence[str]],
    key: str,
    targets: Ints,
    of_original: Neighbours,
    apart: Ints | None,
    of_control: Neighbours | None,
) -> Success:
    truth = column.original[targets]
    guess = column.published[of_original.of_columns[key]]
    constant = np.full(len(targets), _best_guess(column), np.int32)
    control = None
    if apart is not None and of_control is not None and column.control is not None:
        control = _right(
            column, column.published[of_control.of_columns[key]], column.control[apart]
        )
    known = "knows.quasi-identifiers-of-target" if key == QUASI else "knows.other-columns-of-target"
    return Success(
        "inference",
        Criterion.INFERENCE,
        column.name,
        Statement(known),
        _right(column, guess, truth),
        _right(column, constant, truth),
        control,
        details={"known": list(sets[key])},
    )


def _right(column: JointColumn, guess: Codes, truth: Codes) -> Rate:
    """How many guesses are right: equal, or of a number within 5 % of the guess."""
    right = guess == truth
    if column.numbers is not None:
        numbers = column.numbers
        with np.errstate(invalid="ignore"):
            near = np.abs(numbers[guess] - numbers[truth]) <= TOLERANCE * np.abs(numbers[guess])
        right |= near
    return Rate(int(right.sum()), len(truth))


def _best_guess(column: JointColumn) -> int:
    """The value that is right most often of the published rows, without knowing a person."""
    counts = np.bincount(column.published, minlength=column.cardinality)
    if column.numbers is None:
        return int(counts.argmax())
    present = np.flatnonzero(counts[:-1])
    numbers = column.numbers[present]
    reach = TOLERANCE * np.abs(numbers)
    before = np.concatenate([[0], np.cumsum(counts[present])])
    low = np.searchsorted(numbers, numbers - reach, "left")
    high = np.searchsorted(numbers, numbers + reach, "right")
    covered = before[high] - before[low]
    if not len(covered) or covered.max() < counts[-1]:
        return column.cardinality - 1
    return int(present[covered.argmax()])


def _membership(
    joint: JointTables, inside: Neighbours, outside: Neighbours, rng: np.random.Generator
) -> Success:
    """Whether persons of the original are told from those of the holdout by the nearest row.

    As many of both are attacked. The distance up to which a person is called a member is chosen on
    one half of them, and tested on the other.
    """
    size = min(len(inside.distance), len(outside.distance))
    near = np.concatenate([inside.distance[:size], outside.distance[:size]])
    member = np.arange(2 * size) < size
    order = rng.permutation(2 * size)
    learn, test = np.array_split(order, 2)
    threshold = _best_threshold(near[learn], member[learn])
    right = int(((near[test] <= threshold) == member[test]).sum())
    return Success(
        "membership",
        Criterion.LINKABILITY,
        Statement("aim.membership"),
        Statement("knows.all-columns-of-target"),
        Rate(right, len(test)),
        Rate(len(test) / 2, len(test)),
    )


def _best_threshold(distance: Floats, member: np.typing.NDArray[np.bool_]) -> float:
    """The distance up to which most are members, and beyond which most are not."""
    order = np.argsort(distance, kind="stable")
    ordered, is_member = distance[order], member[order]
    gained = np.concatenate([[0], np.cumsum(np.where(is_member, 1, -1))])
    ends = np.append(
        np.diff(ordered) > 0, np.ones(1, bool)
    )  # rows as near as the next stay with it
    allowed = np.concatenate([np.ones(1, bool), ends])
    best = int(np.where(allowed, gained, -len(gained)).argmax())
    return -np.inf if best == 0 else float(ordered[best - 1])


def link_records(
    joint: JointTables, known: Sequence[str], rng: np.random.Generator
) -> Iterator[Success]:
    """Link rows to persons, where row i is about the person of row i: one by one, and at once."""
    chosen = rng.permutation(joint.rows)[:SAMPLE]
    distances = distances_between(joint, chosen, chosen, known)
    # The rows in another order than the persons: of equally near ones none is preferred.
    order = rng.permutation(len(chosen))
    shuffled = distances[:, order]
    person = np.arange(len(chosen))
    guesses = len(chosen)
    ways = [("record-linkage", order[shuffled.argmin(axis=1)])]
    assigned = _assigned(shuffled)
    if assigned is not None:
        ways.append(("global-record-linkage", order[assigned]))
    for attack, row in ways:
        yield Success(
            attack,
            Criterion.LINKABILITY,
            Statement("aim.own-row"),
            Statement("knows.columns-of-persons", columns=list(known), persons=guesses),
            Rate(int((row == person).sum()), guesses),
            Rate(1.0, guesses),
        )


def _assigned(distances: Floats) -> Ints | None:
    """(persons,) The row of each person with the least sum of distances; None without scipy."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        return None
    _, row = linear_sum_assignment(distances)
    return np.asarray(row, np.int64)
