"""The audit by counts: every file of a release is read again, and its classes are judged.

Equal rows are counted first. A shard has whole classes or groups (``Kind.class_columns``)
and the tables that every shard needs; audit and measures judge it as they judge a whole release.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import polars as pl

from discreet.addons.spark.exchange import Exchanged, exchange, received
from discreet.addons.spark.parts import PartResult, fingerprint, in_codes, row_hashes
from discreet.addons.spark.session import Workers
from discreet.addons.spark.writing import WrittenFile, read_header
from discreet.errors import InputError
from discreet.io.frames import code_frame
from discreet.io.source import Source
from discreet.io.tables import read_table
from discreet.methods.base import Task
from discreet.releases.audit.audit import specs_of
from discreet.releases.audit.shards import ShardFindings, bare, judge_shard
from discreet.releases.kinds.base import absent_tables, class_columns, tables_of_rows
from discreet.releases.manifest import Manifest, SinglingOut
from discreet.releases.registry import kind_of
from discreet.releases.singling_out import (
    Pair,
    People,
    UniqueCounts,
    count_unique,
    exact_pairs,
    summarize,
    unique_by,
    worst_table,
)
from discreet.table.budgets import BYTES_AT_ONCE
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP
from discreet.table.roles import Role, Unit
from discreet.utility.cell_sums import CellSums

LOOKED_AT = 1 << 16  # first places of each table whose orders are compared (audit/row_order.py)


@dataclass(frozen=True, eq=False)
class FileReading:
    """The findings of one file; its counted rows are in a file beside it, by shard."""

    table: str
    rows: int
    fingerprint: int
    values: dict[str, dict[str | None, int]]  # by sensitive column
    counted: Exchanged
    head: str | None  # the file of its rows that are among the first of the table
    people: Exchanged | None  # quasi-identifiers, unchanged columns and group, by quasi-identifiers


def judge_files(
    workers: Workers,
    readings: Sequence[FileReading],
    manifest: Manifest,
    task: Task,
    totals: Totals,
    shards: int,
    limit: int,
) -> list[ShardResult]:
    """Bring the rows of each shard together, judge them, and sum them up."""
    kind, names = kind_of(manifest.kind), list(manifest.tables)
    apart = {name for name in names if class_columns(kind, manifest, name) is not None}
    whole = {
        name: _whole_table(readings, manifest, name, totals, limit)
        for name in names
        if name not in apart
    }
    counted = {name: _counted(readings, name) for name in names if name in apart}
    shared = workers.share((manifest, task, totals, whole, counted))

    def kernel(shard: int) -> ShardResult | None:
        manifest, task, totals, whole, counted = shared.value
        tables: dict[str, CodedTable] = {}
        for name in manifest.tables:
            if name in whole:
                tables[name] = whole[name]
                continue
            rows = received(counted[name], [shard])
            if rows is not None:
                tables[name] = coded_shard(_summed(rows), manifest, name, totals)
        if all(name in whole for name in tables):
            return None
        return judge_and_sum(tables, manifest, task)

    results = workers.run(list(range(shards)), kernel)
    return [result for result in results if result is not None]


def _counted(readings: Sequence[FileReading], table: str) -> list[Exchanged]:
    return [reading.counted for reading in readings if reading.table == table]


def read_files(
    workers: Workers,
    files: Mapping[str, Sequence[WrittenFile]],
    manifest: Manifest,
    staging: Path,
    shards: int,
) -> list[FileReading]:
    """Read every file of a release on the workers; its counted rows are written to a folder."""
    listed: list[tuple[WrittenFile, int]] = []  # with the rows of its table in files before it
    for table_files in files.values():
        before = accumulate((file.rows for file in table_files), initial=0)
        listed += list(zip(table_files, before, strict=False))
    folder = staging / f"audit-{secrets.token_hex(8)}"
    folder.mkdir()
    shared = workers.share(manifest)

    def kernel(item: tuple[WrittenFile, int]) -> FileReading:
        return _read_file(*item, shared.value, folder, shards)

    return workers.run(listed, kernel)


def _read_file(
    file: WrittenFile, before: int, manifest: Manifest, folder: Path, shards: int
) -> FileReading:
    """Read a file as a reader would, and write its distinct rows with their numbers.

    Rows at the first places of the table, of which ``before`` are in other files, are kept in their
    order too.
    """
    name = file.table
    path = Path(file.path) if file.stretch is None else _cut_out(file, folder)
    delimiter = "," if path.suffix == ".csv" else None
    table = read_table(Source(path=path, delimiter=delimiter), specs_of(manifest, name))
    print_ = fingerprint(
        pl.DataFrame({c.name: in_codes(c.values, c.codes) for c in table if c.name != GROUP})
    )
    counted = _distinct_rows(table, counted_columns(manifest, name))
    values = {
        c.name: dict(zip(c.text.to_list(), c.counts.tolist(), strict=True)) for c in table.sensitive
    }
    by = class_columns(kind_of(manifest.kind), manifest, name)
    shard = np.zeros(len(counted), np.int32)
    if by:
        shard = (row_hashes(counted.select(by), 2) % shards).cast(pl.Int32).to_numpy()
    head = None
    if before < LOOKED_AT:
        first = slice(0, LOOKED_AT - before)
        head = str(folder / f"head-{before:09}-{secrets.token_hex(8)}.arrow")
        pl.DataFrame({c.name: c.text.gather(c.codes[first]) for c in table}).write_ipc(head)
    exchanged = exchange(counted, shard, shards, folder)
    people = _people(table, manifest, folder, shards)
    return FileReading(name, table.rows, print_, values, exchanged, head, people)


def _people(table: CodedTable, manifest: Manifest, folder: Path, shards: int) -> Exchanged | None:
    """Write what singles out persons, rows with the same quasi-identifiers to the same shard."""
    known = [*table.quasi_identifiers, *table.insensitive]
    if not table.quasi_identifiers and not table.insensitive:
        return None
    names = [*(c.name for c in known), *(n for n in (GROUP,) if n in table.columns)]
    rows = _distinct_rows(table, names)
    cells = rows.select(c.name for c in table.quasi_identifiers)
    shard = np.zeros(len(rows), np.int32)
    if cells.width:
        shard = (row_hashes(cells, 2) % shards).cast(pl.Int32).to_numpy()
    return exchange(rows, shard, shards, folder)


def single_out(
    workers: Workers, readings: Sequence[FileReading], manifest: Manifest, shards: int
) -> SinglingOut:
    """Count unique rows in every shard, and sum the counts."""
    findings = []
    for name in tables_of_rows(kind_of(manifest.kind), manifest):
        files = [r.people for r in readings if r.table == name and r.people is not None]
        counts = _count_shards(workers, files, manifest, name, shards)
        pairs = counts.candidates() if counts.drawn else []
        recounted = _recount_shards(workers, files, manifest, name, shards, pairs)
        worst = counts.worst
        alone = 0 if worst is None else _count_alone(workers, files, worst, shards)
        unit = Unit.ROW if manifest.keeps_rows else manifest.unit
        findings.append(summarize(counts, recounted, alone, manifest, name, unit))
    return worst_table(findings)


def _count_shards(
    workers: Workers, files: Sequence[Exchanged], manifest: Manifest, name: str, shards: int
) -> UniqueCounts:
    exact = exact_pairs(manifest, name)
    shared = workers.share((manifest, files))

    def kernel(shard: int) -> UniqueCounts:
        manifest, files = shared.value
        table = _shard_of_people(files, manifest, name, shard)
        if table is None:
            return UniqueCounts()
        total = manifest.tables[name].rows
        return count_unique(table, People(Unit.ROW), exact=exact, total=total)

    return sum(workers.run(list(range(shards)), kernel), UniqueCounts())


def _recount_shards(
    workers: Workers,
    files: Sequence[Exchanged],
    manifest: Manifest,
    name: str,
    shards: int,
    pairs: Sequence[Pair],
) -> dict[Pair, int]:
    """Count the rows that are unique by some pairs of columns."""
    if not pairs:
        return {}
    shared = workers.share((manifest, files, pairs))

    def kernel(shard: int) -> list[int]:
        manifest, files, pairs = shared.value
        table = _shard_of_people(files, manifest, name, shard)
        return [0 if table is None else unique_by(table, People(Unit.ROW), p) for p in pairs]

    counts = workers.run(list(range(shards)), kernel)
    return {pair: sum(count[place] for count in counts) for place, pair in enumerate(pairs)}


def _count_alone(workers: Workers, files: Sequence[Exchanged], column: str, shards: int) -> int:
    """Count the rows that are unique by one column alone, each value on one worker."""

    def count(file: Exchanged) -> Exchanged | None:
        rows = received([file], range(len(file.bounds) - 1))
        if rows is None:
            return None
        values = _summed(rows.select(pl.col(column).cast(pl.String), WEIGHT))
        shard = (row_hashes(values.select(column), 3) % shards).cast(pl.Int32).to_numpy()
        return exchange(values, shard, shards, Path(file.path).parent)

    by_value = [counts for counts in workers.run(list(files), count) if counts is not None]
    shared = workers.share(by_value)

    def kernel(shard: int) -> int:
        rows = received(shared.value, [shard])
        return 0 if rows is None else int((_summed(rows)[WEIGHT] == 1).sum())

    return sum(workers.run(list(range(shards)), kernel))


def _shard_of_people(
    files: Sequence[Exchanged], manifest: Manifest, name: str, shard: int
) -> CodedTable | None:
    rows = received(files, [shard])
    return None if rows is None else coded_shard(_summed(rows), manifest, name, {})


def _distinct_rows(table: CodedTable, wanted: Sequence[str]) -> pl.DataFrame:
    """The distinct rows of some columns as text, with their numbers."""
    columns = [table[name] for name in wanted]
    alike = classes_of(columns, table.rows)
    cells = {c.name: in_codes(c.text, c.codes[alike.first_row]) for c in columns}
    return pl.DataFrame({**cells, WEIGHT: alike.size.astype(np.int64)})


def _cut_out(file: WrittenFile, folder: Path) -> Path:
    """A stretch of a CSV file of the release, below its header, as a file of its own."""
    assert file.stretch is not None
    begin, end = file.stretch
    place = folder / f"{secrets.token_hex(8)}.csv"
    with Path(file.path).open("rb") as whole, place.open("xb") as cut:
        cut.write(read_header(whole))
        whole.seek(begin)
        left = end - begin
        while left and (piece := whole.read(min(left, BYTES_AT_ONCE))):
            cut.write(piece)
            left -= len(piece)
    return place


def unread_bytes(files: Mapping[str, Sequence[WrittenFile]]) -> list[str]:
    """CSV files with bytes that are in no stretch, so that no worker would read them."""
    problems = []
    for name, table_files in files.items():
        stretches = [file.stretch for file in table_files if file.stretch is not None]
        if not stretches:
            continue
        whole = Path(table_files[0].path)
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
        written = sum(r.fingerprint for r in readings if r.table == name)
        formed = sum(r.tables[name].fingerprint for r in results if name in r.tables)
        if rows != entry.rows or written != formed:
            problems.append(
                f"'{name}' does not have the rows that were formed ({rows} of {entry.rows})"
            )
    return problems


def order_problems(
    workers: Workers,
    readings: Sequence[FileReading],
    manifest: Manifest,
    sorted_tables: Collection[str],
) -> list[str]:
    """Return problems in the order of the first rows of the tables.

    Of a table that is sorted by its published columns, all rows of the compared groups are used.
    """
    kind, heads = kind_of(manifest.kind), {}
    for name in manifest.tables:
        files = sorted(r.head for r in readings if r.table == name and r.head is not None)
        heads[name] = pl.concat([pl.read_ipc(file) for file in files])
    for name in sorted_tables:
        by = class_columns(kind, manifest, name) or []
        groups = heads[tables_of_rows(kind, manifest)[0]].select(pl.col(by)).unique()
        heads[name] = _rows_of_groups(workers, _counted(readings, name), groups, by)
    tables = {name: code_frame(head, specs_of(manifest, name)) for name, head in heads.items()}
    return kind.order_problems(tables)


def _rows_of_groups(
    workers: Workers, files: Sequence[Exchanged], groups: pl.DataFrame, by: Sequence[str]
) -> pl.DataFrame:
    """The distinct rows of some groups, through files as everything that grows with the table."""
    shared = workers.share(groups)

    def kernel(file: Exchanged) -> str | None:
        rows = received([file], range(len(file.bounds) - 1))
        if rows is None:
            return None
        path = str(Path(file.path).with_suffix(".groups"))
        rows = rows.cast({pl.Enum: pl.String})
        rows.join(shared.value, on=by, how="semi", nulls_equal=True).write_ipc(path)
        return path

    paths = [path for path in workers.run(files, kernel) if path is not None]
    return _summed(pl.concat([pl.read_ipc(path) for path in paths])).drop(WEIGHT)


def totals_of(readings: Sequence[FileReading]) -> dict[str, dict[str | None, int]]:
    """Return how often each value of each sensitive column occurs in all files."""
    totals: dict[str, dict[str | None, int]] = {}
    for reading in readings:
        for column, counts in reading.values.items():
            column_totals = totals.setdefault(column, {})
            for value, count in counts.items():
                column_totals[value] = column_totals.get(value, 0) + count
    return totals


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """Distinct rows of several files as distinct rows, with their numbers."""
    return rows.group_by(pl.exclude(WEIGHT)).agg(pl.col(WEIGHT).sum())


def _whole_table(
    readings: Sequence[FileReading], manifest: Manifest, name: str, totals: Totals, limit: int
) -> CodedTable:
    """Return the distinct rows of a table that every shard needs."""
    rows = received(_counted(readings, name), [0])
    assert rows is not None
    frame = _summed(rows)
    if len(frame) > limit:
        raise InputError(
            f"{manifest.method.name}: the audit needs the {len(frame):,} distinct rows of '{name}' "
            f"on every worker, above {limit:,}. Make sensitive attributes coarser, or use anatomy."
        )
    return coded_shard(frame.sort(pl.all()), manifest, name, totals)


WEIGHT = "\0rows"  # a name that no column of a file has
Totals = Mapping[str, Mapping[str | None, int]]  # by sensitive column: how often each value occurs


@dataclass(frozen=True, eq=False)
class ShardResult:
    """The findings of one shard, and sums over its cells, by table, or under "" for the release."""

    findings: ShardFindings
    sums: Mapping[str, CellSums]


def counted_columns(manifest: Manifest, table: str) -> list[str]:
    """The columns that an audit reads: all but the insensitive ones."""
    return [n for n, r in manifest.tables[table].columns.items() if r is not Role.INSENSITIVE]


def coded_shard(frame: pl.DataFrame, manifest: Manifest, table: str, totals: Totals) -> CodedTable:
    """Distinct rows of a table, as text, with their numbers, as a coded table."""
    weights = frame[WEIGHT].to_numpy().astype(np.int64)
    specs = specs_of(manifest, table)
    coded = code_frame(
        frame.drop(WEIGHT), {name: specs[name] for name in frame.columns if name != WEIGHT}
    ).counted(weights)
    columns = dict(coded.columns)
    for column in coded.sensitive:
        whole = column.with_domain(list(totals[column.name]))
        count = [totals[column.name].get(value, 0) for value in whole.text.to_list()]
        columns[column.name] = replace(whole, total=np.array(count, np.int64))
    return replace(coded, columns=columns)


def judge_and_sum(tables: Mapping[str, CodedTable], manifest: Manifest, task: Task) -> ShardResult:
    """Judge every guarantee on the classes of a shard, and sum up its measures."""
    findings = bare(judge_shard(tables, manifest, task, {}))
    kind = kind_of(manifest.kind)
    whole = not absent_tables(kind, tables, manifest)
    return ShardResult(findings, kind.sums(tables, task, manifest) if whole else {})


def joined_sums(results: Sequence[ShardResult]) -> dict[str, CellSums]:
    """The sums over all shards, by table."""
    joined: dict[str, CellSums] = {}
    for result in results:
        for name, sums in result.sums.items():
            joined[name] = joined.get(name, CellSums()) + sums
    return joined
