"""What is left of a group of persons once an attacker rules values out for the target.

A fact is "the target has no row with value o of attribute a". The members without o are left, and
the belief in s is the share of them who have s in at least one row. Facts are chosen one after the
other, each so that the belief becomes greatest: exact for one fact, and a lower bound for several
unless the group has at most ``EXACT_VALUES`` values, where two facts are searched together.

Without the release, an attacker with as many facts has the persons of the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.attacks.persons.person_view import PersonView
from discreet.table.kernels.lists import distinct_values, starts_of
from discreet.typing import Bools, Floats, Ints, Singles, StopFlag

EXACT_VALUES = 16  # of a group in which two facts are searched together
WORK = 2e10  # multiplications of a group; in one that takes more, no fact is used
CELLS = 2e8  # of such a group at once
TOGETHER = 2_000_000  # cells of the groups that are searched at once
SAMPLED, FREQUENT = 5_000, 20  # persons, and values ruled out, without the release


@dataclass(frozen=True, eq=False)
class Touched:
    """The values that the members of groups have in at least one row, over all attributes."""

    member: Ints  # (lines,) ascending
    value: Ints  # (lines,) those of the attributes one after the other
    group_of_member: Ints  # (members,) ascending
    person_of_member: Ints  # (members,)
    offset: dict[str, int]  # where the values of an attribute start
    values: int

    @classmethod
    def of(cls, view: PersonView) -> Touched:
        """The values of the members of a view's groups."""
        group, person = view.members
        own = view.classes.class_of_row.astype(np.int64) * view.persons.count + view.persons.number
        member = np.searchsorted(group * view.persons.count + person, own)
        offset: dict[str, int] = {}
        lines, values = [], 0
        for name, column in view.sensitive.items():
            offset[name] = values
            lines.append(np.stack([member, column.codes.astype(np.int64) + values]))
            values += column.cardinality
        key = np.concatenate([found[0] * values + found[1] for found in lines])
        held, value = np.divmod(distinct_values(key), max(values, 1))
        return cls(held, value, group, person, offset, values)

    def lines_of(self, attribute: str, cardinality: int) -> Bools:
        """The lines with a value of one attribute."""
        start = self.offset[attribute]
        return (self.value >= start) & (self.value < start + cardinality)


def beliefs_after_facts(touched: Touched, bits: int, stop: StopFlag) -> tuple[Floats, bool]:
    """The greatest belief in each line's value after ``bits`` facts; whether it is exact."""
    belief = _without_facts(touched)
    exact = True
    for one in _batches(touched):
        if one is None:  # a group that is too large
            exact = False
            continue
        if stop[0]:
            return belief, False
        found, is_exact = one.greatest(bits)
        belief[one.line[one.is_line]] = found[one.is_line]
        exact = exact and is_exact
    return belief, exact


