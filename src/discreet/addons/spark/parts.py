"""One part of a table: the same task, the same method, the same tables as for a whole table.

An engine that spreads a table over machines gives each part to these functions. They know nothing
of the engine. A part's columns have the dictionaries of the whole table and carry its counts, so
that codes mean the same everywhere and requirements compare with the whole table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.addons.spark.recording import StagedRecord, stage_record
from discreet.io.column_dictionary import render
from discreet.io.frames import code_frame, code_series
from discreet.job.model import Job
from discreet.methods.base import Generalized, Outcome, Projected, Task
from discreet.pipeline.manifest_draft import form_manifest, promised, published_bits
from discreet.releases.audit.audit import specs_of
from discreet.releases.kinds.base import Kind
from discreet.releases.manifest import Manifest, TableEntry
from discreet.releases.registry import kind_of_outcome, suppressed_rows
from discreet.requirements.base import Requirement
from discreet.table.coded_table import CodedTable
from discreet.table.counts import secret_generator
from discreet.table.published import GROUP, PublishedTable
from discreet.table.roles import ColumnSpec, Role
from discreet.typing import Codes

ORDER, PART = "order", "part"  # columns of a staged table beside its own, which are c0, c1, …
SOURCE = "source"  # where persons keep several rows: that of the source which each is made of
PERSON_NUMBER = "person"  # of encoded rows, where persons keep several
CODED = 1 << 13  # values of a text column that is staged and sent in codes, at most


_PLAIN = Role.INSENSITIVE


def coded_columns(specs: Mapping[str, ColumnSpec]) -> list[str]:
    """The source columns that are coded: all that are published, but the insensitive ones."""
    return [n for n, s in specs.items() if s.role.published and s.role is not _PLAIN]


def in_codes(values: pl.Series, codes: NDArray[np.integer]) -> pl.Series:
    """The values of some rows; text with few values as an Enum, which is sent as codes."""
    if values.dtype == pl.String and len(values) <= CODED:
        values = values.cast(pl.Enum(values.drop_nulls().unique(maintain_order=True)))
    return values.gather(pl.Series(codes))


@dataclass(frozen=True, eq=False)
class PartPlan:
    """The facts that every worker on a part has."""

    job: Job
    task: Task  # of the whole table: an entry for each value of a column, with its count
    specs: Mapping[str, ColumnSpec]
    missing: tuple[str, ...]
    seed: int
    fixed_order: bool = False  # for tests: orders follow from the seed

    @property
    def coded(self) -> list[str]:
        """The source columns that are coded."""
        return coded_columns(self.specs)

    @property
    def plain(self) -> list[str]:
        """The insensitive columns, which travel as they are."""
        return [name for name, spec in self.specs.items() if spec.role is _PLAIN]

    def source_of(self, column: str) -> str:
        """The source column that a column of the task is made from: its own, but for a bit."""
        for attribute, bitmap in self.task.bitmaps.items():
            if column in bitmap.bits:
                return attribute
        return column

    def task_of(
        self, codes: Mapping[str, Codes], plain: Mapping[str, pl.Series], rng: np.random.Generator
    ) -> Task:
        """The task of some rows; without ``plain`` it has no insensitive columns."""
        columns = {}
        for column in self.task.table:
            if column.role is _PLAIN:
                if column.name in plain:
                    series = plain[column.name].alias(column.name)
                    columns[column.name] = code_series(
                        series, self.specs[column.name], self.missing, "The table"
                    )
                continue
            source = self.source_of(column.name)
            if source not in codes:
                continue
            column_codes = codes[source] if source == column.name else column.codes[codes[source]]
            columns[column.name] = replace(
                column, codes=column_codes, weights=None, total=column.counts
            )
        rows = len(next(iter(codes.values())))
        return replace(self.task, table=CodedTable(columns, rows), rng=rng)


@dataclass(frozen=True)
class StagedTable:
    """A part's share of a published table, in a file of its own."""

    path: str
    rows: int
    columns: dict[str, Role]
    keeps_order: bool
    fingerprint: int  # of its cells but group numbers, in any order of the rows


