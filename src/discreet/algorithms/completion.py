"""One family and a new group: which counterfeits keep every belief below the bound."""

from __future__ import annotations

import numpy as np

from discreet.kernels import kernel
from discreet.models.series import Floats, Groups, Places, component_beliefs

ROOM = 1.1  # a flat group moves no belief by more than this factor
CANDIDATES = 6  # values that are tried as the next counterfeit,
MOST_CANDIDATES = 16  # and if that does not end
MOST_FAKES = 24  # counterfeits of one group, before it is made flat
MOST_TRUTHS = 60  # combinations of values that are tried for a family without room
TOLERANCE = 1e-9


class Scene:
    """One family with a new group of those members who are here."""

    def __init__(
        self, groups: Groups, matrix: Floats, group_of: Places, members: Places, here: Places
    ) -> None:
        self.matrix = matrix
        own = group_of[:, members]
        used = np.unique(own[own >= 0])
        sizes = np.diff(groups.start)[used]
        entries = np.concatenate(
            [np.arange(groups.start[g], groups.start[g + 1]) for g in used]
        ).astype(np.int64)
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.value, self.count = groups.value[entries], groups.count[entries]
        local = np.where(own >= 0, np.searchsorted(used, own), -1)
        new = np.where(np.isin(members, here), len(used), -1)
        self.group_of = np.concatenate([local, new[None]]).astype(np.int64)
        self.people = len(here)

    def beliefs(self, values: Places, counts: Places) -> tuple[int, Floats]:
        """The beliefs if the new group is published with some values."""
        result = np.zeros((*self.group_of.shape, len(self.matrix)))
        found = component_beliefs(
            self.group_of,
            np.append(self.start, self.start[-1] + len(values)),
            np.concatenate([self.value, values]),
            np.concatenate([self.count, counts]),
            self.matrix,
            result,
        )
        return int(found), result

    def completion(self, truth: Places, rho: float) -> tuple[Places, float] | None:
        """Counterfeits that keep all beliefs below the bound, and the greatest belief; or None.

        They leave room for later releases where a few more can.
        """
        before = np.setdiff1d(self.value, truth)  # values that the family was seen with
        others = np.setdiff1d(np.arange(len(self.matrix)), np.concatenate([before, truth]))
        candidates = np.concatenate([before, others, np.unique(truth)])
        for most in (CANDIDATES, MOST_CANDIDATES):
            fakes, greatest = _add_fakes(
                self.group_of,
                np.append(self.start, 0),
                self.value,
                self.count,
                self.matrix,
                truth,
                candidates[:most],
                rho,
            )
            if greatest <= rho + TOLERANCE:
                return fakes, float(greatest)
            if len(candidates) <= most:
                break
        return None

    def possible_values(self) -> list[Places] | None:
        """All multisets of values that C leaves possible; None if there are too many."""
        everything = np.arange(len(self.matrix))
        if len(everything) ** self.people > 50_000:
            return None
        found, belief = self.beliefs(everything, np.full(len(everything), self.people))
        if found != 1:
            return None
        open_ = [
            np.flatnonzero(belief[-1, person] > 0)
            for person in np.flatnonzero(self.group_of[-1] >= 0)
        ]
        seen: set[tuple[int, ...]] = {()}
        for values in open_:
            seen = {tuple(sorted((*so_far, int(v)))) for so_far in seen for v in values}
            if len(seen) > MOST_TRUTHS:
                return None
        return [np.array(truth, np.int64) for truth in sorted(seen)]


@kernel
def _add_fakes(
    group_of: Places,  # (releases and the new one, members)
    start: Places,  # (groups + the new one + 1,)
    value: Places,
    count: Places,
    matrix: Floats,
    truth: Places,
    candidates: Places,
    rho: float,
) -> tuple[Places, float]:
    """Add the counterfeit that lowers the greatest belief most, until it is low enough.

    Low enough is ρ, with room if a few more give it; the greatest belief stays above ρ where no
    counterfeits help.
    """
    rows = np.zeros(len(matrix), np.int64)
    for code in truth:
        rows[code] += 1
    greatest = _greatest_with(group_of, start, value, count, matrix, rows)
    fakes = np.empty(MOST_FAKES, np.int64)
    added = 0
    enough, best = -1, greatest  # the fewest counterfeits that suffice, and their belief
    if greatest <= rho + TOLERANCE:
        enough = 0
    while greatest * ROOM > rho and added < MOST_FAKES:
        if enough >= 0 and added >= enough + len(truth) + 1:
            break
        lowest, chosen = 3.0, -1
        for code in candidates:
            rows[code] += 1
            tried = _greatest_with(group_of, start, value, count, matrix, rows)
            rows[code] -= 1
            if tried < lowest:
                lowest, chosen = tried, code
        if chosen < 0 or lowest >= 2.0:
            break
        rows[chosen] += 1
        fakes[added] = chosen
        added += 1
        greatest = lowest
        if enough < 0 and greatest <= rho + TOLERANCE:
            enough, best = added, greatest
    if greatest * ROOM <= rho:
        return fakes[:added].copy(), greatest
    if enough >= 0:
        return fakes[:enough].copy(), best
    return fakes[:0].copy(), 2.0


@kernel
def _greatest_with(
    group_of: Places,
    start: Places,
    value: Places,
    count: Places,
    matrix: Floats,
    rows: Places,  # (values,) of the new group
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
    if component_beliefs(group_of, start, values, counts, matrix, belief) != 1:
        return 2.0
    share = rows.max() / rows.sum()  # for a reader of this release alone
    return float(max(belief.max(), share))
