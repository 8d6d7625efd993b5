"""The engine of Spark: a source is counted and encoded on the workers, and methods run on parts.

All that is not published lies in a private folder that every worker reaches. A run that is killed
leaves nothing that looks like a release.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl
from pyspark.sql import SparkSession

from discreet.addons.spark.by_counts import run_by_counts
from discreet.addons.spark.by_parts import run_by_parts
from discreet.addons.spark.collapsing import one_row_each
from discreet.addons.spark.encoded import (
    ROWS_OF_SPLIT,
    Columns,
    EncodedRows,
    Lookup,
    SourceSplit,
    people_of,
    plain_names,
)
from discreet.addons.spark.keeping import numbered_persons, require_keepable
from discreet.addons.spark.parts import PartPlan, PartResult, coded_columns, without_bits
from discreet.addons.spark.reading import (
    as_frame,
    dictionaries,
    ingest_table,
    read,
    require_fit,
    sample_of,
    types_of,
    unchanged_of,
    uses_of,
)
from discreet.addons.spark.recording import Numbering, recorded_groups
from discreet.addons.spark.session import (
    COLLECTED,
    ROWS_OF_PART,
    Workers,
    reporting,
    spark_session,
)
from discreet.addons.spark.spark_tables import SparkTables
from discreet.errors import InputError, JobError
from discreet.io.atomic import hidden_folder
from discreet.io.frames import is_spark_frame
from discreet.io.in_place import COUNT, NUMBER, Place, PlaceKind
from discreet.job.direct_identifiers import refusal
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.methods.base import Progress, Spread, Task, no_progress
from discreet.methods.registry import METHODS
from discreet.pipeline.engine import AddedEngine, FormedTables
from discreet.pipeline.manifest_draft import require_members
from discreet.pipeline.read import SourceRows
from discreet.pipeline.record import Draft, draft_of_groups
from discreet.releases.manifest import TableEntry
from discreet.requirements.judge import limits_knowledge
from discreet.table.coded_table import Column
from discreet.table.counts import fixed_order
from discreet.table.interrupts import timing
from discreet.table.persons import OneRowEach, Persons
from discreet.table.roles import ColumnSpec, Role

TARGETS_OF_CORE = 4  # tasks that count identifiers


@dataclass(frozen=True, eq=False, kw_only=True)
class SparkRows(SourceRows):
    """A source on Spark; its coded table has an entry for each value of a column."""

    data: Any  # the job's data, as it was given
    specs: Mapping[str, ColumnSpec]
    splits: Sequence[SourceSplit]
    lookups: Mapping[str, Lookup]  # by plain name
    missing: tuple[str, ...]


def require_unchanged(
    unchanged: Mapping[str, tuple[Column, int]],
    persons: OneRowEach | None,
    published_persons: Persons | None,
    rows: int,
) -> None:
    """Refuse unchanged columns that hold direct identifiers or single out rows or persons."""
    count = rows if published_persons is None else published_persons.counts.persons
    unit = "rows" if persons is None and published_persons is None else "persons"
    problems = []
    for name, (column, single) in unchanged.items():
        problem = refusal(column, rows, alone=(single, count, unit))
        if problem is not None:
            problems.append(f"attributes.{name}: {problem}")
    if problems:
        raise JobError(problems)


@dataclass(frozen=True, eq=False)
class SparkOutcome:
    """The staged parts of a job."""

    plan: PartPlan
    results: list[PartResult]
    splits: Sequence[SourceSplit]


class SparkEngine(AddedEngine[SparkRows, SparkOutcome]):
    """A session, and a private folder that its workers reach."""

    name: ClassVar[str] = "spark"

    def __init__(self, session: SparkSession, staging: Path) -> None:
        self.staging = staging.absolute()
        self.workers = Workers(session, self.staging)
        self.steps: dict[str, float] = {}  # seconds

    @classmethod
    @contextmanager
    def opened(cls, place: Path, address: str | None) -> Iterator[Self]:
        with spark_session(address) as session, hidden_folder(place) as staging:
            yield cls(session, staging)

    @classmethod
    def of_frame(cls, frame: Any) -> Self:
        return cls.temporary(frame.sparkSession)

    @classmethod
    def temporary(cls, session: SparkSession) -> Self:
        """Return an engine with a folder of its own, removed together with its releases.

        The folder is made where ``spark.discreet.folder`` says, which workers must reach too; on a
        local master in the usual place for temporary files.
        """
        place = session.conf.get("spark.discreet.folder", "") or None
        if place is None and not str(session.conf.get("spark.master")).startswith("local"):
            raise InputError(
                "On a cluster a release is formed in a folder that every worker reaches. Name one: "
                "session.conf.set('spark.discreet.folder', '/shared/folder')."
            )
        folder = tempfile.mkdtemp(prefix="discreet-", dir=place)  # for its owner alone
        engine = cls(session, Path(folder))
        weakref.finalize(engine, shutil.rmtree, folder, ignore_errors=True)
        return engine

    def require_supported(self, job: Job) -> None:
        if job.method.spread is None:
            able = ", ".join(sorted(m.name for m in METHODS.values() if m.spread is not None))
            raise InputError(
                f"The engine 'spark' does not run {job.method.name}, which needs the whole table "
                f"on one machine. Use one of {able}, or --engine local."
            )
        limited = [
            requirement.name
            for requirement in job.requirements
            if limits_knowledge(requirement) or job.attackers.declared
        ]
        if limited:
            raise InputError(
                f"{limited[0]} for attackers who know some columns: not supported by the engine "
                "'spark', whose parts do not show the groups of all rows. Use --engine local."
            )
        if job.population is not None:
            raise InputError(
                "population: not supported by the engine 'spark', which counts no persons beside "
                "the rows of the table. Use --engine local."
            )
        recoded = [
            f"{name}.{key}"
            for name, attribute in job.attributes.items()
            for key in ("rare", "finest")
            if getattr(attribute, key) is not None
        ]
        if recoded:
            raise InputError(
                f"attributes.{recoded[0]}: not supported by the engine 'spark'. Recode the "
                "values in the source, or use --engine local."
            )
        if job.with_role(Role.WEIGHT):
            raise InputError(
                f"attributes.{job.with_role(Role.WEIGHT)[0]}: role 'weight' is not supported by "
                "the engine 'spark'. Use the role 'insensitive', or --engine local."
            )
        require_keepable(job)

    @reporting()
    def read(self, job: Job, data: Any, ledger: Ledger | None, progress: Progress) -> SparkRows:
        source = read(self.workers.session, job, data)
        specs: Mapping[str, ColumnSpec] = require_fit(source, job)
        missing = tuple(job.source.missing) if job.source else ()
        unpublished = tuple(name for name, spec in specs.items() if not spec.role.published)
        persons, published_persons = None, None
        folder, limit = self.staging / "rows", self.workers.setting(COLLECTED)
        with timing(self.steps, "reading"):
            progress("reading", 0.0)
            if job.person is not None and job.person.rows != "keep":
                frame, place = as_frame(self.workers.session, source), self.staging / "persons"
                collapsed, specs, persons = one_row_each(
                    self.workers, frame, job, specs, missing, place
                )
                source = source if collapsed is None else collapsed
            places, uses = plain_names(specs), {}
            columns = self._columns(job, specs, missing)
            guarded = {places[n]: n for n, spec in specs.items()
                       if spec.role is Role.INSENSITIVE
                       and not job.attributes[n].allow_identifying}  # fmt: skip
            columns = replace(columns, identifiers=[*columns.identifiers, *guarded])
            if ledger is not None:  # a collapsed table has the identifiers after its own columns
                plain = plain_names([*specs, *(n for n in job.ledger_person if n not in specs)])
                person = [plain[name] for name in job.ledger_person]
                columns = replace(columns, person=person, key=ledger.key)
            if job.person is not None and job.person.rows == "keep":
                frame = as_frame(self.workers.session, source)
                shares, published_persons = numbered_persons(
                    self.workers, frame, job, specs, missing, columns, folder
                )
            else:
                rows_of_part = self.workers.setting(ROWS_OF_PART)
                shares = ingest_table(self.workers, source, columns, rows_of_part, folder)
                named_by = [place for place in columns.identifiers if place not in guarded]
                uses = uses_of(self.workers, shares, named_by, columns.targets)
            unchanged = unchanged_of(self.workers, shares, guarded, columns.targets)
            require_unchanged(
                unchanged, persons, published_persons, sum(share.split.rows for share in shares)
            )
            people = people_of(shares, job.ledger_person if ledger is not None else (), columns)
            types = dict(zip(specs, types_of(source), strict=False))
            splits = [share.split for share in shares]
            table, lookups = dictionaries(splits, specs, types, missing, limit)
            sample = sample_of(table, splits, lookups, specs)
        named = {name: uses[places[name]] for name in specs if places[name] in uses}
        return SparkRows(
            replace(table, left_out=unpublished), named, persons, published_persons, people,
            sample=sample, data=data, specs=specs, splits=splits, lookups=lookups, missing=missing,
        )  # fmt: skip

    def _columns(
        self, job: Job, specs: Mapping[str, ColumnSpec], missing: tuple[str, ...]
    ) -> Columns:
        """The use of each column; identifiers are counted unless the job names persons by them."""
        places = plain_names(specs)
        identifiers = job.with_role(Role.IDENTIFIER) if job.person is None else []
        return Columns(
            coded=[places[name] for name in coded_columns(specs)],
            carried=[places[n] for n, spec in specs.items() if spec.role is Role.INSENSITIVE],
            identifiers=[places[name] for name in identifiers],
            missing=missing,
            targets=TARGETS_OF_CORE * self.workers.parallelism,
        )

    @reporting()
    def run(self, job: Job, task: Task, source: SparkRows, seed: int) -> SparkOutcome:
        unhashed = replace(task.basis, people=None)
        alone = replace(task, progress=no_progress, basis=unhashed)  # as sent to workers
        plan = PartPlan(job, alone, source.specs, source.missing, seed, fixed_order())
        lookups = self.workers.share(source.lookups)
        rows = EncodedRows(
            self.workers, plan, self.staging, source.splits, lookups, task.table.rows
        )
        (self.staging / "tables").mkdir()
        with timing(self.steps, job.method.name):
            task.progress(job.method.name, 0.0)
            counted = job.method.spread is Spread.COUNTS
            results = run_by_counts(rows) if counted else run_by_parts(rows)
            return SparkOutcome(plan, results, source.splits)

    @reporting()
    def form(self, job: Job, task: Task, source: SparkRows, outcome: SparkOutcome) -> SparkTables:
        results = outcome.results
        key = outcome.plan.seed if outcome.plan.fixed_order else secrets.randbits(128)
        bits = {bit for bitmap in task.bitmaps.values() for bit in bitmap.bits}
        gone = bits.difference(*(result.bits for result in results))
        if gone:
            require_members(task, gone)
            results = [without_bits(result, gone) for result in results]
        whole = [result for result in results if result.kind]
        suppressed = sum(result.suppressed for result in results)
        facts = job.method.joined_facts([result.facts for result in whole])
        # a first pass defers rows, it does not suppress them
        if job.method.spread is Spread.CURVE and "steps" in facts:
            facts["suppressed_rows"] = facts["steps"]["suppressed"] = suppressed
        entries = {}
        for name in dict.fromkeys(name for result in whole for name in result.tables):
            staged = [result.tables[name] for result in whole if name in result.tables]
            rows = sum(part.rows for part in staged)
            entries[name] = TableEntry(file=name, rows=rows, columns=staged[0].columns)
        return SparkTables(
            task=replace(task.without(gone), progress=no_progress),
            kind=whole[0].kind,
            entries=entries,
            suppressed=suppressed,
            facts=facts,
            promises=whole[0].promises,
            private={"steps": self.steps},
            gone=gone,
            engine=self,
            job=job,
            data=source.data,
            results=results,
            numbering=Numbering.of({part.part: part.groups for part in results}, key),
        )

    @reporting()
    def draft(
        self, job: Job, ledger: Ledger | None, tables: FormedTables, outcome: SparkOutcome
    ) -> Draft | None:
        if ledger is None:
            return None
        assert isinstance(tables, SparkTables)
        sensitive = outcome.plan.task.table.sensitive
        before = accumulate((split.rows for split in outcome.splits), initial=0)
        first = {split.number: at for split, at in zip(outcome.splits, before, strict=False)}
        rows = sum(split.rows for split in outcome.splits)
        records = [result.record for result in tables.results if result.record is not None]
        group, columns = recorded_groups(
            records, tables.numbering, rows, first, ROWS_OF_SPLIT, sensitive
        )
        columns = [column for column in columns if column.name not in tables.gone]
        numbered = all(record.classes is None for record in records)
        return draft_of_groups(ledger, job, tables.task, group, columns, numbered)


class SparkPlace(Place):
    """A Spark data frame; identifiers are numbered on the cluster and stay there."""

    name = "The Spark table"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def columns(self) -> tuple[str, ...]:
        names = self.named(self.frame.columns)
        self.frame = self.frame.toDF(*names)  # by place, where columns share a name
        return names

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        def quoted(name: str) -> Any:
            return f.col("`" + name.replace("`", "``") + "`")

        cells = [quoted(name).alias(f"c{place}") for place, name in enumerate(columns)]
        texts = [quoted(name).cast("string").alias(f"p{n}") for n, name in enumerate(person)]
        frame = self.frame.select(*cells, *texts)
        keys = [f"c{place}" for place in range(len(columns))]
        if person:
            named = [f.nullif(f.col(f"p{place}"), f.lit("")) for place in range(len(person))]
            rank = f.dense_rank().over(Window.orderBy(*named))
            known = f.lit(True)
            for identifier in named:
                known &= identifier.isNotNull()
            frame = frame.withColumn(NUMBER, f.when(known, rank))
            keys.append(NUMBER)
        counted = frame.groupBy(*keys).agg(f.count(f.lit(1)).alias(COUNT))
        arrow = counted.toArrow() if hasattr(counted, "toArrow") else counted.toPandas()
        return pl.DataFrame(arrow) if hasattr(counted, "toArrow") else pl.from_pandas(arrow)


class SparkFrames(PlaceKind):
    """Data frames of Spark."""

    name: ClassVar[str] = "pyspark"

    @classmethod
    def place_of_frame(cls, frame: Any) -> Place:
        if not is_spark_frame(frame):
            raise InputError(f"A Spark data frame is needed, not {type(frame).__name__}.")
        return SparkPlace(frame)
