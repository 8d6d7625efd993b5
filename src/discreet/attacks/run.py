"""Running attacks on a release, and what they found together."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

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
from discreet.attacks.beliefs import PersonView
from discreet.attacks.downcoding import pinned_sentences
from discreet.attacks.registry import ATTACKS, all_attacks
from discreet.attacks.risk import Risk, list_rows_at_risk, risks_of, risks_of_persons
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
from discreet.table.interrupts import OutOfTimeError, interruptible
from discreet.table.roles import Unit

SEED = 0  # of sampled targets and worlds, so that a report can be repeated


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

    @property
    def ok(self) -> bool:
        """Whether no belief exceeds what the release guarantees."""
        return not any(finding.inside and finding.exceeded for finding in self.findings)

    @property
    def about_values(self) -> list[Finding]:
        """The findings about sensitive values, the most severe first."""
        found = [f for f in self.findings if f.is_belief and not isinstance(f.aim, Statement)]
        return sorted(found, key=lambda one: one.severity, reverse=True)

    def not_run(self, attacker: StandardAttacker) -> dict[str, str]:
        """What was left out of the attacks of an attacker: why."""
        own = {name for name, kind in ATTACKS.items() if attacker in kind.attackers}
        untried = dict.fromkeys(sorted(own - self.tried), Statement("omitted.not-tried"))
        left_out = {
            name: why
            for name, why in self.omitted.items()
            if name == attacker or name.partition(" (")[0] in own
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
        for finding in sorted(self.findings, key=lambda one: one.severity, reverse=True):
            if finding.is_belief or finding.criterion is Criterion.INFERENCE:
                best.setdefault((finding.aim, finding.also_knows), finding)
        return list(best.values())

    @property
    def by_criterion(self) -> dict[Criterion, Finding | None]:
        """The worst attacker for each criterion of the Article 29 Working Party; None if none."""
        ranked = sorted(self.findings, key=lambda one: one.severity, reverse=True)
        return {
            criterion: next((one for one in ranked if one.criterion is criterion), None)
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
    list_rows: bool = False,
    quick: bool = False,
    progress: Progress = no_progress,
) -> AttackReport:
    """Run some attacks, or all, on published tables; after ``seconds`` the rest is left out.

    ``source_rows``, the original's row behind each published row, is needed where a person may
    have several: the targets are then persons. ``list_rows`` also lists the rows at risk. With
    ``quick``, the attacks whose figures follow from single targets estimate them from some.
    """
    if quick and manifest.keeps_rows:
        raise InputError(
            "--quick draws rows as targets, but a person has several rows in this release. Attack "
            "it without --quick, or limit the time with --seconds."
        )
    persons = _person_views(tables, manifest, task, source_rows) if manifest.keeps_rows else None
    ends = None if seconds is None else time.monotonic() + seconds
    rng = np.random.default_rng(SEED)
    progress("reading the release", 0.0)
    readings: Sequence[AdversaryView] = ()
    if persons is None or kind_of(manifest.kind).makes_alike:
        readings = interruptible(
            lambda: kind_of(manifest.kind).adversary_views(tables, task, manifest, rng)
        )
    if quick:
        readings = [drawn_targets(view, rng) for view in readings]
    readings = interruptible(lambda: [_with_counted_worlds(view) for view in readings])
    scene = Scene(
        manifest, tables, task, readings, domains_of(tables, manifest), population, threshold, rng,
        progress, persons, at_risk=RowsAtRisk() if list_rows else None, quick=quick,
    )  # fmt: skip
    chosen = sorted(all_attacks() if attacks is None else attacks, key=lambda attack: attack.slow)
    findings: list[Finding] = []
    inapplicable: dict[str, str] = {}
    for number, attack in enumerate(chosen):
        progress(attack.name, number / len(chosen))
        reason = attack.inapplicable(scene)
        if reason is not None:
            inapplicable[attack.name] = reason
            continue
        reason = _unassessed(attack, scene)
        if reason is not None:
            attack.omit(scene, "", reason)
            continue
        if quick and not attack.quick:
            attack.omit(scene, "", Statement("omitted.not-quick"))
            continue
        run = _Run(attack, scene, ends, number / len(chosen), 1 / len(chosen))
        findings += run.findings()
        if run.cut:
            done = len(run.found)
            reason = Statement("omitted.time", seconds=seconds)
            if done:
                reason = Statement("omitted.time.findings", seconds=seconds, findings=done)
            attack.omit(scene, "", reason)
    _omit_attackers(chosen, scene)
    listed = None
    if scene.at_risk is not None:
        interruptible(lambda: list_rows_at_risk(scene))
        listed = scene.at_risk.listed
    report = AttackReport(
        tuple(findings), inapplicable, (), threshold, omitted=dict(scene.omitted), seconds=seconds,
        at_risk=listed, estimated=TARGETS if any(f.mean_interval for f in findings) else None,
        tried=frozenset(attack.name for attack in chosen),
        singling_out=interruptible(lambda: _singling_out(tables, manifest, persons)),
    )  # fmt: skip
    if persons is None or task.basis.persons is None:
        risks = interruptible(
            lambda: risks_of(dict(tables), manifest, task.table, readings, population)
        )
        return replace(report, risks=tuple(risks))
    return replace(
        report,
        risks=tuple(risks_of_persons(task.table, task.basis.persons, persons)),
        persons=max(view.persons.count for view in persons),
        rows=max(len(view.persons.number) for view in persons),
    )


def _omit_attackers(attacks: Sequence[Attack], scene: Scene) -> None:
    """Report attackers none of whose attacks reads releases of this kind."""
    for attacker in StandardAttacker:
        own = [attack for attack in attacks if attacker in attack.attackers]
        if own and not any(attack.reads(scene.kind) for attack in own):
            reason = Statement("omitted.kind", kind=scene.manifest.kind)
            scene.omitted[str(attacker)] = reason


def _singling_out(
    tables: Mapping[str, CodedTable], manifest: Manifest, views: Sequence[PersonView] | None
) -> SinglingOut:
    """Return who is unique by published cells: persons, where they have several rows."""
    numbers = None if views is None else {view.name: view.persons.number for view in views}
    return singling_out(tables, manifest, numbers)


def _with_counted_worlds(view: AdversaryView) -> AdversaryView:
    """Return the view with exact weights of the groups of its targets, where they are countable."""
    return replace(view, placement=view.placement.counted(view.place_of_target))


def _person_views(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    task: Task,
    source_rows: Mapping[str, NDArray[np.int32]] | None,
) -> list[PersonView]:
    """The persons of each published table, by their numbers or the publisher's knowledge."""
    found = persons_of_tables(tables, manifest, task, source_rows)
    if found is None:
        raise InputError(
            "The release does not say which rows belong to the same person. To attack persons, "
            "keep the private file (RELEASE.private.json) beside the release, and name the job "
            "that made it."
        )
    return [
        PersonView.of(name, own, None if source_rows is None else source_rows.get(name))
        for name, own in found.items()
    ]


