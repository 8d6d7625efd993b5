"""The main job on Spark: the same folder, the same manifest, audited before it appears.

All that is not published lies in a private folder inside the hidden one that the release is written
to, so a run that is killed leaves nothing that looks like a release, and the next run to the same
place clears it away.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from discreet.engines.parts import PartPlan, PartResult, coded_columns, without_bits
from discreet.engines.shards import utility_of
from discreet.engines.spark.auditing import audit_files
from discreet.engines.spark.by_counts import run_by_counts
from discreet.engines.spark.by_parts import run_by_parts
from discreet.engines.spark.encoded import EncodedRows
from discreet.engines.spark.reading import (
    count_values,
    dictionaries,
    encode,
    read,
    renamed,
    require_fit,
    uses_of,
)
from discreet.engines.spark.session import COLLECTED, ROWS_OF_PART, reporting, setting
from discreet.engines.spark.writing import put_together, write_tables
from discreet.errors import InputError
from discreet.io.atomic import release_place, require_free
from discreet.io.signatures import SigningKey
from discreet.io.writing import OutputFormat
from discreet.job.model import Job
from discreet.methods.base import Progress, ShardedMethod, Spread, no_progress
from discreet.methods.registry import METHODS
from discreet.pipeline.explain import write_explanation, write_private_files
from discreet.pipeline.manifest_draft import (
    form_manifest,
    promised,
    require_members,
)
from discreet.pipeline.prepare import prepare_task, require_publishable
from discreet.pipeline.read import SourceRows
from discreet.releases.audit.audit import Audit, read_tables, require_sound
from discreet.releases.audit.figures import settle
from discreet.releases.audit.files import REPORT, hash_of_table
from discreet.releases.audit.linked_labels import public_promise
from discreet.releases.explanation import explain, explain_privately
from discreet.releases.kinds.decomposed.link_readers import FINDING_ROWS
from discreet.releases.manifest import FILE_NAME, Manifest, TableEntry
from discreet.releases.registry import kind_of
from discreet.report.pages.release_page import private_page
from discreet.report.pieces import Page
from discreet.table.entropy import fixed_order
from discreet.table.roles import Role

STAGING = ".staging"


@dataclass(eq=False)
class SparkRelease:
    """A release that Spark made: its manifest, its audit, and where its files are."""

    manifest: Manifest
    audit: Audit
    folder: Path
    session: SparkSession = field(repr=False)
    private: dict[str, Any] = field(repr=False)
    _private_page: Page = field(repr=False)
    _kept: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    @cached_property
    def tables(self) -> dict[str, DataFrame]:
        """The published tables as Spark data frames, read from their files."""
        return {
            name: self.session.read.parquet((self.folder / entry.file).absolute().as_uri())
            for name, entry in self.manifest.tables.items()
        }

    @property
    def explanation(self) -> list[str]:
        """What was done and what it promises, in sentences; the last ones for the publisher."""
        return [*explain(self.manifest), *explain_privately(self.manifest, self.private)]

    def save(
        self,
        path: str | Path,
        *,
        force: bool = False,
        sign: SigningKey | str | Path | None = None,
    ) -> Path:
        """Copy the release to a folder, which appears whole or not at all.

        ``sign`` is the private key that signs the manifest.
        """
        path = Path(path)
        key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
        with release_place(path, force=force) as folder:
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
            if key is not None:
                key.sign(folder, FILE_NAME)
        write_private_files(path, self, (self.folder / REPORT).exists())
        return path

    def private_page(self) -> Page:
        return self._private_page

    def __str__(self) -> str:
        return "\n".join(self.explanation)


def publish_frame(
    frame: DataFrame, job: Job, *, seed: int | None = None, progress: Progress = no_progress
) -> SparkRelease:
    """Publish a Spark data frame to a folder of its own, which goes when the release does.

    The folder is made where ``spark.discreet.folder`` says, which workers must reach too; on a
    local master in the usual place for temporary files.
    """
    session = frame.sparkSession
    place = session.conf.get("spark.discreet.folder", "") or None
    if place is None and not str(session.sparkContext.master).startswith("local"):
        raise InputError(
            "On a cluster a release is formed in a folder that every worker reaches. Name one: "
            "session.conf.set('spark.discreet.folder', '/shared/folder')."
        )
    kept = tempfile.TemporaryDirectory(prefix="discreet-", dir=place)
    release = publish_folder(
        session, frame, job, Path(kept.name) / "release", format="parquet", seed=seed,
        progress=progress,
    )  # fmt: skip
    release._kept = kept
    return release


def publish_folder(
    session: SparkSession,
    data: Any,
    job: Job,
    path: Path,
    *,
    format: OutputFormat = "parquet",
    seed: int | None = None,
    force: bool = False,
    report: bool = True,
    progress: Progress = no_progress,
    sign: SigningKey | None = None,
) -> SparkRelease:
    """Publish a job's table, or the one given, as a release folder that workers reach too."""
    _require_supported(job)
    require_free(path, force)
    path = path.absolute()
    seed = secrets.randbits(63) if seed is None else seed
    with release_place(path, force=force) as folder:
        staging = folder / STAGING
        staging.mkdir(mode=0o700)
        with reporting():
            run = _Run(session, job, staging, seed, progress)
            manifest, audit = run.publish(data, folder, format)
        shutil.rmtree(staging)
        write_explanation(folder, manifest, audit.picture, report, sign)
    private = {"seed": seed, "engine": "spark", "timings": run.timings, **run.private}
    private |= {"insecure_fixed_order": True} if fixed_order() else {}
    page = private_page(manifest, job, audit.picture, private)
    made = SparkRelease(manifest, audit, path, session, private, page)
    if path.parent.is_dir():
        write_private_files(path, made, report)
    return made


