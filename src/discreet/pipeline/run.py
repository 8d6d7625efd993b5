"""The main job: data and a job become a release that was audited before it appears.

``publish`` makes a release in memory; ``Release.save`` writes it. Both audit: the first the tables
as they would be published, the second the files as they were written. A release that fails never
appears.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.inference.link_through_sensitive import reader_findings
from discreet.attacks.run import AttackReport
from discreet.errors import InputError
from discreet.io.atomic import release_place
from discreet.io.databases import writing_tables
from discreet.io.declared_types import typed_columns
from discreet.io.frames import FrameKind, code_frame, frame_kind, to_frame
from discreet.io.signatures import SigningKey
from discreet.io.writing import OutputFormat, write_table
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.methods.base import Generalized, Progress, Task, no_progress
from discreet.pipeline.manifest_draft import (
    form_manifest,
    name_published_values,
    promised,
    require_members,
    unpublished_bits,
    write_private_files,
    write_report,
)
from discreet.pipeline.prepare import prepare, refuse_identifying, require_unit, source_of
from discreet.pipeline.record import (
    Draft,
    announced,
    draft_of,
    require_current,
    require_ledger,
)
from discreet.pipeline.series_check import with_series
from discreet.pipeline.verify import verify_attacks
from discreet.releases.audit.audit import (
    Audit,
    audit_tables,
    read_tables,
    require_sound,
    specs_of,
)
from discreet.releases.audit.figures import settle
from discreet.releases.audit.linked_labels import public_promise
from discreet.releases.explanation import explain, explain_privately
from discreet.releases.group_summary import Picture
from discreet.releases.manifest import (
    FILE_NAME,
    Manifest,
    ReaderFinding,
    TableEntry,
    sha256_of,
)
from discreet.releases.measure import measure_release
from discreet.releases.registry import kind_of_outcome
from discreet.table.coded_table import CodedTable
from discreet.table.entropy import fixed_order
from discreet.table.interrupts import interruptible
from discreet.table.published import PublishedTable
from discreet.table.roles import ValueType

if TYPE_CHECKING:
    import altair

    from discreet.report.pieces import Page


@dataclass(eq=False, repr=False)
class Release:
    """A release: its manifest, its tables, and the audit that they passed."""

    manifest: Manifest
    published: Mapping[str, PublishedTable]
    orders: Mapping[str, NDArray[np.int32] | None]  # the random order of each table's rows
    task: Task
    job: Job
    # What the release must not hold: source hash, seed, figures against the original, …
    private: dict[str, Any]
    like: FrameKind = FrameKind.POLARS  # the kind of frame that came in
    audit: Audit | None = None
    draft: Draft | None = None  # what a ledger is to record
    attacks: AttackReport | None = None  # what the job's attacks found

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

    def source_rows(self) -> dict[str, NDArray[np.int32]]:
        """The source's row behind each published row, where rows stand for rows."""
        return {
            name: order if table.source_row is None else table.source_row[order]
            for (name, table), order in zip(
                self.published.items(), self.orders.values(), strict=True
            )
            if order is not None
        }

    def __repr__(self) -> str:
        tables = ", ".join(f"{name}: {table.rows} rows" for name, table in self.published.items())
        suppressed = self.manifest.suppressed_rows
        return f"<Release by {self.manifest.method.name}; {tables}; {suppressed} rows suppressed>"

    def __getstate__(self) -> NoReturn:
        raise InputError(
            "A release in memory holds the source table beside the published ones, so it cannot be "
            "pickled or copied. Save it with release.save(), or use release.tables."
        )

    @property
    def explanation(self) -> list[str]:
        """What was done and what it promises, in sentences; the last ones for the publisher."""
        return [*explain(self.manifest), *explain_privately(self.manifest, self.private)]

    def save(
        self,
        path: str | Path,
        *,
        format: OutputFormat = "csv",
        force: bool = False,
        report: bool = True,
        progress: Progress = no_progress,
        ledger: Ledger | None = None,
        sign: SigningKey | str | Path | None = None,
    ) -> Path:
        """Write the release folder: tables, audit of the written files, manifest, report.

        With a ledger the release is recorded in the same step in which it appears; an open one may
        be given, whose lock is then held already. ``sign`` is the private key that signs the
        manifest.
        """
        path = Path(path)
        key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
        with ExitStack() as stack:
            if self.draft is not None:
                if ledger is None:
                    ledger = stack.enter_context(Ledger.open(self.draft.settings))
                stack.enter_context(ledger.writing())
                ledger.require_new_place(path)
                require_current(self.draft, ledger)
            self._write(path, format, force, report, progress, ledger, key)
        page = self._page().html() if report else None
        write_private_files(path, self.private, page)
        return path

    def _write(
        self,
        path: Path,
        format: OutputFormat,
        force: bool,
        report: bool,
        progress: Progress,
        ledger: Ledger | None,
        key: SigningKey | None,
    ) -> None:
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
            with ThreadPoolExecutor(1) as pool:
                hashes = pool.submit(_hashes, folder, manifest)
                progress("reading back", 0.0)
                tables = read_tables(
                    folder, manifest, lambda share: progress("reading back", share)
                )
                progress("audit", 0.0)
                audit = _audit(tables, manifest, self.task, self.source_rows(), self.draft, ledger)
                progress("measures", 0.0)
                measures = measure_release(tables, self.task, manifest)
                for name, digest in hashes.result().items():
                    manifest.tables[name].sha256 = digest
            attacks = verify_attacks(self.job, tables, self.task, manifest, progress)
            if report:
                write_report(folder, manifest, audit.picture)
            (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")
            if key is not None:
                key.sign(folder, FILE_NAME)
        self.manifest, self.audit, self.attacks = manifest, audit, attacks
        self.private |= {
            "promises": [promise.model_dump(mode="json") for promise in audit.promises],
            "utility": measures.to_dict(private=True),
        }
        self.private["timings"]["save"] = round(time.perf_counter() - started, 3)

    def _tables_by_url(self, url: str, force: bool) -> AbstractContextManager[None]:
        """The same tables in a database, committed once the folder is in its place."""
        frames = {
            f"{self.job.output.prefix}{name}": to_frame(
                typed_columns(table.columns, self._types), FrameKind.POLARS, self.orders[name]
            )
            for name, table in self.published.items()
        }
        return writing_tables(url, self.job.folder, frames, force=force)

    @property
    def _types(self) -> dict[str, ValueType]:
        return {name: entry.type for name, entry in self.manifest.attributes.items()}

    def _write_tables(self, folder: Path, format_: OutputFormat, progress: Progress) -> Manifest:
        manifest = self.manifest.model_copy(deep=True)
        for number, (name, table) in enumerate(self.published.items()):

            def tell(share: float, before: int = number) -> None:
                progress("writing", (before + share) / len(self.published))

            file = folder / f"{name}.{format_}"
            columns = table.columns
            if format_ != "csv":
                columns = typed_columns(columns, self._types)
            write_table(file, format_, columns, self.orders[name], tell)
            manifest.tables[name].file = file.name
        return manifest

    def _repr_html_(self) -> str:
        return self._page().fragment()

    def charts(self) -> dict[str, altair.TopLevelMixin]:
        """The plots of its report as Altair charts, by name; needs the extra ``charts``."""
        from discreet.report.charts.altair_charts import altair_charts
        from discreet.report.pages.release_page import release_charts

        return altair_charts(release_charts(self._picture, self.private.get("utility", {})))

    @property
    def _picture(self) -> Picture:
        return Picture() if self.audit is None else self.audit.picture

    def _page(self) -> Page:
        from discreet.report.pages.release_page import private_page

        return private_page(self.manifest, self.job, self._picture, self.private, self.attacks)

    def __str__(self) -> str:
        return "\n".join(self.explanation)


def audit_in_memory(
    release: Release, progress: Progress, ledger: Ledger | None = None
) -> dict[str, CodedTable]:
    """Audit a release as it would be published; its tables as a reader of files has them.

    ``ledger`` is the one that the release was made with.
    """
    progress("audit", 0.0)
    tables = release.coded_tables()
    release.audit = _audit(
        tables, release.manifest, release.task, release.source_rows(), release.draft, ledger
    )
    found = [promise.model_dump(mode="json") for promise in release.audit.promises]
    release.private["promises"] = found
    return tables


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
    with ThreadPoolExecutor(1) as pool:
        digest = pool.submit(_source_hash, job, data)
        task = prepare(job, data, rng=rng, progress=progress, ledger=ledger)
        source_sha256 = digest.result()
    require_unit(job, task)
    refuse_identifying(job, task.table)
    if fixed_order():
        task = replace(task, orders=rng)
    timings["prepare"] = round(time.perf_counter() - started, 3)

    started = time.perf_counter()
    progress(job.method.name, 0.0)
    outcome = interruptible(lambda: job.method.run(task))
    kind = kind_of_outcome(outcome)
    published = kind.tables(task, outcome)
    gone = unpublished_bits(task, published.values())
    require_members(task, gone)
    published = {name: table.without(gone).compacted() for name, table in published.items()}
    task = task.without(gone)
    timings["method"] = round(time.perf_counter() - started, 3)

    orders = {
        name: None if table.keeps_order else _random_order(task.orders, table.rows)
        for name, table in published.items()
    }
    manifest = form_manifest(
        job,
        task,
        kind.name,
        outcome.facts,
        promised(task, outcome.promises, gone),
        {
            name: TableEntry(
                file=f"{name}.csv",
                rows=table.rows,
                columns={column.name: column.role for column in table.columns},
            )
            for name, table in published.items()
        },
        kind.suppressed(outcome),
        masked=outcome.masked if isinstance(outcome, Generalized) else (),
        gone=gone,
    )
    private: dict[str, Any] = {"seed": seed, "engine": "local", "timings": timings}
    private |= {"insecure_fixed_order": True} if fixed_order() else {}
    private |= {**outcome.private, "method": outcome.facts}
    if source_sha256 is not None:
        private["source_sha256"] = source_sha256
    draft = None
    if ledger is not None:
        draft = draft_of(ledger, job, task, outcome, published)
        private["held_back"] = draft.held_back
    from_path = data is None or isinstance(data, str | Path)
    like = FrameKind.POLARS if from_path else frame_kind(data)
    return Release(manifest, published, orders, task, job, private, like, draft=draft)


def _source_hash(job: Job, data: Any) -> str | None:
    """The hash of the source file; None for a frame, and where the file can't be read."""
    if data is not None and not isinstance(data, str | Path):
        return None
    try:
        source = source_of(job, data)
        return sha256_of(source.path) if source.path.is_file() else None  # a pipe would block
    except (InputError, OSError):
        return None  # reading the table says what is wrong


def _random_order(rng: np.random.Generator, rows: int) -> NDArray[np.int32]:
    order = np.arange(rows, dtype=np.int32)
    rng.shuffle(order)
    return order


def _hashes(folder: Path, manifest: Manifest) -> dict[str, str]:
    """The hash of each table's file, as it stands on the disk."""
    return {name: sha256_of(folder / entry.file) for name, entry in manifest.tables.items()}


def _audit(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    task: Task,
    source_rows: Mapping[str, NDArray[np.int32]],
    draft: Draft | None = None,
    ledger: Ledger | None = None,
) -> Audit:
    """Audit tables, raise unless all is in order, and let the manifest say what was found.

    With a ledger, the series that the release would join is judged too.
    """
    shown = {c.name: set(c.text.to_list()) for table in tables.values() for c in table.sensitive}
    name_published_values(manifest, shown)
    audit = audit_tables(tables, manifest, task, source_rows)
    if draft is not None and ledger is not None:
        audit = with_series(audit, ledger, draft, tables, task.correlation)
    require_sound(audit)
    manifest.promises = [public_promise(promise, manifest) for promise in audit.promises]
    manifest.readers = [ReaderFinding(**one) for one in reader_findings(tables, manifest)]
    assert audit.tally is not None  # a release of the right form has one
    settle(manifest, audit.tally, audit.picture)
    return replace(audit, readers=tuple(manifest.readers))
