"""The engine of a database: rows are counted, recoded, published and audited where they are.

Methods by counts need no row: the combinations of cells, with their numbers, come to this machine,
the method finds a recoding of them, and the database writes the published table from its own
combinations. Then the written table is counted again, in the same transaction. Its rows must be
exactly those that the recoding gives, each cell must cover its source, and every guarantee is
derived from these counts. Only then does the table take its name.

The folder of the release has the manifest, the report and, in the place of each table's file, the
statement that reads the table, with a fingerprint of its rows.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.addons.places.database_tables import select_of, with_names
from discreet.addons.places.warehouse import (
    COUNTS,
    ENTRY,
    PLACE,
    RECODING,
    TIMES,
    Warehouse,
    counts_of,
    opened_warehouse,
    table_of,
)
from discreet.errors import InputError
from discreet.io.column_dictionary import render
from discreet.io.databases import column_name, quoted
from discreet.io.frames import FrameKind, code_frame, to_frame
from discreet.io.in_place import place_of_url
from discreet.io.writing import OutputFormat
from discreet.job.identifying import Uses
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.methods.base import Generalized, Outcome, Progress, Projected, Spread, Task
from discreet.methods.registry import METHODS
from discreet.pipeline.engine import AddedEngine, FormedTables, Reading
from discreet.pipeline.read import SourceRows, require_columns, specs_of_job, specs_of_others
from discreet.regular_files import read_whole
from discreet.releases.audit.audit import (
    Audit,
    miscounted,
    misstated_guarantees,
    specs_of,
)
from discreet.releases.audit.figures import misstated_figures
from discreet.releases.audit.files import file_problems
from discreet.releases.audit.shards import join_shards, judge_shard
from discreet.releases.kinds.base import form_problems, name_problems, number_problems
from discreet.releases.manifest import Manifest, ReaderFinding, TableEntry
from discreet.releases.measure import measure_release
from discreet.releases.registry import kind_of, kind_of_outcome
from discreet.releases.singling_out import misstated_singling_out, singling_out
from discreet.requirements.base import PublishedValues
from discreet.requirements.judge import limits_knowledge
from discreet.table.budgets import FIGURE_ROWS, MOST_STEPS
from discreet.table.coded_table import CodedTable
from discreet.table.interrupts import interruptible
from discreet.table.published import PublishedColumn, PublishedTable
from discreet.table.roles import Role
from discreet.typing import Ints
from discreet.utility.settings import MeasureSettings

FINGERPRINT = "-- The rows of the table have this fingerprint: sha256 "


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedSource(SourceRows):
    """The combinations of a source's cells, by their numbers in the database."""

    raw: pl.DataFrame  # a column for each coded one, cells as the database has them


