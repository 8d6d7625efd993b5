"""The rows of a table in splits: files of codes, each with dictionaries of its own.

A task reads a share of the source once. It codes each column by the values that it meets, counts
them, and writes the codes. The driver makes the table's dictionaries of all counts; whoever reads a
split replaces its codes by those of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from discreet.addons.spark.exchange import COUNT, Exchanged, exchange, new_name
from discreet.addons.spark.parts import PartPlan
from discreet.addons.spark.session import ROWS_OF_PART, Shared, Workers
from discreet.io.frames import code_series
from discreet.ledger.record import require_people
from discreet.methods.base import Task
from discreet.pipeline.read import hashes_of, require_identifiers, rows_without
from discreet.table.coded_table import Column
from discreet.table.roles import ColumnSpec, Role, ValueType
from discreet.typing import Codes, PersonHashes

HOLDER = "holder"  # a person who has a value
ROW = "row"  # the number of a row in the table's order
ROWS_OF_SPLIT = 1 << 33  # numbers of rows, or of persons, of one split
Lookup = tuple[Any, Codes]  # the raw values of a column as text, and the code of each


@dataclass(frozen=True)
class SourceSplit:
    """A file of rows in the order of the table."""

    number: int
    path: str  # codes and carried columns, under their plain names c0, c1, …
    rows: int
    values: str | None  # the file of its dictionaries; None where codes are those of the table


@dataclass(frozen=True)
class Columns:
    """The use of each column of a source, by its plain name."""

    coded: Sequence[str]
    carried: Sequence[str]  # as they are
    identifiers: Sequence[str]
    missing: Sequence[str]
    targets: int  # of the tasks that count identifiers
    person: Sequence[str] = ()  # the identifiers that name a person to a ledger
    key: bytes = b""  # of that ledger
    holder: str | None = None  # the person of each row, where values are counted by persons

    @property
    def wanted(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.coded, *self.carried, *self.identifiers, *self.person]))


@dataclass(frozen=True, eq=False)
class Ingested:
    """A split, and the counted values of each identifier in it."""

    split: SourceSplit
    identifiers: Mapping[str, Exchanged]
    people: str | None = None  # the file of the keyed hashes of its rows' persons, for a ledger
    lacking: Sequence[int] = ()  # by column that names a person: rows without


def ingest(
    tables: Iterable[pa.Table], number: int, columns: Columns, folder: Path
) -> Ingested | None:
    """Write a share of the source as a split; None if it has no rows."""
    dictionaries = {name: _Dictionary() for name in columns.coded}
    uses: dict[str, list[pl.DataFrame]] = {name: [] for name in columns.identifiers}
    hashed: list[pl.DataFrame] = []
    lacking = np.zeros(len(columns.person), np.int64)
    path, rows = folder / f"{new_name()}.arrow", 0
    writer: Any = None
    try:
        for table in tables:
            arrays: dict[str, Any] = {name: pa.array(dictionaries[name].codes(table.column(name)))
                      for name in columns.coded}  # fmt: skip
            arrays |= {name: table.column(name) for name in columns.carried}
            encoded = pa.table(arrays)
            if writer is None:
                lz4 = pa.ipc.IpcWriteOptions(compression="lz4")
                writer = pa.ipc.new_stream(str(path), encoded.schema, options=lz4)
            writer.write_table(encoded)
            rows += table.num_rows
            for name, counts in uses.items():
                holder = None if columns.holder is None else table.column(columns.holder)
                counts.append(_counted(as_text(table.column(name)), columns.missing, holder))
            if columns.person:
                named = [_identifier(table.column(name), columns) for name in columns.person]
                lacking += [rows_without(column) for column in named]
                if not lacking.any():
                    hashed.append(pl.DataFrame(hashes_of(named, columns.key)))
    finally:
        if writer is not None:
            writer.close()
    if not rows:
        return None
    values = path.with_suffix(".values")
    _write_values(dictionaries, values)
    used = {}
    for name, counts in uses.items():
        whole = pl.concat(counts).group_by("v").agg(pl.col(COUNT).sum(), pl.col(HOLDER).first())
        target = (whole["v"].hash(3) % columns.targets).to_numpy().astype(np.int32)
        used[name] = exchange(whole, target, columns.targets, folder)
    people = path.with_suffix(".people") if columns.person and not lacking.any() else None
    if people is not None:
        pl.concat(hashed).write_ipc(people)
    split = SourceSplit(number, str(path), rows, str(values))
    return Ingested(split, used, None if people is None else str(people), lacking.tolist())


def _identifier(cells: Any, columns: Columns) -> Column:
    """An identifier as one machine codes it."""
    series = pl.Series("identifier", pl.from_arrow(_whole(cells)))
    spec = ColumnSpec(Role.INSENSITIVE, ValueType.TEXT)
    return code_series(series, spec, columns.missing, "The table")


def people_of(
    ingested: Sequence[Ingested], names: Sequence[str], columns: Columns
) -> PersonHashes | None:
    """The keyed hashes of all persons, in the order of the splits; none without a ledger."""
    if not columns.person:
        return None
    counts = np.array([share.lacking for share in ingested]).reshape(-1, len(names)).sum(axis=0)
    require_identifiers(dict(zip(names, counts.tolist(), strict=True)))
    frames = [pl.read_ipc(share.people) for share in ingested if share.people is not None]
    people = np.ascontiguousarray(pl.concat(frames).to_numpy())
    require_people(people, " and ".join(names))
    return people


class _Dictionary:
    """The values of a column in the order in which a task meets them."""

    def __init__(self) -> None:
        self.texts: Any = pa.array([], pa.string())
        self.counts = np.zeros(0, np.int64)

    def codes(self, column: Any) -> Codes:
        """The codes of some rows, whose values are counted."""
        encoded = _whole(column).dictionary_encode(null_encoding="encode")
        texts = encoded.dictionary.cast(pa.string())
        known = pc.index_in(texts, self.texts)
        fresh = known.is_null().to_numpy(zero_copy_only=False)
        code_of = known.fill_null(0).to_numpy().astype(np.int32)
        code_of[fresh] = len(self.texts) + np.arange(int(fresh.sum()))
        self.texts = pa.concat_arrays([self.texts, texts.filter(pa.array(fresh))])
        codes: Codes = code_of[encoded.indices.to_numpy()]
        counts = np.bincount(codes, minlength=len(self.texts))
        counts[: len(self.counts)] += self.counts
        self.counts = counts
        return codes


def _write_values(dictionaries: Mapping[str, _Dictionary], path: Path) -> None:
    frames = [
        pl.DataFrame(
            {"c": pl.Series([name] * len(dictionary.counts)), "v": pl.from_arrow(dictionary.texts),
             COUNT: dictionary.counts},
            {"c": pl.String, "v": pl.String, COUNT: pl.Int64},
        )
        for name, dictionary in dictionaries.items()
    ]  # fmt: skip
    pl.concat(frames).write_ipc(path)


def _counted(texts: Any, missing: Sequence[str], holder: Any = None) -> pl.DataFrame:
    """The values of a column with the rows, or the holders, that have each; but missing ones."""
    number = pl.lit(None, pl.Int64) if holder is None else pl.Series(pl.from_arrow(holder))
    cells = pl.DataFrame({"v": pl.from_arrow(texts)}).with_columns(number.alias(HOLDER))
    known = cells.filter(~pl.col("v").is_in(["", *missing]))
    of_units = known if holder is None else known.unique()
    return of_units.group_by("v").agg(pl.len().cast(pl.Int64).alias(COUNT), pl.col(HOLDER).first())


def _whole(column: Any) -> Any:
    """A column in one piece."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole


