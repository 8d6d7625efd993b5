"""Readers of T^S: what is left of a person's other values once one sensitive value is known.

The attacker knows the release, in which group a person is, and the person's value of one attribute.
Three attackers, each stronger than the one before:

- ``pair`` keeps the values of the group's sets that occur in T^S together with the known one;
- ``row`` keeps those of rows of T^S with the known value that lie wholly within the sets;
- ``matching`` keeps those that some assignment of all people to all rows of T^S uses, each row for
  one person, each within the sets of the person's group (``data.assignments``).

``matching`` counts no assignments and is exact; it is left out where the graph of people and rows
is too large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.releases.kinds.decomposed.sensitive_sets import (
    PEOPLE,
    SENSITIVE,
    SensitiveSignatures,
    primary_of,
    read_sets,
    signatures_of,
)
from discreet.releases.kinds.decomposed.supported_sets import (
    READERS,
    are_few_within,
    count_values,
    kept_values,
    rows_ruled_out,
)
from discreet.releases.manifest import Manifest, ReaderFinding
from discreet.table.assignments import Sets, rows_by_value, sets_of_groups
from discreet.table.coded_table import CodedTable
from discreet.table.kernels.lists import entries_of
from discreet.table.published import GROUP
from discreet.typing import AnyInts, Ints

FINDING_ROWS = 100_000  # of a release in parts that is collected to see what attackers find


@dataclass(frozen=True)
class LinkFinding:
    """How well one attacker does against one attribute, over all people and known values."""

    reader: str
    known: str
    attribute: str
    least: int  # values left to the attacker in the worst case
    certain: int  # people whose value is certain: a single one is left
    people: int
    exact: bool  # False where ``certain`` is the most that the release leaves possible

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        return asdict(self)


def link_through_sensitive_table(
    tables: Mapping[str, CodedTable], known: str, primary: str
) -> list[LinkFinding]:
    """Return what each reader who knows one attribute finds out about the others."""
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    for name in (known, primary):
        if name not in names:
            raise InputError(f"'{name}' is not a sensitive attribute. Allowed: {', '.join(names)}.")
    sets = read_sets(tables, names)
    signatures = signatures_of(sensitive, names)
    number, size = names.index(known), people[GROUP].counts
    kept = {reader: kept_values(sets, signatures, number, reader) for reader in READERS}
    matched = matched_values(sets, signatures, number, names.index(primary), size)
    if matched is not None:
        kept["matching"] = matched
    findings = []
    for reader, left in kept.items():
        for place, name in enumerate(names):
            if name == known:
                continue
            certain, exact = _certain_people(sets, number, left[:, place], size, known == primary)
            findings.append(
                LinkFinding(
                    reader,
                    known,
                    name,
                    least=int(left[:, place].min(initial=sensitive[name].cardinality)),
                    certain=certain,
                    people=people.rows,
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


def reader_findings(tables: Mapping[str, CodedTable], manifest: Manifest) -> list[ReaderFinding]:
    """Return what attackers who use T^S find in a release."""
    primary = primary_of(manifest)
    found = link_through_sensitive_table(tables, primary, primary)
    return [ReaderFinding(**finding.to_dict()) for finding in found]


def matched_values(
    sets: Sets, signatures: SensitiveSignatures, known: int, primary: int, size: Ints
) -> AnyInts | None:
    """For each known value of each group, how many values of each attribute assignments use.

    None where the graph of people and rows is too large.
    """
    ruled_out = rows_ruled_out(sets, signatures, primary, size)
    if ruled_out is None or not are_few_within(sets, signatures, primary):
        return None
    groups, rows = ruled_out
    kept = kept_values(sets, signatures, known, "row").copy()
    _, narrow = sets_of_groups(sets, groups)
    begin, order = rows_by_value(narrow, signatures.codes, known, rows)
    entries, _ = entries_of(sets.of(known)[0], groups)
    kept[entries] = count_values(begin, rows.row[order], signatures.codes, signatures.offset)
    return kept