class DatabaseEngine(AddedEngine[CountedSource, Outcome]):
    """The database of a job's source, which holds its release too."""

    name: ClassVar[str] = "database"

    def __init__(self) -> None:
        self._warehouse: Warehouse | None = None

    @classmethod
    @contextmanager
    def opened(cls, place: Path, address: str | None) -> Iterator[Self]:
        if address is not None:
            raise InputError("The engine 'database' works at the url of the job's source.")
        engine = cls()
        try:
            yield engine
        finally:
            if engine._warehouse is not None:
                engine._warehouse.close()

    @classmethod
    def of_frame(cls, frame: Any) -> Self:
        raise InputError("The engine 'database' publishes the table of a job's `source: url`.")

    @classmethod
    def audited(cls, folder: Path, url: str) -> Audit:
        return audit_in_place(folder, url)

    def require_supported(self, job: Job) -> None:
        if job.method.spread is not Spread.COUNTS:
            able = ", ".join(sorted(m.name for m in METHODS.values() if m.spread is Spread.COUNTS))
            raise InputError(
                f"The engine 'database' runs methods that need counts alone ({able}), not "
                f"{job.method.name}. Use one of these, or --engine local."
            )
        if job.source is None or job.source.url is None:
            raise InputError("The engine 'database' needs a job with `source: {url: …}`.")
        if job.output.url not in (None, job.source.url):
            raise InputError(
                "output.url: the engine 'database' writes to the database of the source. Remove "
                "it, or use --engine local."
            )
        unfit = {
            "person": job.person is not None,
            "population": job.population is not None,
            "attackers": bool(job.attackers.declared)
            or any(map(limits_knowledge, job.requirements)),
            "role 'weight'": bool(job.with_role(Role.WEIGHT)),
            "role 'household'": bool(job.with_role(Role.HOUSEHOLD)),
            "role 'quasi-sensitive'": bool(job.with_role(Role.QUASI_SENSITIVE)),
            "rare": any(a.rare is not None for a in job.attributes.values()),
            "finest": any(a.finest is not None for a in job.attributes.values()),
            "multi_valued": any(a.multi_valued is not None for a in job.attributes.values()),
            "columns": any(a.columns is not None for a in job.attributes.values()),
            "ledger": job.ledger is not None,
        }
        asked = [name for name, wanted in unfit.items() if wanted]
        if asked:
            raise InputError(
                f"{asked[0]}: not supported by the engine 'database', which holds counts and no "
                "rows. Use --engine local."
            )

    def read(self, job: Job, data: Any, ledger: Ledger | None, progress: Progress) -> CountedSource:
        progress("counting", 0.0)
        source = job.source
        assert source is not None and source.url is not None
        # What each column is read as; the query is known to be one that reads.
        place = place_of_url(source.url, job.folder, source.table, source.query)
        names = place.columns()
        specs = specs_of_job(job) | specs_of_others(job, names)
        require_columns(names, specs, place.name)
        coded = [name for name in names if specs[name].role.published]
        select = with_names(select_of(source.table, source.query), names)
        # Count combinations in the database, and take them if they are few enough.
        warehouse = self._warehouse = opened_warehouse(source.url, job.folder)
        warehouse.run(counts_of(select, warehouse.keys(select, coded)))
        size = int(warehouse.frame(f"SELECT COUNT(*) FROM {COUNTS}").item())
        if size > MOST_STEPS:
            raise InputError(
                f"{warehouse.name}: the published columns have {size:,} combinations of cells, and "
                f"the engine 'database' takes {MOST_STEPS:,}. Drop unchanged columns, or "
                "use --engine local or spark."
            )
        if size == 0:
            raise InputError(f"{warehouse.name}: the table has no rows. Check the source.")
        frame = warehouse.frame(f"SELECT * FROM {COUNTS} ORDER BY {ENTRY}")
        raw = frame.drop(ENTRY, TIMES)
        raw = raw.rename(dict(zip(raw.columns, coded, strict=True)))
        times = frame[TIMES].cast(pl.Int64).to_numpy()
        table = code_frame(raw, {name: specs[name] for name in coded}, source.missing)
        table = replace(
            table.counted(times), left_out=tuple(n for n in names if n not in table.columns)
        )
        uses = {name: _uses(warehouse, select, name) for name in job.with_role(Role.IDENTIFIER)}
        return CountedSource(table, uses, raw=raw)

    def run(self, job: Job, task: Task, source: CountedSource, seed: int) -> Outcome:
        task.progress(job.method.name, 0.0)
        return interruptible(lambda: job.method.run(task))

    def form(self, job: Job, task: Task, source: CountedSource, outcome: Outcome) -> TablesInPlace:
        assert self._warehouse is not None and task.table.weights is not None
        assert isinstance(outcome, Generalized | Projected)
        kind, times = kind_of_outcome(outcome), task.table.weights
        published = kind.tables(task, outcome)
        suppressed = 0
        if isinstance(outcome, Generalized):
            suppressed = int(times[outcome.class_of_row < 0].sum())
        return TablesInPlace(
            task=task,
            kind=kind.name,
            entries={
                name: TableEntry(
                    file=f"{name}.sql",
                    rows=int(times[_entries(table)].sum()),
                    columns={column.name: column.role for column in table.columns},
                )
                for name, table in published.items()
            },
            suppressed=suppressed,
            facts=outcome.facts,
            promises=outcome.promises,
            private=dict(outcome.private),
            warehouse=self._warehouse,
            raw=source.raw,
            published=published,
            prefix=job.output.prefix,
        )


def _uses(warehouse: Warehouse, select: str, name: str) -> Uses:
    """Count how often the values of an identifier are used."""
    (key,) = warehouse.keys(select, [name])
    used = f"{key} IS NOT NULL AND CAST({key} AS VARCHAR) <> ''"
    by_value = (
        f"SELECT COUNT(*) AS {TIMES} FROM (\n{select}\n) AS source WHERE {used} GROUP BY {key}"
    )
    counted = warehouse.frame(
        f"SELECT COUNT(*) AS v, SUM({TIMES}) AS r, MAX({TIMES}) AS m FROM ({by_value}) AS counted"
    ).row(0)
    values, rows, most = (int(number or 0) for number in counted)
    return Uses(rows, values, most)


