"""Read: from a source to splits on the workers and dictionaries on the driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from discreet.addons.spark.encoded import (
    HOLDER,
    Columns,
    Ingested,
    Lookup,
    SourceSplit,
    ingest,
    plain_names,
    read_split,
    values_of,
)
from discreet.addons.spark.exchange import COUNT, received, summed
from discreet.addons.spark.parts import PERSON_NUMBER, coded_columns
from discreet.addons.spark.session import COLLECTED, Workers, reporting, stream
from discreet.addons.spark.text_files import FileStretch, SplitCellError, TextFiles
from discreet.errors import InputError, JobError
from discreet.io.column_dictionary import Dictionary, sort_dictionary
from discreet.io.csv.layout import dialect
from discreet.io.frames import code_series
from discreet.io.header import names_read, require_names
from discreet.io.source import Source
from discreet.job.identifying import Uses
from discreet.job.model import Job
from discreet.job.proposing.untyped_table import suggest_type
from discreet.pipeline.read import require_columns, source_of, specs_of_job, specs_of_others
from discreet.table.budgets import LOOKED_AT
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ColumnSpec, Role, ValueType

VALUES_LOOKED_AT = 1000  # of an unchanged column
SAMPLED_SPLITS = 10  # whose first rows show which columns reveal others
Table = DataFrame | TextFiles


def read(session: SparkSession, job: Job, data: Any) -> Table:
    """The table of a job; all columns of a text file are text."""
    with reporting():
        if isinstance(data, DataFrame):
            return data.toDF(*names_read(data.columns, "The table"))
        if data is None and job.source is not None and job.source.in_catalog:
            table, query = job.source.table, job.source.query
            frame = session.table(table) if table is not None else session.sql(str(query))
            return frame.toDF(*names_read(frame.columns, "The table"))
        if data is None and job.source is not None and job.source.url is not None:
            raise InputError(
                "The engine 'spark' does not read a database by its URL. Give Spark a table: "
                "`source: {table: …}`, or pass session.read.jdbc(…) to discreet.publish."
            )
        source = source_of(job, data)
        if source.resolved_format == "parquet":
            frame = session.read.parquet(*(f.path.absolute().as_uri() for f in source.files))
            return frame.toDF(*names_read(frame.columns, "The table"))
        if source.is_text:
            files = _text_files(source)
            names, _ = dialect(files[0])
            specs = specs_of_job(job) | specs_of_others(job, names)
            require_columns(names, specs, str(source.path), files[0])
            return TextFiles.of(source, files)
    raise InputError(
        f"{source.path}: the engine 'spark' reads csv, tsv, parquet and its own tables. Convert it."
    )


def as_frame(session: SparkSession, table: Table) -> DataFrame:
    """The table as a data frame; a task reads each text file."""
    if isinstance(table, DataFrame):
        return table
    stretches, names = table.whole(), plain_names(table.columns)

    def read_files(numbers: Iterator[pa.Table]) -> Iterator[pa.Table]:
        for batch in numbers:
            for number in batch.column(0).to_numpy():
                yield from stretches[number].tables(names)

    numbers = session.range(0, len(stretches), 1, len(stretches))
    schema = ", ".join(f"{name} string" for name in names.values())
    return stream(numbers, read_files, schema).toDF(*table.columns)


def _text_files(source: Source) -> list[Source]:
    """The file, those that a pattern means, or those of a folder."""
    if not source.path.is_dir():
        return source.files
    files = sorted(p for p in source.path.iterdir() if p.is_file() and p.name[0] not in "._")
    if not files:
        raise InputError(f"{source.path}: the folder has no file. Check the path.")
    kind = source.resolved_format
    return [source.model_copy(update={"path": path, "format": kind}) for path in files]


def require_fit(frame: Table, job: Job) -> dict[str, ColumnSpec]:
    """Return each column's specification, in the table's order; raise unless all are named."""
    joined = [name for name, attribute in job.attributes.items() if attribute.columns]
    if joined:
        raise JobError(
            [f"attributes.{joined[0]}: Spark does not join 'columns'. Join them in the source."]
        )
    specs = specs_of_job(job)
    require_names(frame.columns, "The table")
    specs |= specs_of_others(job, frame.columns)
    require_columns(frame.columns, specs, "the table")
    foreign = [
        f"attributes.{name}: the engine 'spark' publishes insensitive cells as they are, without "
        "`format:` and `decimal:`. Convert them, set `type: text`, or publish with --engine local."
        for name, spec in specs.items()
        if spec.role is Role.INSENSITIVE and spec.is_foreign
    ]
    if foreign:
        raise JobError(foreign)
    return {name: specs[name] for name in frame.columns}


def types_of(table: Table) -> list[pa.DataType]:
    """The types of a table's columns as its workers have them."""
    if isinstance(table, TextFiles):
        return [pa.string()] * len(table.columns)
    from pyspark.sql.pandas.types import to_arrow_type

    return [to_arrow_type(field.dataType) for field in table.schema.fields]


