"""The tables that Spark formed, in staged files; and the files of a release as Spark reads them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from discreet.addons.spark.auditing import (
    FileReading,
    ShardResult,
    joined_sums,
    judge_files,
    order_problems,
    read_files,
    single_out,
    totals_of,
    unlike_formed,
    unread_bytes,
)
from discreet.addons.spark.keeping import PersonsElsewhere, judge_kept
from discreet.addons.spark.parts import SOURCE, PartResult
from discreet.addons.spark.reading import as_frame, read
from discreet.addons.spark.recording import Numbering
from discreet.addons.spark.session import COLLECTED, ROWS_OF_PART, reporting
from discreet.addons.spark.writing import WrittenFile, put_together, write_tables
from discreet.io.databases import writing_tables
from discreet.io.writing import OutputFormat
from discreet.job.model import Job
from discreet.methods.base import Progress, Task
from discreet.pipeline.engine import FormedTables, Reading
from discreet.pipeline.prepare import prepare
from discreet.pipeline.read import source_of
from discreet.releases.audit.audit import Audit, read_tables
from discreet.releases.audit.files import hash_of_table
from discreet.releases.audit.shards import join_shards
from discreet.releases.kinds.base import form_problems
from discreet.releases.manifest import Manifest, Promise, ReaderFinding, SinglingOut
from discreet.releases.measure import measure_release
from discreet.releases.registry import kind_of
from discreet.requirements.base import PublishedValues
from discreet.table.budgets import FIGURE_ROWS
from discreet.table.coded_table import CodedTable
from discreet.table.interrupts import timing
from discreet.utility.settings import MeasureSettings

if TYPE_CHECKING:
    from discreet.addons.spark.spark_engine import SparkEngine

Files = Mapping[str, Sequence[WrittenFile]]


@dataclass(eq=False, kw_only=True)
class SparkTables(FormedTables):
    """Published tables in staged files, a file for each part of the source."""

    usual_format: ClassVar[OutputFormat] = "parquet"
    in_parts: ClassVar[bool] = True
    engine: SparkEngine
    job: Job
    data: Any  # the job's data, as it was given
    results: Sequence[PartResult]
    numbering: Numbering
    _formed: tuple[Path, dict[str, str], Files] | None = field(default=None, repr=False)
    _written: Files = field(default_factory=dict, repr=False)  # of the folder last written

    def frames(self) -> dict[str, DataFrame]:
        folder, names, _ = self._in_parquet()
        session = self.engine.workers.session
        return {n: session.read.parquet((folder / file).as_uri()) for n, file in names.items()}

    def read(self, manifest: Manifest) -> SparkReading:
        folder, names, files = self._in_parquet()
        for name, file in names.items():
            manifest.tables[name].file = file
        return SparkReading(self, folder, manifest, files)

    @reporting()
    def _in_parquet(self) -> tuple[Path, dict[str, str], Files]:
        """Return a private folder with the tables as they would be published, made once."""
        if self._formed is None:
            folder = self.engine.staging / "published"
            folder.mkdir()
            self._formed = (folder, *self._put(folder, "parquet"))
        return self._formed

    def _put(
        self, folder: Path, format_: OutputFormat
    ) -> tuple[dict[str, str], dict[str, list[WrittenFile]]]:
        """Write the tables to a folder; return the names of their files, and each task's share."""
        engine = self.engine
        with timing(engine.steps, "writing"):
            rows_of_file = engine.workers.setting(ROWS_OF_PART)
            files = engine.staging / "files" / folder.name
            written = write_tables(
                engine.workers, self.results, self.numbering, files, format_, rows_of_file
            )
            put = {name: put_together(of, folder, name, format_) for name, of in written.items()}
        names = {name: file for name, (file, _) in put.items()}
        return names, {name: table_files for name, (_, table_files) in put.items()}

    @reporting()
    def write(
        self, folder: Path, format_: OutputFormat, manifest: Manifest, progress: Progress
    ) -> None:
        progress("writing", 0.0)
        if format_ == "parquet" and self._formed is not None:  # which were proved, byte for byte
            formed, names, files = self._formed
            shutil.copytree(formed, folder, dirs_exist_ok=True)
            self._written = {
                name: [_moved(file, formed, folder) for file in table_files]
                for name, table_files in files.items()
            }
        else:
            names, self._written = self._put(folder, format_)
        for name, file in names.items():
            manifest.tables[name].file = file

    def read_back(self, folder: Path, manifest: Manifest, progress: Progress) -> SparkReading:
        progress("reading back", 0.0)
        return SparkReading(self, folder, manifest, self._written)

    @cached_property
    def original(self) -> Task:
        """The whole original, brought to this machine: attacks and further measures need it."""
        source = self.job.source
        from_file = self.data is None and source is not None and not source.in_catalog
        if from_file or isinstance(self.data, str | Path):
            return prepare(self.job, self.data).without(self.gone)
        session = self.engine.workers.session
        frame = as_frame(session, read(session, self.job, self.data))
        collected = frame.toArrow() if hasattr(frame, "toArrow") else frame.toPandas()
        return prepare(self.job, collected).without(self.gone)

    def source_rows(self) -> Mapping[str, NDArray[np.int32]] | None:
        """Of a single file; Spark reads several, and tables of its own, in an order of its own."""
        persons = self.task.basis.persons
        if not isinstance(persons, PersonsElsewhere) or not self._written or not self._of_one_file:
            return None
        rows = {}
        for name, files in self._written.items():
            frames = [pl.read_ipc(file.sources) for file in files if file.sources is not None]
            numbers = pl.concat(frames)[SOURCE].to_numpy()
            rows[name] = persons.source_rows(numbers).astype(np.int32)
        return rows

    @property
    def _of_one_file(self) -> bool:
        source = self.job.source
        if isinstance(self.data, str | Path):
            return Path(self.data).is_file()
        known = self.data is None and source is not None and not source.in_catalog
        return known and source_of(self.job).path.is_file()

    def writing_by_url(
        self, job: Job, manifest: Manifest, force: bool
    ) -> AbstractContextManager[None]:
        """Write the tables to the job's database, table by table through this machine."""
        if job.output.url is None:
            return nullcontext()
        folder, names, _ = self._in_parquet()
        frames = {
            f"{job.output.prefix}{name}": pl.read_parquet(folder / file / "*.parquet")
            for name, file in names.items()
        }
        return writing_tables(job.output.url, job.folder, frames, force=force)