def _entries(table: PublishedTable) -> NDArray[np.integer]:
    """Return the combination behind each published one."""
    return np.arange(table.rows) if table.source_row is None else table.source_row


@dataclass(eq=False, kw_only=True)
class TablesInPlace(FormedTables):
    """Tables that the database wrote under hidden names, in a transaction that is open."""

    in_parts: ClassVar[bool] = True
    warehouse: Warehouse
    raw: pl.DataFrame  # the cells of each combination
    published: Mapping[str, PublishedTable]  # a row for each combination
    prefix: str
    _hidden: dict[str, str] = field(default_factory=dict)  # the name of each written table
    _counted: dict[str, CodedTable] = field(default_factory=dict)

    def frames(self) -> dict[str, Any]:
        named = ", ".join(f"'{self.prefix}{name}'" for name in self.published)
        raise InputError(f"The tables are in the database: {named}.")

    def read(self, manifest: Manifest) -> ReadingInPlace:
        self._create(manifest)
        return ReadingInPlace(self, self._counted)

    def write(
        self, folder: Path, format_: OutputFormat, manifest: Manifest, progress: Progress
    ) -> None:
        progress("writing", 0.0)
        self._create(manifest)
        for name, entry in manifest.tables.items():
            text = statement_of(f"{self.prefix}{name}", entry, fingerprint(self._counted[name]))
            (folder / entry.file).write_text(text, encoding="utf-8")

    def read_back(self, folder: Path, manifest: Manifest, progress: Progress) -> ReadingInPlace:
        return ReadingInPlace(self, self._counted)

    def _create(self, manifest: Manifest) -> None:
        """Write each table under a hidden name, and count the rows that it has then."""
        for name, table in self.published.items():
            if name in self._hidden:
                continue
            hidden = f"{self.prefix}discreet_partial_{secrets.token_hex(8)}"
            recoding, sources = self._recoding(table)
            self.warehouse.load(RECODING, recoding)
            self.warehouse.run(table_of(hidden, sources, self.warehouse.copies))
            self._hidden[name] = hidden
            self._counted[name] = counted_table(self.warehouse, hidden, manifest, name)

    def _recoding(self, table: PublishedTable) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
        """Return the published rows that differ, in random order, and the source of each column.

        A column whose cells are all those of the source comes from there, with its type.
        """
        assert self.task.table.weights is not None
        entry = _entries(table)
        codes = {f"k{number}": column.codes for number, column in enumerate(table.columns)}
        distinct = (
            pl.DataFrame({**codes, TIMES: self.task.table.weights[entry], ENTRY: entry})
            .group_by(list(codes))
            .agg(pl.col(TIMES).sum(), pl.col(ENTRY).min())
        )
        sources, cells = [], {}
        for number, column in enumerate(table.columns):
            if self._is_source(column, entry):
                place = self.raw.columns.index(column.name)
                sources.append((column.name, f"c.c{place}"))
                continue
            sources.append((column.name, f"r.p{number}"))
            cells[f"p{number}"] = column.dictionary.gather(distinct[f"k{number}"])
        order = self.task.orders.permutation(len(distinct))
        recoding = distinct.select(
            pl.Series(PLACE, order), pl.col(TIMES).cast(pl.Int64), pl.col(ENTRY).cast(pl.Int64),
            *(series.alias(name) for name, series in cells.items()),
        )  # fmt: skip
        return recoding, sources

    def _is_source(self, column: PublishedColumn, entry: NDArray[np.integer]) -> bool:
        """Return whether the published cells are those of the source, null for null."""
        kind = self.task.table[column.name].type
        raw = self.raw[column.name].gather(pl.Series(entry))
        if raw.dtype in (pl.Categorical, pl.Enum):
            raw = raw.cast(pl.String)
        shown = render(column.dictionary, kind).gather(pl.Series(column.codes))
        return shown.equals(render(raw, kind), null_equal=True)

    @property
    def original(self) -> Task:
        return replace(self.task, table=_repeated(self.task.table))

    @contextmanager
    def writing_by_url(self, job: Job, manifest: Manifest, force: bool) -> Iterator[None]:
        """Give the tables their names, and commit when the block ends without an error."""
        for name, hidden in self._hidden.items():
            target = f"{self.prefix}{name}"
            if self.warehouse.has_table(target):
                if not force:
                    raise InputError(
                        f"{self.warehouse.name}: the table '{target}' already exists. Use --force "
                        "to replace it, or choose another `prefix:`."
                    )
                self.warehouse.run(f"DROP TABLE {quoted(target)}")
            self.warehouse.rename(hidden, target)
        yield
        self.warehouse.run("COMMIT")

    def problems(self, manifest: Manifest, counted: Mapping[str, CodedTable]) -> list[str]:
        """Return how the written tables differ from those formed, and from their source."""
        formed = {
            name: code_frame(to_frame(table.columns, FrameKind.POLARS), specs_of(manifest, name))
            for name, table in self.published.items()
        }
        entries = {name: _entries(table).astype(np.int32) for name, table in self.published.items()}
        times = self.task.table.weights
        assert times is not None
        problems = [
            f"'{name}' does not have the rows that were formed"
            for name, table in formed.items()
            if fingerprint(table.counted(times[entries[name]])) != fingerprint(counted[name])
        ]
        plain = {n: replace(c, weights=None) for n, c in self.task.table.columns.items()}
        table = CodedTable(plain, self.task.table.entries, self.task.table.left_out)
        part = manifest.model_copy(deep=True)
        for name, formed_table in formed.items():
            part.tables[name].rows = formed_table.rows
        part.source_rows = table.rows
        part.published_rows = max(formed_table.rows for formed_table in formed.values())
        part.suppressed_rows = part.source_rows - part.published_rows
        changed = kind_of(manifest.kind).changes(
            formed, replace(self.task, table=table), part, entries, part=True
        )
        return [*problems, *changed]


