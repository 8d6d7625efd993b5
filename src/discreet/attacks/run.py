"""Running attacks on a release, and what they found together."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import (
    EXCEEDED,
    LINES,
    NO_BETTER,
    NO_GUARANTEE,
    TARGETS,
    Attack,
    Criterion,
    Finding,
    RowAtRisk,
    RowsAtRisk,
    Scene,
    drawn_targets,
)
from discreet.attacks.downcoding import pinned_sentences
from discreet.attacks.registry import ATTACKS, all_attacks
from discreet.attacks.risk import Risk, list_rows_at_risk, risks_of, risks_of_persons
from discreet.attacks.views import PersonView
from discreet.errors import InputError
from discreet.knowledge.population import Population
from discreet.methods.base import Progress, Task, no_progress
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.persons import persons_of_tables
from discreet.releases.audit.shards import domains_of
from discreet.releases.manifest import Manifest, SinglingOut
from discreet.releases.registry import kind_of
from discreet.releases.singling_out import RATE, singling_out, singling_sentences
from discreet.result import Result
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable
from discreet.table.interrupts import OutOfTimeError, TimeBudget, interruptible, timing
from discreet.table.roles import Unit

SEED = 0  # of sampled targets and worlds, so that a report can be repeated
OTHERS = 0.07  # of a time limit, for attackers that the verdict is not about
SHOWN = 0.5  # seconds from which a step is printed
KEPT = 0.3  # of an attack's time, to estimate what does not end in the rest


@dataclass(frozen=True)
class AttackReport(Result):
    """What every attack on a release found."""

    findings: tuple[Finding, ...]
    inapplicable: Mapping[str, str]  # attack: why not
    risks: tuple[Risk, ...]
    threshold: float
    persons: int | None = None  # who have several published rows each, where guarantees count them
    rows: int | None = None  # published rows of these persons
    omitted: Mapping[str, str] = field(default_factory=dict)  # what applies and was left out: why
    seconds: float | None = None  # time limit of all attacks together
    at_risk: tuple[RowAtRisk, ...] | None = None  # rows of the source; None where not listed
    estimated: int | None = None  # targets that were drawn for each finding with intervals
    tried: frozenset[str] = frozenset()  # names of attacks, also of those that do not apply
    singling_out: SinglingOut | None = None  # who is unique by published cells
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)  # seconds by step

    @property
    def ok(self) -> bool:
        """Whether no belief exceeds what the release guarantees."""
        return not any(finding.inside and finding.exceeded for finding in self.findings)

    @property
    def about_values(self) -> list[Finding]:
        """The findings about sensitive values, the most severe first."""
        about = [f for f in self.findings if f.is_belief and not isinstance(f.aim, Statement)]
        return sorted(about, key=lambda finding: finding.severity, reverse=True)

    def not_run(self, attacker: StandardAttacker) -> dict[str, str]:
        """What was left out of the attacks of an attacker: why."""
        own_attacks = {name for name, kind in ATTACKS.items() if attacker in kind.attackers}
        untried = dict.fromkeys(sorted(own_attacks - self.tried), Statement("omitted.not-tried"))
        left_out = {
            name: why
            for name, why in self.omitted.items()
            if name == attacker or name.partition(" (")[0] in own_attacks
        }
        return untried | left_out

    @property
    def strongest(self) -> Finding | None:
        """The attacker whom the release helps most to learn a sensitive value."""
        return next(iter(self.about_values), None)

    @property
    def worst(self) -> list[Finding]:
        """The worst attacker for each aim and background knowledge, the most severe first."""
        best: dict[tuple[str, str], Finding] = {}
        for finding in sorted(self.findings, key=lambda ranked: ranked.severity, reverse=True):
            if finding.is_belief or finding.criterion is Criterion.INFERENCE:
                best.setdefault((finding.aim, finding.also_knows), finding)
        return list(best.values())

    @property
    def by_criterion(self) -> dict[Criterion, Finding | None]:
        """The worst attacker for each criterion of the Article 29 Working Party; None if none."""
        ranked = sorted(self.findings, key=lambda finding: finding.severity, reverse=True)
        return {
            criterion: next((finding for finding in ranked if finding.criterion is criterion), None)
            for criterion in Criterion
        }

    @property
    def pinned(self) -> list[Statement]:
        """What generalized cells give away, a sentence for each table."""
        return pinned_sentences(self.findings)

    @property
    def summary(self) -> Statement:
        """The strongest attacker, in one sentence."""
        worst = self.strongest
        if worst is None:
            return Statement("summary.none-applies")
        if worst.verdict == NO_BETTER:
            return Statement("summary.none-learns")
        learned: dict[str, Any] = {"greatest": worst.greatest}
        if worst.newly_certain:
            learned = {"certain": worst.newly_certain, "targets": worst.targets}
        coverage = Statement("coverage.none")
        if worst.verdict != NO_GUARANTEE:
            form = "coverage.exceeded" if worst.verdict == EXCEEDED else "coverage.within"
            coverage = Statement(form, bound=worst.bound or 0.0)
        return Statement(
            f"summary.{'certain' if worst.newly_certain else 'believed'}.{worst.unit.plural}",
            attack=worst.attack, knowledge=worst.knowledge, aim=worst.aim, mean=worst.mean,
            baseline=worst.baseline, coverage=coverage, **learned,
        )  # fmt: skip

    @property
    def counted(self) -> Statement | None:
        """The unit of the targets, where a person may have several published rows."""
        if self.persons is None:
            return None
        by_row = sorted({f.attack for f in self.findings if f.unit is Unit.ROW})
        counts = {"rows": self.rows or 0, "persons": self.persons}
        if by_row:
            return Statement("attack.targets-people.some-rows", attacks=by_row, **counts)
        return Statement("attack.targets-people", **counts)

    @property
    def drawn(self) -> Statement | None:
        """How figures were estimated; None where they were not."""
        if self.estimated is None:
            return None
        return Statement("attack.estimated", targets=self.estimated, rate=RATE)

    @property
    def omissions(self) -> list[Statement]:
        """What was left out of the attacks, and why."""
        return [
            Statement("attack.omitted", attack=name, reason=why)
            for name, why in self.omitted.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "ok": self.ok,
            "summary": self.summary,
            "threshold": self.threshold,
            **({} if self.persons is None else {"persons": self.persons, "rows": self.rows}),
            "seconds": self.seconds,
            **({} if self.estimated is None else {"estimated": self.estimated}),
            "findings": [finding.to_dict() for finding in self.findings],
            "criteria": {
                criterion: None if worst is None else worst.title
                for criterion, worst in self.by_criterion.items()
            },
            "inapplicable": dict(self.inapplicable),
            "omitted": dict(self.omitted),
            "timings": dict(self.timings),
            "risks": [risk.to_dict() for risk in self.risks],
            **(
                {}
                if self.singling_out is None
                else {"singling_out": self.singling_out.model_dump(mode="json", exclude_none=True)}
            ),
        }

    def lines(self) -> list[str]:
        """Return the worst attackers, one line for each aim and background knowledge."""
        shown = self.worst[:LINES]
        aims = max([3, *(len(_short(f.aim)) for f in shown)])
        knows = max([19, *(len(f.also_knows) for f in shown)])
        names = max([8, *(len(f.attacker) for f in shown)])
        lines = [
            f"{'aim':{aims}}  {'attacker':{names}}  {'attacker also knows':{knows}}  "
            f"{'newly certain':>15}  {'most':>6}  "
            f"{'mean':>6}  {'without':>7}  verdict"
        ]
        for f in shown:
            certain = f"{f.newly_certain:,}/{f.targets:,}" if f.is_belief else "–"
            interval = ""
            if f.mean_interval is not None:
                interval = f" (mean {f.mean_interval[0]:.1%} to {f.mean_interval[1]:.1%})"
            lines.append(
                f"{_short(f.aim):{aims}}  {f.attacker:{names}}  {f.also_knows or '–':{knows}}  "
                f"{certain:>15}  "
                f"{f.greatest:>6.1%}  {f.mean:>6.1%}  {f.baseline:>7.1%}  {f.verdict}{interval}"
            )
        return [*lines, *self.pinned]

    def table(self, findings: Sequence[Finding]) -> list[str]:
        """Return some findings as the lines of a table."""
        wide = max([12, *(len(f.title) for f in findings)])
        aims = max([12, *(len(_short(f.shown_aim)) for f in findings)])
        lines = [
            f"{'attack':{wide}} {'aim':{aims}} {'targets':>9} {'mean':>6} {'max':>6} "
            f"{'>' + format(self.threshold, 'g'):>6} {'base':>6} {'bound':>6}  verdict"
        ]
        for f in findings:
            bound = "–" if f.bound is None else f"{f.bound:.3f}"
            how = f" ({f.method})" if f.method != "exact" else ""
            how += ", of rows" if self.persons is not None and f.unit is Unit.ROW else ""
            lines.append(
                f"{f.title:{wide}} {_short(f.shown_aim):{aims}} {f.targets:>9,} {f.mean:>6.3f} "
                f"{f.greatest:>6.3f} {f.above:>6.3f} {f.baseline:>6.3f} {bound:>6}  "
                f"{f.verdict}{how}"
            )
        return lines

    def __str__(self) -> str:
        lines = [
            self.summary,
            *filter(None, [self.counted, self.drawn]),
            "",
            *self.table(self.findings),
        ]
        lines += ["", "re-identification        prosecutor  marketer  unique"]
        for r in self.risks:
            tail = "" if r.journalist is None else f"   journalist {r.journalist:.4f}"
            lines.append(
                f"{r.table:24} {r.prosecutor:>10.4f} {r.marketer:>9.4f} {r.unique:>7.3f}{tail}"
            )
        if self.singling_out is not None:
            lines += ["", *singling_sentences(self.singling_out)]
        slowest = sorted(self.timings.items(), key=lambda item: -item[1])
        shown = [f"{name} {seconds:.1f} s" for name, seconds in slowest if seconds >= SHOWN]
        lines += [f"time: {', '.join(shown)}"] if shown else []
        lines += [f"left out: {name} ({why})" for name, why in self.omitted.items()]
        lines += [f"not run: {name} ({why})" for name, why in self.inapplicable.items()]
        return "\n".join(lines)


def run_attacks(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    *,
    attacks: Sequence[Attack] | None = None,
    population: Population | None = None,
    source_rows: Mapping[str, NDArray[np.int32]] | None = None,
    threshold: float = 0.5,
    seconds: float | None = None,
    about: Collection[StandardAttacker] = (),
    list_rows: bool = False,
    quick: bool = False,
    progress: Progress = no_progress,
) -> AttackReport:
    """Run some attacks, or all, on published tables within some seconds by the clock.

    The attackers that the verdict is ``about`` come first; others get ``OTHERS`` of the time. What
    does not end in time is estimated from drawn targets, and the report says so.
    ``source_rows``, the original's row behind each published row, is needed where a person may
    have several: the targets are then persons. ``list_rows`` also lists the rows at risk. With
    ``quick``, the attacks whose figures follow from single targets estimate them from some.
    """
    budget, timings = TimeBudget(seconds), dict[str, float]()
    rng = np.random.default_rng(SEED)
    persons = _person_views(tables, manifest, task, source_rows) if manifest.keeps_rows else None
    progress("reading the release", 0.0)
    readings: Sequence[AdversaryView] = ()
    unread = False  # where time is up before any attack: nothing is said of any attacker

    def read() -> list[AdversaryView]:
        views = kind_of(manifest.kind).adversary_views(tables, task, manifest, rng)
        if quick:  # worlds are counted for the groups of the targets
            views = [drawn_targets(view, rng) for view in views]
        # Exact weights of the groups of the targets, where these are countable.
        return [
            replace(view, placement=view.placement.counted(view.place_of_target)) for view in views
        ]

    with timing(timings, "reading"):
        try:
            if persons is None or kind_of(manifest.kind).makes_alike:
                readings = interruptible(read, budget.left if budget.limited else None)
        except OutOfTimeError:
            unread = True
    scene = Scene(
        manifest, tables, task, readings, domains_of(tables, manifest), population, threshold, rng,
        progress, persons, at_risk=RowsAtRisk() if list_rows else None, quick=quick,
    )  # fmt: skip
    # Figures that follow from the groups alone.
    with timing(timings, "singling out"):
        unique = interruptible(lambda: _singling_out(tables, manifest, persons))
    with timing(timings, "re-identification"):
        risks = interruptible(lambda: _risks(scene))
    scene = scene.drawn() if quick else scene
    # Attacks: those that the verdict is about, then those of others; within both the fast first.
    chosen = all_attacks() if attacks is None else list(attacks)
    of_others = {
        candidate.name
        for candidate in chosen
        if about and not set(about) & set(candidate.attackers)
    }
    chosen.sort(key=lambda attack: (attack.name in of_others, attack.slow))
    findings: list[Finding] = []
    inapplicable: dict[str, str] = {}
    runs = []
    for attack in chosen:
        if unread and attack.reads(scene.kind):
            attack.omit(scene, "", Statement("omitted.time", seconds=seconds))
            continue
        reason = attack.inapplicable(scene)
        if reason is not None:
            inapplicable[attack.name] = reason
        elif (reason := _unassessed(attack, scene)) is not None:
            attack.omit(scene, "", reason)
        elif quick and not attack.quick:
            attack.omit(scene, "", Statement("omitted.not-quick"))
        else:
            runs.append(attack)
    rest = budget
    for number, attack in enumerate(runs):
        progress(attack.name, number / len(runs))
        if attack.name in of_others and rest is budget:
            rest = TimeBudget(min(budget.left, seconds * OTHERS)) if seconds else budget
        parts = sum(
            (candidate.name in of_others) == (rest is not budget) for candidate in runs[number:]
        )
        part = rest.part(max(parts, 1) if attack.slow else min(parts, 2))
        with timing(timings, attack.name):
            run = _Run(attack, scene, part, number / len(runs), 1 / len(runs))
            findings += run.findings(seconds)
    _omit_attackers(chosen, scene)
    listed = None
    if scene.at_risk is not None:
        with timing(timings, "rows at risk"):
            listed = _listed(scene, budget, seconds)
    return AttackReport(
        tuple(findings), inapplicable, tuple(risks), threshold, omitted=dict(scene.omitted),
        seconds=seconds, at_risk=listed,
        persons=None if persons is None else max(view.persons.count for view in persons),
        rows=None if persons is None else max(len(view.persons.number) for view in persons),
        estimated=max((f.targets for f in findings if f.mean_interval), default=None),
        tried=frozenset(attack.name for attack in chosen), singling_out=unique, timings=timings,
    )  # fmt: skip


def _omit_attackers(attacks: Sequence[Attack], scene: Scene) -> None:
    """Report attackers none of whose attacks reads releases of this kind."""
    for attacker in StandardAttacker:
        own_attacks = [attack for attack in attacks if attacker in attack.attackers]
        if own_attacks and not any(attack.reads(scene.kind) for attack in own_attacks):
            reason = Statement("omitted.kind", kind=scene.manifest.kind)
            scene.omitted[str(attacker)] = reason


def _singling_out(
    tables: Mapping[str, CodedTable], manifest: Manifest, views: Sequence[PersonView] | None
) -> SinglingOut:
    """Return who is unique by published cells: persons, where they have several rows."""
    numbers = None if views is None else {view.name: view.persons.number for view in views}
    return singling_out(tables, manifest, numbers)


def _risks(scene: Scene) -> list[Risk]:
    """Return the re-identification risk of the original and of each published table."""
    if scene.persons is None or scene.task.basis.persons is None:
        return risks_of(
            dict(scene.tables), scene.manifest, scene.task.table, scene.readings, scene.population
        )
    return risks_of_persons(scene.task.table, scene.task.basis.persons, scene.persons)


def _listed(
    scene: Scene, budget: TimeBudget, seconds: float | None
) -> tuple[RowAtRisk, ...] | None:
    """Return the rows at risk; without the rest where the time is up."""
    assert scene.at_risk is not None
    try:
        interruptible(lambda: list_rows_at_risk(scene), budget.left if budget.limited else None)
    except OutOfTimeError:
        scene.omitted["rows at risk"] = Statement("omitted.time", seconds=seconds)
    return scene.at_risk.listed


def _person_views(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    task: Task,
    source_rows: Mapping[str, NDArray[np.int32]] | None,
) -> list[PersonView]:
    """The persons of each published table, by their numbers or the publisher's knowledge."""
    persons = persons_of_tables(tables, manifest, task, source_rows)
    if persons is None:
        raise InputError(
            "The release does not say which rows belong to the same person. To attack persons, "
            "keep the private file (RELEASE.private.json) beside the release, and name the job "
            "that made it."
        )
    return [
        PersonView.of(name, of_table, None if source_rows is None else source_rows.get(name))
        for name, of_table in persons.items()
    ]


