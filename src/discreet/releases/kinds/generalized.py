"""The kind of generalized releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from discreet import __version__
from discreet.errors import InputError
from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.table import Links, terms_of
from discreet.methods.base import CellColumn, Generalized, Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.releases.kinds.base import Form, View, coarseness
from discreet.releases.kinds.grouped import GroupedKind
from discreet.releases.manifest import AttributeEntry, Manifest, TableEntry
from discreet.requirements.base import Domains
from discreet.statements import Statement
from discreet.table.classes import Classes, classes_of
from discreet.table.coded_table import CodedTable, Column, Tables
from discreet.table.counts import count_classes
from discreet.table.persons import Persons
from discreet.table.published import PERSON, PublishedColumn, PublishedTable
from discreet.table.roles import Role, Unit
from discreet.typing import Bools, Ints, Ints32
from discreet.utility.cell_sums import CellSums, bits_of_cells, loss_of_cells, measures_of
from discreet.utility.figures import ImpliedReading, Measures
from discreet.utility.implied import ImpliedGeneralized
from discreet.utility.terms import TermCoverage, measure_terms, term_coverage

ATTRIBUTES = tuple(role for role in Role if role.published and role is not Role.STRUCTURE)
RECORDS = "records"


class GeneralizedKind(GroupedKind):
    """One table, a row for each published person."""

    name: ClassVar[str] = "generalized"
    outcome: ClassVar[type] = Generalized
    has_records: ClassVar[bool] = True
    rows_table: ClassVar[str] = RECORDS
    values_table: ClassVar[str] = RECORDS

    def tables(self, task: Task, outcome: Generalized) -> dict[str, PublishedTable]:
        records = recoded_table(RECORDS, list(task.table), outcome)
        if task.basis.persons is None or not task.basis.keeping.numbered:
            return {RECORDS: records}
        return {RECORDS: numbered_persons(records, task.basis.persons, task.orders)}

    def forms(self, tables: int) -> Mapping[str, Form]:
        return {RECORDS: Form(ATTRIBUTES, at_will=(PERSON,))}

    def views(self, tables: Tables, domains: Domains, *, refined: bool) -> list[View]:
        records = tables[RECORDS]
        linked = [column for column in records.quasi_sensitive if column.name in domains]
        counts = count_classes(
            records.classes, records.sensitive, refined=refined, quasi_sensitive=linked
        )
        return [View(counts, domains)]

    def shard_problems(self, tables: Tables, manifest: Manifest) -> list[str]:
        return mask_problems(tables[RECORDS], manifest)

    def groups(self, tables: Tables) -> tuple[Classes, dict[str, Column], Ints]:
        records = tables[RECORDS]
        classes = classes_of(records.quasi_identifiers, records.rows)
        sensitive = {column.name: column for column in records.sensitive}
        return classes, sensitive, classes.class_of_row.astype(np.int64)

    def changed_values(
        self,
        tables: Tables,
        task: Task,
        manifest: Manifest,
        source_row: Ints32 | None,
    ) -> list[str]:
        # A row that is traced to its source row was compared with the terms of that row.
        return _added_terms(tables[RECORDS], task) if source_row is None else []

    def reading(self, tables: Tables, task: Task, manifest: Manifest) -> ImpliedReading[Measures]:
        return read_generalized(
            task.table,
            task.hierarchies,
            tables[RECORDS],
            manifest.suppressed_rows,
            levels=manifest.method.levels_of(RECORDS),
            links=task.links,
        )

    def sums(self, tables: Tables, task: Task, manifest: Manifest) -> dict[str, CellSums]:
        levels, sensitive = manifest.method.levels_of(RECORDS), task.table.sensitive
        columns = [*task.table.quasi_identifiers, *sensitive]
        return {"": CoveredCells(tables[RECORDS], columns, task.hierarchies, levels).sums()}

    def measures(
        self, sums: Mapping[str, CellSums], task: Task, manifest: Manifest, facts: Mapping[str, Any]
    ) -> Measures:
        levels = manifest.method.levels_of(RECORDS)
        return measures_of(sums[""], task.table, manifest.suppressed_rows, levels)

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        levels = manifest.method.levels_of(RECORDS)
        if levels:
            return [coarseness(quasi, levels)]
        sentences: list[str] = [Statement("quasi-identifiers.by-group", columns=quasi)]
        hierarchies = getattr(manifest.method, "hierarchies", None)
        if hierarchies:
            named = ", ".join(f"{name} ({place})" for name, place in hierarchies.items())
            sentences.append(f"Each cell is a label of the column's hierarchy: {named}.")
        return sentences


def _added_terms(records: CodedTable, task: Task) -> list[str]:
    """Terms that are published more often than the original has them."""
    problems = []
    for column in records.quasi_sensitive:
        published, source = terms_of(column), terms_of(task.table[column.name])
        occurring = source.counts(task.table[column.name].counts)
        held = dict(zip(source.names.to_list(), occurring, strict=True))
        seen = zip(published.names.to_list(), published.counts(column.counts), strict=True)
        added = sum(count > held.get(name, 0) for name, count in seen)
        if added:
            problems.append(
                f"{added} terms of '{column.name}' are published more often than they occur"
            )
    return problems


def mask_problems(table: CodedTable, manifest: Manifest) -> list[str]:
    """Sensitive cells ``*`` beside others of their class, where they would pass for one more value.

    A mask may be any value, so it proves no diversity; methods mask all of a class or nothing. That
    of rare values is none that another cell shows.
    """
    problems = []
    for column in table.sensitive:
        if column.name in manifest.recoded:
            continue
        mask = (column.text == SUPPRESSED).fill_null(False).to_numpy()
        if not mask.any():  # a value '*' of the source would have a backslash before it
            continue
        counts = count_classes(table.classes, [column]).values[column.name]
        masked = np.flatnonzero(mask[counts.value])
        partly = int((np.diff(counts.start)[counts.class_of_entry[masked]] > 1).sum())
        if partly:
            problems.append(f"'{column.name}' is masked in part of {partly} classes")
    return problems


def recoded_table(name: str, columns: Sequence[Column], outcome: Generalized) -> PublishedTable:
    """Some columns of the task's table, quasi-identifiers recoded, without suppressed rows."""
    published_rows = np.flatnonzero(outcome.class_of_row >= 0)
    whole = len(published_rows) == len(outcome.class_of_row)
    class_of_row = outcome.class_of_row if whole else outcome.class_of_row[published_rows]
    published = []
    for column in columns:
        if column.role is Role.QUASI_IDENTIFIER:
            published.append(_recoded(column, outcome.cells[column.name], class_of_row))
        elif column.name in outcome.masked:
            masked = outcome.masked[column.name][class_of_row]
            published.append(_masked(column, masked, published_rows))
        else:
            changed = outcome.row_cells.get(column.name)
            codes = column.codes if changed is None else changed.codes
            values = column.values if changed is None else changed.cells
            codes = codes if whole else codes[published_rows]
            published.append(PublishedColumn(column.name, column.role, codes, values))
    source_row = None if whole else published_rows.astype(np.int32)
    return PublishedTable(name, published, len(published_rows), source_row=source_row)