def ingest_table(
    workers: Workers,
    table: Table,
    columns: Columns,
    rows_of_part: int,
    folder: Path,
) -> list[Ingested]:
    """Read a table once, on the workers, and write its splits to a folder."""
    folder.mkdir()
    wanted = columns.wanted
    names = {name: plain for name, plain in plain_names(table.columns).items() if plain in wanted}
    if isinstance(table, TextFiles):
        return _ingest_text(workers, table, columns, names, rows_of_part, folder)

    def kernel(tables: Iterator[pa.Table]) -> Ingested | None:
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        return ingest(tables, context.partitionId(), columns, folder)

    frame = table.toDF(*plain_names(table.columns).values()).select(*wanted)
    shares = [share for share in workers.each(frame, kernel) if share is not None]
    return sorted(shares, key=lambda share: share.split.number)


def _ingest_text(
    workers: Workers,
    table: TextFiles,
    columns: Columns,
    names: Mapping[str, str],
    rows_of_part: int,
    folder: Path,
) -> list[Ingested]:
    """Read text on the workers; whole files where a cell may go beyond the lines of a task."""

    def kernel(item: tuple[int, FileStretch]) -> tuple[bool, Ingested | InputError | None]:
        number, stretch = item
        try:
            return False, ingest(stretch.tables(names), number, columns, folder)
        except SplitCellError:
            return True, None
        except InputError as error:  # no fault at all if a cell went beyond the lines before
            return False, error

    splits = table.splits(rows_of_part, workers.parallelism)
    results = workers.run(list(enumerate(splits)), kernel)
    if any(split for split, _ in results):
        results = workers.run(list(enumerate(table.whole())), kernel)
    read = []
    for _, result in results:
        if isinstance(result, InputError):
            raise result
        if result is not None:
            read.append(result)
    return read


def dictionaries(
    splits: Sequence[SourceSplit],
    specs: Mapping[str, ColumnSpec],
    types: Mapping[str, pa.DataType],
    missing: Sequence[str],
    limit: int,
) -> tuple[CodedTable, dict[str, Lookup]]:
    """The table of dictionaries, an entry a value with its count, and the lookup of each column."""
    if not splits:
        raise InputError("The table has columns but no rows. Nothing can be published.")
    # Sum the counts of each column over all splits, as far as they fit the driver.
    places = plain_names(specs)
    counted: dict[str, pl.DataFrame] = {}
    large = []
    for name in coded_columns(specs):
        is_column = pl.col("c") == places[name]
        total, number = summed((values_of(s).filter(is_column).drop("c") for s in splits), limit)
        if total is None:
            large.append(f"'{name}' (at least {number:,})")
        else:
            counted[name] = total.sort("v")
    if large:
        raise InputError(
            f"Columns with more than {limit:,} distinct values do not fit the driver: "
            f"{', '.join(large)}. "
            "Give them the role 'insensitive' or 'drop', make them coarser, or raise "
            f"{COLLECTED} where the driver has the memory."
        )
    # Sort each dictionary; the codes of splits are looked up in it.
    columns: dict[str, Column] = {}
    lookups: dict[str, Lookup] = {}
    for name, spec in specs.items():
        if not spec.role.published:
            continue
        if spec.role is Role.INSENSITIVE:
            empty = pl.Series(name, pl.from_arrow(pa.array([], types[name])))
            columns[name] = _dictionary(name, spec, empty, missing).column(
                name, spec, np.zeros(0, np.int32)
            )
            continue
        text = counted[name]["v"].to_arrow().cast(pa.string())
        raw = pl.Series(name, pl.from_arrow(text.cast(types[name])))
        dictionary = _dictionary(name, spec, raw, missing)
        codes = np.arange(len(dictionary.text), dtype=np.int32)
        weights = np.bincount(dictionary.code_of_raw, counted[name][COUNT].to_numpy(), len(codes))
        column = dictionary.column(name, spec, codes)
        columns[name] = replace(column, weights=weights.astype(np.int64))
        lookups[places[name]] = text, dictionary.code_of_raw
    left_out = tuple(name for name, spec in specs.items() if not spec.role.published)
    return CodedTable(columns, sum(split.rows for split in splits), left_out), lookups