def _moved(file: WrittenFile, old: Path, new: Path) -> WrittenFile:
    return replace(file, path=str(new / Path(file.path).relative_to(old)))


class SparkReading(Reading):
    """The files of a release, read on the workers when needed."""

    def __init__(self, formed: SparkTables, folder: Path, manifest: Manifest, files: Files) -> None:
        self._formed, self._engine, self._files = formed, formed.engine, files
        self._folder, self._manifest = folder, manifest.model_copy(deep=True)
        self._results: list[ShardResult] = []

    @property
    def _shards(self) -> int:
        rows_of_part = self._engine.workers.setting(ROWS_OF_PART)
        return max(1, -(-self._manifest.published_rows // rows_of_part))

    @cached_property
    def _readings(self) -> list[FileReading]:
        engine = self._engine
        return read_files(engine.workers, self._files, self._manifest, engine.staging, self._shards)

    @cached_property
    def values(self) -> PublishedValues:
        with reporting():
            return totals_of(self._readings)

    @cached_property
    def tables(self) -> Mapping[str, CodedTable]:
        return read_tables(self._folder, self._manifest)

    @reporting()
    def audit(self, manifest: Manifest) -> Audit:
        kind, engine, results = kind_of(manifest.kind), self._engine, self._formed.results
        misshapen = form_problems(kind.forms(len(manifest.tables)), manifest)
        with timing(engine.steps, "audit"):
            readings = self._readings
            problems = [*misshapen, *(line for result in results for line in result.problems)]
            problems += unread_bytes(self._files)
            problems += unlike_formed(readings, results, manifest)
            in_order = {n for r in results for n, table in r.tables.items() if table.keeps_order}
            problems += order_problems(engine.workers, readings, manifest, in_order)
            limit = engine.workers.setting(COLLECTED)
            self._results = judge_files(
                engine.workers, readings, manifest, self._formed.task, totals_of(readings),
                self._shards, limit,
            )  # fmt: skip
            promises: Sequence[Promise] | None = None
            persons_singled: SinglingOut | None = None
            if manifest.keeps_rows:
                promises, person_problems, persons_singled = judge_kept(
                    engine.workers, results, manifest, totals_of(readings), self._shards
                )
                problems += person_problems
            singled = single_out(engine.workers, readings, manifest, self._shards)
        joined = join_shards([result.findings for result in self._results], manifest)
        problems += joined.problems
        readers: tuple[ReaderFinding, ...] = ()
        if not problems and manifest.published_rows <= kind.finding_rows:
            readers = tuple(kind.worlds(self.tables, manifest).readers())
        return Audit(
            tuple(promises or joined.promises), tuple(problems), True, manifest.unit, readers,
            picture=joined.picture, tally=joined.tally, singling_out=singled,
            persons_singled_out=persons_singled,
        )  # fmt: skip

    def measure(self, manifest: Manifest, settings: MeasureSettings) -> dict[str, Any]:
        if settings.divergence and manifest.source_rows <= FIGURE_ROWS:
            original = self._formed.original
            return measure_release(self.tables, original, manifest).to_dict(private=True)
        sums = joined_sums(self._results)
        measures = kind_of(manifest.kind).measures(
            sums, self._formed.task, manifest, self._formed.facts
        )
        return measures.to_dict(private=True)

    @cached_property
    def _hashes(self) -> dict[str, str]:
        return {
            name: hash_of_table(self._folder / entry.file)
            for name, entry in self._manifest.tables.items()
        }

    def moved_to(self, folder: Path) -> None:
        self._folder = folder

    def same(self, other: Reading) -> bool:
        return isinstance(other, SparkReading) and self._hashes == other._hashes
