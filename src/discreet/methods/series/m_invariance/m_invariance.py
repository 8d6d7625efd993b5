"""m-invariance: in every release of a series the groups of a person have the same values.

Xiao and Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets"
(2007), as Abdalaal (2012, sections 4.2.2 to 4.2.5) uses it; He et al. (2011)
for equal multiplicities.

| paper | here |
| --- | --- |
| signature of a group | the set of its sensitive values |
| bucket BUC | all rows that are to be published with one signature |
| counterfeit tuple | a sensitive row that belongs to no person, counted in the release |
| division, balancing, assignment, split | the four steps of ``MInvariance.run`` |

Departures:

- A returner after a gap keeps the old signature too: the ledger remembers every person.
- A value that changed out of its person's signature needs a new one, which shares no value with
  any earlier one (equal or disjoint; an overlap would tell: {a, b} → {a, c} leaks a). Such people
  are joined with each other where that is possible, before new rows and counterfeits fill up.
- Balancing gives rows back where the rest could not be grouped otherwise: a counterfeit is better
  than a person who is held back.
- New rows that cannot be placed are held back by chance among those with the same value.
- A new row whose value is not sensitive and that cannot be placed otherwise gets the signature of
  its value alone: where 80 % have "none", four of five would be held back for a value that may be
  disclosed. Signatures with a sensitive value have m values as before.
- Groups come from blocks of the curve (see ``different_values``), not from strict curve order.
- Quasi-identifiers stay exact beside the group's number. ``publish: generalized`` makes them as
  coarse as each group needs, as the papers do; a counterfeit widens no cell, because the number of
  counterfeits of each group is published.

If no value ever changes, an attacker who has all releases believes no value of a person with more
than 1/m. With changes that is not so: someone kept in {f, g} while partners are replaced climbs
0.75, 0.875, 0.94. For such data use ``rho-different``.

Cost: n log n in the rows, and (rows / m) × values for the grouping of new rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InfeasibleError
from discreet.methods.base import Ability, Bucketized, Counterfeits, Method, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.series.manifest_entry import RepublicationEntry
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
from discreet.requirements.republication import Buckets, MInvarianceRequirement, SeriesMInvariance
from discreet.table.coded_table import Column
from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import distinct_values
from discreet.table.past_releases import History
from discreet.table.published import GROUP
from discreet.typing import Codes, Ints

MULTIPLICITY = 2  # of every value in a group with equal multiplicities
TRIES = 24  # open groups that are looked at before a new one is begun


class MInvariance(Method):
    """Keep every person among the same sensitive values in all releases of a series."""

    name: ClassVar[str] = "m-invariance"
    entry: ClassVar[type[MethodEntry]] = RepublicationEntry
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.SENSITIVE_VALUES})

    m: int = Field(default=2, ge=2, description="The least number of different values in a group.")
    buckets: Buckets = Field(
        default="distinct",
        description="Each value once in a group, or all equally often, at least twice (He et al., "
        "against value-equivalence attacks).",
    )
    publish: Publish = Field(default="buckets", description=PUBLISH)

    @property
    def needs_history(self) -> bool:
        return True

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP,)

    def promises(self, task: Task) -> tuple[Requirement, ...]:
        invariance = MInvarianceRequirement(m=self.m, buckets=self.buckets)
        (column,) = sole_sensitive(task.table, self.name)
        harmless = ~_is_sensitive(task, column)
        if harmless.any():
            exempt = tuple(column.text.filter(pl.Series(harmless)).to_list())
            invariance = invariance.model_copy(update={"non_sensitive": exempt})
        return invariance, SeriesMInvariance(m=self.m)

    def run(self, task: Task) -> Bucketized:
        (column,) = sole_sensitive(task.table, self.name)
        assert task.past.history is not None
        codes, values = column.codes, column.cardinality
        place = curve_places(task, self.m)
        # Division: the signature that each person had before.
        book = read_signatures(task.past.history)
        signature, changed = book.of_rows(codes)
        pool = np.flatnonzero((signature < 0) & ~changed)
        # Balancing: people whose value changed, new rows, then counterfeits.
        stranded = join_changed(book, signature, codes, changed, pool, self.m, task.rng)
        short = _balance(book, signature, codes, pool, self.m, task.rng)
        # Assignment: signatures of the remaining new rows.
        pool = pool[signature[pool] < 0]
        held = _assign(book, signature, codes, pool, place, values, self.m, task.rng)
        held -= _alone(book, signature, codes, pool, ~_is_sensitive(task, column))
        if not (signature >= 0).any():
            raise _infeasible(task, self.m)
        # Split: groups near on the curve.
        least = MULTIPLICITY if self.buckets == "equal-multiplicity" else 1
        group, fakes = _split(book, signature, codes, place, short, least, task.rng)
        counterfeits = Counterfeits(fakes[0], {column.name: fakes[1]})
        require_all(task, group, f"{self.name}: {UNMET}", UNMET_REMEDIES, fakes=counterfeits)
        outcome = Bucketized(
            group,
            counterfeits=counterfeits,
            facts={
                "counterfeits": len(fakes[0]),
                "held_back": held + stranded,
                "groups": int(group.max()) + 1,
                "changed_signatures": int((changed & (signature >= 0)).sum()),
            },
            promises=self.promises(task),
        )
        return with_cells(task, outcome) if self.publish == "generalized" else outcome


def _balance(
    book: SignatureBook,
    signature: Ints,
    codes: Codes,
    pool: Ints,
    m: int,
    rng: np.random.Generator,
) -> tuple[Ints, Ints]:
    """Fill buckets up with new rows, so that each value of a signature occurs equally often.

    New rows get their signature; what no row fits is returned as the signature and the value of
    the counterfeits.
    """
    lacking_signature, lacking_value = book.lacking(signature, codes)
    values = book.values
    need = np.bincount(lacking_value, minlength=values)
    have = np.bincount(codes[pool], minlength=values)
    take = _affordable(np.minimum(need, have), have, m)
    taken = pool[choose_rows(pool, codes, take, rng)]
    filled = choose_rows(np.arange(len(lacking_value)), lacking_value.astype(np.int32), take, rng)
    taken = taken[np.argsort(codes[taken], kind="stable")]
    places = np.flatnonzero(filled)
    places = places[np.argsort(lacking_value[places], kind="stable")]
    signature[taken] = lacking_signature[places]
    return lacking_signature[~filled], lacking_value[~filled]


def _affordable(take: NDArray[np.int64], have: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    """Return how many rows of each value may be taken so that the rest can still be grouped."""
    take = take.copy()
    for _ in range(len(take) + 1):
        rest = have - take
        excess = m * int(rest.max(initial=0)) - int(rest.sum())
        if excess <= 0 or not rest.any():
            break
        dominant = int(rest.argmax())
        returned = 0
        for value in np.argsort(rest, kind="stable"):
            if value != dominant and excess > 0:
                back = min(int(take[value]), excess, int(rest[dominant] - rest[value]))
                take[value] -= back
                excess -= back
                returned += back
        if not returned:
            break
    return take


def _assign(
    book: SignatureBook,
    signature: Ints,
    codes: Codes,
    pool: Ints,
    place: Ints,
    values: int,
    m: int,
    rng: np.random.Generator,
) -> int:
    """Group the remaining new rows and give them new signatures; how many are held back."""
    quota = most_that_group(np.bincount(codes[pool], minlength=values), m)
    rows = pool[choose_rows(pool, codes, quota, rng)]
    group = group_different(rows, codes, place, values, m)
    rows, group = rows[group >= 0], group[group >= 0]
    signature[rows] = book.add_groups(group, codes[rows])[group]
    return len(pool) - len(rows)


def _is_sensitive(task: Task, column: Column) -> NDArray[np.bool_]:
    """(values,) Which values the job declares sensitive; all, if it names none."""
    return task.secrets.sensitive_values.get(column.name, np.ones(column.cardinality, bool))


def _alone(
    book: SignatureBook, signature: Ints, codes: Codes, pool: Ints, harmless: NDArray[np.bool_]
) -> int:
    """Give new rows that remain the signature of their value where it is harmless; how many."""
    rows = pool[(signature[pool] < 0) & harmless[codes[pool]]]
    for value in distinct_values(codes[rows].astype(np.int64)):
        number = book.number(np.array([value], np.int32))
        signature[rows[codes[rows] == value]] = number
    return len(rows)


def _split(
    book: SignatureBook,
    signature: Ints,
    codes: Codes,
    place: Ints,
    short: tuple[Ints, Ints],
    least: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int32], tuple[NDArray[np.int32], Codes]]:
    """Cut balanced buckets into groups near on the curve; the group of rows and counterfeits."""
    published = np.flatnonzero(signature >= 0)
    of_row = np.concatenate([signature[published], short[0]])
    value = np.concatenate([codes[published].astype(np.int64), short[1]])
    where = np.concatenate([place[published], np.full(len(short[0]), -1)])
    padded, padded_value = book.padding(signature[published], codes[published], least)
    of_row = np.concatenate([of_row, padded])
    value = np.concatenate([value, padded_value])
    where = np.concatenate([where, np.full(len(padded), -1)])
    where = _scatter(of_row, where, rng)
    order = np.lexsort((where, value, of_row))
    rank = np.empty(len(order), np.int64)
    rank[order] = rank_in_run(of_row[order] * book.values + value[order])
    copies = np.zeros(int(of_row.max()) + 1, np.int64)  # of every value of each signature
    np.maximum.at(copies, of_row, rank + 1)
    chunk = np.minimum(rank // least, copies[of_row] // least - 1)
    key = of_row * (int(chunk.max()) + 1) + chunk
    _, group = np.unique(key, return_inverse=True)
    result = np.full(len(signature), -1, np.int32)
    result[published] = group[: len(published)]
    return result, (
        group[len(published) :].astype(np.int32),
        value[len(published) :].astype(np.int32),
    )


def _scatter(of_row: Ints, where: Ints, rng: np.random.Generator) -> Ints:
    """Put counterfeits (place −1) beside random rows of their own signature."""
    fakes = np.flatnonzero(where < 0)
    real = np.flatnonzero(where >= 0)
    real = real[np.argsort(of_row[real], kind="stable")]
    first = np.searchsorted(of_row[real], of_row[fakes])
    count = np.searchsorted(of_row[real], of_row[fakes], side="right") - first
    where = where.copy()
    where[fakes] = where[real[first + (rng.random(len(fakes)) * count).astype(np.int64)]]
    return where


def _infeasible(task: Task, m: int) -> InfeasibleError:
    (column,) = task.table.sensitive
    known = int((column.counts > 0).sum())
    most = int(column.counts.max(initial=0))
    feasible = min(known, task.table.rows // max(most, 1))
    return InfeasibleError(
        f"m-invariance with m = {m}: no row can be published. '{column.name}' has {known} values, "
        f"and the most frequent fills {most} of {task.table.rows} rows. "
        + (f"Feasible for all: m up to {feasible}." if feasible > 1 else NOTHING_LEFT),
        [
            {
                "requirement": "m-invariance",
                "parameters": {"m": m},
                "feasible": {"m": feasible} if feasible > 1 else {},
            }
        ],
    )


@dataclass(eq=False)
class SignatureBook:
    """The numbered signatures, and those that each person had."""

    history: History
    signatures: list[NDArray[np.int32]] = field(default_factory=list)  # ascending values
    number_of: dict[bytes, int] = field(default_factory=dict)
    person: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # of each pair
    held: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # the signature

    @property
    def values(self) -> int:
        return len(self.history.values)

    def number(self, values: NDArray[np.int32]) -> int:
        """The number of a signature, given by its ascending values."""
        key = values.tobytes()
        number = self.number_of.get(key)
        if number is None:
            number = self.number_of[key] = len(self.signatures)
            self.signatures.append(values)
        return number

    def of_rows(self, codes: Codes) -> tuple[Ints, NDArray[np.bool_]]:
        """Each row's signature, −1 where none fits, and whether its value left all it had."""
        rows = len(codes)
        signature = np.full(rows, -1, np.int64)
        row_of = np.full(self.history.people, -1, np.int64)
        row_of[self.history.person_of_row] = np.arange(rows)
        here = row_of[self.person]
        pairs = np.flatnonzero(here >= 0)
        row, held = here[pairs], self.held[pairs]
        published = np.zeros(rows, bool)
        published[row] = True
        members = np.concatenate([np.zeros(0, np.int64), *self._members()])
        fits = np.isin(held * self.values + codes[row], members)
        signature[row[fits]] = held[fits]
        return signature, published & (signature < 0)

    def _members(self) -> Iterable[NDArray[np.int64]]:
        for number, values in enumerate(self.signatures):
            yield number * self.values + values.astype(np.int64)

    def forbidden(self, rows: Ints) -> list[set[int]]:
        """All values of the signatures that the persons of some rows ever had."""
        wanted = self.history.person_of_row[rows]
        first = np.searchsorted(self.person, wanted)
        last = np.searchsorted(self.person, wanted, side="right")
        return [
            {
                int(value)
                for pair in range(first[at], last[at])
                for value in self.signatures[self.held[pair]]
            }
            for at in range(len(rows))
        ]

    def counts(self, signature: Ints, codes: Codes) -> tuple[Ints, Ints, Ints]:
        """Signatures in use, each of their values, and how many rows have both."""
        used = distinct_values(signature[signature >= 0])
        sizes = [len(self.signatures[number]) for number in used]
        of_entry = np.repeat(used, sizes)
        value = np.concatenate(
            [np.zeros(0, np.int64), *(self.signatures[number] for number in used)]
        ).astype(np.int64)
        keys = of_entry * self.values + value
        rows = signature >= 0
        place = np.searchsorted(keys, signature[rows] * self.values + codes[rows])
        return of_entry, value, np.bincount(place, minlength=len(keys))

    def lacking(self, signature: Ints, codes: Codes) -> tuple[Ints, Ints]:
        """What buckets lack until all values of each occur equally often: signature and value."""
        of_entry, value, count = self.counts(signature, codes)
        most = np.zeros(len(self.signatures) + 1, np.int64)
        np.maximum.at(most, of_entry, count)
        need = most[of_entry] - count
        return np.repeat(of_entry, need), np.repeat(value, need)

    def padding(self, signature: Ints, codes: Codes, least: int) -> tuple[Ints, Ints]:
        """Return what balanced buckets lack until each value occurs at least so often."""
        of_entry, value, count = self.counts(signature, codes)
        most = np.zeros(len(self.signatures) + 1, np.int64)
        np.maximum.at(most, of_entry, count)
        need = np.maximum(least - most[of_entry], 0)
        return np.repeat(of_entry, need), np.repeat(value, need)

    def add_groups(self, group: Ints, codes: Codes) -> Ints:
        """The signature of each of some groups; their values are pairwise different."""
        groups = int(group.max(initial=-1)) + 1
        start, order = order_by_class(
            group.astype(np.int32), codes.astype(np.int32), groups, self.values
        )
        ordered = codes[order].astype(np.int32)
        return np.array(
            [self.number(ordered[start[g] : start[g + 1]]) for g in range(groups)], np.int64
        )