def as_text(column: Any) -> Any:
    """A column as text, which is read back as the same values."""
    return _whole(column).cast(pa.string())


def values_of(split: SourceSplit) -> pl.DataFrame:
    """The values of a split's columns: c, v and their count."""
    assert split.values is not None
    return pl.read_ipc(split.values)


def read_split(
    split: SourceSplit, lookups: Mapping[str, Lookup], columns: Sequence[str] | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of a split with their numbers, in codes of the table; all columns, or some."""
    code_of = {} if split.values is None else code_of_own(split, lookups)
    first = split.number * ROWS_OF_SPLIT
    with pa.memory_map(split.path) as file:
        options = None
        if columns is not None:
            with pa.memory_map(split.path) as again:
                names = pa.ipc.open_stream(again).schema.names
            fields = [place for place, name in enumerate(names) if name in columns or name == ROW]
            options = pa.ipc.IpcReadOptions(included_fields=fields)
        for batch in pa.ipc.open_stream(file, options=options):
            frame = pl.DataFrame(pl.from_arrow(pa.Table.from_batches([batch])))
            known = [
                pl.Series(name, code_of[name][frame[name].to_numpy()])
                for name in frame.columns
                if name in code_of
            ]
            if ROW not in frame.columns:
                number = np.arange(first, first + len(frame))
                frame = frame.with_columns(pl.Series(ROW, number, pl.Int64))
            first += len(frame)
            yield frame.with_columns(known)


def code_of_own(split: SourceSplit, lookups: Mapping[str, Lookup]) -> dict[str, Codes]:
    """By column: the table's code of each code of a split."""
    values = values_of(split)
    code_of = {}
    for name, (texts, code_of_raw) in lookups.items():
        split_texts = values.filter(pl.col("c") == name)["v"].to_arrow().cast(pa.string())
        place = pc.index_in(split_texts, texts)
        if place.null_count:
            raise ValueError(f"'{name}': the source changed while it was read. Publish again.")
        code_of[name] = code_of_raw[place.to_numpy()]
    return code_of


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """All rows of a table, or the remaining ones, with the facts that every worker has."""

    workers: Workers
    plan: PartPlan
    staging: Path
    splits: Sequence[SourceSplit]
    lookups: Shared[Mapping[str, Lookup]]  # by plain name
    count: int

    @cached_property
    def place_of(self) -> dict[str, str]:
        """The plain name of each source column."""
        return plain_names(self.plan.specs)

    @cached_property
    def rows_of_part(self) -> int:
        """The number of rows that a task may hold."""
        return self.workers.setting(ROWS_OF_PART)

    @property
    def parts(self) -> int:
        """The number of parts of such a size."""
        return max(1, -(-self.count // self.rows_of_part))

    def of_files(self, files: Sequence[str], count: int) -> EncodedRows:
        """Rows that were written to files, in codes of the table."""
        splits = [SourceSplit(number, path, 0, None) for number, path in enumerate(files)]
        return replace(self, splits=splits, count=count)


def plain_names(specs: Iterable[str]) -> dict[str, str]:
    """A name without special characters for each column of a source."""
    return {name: f"c{place}" for place, name in enumerate(specs)}


def task_of_part(
    plan: PartPlan,
    frame: pl.DataFrame,
    place_of: Mapping[str, str],
    rng: np.random.Generator,
    *,
    plain: bool = True,
) -> Task:
    """The task of some encoded rows; without ``plain`` it has no insensitive columns."""
    codes = {name: frame[place_of[name]].to_numpy() for name in plan.coded}
    others = {name: frame[place_of[name]] for name in plan.plain} if plain else {}
    return plan.task_of(codes, others, rng)


def pieces(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """Join frames to pieces of about so many rows."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(map(len, held)) >= rows:
            yield pl.concat(held, rechunk=True)
            held = []
    if held:
        yield pl.concat(held, rechunk=True)
