"""Read and encode: from Spark's rows to dictionaries on the driver and codes on the workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from discreet.engines.parts import PERSON_NUMBER
from discreet.engines.spark.session import COLLECTED, reporting, setting, stream
from discreet.errors import InputError, JobError
from discreet.io.column_dictionary import Dictionary, sort_dictionary
from discreet.io.csv.layout import dialect
from discreet.io.header import require_names
from discreet.io.source import Source
from discreet.job.identifying import Uses
from discreet.job.model import Job
from discreet.pipeline.read import require_columns, source_of, specs_of_job, specs_of_others
from discreet.table.coded_table import CodedTable, Column
from discreet.table.column_spec import ColumnSpec
from discreet.table.roles import Role
from discreet.typing import Codes

Lookup = tuple[Any, Codes]  # the raw values of a column as text, and the code of each


def read(session: SparkSession, job: Job, data: Any) -> DataFrame:
    """The table of a job as a data frame; all columns of a text file are text."""
    with reporting():
        if isinstance(data, DataFrame):
            return data
        if data is None and job.source is not None and job.source.in_catalog:
            table, query = job.source.table, job.source.query
            return session.table(table) if table is not None else session.sql(str(query))
        if data is None and job.source is not None and job.source.url is not None:
            raise InputError(
                "The engine 'spark' does not read a database by its URL. Give Spark a table: "
                "`source: {table: …}`, or pass session.read.jdbc(…) to discreet.publish."
            )
        source = source_of(job, data)
        if source.resolved_format == "parquet":
            return session.read.parquet(source.path.absolute().as_uri())
        if source.is_text:
            return _read_text(session, source, job)
    raise InputError(
        f"{source.path}: the engine 'spark' reads csv, tsv, parquet and its own tables. Convert it."
    )


def _read_text(session: SparkSession, source: Source, job: Job) -> DataFrame:
    first = source
    if source.path.is_dir():
        files = sorted(p for p in source.path.iterdir() if p.is_file() and p.name[0] not in "._")
        if not files:
            raise InputError(f"{source.path}: there is no file in the folder.")
        first = source.model_copy(update={"path": files[0], "format": source.resolved_format})
    names, delimiter = dialect(first)
    specs = specs_of_job(job) | specs_of_others(job, names)
    require_columns(names, specs, str(source.path), first)
    schema = ", ".join(f"`{name.replace('`', '``')}` string" for name in names)
    return (
        session.read.schema(schema)
        .option("header", source.header)
        .option("enforceSchema", False)
        .option("sep", delimiter)
        .option("quote", source.quote or "\0")
        .option("escape", source.quote or "\0")
        .option("encoding", source.encoding)
        .option("mode", "FAILFAST")
        .option("columnPruning", False)  # otherwise Spark ignores superfluous cells
        .csv(source.path.absolute().as_uri())
        .fillna("")  # an empty cell is an empty text; the role decides its meaning
    )


def require_fit(frame: DataFrame, job: Job) -> dict[str, ColumnSpec]:
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


def renamed(frame: DataFrame, specs: Mapping[str, ColumnSpec]) -> DataFrame:
    """The published columns alone under plain names: c0, c1, … in the order of the specs."""
    places = [i for i, spec in enumerate(specs.values()) if spec.role.published]
    plain = frame.toDF(*(f"c{i}" for i in range(len(specs))))
    return plain.select(*(f"c{i}" for i in places))


def count_values(frame: DataFrame, places: Sequence[int], folder: Path) -> None:
    """Write how often each value of each column occurs: place, text and count."""

    def kernel_(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        for table in tables:
            for place in places:
                counted = pc.value_counts(as_text(table.column(f"c{place}")))
                values, counts = counted.field("values"), counted.field("counts")
                where = pa.array(np.full(len(values), place, np.int32))
                yield pa.table([where, values, counts], names=["c", "v", "n"])

    wanted = frame.select(*(f"c{place}" for place in places))
    counted = stream(wanted, kernel_, "c int, v string, n long")
    summed = counted.groupBy("c", "v").agg(f.sum("n").alias("n"))
    summed.write.parquet(folder.as_uri())


def as_text(column: Any) -> Any:
    """A column as text, which is read back as the same values."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole if pa.types.is_string(whole.type) else whole.cast(pa.string())


