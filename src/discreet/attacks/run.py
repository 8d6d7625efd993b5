"""Running attacks on a release, and what they found together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

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
from discreet.attacks.registry import all_attacks
from discreet.attacks.risk import Risk, risks_of
from discreet.errors import InputError
from discreet.methods.base import Progress, Task, no_progress
from discreet.releases.audit.shards import domains_of
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.result import Result
from discreet.table.coded_table import CodedTable
from discreet.table.interrupts import interruptible

SEED = 0  # of sampled targets and worlds, so that a report can be repeated


@dataclass(frozen=True)
class AttackReport(Result):
    """What every attack on a release found."""

    findings: tuple[Finding, ...]
    inapplicable: Mapping[str, str]  # attack: why not
    risks: tuple[Risk, ...]
    threshold: float

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
            f"is certain of '{worst.aim}' for {_rows(worst.certain, worst.targets)}"
            if worst.certain > 0
            else f"reaches a belief of at most {worst.greatest:.1%} in the true '{worst.aim}' of "
            "any row"
        )
        coverage = {
            BEYOND: "No requirement covers such an attacker",
            NOT_COVERED: "No guarantee of this release covers this attacker",
            UNBOUNDED: "For some rows the guarantees of this release allow any belief",
            NO_BETTER: "The attack does no better than guessing",
            EXCEEDED: f"The release guarantees at most {worst.bound or 0:.1%}: IT IS BROKEN",
            WITHIN: f"The release guarantees at most {worst.bound or 0:.1%}",
        }[worst.verdict]
        return (
            f"Strongest attack: {worst.attack}. An attacker who {worst.knowledge} {certainty} "
            f"(mean belief without the release: {worst.baseline:.1%}). {coverage}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "ok": self.ok,
            "summary": self.summary,
            "threshold": self.threshold,
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
            count = f" {f.targets:>9,}" if full else ""
            lines.append(
                f"{f.title:{wide}} {_short(f.shown_aim):{aims}}{count} {f.mean:>6.3f} "
                f"{f.greatest:>6.3f} {f.above:>6.3f} {f.baseline:>6.3f} {bound:>6}  "
                f"{f.verdict}{how}"
            )
        return lines

    def __str__(self) -> str:
        lines = [self.summary, "", *self.table(self.findings, full=True)]
        lines += ["", "re-identification        prosecutor  marketer  unique"]
        for r in self.risks:
            tail = "" if r.journalist is None else f"   journalist {r.journalist:.4f}"
            lines.append(
                f"{r.table:24} {r.prosecutor:>10.4f} {r.marketer:>9.4f} {r.unique:>7.3f}{tail}"
            )
        lines += [f"not run: {name} ({why})" for name, why in self.inapplicable.items()]
        return "\n".join(lines)


_NOT_A_VALUE = ("the row", "being in the table")


def run_attacks(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    *,
    attacks: Sequence[Attack] | None = None,
    population: Population | None = None,
    threshold: float = 0.5,
    progress: Progress = no_progress,
) -> AttackReport:
    """Run some attacks, or all, on published tables."""
    if manifest.keeps_rows:
        raise InputError(
            "Attacks do not tell persons with several rows apart yet. Use 'person: {…, rows: "
            "collapse}' to attack a release with one row for each person."
        )
    rng = np.random.default_rng(SEED)
    progress("reading the release", 0.0)
    readings = kind_of(manifest.kind).adversary_views(tables, task, manifest, rng)
    scene = Scene(
        manifest, tables, task, readings, domains_of(tables, manifest), population, threshold, rng,
        progress,
    )  # fmt: skip
    findings: list[Finding] = []
    inapplicable: dict[str, str] = {}
    chosen = all_attacks() if attacks is None else attacks
    for number, attack in enumerate(chosen):
        progress(attack.name, number / len(chosen))
        reason = attack.inapplicable(scene)
        if reason is None:
            findings += interruptible(partial(attack.run, scene))
        else:
            inapplicable[attack.name] = reason
    risks = risks_of(dict(tables), manifest, task.table, readings, population)
    return AttackReport(tuple(findings), inapplicable, tuple(risks), threshold)


def _rows(share: float, targets: int) -> str:
    count = round(share * targets)
    return f"{count:,} of {targets:,} rows"


def _short(text: str) -> str:
    return text if len(text) <= 25 else text[:24] + "…"