def _unassessed(attack: Attack, scene: Scene) -> str | None:
    """Return why an attack that may learn something is not run on a release."""
    by_row = attack.may_count_rows and bool(scene.readings)
    if scene.persons is not None and not (attack.targets_persons or by_row):
        return Statement("not-assessed.persons")
    return attack.unassessed(scene)


class _Run:
    """One attack, until it ends or the time is up."""

    def __init__(
        self, attack: Attack, scene: Scene, ends: float | None, begins: float, share: float
    ) -> None:
        self._attack, self._scene, self._ends = attack, scene, ends
        self._begins, self._share = begins, share  # of all attacks, for the progress bar
        self.found: list[Finding] = []
        self.cut = False
        persons = scene.persons is not None and attack.targets_persons
        self._unit = Unit.PERSON if persons else Unit.ROW
        if scene.persons is None:
            self._unit = scene.manifest.unit

    def findings(self) -> list[Finding]:
        """Run the attack; return what it found in time."""
        left = None if self._ends is None else self._ends - time.monotonic()
        self.cut = left is not None and left <= 0
        if not self.cut:
            try:
                interruptible(self._collect, left)
            except OutOfTimeError:
                self.cut = True
        return list(self.found)

    def _collect(self) -> None:
        started = time.monotonic()
        expected = max(self._attack.expected(self._scene), 1)
        criterion = self._attack.criterion
        for finding in self._findings():
            if self.cut:
                return
            self.found.append(replace(finding, unit=self._unit, criterion=criterion))
            done = min(len(self.found), expected)
            left = (time.monotonic() - started) / done * (expected - done)
            about = f", about {left:.0f} s left" if left >= 1 else ""
            phase = f"{self._attack.name}: {done} of {expected}{about}"
            self._scene.progress(phase, self._begins + self._share * done / expected)
            if self._ends is not None and time.monotonic() > self._ends and done < expected:
                self.cut = True
                return

    def _findings(self) -> Iterable[Finding]:
        views = self._scene.persons
        if views is not None and self._attack.targets_persons:
            return chain.from_iterable(
                self._attack.run_on_persons(self._scene, view) for view in views
            )
        return self._attack.run(self._scene)


def _short(text: str) -> str:
    return text if len(text) <= 25 else text[:24] + "…"