def beliefs_without_release(whole: Touched, bits: int) -> Floats:
    """(values,) The belief in each value by the same number of facts, from all persons together.

    At most ``SAMPLED`` persons are used, and the most frequent values are ruled out.
    """
    step = -(-len(whole.group_of_member) // SAMPLED) if len(whole.group_of_member) else 1
    chosen = whole.member % step == 0
    has = np.zeros((-(-len(whole.group_of_member) // step), whole.values), np.float32)
    has[whole.member[chosen] // step, whole.value[chosen]] = 1
    frequent = np.argsort(-has.sum(0), kind="stable")[:FREQUENT]
    of_value = has.T  # (values, persons)
    left = np.ones_like(of_value)
    own = frequent == np.arange(whole.values)[:, None]
    belief: Floats = of_value.sum(1, dtype=np.float64) / max(len(has), 1)
    for _ in range(bits):
        with_value = left * of_value
        rest = left.sum(1)[:, None] - left @ has[:, frequent]
        share = (with_value.sum(1)[:, None] - with_value @ has[:, frequent]) / np.maximum(rest, 1)
        share[own] = -1
        fact = share.argmax(1)
        belief = np.maximum(belief, share[np.arange(len(share)), fact])
        left = left * (1 - of_value[frequent[fact]])
    return belief


def _without_facts(touched: Touched) -> Floats:
    """The belief in each line's value by the members of its group alone."""
    group = touched.group_of_member[touched.member]
    _, entry, count = np.unique(
        group * touched.values + touched.value, return_inverse=True, return_counts=True
    )
    return np.asarray(count[entry] / np.bincount(touched.group_of_member)[group])


@dataclass(frozen=True, eq=False)
class _Batch:
    """Groups of about the same size, padded to the same shape."""

    has: Singles  # (groups, members, values) 1 where a member has a value
    members: Ints  # (groups,)
    line: Ints  # (groups, lines) number of the line
    is_line: Bools  # (groups, lines)
    member: Ints  # (groups, lines) within the group
    value: Ints  # (groups, lines) within the group

    def greatest(self, bits: int) -> tuple[Floats, bool]:
        """The greatest belief in each line's value, and whether it is exact."""
        members, values = self.has.shape[1:]
        own = np.take_along_axis(self.has, self.member[:, :, None], 1) > 0  # the line's member
        of_line = np.take_along_axis(self.has, self.value[:, None, :], 2).transpose(0, 2, 1)
        is_member = np.arange(members) < self.members[:, None]
        left = np.broadcast_to(is_member[:, None, :], of_line.shape).astype(np.float32)
        belief = (left * of_line).sum(2) / np.maximum(self.members, 1)[:, None]
        if bits == 2 and values <= EXACT_VALUES:
            for first in range(values):
                true = ~own[:, :, first]
                rest = left * (1 - self.has[:, None, :, first])
                found, _ = self._one_more(rest, of_line, own)
                np.maximum(belief, np.where(true, found, 0), out=belief)
            return belief.astype(np.float64), True
        for _ in range(bits):
            found, fact = self._one_more(left, of_line, own)
            belief = np.maximum(belief, found)
            chosen = np.take_along_axis(self.has, fact[:, None, :], 2).transpose(0, 2, 1)
            is_true = ~np.take_along_axis(own, fact[:, :, None], 2)
            left = left * (1 - chosen * is_true)
        return belief.astype(np.float64), bits == 1

    def _one_more(self, left: Singles, of_line: Singles, own: Bools) -> tuple[Singles, Ints]:
        """The greatest belief after one more true fact, or none, and that fact.

        ``left`` has the members that are left for each line, ``of_line`` those with its value.
        """
        with_value = left * of_line
        total, hit = left.sum(2)[:, :, None], with_value.sum(2)[:, :, None]
        rest = total - left @ self.has
        share = (hit - with_value @ self.has) / np.maximum(rest, 1)
        share[own] = -1  # not true of the target
        fact = share.argmax(2)
        greatest = np.take_along_axis(share, fact[:, :, None], 2)[:, :, 0]
        before = (hit / np.maximum(total, 1))[:, :, 0]
        return np.maximum(greatest, before), fact


def _batches(touched: Touched) -> Iterator[_Batch | None]:
    """All groups, those of about the same size together; None for groups that are too large."""
    group = touched.group_of_member[touched.member]  # (lines,) ascending
    groups = int(touched.group_of_member.max(initial=-1)) + 1
    key, of_line = np.unique(group * touched.values + touched.value, return_inverse=True)
    members = np.bincount(touched.group_of_member, minlength=groups)
    values = np.bincount(key // max(touched.values, 1), minlength=groups)
    lines = np.bincount(group, minlength=groups)
    first_member, first_value, first_line = (starts_of(n)[:-1] for n in (members, values, lines))
    sizes = np.stack([members, values, lines])
    padded = 2 ** np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    shapes, shape_of_group = np.unique(padded, axis=1, return_inverse=True)
    for shape in range(shapes.shape[1]):
        height, width, length = shapes[:, shape]
        if float(length) * height * width > WORK or length * max(height, width) > CELLS:
            yield None
            continue
        alike = np.flatnonzero(shape_of_group.ravel() == shape)
        at_once = max(1, int(TOGETHER // (height * width + length * max(height, width))))
        for start in range(0, len(alike), at_once):
            chosen = alike[start : start + at_once]
            place = np.arange(length)
            is_line = place < lines[chosen][:, None]
            line = np.where(
                is_line, first_line[chosen][:, None] + place, first_line[chosen][:, None]
            )
            member = touched.member[line] - first_member[chosen][:, None]
            value = of_line[line] - first_value[chosen][:, None]
            has = np.zeros((len(chosen), height, width), np.float32)
            has[np.arange(len(chosen))[:, None], member, value] = 1
            yield _Batch(has, members[chosen], line, is_line, member, value)
