"""Make the release of a job in memory, and judge it as ``publish`` would.

The audit of its guarantees, the attacks of the chosen attackers and the verdict are those of
``publish``. What only finds defects of a method, the comparison of rows and orders, is left out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.api.job_changes import Problem
from discreet.attacks.registry import ATTACKS
from discreet.attacks.run import AttackReport
from discreet.errors import DiscreetError, InfeasibleError, JobError
from discreet.job.model import Job
from discreet.methods.base import Progress
from discreet.methods.unlinked.unlinked import Unlinked
from discreet.pipeline.prove import attack_reading, audit_reading, verify_attacks
from discreet.pipeline.record import ledger_for_reading
from discreet.pipeline.release import Proof, Release
from discreet.pipeline.run import make_release
from discreet.releases.analyst_errors import AnalystError, analyst_errors
from discreet.releases.measure import measure_release, read_utility
from discreet.report.risk_verdict import LOOK, READY, REFUSE, Review, RiskVerdict
from discreet.statements import Statement
from discreet.table.budgets import FIGURE_ROWS
from discreet.table.interrupts import OutOfTimeError, within
from discreet.table.roles import Role
from discreet.utility.figures import Measures

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

COARSE_LOSS = 0.3  # of quasi-identifiers, above which a release says too little
LINK = 0.3  # what it costs to lose the link of quasi-identifiers and sensitive attributes
LONGEST = 1e6  # seconds of the attacks of a trial without a time limit
_LEVEL = re.compile(r"\(level (\d+) of its hierarchy\)")  # in the aim of a finding


class Grade(IntEnum):
    """How good a trial is, the best first."""

    READY = 0
    LOOK = 1
    COARSE = 2  # ready to sign, but quasi-identifiers say little
    LOOK_AND_COARSE = 3
    REFUSED = 4
    IMPOSSIBLE = 5  # nothing can be published


@dataclass(frozen=True)
class Trial:
    """The release of a job: its verdict and its figures, or why there is none."""

    word: str | None  # None where nothing could be published
    reasons: tuple[str, ...]
    excess: float = 0.0  # by how much figures of risk are above the thresholds for a look
    loss: float | None = None  # of quasi-identifiers
    losses: Mapping[str, float] = field(default_factory=dict)  # by quasi-identifier
    count_error: AnalystError | None = None
    rows: int = 0  # of the source
    rows_lost: int = 0
    published: frozenset[str] = frozenset()  # attributes
    problems: frozenset[Problem] = frozenset()
    accused: tuple[str, ...] = ()  # sensitive attributes that it fails for, the worst first
    levels: Mapping[str, int] = field(default_factory=dict)  # of their hierarchies, where it does
    refused: tuple[str, ...] = ()
    linked: bool = True  # whether quasi-identifiers say anything about sensitive attributes
    seconds: float = 0.0

    @property
    def grade(self) -> Grade:
        """How far it is from a release that is ready to sign and says enough."""
        coarse = bool(self.problems & {Problem.EMPTY, Problem.COARSE})
        if self.word is None:
            return Grade.IMPOSSIBLE
        if self.word == REFUSE:
            return Grade.REFUSED
        if self.word == LOOK:
            return Grade.LOOK_AND_COARSE if coarse else Grade.LOOK
        return Grade.COARSE if coarse else Grade.READY

    @property
    def worse_counts(self) -> list[Statement]:
        """A sentence where counts are worse than without any link."""
        return [] if self.count_error is None else self.count_error.worse_counts

    @property
    def usable(self) -> bool:
        """Whether the verdict lets the release appear, and its quasi-identifiers say something."""
        return self.grade <= Grade.LOOK

    def of_larger_table(self, coarser: float) -> Trial:
        """Return the trial of a sample with the losses of the table, of which it loses more."""
        loss = None if self.loss is None else self.loss / coarser
        problems = self.problems
        if loss is not None and loss <= COARSE_LOSS:
            problems -= {Problem.COARSE, Problem.EMPTY}
        losses = {name: lost / coarser for name, lost in self.losses.items()}
        return replace(self, loss=loss, losses=losses, problems=problems)

    def cost(self, columns: Sequence[str]) -> float:
        """The share of the information of some columns that is lost, of the rows, and the link.

        Counts that are worse than without any link cost as much as they are worse.
        """
        lost = [1.0 if name not in self.published else self.losses.get(name, 0.0)
                for name in columns]  # fmt: skip
        link = 0.0 if self.linked else LINK
        if self.linked and self.count_error is not None:
            link = max(self.count_error.release - self.count_error.unlinked, 0.0)
        return float(np.mean(lost or [0.0])) + self.rows_lost / max(self.rows, 1) + link


def try_job(
    job: Job,
    data: Any,
    seed: int,
    seconds: float,
    progress: Progress,
    *,
    judged: Job | None = None,
    errors: bool = False,
) -> Trial | None:
    """Make a release of a job in memory, and judge it as ``publish`` would.

    None where it takes more than so many seconds. ``judged`` is the job that the verdict is about,
    where the release is made by a relaxed one. With ``errors``, counts of analysts are compared.
    """
    begun = time.monotonic()

    def work(tell: Progress) -> Trial:
        with ledger_for_reading(job) as ledger:
            try:
                release = make_release(data, job, seed=seed, progress=tell, ledger=ledger)
                # What changes of a job cannot repair does not count.
                release.job = (judged or job).confirmed()
                return _judged(release, begun + seconds, tell, ledger, errors)
            except DiscreetError as error:
                return _failed(job, error)

    try:
        trial = within(seconds, work, progress)
    except OutOfTimeError:
        return None
    return replace(trial, seconds=time.monotonic() - begun)


def _failed(job: Job, error: DiscreetError) -> Trial:
    """Why nothing can be published, as a trial."""
    if isinstance(error, InfeasibleError):
        shares = [failure.get("largest_shares") for failure in error.failures]
        names = [name for share in shares if isinstance(share, Mapping) for name in share]
        problems = frozenset(Problem) - {Problem.REFUSED, Problem.UNCOVERED}
        return Trial(None, (str(error),), problems=problems, accused=tuple(dict.fromkeys(names)))
    refused = _refused(job, error) if isinstance(error, JobError) else ()
    problems = frozenset({Problem.REFUSED} if refused else ())
    return Trial(None, (str(error),), problems=problems, refused=refused)


def _refused(job: Job, error: JobError) -> tuple[str, ...]:
    """The columns that ``publish`` refuses by their values."""
    places = {f"attributes.{name}: ": name for name in job.attributes}
    named = [
        name
        for problem in error.problems
        for place, name in places.items()
        if problem.startswith(place)
    ]
    return tuple(named) if len(named) == len(error.problems) else ()


def _judged(
    release: Release, ends: float, progress: Progress, ledger: Ledger | None, errors: bool
) -> Trial:
    manifest, formed, job = release.manifest, release.formed, release.job
    reading = formed.read(manifest)
    # Comparing rows and orders finds defects of a method, which no change of a job affects.
    reading.compared = False
    progress("audit", 0.0)
    audit = audit_reading(release, manifest, reading, ledger)
    verified = verify_attacks(job, reading, formed, manifest, progress)
    progress("measures", 0.0)
    measures = measure_release(
        reading.tables, formed.original, manifest, divergence=False,
        source_rows=formed.source_rows(),
    )  # fmt: skip
    utility = measures.to_dict(private=True) if job.measure.figures else {}
    release.adopt(Proof(reading, manifest, audit, utility, verified, True), manifest)
    # The attacks of the chosen attackers decide the verdict: they run to their end, or not at all.
    chosen = set(job.attackers.chosen(ledger=job.ledger is not None).names)
    attacks = attack_reading(
        job, reading, formed, manifest, progress,
        attacks=[kind() for kind in ATTACKS.values() if set(kind.attackers) & chosen],
        seconds=max(min(ends - time.monotonic(), LONGEST), 0.001),
    )  # fmt: skip
    if any(getattr(why, "id", "").startswith("omitted.time") for why in attacks.omitted.values()):
        raise OutOfTimeError
    release.review = Review(attacks)
    verdict = release.verdict()
    # What analysts lose, and what keeps the release from being ready to sign.
    count_error = None
    if errors and 0 < formed.original.table.rows <= FIGURE_ROWS:
        progress("errors", 0.0)
        utilities = read_utility(reading.tables, formed.original, manifest)
        count_error = analyst_errors(
            utilities.original, utilities.for_analysts, utilities.weights
        ).counts
    accused = _accused(attacks, job)
    losses = measures.loss_by_attribute if isinstance(measures, Measures) else {}
    problems = _problems(verdict)
    if measures.loss is not None and measures.loss > COARSE_LOSS:
        problems |= {Problem.COARSE}
    return Trial(
        verdict.word,
        tuple(verdict.reasons),
        excess=_excess(verdict, job),
        loss=measures.loss,
        losses=dict(losses),
        count_error=count_error,
        rows=manifest.source_rows,
        rows_lost=manifest.suppressed_rows,
        published=frozenset(name for name, one in job.attributes.items() if one.role.published),
        problems=problems,
        accused=tuple(accused),
        levels={name: level for name, level in accused.items() if level},
        linked=job.method.name != Unlinked.name,
    )


def _excess(verdict: RiskVerdict, job: Job) -> float:
    """By how much figures are above the thresholds for a look; remarks count a little."""
    limits = job.sign_off
    above = [
        max(figure.value - getattr(limits, figure.key).look, 0.0)
        for figure in verdict.worst_figures
    ]
    return float(sum(above)) + 0.1 * len(verdict.remarks)


def _problems(verdict: RiskVerdict) -> frozenset[Problem]:
    problems = {Problem(one.key) for one in verdict.figures if one.word != READY}
    ids = {getattr(remark, "id", "") for remark in verdict.remarks}
    if "verdict.empty" in ids:
        problems.add(Problem.EMPTY)
    if ids & {"uncovered", "promises.none"}:
        problems.add(Problem.UNCOVERED)
    return frozenset(problems)


def _accused(attacks: AttackReport, job: Job) -> dict[str, int]:
    """Sensitive attributes of which an attacker learns values, the worst first.

    By attribute, the highest level of its hierarchy at which too much is learned; 0 for values.
    """
    worst: dict[str, tuple[float, int]] = {}
    limit = job.sign_off.believed.look
    for finding in attacks.about_values:
        gained = max(finding.newly_above, finding.newly_certain) / max(finding.targets, 1)
        for name in job.with_role(Role.SENSITIVE):
            if finding.aim == name or finding.aim.startswith((f"{name} (", f"{name}=")):
                level = _LEVEL.search(finding.aim.removeprefix(name))
                at = 0 if level is None else int(level[1])
                before, highest = worst.get(name, (0.0, 0))
                if gained > limit:  # a bound at a level holds below it too
                    highest = max(highest, at)
                if gained > limit / 4:  # smaller groups may make them worse
                    worst[name] = max(before, gained), highest
    ordered = sorted(worst.items(), key=lambda item: (-item[1][0], item[0]))
    return {name: level for name, (gained, level) in ordered if gained}
