"""The figures of a manifest, derived from published tables alone.

The pipeline that makes a release writes these figures into the manifest; an audit derives them
again and refuses a manifest that differs. A figure that needs the original does not
belong here: an attacker who lists every table that fits the files could keep those that give the
stated figure.

What an attacker who knows all quasi-identifiers sees of a release, for the report.

Two distributions, from the counts that the audit derived from published files: how large the groups
are that people are in, and how much such an attacker believes in the value that each of them has,
the value's share of the group. A masked cell (``*``) is no value, and values that the guarantees
let be disclosed are not counted. A decomposed release publishes no
shares; of it only the sizes are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isclose
from typing import Any

import numpy as np
import polars as pl

from discreet.hierarchies.cells import ESCAPE, SUPPRESSED
from discreet.methods.manifest_entry import MethodEntry
from discreet.releases.kinds.base import (
    Kind,
    ReleaseTally,
    View,
    class_columns,
    class_sizes,
    verdict_on,
)
from discreet.releases.manifest import Manifest, RareEntry, TableUtility, Utility
from discreet.releases.registry import kind_of
from discreet.requirements.base import TOLERANCE
from discreet.requirements.closeness import TCloseness
from discreet.requirements.judge import covered
from discreet.table.coded_table import Tables
from discreet.table.counts import ValueCounts
from discreet.table.published import COUNT
from discreet.table.roles import Role
from discreet.typing import Bools, Ints

PROTECTED = (Role.SENSITIVE, Role.QUASI_SENSITIVE)


def tally(tables: Tables, manifest: Manifest, kind: Kind, views: Sequence[View]) -> ReleaseTally:
    """Return the counts that the figures of a manifest are derived from."""
    sizes = class_sizes(kind, tables)
    # Cells that are masked are no values.
    masked = {}
    for table in tables.values():
        for column in table:
            if column.role in PROTECTED:
                cells = (column.text == SUPPRESSED).fill_null(False).to_numpy()
                masked[column.name] = int(column.counts[cells].sum())
    # Closeness is derived only for methods that state it.
    closeness = 0.0
    if "closeness" in type(manifest.method).model_fields:
        verdict = verdict_on(kind, TCloseness(t=1), views)
        closeness = 0.0 if verdict is None else float(verdict.achieved.get("t", 0.0))
    return ReleaseTally(
        {name: len(size) for name, size in sizes.items()},
        {name: int((size**2).sum()) for name, size in sizes.items()},
        masked,
        sum(int((v.counts.size - v.counts.real).sum()) for v in views if v.counts.real is not None),
        closeness,
        frozenset(
            column.name
            for table in tables.values()
            for column in table
            if column.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
            and column.text.str.contains(ESCAPE, literal=True).any()
        ),
        {
            name: table.rows
            for name, table in tables.items()
            if class_columns(kind, manifest, name) is not None
        },
        _rare_cells(tables, manifest),
    )


def _rare_cells(tables: Tables, manifest: Manifest) -> dict[str, dict[str, int]]:
    """Count the cells that stand for rare values, by attribute and cell."""
    counts: dict[str, dict[str, int]] = {}
    if manifest.rare is None:
        return counts
    for table in tables.values():
        counted = table.columns.get(COUNT)
        by_row = None
        if counted is not None and counted.role is Role.STRUCTURE:  # a row for several persons
            by_row = counted.text.cast(pl.Int64).to_numpy()[counted.codes]
        for column in table.sensitive:
            entry = manifest.rare.attributes.get(column.name)
            if entry is None:
                continue
            cells = column.counts if by_row is None else None
            if cells is None:
                cells = np.bincount(column.codes, by_row, column.cardinality).astype(np.int64)
            wanted = {SUPPRESSED, *entry.lifted}
            counts[column.name] = {
                text: count
                for text, count in zip(column.text.to_list(), cells.tolist(), strict=True)
                if text in wanted and count
            }
    return counts


def settle(manifest: Manifest, counted: ReleaseTally, picture: Picture) -> None:
    """Write every figure of a manifest that follows from published tables."""
    manifest.utility = _utility(manifest, counted)
    manifest.method = _with_figures(manifest, counted, picture)
    manifest.coverage = coverage(manifest)
    if manifest.rare is not None:
        manifest.rare = _with_cells(manifest.rare, counted)
    for name, entry in manifest.attributes.items():
        entry.escaped = entry.escaped and name in counted.escapes


def _with_cells(rare: RareEntry, counted: ReleaseTally) -> RareEntry:
    """Return the entry with the numbers of published cells, and the labels that are published."""
    attributes = {}
    for name, entry in rare.attributes.items():
        cells = dict(counted.rare.get(name, {}))
        masked = cells.pop(SUPPRESSED, 0)
        attributes[name] = entry.model_copy(update={"masked": masked, "lifted": cells})
    return rare.model_copy(update={"attributes": attributes})


def misstated_figures(manifest: Manifest, counted: ReleaseTally, picture: Picture) -> list[str]:
    """Return where a manifest differs from its files."""
    derived = manifest.model_copy(deep=True)
    settle(derived, counted, picture)
    stated, again = manifest.model_dump(mode="json"), derived.model_dump(mode="json")
    places = [
        place
        for key in ("utility", "method", "coverage", "attributes", "rare")
        for place in _differences(stated[key], again[key], key)
    ]
    return [f"the manifest disagrees with its files at '{place}'" for place in places]


def coverage(manifest: Manifest) -> dict[str, list[str]]:
    """Return the names of the requirements that cover each sensitive attribute; [] for none."""
    roles = {
        name: role
        for entry in manifest.tables.values()
        for name, role in entry.columns.items()
        if role in PROTECTED
    }
    covering: dict[str, list[str]] = {name: [] for name in roles}
    for promise in manifest.promises:
        vacuous = promise.vacuous_for or ()
        for name in covered(promise.to_requirement(), roles):
            if name not in vacuous and promise.requirement not in covering[name]:
                covering[name].append(promise.requirement)
    return covering


def _utility(manifest: Manifest, counted: ReleaseTally) -> Utility:
    gone, rows = manifest.suppressed_rows, manifest.source_rows
    of_table = {name: _table_utility(manifest, counted, name) for name in counted.classes}
    share = gone / rows if gone and rows else None
    if "" in of_table:
        return Utility(**of_table[""].model_dump(), suppressed_share=share)
    return Utility(tables=of_table, suppressed_share=share)


def _table_utility(manifest: Manifest, counted: ReleaseTally, table: str) -> TableUtility:
    gone, rows = manifest.suppressed_rows, manifest.source_rows
    classes = counted.classes[table]
    levels = manifest.method.levels_of(table)
    return TableUtility(
        discernibility=counted.squares[table] + gone * rows,
        classes=classes,
        class_size=rows / classes if classes else None,
        height=None if levels is None else sum(levels.values()),
        loss=None if kind_of(manifest.kind).makes_alike else gone / max(rows, 1),
    )


def _with_figures(manifest: Manifest, counted: ReleaseTally, picture: Picture) -> Any:
    """Return the method's entry with those of the figures that it has a field for."""
    # The protected attributes that are published.
    of_role = {
        role: [
            name
            for entry in manifest.tables.values()
            for name, other in entry.columns.items()
            if other is role
        ]
        for role in PROTECTED
    }
    masked = {n: counted.masked[n] for n in of_role[Role.SENSITIVE] if counted.masked.get(n)}
    # Every figure that some method states.
    figures = {
        "groups": sum(counted.classes.values()),
        "suppressed_rows": manifest.suppressed_rows,
        "held_back": manifest.suppressed_rows,
        "counterfeits": counted.counterfeits,
        "closeness": counted.closeness,
        "masked_cells": masked,
        "emptied_rows": {n: counted.masked.get(n, 0) for n in of_role[Role.QUASI_SENSITIVE]},
        "greatest_share": {
            name: shares.greatest for name, shares in picture.beliefs.items() if shares.people
        },
    }
    # An entry takes those that it has a field for.
    entry: MethodEntry = manifest.method
    known = {name: figure for name, figure in figures.items() if name in type(entry).model_fields}
    return entry.model_copy(update=known)