def numbered_persons(
    table: PublishedTable, persons: Persons, rng: np.random.Generator
) -> PublishedTable:
    """The table with a number for each person, drawn at random from 1 to their number."""
    person = persons.number if table.source_row is None else persons.number[table.source_row]
    shown, place = np.unique(person, return_inverse=True)
    number = rng.permutation(len(shown))[place].astype(np.int32)
    values = pl.Series(PERSON, np.arange(1, len(shown) + 1))
    column = PublishedColumn(PERSON, Role.STRUCTURE, number, values)
    return replace(table, columns=[column, *table.columns])


def _recoded(column: Column, cells: CellColumn, class_of_row: Ints32) -> PublishedColumn:
    dictionary = pl.Series(column.name, list(cells.labels), dtype=pl.String)
    return PublishedColumn(
        column.name, column.role, cells.cell_of_class.take(class_of_row), dictionary
    )


def _masked(column: Column, is_masked: Bools, rows: Ints) -> PublishedColumn:
    codes = np.where(is_masked, column.cardinality, column.codes[rows]).astype(np.int32)
    dictionary = pl.concat([column.text, pl.Series([SUPPRESSED])])
    return PublishedColumn(column.name, column.role, codes, dictionary)


def read_generalized(
    original: CodedTable,
    hierarchies: Mapping[str, Hierarchy],
    published: CodedTable,
    suppressed_rows: int,
    levels: Mapping[str, int] | None = None,
    links: Mapping[str, Links] | None = None,
) -> ImpliedReading[Measures]:
    """Read the published rows of a generalized release against the original.

    ``levels`` are those of a full-domain recoding; with them a label that a hierarchy has on
    several levels is read on the one that was used. Every value in the original's dictionaries
    must occur: they are the domain of each attribute.
    """
    measured = [*original.quasi_identifiers, *original.sensitive]
    table = MeasuredTable(published, measured, hierarchies, levels, original, suppressed_rows)
    # Sets of terms lie in another distribution than values do.
    if original.quasi_sensitive:
        measures, implied = _with_terms(table, links or {})
        return ImpliedReading(original, measures, lambda: implied)
    # Sampling weights give a second reading, in which each row has its weight.
    weights = published.analysis_weights
    if weights is None or original.analysis_weights is None or not published.rows:
        return ImpliedReading(original, table.measures, lambda: table.implied)

    def imply_weighted() -> ImpliedGeneralized:
        gone = round(suppressed_rows * float(weights.mean()))  # a suppressed row weighs the mean
        cells = list(table.cells.values())
        return ImpliedGeneralized(cells, table.coverages, published.rows, gone, weights)

    return ImpliedReading(
        original, table.measures, lambda: table.implied, imply_weighted=imply_weighted
    )


