"""The findings of attacks as a page: what each attacker learns, and which guarantee covers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from discreet.attacks.base import EXCEEDED, LINES, NO_BETTER, NO_GUARANTEE, WITHIN, Finding
from discreet.job.model import Job
from discreet.releases.manifest import Manifest
from discreet.releases.weaknesses import known_weaknesses
from discreet.report.charts.result_charts import belief_chart
from discreet.report.pages.provenance import origin
from discreet.report.pieces import (
    Card,
    Html,
    Page,
    Section,
    Tone,
    badge,
    code,
    exact,
    explained,
    figures,
    folded,
    joined,
    paragraph,
    sentences,
    subheading,
    table,
)

if TYPE_CHECKING:
    from discreet.attacks.risk import Risk
    from discreet.attacks.run import AttackReport

AIMS = ("the row", "the person", "being in the table", "exact quasi-identifiers",
        "whole rows of quasi-identifiers")  # fmt: skip
TONES: dict[str, Tone] = {WITHIN: "good", EXCEEDED: "bad", NO_GUARANTEE: "warn", NO_BETTER: "good"}


def attack_page(
    report: AttackReport, manifest: Manifest | None = None, job: Job | None = None
) -> Page:
    """Return the page; the manifest adds what the guarantees do not cover."""
    exceeded = sum(finding.inside and finding.exceeded for finding in report.findings)
    bounded = sum(finding.verdict in (WITHIN, EXCEEDED) for finding in report.findings)
    worst = report.strongest
    certain = 0 if worst is None else worst.newly_certain
    tone: Tone
    if exceeded:
        heading, tone = f"{exceeded} of {bounded} bounds are exceeded", "bad"
    elif certain and worst is not None:
        heading = f"An attacker learns '{worst.aim}' of {certain:,} {worst.unit.plural}"
        heading, tone = f"{heading}: {worst.verdict}", TONES[worst.verdict]
    elif bounded:
        heading, tone = "No attacker exceeds a guarantee", "good"
    else:
        heading, tone = "No guarantee covers these attackers", "warn"
    said: Sequence[str] = () if manifest is None else known_weaknesses(manifest)
    sections = [
        Section("The worst attackers", worst_attackers(report), "Attackers"),
        Section("Details", attack_details(report), "Details"),
    ]
    if said:
        sections.append(Section("What is not covered", sentences(said), "Not covered"))
    sections.append(Section("How to repeat the attacks", _repeating()))
    sections += origin(manifest, job)
    return Page(
        kind="Attack report",
        subject="" if manifest is None else f"on a release by {manifest.method.name}",
        heading=heading,
        tone=tone,
        lede=(
            report.summary,
            "Each attacker below has the published files and the stated background knowledge, and "
            "nothing else of how the release was made; beliefs were scored against the original.",
        ),
        cards=list(_cards(report, exceeded, bounded)),
        sections=sections,
    )


def worst_attackers(report: AttackReport, most: int = LINES) -> Html:
    """Return a line for each aim and background knowledge: the worst attacker of its kind."""
    rows = [
        (
            _aim(finding.aim),
            finding.also_knows or "nothing else",
            f"{finding.newly_certain:,} of {finding.targets:,}" if finding.is_belief else "–",
            f"{finding.greatest:.1%}",
            f"{finding.mean:.1%}",
            f"{finding.baseline:.1%}",
            badge(finding.verdict, TONES[finding.verdict]),
        )
        for finding in report.worst[:most]
    ]
    head = (
        "what is learnt", "the attacker knows quasi-identifiers and", "newly certain",
        "greatest belief", "mean belief", "without the release", "verdict",
    )  # fmt: skip
    counted = [] if report.counted is None else [paragraph(report.counted)]
    left = [f"Left out: {name}: {why}." for name, why in report.omitted.items()]
    said = sentences([*report.pinned, *left])
    return joined([*counted, table(head, rows, range(2, 6)), said])


def _aim(said: str) -> str:
    """An aim: the name of an attribute, unless it is one of the aims that have words."""
    return said if said in AIMS else exact(said)


def criteria(report: AttackReport) -> Html:
    """Return the worst attacker for each criterion of the Article 29 Working Party."""
    rows = [
        (criterion, "no attack applies", "–", "–", "–")
        if worst is None
        else (
            criterion,
            explained(exact(worst.title), f"who {worst.knowledge}"),
            f"{worst.greatest:.1%}",
            f"{worst.baseline:.1%}",
            badge(worst.verdict, TONES[worst.verdict]),
        )
        for criterion, worst in report.by_criterion.items()
    ]
    head = (
        "criterion",
        "worst attacker",
        "greatest success",
        "without the release",
        "verdict",
    )
    return table(head, rows, (2, 3))


def attack_details(report: AttackReport) -> Html:
    """Return all findings: the plot of beliefs, re-identification, and every attacker, folded."""
    sought = "row" if report.persons is None else "person"
    beside = joined([subheading("Re-identification risk"), _risks(report.risks, sought)])
    parts = [
        figures([belief_chart(report.findings, report.threshold)], beside),
        subheading("By the criteria of the Article 29 Working Party"),
        criteria(report),
    ]
    count = len(report.findings)
    parts.append(folded(f"All {count} attackers", _table(report.findings, report.threshold)))
    if report.inapplicable:
        listed = [f"{name}: {why}" for name, why in report.inapplicable.items()]
        parts.append(folded(f"{len(listed)} attacks do not apply", sentences(listed)))
    return joined(parts)


def _cards(report: AttackReport, exceeded: int, bounded: int) -> Iterator[Card]:
    tone: Tone = "bad" if exceeded else "good" if bounded else "warn"
    yield Card(
        "bounds-kept", "bounds kept", bounded - exceeded, f"{bounded - exceeded} of {bounded}",
        "of attackers that a guarantee covers", tone,
    )  # fmt: skip
    covered = [f for f in report.findings if f.verdict in (WITHIN, EXCEEDED) and f.is_belief]
    if covered:
        most = max(covered, key=lambda f: f.greatest)
        yield Card(
            "greatest-promised", "greatest belief that a guarantee covers", most.greatest,
            f"{most.greatest:.1%}", f"{most.title} on {most.aim}; at most {most.bound or 0:.1%}",
        )  # fmt: skip
    worst = report.strongest
    if worst is not None:
        yield Card(
            "strongest-reader", "greatest belief of any attacker", worst.greatest,
            f"{worst.greatest:.1%}", f"{worst.title} on '{worst.aim}'",
            "warn" if worst.greatest > report.threshold else "",
        )  # fmt: skip
        certain = worst.newly_certain
        yield Card(
            "certain-rows", f"{worst.unit.plural} that only the release makes certain", certain,
            f"{certain:,}", f"of {worst.targets:,}",
        )  # fmt: skip
    yield Card("findings", "attackers tried", len(report.findings), f"{len(report.findings)}")


def _table(findings: Sequence[Finding], threshold: float) -> Html:
    head = (
        "attack", "aim", "targets", "mean belief", "greatest", f"above {threshold:.0%}",
        "without the release", "guaranteed at most", "verdict",
    )  # fmt: skip
    rows, before = [], None
    for finding in sorted(findings, key=lambda one: (one.attack, one.title)):
        named = finding.title, finding.knowledge
        rows.append(_row(finding, again=named == before))
        before = named
    return table(head, rows, range(2, 8))


def _row(finding: Finding, *, again: bool) -> tuple[str, ...]:
    above = f"{finding.above:.1%}"
    if finding.interval is not None:
        above += f" ({finding.interval[0]:.1%}–{finding.interval[1]:.1%})"
    mean = f"{finding.mean:.1%}"
    if finding.mean_interval is not None:
        mean += f" ({finding.mean_interval[0]:.1%}–{finding.mean_interval[1]:.1%})"
    how = "" if finding.method == "exact" else finding.method
    name = "" if again else explained(exact(finding.title), f"who {finding.knowledge}")
    verdict = [badge(finding.verdict, TONES[finding.verdict])]
    if how:
        verdict.append(joined([Html("<br><span class='soft'>"), how, Html("</span>")]))
    return (
        name, _aim(finding.shown_aim), f"{finding.targets:,} {finding.counted}",
        mean, f"{finding.greatest:.1%}", above if finding.is_belief else "–",
        f"{finding.baseline:.1%}", "–" if finding.bound is None else f"{finding.bound:.1%}",
        joined(verdict),
    )  # fmt: skip


def _risks(risks: Sequence[Risk], sought: str) -> Html:
    several = any(risk.journalist is not None for risk in risks)
    head = ["table", "greatest (prosecutor)", "mean (marketer)", "unique"]
    rows = []
    for number, risk in enumerate(risks):
        table_name = exact(risk.table) if number else risk.table  # the first: the original
        row = [table_name, f"{risk.prosecutor:.2%}", f"{risk.marketer:.2%}", f"{risk.unique:.1%}"]
        if several:
            row.append("–" if risk.journalist is None else f"{risk.journalist:.2%}")
        rows.append(row)
    if several:
        head.append("in the population (journalist)")
    return joined(
        [
            paragraph(
                "The chance that an attacker who knows the target's quasi-identifiers picks the "
                f"right {sought}, in the original and in each published table."
            ),
            table(head, rows, range(1, len(head))),
        ]
    )


def _repeating() -> Html:
    return joined(
        [
            paragraph("The same release and the same original give the same figures."),
            code("discreet attack RELEASE --original JOB --page attacks.html"),
        ]
    )
