"""The utility of a decomposed release: its figures, and the distributions that it implies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from discreet.releases.kinds.decomposed import sensitive_sets
from discreet.releases.kinds.decomposed.raking import rake
from discreet.releases.kinds.decomposed.sensitive_sets import (
    primary_of,
    read_sets,
    signatures_of,
)
from discreet.releases.kinds.decomposed.uniform_sets import UniformSets
from discreet.releases.kinds.exact_people import (
    check_people,
    open_share,
    people_of,
    source_codes,
    sum_people,
)
from discreet.releases.kinds.implied_groups import ImpliedGroups, PublishedPeople, SensitiveRows
from discreet.releases.manifest import Manifest
from discreet.table.assignments import Sets
from discreet.table.code_maps import code_of_value
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import Measures
from discreet.utility.implied import Implied
from discreet.utility.reading import ImpliedReading


def read_decomposition(
    original: CodedTable, tables: Mapping[str, CodedTable], manifest: Manifest
) -> ImpliedReading[Measures]:
    """Read a decomposed release against the original: raked, and as its paper does."""
    people = tables[sensitive_sets.PEOPLE]
    check_people(original, people, 0)
    measures = measure_sets(sum_sets(original, tables), original)

    @cache
    def readings() -> DecomposedReadings:
        return read_decomposed(original, tables, primary_of(manifest))

    def raked() -> Implied:
        return readings().raked or readings().uniform

    return ImpliedReading(original, measures, raked, lambda: readings().uniform)


def sum_sets(original: CodedTable, tables: Mapping[str, CodedTable]) -> CellSums:
    """Sum over some groups what their sets of values leave open."""
    people = tables[sensitive_sets.PEOPLE]
    sums = sum_people(people, original)
    sets = read_sets(tables, [column.name for column in original.sensitive])
    for place, column in enumerate(original.sensitive):
        start, _ = sets.of(place)
        share = open_share(start, people[GROUP].counts, column.cardinality)
        sums.loss[column.name] = share * people.rows
    sums.further["mean_log_sets"] = mean_log_sets(sets, people) * people.rows
    return sums


def measure_sets(sums: CellSums, original: CodedTable) -> Measures:
    """Return the measures of a decomposed release, which suppresses no row."""
    logarithms = sums.further["mean_log_sets"] / max(sums.rows, 1)
    return replace(measures_of(sums, original, 0), further={"mean_log_sets": logarithms})


@dataclass(frozen=True, eq=False)
class DecomposedReadings:
    """Both readings of a decomposed release."""

    sets: Sets
    people: PublishedPeople
    raked: ImpliedGroups | None  # None where the rows that groups may hold are too many to rake
    uniform: UniformSets


def read_decomposed(
    original: CodedTable, tables: Mapping[str, CodedTable], primary: str
) -> DecomposedReadings:
    """p2 of a decomposed release: raked, and uniform as in the paper."""
    published, sensitive = tables[sensitive_sets.PEOPLE], tables[sensitive_sets.SENSITIVE]
    names = [column.name for column in original.sensitive]
    code_of = {}
    for column in original.sensitive:
        source_codes(sensitive, column)
        code_of[column.name] = code_of_value(column, sensitive[column.name]).astype(np.int32)
    sets = read_sets(tables, names)
    people = people_of(original, published)
    signatures = signatures_of(sensitive, names)
    found = rake(sets, signatures, names.index(primary), published[GROUP].counts)
    raked = None
    if found is not None:
        codes = {
            name: code_of[name][signatures.codes[:, place]] for place, name in enumerate(names)
        }
        rows = SensitiveRows(codes, len(signatures.count), *found)
        raked = ImpliedGroups(original, people, rows)
    listed = [sets.of(place) for place in range(len(names))]
    in_original = [
        (start, code_of[name][value]) for name, (start, value) in zip(names, listed, strict=True)
    ]
    return DecomposedReadings(
        sets, people, raked, UniformSets(original, people, original.sensitive, in_original)
    )


def mean_log_sets(sets: Sets, people: CodedTable) -> float:
    """The mean over people of Σ ln|G.S_i|: the uniform divergence of unique quasi-identifiers."""
    size = people[GROUP].counts
    length = np.diff(sets.start).reshape(-1, sets.groups)
    return float(size @ np.log(np.maximum(length, 1)).sum(axis=0)) / max(people.rows, 1)
