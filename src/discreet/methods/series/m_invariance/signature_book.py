"""All signatures of a series under numbers, and which of them each person may be published with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import distinct_values
from discreet.table.past_releases import History
from discreet.typing import Codes, Ints

TRIES = 24  # open groups that are looked at before a new one is begun


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
        found = self.number_of.get(key)
        if found is None:
            found = self.number_of[key] = len(self.signatures)
            self.signatures.append(values)
        return found

    def of_rows(self, codes: Codes) -> tuple[Ints, NDArray[np.bool_]]:
        """Each row's signature, −1 where none fits, and whether its value left all it had."""
        rows = len(codes)
        signature = np.full(rows, -1, np.int64)
        row_of = np.full(self.history.people, -1, np.int64)
        row_of[self.history.person_of_row] = np.arange(rows)
        here = row_of[self.person]
        pairs = np.flatnonzero(here >= 0)
        row, held = here[pairs], self.held[pairs]
        known = np.zeros(rows, bool)
        known[row] = True
        members = np.concatenate([np.zeros(0, np.int64), *self._members()])
        fits = np.isin(held * self.values + codes[row], members)
        signature[row[fits]] = held[fits]
        return signature, known & (signature < 0)

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
        found = np.searchsorted(keys, signature[rows] * self.values + codes[rows])
        return of_entry, value, np.bincount(found, minlength=len(keys))

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