def _require_supported(job: Job) -> None:
    if job.method.spread is None:
        able = ", ".join(sorted(m.name for m in METHODS.values() if m.spread is not None))
        raise InputError(
            f"The engine 'spark' does not run {job.method.name}, which needs the whole table on "
            f"one machine. Use one of {able}, or --engine local."
        )
    for key, asked in (
        ("ledger", job.ledger is not None),
        ("verify", job.verify is not None),
        ("output.url", job.output.url is not None),
    ):
        if asked:
            raise InputError(f"{key}: not supported by the engine 'spark'. Use --engine local.")


class _Run:
    """The steps of one job, each timed."""

    def __init__(
        self, session: SparkSession, job: Job, staging: Path, seed: int, progress: Progress
    ) -> None:
        self.session, self.job, self.staging, self.seed = session, job, staging, seed
        self.progress = progress
        self.timings: dict[str, float] = {}
        self.private: dict[str, Any] = {}
        self._started = time.perf_counter()

    def publish(self, data: Any, folder: Path, format: OutputFormat) -> tuple[Manifest, Audit]:
        """Form, write and audit the tables."""
        plan = self._prepare(data)
        frame = self.session.read.parquet((self.staging / "rows").as_uri())
        rows = EncodedRows(self.session, plan, self.staging, frame, plan.task.table.rows)
        (self.staging / "tables").mkdir()
        counted = self.job.method.spread is Spread.COUNTS
        results = run_by_counts(rows) if counted else run_by_parts(rows)
        self._done(self.job.method.name)
        bits = {bit for bitmap in plan.task.bitmaps.values() for bit in bitmap.bits}
        gone = bits.difference(*(result.bits for result in results))
        if gone:
            require_members(plan.task, gone)
            results = [without_bits(result, gone) for result in results]
            plan = replace(plan, task=plan.task.without(gone))
        manifest = self._manifest(plan, results, gone)
        rows_of_part = setting(self.session, ROWS_OF_PART)
        key = self.seed if plan.fixed_order else secrets.randbits(128)
        written = write_tables(
            self.session, results, self.staging / "files", format, rows_of_part, key
        )
        files = {}
        for name, own in written.items():
            manifest.tables[name].file, files[name] = put_together(own, folder, name, format)
        self._done("writing")
        shards = max(1, -(-manifest.published_rows // rows_of_part))
        limit = setting(self.session, COLLECTED)
        audit, figures = audit_files(
            self.session, files, manifest, plan.task, results, self.staging, shards, limit
        )
        require_sound(audit)
        manifest.promises = [public_promise(promise, manifest) for promise in audit.promises]
        tables = read_tables(folder, manifest) if manifest.published_rows <= FINDING_ROWS else {}
        manifest.readers = kind_of(manifest.kind).readers(tables, manifest)
        assert audit.tally is not None
        settle(manifest, audit.tally, audit.picture)
        found = [promise.model_dump(mode="json") for promise in audit.promises]
        self.private["promises"] = found
        self.private["utility"] = utility_of(figures, plan.task, manifest, self.private["method"])
        self._done("audit")
        for entry in manifest.tables.values():
            entry.sha256 = hash_of_table(folder / entry.file)
        self._done("finishing")
        return manifest, audit

    def _prepare(self, data: Any) -> PartPlan:
        """Read, count values, settle what the job asks of them, and write every row in codes."""
        frame = read(self.session, self.job, data)
        specs = require_fit(frame, self.job)
        missing = self.job.source.missing if self.job.source else ()
        bare = renamed(frame, specs)
        types = _arrow_types(bare, specs)
        names = list(specs)
        places = [names.index(name) for name in coded_columns(specs)]
        count_values(bare, places, self.staging / "values")
        self._done("counting values")
        table, lookups = dictionaries(self.session, self.staging / "values", specs, types, missing)
        uses = uses_of(frame, names, self.job.with_role(Role.IDENTIFIER), missing)
        rng = np.random.default_rng(self.seed)
        task = prepare_task(self.job, SourceRows(table, uses), rng=rng)
        require_publishable(self.job, task)
        plan = PartPlan(self.job, task, specs, missing, self.seed, fixed_order())
        ranked = None
        if isinstance(self.job.method, ShardedMethod):
            attribute = self.job.method.shard_attribute(task)
            ranked = plan.source_of(attribute), task.table[attribute].codes
        encode(bare, specs, lookups, ranked, self.staging / "rows")
        self._done("encoding")
        return plan

    def _manifest(self, plan: PartPlan, results: list[PartResult], gone: set[str]) -> Manifest:
        whole = [result for result in results if result.kind]
        suppressed = sum(result.suppressed for result in results)
        facts = self.job.method.joined_facts([result.facts for result in whole])
        if self.job.method.spread is Spread.CURVE:  # a first pass leaves over, it does not suppress
            facts["suppressed_rows"] = facts["steps"]["suppressed"] = suppressed
        self.private["method"] = facts
        tables = {}
        for name in dict.fromkeys(name for result in whole for name in result.tables):
            staged = [result.tables[name] for result in whole if name in result.tables]
            rows = sum(part.rows for part in staged)
            tables[name] = TableEntry(file=name, rows=rows, columns=staged[0].columns)
        promises = promised(plan.task, whole[0].promises, gone)
        return form_manifest(
            self.job, plan.task, whole[0].kind, facts, promises, tables, suppressed, gone=gone
        )

    def _done(self, step: str) -> None:
        now = time.perf_counter()
        self.timings[step] = round(now - self._started, 3)
        self._started = now
        self.progress(step, 1.0)


def _arrow_types(frame: DataFrame, specs: Any) -> dict[str, pa.DataType]:
    from pyspark.sql.pandas.types import to_arrow_type

    return {
        name: to_arrow_type(frame.schema[f"c{place}"].dataType)
        for place, name in enumerate(specs)
        if specs[name].role.published
    }
