"""What the rows of T^S support in the sets of a decomposed release.

A published value that no signature supports could be ruled out by any attacker, and so could one
that no assignment of all people to all rows gives to any person of the group
(``table.assignments``).

Readers of T^S: what is left of a person's other values once one sensitive value is known.

The attacker knows the release, in which group a person is, and the person's value of one attribute.
Three attackers, each stronger than the one before:

- ``pair`` keeps the values of the group's sets that occur in T^S together with the known one;
- ``row`` keeps those of rows of T^S with the known value that lie wholly within the sets;
- ``matching`` keeps those that some assignment of all people to all rows of T^S uses, each row for
  one person, each within the sets of the person's group (``table.assignments``).

``matching`` counts no assignments and is exact; it is left out where the graph of people and rows
is too large.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from discreet.errors import InputError
from discreet.releases.manifest import Manifest, ReaderFinding
from discreet.releases.worlds.sensitive_sets import (
    PEOPLE,
    SENSITIVE,
    SensitiveSignatures,
    SetsAndRows,
    SignaturesPart,
    primary_of,
    signatures_with,
)
from discreet.table.assignments import (
    PossibleRows,
    Sets,
    World,
    impossible_values,
    possible_rows,
    rows_by_value,
    sets_of_groups,
    supporting_rows,
)
from discreet.table.budgets import MOST_ENTRIES
from discreet.table.coded_table import Tables, derived_once
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import (
    distinct_values,
    entries_of,
    starts_of,
    stretches,
)
from discreet.table.possible_rows import RestrictedRows, restricted_rows
from discreet.typing import AnyInts, Bools, Ints, Ints32

READERS = ("pair", "row")


def count_unsupported(sets: Sets, signatures: SensitiveSignatures) -> Ints:
    """Return how many values of each attribute no row of T^S supports in their group."""
    return _by_attribute(sets, unsupported_values(sets, signatures))


@derived_once
def unsupported_values(sets: Sets, signatures: SensitiveSignatures) -> Bools:
    """Return which entries no row of T^S supports in their group; found once for these sets."""
    return _unsupported(
        sets.start, sets.value, sets.groups, signatures.codes, signatures.offset,
        signatures.start, signatures.listed,
    )  # fmt: skip


def _by_attribute(sets: Sets, entries: Bools) -> Ints:
    """Return how many of the entries each attribute has."""
    ends = sets.start[:: max(sets.groups, 1)].tolist()
    return np.array([np.count_nonzero(entries[a:b]) for a, b in pairwise(ends)], np.int64)


@derived_once
def kept_values(sets: Sets, signatures: SensitiveSignatures, known: int, reader: str) -> AnyInts:
    """For each known value of each group, how many values of each attribute an attacker keeps.

    A row for each entry of the known attribute's sets, in their order; found once for these sets.
    """
    find = _values_in_rows if reader == "row" else _values_beside
    return find(sets, signatures, known)


def _values_in_rows(sets: Sets, signatures: SensitiveSignatures, known: int) -> Ints32:
    """The same for the attacker who keeps the values of rows of T^S within the sets."""
    begin, row = rows_within(sets, signatures, known)
    if row is not None:
        return count_values(begin, row, signatures.codes, signatures.offset)
    halves = np.array_split(np.arange(sets.groups), 2)  # too many rows at once
    parts = [_values_in_rows(sets_of_groups(sets, half)[1], signatures, known) for half in halves]
    return np.concatenate(parts)


def count_values(begin: Ints, row: Ints32, codes: Ints32, offset: Ints) -> Ints32:
    """Return how many values of each attribute the rows of each entry have."""
    counts = np.zeros((len(begin) - 1, codes.shape[1]), np.int32)
    for part in stretches(np.diff(begin)):
        entry = np.repeat(np.arange(part.stop - part.start), np.diff(begin)[part])
        rows = row[begin[part.start] : begin[part.stop]]
        for attribute, values in enumerate(np.diff(offset).tolist()):
            pair = distinct_values(entry * values + codes[rows, attribute])
            counts[part, attribute] = np.bincount(pair // values, minlength=part.stop - part.start)
    return counts


def _values_beside(sets: Sets, signatures: SensitiveSignatures, known: int) -> AnyInts:
    """The same for the attacker who keeps each value that some row of T^S has beside the known."""
    start, value = sets.of(known)
    group = np.repeat(np.arange(sets.groups), np.diff(start))
    values = np.diff(signatures.offset)
    result = np.zeros((len(value), len(values)), np.min_scalar_type(int(values.max(initial=0))))
    for attribute in range(len(values)):
        beside = np.zeros((values[known], values[attribute]), np.bool_)
        beside[signatures.codes[:, known], signatures.codes[:, attribute]] = True
        first, others = sets.of(attribute)
        for part in stretches(np.diff(first)[group]):
            listed, place = entries_of(first, group[part])
            occurs = beside[value[part][place], others[listed]]
            result[part, attribute] = np.bincount(place, occurs, part.stop - part.start)
    return result


@derived_once
def rows_within(
    sets: Sets, signatures: SensitiveSignatures, known: int
) -> tuple[Ints, Ints32 | None]:
    """The rows of T^S within the sets, by known values; found once for these sets."""
    return supporting_rows(sets, signatures.codes, known, MOST_ENTRIES)


class Assignments(NamedTuple):
    """All assignments of the rows of T^S to people, within the sets of the people's groups.

    What follows from them is found once for these sets; it is None where the graph of people and
    rows is too large.
    """

    sets: Sets
    signatures: SensitiveSignatures
    primary: int  # the attribute of whose sets some person of the group has each value
    size: Ints  # (groups,) people
    world: World | None = None  # an assignment that is known; it saves a search

    def possible_rows(self) -> PossibleRows | None:
        """The rows of T^S that people of each group have in some world."""
        return self.sets.once(("possible rows", self.signatures, self.primary), self._possible_rows)

    def _possible_rows(self) -> PossibleRows | None:
        sets, signatures, primary, size, world = self
        begin, row = rows_within(sets, signatures, primary)
        if row is None:
            return None
        restricted = self._restricted()
        if restricted is None:
            codes, count = signatures.codes, signatures.count
            supporting = begin, row
            return possible_rows(
                sets, codes, count, primary, size, supporting=supporting, world=world
            )
        start = begin[sets.of(primary)[0]]
        possible = np.ones(len(row), np.bool_)
        possible[entries_of(start, restricted.groups)[0]] = restricted.possible
        return PossibleRows(np.concatenate(([0], np.cumsum(possible)))[start], row[possible], True)

    def _restricted(self) -> RestrictedRows | None:
        """Return where a known world shows that rows are ruled out."""
        sets, signatures, primary, size, world = self
        return sets.once(
            ("restricted", signatures, primary),
            lambda: (
                None
                if world is None
                else restricted_rows(sets, signatures.codes, signatures.count, primary, size, world)
            ),
        )

    def ruled_out(self) -> tuple[Ints, PossibleRows] | None:
        """The groups in which all groups together rule out rows within the sets, and what is left.

        A world that is known saves a search.
        """
        restricted = self._restricted()
        if restricted is not None:
            return restricted.groups, restricted.rows
        possible = self.possible_rows()
        if possible is None:
            return None
        begin, _ = rows_within(self.sets, self.signatures, self.primary)
        before = np.diff(begin[self.sets.of(self.primary)[0]])
        groups = np.flatnonzero(np.diff(possible.start) < before)
        start = starts_of(np.diff(possible.start)[groups])
        rows, _ = entries_of(possible.start, groups)
        return groups, PossibleRows(start, possible.row[rows], possible.complete)

    def struck_values(self) -> tuple[Ints, bool] | None:
        """How many values of each attribute no world has in their group; whether there is one."""
        ruled_out = self.ruled_out()
        if ruled_out is None:
            return None
        groups, rows = ruled_out
        struck = unsupported_values(self.sets, self.signatures).copy()
        entries, narrow = sets_of_groups(self.sets, groups)
        struck[entries] = impossible_values(narrow, self.signatures.codes, rows)
        return _by_attribute(self.sets, struck), rows.complete

    def matched_values(self, known: int, part: SignaturesPart | None = None) -> AnyInts | None:
        """For each known value of each group, how many values of each attribute worlds have.

        Only the signatures of ``part`` count, all by default.
        """
        sets, signatures, primary, *_ = self
        ruled_out = self.ruled_out()
        if ruled_out is None or rows_within(sets, signatures, primary)[1] is None:
            return None
        groups, rows = ruled_out
        # Most groups keep all rows within their sets.
        counts = kept_values(sets, signatures if part is None else part.rows, known, "row").copy()
        if part is not None:
            counted = np.concatenate(([0], np.cumsum(part.chosen[rows.row])))
            rows = PossibleRows(counted[rows.start], rows.row[part.chosen[rows.row]], rows.complete)
        # Groups in which rows are ruled out are counted anew.
        _, narrow = sets_of_groups(sets, groups)
        begin, order = rows_by_value(narrow, signatures.codes, known, rows)
        entries, _ = entries_of(sets.of(known)[0], groups)
        counts[entries] = count_values(begin, rows.row[order], signatures.codes, signatures.offset)
        return counts


def _unsupported_at_once(
    start: Ints, value: Ints32, groups: int, codes: Ints32, *listed: object
) -> Bools:
    sets = Sets(start, value, groups)
    begin, row = supporting_rows(sets, codes, 0, MOST_ENTRIES)
    if row is None:
        unsupported: Bools = cast(Any, _unsupported).function(start, value, groups, codes, *listed)
        return unsupported
    return impossible_values(sets, codes, PossibleRows(begin[sets.of(0)[0]], row, True))


# Compiled: a search through the rows of T^S that ends with the first that is found.
@kernel(interpreted=_unsupported_at_once)
def _unsupported(
    start: Ints,
    value: Ints32,
    groups: int,
    codes: Ints32,
    offset: Ints,
    listed_start: Ints,
    listed: Ints32,
) -> Bools:
    attributes = codes.shape[1]
    stamp = np.full(offset[attributes], -1, np.int32)
    supported = np.full(offset[attributes], -1, np.int32)
    result = np.zeros(len(value), np.bool_)
    for group in range(groups):
        # Mark the values that the group's sets list; then search a row for each that has none yet.
        for attribute in range(attributes):
            which = attribute * groups + group
            for entry in range(start[which], start[which + 1]):
                stamp[offset[attribute] + value[entry]] = group
        for attribute in range(attributes):
            which = attribute * groups + group
            for entry in range(start[which], start[which + 1]):
                place = offset[attribute] + value[entry]
                if supported[place] == group:
                    continue
                for i in range(listed_start[place], listed_start[place + 1]):
                    supports = True
                    for other in range(attributes):
                        supports &= stamp[offset[other] + codes[listed[i], other]] == group
                    if supports:
                        for other in range(attributes):
                            supported[offset[other] + codes[listed[i], other]] = group
                        break
                if supported[place] != group:
                    result[entry] = True
    return result


def link_through_sensitive_table(
    tables: Tables,
    known: str,
    primary: str,
    harmless: Mapping[str, Collection[str | None]] | None = None,
) -> list[ReaderFinding]:
    """Return what each reader who knows one attribute finds out about the others.

    Only what a reader finds out about values that are not ``harmless`` counts.
    """
    sensitive, (names, sets, signatures, size) = tables[SENSITIVE], SetsAndRows.of(tables)
    for name in (known, primary):
        if name not in names:
            raise InputError(f"'{name}' is not a sensitive attribute. Allowed: {', '.join(names)}.")
    # What each reader keeps, for every known value of every group.
    number, people = names.index(known), tables[PEOPLE].rows
    by_reader = {reader: kept_values(sets, signatures, number, reader) for reader in READERS}
    worlds = Assignments(sets, signatures, names.index(primary), size)
    matched = worlds.matched_values(number)
    if matched is not None:
        by_reader["matching"] = matched
    masks = {
        name: np.array([text not in spared for text in sensitive[name].text.to_list()])
        for name, spared in (harmless or {}).items()
    }
    # How many people this leaves with one value, reader by reader.
    findings = []
    for reader, values in by_reader.items():
        for place, name in enumerate(names):
            if name == known:
                continue
            left = values
            if name in masks:  # an attacker who is left with harmless values learns no secret
                part = signatures_with(signatures, place, masks[name])
                if reader == "matching":
                    few = worlds.matched_values(number, part)
                    assert few is not None  # it was found for all values
                else:
                    few = kept_values(sets, part.rows, number, reader)
                exposed = few[:, place] > 0
                left = np.where(exposed[:, None], values, sensitive[name].cardinality + 1)
            certain, exact = _certain_people(sets, number, left[:, place], size, known == primary)
            findings.append(
                ReaderFinding(
                    reader=reader,
                    known=known,
                    attribute=name,
                    least=int(np.min(left[:, place], initial=sensitive[name].cardinality)),
                    certain=certain,
                    people=people,
                    exact=exact,
                )
            )
    return findings


def _certain_people(
    sets: Sets, known: int, left: AnyInts, size: Ints, occur: bool
) -> tuple[int, bool]:
    """How many people at most have a known value that leaves a single one; whether so many do.

    How often a value of a set occurs in its group is not published. Where each is known to occur,
    every other value of the set takes one person.
    """
    start, _ = sets.of(known)
    groups = np.searchsorted(start, np.flatnonzero(left == 1), side="right") - 1
    groups, sure = np.unique(groups, return_counts=True)
    length, people = np.diff(start)[groups], size[groups]
    others = length - sure
    most = people - others if occur else people
    told = (others == 0) | ((people == length) & occur)
    return int(most.sum()), bool(told.all())


def reader_findings(tables: Tables, manifest: Manifest) -> list[ReaderFinding]:
    """Return what attackers who use T^S find in a release."""
    primary = primary_of(manifest)
    return link_through_sensitive_table(tables, primary, primary, manifest.disclosable)
