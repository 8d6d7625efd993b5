"""ρ-different: no attacker who has all releases believes any value of any person with more than ρ.

Abdalaal (2012, section 4.3), with the promise made exact: given the correlation
table C, its declared rule for what it leaves unstated, and known membership, no person (newcomers
included) has in any release (earlier ones included) a value with a posterior above ρ for an
attacker of all releases.

| paper | here |
| --- | --- |
| C, P(Y given X) | ``Task.past.correlation``, (values, values) with rows that add to 1 |
| EC, equivalence class of release j | a group |
| first release R1 | groups of ``group_size`` pairwise different values along the curve |
| Pr in tables 40, 41 | estimates (``beliefs.estimates``); the bound is kept for the exact belief |

Families. The persons of a new group become a family: in later releases those of them who are
there form one group again, and no other person joins them. So the persons who share groups stay
few, and the belief of an attacker who has all releases is exact by enumeration
(``beliefs.components``).

What happens to a family in a new release is decided in two moves:

1. *Without using the table's values*, from what is published and C alone: a person for whom
   the attacker's belief is above ρ even without the new release, because C carries earlier beliefs
   on, is held back, and so is a family that an earlier release disclosed. The others are published.
   So the absence of a person tells nothing about the value.
2. With the values: the group is published as it is, if that is safe; else with counterfeits of all
   values that its last group had and that are missing now; else counterfeits are added, each time
   the one that lowers the greatest belief most (no value may fill more than ρ of the group either,
   for an attacker who has only this release); and where that does not end, each member is published
   *blank*, alone among all values once each, which moves no belief at all and so is safe for every
   value.

Families with too many states to enumerate (larger groups, releases of other methods) are published
by the cohort certificate, see ``cohort_bounds``: as a group if their values are mixed
enough, else blank.

Departures: exact quasi-identifiers (``publish: generalized`` makes them as coarse as each group
needs, as in table 41); larger first groups than ρ asks for (⌈2/ρ⌉ values), to leave room for what
C adds; newcomers are never held back, those whose value is too frequent are joined by counterfeits;
C applies to consecutive appearances of a person, whatever lies between. What an earlier release has
already broken cannot be repaired; the series check then refuses the release. The first release
fixes the domain of values (``ledger.record``): a new value would move beliefs about earlier ones.

Cost: for each *shape* of families (``shapes``), of which there are far fewer than families, the
product of the states of neighbouring releases, n! each for n persons, divided by m! for m of them
who were always in the same groups (``beliefs.enumeration``).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Bucketized, Counterfeits, Method, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.series.beliefs.correlation import Correlation, Unstated
from discreet.methods.series.manifest_entry import RepublicationEntry
from discreet.methods.series.rho_different.completion import BLANK, TOLERANCE, solve
from discreet.methods.series.rho_different.families import Families, Verdicts, decide, read_families
from discreet.methods.shared.different_values import (
    choose_rows,
    curve_places,
    group_different,
    most_that_group,
    rank_in_run,
    sole_sensitive,
)
from discreet.methods.shared.grouped_rows import (
    PUBLISH,
    UNMET,
    UNMET_REMEDIES,
    Publish,
    require_all,
    with_cells,
)
from discreet.methods.shared.infeasibility import NOTHING_LEFT
from discreet.requirements.base import Requirement
from discreet.requirements.republication import RhoDifference, SeriesRhoDifference
from discreet.table.past_releases import History
from discreet.table.published import GROUP
from discreet.typing import Codes, Ints


class RhoDifferent(Method):
    """Keep every belief of an attacker who has all releases below ρ, for changing values."""

    name: ClassVar[str] = "rho-different"
    entry: ClassVar[type[MethodEntry]] = RepublicationEntry

    rho: float = Field(
        default=0.5, gt=0, lt=1, description="Greatest belief that an attacker may reach."
    )
    correlation: str | None = Field(
        default=None,
        description="A CSV with old, new and probability; by default nothing is stated.",
    )
    unstated: Unstated = Field(
        default="spread",
        description="Where the mass goes that the table leaves unstated: spread evenly over the "
        "values with nothing stated, or stay at the old value.",
    )
    group_size: int | None = Field(
        default=None,
        ge=2,
        description="How many different values a first group has; by default ⌈2/ρ⌉.",
    )
    publish: Publish = Field(default="buckets", description=PUBLISH)

    domain: tuple[Annotated[str, Field(coerce_numbers_to_str=True)] | None, ...] = Field(
        default=(),
        description="Values that may occur in later releases, beside those of the first "
        "release and of the correlation table; with a catch-all such as 'other'. It is published.",
    )

    @property
    def needs_history(self) -> bool:
        return True

    @property
    def correlations(self) -> tuple[str | None, Unstated | None]:
        return self.correlation, self.unstated

    @property
    def declared_domain(self) -> tuple[str | None, ...]:
        return self.domain

    def parameters(self) -> dict[str, Any]:
        shown = super().parameters()
        if self.correlation is not None:
            shown["correlation"] = self.correlation.rsplit("/", 1)[-1]  # no folder of the machine
        if not self.domain:
            del shown["domain"]
        return shown

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP,)

    def promises(self, task: Task) -> tuple[Requirement, ...]:
        return RhoDifference(rho=self.rho), SeriesRhoDifference(rho=self.rho)

    def run(self, task: Task) -> Bucketized:
        (column,) = sole_sensitive(task.table, self.name)
        history = task.past.history
        assert history is not None
        correlation = task.past.correlation or Correlation(unstated=self.unstated)
        matrix = correlation.matrix(column.text.to_list())
        size = self._first_size(column.cardinality)
        families = read_families(history, matrix)
        if not history.fixed:
            named = {*correlation.values, *self.domain}
            _require_known(families, column.codes, history, column.text.to_list(), named)
        # Survivors: who is published, then with which counterfeits.
        verdicts = decide(families, self.rho)
        group, fakes, greatest = complete(families, verdicts, column.codes, self.rho)
        # Newcomers: first groups along the curve.
        fresh = np.flatnonzero(families.family_of_row < 0)
        place = curve_places(task, size)
        fresh_group, fresh_fakes = first_groups(
            fresh, column.codes, place, column.cardinality, size, task.rng
        )
        begun = int(group.max(initial=-1)) + 1
        group[fresh] = fresh_group + begun
        of_fake = np.concatenate([fakes[0], fresh_fakes[0] + begun]).astype(np.int32)
        value = np.concatenate([fakes[1], fresh_fakes[1]]).astype(np.int32)
        if not (group >= 0).any():
            raise _all_held_back(self.rho)
        greatest = max(greatest, 1 / size if len(fresh) else 0.0)
        of_row = group.astype(np.int32)
        counterfeits = Counterfeits(of_fake, {column.name: value})
        require_all(task, of_row, f"{self.name}: {UNMET}", UNMET_REMEDIES, fakes=counterfeits)
        outcome = Bucketized(
            of_row,
            counterfeits=counterfeits,
            facts={
                "counterfeits": len(value),
                "held_back": int((group < 0).sum()),
                "groups": int(group.max()) + 1,
                "adversary": "joint",
                "greatest_belief": round(greatest, 6),
            },
            promises=self.promises(task),
            private=_notes(families, verdicts),
        )
        return with_cells(task, outcome) if self.publish == "generalized" else outcome

    def _first_size(self, values: int) -> int:
        """Return how many different values a first group has."""
        least = math.ceil(1 / self.rho - 1e-9)
        if values < least:
            raise InfeasibleError(
                f"rho-different with rho = {self.rho:g}: a group needs {least} different values, "
                f"and there are {values}. "
                + (f"Feasible: rho from {1 / values:.3g} on." if values > 1 else NOTHING_LEFT),
                [
                    {
                        "requirement": "rho-different",
                        "parameters": {"rho": self.rho},
                        "feasible": {"rho": 1 / values} if values > 1 else {},
                    }
                ],
            )
        wanted = self.group_size or math.ceil(2 / self.rho - 1e-9)
        return min(max(wanted, least), values)


def first_groups(
    rows: Ints,
    codes: Codes,
    place: Ints,
    values: int,
    size: int,
    rng: np.random.Generator,
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Groups of people who were never published; those that do not fit get counterfeits.

    Every group has ``size`` or more different values, each once. Returns the group of each row,
    and the group and value of each counterfeit.
    """
    quota = most_that_group(np.bincount(codes[rows], minlength=values), size)
    fits = choose_rows(rows, codes, quota, rng)
    group = np.full(len(rows), -1, np.int64)
    group[fits] = group_different(rows[fits], codes, place, values, size)
    begun = int(group.max(initial=-1)) + 1
    left = np.flatnonzero(group < 0)
    left = left[np.lexsort((place[rows[left]], codes[rows[left]]))]
    of_left = codes[rows[left]]
    group[left] = begun + rank_in_run(of_left)  # the first of every value, the second, …
    of_fake: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    fakes: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for number in range(begun, int(group.max(initial=-1)) + 1):
        held = of_left[group[left] == number]
        others = rng.permutation(np.setdiff1d(np.arange(values), held))[: size - len(held)]
        of_fake.append(np.full(len(others), number))
        fakes.append(others)
    return group, (np.concatenate(of_fake), np.concatenate(fakes))