def dictionaries(
    session: SparkSession,
    folder: Path,
    specs: Mapping[str, ColumnSpec],
    types: Mapping[str, pa.DataType],
    missing: Sequence[str],
) -> tuple[CodedTable, dict[str, Lookup]]:
    """The table of dictionaries, an entry a value with its count, and the lookup of each column."""
    limit = setting(session, COLLECTED)
    names = list(specs)
    scanned = pl.scan_parquet(str(folder / "*.parquet"))
    sizes = scanned.group_by("c").agg(pl.len(), pl.col("n").sum()).collect()
    rows = int(sizes["n"].max() or 0) if len(sizes) else 0  # type: ignore[arg-type]
    large = sizes.filter(pl.col("len") > limit)
    if len(large):
        found = ", ".join(f"'{names[c]}' ({n:,})" for c, n, _ in large.iter_rows())
        raise InputError(
            f"Columns with more than {limit:,} distinct values do not fit the driver: {found}. "
            "Give them the role 'insensitive' or 'drop', make them coarser, or raise "
            f"{COLLECTED} where the driver has the memory."
        )
    columns: dict[str, Column] = {}
    lookups: dict[str, Lookup] = {}
    for place, (name, spec) in enumerate(specs.items()):
        if not spec.role.published:
            continue
        if spec.role is Role.INSENSITIVE:
            empty = pl.Series(name, pl.from_arrow(pa.array([], types[name])))
            columns[name] = _dictionary(name, spec, empty, missing).column(
                name, spec, np.zeros(0, np.int32)
            )
            continue
        counted = scanned.filter(pl.col("c") == place).select("v", "n").sort("v").collect()
        text = counted["v"].to_arrow().cast(pa.string())
        raw = pl.Series(name, pl.from_arrow(text.cast(types[name])))
        dictionary = _dictionary(name, spec, raw, missing)
        codes = np.arange(len(dictionary.text), dtype=np.int32)
        weights = np.bincount(dictionary.code_of_raw, counted["n"].to_numpy(), len(codes))
        column = dictionary.column(name, spec, codes)
        columns[name] = replace(column, weights=weights.astype(np.int64))
        lookups[name] = text, dictionary.code_of_raw
    if not rows:
        raise InputError("The table has columns but no rows. Nothing can be published.")
    left_out = tuple(name for name, spec in specs.items() if not spec.role.published)
    return CodedTable(columns, rows, left_out), lookups


def _dictionary(name: str, spec: ColumnSpec, raw: pl.Series, missing: Sequence[str]) -> Dictionary:
    return sort_dictionary(name, spec, raw, missing, lambda _: "The table")


def encode(
    frame: DataFrame,
    specs: Mapping[str, ColumnSpec],
    lookups: Mapping[str, Lookup],
    ranked: tuple[str, Codes] | None,
    folder: Path,
) -> None:
    """Write every row with its number, codes and insensitive cells.

    ``ranked`` names a column, with the number that each code counts as: rows with the same number
    are then counted through in every partition, so that they can be dealt out evenly.
    """
    session = frame.sparkSession
    place_of = {name: place for place, name in enumerate(specs)}
    shared = session.sparkContext.broadcast(dict(lookups))
    plain = [n for n, spec in specs.items() if spec.role is Role.INSENSITIVE]
    schema = ["row long", *(f"c{place_of[name]} int" for name in lookups)]
    schema += [
        f"c{place_of[n]} {frame.schema[f'c{place_of[n]}'].dataType.simpleString()}" for n in plain
    ]
    schema += ["task int", "number int", "rank long"] if ranked is not None else []
    kept = PERSON_NUMBER in frame.columns
    schema += [f"{PERSON_NUMBER} long"] if kept else []

    def kernel_(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        seen = np.zeros(int(ranked[1].max()) + 1 if ranked is not None else 0, np.int64)
        for table in tables:
            columns: dict[str, Any] = {"row": table.column("row")}
            for name, (texts, code_of_raw) in shared.value.items():
                found = pc.index_in(as_text(table.column(f"c{place_of[name]}")), texts)
                if found.null_count:
                    raise ValueError("a value was not there when values were counted")
                columns[f"c{place_of[name]}"] = pa.array(code_of_raw[found.to_numpy()])
            for name in plain:
                columns[f"c{place_of[name]}"] = table.column(f"c{place_of[name]}")
            if ranked is not None:
                numbers = ranked[1][columns[f"c{place_of[ranked[0]]}"].to_numpy()]
                columns["task"] = pa.array(np.full(len(numbers), context.partitionId(), np.int32))
                columns["number"] = pa.array(numbers.astype(np.int32))
                columns["rank"] = pa.array(_ranks(numbers, seen))
            if kept:
                columns[PERSON_NUMBER] = table.column(PERSON_NUMBER)
            yield pa.table(columns)

    numbered = frame.withColumn("row", f.monotonically_increasing_id())
    stream(numbered, kernel_, ", ".join(schema)).write.parquet(folder.as_uri())


def _ranks(numbers: Codes, seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the earlier rows with the same number, for each row; ``seen`` counts on."""
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    ranks = np.empty(len(numbers), np.int64)
    ranks[order] = seen[ascending] + np.arange(len(numbers)) - np.searchsorted(ascending, ascending)
    seen += np.bincount(numbers, minlength=len(seen))
    return ranks


def uses_of(
    frame: DataFrame, names: Sequence[str], identifiers: Sequence[str], missing: Sequence[str]
) -> dict[str, Uses]:
    """Count the uses of each identifier's values; ``names`` are all columns in order."""
    plain = frame.toDF(*(f"c{place}" for place in range(len(names))))
    found = {}
    for name in identifiers:
        value = f.col(f"c{names.index(name)}").cast("string")
        known = plain.where(value.isNotNull() & ~value.isin("", *missing))
        counts = known.groupBy(value.alias("value")).count()
        total = counts.agg(f.sum("count"), f.count("count"), f.max("count")).first()
        found[name] = Uses(*(int(figure or 0) for figure in total or (0, 0, 0)))
    return found
