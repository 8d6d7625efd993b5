"""The audit by counts: every file of a release is read again, and its classes are judged."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from discreet.engines.parts import PartResult, fingerprint
from discreet.engines.shards import (
    WEIGHT,
    ShardResult,
    Totals,
    coded_shard,
    counted_columns,
    judge_and_sum,
)
from discreet.engines.spark.session import each, spread
from discreet.engines.spark.writing import WrittenFile, read_header
from discreet.errors import InputError
from discreet.io.frames import code_frame
from discreet.io.source import Source
from discreet.io.tables import read_table
from discreet.methods.base import Task
from discreet.releases.audit.audit import specs_of
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP

SHARD, TABLE = "shard", "table"
READ_AT_ONCE = 1 << 24
LOOKED_AT = 1 << 16  # first places of each table whose orders are compared (audit/row_order.py)


@dataclass(frozen=True)
class FileReading:
    """The findings of one file; its counted rows are in a file beside it."""

    table: str
    rows: int
    fingerprint: int
    values: dict[str, dict[str | None, int]]  # by sensitive column
    path: str
    head: str | None  # the file of its rows that are among the first of the table


def judge_files(
    session: SparkSession,
    readings: Sequence[FileReading],
    manifest: Manifest,
    task: Task,
    totals: Totals,
    shards: int,
    limit: int,
) -> list[ShardResult]:
    """Bring the rows of each shard together, judge them, and sum them up."""
    kind, names = kind_of(manifest.kind), list(manifest.tables)
    apart = {name for name in names if kind.class_columns(manifest, name) is not None}
    whole = {
        name: _whole_table(readings, manifest, name, totals, limit)
        for name in names
        if name not in apart
    }
    shared = session.sparkContext.broadcast((manifest, task, totals, whole))

    def kernel(part: pa.Table) -> list[ShardResult]:
        manifest, task, totals, whole = shared.value
        frame = pl.from_arrow(part)
        assert isinstance(frame, pl.DataFrame)
        return [
            _judge(frame.filter(pl.col(SHARD) == shard), manifest, task, totals, whole)
            for shard in frame[SHARD].unique().sort().to_list()
        ]

    kept = [reading.path for reading in readings if reading.table in apart]
    frame = session.read.parquet(*(Path(path).as_uri() for path in kept))
    return [one for many in each(spread(frame, SHARD, shards), kernel) for one in many]


def read_files(
    session: SparkSession,
    files: Mapping[str, Sequence[WrittenFile]],
    manifest: Manifest,
    staging: Path,
    shards: int,
) -> list[FileReading]:
    """Read every file of a release on the workers; its counted rows are written to a folder."""
    listed = [file for own in files.values() for file in own]
    before: list[int] = []  # of each file: rows of its table in files before it
    for own in files.values():
        before += list(accumulate((file.rows for file in own), initial=0))[:-1]
    folder = staging / f"audit-{secrets.token_hex(8)}"
    folder.mkdir()
    width = max(len(counted_columns(manifest, table)) for table in manifest.tables)
    names = list(manifest.tables)
    frame = session.createDataFrame([(number,) for number in range(len(listed))], "n int")

    def kernel(part: pa.Table) -> list[FileReading]:
        return [
            _read_file(listed[number], before[number], manifest, folder, shards, width, names)
            for number in part.column("n").to_numpy()
        ]

    each_file = spread(frame, "n", len(listed))
    return [reading for readings in each(each_file, kernel) for reading in readings]


def _read_file(
    file: WrittenFile,
    before: int,
    manifest: Manifest,
    folder: Path,
    shards: int,
    width: int,
    names: Sequence[str],
) -> FileReading:
    """Read a file as a reader would, and write its distinct rows with their numbers.

    Rows at the first places of the table, of which ``before`` are in other files, are kept in their
    order too.
    """
    name = file.table
    path = Path(file.path) if file.stretch is None else _cut_out(file, folder)
    delimiter = "," if path.suffix == ".csv" else None
    table = read_table(Source(path=path, delimiter=delimiter), specs_of(manifest, name))
    text = pl.DataFrame({c.name: c.text.gather(c.codes) for c in table})
    print_ = fingerprint(
        pl.DataFrame({c.name: c.values.gather(c.codes) for c in table if c.name != GROUP})
    )
    wanted = counted_columns(manifest, name)
    counted = text.select(wanted).group_by(pl.all()).agg(pl.len().cast(pl.Int64).alias(WEIGHT))
    values = {
        c.name: dict(zip(c.text.to_list(), c.counts.tolist(), strict=True)) for c in table.sensitive
    }
    by = kind_of(manifest.kind).class_columns(manifest, name)
    key = pl.concat_str(pl.col(by or []).fill_null("\0"), separator="\1") if by else pl.lit("")
    shard = (key.hash(2) % shards).cast(pl.Int32)
    out = counted.select(
        *(pl.col(column).alias(f"c{place}") for place, column in enumerate(wanted)),
        *(pl.lit(None, pl.String).alias(f"c{place}") for place in range(len(wanted), width)),
        pl.col(WEIGHT),
        pl.lit(list(names).index(name), pl.Int32).alias(TABLE),
        shard.alias(SHARD),
    )
    place = folder / f"{secrets.token_hex(8)}.parquet"
    out.write_parquet(place)
    head = None
    if before < LOOKED_AT:
        head = str(folder / f"head-{before:09}-{secrets.token_hex(8)}.parquet")
        text.head(LOOKED_AT - before).write_parquet(head)
    return FileReading(name, table.rows, print_, values, str(place), head)


def _cut_out(file: WrittenFile, folder: Path) -> Path:
    """A stretch of a CSV file of the release, below its header, as a file of its own."""
    assert file.stretch is not None
    begin, end = file.stretch
    place = folder / f"{secrets.token_hex(8)}.csv"
    with Path(file.path).open("rb") as whole, place.open("xb") as own:
        own.write(read_header(whole))
        whole.seek(begin)
        left = end - begin
        while left and (piece := whole.read(min(left, READ_AT_ONCE))):
            own.write(piece)
            left -= len(piece)
    return place


def unread_bytes(files: Mapping[str, Sequence[WrittenFile]]) -> list[str]:
    """CSV files with bytes that are in no stretch, so that no worker would read them."""
    problems = []
    for name, own in files.items():
        stretches = [file.stretch for file in own if file.stretch is not None]
        if not stretches:
            continue
        whole = Path(own[0].path)
        with whole.open("rb") as file:
            ends = [len(read_header(file)), *(end for _, end in stretches)]
        if [begin for begin, _ in stretches] != ends[:-1] or ends[-1] != whole.stat().st_size:
            problems.append(f"'{name}' has bytes that no task wrote")
    return problems


def unlike_formed(
    readings: Sequence[FileReading], results: Sequence[PartResult], manifest: Manifest
) -> list[str]:
    """Tables whose files do not hold exactly the rows that were formed, each once."""
    problems = []
    for name, entry in manifest.tables.items():
        rows = sum(r.rows for r in readings if r.table == name)
        found = sum(r.fingerprint for r in readings if r.table == name)
        formed = sum(r.tables[name].fingerprint for r in results if name in r.tables)
        if rows != entry.rows or found != formed:
            problems.append(
                f"'{name}' does not have the rows that were formed ({rows} of {entry.rows})"
            )
    return problems


def order_problems(
    session: SparkSession,
    readings: Sequence[FileReading],
    manifest: Manifest,
    sorted_tables: Collection[str],
    staging: Path,
) -> list[str]:
    """Return problems in the order of the first rows of the tables.

    Of a table that is sorted by its published columns, all rows of the compared groups are used.
    """
    kind, heads = kind_of(manifest.kind), {}
    for name in manifest.tables:
        files = sorted(r.head for r in readings if r.table == name and r.head is not None)
        heads[name] = pl.concat([pl.read_parquet(file) for file in files])
    for name in sorted_tables:
        by = kind.class_columns(manifest, name) or []
        wanted = counted_columns(manifest, name)
        places = [f"c{wanted.index(column)}" for column in by]
        first = heads[kind.tables_of_rows(manifest)[0]]
        groups = first.select(pl.col(by)).unique()
        asked = session.createDataFrame(
            groups.rows(), ", ".join(f"{place} string" for place in places)
        )
        paths = [Path(r.path).as_uri() for r in readings if r.table == name]
        folder = staging / f"head-{secrets.token_hex(8)}"
        found = session.read.parquet(*paths).join(f.broadcast(asked), places)
        found.write.parquet(folder.as_uri())
        heads[name] = _frame_of(pl.read_parquet(folder / "*.parquet"), manifest, name)
        heads[name] = heads[name].drop(WEIGHT)
    tables = {name: code_frame(head, specs_of(manifest, name)) for name, head in heads.items()}
    return kind.order_problems(tables)


def totals_of(readings: Sequence[FileReading]) -> dict[str, dict[str | None, int]]:
    """Return how often each value of each sensitive column occurs in all files."""
    totals: dict[str, dict[str | None, int]] = {}
    for reading in readings:
        for column, counts in reading.values.items():
            own = totals.setdefault(column, {})
            for value, count in counts.items():
                own[value] = own.get(value, 0) + count
    return totals


def _frame_of(own: pl.DataFrame, manifest: Manifest, name: str) -> pl.DataFrame:
    wanted = counted_columns(manifest, name)
    named = {f"c{place}": column for place, column in enumerate(wanted)}
    summed = own.select(*named, WEIGHT).rename(named)
    return summed.group_by(wanted).agg(pl.col(WEIGHT).sum())


def _whole_table(
    readings: Sequence[FileReading], manifest: Manifest, name: str, totals: Totals, limit: int
) -> CodedTable:
    """Return the distinct rows of a table that every shard needs."""
    paths = [reading.path for reading in readings if reading.table == name]
    frame = _frame_of(pl.read_parquet(paths), manifest, name)
    if len(frame) > limit:
        raise InputError(
            f"{manifest.method.name}: the audit needs the {len(frame):,} distinct rows of '{name}' "
            f"on every worker, above {limit:,}. Make sensitive attributes coarser, or use anatomy."
        )
    return coded_shard(frame.sort(pl.all()), manifest, name, totals)


def _judge(
    own: pl.DataFrame,
    manifest: Manifest,
    task: Task,
    totals: Totals,
    whole: Mapping[str, CodedTable],
) -> ShardResult:
    tables: dict[str, CodedTable] = {}
    for number, name in enumerate(manifest.tables):
        rows = own.filter(pl.col(TABLE) == number)
        if name in whole:
            tables[name] = whole[name]
        elif len(rows):
            frame = _frame_of(rows, manifest, name)
            tables[name] = coded_shard(frame, manifest, name, totals)
    return judge_and_sum(tables, manifest, task)
