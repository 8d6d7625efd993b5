"""Shuffle and write: the staged tables of all parts become the files of a release.

Every row goes to a random file and to a random place in it; a table that keeps its order is written
in that order. A task writes its file under a name that no other attempt has and says so when it is
done; only such files are taken, so an attempt that was lost leaves nothing in the release.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from discreet.engines.numbering import permuted
from discreet.engines.parts import ORDER, PART, PartResult
from discreet.engines.spark.session import each, spread, stream
from discreet.io.frames import factorize
from discreet.io.writing import OutputFormat, write_table
from discreet.table.published import GROUP, PublishedColumn
from discreet.table.roles import Role

COPIED_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Numbering:
    """The numbers of the parts' groups in the release."""

    first: Mapping[int, int]  # by part: how many groups the parts before it have
    groups: int
    key: int

    @staticmethod
    def of(results: Sequence[PartResult], key: int) -> Numbering:
        """The numbering of all groups that parts have."""
        first, groups = {}, 0
        for result in sorted(results, key=lambda result: result.part):
            first[result.part] = groups
            groups += result.groups
        return Numbering(first, groups, key)


@dataclass(frozen=True)
class WrittenFile:
    """The share of a published table that one task wrote: a file, or a stretch of one."""

    table: str
    path: str
    rows: int
    stretch: tuple[int, int] | None = None  # bytes of a CSV file, after its header


def write_tables(
    session: SparkSession,
    results: Sequence[PartResult],
    folder: Path,
    format: OutputFormat,
    rows_of_file: int,
    key: int,
) -> dict[str, list[WrittenFile]]:
    """Write the files of every table to a folder of its own, and name them in order."""
    numbering = Numbering.of(results, key)
    written = {}
    for name in dict.fromkeys(name for result in results for name in result.tables):
        staged = [result.tables[name] for result in results if name in result.tables]
        columns, keeps_order = staged[0].columns, staged[0].keeps_order
        frame = session.read.parquet(*(Path(part.path).as_uri() for part in staged))
        files = max(1, -(-sum(part.rows for part in staged) // rows_of_file))
        if GROUP in columns:
            frame = _numbered(frame, f"c{list(columns).index(GROUP)}", numbering)
        frame = _shuffled(frame, files, keeps_order, columns, numbering)
        own = folder / name
        own.mkdir(parents=True)
        written[name] = _write(frame, name, columns, keeps_order, own, format)
    return written


def _numbered(frame: DataFrame, group: str, numbering: Numbering) -> DataFrame:
    """The table with the release's numbers of groups."""
    types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    schema = ", ".join(f"{name} {kind}" for name, kind in types.items())

    def kernel(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        for table in tables:
            part = table.column(PART).to_numpy()
            first = np.array([numbering.first.get(p, 0) for p in range(int(part.max()) + 1)])
            number = first[part] + table.column(group).to_numpy() - 1
            fresh = permuted(number, numbering.groups, numbering.key) + 1
            place = table.schema.get_field_index(group)
            yield table.set_column(place, group, pa.array(fresh))

    return stream(frame, kernel, schema)


def _shuffled(
    frame: DataFrame,
    files: int,
    keeps_order: bool,
    columns: Mapping[str, Role],
    numbering: Numbering,
) -> DataFrame:
    if not keeps_order:
        return frame.repartition(files, ORDER)
    group = f.col(f"c{list(columns).index(GROUP)}")
    number = f.floor((group - 1) * files / max(numbering.groups, 1)).cast("int")
    return spread(frame.withColumn("file", number), "file", files)


def _write(
    frame: DataFrame,
    name: str,
    columns: Mapping[str, Role],
    keeps_order: bool,
    folder: Path,
    format: OutputFormat,
) -> list[WrittenFile]:
    roles = dict(columns)

    def kernel(part: pa.Table) -> tuple[Any, WrittenFile]:
        table = pl.from_arrow(part)
        assert isinstance(table, pl.DataFrame)
        by = [f"c{list(roles).index(GROUP)}", ORDER] if keeps_order else [ORDER]
        table = table.sort(by)
        published = []
        for place, (column, role) in enumerate(roles.items()):
            dictionary, codes = factorize(table[f"c{place}"].alias(column))
            published.append(PublishedColumn(column, role, codes, dictionary))
        path = folder / f"{secrets.token_hex(8)}.{format}"
        write_table(path, format, published)
        return tuple(table.select(by).row(0)), WrittenFile(name, str(path), len(table))

    done = each(frame, kernel)
    if keeps_order:
        done.sort(key=lambda found: found[0])
    else:
        done.sort(key=lambda found: found[1].path)
    return [file for _, file in done]


def put_together(
    files: Sequence[WrittenFile], folder: Path, name: str, format: OutputFormat
) -> tuple[str, list[WrittenFile]]:
    """The table under its name in a release, a folder of Parquet files or one CSV file.

    Also the stretch that each task wrote, for the audit to read it there.
    """
    place = folder / f"{name}.{format}"
    if format == "parquet":
        place.mkdir()
        paths = [place / f"part-{number:05}.parquet" for number in range(len(files))]
        for file, path in zip(files, paths, strict=True):
            Path(file.path).rename(path)
        moved = [replace(f, path=str(path)) for f, path in zip(files, paths, strict=True)]
        return place.name, moved
    stretches = []
    with place.open("xb") as whole:
        for number, file in enumerate(files):
            with Path(file.path).open("rb") as part:
                header = read_header(part)
                if not number:
                    whole.write(header)
                begin = whole.tell()
                shutil.copyfileobj(part, whole, COPIED_AT_ONCE)
            stretches.append(replace(file, path=str(place), stretch=(begin, whole.tell())))
            Path(file.path).unlink()
    return place.name, stretches


def read_header(file: BinaryIO) -> bytes:
    """The first record of a CSV file; a name may hold a line break between quotes."""
    header = b""
    while line := file.readline():
        header += line
        if header.count(b'"') % 2 == 0:
            break
    return header
