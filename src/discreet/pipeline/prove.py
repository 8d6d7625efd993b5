"""Prove a release before it appears: audit it, attack it, and collect what its signer must see."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import __version__
from discreet.attacks.base import TOLERANCE
from discreet.attacks.registry import attacks_inside
from discreet.errors import AuditError
from discreet.job.model import Job
from discreet.methods.base import Progress
from discreet.pipeline.engine import FormedTables, Reading
from discreet.pipeline.manifest_draft import name_published_values
from discreet.pipeline.prepare import prepare, prepare_population
from discreet.pipeline.release import Release
from discreet.releases.analyst_errors import AnalystErrors, analyst_errors
from discreet.releases.audit.audit import Audit, require_sound
from discreet.releases.audit.figures import settle
from discreet.releases.audit.files import hash_of_table
from discreet.releases.audit.shards import public_promise
from discreet.releases.manifest import Manifest
from discreet.releases.measure import read_utility
from discreet.report.risk_verdict import Review, SampledRows
from discreet.statements import Statement
from discreet.table.budgets import FIGURE_ROWS
from discreet.table.coded_table import Column
from discreet.table.interrupts import interruptible, timing

if TYPE_CHECKING:
    from discreet.attacks.base import RowAtRisk
    from discreet.attacks.run import AttackReport
    from discreet.knowledge.population import Population
    from discreet.ledger.ledger import Ledger
    from discreet.releases.column_shapes import ColumnShapes


def audit_reading(
    release: Release, manifest: Manifest, reading: Reading, ledger: Ledger | None
) -> Audit:
    """Audit tables, raise unless every check passes, and write the findings into the manifest.

    With a ledger, the series that the release would join is judged too.
    """
    name_published_values(manifest, reading.values)
    audit = reading.audit(manifest)
    if release.draft is not None and ledger is not None:
        from discreet.pipeline.series import with_series

        correlation = release.task.past.correlation
        audit = with_series(audit, ledger, release.draft, reading, correlation)
    require_sound(audit)
    manifest.promises = [public_promise(promise, manifest) for promise in audit.promises]
    manifest.readers = list(audit.readers)
    assert audit.tally is not None  # a release of the right form has one
    settle(manifest, audit.tally, audit.picture)
    manifest.singling_out = audit.singling_out
    return audit


@contextmanager
def hashing(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Hash the written files for the manifest, in parallel with the block."""
    places = {name: folder / entry.file for name, entry in manifest.tables.items()}
    with ThreadPoolExecutor(1) as pool:
        hashes = {name: pool.submit(hash_of_table, place) for name, place in places.items()}
        yield
        for name, digest in hashes.items():
            manifest.tables[name].sha256 = digest.result()


SAMPLED = 10  # rows that are shown before and after
SHOWN_COLUMNS = 8
NOT_ASKED = Statement("not-attacked.not-asked")


def verify_attacks(
    job: Job,
    reading: Reading,
    formed: FormedTables,
    manifest: Manifest,
    progress: Progress,
) -> AttackReport | None:
    """Run the attacks that a job asks for; raise where one exceeds its bound. None without attacks.

    The bound is the job's ceiling, or the one that the release guarantees.
    """
    wanted = job.verify
    if wanted is None:
        return None
    attacks = wanted.attacks if wanted.attacks is not None else attacks_inside()
    report = attack_reading(job, reading, formed, manifest, progress, attacks=attacks)
    # A belief may exceed the job's ceiling where it keeps what the release guarantees.
    too_far = []
    for finding in report.findings:
        broken = finding.inside and finding.exceeded
        if broken or (finding.is_belief and finding.greatest > wanted.ceiling + TOLERANCE):
            promised = broken and finding.bound is not None
            limit = f"the promised {finding.bound:.6g}" if promised else None
            too_far.append(
                f"\n  - {finding.title} on {finding.shown_aim}: an attacker who "
                f"{finding.knowledge} reaches a belief of {finding.greatest:.6g}, above "
                f"{limit or f'the ceiling of {wanted.ceiling:.6g}'}"
            )
    if too_far:
        raise AuditError(
            f"The release was not published: attacks go too far.{''.join(too_far)}\nAsk for "
            "stronger requirements, or raise the ceiling in 'verify'."
        )
    return report


def attack_reading(
    job: Job,
    reading: Reading,
    formed: FormedTables,
    manifest: Manifest,
    progress: Progress,
    **options: Any,
) -> AttackReport:
    """Run attacks with the population that a job names for them, or for all that it asks."""
    from discreet.attacks.run import run_attacks

    wanted = job.verify
    path = job.population
    if wanted is not None and wanted.population is not None:
        path = wanted.population
    return run_attacks(
        reading.tables,
        formed.original,
        manifest,
        population=None if path is None else read_population(job.folder / path, job),
        source_rows=formed.source_rows(),
        threshold=0.5 if wanted is None else wanted.threshold,
        progress=progress,
        **options,
    )


