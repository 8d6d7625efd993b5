"""The engine of one machine: the whole table is the one part, and the release the one shard."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.io.column_dictionary import render
from discreet.io.databases import writing_tables
from discreet.io.frames import FrameKind, code_frame, plain_frame, to_frame
from discreet.io.kept_types import (
    ColumnSchema,
    FrameTypes,
    exact_columns,
    frame_of_types,
    schema_of,
)
from discreet.io.writing import OutputFormat, typed_columns, write_table
from discreet.job.model import Job
from discreet.methods.base import Ability, Generalized, Outcome, Progress, Task
from discreet.methods.shared.person_groups import group_persons
from discreet.pipeline.engine import Engine, FormedTables, Reading
from discreet.pipeline.manifest_draft import published_bits, require_members
from discreet.pipeline.read import SourceRows, hash_of_source, read_source
from discreet.pipeline.record import Draft, draft_of
from discreet.releases.audit.audit import Audit, audit_tables, read_tables, specs_of
from discreet.releases.manifest import Manifest, TableEntry
from discreet.releases.measure import measure_release
from discreet.releases.registry import kind_of_outcome, suppressed_rows
from discreet.requirements.base import PublishedValues
from discreet.table.coded_table import CodedTable, Column
from discreet.table.interrupts import interruptible
from discreet.table.published import PublishedColumn, PublishedTable
from discreet.utility.settings import MeasureSettings

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


class OneMachine(Engine[SourceRows, Outcome]):
    """Everything in the memory of this process."""

    name: ClassVar[str] = "local"

    def read(self, job: Job, data: Any, ledger: Ledger | None, progress: Progress) -> SourceRows:
        progress("reading", 0.0)
        data = plain_frame(data)
        with ThreadPoolExecutor(1) as pool:
            digest = pool.submit(hash_of_source, job, data)
            source = read_source(job, data, ledger, lambda share: progress("reading", share))
            sha256 = digest.result()
        from_path = data is None or isinstance(data, str | Path)
        like = FrameTypes() if from_path else FrameTypes.of(data)
        return replace(source, sha256=sha256, like=like)

    def run(self, job: Job, task: Task, source: SourceRows, seed: int) -> Outcome:
        task.progress(job.method.name, 0.0)
        persons = task.basis.persons
        if persons is not None and Ability.PERSONS not in job.method.abilities:
            return interruptible(lambda: group_persons(job.method, task, persons))
        return interruptible(lambda: job.method.run(task))

    def form(self, job: Job, task: Task, source: SourceRows, outcome: Outcome) -> LocalTables:
        kind = kind_of_outcome(outcome)
        published = kind.tables(task, outcome)
        # A bit names its member: a column of zeros would reveal that a suppressed person has it.
        bits = {bit for bitmap in task.bitmaps.values() for bit in bitmap.bits}
        gone = bits - published_bits(task, published.values())
        require_members(task, gone)
        published = {name: table.without(gone).compacted() for name, table in published.items()}
        task = task.without(gone)
        return LocalTables(
            task=task,
            kind=kind.name,
            entries={
                name: TableEntry(
                    file=f"{name}.csv",
                    rows=table.rows,
                    columns={column.name: column.role for column in table.columns},
                )
                for name, table in published.items()
            },
            suppressed=suppressed_rows(outcome),
            facts=outcome.facts,
            promises=outcome.promises,
            private=dict(outcome.private),
            gone=gone,
            masked=outcome.masked if isinstance(outcome, Generalized) else (),
            published=published,
            orders={
                name: None if table.keeps_order else _random_order(task.orders, table.rows)
                for name, table in published.items()
            },
            like=source.like,
        )

    def draft(
        self, job: Job, ledger: Ledger | None, tables: FormedTables, outcome: Outcome
    ) -> Draft | None:
        if ledger is None:
            return None
        assert isinstance(tables, LocalTables)
        return draft_of(ledger, job, tables.task, outcome, tables.published)


@dataclass(eq=False, kw_only=True)
class LocalTables(FormedTables):
    """Published tables in memory."""

    published: Mapping[str, PublishedTable]
    orders: Mapping[str, NDArray[np.int32] | None]  # the random order of each table's rows
    like: FrameTypes  # of the frame that came in

    def frames(self) -> dict[str, Any]:
        return {
            name: frame_of_types(table.columns, self.like, self.task.table, self.orders[name])
            for name, table in self._with_cells().items()
        }

    def schema(self, frames: Mapping[str, Any]) -> dict[str, dict[str, ColumnSchema]]:
        return {
            name: schema_of(frame, self.entries[name].columns, self.like)
            for name, frame in frames.items()
        }

    def read(self, manifest: Manifest) -> LocalReading:
        tables = {
            name: code_frame(
                to_frame(table.columns, FrameKind.POLARS, self.orders[name]),
                specs_of(manifest, name),
            )
            for name, table in self._with_cells().items()
        }
        return LocalReading(tables, self.task, self.source_rows())

    def write(
        self, folder: Path, format_: OutputFormat, manifest: Manifest, progress: Progress
    ) -> None:
        for number, (name, table) in enumerate(self.published.items()):

            def tell(share: float, before: int = number) -> None:
                progress("writing", (before + share) / len(self.published))

            file = folder / f"{name}.{format_}"
            columns = table.columns if format_ == "csv" else self._typed(table, manifest)
            write_table(file, format_, columns, self.orders[name], tell)
            manifest.tables[name].file = file.name

    def _typed(self, table: PublishedTable, manifest: Manifest) -> list[PublishedColumn]:
        """Return columns with values of their types, for files and databases that have types."""
        types = {name: entry.type for name, entry in manifest.attributes.items()}
        return typed_columns(exact_columns(table.columns, self.task.table), types)

    def forget_cells(self) -> None:
        self.published = {
            name: replace(table, columns=()) for name, table in self.published.items()
        }

    def _with_cells(self) -> Mapping[str, PublishedTable]:
        if not all(table.columns for table in self.published.values()):
            raise RuntimeError(
                "The tables are no longer in memory, since they were written. Read their files."
            )
        return self.published

    def read_back(self, folder: Path, manifest: Manifest, progress: Progress) -> LocalReading:
        progress("reading back", 0.0)
        tables = read_tables(folder, manifest, lambda share: progress("reading back", share))
        return LocalReading(tables, self.task, self.source_rows())

    def source_rows(self) -> dict[str, NDArray[np.int32]]:
        """Return the source row of each published row, for kinds that publish row by row."""
        return {
            name: order if table.source_row is None else table.source_row[order]
            for name, table in self.published.items()
            if (order := self.orders[name]) is not None
        }

    @property
    def original(self) -> Task:
        return self.task

    def writing_by_url(
        self, job: Job, manifest: Manifest, force: bool
    ) -> AbstractContextManager[None]:
        if job.output.url is None:
            return nullcontext()
        frames = {
            f"{job.output.prefix}{name}": to_frame(
                self._typed(table, manifest), FrameKind.POLARS, self.orders[name]
            )
            for name, table in self.published.items()
        }
        return writing_tables(job.output.url, job.folder, frames, force=force)


class LocalReading(Reading):
    """Whole tables, each row traced to its source row."""

    def __init__(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> None:
        self._tables, self._task, self._source_rows = tables, task, source_rows

    @property
    def tables(self) -> Mapping[str, CodedTable]:
        return self._tables

    @property
    def values(self) -> PublishedValues:
        return {
            column.name: set(column.text.to_list())
            for table in self.tables.values()
            for column in table.sensitive
        }

    def audit(self, manifest: Manifest) -> Audit:
        return audit_tables(
            self.tables, manifest, self._task, self._source_rows, compared=self.compared
        )

    def measure(self, manifest: Manifest, settings: MeasureSettings) -> dict[str, Any]:
        measures = measure_release(
            self.tables, self._task, manifest, divergence=settings.divergence,
            source_rows=self._source_rows,
        )  # fmt: skip
        return measures.to_dict(private=True)

    def same(self, other: Reading) -> bool:
        if not isinstance(other, LocalReading) or self.tables.keys() != other.tables.keys():
            return False
        pairs = [(table, other.tables[name]) for name, table in self.tables.items()]
        return all(
            len(table.columns) == len(again.columns) and all(map(_same_column, table, again))
            for table, again in pairs
        )


def _same_column(column: Column, other: Column) -> bool:
    """Return whether columns have the same cells; a file may hold text where memory has numbers."""
    kind = column.type
    return (
        (column.name, column.role, kind, column.distance, column.separator)
        == (other.name, other.role, other.type, other.distance, other.separator)
        and column.text.equals(other.text, null_equal=True)
        and render(column.values, kind).equals(render(other.values, kind), null_equal=True)
        and np.array_equal(column.codes, other.codes)
    )


def _random_order(rng: np.random.Generator, rows: int) -> NDArray[np.int32]:
    """Return all rows in random order; each order is as likely as any other."""
    order = np.arange(rows, dtype=np.int32)
    rng.shuffle(order)
    return order
