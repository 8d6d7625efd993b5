"""The main job on one page, for the command line, for Python and for every engine:

    read → prepare → run the method → form tables → write → read back → audit → measure →
    explain → attack → decide → put in place → record

``make_release`` goes as far as the formed tables, ``prove_release`` audits, measures and attacks
them as they are read back, ``save_release`` writes files and proves them. A release that fails, or
whose verdict is *Do not publish*, never appears.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from discreet.io.atomic import release_place
from discreet.io.signatures import SigningKey
from discreet.io.writing import OutputFormat, require_format
from discreet.job.model import Job
from discreet.job.value_spellings import spelling_warnings
from discreet.methods.base import Progress, no_progress
from discreet.pipeline.decide import (
    JOB_FILE,
    clear_refused,
    decide,
    require_reason,
    write_explanation,
    write_private_files,
)
from discreet.pipeline.engine import Engine, Reading
from discreet.pipeline.expected_cost import announce_cost
from discreet.pipeline.manifest_draft import advising_to_spare, draft_manifest, protected_alike
from discreet.pipeline.one_machine import OneMachine
from discreet.pipeline.prepare import prepare_task, require_publishable
from discreet.pipeline.prove import audit_reading, hashing, review_release, verify_attacks
from discreet.pipeline.read import reading_notices
from discreet.pipeline.record import (
    announced,
    ledger_for_writing,
    locked_ledger,
    require_ledger,
)
from discreet.pipeline.release import ATTACK_SECONDS, Proof, Release, private_facts
from discreet.releases.manifest import Manifest
from discreet.table.counts import fixed_order
from discreet.table.interrupts import timing

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


class Saving(TypedDict, total=False):
    """How a release is saved."""

    format: OutputFormat | None
    force: bool
    report: bool
    sign: SigningKey | str | Path | None
    attack: float | None
    accept_risk: str | None
    job_file: Path | str


def make_release(
    data: Any,
    job: Job,
    *,
    seed: int | None = None,
    progress: Progress = no_progress,
    ledger: Ledger | None = None,
    engine: Engine[Any, Any] | None = None,
    attack_seconds: float = 0.0,
) -> Release:
    """Run a job's method and form the tables; ``publish`` and ``save`` prove them.

    ``attack_seconds`` are those of the attacks that follow, for the expected cost alone.
    """
    engine = engine or OneMachine()
    engine.require_supported(job)
    require_ledger(job)
    seed, timings = secrets.randbits(64) if seed is None else seed, dict[str, float]()
    rng = np.random.default_rng(seed)
    with timing(timings, "prepare"):
        source = engine.read(job, data, ledger, progress)  # codes (rows,) and a dictionary a column
        announce_cost(progress, source.table, job.method.name, attack_seconds=attack_seconds)
        task = prepare_task(job, source, rng=rng, progress=progress, ledger=ledger)
        require_publishable(job, task, source)  # the source, hierarchies, requirements, history
        task = replace(task, orders=rng) if fixed_order() else task
    with timing(timings, "method"), advising_to_spare(job):
        outcome = engine.run(job, task, source, seed)  # the class or group of each row
        tables = engine.form(job, task, source, outcome)  # cells (classes,) or values (rows,)
    draft = engine.draft(job, ledger, tables, outcome)  # people and groups, for the ledger
    manifest = draft_manifest(job, tables)
    manifest.recorded = None if draft is None else True
    private = {"seed": seed, "engine": engine.name, "timings": timings}
    private |= private_facts(source, tables, draft)
    told = {
        "stricter": protected_alike(job, manifest),
        "notices": reading_notices(job, data, source.table),
        "spellings": list(spelling_warnings(task.table)),
    }
    private |= {key: sentences for key, sentences in told.items() if sentences}
    return Release(manifest, tables, job, private, draft)


def prove_release(
    release: Release,
    progress: Progress = no_progress,
    ledger: Ledger | None = None,
    *,
    measured: bool = True,
) -> Release:
    """Audit, measure and attack the tables of a release as they would be published."""
    manifest = release.manifest
    reading = release.formed.read(manifest)  # codes (rows,) of published cells
    release.adopt(_prove(release, manifest, reading, progress, ledger, measured), manifest)
    return release


def save_release(
    release: Release,
    path: Path,
    *,
    format: OutputFormat | None = None,
    force: bool = False,
    report: bool = True,
    progress: Progress = no_progress,
    ledger: Ledger | None = None,
    sign: SigningKey | str | Path | None = None,
    attack: float | None = ATTACK_SECONDS,
    accept_risk: str | None = None,
    forget: bool = False,
    held: bool = False,
    job_file: Path | str = JOB_FILE,
) -> Path:
    """Write a release beside its place, prove the written files, and put it in place.

    ``attack`` is the time limit, in seconds, of the attacks that the verdict rests on; None for no
    attack. ``accept_risk`` is the reason to publish a release whose verdict is *Do not publish*,
    which otherwise never appears. ``forget`` frees the memory of the tables once they are written.
    ``held`` says that the place is private, and that the release leaves it only with a reason.
    ``job_file`` is the file of the job, for advice.
    """
    reason = require_reason(accept_risk)
    key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
    tables, manifest = release.formed, release.manifest.model_copy(deep=True)
    timings = release.private["timings"]
    with locked_ledger(release.draft, ledger, path) as ledger:

        @contextmanager
        def taking_place(partial: Path) -> Iterator[None]:  # put in place, and record
            by_url = tables.writing_by_url(release.job, manifest, force)
            with by_url, announced(release.draft, ledger, partial, path, accepted):
                yield

        with release_place(path, force=force, moving=taking_place) as folder:
            with timing(timings, "write"):  # a file a table
                tables.write(folder, format or tables.usual_format, manifest, progress)
            if forget and release.job.output.url is None:
                tables.forget_cells()
            with hashing(folder, manifest):
                with timing(timings, "read back"):  # codes (rows,) of cells
                    reading = tables.read_back(folder, manifest, progress)
                proof = release.proof_of(reading)  # of publish(), if the files have the same cells
                proof = proof or _prove(release, manifest, reading, progress, ledger)
            language = release.job.output.language
            with timing(timings, "explain"):
                write_explanation(folder, manifest, proof.audit.picture, report, key, language)
            release.review = review_release(release, manifest, reading, attack, progress, report)
            accepted = decide(
                release, manifest, proof, path, reason, report=report, held=held, job_file=job_file
            )
    reading.moved_to(path.absolute())
    release.adopt(proof, manifest)
    write_private_files(path, release, report)
    clear_refused(path)
    return path


def _prove(
    release: Release,
    manifest: Manifest,
    reading: Reading,
    progress: Progress,
    ledger: Ledger | None,
    measured: bool = True,
) -> Proof:
    """Prove the tables that were read, and write the findings into the manifest."""
    timings = release.private["timings"]
    progress("audit", 0.0)
    with timing(timings, "audit"):
        audit = audit_reading(release, manifest, reading, ledger)  # verdicts, all hold
    utility: dict[str, Any] | None = {} if measured else None
    if measured and release.job.measure.figures:
        progress("measures", 0.0)
        with timing(timings, "measure"):
            utility = reading.measure(manifest, release.job.measure)  # figures by name
    with timing(timings, "verify"):
        attacks = verify_attacks(release.job, reading, release.formed, manifest, progress)
    judged = ledger is not None or release.draft is None
    return Proof(reading, manifest, audit, utility, attacks, judged)


def publish_folder(
    data: Any,
    job: Job,
    path: Path,
    *,
    engine: Engine[Any, Any] | None = None,
    seed: int | None = None,
    progress: Progress = no_progress,
    **saving: Unpack[Saving],
) -> Release:
    """Publish a job's table, or the one given, to a folder in one go."""
    require_format(saving.get("format"))
    require_reason(saving.get("accept_risk"))
    with ledger_for_writing(job, path) as ledger:
        release = make_release(
            data, job, seed=seed, progress=progress, ledger=ledger, engine=engine,
            attack_seconds=saving.get("attack", ATTACK_SECONDS) or 0.0,
        )  # fmt: skip
        save_release(release, path, progress=progress, ledger=ledger, forget=True, **saving)
    return release
