"""Running attacks on a release, and what they found together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.base import (
    BEYOND,
    EXCEEDED,
    NO_BETTER,
    NOT_COVERED,
    UNBOUNDED,
    WITHIN,
    Attack,
    Finding,
    Scene,
)
from discreet.attacks.inference.population import Population
from discreet.attacks.persons.person_view import PersonView
from discreet.attacks.registry import all_attacks
from discreet.attacks.risk import Risk, risks_of, risks_of_persons
from discreet.errors import InputError
from discreet.methods.base import Progress, Task, no_progress
from discreet.releases.audit.kept_rows import persons_of_rows, persons_of_tables
from discreet.releases.audit.shards import domains_of
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.result import Result
from discreet.table.classes import Classes
from discreet.table.coded_table import CodedTable
from discreet.table.interrupts import interruptible
from discreet.table.persons import Persons
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

    @property
    def ok(self) -> bool:
        """Whether no belief exceeds what the release guarantees."""
        return not any(finding.inside and finding.exceeded for finding in self.findings)

    @property
    def strongest(self) -> Finding | None:
        """The finding with the greatest belief in a sensitive value, then the greatest mean."""
        about_values = [f for f in self.findings if f.is_belief and f.aim not in _NOT_A_VALUE]
        return max(about_values, key=lambda f: (f.greatest, f.mean), default=None)

    @property
    def summary(self) -> str:
        """The strongest attacker, in one sentence."""
        worst = self.strongest
        if worst is None:
            return "No attack on a sensitive value applies to this release."
        certainty = (
            f"is certain of '{worst.aim}' for {_targets(worst)}"
            if worst.certain > 0
            else f"reaches a belief of at most {worst.greatest:.1%} in the true '{worst.aim}' of "
            f"any {worst.unit}"
        )
        coverage = {
            BEYOND: "No requirement covers such an attacker",
            NOT_COVERED: "No guarantee of this release covers this attacker",
            UNBOUNDED: f"For some {worst.unit.plural} the guarantees allow any belief",
            NO_BETTER: "The attack does no better than guessing",
            EXCEEDED: f"The release guarantees at most {worst.bound or 0:.1%}: IT IS BROKEN",
            WITHIN: f"The release guarantees at most {worst.bound or 0:.1%}",
        }[worst.verdict]
        return (
            f"Strongest attack: {worst.attack}. An attacker who {worst.knowledge} {certainty} "
            f"(mean belief without the release: {worst.baseline:.1%}). {coverage}."
        )

    @property
    def counted(self) -> str | None:
        """The unit of the targets, where a person may have several published rows."""
        if self.persons is None:
            return None
        by_row = sorted({f.attack for f in self.findings if f.unit is Unit.ROW})
        said = f"Targets are people: {self.rows or 0:,} published rows of {self.persons:,} people."
        return f"{said} These attacks count rows: {', '.join(by_row)}." if by_row else said

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "ok": self.ok,
            "summary": self.summary,
            "threshold": self.threshold,
            **({} if self.persons is None else {"persons": self.persons, "rows": self.rows}),
            "findings": [finding.to_dict() for finding in self.findings],
            "inapplicable": dict(self.inapplicable),
            "risks": [risk.to_dict() for risk in self.risks],
        }

    def table(self, findings: Sequence[Finding], *, full: bool = False) -> list[str]:
        """Return some findings as the lines of a table; ``full`` adds targets and methods."""
        wide = max([12, *(len(f.title) for f in findings)])
        aims = max([12, *(len(_short(f.shown_aim)) for f in findings)])
        count = f" {'targets':>9}" if full else ""
        lines = [
            f"{'attack':{wide}} {'aim':{aims}}{count} {'mean':>6} {'max':>6} "
            f"{'>' + format(self.threshold, 'g'):>6} {'base':>6} {'bound':>6}  verdict"
        ]
        for f in findings:
            bound = "–" if f.bound is None else f"{f.bound:.3f}"
            how = f" ({f.method})" if full and f.method != "exact" else ""
            how += ", of rows" if self.persons is not None and f.unit is Unit.ROW else ""
            count = f" {f.targets:>9,}" if full else ""
            lines.append(
                f"{f.title:{wide}} {_short(f.shown_aim):{aims}}{count} {f.mean:>6.3f} "
                f"{f.greatest:>6.3f} {f.above:>6.3f} {f.baseline:>6.3f} {bound:>6}  "
                f"{f.verdict}{how}"
            )
        return lines

    def __str__(self) -> str:
        lines = [self.summary, *filter(None, [self.counted])]
        lines += ["", *self.table(self.findings, full=True)]
        lines += ["", "re-identification        prosecutor  marketer  unique"]
        for r in self.risks:
            tail = "" if r.journalist is None else f"   journalist {r.journalist:.4f}"
            lines.append(
                f"{r.table:24} {r.prosecutor:>10.4f} {r.marketer:>9.4f} {r.unique:>7.3f}{tail}"
            )
        lines += [f"not run: {name} ({why})" for name, why in self.inapplicable.items()]
        return "\n".join(lines)


_NOT_A_VALUE = ("the row", "the person", "being in the table")


def run_attacks(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    *,
    attacks: Sequence[Attack] | None = None,
    population: Population | None = None,
    source_rows: Mapping[str, NDArray[np.int32]] | None = None,
    threshold: float = 0.5,
    progress: Progress = no_progress,
) -> AttackReport:
    """Run some attacks, or all, on published tables.

    ``source_rows``, the original's row behind each published row, is needed where a person may
    have several: the targets are then persons.
    """
    view = _person_view(tables, manifest, task, source_rows) if manifest.keeps_rows else None
    rng = np.random.default_rng(SEED)
    progress("reading the release", 0.0)
    readings = kind_of(manifest.kind).adversary_views(tables, task, manifest, rng)
    scene = Scene(
        manifest, tables, task, readings, domains_of(tables, manifest), population, threshold, rng,
        progress, view,
    )  # fmt: skip
    findings: list[Finding] = []
    inapplicable: dict[str, str] = {}
    chosen = all_attacks() if attacks is None else attacks
    for number, attack in enumerate(chosen):
        progress(attack.name, number / len(chosen))
        reason = _inapplicable(attack, scene)
        if reason is not None:
            inapplicable[attack.name] = reason
        elif view is not None and attack.targets_persons:
            found = interruptible(partial(attack.run_on_persons, scene, view))
            findings += [replace(finding, unit=Unit.PERSON) for finding in found]
        else:
            unit = manifest.unit if view is None else Unit.ROW
            found = interruptible(partial(attack.run, scene))
            findings += [replace(finding, unit=unit) for finding in found]
    if view is None or task.kept is None:
        risks = risks_of(dict(tables), manifest, task.table, readings, population)
        return AttackReport(tuple(findings), inapplicable, tuple(risks), threshold)
    risks = risks_of_persons(task.table, task.kept, view)
    return AttackReport(
        tuple(findings), inapplicable, tuple(risks), threshold, view.persons.count,
        len(view.persons.number),
    )  # fmt: skip


def _person_view(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    task: Task,
    source_rows: Mapping[str, NDArray[np.int32]] | None,
) -> PersonView:
    """The persons of the one published table, by their numbers or the publisher's knowledge."""
    if manifest.keeping.numbered:
        ((name, seen),) = (persons_of_tables(tables, manifest, task, source_rows) or {}).items()
        numbered = Persons(seen.number, int(seen.number.max(initial=-1)) + 1, 0)
        classes = Classes.of_numbers(seen.of_class.astype(np.int32))
        return PersonView.of(name, tables[name], numbered, classes)
    persons = persons_of_rows(tables, task, source_rows)
    if persons is None:
        raise InputError(
            "The release does not say which rows belong to the same person. To attack persons, "
            "keep the private file (RELEASE.private.json) beside the release, and name the job "
            "that made it."
        )
    ((name, table),) = tables.items()
    return PersonView.of(name, table, persons)


def _inapplicable(attack: Attack, scene: Scene) -> str | None:
    """Return why an attack can't be run on a release."""
    if scene.persons is not None and not (attack.targets_persons or attack.may_count_rows):
        return "not assessed where a person has several published rows"
    return attack.inapplicable(scene)


def _targets(finding: Finding) -> str:
    certain = round(finding.certain * finding.targets)
    return f"{certain:,} of {finding.targets:,} {finding.unit.plural}"


def _short(text: str) -> str:
    return text if len(text) <= 25 else text[:24] + "…"
