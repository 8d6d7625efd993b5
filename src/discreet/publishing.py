"""The main job: data and a job become a release that was audited before it appears.

``publish`` makes a release in memory; ``Release.save`` writes it. Both audit: the first the tables
as they would be published, the second the files as they were written. A release that fails never
appears.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import __version__
from discreet.algorithms.full_domain import minimal_nodes as find_minimal_nodes
from discreet.algorithms.method import Bucketized, Outcome, Progress, Task, no_progress
from discreet.data.published import PublishedTable
from discreet.data.roles import Distance, Role
from discreet.data.table import CodedTable, Column
from discreet.errors import AuditError
from discreet.hierarchies.files import rows_of_hierarchy
from discreet.io.atomic import release_place, write_private
from discreet.io.databases import writing_tables
from discreet.io.frames import FrameKind, code_frame, frame_kind, to_frame
from discreet.io.writing import OutputFormat, write_table
from discreet.job import Job
from discreet.ledger.ledger import Ledger
from discreet.metrics.measure import measure_release
from discreet.models.requirement import Requirement
from discreet.preparation import prepare
from discreet.recording import Draft, announced, draft_of, open_ledger, require_ledger
from discreet.releases.audit import REPORT, Audit, audit_tables, read_tables, specs_of
from discreet.releases.catalog import kind_of_outcome
from discreet.releases.explanation import explain
from discreet.releases.manifest import (
    FILE_NAME,
    AttributeEntry,
    Manifest,
    MethodEntry,
    Promise,
    TableEntry,
    sha256_of,
)


@dataclass(eq=False)
class Release:
    """A release: its manifest, its tables, and the audit that they passed."""

    manifest: Manifest
    published: Mapping[str, PublishedTable]
    orders: Mapping[str, NDArray[np.int64]]  # the random order in which each table's rows appear
    task: Task = field(repr=False)
    job: Job = field(repr=False)
    private: dict[str, Any] = field(repr=False)  # source hash, seed, engine, timings
    like: FrameKind = FrameKind.POLARS  # the kind of frame that came in
    audit: Audit | None = field(default=None, repr=False)
    draft: Draft | None = field(default=None, repr=False)  # what a ledger is to record

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The published tables, as the kind of frame that came in (else Polars)."""
        return {
            name: to_frame(table.columns, self.like, self.orders[name])
            for name, table in self.published.items()
        }

    def coded_tables(self) -> dict[str, CodedTable]:
        """The published tables, coded anew from their cells as a reader of files would."""
        return {
            name: code_frame(
                to_frame(table.columns, FrameKind.POLARS, self.orders[name]),
                specs_of(self.manifest, name),
            )
            for name, table in self.published.items()
        }

    @property
    def explanation(self) -> list[str]:
        """What was done and what it promises, in sentences."""
        return explain(self.manifest)

    def save(
        self,
        path: str | Path,
        *,
        format: OutputFormat = "csv",
        force: bool = False,
        report: bool = True,
        progress: Progress = no_progress,
        ledger: Ledger | None = None,
    ) -> Path:
        """Write the release folder: tables, audit of the written files, manifest, report.

        With a ledger the release is recorded in the same step in which it appears; an open one may
        be given, whose lock is then held already.
        """
        path = Path(path)
        with ExitStack() as stack:
            if self.draft is not None:
                if ledger is None:
                    ledger = stack.enter_context(Ledger.open(self.draft.settings))
                stack.enter_context(ledger.writing())
                ledger.require_new_place(path)
            self._write(path, format, force, report, progress, ledger)
        private = path.with_name(f"{path.name}.private.json")
        write_private(private, json.dumps(self.private, indent=1) + "\n")
        return path

    def _write(
        self,
        path: Path,
        format: OutputFormat,
        force: bool,
        report: bool,
        progress: Progress,
        ledger: Ledger | None,
    ) -> None:
        from discreet.report.page import release_page

        started = time.perf_counter()

        @contextmanager
        def moving(partial: Path) -> Iterator[None]:
            with ExitStack() as stack:
                if self.job.output.url is not None:
                    stack.enter_context(self._tables_by_url(self.job.output.url, force))
                if ledger is not None and self.draft is not None:
                    stack.enter_context(announced(self.draft, ledger, partial, path))
                yield

        with release_place(path, force=force, moving=moving) as folder:
            manifest = self._write_tables(folder, format, progress)
            progress("audit", 0.0)
            tables = read_tables(folder, manifest)
            audit = audit_tables(tables, manifest, self.task)
            _demand(audit)
            manifest.promises = list(audit.promises)
            progress("measures", 0.0)
            manifest.utility = measure_release(tables, self.task, manifest).to_dict()
            (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")
            if report:
                page = release_page(manifest, self.job)
                (folder / REPORT).write_text(page, encoding="utf-8")
        self.manifest, self.audit = manifest, audit
        self.private["timings"]["save"] = round(time.perf_counter() - started, 3)

    def _tables_by_url(self, url: str, force: bool) -> AbstractContextManager[None]:
        """The same tables in a database, committed once the folder is in its place."""
        frames = {
            f"{self.job.output.prefix}{name}": to_frame(
                table.columns, FrameKind.POLARS, self.orders[name]
            )
            for name, table in self.published.items()
        }
        return writing_tables(url, self.job.folder, frames, force=force)

    def _write_tables(self, folder: Path, format_: OutputFormat, progress: Progress) -> Manifest:
        manifest = self.manifest.model_copy(deep=True)
        for number, (name, table) in enumerate(self.published.items()):
            progress("writing", number / len(self.published))
            file = folder / f"{name}.{format_}"
            write_table(file, format_, table.columns, self.orders[name])
            manifest.tables[name].file = file.name
            manifest.tables[name].sha256 = sha256_of(file)
        return manifest

    def _repr_html_(self) -> str:
        from discreet.report.page import release_fragment

        return release_fragment(self.manifest)

    def __str__(self) -> str:
        return "\n".join(self.explanation)


def publish(
    data: Any, job: Job, *, seed: int | None = None, progress: Progress = no_progress
) -> Release:
    """Make a release of a table in memory, audited as it would be published.

    ``data`` is a pandas, Polars or Arrow table, a path, or None for the job's own source. With a
    ledger, the release knows what was published before; ``save`` records it.
    """
    ledger = open_ledger(job)
    with nullcontext() if ledger is None else ledger:
        if ledger is not None:
            ledger.settled()
        release = make_release(data, job, seed=seed, progress=progress, ledger=ledger)
    progress("audit", 0.0)
    tables = release.coded_tables()
    release.audit = audit_tables(tables, release.manifest, release.task)
    _demand(release.audit)
    release.manifest.promises = list(release.audit.promises)
    release.manifest.utility = measure_release(tables, release.task, release.manifest).to_dict()
    return release


def minimal_nodes(data: Any, job: Job) -> list[dict[str, int]]:
    """All minimal full-domain recodings that meet a job's requirements, by their levels."""
    return find_minimal_nodes(prepare(job, data))


def make_release(
    data: Any,
    job: Job,
    *,
    seed: int | None = None,
    progress: Progress = no_progress,
    ledger: Ledger | None = None,
) -> Release:
    """Run a job's method and form the tables; ``publish`` and ``save`` audit them."""
    require_ledger(job)
    timings: dict[str, float] = {}
    seed = secrets.randbits(64) if seed is None else seed
    rng = np.random.default_rng(seed)
    started = time.perf_counter()
    task = prepare(job, data, rng=rng, progress=progress, ledger=ledger)
    timings["prepare"] = round(time.perf_counter() - started, 3)

    started = time.perf_counter()
    progress(job.method.name, 0.0)
    outcome = job.method.run(task)
    kind = kind_of_outcome(outcome)
    published = kind.tables(task, outcome)
    timings["method"] = round(time.perf_counter() - started, 3)

    orders = {name: rng.permutation(table.rows) for name, table in published.items()}
    suppressed = kind.suppressed(outcome)
    manifest = Manifest(
        discreet=__version__,
        kind=kind.name,
        method=MethodEntry(
            name=job.method.name, parameters=job.method.parameters(), **outcome.facts
        ),
        tables={
            name: TableEntry(
                file=f"{name}.csv",
                rows=table.rows,
                columns={column.name: column.role for column in table.columns},
            )
            for name, table in published.items()
        },
        attributes={column.name: _attribute_entry(column, task, job) for column in task.table},
        source_rows=task.table.rows,
        published_rows=task.table.rows - suppressed,
        suppressed_rows=suppressed,
        promises=[
            Promise(
                requirement=requirement.name,
                parameters=requirement.parameters(),
                holds=False,
                achieved={},
            )
            for requirement in _promised(task, outcome)
        ],
    )
    private: dict[str, Any] = {"seed": seed, "engine": "local", "timings": timings}
    draft = None
    if ledger is not None:
        draft = draft_of(ledger, job, task, outcome, published)
        private["held_back"] = draft.held_back
    if isinstance(outcome, Bucketized):
        private.update(outcome.notes)
    from_path = data is None or isinstance(data, str | Path)
    like = FrameKind.POLARS if from_path else frame_kind(data)
    return Release(manifest, published, orders, task, job, private, like, draft=draft)


def _promised(task: Task, outcome: Outcome) -> list[Requirement]:
    """The job's requirements, and what the method promises beside them."""
    asked = list(task.requirements)
    return asked + [promise for promise in outcome.promises if promise not in asked]


def _attribute_entry(column: Column, task: Task, job: Job) -> AttributeEntry:
    """What a reader must know to derive the promises about an attribute again."""
    attribute = job.attributes[column.name]
    sensitive = column.role is Role.SENSITIVE
    hierarchy = task.hierarchies.get(column.name)
    tree = sensitive and column.distance is Distance.HIERARCHICAL and hierarchy is not None
    return AttributeEntry(
        type=column.type,
        distance=column.distance if sensitive else None,
        multi_valued=column.separator,
        escaped=attribute.escape,
        hierarchy=rows_of_hierarchy(hierarchy, column) if tree and hierarchy else None,
    )


def _demand(audit: Audit) -> None:
    """Raise unless an audit found everything in order."""
    if audit.ok:
        return
    broken = [
        f"{promise.requirement} {promise.parameters} does not hold: achieved {promise.achieved}"
        for promise in audit.promises
        if not promise.holds
    ]
    listed = "".join(f"\n  - {line}" for line in [*broken, *audit.problems])
    raise AuditError(f"The release was not published: its own audit refused it.{listed}")
