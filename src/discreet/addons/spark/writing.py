"""Shuffle and write: the staged tables of all parts become the files of a release.

Every row goes to a random file and to a random place in it; a table that keeps its order is written
in that order. A task writes its file under a name that no other attempt has and says so when it is
done; only such files are taken, so an attempt that was lost leaves nothing in the release.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.addons.spark.exchange import Exchanged, exchange, joined, received
from discreet.addons.spark.parts import ORDER, PART, SOURCE, PartResult, StagedTable
from discreet.addons.spark.recording import Numbering
from discreet.addons.spark.session import Workers
from discreet.io.frames import factorize
from discreet.io.writing import OutputFormat, write_table
from discreet.table.budgets import BYTES_AT_ONCE
from discreet.table.published import GROUP, PublishedColumn
from discreet.table.roles import Role


@dataclass(frozen=True)
class WrittenFile:
    """The share of a published table that one task wrote: a file, or a stretch of one."""

    table: str
    path: str
    rows: int
    stretch: tuple[int, int] | None = None  # bytes of a CSV file, after its header
    sources: str | None = None  # the private file of its rows' sources, where persons keep rows


@dataclass(frozen=True)
class _TableToWrite:
    """A table, its staged shares, and the files that it is to have."""

    name: str
    columns: Mapping[str, Role]
    keeps_order: bool
    staged: Sequence[StagedTable]
    files: int

    @property
    def group(self) -> str | None:
        """The staged column with the number of a group."""
        return f"c{list(self.columns).index(GROUP)}" if GROUP in self.columns else None

    def read(self, staged: StagedTable, numbering: Numbering) -> pl.DataFrame:
        """Read a staged share, with the release's numbers of groups."""
        frame = pl.read_ipc(staged.path)
        if self.group is None or not len(frame):
            return frame
        group = frame[self.group].to_numpy().astype(np.int64) - 1
        fresh = numbering.number(int(frame[PART][0]), group)
        return frame.with_columns(pl.Series(self.group, fresh))

    def file_of(self, frame: pl.DataFrame, groups: int) -> NDArray[np.int64]:
        """The file of each row: a random one, or that of the stretch of its group's number."""
        if not self.keeps_order:
            return frame[ORDER].to_numpy() % self.files
        assert self.group is not None
        number = frame[self.group].to_numpy().astype(np.int64) - 1
        return number * self.files // max(groups, 1)


def write_tables(
    workers: Workers,
    results: Sequence[PartResult],
    numbering: Numbering,
    folder: Path,
    format: OutputFormat,
    rows_of_file: int,
) -> dict[str, list[WrittenFile]]:
    """Write the files of every table to a folder of its own, and name them in order."""
    tables = []
    for name in dict.fromkeys(name for result in results for name in result.tables):
        staged = [result.tables[name] for result in results if name in result.tables]
        files = max(1, -(-sum(part.rows for part in staged) // rows_of_file))
        tables.append(_TableToWrite(name, staged[0].columns, staged[0].keeps_order, staged, files))
        (folder / name).mkdir(parents=True)
    shuffled = _shuffle([table for table in tables if table.files > 1], numbering, workers, folder)
    shared = workers.share((tables, shuffled))

    def kernel(item: tuple[int, int]) -> tuple[Any, WrittenFile] | None:
        tables, shuffled = shared.value
        table, number = tables[item[0]], item[1]
        if table.files > 1:
            rows = received(shuffled[table.name], [number])
        else:
            rows = joined([table.read(staged, numbering) for staged in table.staged])
        return None if rows is None else _write(rows, table, folder / table.name, format)

    items = [(place, n) for place, table in enumerate(tables) for n in range(table.files)]
    done = [entry for entry in workers.run(items, kernel) if entry is not None]
    written: dict[str, list[WrittenFile]] = {}
    for table in tables:
        table_files = sorted((e for e in done if e[1].table == table.name), key=itemgetter(0))
        written[table.name] = [file for _, file in table_files]
    return written


def _shuffle(
    tables: Sequence[_TableToWrite], numbering: Numbering, workers: Workers, folder: Path
) -> dict[str, list[Exchanged]]:
    """Send the rows of every staged share to the tasks of their files."""
    shared = workers.share((tables, numbering))

    def kernel(item: tuple[int, int]) -> tuple[str, Exchanged]:
        tables, numbering = shared.value
        table = tables[item[0]]
        rows = table.read(table.staged[item[1]], numbering)
        file = table.file_of(rows, numbering.groups)
        return table.name, exchange(rows, file, table.files, folder / table.name)

    items = [(place, n) for place, table in enumerate(tables) for n in range(len(table.staged))]
    files: dict[str, list[Exchanged]] = {table.name: [] for table in tables}
    for name, file in workers.run(items, kernel):
        files[name].append(file)
    return files


def _write(
    rows: pl.DataFrame, table: _TableToWrite, folder: Path, format: OutputFormat
) -> tuple[Any, WrittenFile]:
    """Write the rows of a file in their order; return the place of the file in the table."""
    by = [str(table.group), ORDER] if table.keeps_order else [ORDER]
    rows = rows.sort(by)
    published = []
    for place, (column, role) in enumerate(table.columns.items()):
        dictionary, codes = factorize(rows[f"c{place}"].alias(column))
        published.append(PublishedColumn(column, role, codes, dictionary))
    path = folder / f"{secrets.token_hex(8)}.{format}"
    write_table(path, format, published)
    sources = None
    if SOURCE in rows.columns:
        sources = str(path.with_suffix(".sources"))
        rows.select(SOURCE).write_ipc(sources)
    place_of_file = tuple(rows.select(by).row(0)) if table.keeps_order else (path.name,)
    return place_of_file, WrittenFile(table.name, str(path), len(rows), None, sources)


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
                shutil.copyfileobj(part, whole, BYTES_AT_ONCE)
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