def _differences(stated: Any, derived: Any, place: str) -> Iterator[str]:
    """Return the places where two JSON values differ by more than rounding."""
    if isinstance(stated, dict) and isinstance(derived, dict):
        for name in dict.fromkeys([*stated, *derived]):
            yield from _differences(stated.get(name), derived.get(name), f"{place}.{name}")
    elif isinstance(stated, float) and isinstance(derived, float):
        if not isclose(stated, derived, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield place
    elif stated != derived:
        yield place


BINS = 20  # of a belief, in equal steps from 0 to 1
STEPS = (1, 2, 3, 4, 5, 7)  # bounds of sizes, in every power of ten
MASKED = "*"


@dataclass(frozen=True)
class SizeBand:
    """The groups of some sizes."""

    low: int
    high: int  # inclusive
    groups: int
    people: int


@dataclass(frozen=True)
class Shares:
    """What an attacker who knows the groups believes of the values that people have."""

    people: int
    greatest: float
    histogram: tuple[int, ...]  # people by belief
    squares: Mapping[int, int]  # by size of group: Σ (people with a value)²

    @property
    def mean(self) -> float:
        """The mean belief; the same figure however the groups were dealt out to parts."""
        return fsum(total / size for size, total in self.squares.items()) / max(self.people, 1)

    def __add__(self, other: Shares) -> Shares:
        sizes = [*self.squares, *other.squares]
        return Shares(
            self.people + other.people,
            max(self.greatest, other.greatest),
            tuple(a + b for a, b in zip(self.histogram, other.histogram, strict=True)),
            {size: self.squares.get(size, 0) + other.squares.get(size, 0) for size in sizes},
        )


@dataclass(frozen=True)
class Picture:
    """The groups of a release, and the beliefs that their counts give."""

    sizes: Mapping[str, tuple[SizeBand, ...]] = field(default_factory=dict)  # by table
    beliefs: Mapping[str, Shares] = field(default_factory=dict)  # by sensitive attribute
    alike: bool = True  # whether the people of a group can't be told apart by their cells

    @classmethod
    def joined(cls, parts: Sequence[Picture]) -> Picture:
        """The picture of groups that were looked at in several parts."""
        bands: dict[str, list[SizeBand]] = {}
        beliefs: dict[str, Shares] = {}
        for part in parts:
            for table, of_part in part.sizes.items():
                bands.setdefault(table, []).extend(of_part)
            for name, shares in part.beliefs.items():
                beliefs[name] = beliefs[name] + shares if name in beliefs else shares
        sizes = {table: _joined_bands(of_table) for table, of_table in bands.items()}
        return cls(sizes, beliefs, all(part.alike for part in parts))


def picture_of(
    views: Mapping[str, View], kind: Kind, disclosable: Mapping[str, Collection[str | None]]
) -> Picture:
    """The picture of a release's views, by table; of values that are not disclosable."""
    beliefs: dict[str, Shares] = {}
    for view in views.values():
        for name, values in view.counts.values.items():
            if kind.publishes_counts and len(values.value):
                left_out = {MASKED, *disclosable.get(name, ())}
                covered = np.array([v not in left_out for v in view.domains[name].values], bool)
                beliefs[name] = _shares(values, view.counts.size, covered)
    sizes = {name: size_bands(view.counts.size) for name, view in views.items()}
    return Picture(sizes, beliefs, kind.makes_alike)


def size_bands(size: Ints) -> tuple[SizeBand, ...]:
    """Group sizes in bands that grow with them; none is empty at the ends."""
    return _bands(size, np.ones(len(size), np.int64), size)


def _joined_bands(parts: Sequence[SizeBand]) -> tuple[SizeBand, ...]:
    figures = np.array([(band.low, band.groups, band.people) for band in parts], np.int64)
    return _bands(*figures.reshape(-1, 3).T)


def _bands(size: Ints, groups: Ints, people: Ints) -> tuple[SizeBand, ...]:
    """Bands of entries, each of some groups of about a size with so many people."""
    if not len(size):
        return ()
    edges = [1]
    while edges[-1] <= size.max():
        power = 10 ** (len(str(edges[-1])) - 1)
        edges.append(next(s * power for s in (*STEPS, 10) if s * power > edges[-1]))
    band = np.searchsorted(edges, size, side="right") - 1
    groups = np.bincount(band, groups, len(edges) - 1).astype(np.int64)
    people = np.bincount(band, people, len(edges) - 1).astype(np.int64)
    used = np.flatnonzero(groups)
    return tuple(
        SizeBand(edges[i], edges[i + 1] - 1, int(groups[i]), int(people[i]))
        for i in range(used[0], used[-1] + 1)
    )


def _shares(values: ValueCounts, size: Ints, covered: Bools) -> Shares:
    known = covered[values.value]
    count, own_size = values.count[known], size[values.class_of_entry[known]]
    belief = count / own_size
    place = np.clip((belief * BINS - 1e-9).astype(np.int64), 0, BINS - 1)
    histogram = np.bincount(place, count, BINS).astype(np.int64)
    sizes = np.flatnonzero(np.bincount(own_size))
    squares = np.zeros(int(own_size.max(initial=0)) + 1, np.int64)
    np.add.at(squares, own_size, count**2)  # exact, where a float of large classes is not
    return Shares(
        int(histogram.sum()),
        float(belief.max(initial=0.0)),
        tuple(int(count) for count in histogram),
        dict(zip(sizes.tolist(), squares[sizes].tolist(), strict=True)),
    )