def _require_known(
    families: Families,
    codes: Codes,
    history: History,
    values: list[str | None],
    named: Collection[str | None],
) -> None:
    """Refuse values of survivors that no reader can know of, and so cannot reckon with."""
    known = np.zeros(len(values), bool)
    for release in history.releases:
        known[release.value] = True
    known[codes[families.family_of_row < 0]] = True
    known |= np.array([value in named for value in values], bool)
    unknown = ~known[codes]
    if unknown.any():
        raise InputError(
            f"{int(unknown.sum())} published records now have a value that occurs "
            "neither in an earlier release, nor among newcomers, nor in the correlation table. "
            "List these values under 'domain', so that the guarantee covers them."
        )


def _notes(families: Families, verdicts: Verdicts) -> dict[str, Any]:
    """Return what the publisher must know and an attacker need not."""
    return {
        "too_large": int(verdicts.too_large.sum()),
        "families": families.count,
    }


def _all_held_back(rho: float) -> InfeasibleError:
    return InfeasibleError(
        f"rho-different with rho = {rho:g}: every row would be held back, because earlier "
        "releases already reveal too much. Raise rho, or start a new series with other records."
    )


def complete(
    families: Families, verdicts: Verdicts, codes: Codes, rho: float
) -> tuple[Ints, tuple[Ints, Ints], float]:
    """The groups of all survivors who are published, counterfeits, and the greatest belief.

    (rows,) the group of each row, −1 for newcomers and who is held back; the group and the value of
    each counterfeit.
    """
    # The published members of each family, their rows and their values.
    member = families.shapes.member
    sizes = np.diff(families.start)
    family = np.repeat(np.arange(families.count), sizes)  # of each member
    present = verdicts.published[member]
    person, family = member[present], family[present]
    row = families.row_of[person]
    value = codes[row].astype(np.int64)
    large = verdicts.too_large[family]
    truth = np.full(len(families.row_of), -1, np.int64)
    truth[person[~large]] = value[~large]
    # Counterfeits of the families that can be enumerated.
    completions = solve(
        families.releases,
        families.shapes,
        families.start,
        truth,
        verdicts.greatest,
        families.matrix,
        rho,
    )
    # The others are published as a group where no value fills too much of it, else blank.
    party, count = _parties(family, verdicts.party[person])
    family_of_party = np.zeros(count, np.int64)
    family_of_party[party] = family
    large = verdicts.too_large[family_of_party]
    share = _greatest_share(party, value, count, len(families.matrix))
    fakes = np.where(large, 0, completions.fakes[family_of_party])
    fakes = np.where(large & (share > rho + TOLERANCE), BLANK, fakes)
    bound = np.where(fakes == BLANK, rho, share)[large]
    begin = completions.start[family_of_party]
    group, of_fake, value_of_fake = _publish(
        party, value, fakes, begin, completions.value, len(families.matrix)
    )
    result = np.full(len(families.family_of_row), -1, np.int64)
    result[row] = group
    return (
        result,
        (of_fake, value_of_fake),
        max(completions.greatest, float(bound.max(initial=0.0))),
    )


