"""Groups among near people: blocks of the curve, cut without a look at what is sensitive.

Rows are ordered along a Hilbert curve through the quasi-identifiers and cut into blocks of equal
size. Groups are formed inside each block, by sensitive values and chance alone; what blocks leave
over goes on to blocks twice as large, three times, and in the end all of it into one. Which people
of a block meet in a group is chance, so an attacker who knows the algorithm learns nothing from it.

A block may only form a group if what is left can still be grouped. With r rows left, a value with
more than r/ℓ − 1 rows has to be in the next group, wherever that is formed; a block that cannot
provide one stops. So the largest ℓ that any grouping can reach is reached here too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.methods.decomposition.bucket_groups import Formed, largest_groups
from discreet.methods.shared.hilbert import task_keys
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
from discreet.typing import Ints, Ints32

GROUPS_OF_BLOCK = 8  # that the smallest blocks have room for; the largest for eight times as many
LARGEST_BLOCK = 4096  # rows; looking through a block costs as much for each of its rows


def form_groups(
    primary: Column,
    others: Sequence[Column],
    ell: int,
    wanted: Sequence[int],
    task: Task,
    prefer: str | None,
) -> Formed:
    """Form groups of any people, or of people who are near where the publisher prefers that."""
    if prefer == "nearby" and task.table.quasi_identifiers:
        return nearby_groups(primary, others, ell, wanted, task)
    return largest_groups(primary, others, ell, wanted, task.rng)


def nearby_groups(
    primary: Column,
    others: Sequence[Column],
    ell: int,
    wanted: Sequence[int],
    task: Task,
) -> Formed:
    """Form groups as ``largest_groups`` does, but of people who are near where that can be."""
    rows = task.table.rows
    order = np.argsort(task_keys(task), kind="stable").astype(np.int32)
    group_of_row = np.full(rows, -1, np.int32)
    asked = [(column, want) for column, want in zip(others, wanted, strict=True) if want > 1]
    columns = [primary, *(column for column, _ in asked)]
    signatures = group_codes([c.codes for c in columns], [c.cardinality for c in columns], rows)
    values = (
        np.stack([c.codes[signatures.first_row] for c in columns[1:]], axis=1)
        if asked
        else (np.zeros((signatures.count, 0), np.int32))
    )
    cardinality = [column.cardinality for column in columns[1:]]
    short = np.zeros(rows // ell, np.bool_)
    left_of_value = primary.counts.copy()
    groups = 0
    block = GROUPS_OF_BLOCK * ell
    largest = min(rows // 2, 8 * block, LARGEST_BLOCK)
    commonest = np.argsort(-primary.counts, kind="stable").astype(np.int32)
    while block <= largest:
        groups = _form_blocks(
            task.rng,
            ell,
            block,
            order,
            primary.codes,
            signatures.class_of_row,
            values,
            np.array([want for _, want in asked], np.int64),
            np.cumsum([0, *cardinality])[:-1].astype(np.int64),
            sum(cardinality),
            commonest,
            primary.counts,
            left_of_value,
            group_of_row,
            short,
            groups,
        )
        order = order[group_of_row[order] < 0]
        block *= 2
    left = np.flatnonzero(group_of_row < 0)
    last = largest_groups(primary, others, ell, wanted, task.rng, left)
    formed = last.group_of_row >= 0
    group_of_row[left[formed]] = last.group_of_row[formed] + groups
    return Formed(group_of_row, np.concatenate([short[:groups], last.short]))


# Compiled: each group depends on what the groups before it took.
@kernel
def _form_blocks(
    rng: np.random.Generator,
    ell: int,
    block: int,
    order: Ints32,
    bucket_of_row: Ints32,
    signature_of_row: Ints32,
    values: Ints32,
    wanted: Ints,
    offset: Ints,
    stamps: int,
    commonest: Ints32,  # values by their count in the whole table
    count_of_value: Ints,
    left_of_value: Ints,
    group_of_row: Ints32,
    short: NDArray[np.bool_],
    groups: int,
) -> int:
    """Form groups inside every block of rows that are in no group yet."""
    stamp = np.full(stamps, -1, np.int32)
    in_block = np.zeros(len(left_of_value), np.int64)
    taken_in = np.full(len(left_of_value), -1, np.int32)  # the last attempt that has each value
    attempt = np.int32(0)
    penalty = np.empty(len(wanted), np.int64)
    free = np.empty(block, np.int32)
    chosen = np.empty(ell, np.int32)
    left = np.int64(len(order))
    for first in range(0, len(order) - block + 1, block):
        free[:] = order[first : first + block]
        here = block
        for place in range(block - 1, 0, -1):  # any order inside a block but the source's
            other = int(rng.random() * (place + 1))
            free[place], free[other] = free[other], free[place]
        for place in range(block):
            in_block[bucket_of_row[free[place]]] += 1
        while here >= ell:
            penalty[:] = wanted
            found = 0
            critical = 0
            attempt += np.int32(1)
            for value in commonest:
                if count_of_value[value] * ell <= left - ell:
                    break
                critical += left_of_value[value] * ell > left - ell
            while found < ell:
                best, best_row = np.int64(-1), -1
                for place in range(here):
                    row = free[place]
                    value = bucket_of_row[row]
                    if taken_in[value] == attempt:
                        continue
                    must = np.int64(left_of_value[value] * ell > left - ell)
                    if not must and ell - found <= critical:
                        continue
                    cost = np.int64(0)
                    for attribute in range(len(wanted)):
                        held = offset[attribute] + values[signature_of_row[row], attribute]
                        if penalty[attribute] and stamp[held] == attempt:
                            cost += penalty[attribute]
                    # critical values first, then the commonest of the block, then least penalty
                    rating = (must * (block + 1) + in_block[value]) * 1024 + max(1023 - cost, 0)
                    if rating > best:
                        best, best_row = rating, place
                if best_row < 0:
                    break
                row = free[best_row]
                value = bucket_of_row[row]
                if left_of_value[value] * ell > left - ell:
                    critical -= 1
                taken_in[value] = attempt
                for attribute in range(len(wanted)):
                    held = offset[attribute] + values[signature_of_row[row], attribute]
                    if stamp[held] != attempt:
                        stamp[held] = attempt
                        if penalty[attribute]:
                            penalty[attribute] -= 1
                chosen[found] = best_row
                found += 1
            if found < ell or critical > 0:
                break
            for i in range(ell):
                row = free[chosen[i]]
                group_of_row[row] = groups
                in_block[bucket_of_row[row]] -= 1
                left_of_value[bucket_of_row[row]] -= 1
            kept = 0
            for place in range(here):
                if group_of_row[free[place]] < 0:
                    free[kept] = free[place]
                    kept += 1
            here = kept
            left -= ell
            short[groups] = penalty.any()
            groups += 1
        for place in range(here):
            in_block[bucket_of_row[free[place]]] = 0
    return groups
