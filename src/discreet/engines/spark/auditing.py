"""The audit by counts: every file of a release is read again, and its classes are judged."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from discreet.engines.parts import PartResult, fingerprint
from discreet.engines.shards import (
    WEIGHT,
    CellSums,
    ShardResult,
    audit_shard,
    class_columns,
    coded_shard,
    counted_columns,
    joined_audit,
    joined_figures,
)
from discreet.engines.spark.session import each, spread
from discreet.engines.spark.writing import WrittenFile, read_header
from discreet.errors import InputError
from discreet.io.frames import code_frame
from discreet.io.source import Source
from discreet.io.tables import read_table
from discreet.methods.base import Task
from discreet.pipeline.manifest_draft import name_published_values
from discreet.releases.audit.audit import Audit, specs_of
from discreet.releases.audit.figures import ReleaseTally
from discreet.releases.group_summary import Picture
from discreet.releases.kinds.decomposed.sensitive_sets import PEOPLE, SENSITIVE, VALUES, primary_of
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP

SHARD, TABLE = "shard", "table"
READ_AT_ONCE = 1 << 24
LOOKED_AT = 1 << 16  # first places of each table whose orders are compared (audit/row_order.py)


@dataclass(frozen=True)
class FileReading:
    """What one file says by itself; its counted rows lie in a file beside."""

    table: str
    rows: int
    fingerprint: int
    values: dict[str, dict[str | None, int]]  # by sensitive column
    path: str
    head: str | None  # the file of its rows that are among the first of the table


def audit_files(
    session: SparkSession,
    files: Mapping[str, Sequence[WrittenFile]],
    manifest: Manifest,
    task: Task,
    results: Sequence[PartResult],
    staging: Path,
    shards: int,
    limit: int,
) -> tuple[Audit, dict[str, CellSums]]:
    """Derive every promise, and the sums of the measures, from the files of a release."""
    readings = _read_files(session, files, manifest, staging, shards)
    problems = [line for result in results for line in result.problems]
    problems += _unread(files)
    problems += _unlike(readings, results, manifest)
    totals = _totals(readings)
    name_published_values(manifest, totals)
    signatures, primary = _sensitive_rows(readings, manifest, totals, limit)
    problems += _order_problems(session, readings, manifest, staging)
    shared = session.sparkContext.broadcast((manifest, task, totals, signatures))
    names = list(manifest.tables)

    def kernel(part: pa.Table) -> list[ShardResult]:
        manifest, task, totals, signatures = shared.value
        frame = pl.from_arrow(part)
        assert isinstance(frame, pl.DataFrame)
        found = []
        for shard in frame[SHARD].unique().sort().to_list():
            own = frame.filter(pl.col(SHARD) == shard)
            found.append(_judge(own, manifest, task, totals, signatures, names))
        return found

    kept = [r.path for r in readings if class_columns(manifest, r.table) is not None]
    frame = session.read.parquet(*(Path(path).as_uri() for path in kept))
    judged = [one for many in each(spread(frame, SHARD, shards), kernel) for one in many]
    return joined_audit(judged, manifest, problems, primary), joined_figures(judged)


def _read_files(
    session: SparkSession,
    files: Mapping[str, Sequence[WrittenFile]],
    manifest: Manifest,
    staging: Path,
    shards: int,
) -> list[FileReading]:
    listed = [file for own in files.values() for file in own]
    before: list[int] = []  # of each file: rows of its table in files before it
    for own in files.values():
        before += list(accumulate((file.rows for file in own), initial=0))[:-1]
    folder = staging / "audit"
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
    by = class_columns(manifest, name)
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


def _unread(files: Mapping[str, Sequence[WrittenFile]]) -> list[str]:
    """CSV files with bytes that are in no stretch, so that nobody would have read them."""
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


def _unlike(
    readings: Sequence[FileReading], results: Sequence[PartResult], manifest: Manifest
) -> list[str]:
    """Tables whose files do not hold the rows that were formed: none lost, none twice."""
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


def _order_problems(
    session: SparkSession, readings: Sequence[FileReading], manifest: Manifest, staging: Path
) -> list[str]:
    """What the first rows of the tables show of their orders."""
    heads = {}
    for name in manifest.tables:
        files = sorted(r.head for r in readings if r.table == name and r.head is not None)
        heads[name] = pl.concat([pl.read_parquet(file) for file in files])
    if kind_of(manifest.kind).has_sensitive_table:  # all values of the groups that are looked at
        wanted = counted_columns(manifest, VALUES)
        group = f"c{wanted.index(GROUP)}"
        paths = [Path(r.path).as_uri() for r in readings if r.table == VALUES]
        groups = heads[PEOPLE].select(pl.col(GROUP).unique().alias(group))
        asked = session.createDataFrame(groups.rows(), f"{group} string")
        folder = staging / "values-of-head"
        found = session.read.parquet(*paths).join(f.broadcast(asked), group)
        found.write.parquet(folder.as_uri())
        heads[VALUES] = _frame_of(pl.read_parquet(folder / "*.parquet"), manifest, VALUES)
        heads[VALUES] = heads[VALUES].drop(WEIGHT)
    tables = {name: code_frame(head, specs_of(manifest, name)) for name, head in heads.items()}
    return kind_of(manifest.kind).order_problems(tables)


def _totals(readings: Sequence[FileReading]) -> dict[str, dict[str | None, int]]:
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


def _sensitive_rows(
    readings: Sequence[FileReading], manifest: Manifest, totals: Any, limit: int
) -> tuple[CodedTable | None, Any]:
    """Of a decomposed release the distinct sensitive rows, and how often primary values occur."""
    if not kind_of(manifest.kind).has_sensitive_table:
        return None, None
    paths = [reading.path for reading in readings if reading.table == SENSITIVE]
    frame = _frame_of(pl.read_parquet(paths), manifest, SENSITIVE)
    if len(frame) > limit:
        raise InputError(
            f"decomposition: the audit needs the {len(frame):,} distinct sensitive rows on every "
            f"worker, above {limit:,}. Make sensitive attributes coarser, or use anatomy."
        )
    table = coded_shard(frame.sort(pl.all()), manifest, SENSITIVE, totals)
    return table, table[primary_of(manifest)].counts


def _judge(
    own: pl.DataFrame,
    manifest: Manifest,
    task: Task,
    totals: Any,
    signatures: CodedTable | None,
    names: Sequence[str],
) -> ShardResult:
    kind = kind_of(manifest.kind)
    tables: dict[str, CodedTable] = {}
    if signatures is not None:
        tables[SENSITIVE] = signatures
    problems = []
    for number, name in enumerate(names):
        rows = own.filter(pl.col(TABLE) == number)
        if not len(rows):
            continue
        frame = _frame_of(rows, manifest, name)
        listed = kind.has_sensitive_table and name == VALUES
        if listed and int(np.max(frame[WEIGHT].to_numpy())) > 1:
            problems.append(f"rows of '{name}' are duplicates")
        tables[name] = coded_shard(frame, manifest, name, totals, counted=not listed)
    if not kind.makes_alike and any(name not in tables for name in names):
        apart = ["a group is not in every table"]
        return ShardResult([None] * len(manifest.promises), {}, apart, Picture(), ReleaseTally())
    ordered = {name: tables[name] for name in names if name in tables}
    result = audit_shard(ordered, manifest, task)
    result.problems += problems
    return result
