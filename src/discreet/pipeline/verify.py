"""Attacking a release before it appears."""

from __future__ import annotations

from pathlib import Path

from discreet.attacks.base import TOLERANCE, Finding
from discreet.attacks.inference.population import Population
from discreet.attacks.registry import attacks_inside
from discreet.attacks.run import AttackReport, run_attacks
from discreet.errors import AuditError
from discreet.job.model import Job
from discreet.methods.base import Progress
from discreet.pipeline.engine import FormedTables, Reading
from discreet.pipeline.prepare import prepare, prepare_population
from discreet.releases.manifest import Manifest


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
    population = None
    if wanted.population is not None:
        population = read_population(job.folder / wanted.population, job)
    report = run_attacks(
        reading.tables,
        formed.original,
        manifest,
        attacks=wanted.attacks if wanted.attacks is not None else attacks_inside(),
        population=population,
        source_rows=formed.source_rows(),
        threshold=wanted.threshold,
        progress=progress,
    )
    too_far = [
        _sentence(finding, wanted.ceiling)
        for finding in report.findings
        if (finding.inside and finding.exceeded)
        or (finding.is_belief and finding.greatest > wanted.ceiling + TOLERANCE)
    ]
    if too_far:
        listed = "".join(f"\n  - {line}" for line in too_far)
        raise AuditError(
            f"The release was not published: attacks go too far.{listed}\nAsk for stronger "
            "requirements, or raise the ceiling in 'verify'."
        )
    return report


def read_population(path: Path, job: Job) -> Population:
    """The population of a job file, or of a table that is read as the job reads its own."""
    if path.suffix in (".yaml", ".yml"):
        task = prepare(Job.load(path))
        return Population(task.table, task.hierarchies)
    return Population(*prepare_population(job, path))


def _sentence(finding: Finding, ceiling: float) -> str:
    limit = (
        f"the promised {finding.bound:.6g}"
        if finding.inside and finding.exceeded and finding.bound is not None
        else f"the ceiling of {ceiling:.6g}"
    )
    return (
        f"{finding.title} on {finding.shown_aim}: an attacker who {finding.knowledge} reaches a "
        f"belief of {finding.greatest:.6g}, above {limit}"
    )