def _parties(family: Ints, party: Ints) -> tuple[Ints, int]:
    """One number for each party of all families, and how many there are."""
    if not len(family):
        return family, 0
    key = family * (int(party.max()) + 1) + party
    numbers, inverse = np.unique(key, return_inverse=True)
    return inverse.astype(np.int64), len(numbers)


def _greatest_share(party: Ints, value: Ints, count: int, values: int) -> np.ndarray:
    """The share of the most frequent value of each party."""
    key, times = np.unique(party * values + value, return_counts=True)
    most = np.zeros(count, np.int64)
    np.maximum.at(most, key // values, times)
    return most / np.maximum(np.bincount(party, minlength=count), 1)


def _publish(
    party: Ints,  # (people,)
    value: Ints,
    fakes: Ints,  # (parties,) how many counterfeits, or BLANK
    begin: Ints,  # (parties,) where they begin
    value_of_fake: Ints,
    values: int,
) -> tuple[Ints, Ints, Ints]:
    """The group of each person, and the group and value of each counterfeit."""
    size = np.bincount(party, minlength=len(fakes))
    blank = fakes == BLANK
    first = np.concatenate([[0], np.cumsum(np.where(blank, size, 1))])[:-1]  # group of each party
    order = np.argsort(party, kind="stable")
    rank = np.empty(len(party), np.int64)
    rank[order] = rank_in_run(party[order])
    group = first[party] + np.where(blank[party], rank, 0)
    joined = np.flatnonzero(fakes > 0)
    times = fakes[joined]
    of_joined = np.repeat(first[joined], times)
    place = np.repeat(begin[joined], times) + rank_in_run(of_joined)
    alone = np.flatnonzero(blank[party])
    others = (value[alone, None] + np.arange(1, values)) % values  # all but the person's own
    return (
        group,
        np.concatenate([of_joined, np.repeat(group[alone], values - 1)]),
        np.concatenate([value_of_fake[place], others.reshape(-1)]).astype(np.int64),
    )