def _with_terms(
    table: MeasuredTable, links: Mapping[str, Links]
) -> tuple[Measures, ImpliedGeneralized]:
    """Return measures and distribution with what is left of the quasi-sensitive attributes."""
    original, published = table.original, table.published
    _check_same_people(original.quasi_sensitive, original.rows, published, table.suppressed_rows)
    columns = list(table.cells.values())
    coverages: dict[str, Coverage | TermCoverage] = {**table.coverages}
    terms = {}
    for column in original.quasi_sensitive:
        cells = _occurring(published[column.name])
        columns.append(cells)
        coverages[column.name] = term_coverage(column, cells)
        terms[column.name] = measure_terms(column, cells, published.classes, links.get(column.name))
    implied = ImpliedGeneralized(columns, coverages, published.rows, table.suppressed_rows)
    return replace(table.measures, terms=terms), implied


@dataclass(frozen=True, eq=False)
class CoveredCells:
    """The cells of a generalized table, or of some of its classes, and what they cover."""

    published: CodedTable
    measured: Sequence[Column]  # of the original
    hierarchies: Mapping[str, Hierarchy]
    levels: Mapping[str, int] | None

    @cached_property
    def cells(self) -> dict[str, Column]:
        """The measured columns as published, with dictionaries of what occurs."""
        return {column.name: _occurring(self.published[column.name]) for column in self.measured}

    @cached_property
    def coverages(self) -> dict[str, Coverage]:
        """What the cells of each column cover."""
        return {
            column.name: coverage_of_cells(self.cells[column.name], column, *self._read_by(column))
            for column in self.measured
        }

    def _read_by(self, column: Column) -> tuple[Hierarchy | None, int | None]:
        """Return the hierarchy and the level by which the cells of a column are read.

        A sensitive cell is exact, a set or masked: never a label, even if it reads like one.
        """
        is_generalized = column.role is Role.QUASI_IDENTIFIER
        hierarchy = self.hierarchies.get(column.name) if is_generalized else None
        return hierarchy, (self.levels or {}).get(column.name)

    def sums(self) -> CellSums:
        """Sum what is measured over the cells."""
        sums = CellSums.of_sizes(self.published.classes.size)
        for column in self.measured:
            cells, coverage = self.cells[column.name], self.coverages[column.name]
            lost = loss_of_cells(column, cells, coverage, *self._read_by(column))
            sums.loss[column.name] = float(lost @ cells.counts)
            if column.role is Role.QUASI_IDENTIFIER:
                sums.bits[column.name] = bits_of_cells(column, coverage, cells.counts)
            else:
                masked = (cells.text == SUPPRESSED).fill_null(False).to_numpy()
                sums.masked += int(cells.counts[masked | (coverage.size > 1)].sum())
        return sums


@dataclass(frozen=True, eq=False)
class MeasuredTable(CoveredCells):
    """A generalized table of the original's people: its measures, and p2."""

    original: CodedTable
    suppressed_rows: int

    def __post_init__(self) -> None:
        rows = self.original.rows
        _check_same_people(self.measured, rows, self.published, self.suppressed_rows)

    @cached_property
    def measures(self) -> Measures:
        """The figures that need no distribution."""
        return measures_of(self.sums(), self.original, self.suppressed_rows, self.levels)

    @cached_property
    def implied(self) -> ImpliedGeneralized:
        """p2 of the table."""
        cells, gone = list(self.cells.values()), self.suppressed_rows
        return ImpliedGeneralized(cells, self.coverages, self.published.rows, gone)


def _check_same_people(
    measured: Sequence[Column], rows: int, published: CodedTable, suppressed_rows: int
) -> None:
    lacking = [column.name for column in measured if column.name not in published.columns]
    if lacking:
        raise InputError(
            f"The release lacks {len(lacking)} columns of the original: {', '.join(lacking)}. "
            "Name the job that made the release."
        )
    if published.rows + suppressed_rows != rows:
        raise InputError(
            f"The release has {published.rows} rows and {suppressed_rows} suppressed, the original "
            f"{rows}. Name the job that made the release, with its own table."
        )


def _occurring(column: Column) -> Column:
    """The column with a dictionary of the cells that do occur."""
    occurs = column.counts > 0
    if occurs.all():
        return column
    code = np.cumsum(occurs, dtype=np.int32) - 1
    return replace(
        column,
        codes=code[column.codes],
        text=column.text.filter(occurs),
        values=column.values.filter(occurs),
        numbers=None if column.numbers is None else column.numbers[occurs],
    )


def manifest_of_cells(published: CodedTable, original: CodedTable) -> Manifest:
    """Return what a release would say of a table of any tool: its columns, and no guarantee."""
    columns = {column.name: column.role for column in published}
    return Manifest.model_construct(
        discreet=__version__,
        kind=GeneralizedKind.name,
        method=MethodEntry(name="another tool"),
        tables={RECORDS: TableEntry(file="", rows=published.rows, columns=columns)},
        attributes={c.name: AttributeEntry(type=c.type, distance=c.distance) for c in original},
        unit=Unit.ROW,
        source_rows=original.rows,
        published_rows=published.rows,
        suppressed_rows=max(original.rows - published.rows, 0),
    )