def read_population(path: Path, job: Job) -> Population:
    """The population of a job file, or of a table that is read as the job reads its own."""
    from discreet.knowledge.population import Population

    if path.suffix in (".yaml", ".yml"):
        task = prepare(Job.load(path))
        return Population(task.table, task.hierarchies)
    return Population(*prepare_population(job, path))


def review_release(
    release: Release,
    manifest: Manifest,
    reading: Reading,
    seconds: float | None,
    progress: Progress,
    described: bool = True,
) -> Review:
    """Attack a release within some seconds, or not at all, and describe it for its signer.

    Without a report, a release is not described: the verdict needs its attacks alone.
    """
    formed, job = release.formed, release.job
    facts = _provenance(release)
    reason: str | None = NOT_ASKED if seconds is None else None
    if formed.in_parts:
        reason = reason or _too_much_in_parts(formed, manifest)
        if reason is not None:
            return Review(not_attacked=reason, facts=facts)
    attacks = None
    timings = release.private["timings"]
    if seconds is not None:
        listed = formed.source_rows() is not None
        about = job.attackers.chosen(ledger=job.ledger is not None).names
        with timing(timings, "attack"):
            attacks = attack_reading(
                job, reading, formed, manifest, progress, seconds=seconds, list_rows=listed,
                about=about,
            )  # fmt: skip
        release.private["attack_timings"] = dict(attacks.timings)
    if not described:
        return Review(attacks, reason or "", facts=facts)
    # Errors of analysts, but not where p2 of a large table takes as long as a method.
    errors = shapes = None
    original = formed.original.table
    measured = job.measure.divergence and job.measure.figures
    if measured and 0 < original.rows <= FIGURE_ROWS:
        with timing(timings, "errors of analysts"):
            errors, shapes = interruptible(lambda: _kept(formed, manifest, reading))
    columns = [
        (column.name, str(column.role), original[column.name].cardinality, column.cardinality)
        for table in reading.tables.values()
        for column in table
        if column.name in original.columns
    ]
    samples = tuple(_samples(formed, reading))
    return Review(attacks, reason or "", errors, shapes, samples, columns, facts)


def _too_much_in_parts(formed: FormedTables, manifest: Manifest) -> str | None:
    """Why a release in parts is not attacked on this machine; None where it is."""
    if manifest.keeps_rows and formed.source_rows() is None:
        return Statement("not-attacked.unknown-persons")
    if manifest.source_rows <= FIGURE_ROWS:
        return None
    return Statement("not-attacked.large", rows=manifest.source_rows, most=FIGURE_ROWS)


def _kept(
    formed: FormedTables, manifest: Manifest, reading: Reading
) -> tuple[AnalystErrors, ColumnShapes]:
    """Return the errors of analysts who use the release, and the shapes of its columns."""
    from discreet.releases.column_shapes import ColumnShapes  # importing it takes time

    utility = read_utility(reading.tables, formed.original, manifest)
    errors = analyst_errors(utility.original, utility.for_analysts, utility.weights)
    return errors, ColumnShapes.of(utility.original, utility.for_analysts)


def _samples(formed: FormedTables, reading: Reading) -> Iterator[SampledRows]:
    """Some published rows, with the quasi-identifiers that they have in the source."""
    original, rows = formed.original.table, formed.source_rows() or {}
    for name, table in reading.tables.items():
        quasi = [c for c in table.quasi_identifiers if c.name in original.columns]
        if name not in rows or not quasi or not table.rows or len(rows[name]) != table.entries:
            continue
        chosen = np.random.default_rng().choice(
            table.entries, min(SAMPLED, table.entries), replace=False
        )
        shown = quasi[:SHOWN_COLUMNS]
        yield SampledRows(
            name,
            [column.name for column in shown],
            [
                [
                    (_cell(original[column.name], int(rows[name][row])), _cell(column, int(row)))
                    for column in shown
                ]
                for row in chosen
            ],
        )


def _cell(column: Column, row: int) -> str:
    value = column.text[int(column.codes[row])]
    return "(missing)" if value is None else str(value)


def _provenance(release: Release) -> dict[str, str]:
    job = release.job
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    facts = {"made-by": f"discreet {__version__}", "date": date}
    if job.source is not None and job.source.path is not None:
        facts["source"] = Path(job.source.path).name
    if "source_sha256" in release.private:
        facts["source-sha256"] = release.private["source_sha256"]
    written = job.model_dump_json(exclude_none=True).encode()
    facts["job-sha256"] = hashlib.sha256(written).hexdigest()
    facts["engine"] = str(release.private.get("engine", ""))
    return facts


def risk_file(at_risk: tuple[RowAtRisk, ...]) -> str:
    """``RELEASE.private.rows.csv``: the rows at risk by their number in the source."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "attribute", "attacker_knows", "belief"])
    writer.writerows((row, name, knows, f"{belief:.4f}") for row, name, knows, belief in at_risk)
    return text.getvalue()