@dataclass(frozen=True)
class PartResult:
    """The facts about a part whose tables are staged."""

    part: int
    rows: int
    kind: str
    suppressed: int
    groups: int  # of the kinds that number them
    facts: dict[str, Any]
    promises: tuple[Requirement, ...]
    private: dict[str, Any]
    tables: dict[str, StagedTable]
    problems: tuple[str, ...]
    left: str | None = None  # the file of the rows that found no group
    bits: frozenset[str] = frozenset()  # of multi-valued attributes: those that some row has set
    persons: str | None = None  # the private file of its rows, each with its person
    person_columns: tuple[str, ...] = ()  # of that file: c0, c1, …
    record: StagedRecord | None = None  # for a ledger


def stage_part(
    plan: PartPlan,
    task: Task,
    outcome: Outcome,
    part: int,
    folder: Path,
    name: str,
    row: NDArray[np.int64],
    person: NDArray[np.int64] | None = None,
    source: NDArray[np.int64] | None = None,
) -> PartResult:
    """Form the tables of a part, trace each row to its source, and write them to a folder.

    ``row`` is the number of each row in the table. Where persons keep several rows, ``person`` is
    that of each, staged beside the table, and ``source`` its number in the source.
    """
    # Form the tables; a part whose rows are all suppressed has none.
    task = replace(task, orders=task.rng if plan.fixed_order else secret_generator())
    kind = kind_of_outcome(outcome)
    suppressed = suppressed_rows(outcome)
    tables = kind.tables(task, outcome) if suppressed < task.table.rows else {}
    # Write each table, and the persons of its rows.
    groups = 0
    persons: str | None = None
    named: tuple[str, ...] = ()
    staged, frames = {}, {name: _frame(table) for name, table in tables.items()}
    for name_of_table, table in tables.items():
        frame = frames[name_of_table]
        path = folder / f"{table.name}-{name}.arrow"
        staged[table.name] = _stage(table, frame, path, part, task.orders, source)
        if GROUP in frame.columns:
            groups = max(groups, int(str(frame[GROUP].max())))
        if person is not None:
            persons = str(folder / f"persons-{name}.parquet")
            _stage_persons(table, frame, person).write_parquet(persons)
            named = tuple(frame.columns)
    # Write what a ledger records.
    record = None
    if plan.job.ledger is not None and tables:
        place = folder / f"record-{name}.arrow"
        record = stage_record(outcome, tables, task, row, part, place)
    return PartResult(
        part=part,
        rows=task.table.rows,
        kind=kind.name,
        suppressed=suppressed,
        groups=groups,
        facts=outcome.facts,
        promises=outcome.promises,
        private=outcome.private,
        tables=staged,
        problems=tuple(_traced(plan, kind, task, outcome, tables, frames, suppressed)),
        bits=frozenset(published_bits(task, tables.values())),
        persons=persons,
        person_columns=named,
        record=record,
    )


def _frame(table: PublishedTable) -> pl.DataFrame:
    return pl.DataFrame([in_codes(c.dictionary, c.codes).alias(c.name) for c in table.columns])


def _stage_persons(
    table: PublishedTable, frame: pl.DataFrame, person: NDArray[np.int64]
) -> pl.DataFrame:
    """The cells of every published row as text, with its person."""
    published_person = person if table.source_row is None else person[table.source_row]
    cells = [render(series).alias(f"c{place}") for place, series in enumerate(frame)]
    return pl.DataFrame([*cells, pl.Series(PERSON_NUMBER, published_person)])


def without_bits(result: PartResult, gone: Collection[str]) -> PartResult:
    """Stage the tables of a part again without some columns."""
    tables = {}
    for name, staged in result.tables.items():
        columns = {column: role for column, role in staged.columns.items() if column not in gone}
        if columns != staged.columns:
            names = list(staged.columns)
            frame = pl.read_ipc(staged.path)
            frame = frame.rename({f"c{names.index(c)}": c for c in names}).drop(
                set(names) - set(columns)
            )
            print_ = fingerprint(frame.select(c for c in columns if c != GROUP))
            path = str(Path(staged.path).with_suffix(".kept"))
            frame.rename({c: f"c{i}" for i, c in enumerate(columns)}).write_ipc(path)
            staged = replace(staged, path=path, columns=columns, fingerprint=print_)
        tables[name] = staged
    return replace(result, tables=tables)


