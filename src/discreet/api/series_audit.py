"""The findings of the audit of a series: as data, in sentences, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from discreet.attacks.cross_release import Correspondences, CrossFinding
from discreet.attacks.series_beliefs import Estimates, Invariance, JointFinding, Together
from discreet.releases.audit.audit import Audit
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import series_chart
from discreet.report.pages.release_page import series_page
from discreet.report.pieces import Page
from discreet.result import Result
from discreet.statements import Statement


@dataclass(frozen=True)
class SeriesAudit(Result):
    """The findings of the audit of a series."""

    audits: tuple[Audit, ...]
    invariance: Invariance
    joint: JointFinding | None  # where some release guarantees ρ-difference
    estimates: Estimates | None  # of attackers who use one person's groups alone; no bounds
    attacks: tuple[CrossFinding, ...]
    problems: tuple[str, ...]
    not_placed: int  # people that fit several groups of a release, or none
    rho: float | None = None  # the guaranteed bound on beliefs, if there is one
    correspondences: Correspondences | None = None  # where some release guarantees BCF-anonymity
    covered: bool = True  # whether guarantees cover all releases together
    together: tuple[Together, ...] = ()  # of attributes that no guarantee covers so

    @property
    def ok(self) -> bool:
        """Whether no problem was found in a release, nor in all of them together."""
        return not self.problems and all(audit.ok for audit in self.audits)

    @property
    def heading(self) -> Statement:
        """The conclusion, in words."""
        if not self.ok:
            return Statement("series.broken")
        return Statement("series.kept" if self.covered else "series.uncovered")

    def to_dict(self) -> dict[str, Any]:
        """The audits, the beliefs and the attacks as plain data."""
        return {
            "ok": self.ok,
            "releases": [audit.to_dict() for audit in self.audits],
            "invariance": asdict(self.invariance),
            "joint": None if self.joint is None else self.joint.to_dict(),
            "estimates": None if self.estimates is None else dict(self.estimates),
            "attacks": [attack.to_dict() for attack in self.attacks],
            "correspondences": (
                None if self.correspondences is None else self.correspondences.to_dict()
            ),
            "covered": self.covered,
            "together": [one.to_dict() for one in self.together],
            "problems": list(self.problems),
            "not_placed": self.not_placed,
        }

    def __str__(self) -> str:
        return "\n".join(describe(self))

    def _page(self) -> Page:
        return series_page(
            describe(self), len(self.audits), self._beliefs, self.rho, self.heading, ok=self.ok,
            covered=self.covered,
        )  # fmt: skip

    def _charts(self) -> list[Chart]:
        return [series_chart({"all releases": self._beliefs}, self.rho)] if self._beliefs else []

    @property
    def _beliefs(self) -> Sequence[float]:
        return () if self.joint is None else self.joint.greatest


def describe(found: SeriesAudit) -> list[str]:
    """The audit of a series in sentences."""
    steady = found.invariance
    sound = sum(audit.ok for audit in found.audits)
    return [
        f"{found.heading}.",
        *(f"Problem: {problem}" for problem in found.problems),
        f"{sound} of {len(found.audits)} releases keep their own guarantees.",
        f"{steady.returning:,} records are in several releases: {steady.unchanged:,} always in "
        f"groups with the same values, {steady.renewed:,} also in groups with all new values, "
        f"{steady.overlapping:,} in groups with partly new values.",
        *(one.sentence for one in found.together),
        *_describe_correspondences(found.correspondences),
        *describe_attacks(found),
    ]


def _describe_correspondences(found: Correspondences | None) -> list[str]:
    if found is None or not found.people:
        return []
    least = [
        f"{left} for {who}"
        for left, who in (
            (found.returning, "a record in several releases"),
            (found.arriving, "a record that another release lacks"),
        )
        if left is not None
    ]
    return [f"Correspondence attacks leave at least this many rows: {', '.join(least)}."]


def describe_attacks(found: SeriesAudit) -> list[str]:
    """Return the beliefs of attackers who have all releases, in sentences."""
    # Beliefs by enumeration, beside the estimates of simpler rules.
    lines = []
    if found.joint is not None:
        shown = ", ".join(f"{belief:.3f}" for belief in found.joint.greatest)
        lines.append(
            "Greatest belief of an attacker who has all releases and knows the transition "
            f"probabilities, by release: {shown}."
        )
        for rule, greatest in (found.estimates or {}).items():
            shown = ", ".join(f"{belief:.3f}" for belief in greatest)
            lines.append(
                f"Estimate '{rule}', which looks at one record alone and is no bound: {shown}."
            )
        if found.joint.bounded or found.joint.open:
            lines.append(
                f"{found.joint.bounded} of {found.joint.bounded + found.joint.open} sets of "
                "records that are too large to enumerate have a sufficient bound."
            )
    # Each attack on several releases.
    for attack in found.attacks:
        bound = "no guarantee" if attack.bound is None else f"guaranteed {attack.bound:.3f}"
        skipped = f", {attack.not_assessed:,} not assessed" if attack.not_assessed else ""
        lines.append(
            f"{attack.attack}: {attack.targets:,} targets, mean belief {attack.mean:.3f}, greatest "
            f"{attack.greatest:.3f} ({bound}{skipped})."
        )
    # What the figures do not say.
    if found.invariance.renewed and found.joint is None:
        lines.append(
            "Values changed between releases. m-invariance bounds an attacker's belief across "
            "releases only if values never change; use rho-different for such data."
        )
    if found.not_placed:
        lines.append(
            f"{found.not_placed:,} records match several groups or none and were not assessed."
        )
    return lines