def sample_of(
    table: CodedTable,
    splits: Sequence[SourceSplit],
    lookups: Mapping[str, Lookup],
    specs: Mapping[str, ColumnSpec],
) -> CodedTable:
    """Return the coded columns of the first rows of some splits, one row of each person."""
    places = {name: place for name, place in plain_names(specs).items() if place in lookups}
    wanted = [*places.values(), PERSON_NUMBER]
    chosen = splits[:: -(-len(splits) // SAMPLED_SPLITS)]
    heads = [
        next(read_split(split, lookups, wanted)).head(LOOKED_AT // len(chosen))
        for split in chosen
        if split.rows
    ]
    rows = pl.concat(heads)
    if PERSON_NUMBER in rows.columns:
        rows = rows.unique(subset=PERSON_NUMBER, maintain_order=True)
    columns = {
        name: replace(table[name], codes=rows[place].to_numpy(), weights=None)
        for name, place in places.items()
    }
    return CodedTable(columns, len(rows))


def _dictionary(name: str, spec: ColumnSpec, raw: pl.Series, missing: Sequence[str]) -> Dictionary:
    return sort_dictionary(name, spec, raw, missing, lambda _: "The table")


def unchanged_of(
    workers: Workers, ingested: Sequence[Ingested], names: Mapping[str, str], targets: int
) -> dict[str, tuple[Column, int]]:
    """Return some counted values of each unchanged column, and how many units are unique by it.

    Units are rows, or persons where these keep several rows. ``names`` are those of the columns by
    plain name. Tasks counted the values in their splits.
    """
    if not names:
        return {}
    shared = workers.share([part.identifiers for part in ingested])
    share = -(-VALUES_LOOKED_AT // targets)

    def count(item: tuple[str, int]) -> tuple[int, list[int], list[str], list[int]]:
        place, target = item
        values = received((files[place] for files in shared.value), [target])
        if values is None:
            return 0, [], [], []
        counted = values.group_by("v").agg(pl.col(COUNT).sum(), pl.col(HOLDER).first()).sort("v")
        looked_at = counted.gather_every(max(len(counted) // share, 1)).head(share)
        holders = counted.filter(pl.col(COUNT) == 1)[HOLDER]
        persons = holders.drop_nulls().unique().to_list()
        return len(holders), persons, looked_at["v"].to_list(), looked_at[COUNT].to_list()

    items = [(place, target) for place in names for target in range(targets)]
    counted = workers.run(items, count)
    unchanged = {}
    for number, (_, name) in enumerate(names.items()):
        parts = counted[number * targets : (number + 1) * targets]
        values = dict(zip((v for p in parts for v in p[2]), (n for p in parts for n in p[3]),
                          strict=True))  # fmt: skip
        spec = ColumnSpec(Role.INSENSITIVE)
        column = code_series(pl.Series(name, list(values), dtype=pl.String), spec, (), "The table")
        kind = suggest_type(column)
        if kind is not ValueType.TEXT:
            column = code_series(column.text, replace(spec, type=kind), (), "The table")
        texts = column.text.to_list()
        weights = np.array([values.get(str(text), 0) for text in texts], np.int64)
        persons = {person for p in parts for person in p[1]}
        unique = len(persons) or sum(p[0] for p in parts)
        unchanged[name] = replace(column, name=name, weights=weights), unique
    return unchanged


def uses_of(
    workers: Workers, ingested: Sequence[Ingested], identifiers: Sequence[str], targets: int
) -> dict[str, Uses]:
    """Count the uses of each identifier's values, which tasks counted in their splits."""
    if not identifiers:
        return {}
    shared = workers.share([part.identifiers for part in ingested])

    def count(item: tuple[str, int]) -> tuple[int, int, int]:
        place, target = item
        values = received((files[place] for files in shared.value), [target])
        if values is None:
            return 0, 0, 0
        counts = values.group_by("v").agg(pl.col(COUNT).sum())[COUNT]
        return int(counts.sum()), len(counts), int(str(counts.max()))

    items = [(place, target) for place in identifiers for target in range(targets)]
    counted = workers.run(items, count)
    uses = {}
    for number, name in enumerate(identifiers):
        rows, values, most = zip(*counted[number * targets : (number + 1) * targets], strict=True)
        uses[name] = Uses(sum(rows), sum(values), max(most))
    return uses