class ReadingInPlace(Reading):
    """Published tables as the database counted them."""

    def __init__(self, formed: TablesInPlace, counted: Mapping[str, CodedTable]) -> None:
        self._formed, self._counted = formed, counted

    @property
    def values(self) -> PublishedValues:
        return {
            column.name: set(column.text.to_list())
            for table in self._counted.values()
            for column in table.sensitive
        }

    @cached_property
    def tables(self) -> Mapping[str, CodedTable]:
        return {name: _repeated(table) for name, table in self._counted.items()}

    def audit(self, manifest: Manifest) -> Audit:
        return judged(self._counted, manifest, self._formed)

    def measure(self, manifest: Manifest, settings: MeasureSettings) -> dict[str, Any]:
        task = self._formed.task
        if settings.divergence and manifest.source_rows <= FIGURE_ROWS:
            original = self._formed.original
            return measure_release(self.tables, original, manifest).to_dict(private=True)
        kind = kind_of(manifest.kind)
        sums = kind.sums(self._counted, task, manifest)
        return kind.measures(sums, task, manifest, self._formed.facts).to_dict(private=True)

    def same(self, other: Reading) -> bool:
        return isinstance(other, ReadingInPlace) and self._counted is other._counted


def judged(
    counted: Mapping[str, CodedTable], manifest: Manifest, formed: TablesInPlace | None = None
) -> Audit:
    """Derive every guarantee from counts; with what was formed, also that nothing was changed."""
    kind = kind_of(manifest.kind)
    misshapen = form_problems(kind.forms(len(manifest.tables)), manifest)
    task = None if formed is None else formed.task
    findings = judge_shard(counted, manifest, task, {})
    joined = join_shards([findings], manifest)
    problems = [*misshapen, *name_problems(manifest), *miscounted(counted, manifest)]
    problems += [*joined.problems, *number_problems(kind, counted)]
    if formed is not None:
        problems += formed.problems(manifest, counted)
    readers: tuple[ReaderFinding, ...] = ()
    if not problems and manifest.published_rows <= min(kind.finding_rows, FIGURE_ROWS):
        repeated = {name: _repeated(table) for name, table in counted.items()}
        readers = tuple(kind.worlds(repeated, manifest).readers())
    return Audit(
        joined.promises, tuple(problems), formed is not None, manifest.unit, readers,
        picture=joined.picture, tally=joined.tally, singling_out=singling_out(counted, manifest),
    )  # fmt: skip