def _unassessed(attack: Attack, scene: Scene) -> str | None:
    """Return why an attack that may learn something is not run on a release."""
    by_row = attack.may_count_rows and bool(scene.readings)
    if scene.persons is not None and not (attack.targets_persons or by_row):
        return Statement("not-assessed.persons")
    return attack.unassessed(scene)


class _Run:
    """One attack, until it ends or its share of the time is up."""

    def __init__(
        self, attack: Attack, scene: Scene, budget: TimeBudget, begins: float, share: float
    ) -> None:
        rng = np.random.default_rng((SEED, crc32(attack.name.encode())))
        self._attack, self._scene = attack, replace(scene, rng=rng)
        self._budget = budget
        self._begins, self._share = begins, share  # of all attacks, for the progress bar
        persons = scene.persons is not None and attack.targets_persons
        self._unit = Unit.PERSON if persons else Unit.ROW
        if scene.persons is None:
            self._unit = scene.manifest.unit

    def findings(self, seconds: float | None) -> list[Finding]:
        """Run the attack on all targets; where time is up, on drawn targets for what is missing."""
        scene, samples = self._scene, self._attack.samples
        draws = self._attack.quick and not samples and not scene.quick and scene.targets > TARGETS
        budget = self._budget.part(1, KEPT * (draws or samples))
        # What samples by itself has a moment more, to end by itself.
        limit = self._budget if samples else budget
        findings, ended = self._within(replace(scene, budget=budget), limit)
        if ended:
            return findings
        estimates: list[Finding] = []
        if draws:
            known = {_key(finding) for finding in findings}
            drawn = replace(scene.drawn(), budget=self._budget, at_risk=None, omitted={})
            estimates, _ = self._within(drawn, self._budget)
            estimates = [finding for finding in estimates if _key(finding) not in known]
        reason = Statement("omitted.time", seconds=seconds)
        if estimates:
            reason = Statement("omitted.time.estimated", seconds=seconds, targets=TARGETS)
        elif findings:
            reason = Statement("omitted.time.findings", seconds=seconds, findings=len(findings))
        self._attack.omit(scene, "", reason)
        return [*findings, *estimates]

    def _within(self, scene: Scene, budget: TimeBudget) -> tuple[list[Finding], bool]:
        """Return what the attack finds in some time, and whether it ended."""
        findings: list[Finding] = []
        if budget.spent:
            return findings, False
        try:
            interruptible(
                lambda: self._collect(scene, findings), budget.left if budget.limited else None
            )
        except OutOfTimeError:
            return list(findings), False
        return findings, True

    def _collect(self, scene: Scene, collected: list[Finding]) -> None:
        started = time.monotonic()
        expected = max(self._attack.expected(scene), 1)
        criterion = self._attack.criterion
        findings = self._attack.run(scene)
        for finding in findings:
            collected.append(replace(finding, unit=self._unit, criterion=criterion))
            done = min(len(collected), expected)
            left = (time.monotonic() - started) / done * (expected - done)
            about = f", about {left:.0f} s left" if left >= 1 else ""
            phase = f"{self._attack.name}: {done} of {expected}{about}"
            scene.progress(phase, self._begins + self._share * done / expected)
            if scene.budget.spent and done < expected and not isinstance(findings, list):
                raise OutOfTimeError


def _key(finding: Finding) -> tuple[str, ...]:
    """Return what a finding is about."""
    known, reader = finding.details.get("known"), finding.details.get("reader")
    return finding.title, str(finding.aim), finding.table, str(known), str(reader)


def _short(text: str) -> str:
    return text if len(text) <= 25 else text[:24] + "…"
