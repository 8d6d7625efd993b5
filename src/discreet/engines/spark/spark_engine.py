"""The engine of Spark: a source is counted and encoded on the workers, and methods run on parts.

All that is not published lies in a private folder that every worker reaches. A run that is killed
leaves nothing that looks like a release.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from discreet.engines.parts import PartPlan, PartResult, coded_columns, without_bits
from discreet.engines.spark.by_counts import run_by_counts
from discreet.engines.spark.by_parts import run_by_parts
from discreet.engines.spark.collapsing import one_row_each
from discreet.engines.spark.encoded import EncodedRows
from discreet.engines.spark.keeping import numbered_persons, require_keepable
from discreet.engines.spark.reading import (
    Lookup,
    count_values,
    dictionaries,
    encode,
    read,
    renamed,
    require_fit,
    uses_of,
)
from discreet.engines.spark.session import reporting
from discreet.engines.spark.spark_tables import SparkTables
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.methods.base import Progress, ShardedMethod, Spread, Task, no_progress
from discreet.methods.registry import METHODS
from discreet.pipeline.engine import Engine
from discreet.pipeline.manifest_draft import require_members
from discreet.pipeline.read import SourceRows
from discreet.pipeline.run_state import timing
from discreet.releases.manifest import TableEntry
from discreet.table.column_spec import ColumnSpec
from discreet.table.entropy import fixed_order
from discreet.table.roles import Role


@dataclass(frozen=True, eq=False, kw_only=True)
class SparkRows(SourceRows):
    """A source on Spark; its coded table has an entry for each value of a column."""

    data: Any  # the job's data, as it was given
    frame: DataFrame  # of published columns, c0, c1, …
    specs: Mapping[str, ColumnSpec]
    lookups: Mapping[str, Lookup]
    missing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SparkOutcome:
    """The staged parts of a job."""

    plan: PartPlan
    results: list[PartResult]


class SparkEngine(Engine[SparkRows, SparkOutcome]):
    """A session, and a private folder that its workers reach."""

    name: ClassVar[str] = "spark"

    def __init__(self, session: SparkSession, staging: Path) -> None:
        self.session, self.staging = session, staging.absolute()
        self.steps: dict[str, float] = {}  # seconds

    @classmethod
    def temporary(cls, session: SparkSession) -> SparkEngine:
        """Return an engine with a folder of its own, removed together with its releases.

        The folder is made where ``spark.discreet.folder`` says, which workers must reach too; on a
        local master in the usual place for temporary files.
        """
        place = session.conf.get("spark.discreet.folder", "") or None
        if place is None and not str(session.sparkContext.master).startswith("local"):
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
        if job.ledger is not None:
            raise InputError(
                "ledger: not supported by the engine 'spark', which knows no row by its person. "
                "Use --engine local."
            )
        require_keepable(job)

    @reporting()
    def read(self, job: Job, data: Any, ledger: Ledger | None, progress: Progress) -> SparkRows:
        frame = read(self.session, job, data)
        specs = require_fit(frame, job)
        missing = job.source.missing if job.source else ()
        persons, kept = None, None
        unpublished = [name for name, spec in specs.items() if not spec.role.published]
        if job.person is not None and job.person.rows == "keep":
            with timing(self.steps, "numbering persons"):
                progress("numbering persons", 0.0)
                place = self.staging / "persons"
                bare, made, kept = numbered_persons(frame, job, specs, missing, place)
                specs = dict(made)
        elif job.person is not None:
            with timing(self.steps, "collapsing"):
                progress("collapsing", 0.0)
                place = self.staging / "persons"
                frame, made, persons = one_row_each(frame, job, specs, missing, place)
                specs = dict(made)
        names = list(specs)
        bare = renamed(frame, specs) if kept is None else bare
        places = [names.index(name) for name in coded_columns(specs)]
        with timing(self.steps, "counting values"):
            progress("counting values", 0.0)
            count_values(bare, places, self.staging / "values")
        types = _arrow_types(bare, specs)
        table, lookups = dictionaries(self.session, self.staging / "values", specs, types, missing)
        uses = {}  # of identifiers, where the job names no persons by them
        if job.person is None:
            uses = uses_of(frame, names, job.with_role(Role.IDENTIFIER), missing)
        return SparkRows(
            replace(table, left_out=tuple(unpublished)), uses, persons, kept, data=data,
            frame=bare, specs=specs, lookups=lookups, missing=missing,
        )  # fmt: skip

    @reporting()
    def run(self, job: Job, task: Task, source: SparkRows, seed: int) -> SparkOutcome:
        alone = replace(task, progress=no_progress)  # as sent to workers
        plan = PartPlan(job, alone, source.specs, source.missing, seed, fixed_order())
        ranked = None
        if isinstance(job.method, ShardedMethod):
            attribute = job.method.shard_attribute(task)
            ranked = plan.source_of(attribute), task.table[attribute].codes
        with timing(self.steps, "encoding"):
            task.progress("encoding", 0.0)
            encode(source.frame, source.specs, source.lookups, ranked, self.staging / "rows")
        frame = self.session.read.parquet((self.staging / "rows").as_uri())
        rows = EncodedRows(self.session, plan, self.staging, frame, task.table.rows)
        (self.staging / "tables").mkdir()
        with timing(self.steps, job.method.name):
            task.progress(job.method.name, 0.0)
            counted = job.method.spread is Spread.COUNTS
            return SparkOutcome(plan, run_by_counts(rows) if counted else run_by_parts(rows))

    @reporting()
    def form(self, job: Job, task: Task, source: SparkRows, outcome: SparkOutcome) -> SparkTables:
        results = outcome.results
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
            key=outcome.plan.seed if outcome.plan.fixed_order else secrets.randbits(128),
        )


def _arrow_types(frame: DataFrame, specs: Mapping[str, ColumnSpec]) -> dict[str, pa.DataType]:
    from pyspark.sql.pandas.types import to_arrow_type

    return {
        name: to_arrow_type(frame.schema[f"c{place}"].dataType)
        for place, name in enumerate(specs)
        if specs[name].role.published
    }