def _repeated(table: CodedTable) -> CodedTable:
    """Return every row of a counted table; refuse one with too many."""
    if table.weights is None:
        return table
    if table.rows > FIGURE_ROWS:
        raise InputError(
            f"Attacks and divergences need every row here: the table has {table.rows:,}, and the "
            f"engine 'database' takes {FIGURE_ROWS:,}. Use --engine local to have them."
        )
    columns = {name: replace(column, weights=None) for name, column in table.columns.items()}
    rows = np.repeat(np.arange(table.entries), table.weights)
    return CodedTable(columns, table.entries, table.left_out).take(rows)


def counted_table(warehouse: Warehouse, place: str, manifest: Manifest, name: str) -> CodedTable:
    """Return the rows of a table in the database that differ, with their numbers."""
    specs = specs_of(manifest, name)
    frame = warehouse.grouped(place, list(specs))
    times = frame[TIMES].cast(pl.Int64).to_numpy()
    return code_frame(frame.drop(TIMES), specs).counted(times)


def fingerprint(table: CodedTable) -> str:
    """Return a hash of the rows of a counted table, whatever their order and that of its values."""
    digest = hashlib.sha256()
    ranks, sizes = {}, []
    for number, column in enumerate(table):
        occurring = column.occurring()
        order = occurring.text.arg_sort(nulls_last=True).to_numpy()
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        ranks[f"c{number}"] = rank[occurring.codes]
        sizes.append(len(order))
        values = occurring.text.gather(order).to_list()
        digest.update(json.dumps([column.name, values]).encode())
    for numbers in _in_order(ranks, sizes, table.weights):
        digest.update(np.ascontiguousarray(numbers, "<i8").tobytes())
    return digest.hexdigest()


def _in_order(
    ranks: Mapping[str, Ints], sizes: Sequence[int], weights: Ints | None
) -> Iterator[Ints]:
    """Yield the columns of the rows that differ, sorted, and last the number of each."""
    if prod(sizes) < 1 << 62:  # one number a row
        key = np.zeros(len(next(iter(ranks.values()))), np.int64)
        for rank, size in zip(ranks.values(), sizes, strict=True):
            key = key * size + rank
        ranks = {"key": key}
    names = list(ranks)
    counted = pl.DataFrame({**ranks, TIMES: weights}).group_by(names).agg(pl.col(TIMES).sum())
    for column in counted.sort(names):
        yield column.to_numpy()


def statement_of(table: str, entry: TableEntry, rows_hash: str) -> str:
    """Return the text of the file that stands for a table in a database."""
    columns = ", ".join(map(column_name, entry.columns))
    return f"{FINGERPRINT}{rows_hash}\nSELECT {columns} FROM {quoted(table)}\n"


def audit_in_place(folder: Path, url: str) -> Audit:
    """Audit a release whose tables are in a database, by counts of these tables."""
    manifest = Manifest.load(folder)
    damages = file_problems(folder, manifest)
    if damages:
        return Audit((), tuple(damages), False)
    counted, problems = {}, []
    warehouse = opened_warehouse(url, Path.cwd(), read_only=True)
    try:
        for name, entry in manifest.tables.items():
            text = read_whole(folder / entry.file).decode()
            place = _named_table(text)
            counted[name] = counted_table(warehouse, place, manifest, name)
            if text != statement_of(place, entry, fingerprint(counted[name])):
                problems.append(f"the rows of '{place}' are not those that were published")
    finally:
        warehouse.close()
    audit = judged(counted, manifest)
    problems += misstated_guarantees(manifest, audit.promises)
    if audit.tally is not None:
        problems += misstated_figures(manifest, audit.tally, audit.picture)
    if audit.singling_out is not None:
        problems += misstated_singling_out(counted, manifest, audit.singling_out)
    if read_whole(folder / "manifest.json") != manifest.to_json().encode():
        problems.append("'manifest.json' is not in the form in which discreet writes it")
    return replace(audit, problems=(*audit.problems, *problems))


def _named_table(text: str) -> str:
    """Return the name of the table that a statement reads."""
    quoted_name = text.rpartition(" FROM ")[2].strip()
    return ".".join(part.strip('"').replace('""', '"') for part in quoted_name.split('"."'))