def _stage(
    table: PublishedTable,
    frame: pl.DataFrame,
    path: Path,
    part: int,
    rng: np.random.Generator,
    source: NDArray[np.int64] | None,
) -> StagedTable:
    structure = [c.name for c in table.columns if c.role is Role.STRUCTURE and c.name == GROUP]
    place = (
        np.arange(table.rows) if table.keeps_order else rng.integers(0, 2**62, table.rows, np.int64)
    )
    print_ = fingerprint(frame.drop(structure))
    frame = frame.rename({name: f"c{i}" for i, name in enumerate(frame.columns)})
    frame = frame.with_columns(
        pl.Series(ORDER, place, pl.Int64), pl.lit(part, pl.Int32).alias(PART)
    )
    if source is not None:
        published_source = source if table.source_row is None else source[table.source_row]
        frame = frame.with_columns(pl.Series(SOURCE, published_source, pl.Int64))
    frame.write_ipc(path, compression="lz4")
    columns = {column.name: column.role for column in table.columns}
    return StagedTable(str(path), table.rows, columns, table.keeps_order, print_)


def fingerprint(frame: pl.DataFrame) -> int:
    """A sum over the rows of a hash of their cells' text: equal for the same rows in any order."""
    if not frame.width:
        return 0
    hashes = row_hashes(frame, 1)
    low: Any = (hashes & 0xFFFFFFFF).cast(pl.UInt64).sum()
    high: Any = (hashes // 2**32).cast(pl.UInt64).sum()
    return int(low) + (int(high) << 32)


def row_hashes(frame: pl.DataFrame, seed: int) -> pl.Series:
    """Hash each row by the text of its cells, the same for text, an Enum, or typed values."""
    hashes = []
    for place, series in enumerate(frame):
        if isinstance(series.dtype, pl.Enum):
            cell_hashes = series.dtype.categories.hash(place).gather(series.to_physical())
        else:
            text = render(series)
            cell_hashes = pl.select(pl.when(text.is_not_null()).then(text.hash(place))).to_series()
        hashes.append(cell_hashes.fill_null(0).alias(str(place)))
    return pl.DataFrame(hashes).hash_rows(seed)


def _traced(
    plan: PartPlan,
    kind: Kind,
    task: Task,
    outcome: Outcome,
    tables: Mapping[str, PublishedTable],
    frames: Mapping[str, pl.DataFrame],
    suppressed: int,
) -> list[str]:
    """Return losses and inventions of a part's tables, each row traced to its source row."""
    if not tables:
        return []
    manifest = manifest_of(plan, task, kind, outcome.facts, outcome.promises, tables, suppressed)
    coded = {name: code_frame(frame, specs_of(manifest, name)) for name, frame in frames.items()}
    sources = {
        name: np.arange(table.rows, dtype=np.int32)
        if table.source_row is None
        else table.source_row
        for name, table in tables.items()
    }
    return kind.changes(coded, task, manifest, sources, part=True)


def manifest_of(
    plan: PartPlan,
    task: Task,
    kind: Kind,
    facts: Mapping[str, Any],
    promises: Sequence[Requirement],
    tables: Mapping[str, PublishedTable],
    suppressed: int,
) -> Manifest:
    """The manifest of a part as if it were the whole release."""
    entries = {
        name: TableEntry(
            file=name, rows=table.rows, columns={c.name: c.role for c in table.columns}
        )
        for name, table in tables.items()
    }
    return form_manifest(
        plan.job, task, kind.name, facts, promised(task, promises), entries, suppressed
    )


def part_of_outcome(outcome: Outcome, classes: Sequence[NDArray[np.int32]]) -> Outcome:
    """An outcome on tuples as one on rows, whose classes are given, one list a recoding."""
    if isinstance(outcome, Projected):
        return replace(
            outcome,
            projections=tuple(
                replace(p, recoding=replace(p.recoding, class_of_row=class_of_row))
                for p, class_of_row in zip(outcome.projections, classes, strict=True)
            ),
        )
    assert isinstance(outcome, Generalized)
    return replace(outcome, class_of_row=classes[0])


def recodings_of(outcome: Outcome) -> list[Generalized]:
    """The recodings of an outcome on tuples: one, or one a projection."""
    if isinstance(outcome, Projected):
        return [projection.recoding for projection in outcome.projections]
    assert isinstance(outcome, Generalized)
    return [outcome]
