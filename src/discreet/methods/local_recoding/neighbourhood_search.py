"""Large-neighbourhood search: dissolve some neighbouring groups, group their rows again.

A neighbourhood is a group drawn by what its rows pay and the groups that are cheapest to join with
it. A group that has far more rows than it needs is not dissolved: it lends some rows that it can
spare. The rows are grouped again by the priced greedy choice at prices that are drawn around the
first ones, and may also go to a group that stays and covers them at no extra cost. The new
grouping is kept if it is cheaper and every group that changed keeps the guarantees.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.methods.local_recoding.candidates import find_candidates
from discreet.methods.local_recoding.greedy import choose
from discreet.methods.local_recoding.group_needs import Needs
from discreet.methods.local_recoding.nearest_groups import nearest_of_one
from discreet.methods.local_recoding.remaining_rows import place_left
from discreet.methods.local_recoding.rounds import TOP
from discreet.methods.local_recoding.unit_groups import (
    NO_MEMBERS,
    UnitGrouping,
    UnitGroups,
    UnitMembers,
    covering_groups,
)
from discreet.typing import Floats, Ints

Judge = Callable[[Sequence[UnitMembers]], bool]  # whether all these groups keep the guarantees

PAIRS = 100_000  # of candidates and units in one neighbourhood
LENT = 2  # times k rows: what a group lends at most
SPARED = 4  # times k rows: a larger group is not dissolved
NEIGHBOURS = 16  # groups in a neighbourhood at most
HOSTS = 64  # groups near it that may take its rows
NOISE = 0.1  # the spread of the prices that are drawn, as a share of the first ones


def search_neighbourhoods(
    groups: UnitGroups,
    needs: Needs,
    judge: Judge,
    rng: np.random.Generator,
    tries: int | None,
    deadline: float | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> int:
    """Improve groups in place for so many tries or until a time; how many were kept."""
    kept = done = 0
    begun = time.monotonic()
    search = _Search(groups, needs, judge, rng)
    while tries is None or done < tries:
        if deadline is not None and time.monotonic() >= deadline:
            break
        if not search.draw():
            break
        kept += search.attempt()
        done += 1
        if done % 64 == 0:
            if tries is not None:
                progress(done / tries)
            elif deadline is not None:
                progress((time.monotonic() - begun) / max(deadline - begun, 1e-9))
            search.reweigh()
    return kept


@dataclass(frozen=True, eq=False)
class _Regrouped:
    """Rows grouped again: pieces by local group, and those that go to a group that stays."""

    unit: Ints  # the table's units
    group: Ints
    rows: Ints
    stays: NDArray[np.bool_]  # (pieces,) whether ``group`` is a group that stays


class _Search:
    def __init__(
        self, groups: UnitGroups, needs: Needs, judge: Judge, rng: np.random.Generator
    ) -> None:
        self.groups, self.needs, self.judge, self.rng = groups, needs, judge, rng
        self.least = needs.rows
        self.seed = -1
        self.reweigh()

    def reweigh(self) -> None:
        """By what chance each group is drawn: what its rows pay."""
        self._chance = np.cumsum(self.groups.size * self.groups.cost)

    def draw(self) -> bool:
        """Draw the group at the middle of a neighbourhood; False if no row pays anything."""
        total = self._chance[-1] if len(self._chance) else 0.0
        if total <= 1e-12:
            return False
        place = self.rng.random() * total
        self.seed = int(np.searchsorted(self._chance, place, side="right"))
        self.seed = min(self.seed, len(self._chance) - 1)
        return True

    def attempt(self) -> bool:
        """Group one neighbourhood again; whether that was kept."""
        groups = self.groups
        if groups.size[self.seed] == 0:
            return False
        dissolved, lenders, hosts = self._neighbours()
        units, rows, lent = self._rows_of(dissolved, lenders)
        paid = float(groups.size[dissolved] @ groups.cost[dissolved])
        paid += sum(float(part.rows.sum()) * groups.cost[g] for g, part in lent.items())
        home_cost, home = covering_groups(
            groups.space, groups.low, groups.high, groups.cost, hosts, units
        )
        again = self._regroup(units, rows, home_cost, home)
        if again is None:
            return False
        return self._settle(dissolved, lent, again, paid)

    def _neighbours(self) -> tuple[Ints, Ints, Ints]:
        """Groups to dissolve, the drawn one first, those that lend, and those that take guests."""
        groups, least = self.groups, self.least
        nearest = nearest_of_one(groups, self.seed, HOSTS)
        nearest = nearest[nearest >= 0]
        many = groups.size > SPARED * least
        count = int(self.rng.integers(3, NEIGHBOURS + 1))
        near, far = nearest[:count], nearest[count:]
        dissolved = np.concatenate(([self.seed], near[~many[near]]))
        lenders = near[many[near]]
        return dissolved, lenders, np.concatenate((lenders, far))

    def _rows_of(self, dissolved: Ints, lenders: Ints) -> tuple[Ints, Ints, dict[int, UnitMembers]]:
        """The rows to group again, by unit, and what each lender gives of them."""
        groups = self.groups
        lent = {int(g): self._lend(int(g)) for g in lenders}
        parts = [*(groups.members[g] for g in dissolved), *lent.values()]
        units, place = np.unique(np.concatenate([p.unit for p in parts]), return_inverse=True)
        rows = np.bincount(place, np.concatenate([p.rows for p in parts]), len(units))
        return units, rows.astype(np.int64), lent

    def _lend(self, group: int) -> UnitMembers:
        """Some rows that a group can spare, from the first of its units in a drawn order."""
        members = self.groups.members[group]
        left = min(LENT * self.least, int(self.groups.size[group]) - self.least)
        order = self.rng.permutation(len(members.unit))
        rows = members.rows[order]
        given = np.clip(left - (np.cumsum(rows) - rows), 0, rows)
        some = given > 0
        return UnitMembers(members.unit[order][some], given[some])

    def _regroup(self, units: Ints, rows: Ints, home_cost: Floats, home: Ints) -> _Regrouped | None:
        space = self.groups.space.take(units, rows)
        needs = self.needs.take(units)
        candidates = find_candidates(space, needs, TOP, PAIRS)
        price = np.minimum(candidates.cheapest, home_cost) * (
            1 + NOISE * self.rng.standard_normal(len(units))
        )
        unit, group, taken, left = choose(candidates, rows, needs, price, home_cost)
        stays = group < 0
        guest, host, guests = unit[stays], home[unit[stays]], taken[stays]
        unit, group, taken = unit[~stays], group[~stays], taken[~stays]
        if left.any():
            if not len(group) and left.sum() < self.least:
                return None
            unit, group, taken = place_left(space, needs, unit, group, taken, left)
        return _Regrouped(
            units[np.concatenate((unit, guest))],
            np.concatenate((group, host)),
            np.concatenate((taken, guests)),
            np.repeat([False, True], [len(unit), len(guest)]),
        )

    def _settle(
        self, dissolved: Ints, lent: dict[int, UnitMembers], again: _Regrouped, paid: float
    ) -> bool:
        """Keep a new grouping if it is cheaper and all that changed keeps the guarantees."""
        groups = self.groups
        own = ~again.stays
        made = UnitGrouping.of(groups.space, again.unit[own], again.group[own], again.rows[own])
        pays = made.total + float(again.rows[again.stays] @ groups.cost[again.group[again.stays]])
        if pays >= paid - 1e-9:
            return False
        changed = self._changed(lent, again)
        new = made.members()
        if not self.judge([*new, *changed.values()]):
            return False
        for g in dissolved:
            groups.put(g, NO_MEMBERS)
        for g, members in changed.items():
            groups.put(g, members)
        free = np.concatenate((dissolved, groups.grow(max(len(new) - len(dissolved), 0))))
        for g, members in zip(free, new, strict=False):
            groups.put(g, members)
        return True

    def _changed(self, lent: dict[int, UnitMembers], again: _Regrouped) -> dict[int, UnitMembers]:
        """The groups that stay with other rows than before."""
        groups = self.groups
        changed: dict[int, UnitMembers] = {}
        guests = set(again.group[again.stays].tolist())
        for g in sorted(guests | set(lent)):
            before = groups.members[g]
            came = again.stays & (again.group == g)
            given = lent.get(g, NO_MEMBERS)
            unit = np.concatenate((before.unit, again.unit[came], given.unit))
            rows = np.concatenate((before.rows, again.rows[came], -given.rows))
            units, place = np.unique(unit, return_inverse=True)
            total = np.bincount(place, rows, len(units)).astype(np.int64)
            changed[g] = UnitMembers(units[total > 0], total[total > 0])
        return changed