def read_signatures(history: History) -> SignatureBook:
    """The signatures of all earlier releases, and who had which."""
    book = SignatureBook(history)
    keys = [np.zeros(0, np.int64)]
    for release in history.releases:
        numbers = np.array(
            [
                book.number(release.value[release.start[g] : release.start[g + 1]])
                for g in range(release.groups)
            ],
            np.int64,
        )
        keys.append(release.person.astype(np.int64) << 32 | numbers[release.group])
    pairs = distinct_values(np.concatenate(keys))
    book.person, book.held = pairs >> 32, pairs & 0xFFFF_FFFF
    return book


def join_changed(
    book: SignatureBook,
    signature: Ints,
    codes: Codes,
    changed: NDArray[np.bool_],
    pool: Ints,
    m: int,
    rng: np.random.Generator,
) -> int:
    """Give people whose value left their signature one that shares no value with the old ones.

    They are joined with each other first; a signature that stays open is filled up with values
    that are frequent among new rows. Returns how many find none.
    """
    rows = rng.permutation(np.flatnonzero(changed))
    forbidden = book.forbidden(rows)
    opened: list[tuple[list[int], set[int], set[int]]] = []  # rows, values, forbidden values
    done: list[tuple[list[int], set[int]]] = []
    # Join people with each other, as long as no value is one that any of them had.
    for at, row in enumerate(rows.tolist()):
        value = int(codes[row])
        for near in range(max(len(opened) - TRIES, 0), len(opened)):
            members, taken, barred = opened[near]
            if value not in taken and value not in barred and not taken & forbidden[at]:
                members.append(row)
                taken.add(value)
                barred |= forbidden[at]
                if len(members) == m:
                    done.append((members, taken))
                    opened.pop(near)
                break
        else:
            opened.append(([row], {value}, set(forbidden[at])))
    # Fill open signatures up with frequent values.
    frequent = np.argsort(-np.bincount(codes[pool], minlength=book.values), kind="stable")
    stranded = 0
    for members, taken, barred in opened:
        free = [v for v in frequent.tolist() if v not in taken and v not in barred]
        if len(taken) + len(free) < m:
            stranded += len(members)
            continue
        done.append((members, {*taken, *_spread(free, m - len(taken), rng)}))
    for members, taken in done:
        signature[members] = book.number(np.array(sorted(taken), np.int32))
    return stranded


def _spread(free: Sequence[int], wanted: int, rng: np.random.Generator) -> list[int]:
    """Some of the values, by chance among the more frequent ones."""
    near = free[: max(2 * wanted, wanted)]
    return [near[at] for at in rng.permutation(len(near))[:wanted]]
