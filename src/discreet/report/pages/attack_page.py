"""The findings of attacks as a page: what each attacker learns, and which guarantee covers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from discreet.attacks.base import (
    EXCEEDED,
    LINES,
    NO_BETTER,
    NO_GUARANTEE,
    WITHIN,
    Criterion,
    Finding,
)
from discreet.job.model import Job
from discreet.releases.explanation import known_weaknesses
from discreet.releases.manifest import Manifest
from discreet.report.charts.result_charts import belief_chart
from discreet.report.pages.release_page import origin, unchanged_columns
from discreet.report.pieces import (
    Card,
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
    label,
    labels,
    paragraph,
    sentences,
    subheading,
    table,
    tag,
)
from discreet.statements import Statement

if TYPE_CHECKING:
    from discreet.attacks.risk import Risk
    from discreet.attacks.run import AttackReport

COMMAND = "discreet attack RELEASE --original JOB --page attacks.html"
TONES: dict[str, Tone] = {WITHIN: "good", EXCEEDED: "bad", NO_GUARANTEE: "warn", NO_BETTER: "good"}


def attack_page(
    report: AttackReport, manifest: Manifest | None = None, job: Job | None = None
) -> Page:
    """Return the page; the manifest adds what the guarantees do not cover."""
    # The conclusion: guarantees that are broken, values that become certain.
    exceeded = sum(finding.inside and finding.exceeded for finding in report.findings)
    bounded = sum(finding.verdict in (WITHIN, EXCEEDED) for finding in report.findings)
    worst = report.strongest
    certain = 0 if worst is None else worst.newly_certain
    tone: Tone
    if exceeded:
        heading = Statement("headline.bounds-exceeded", count=exceeded, total=bounded)
        tone = "bad"
    elif certain and worst is not None:
        form = f"headline.learned.{worst.unit.plural}"
        heading = Statement(form, aim=worst.aim, targets=certain, verdict=worst.verdict)
        tone = TONES[worst.verdict]
    elif bounded:
        heading, tone = Statement("headline.none-exceeds"), "good"
    else:
        heading, tone = Statement("headline.not-covered"), "warn"
    # The worst attackers first, then what no guarantee covers.
    weaknesses: Sequence[str] = () if manifest is None else known_weaknesses(manifest)
    sections = [
        Section(label("the-worst-attackers"), worst_attackers(report), label("attackers")),
        *unchanged_columns(report.singling_out),
        Section(label("details"), attack_details(report), label("details")),
    ]
    if weaknesses:
        uncovered = sentences(weaknesses)
        sections.append(Section(label("what-is-not-covered"), uncovered, label("not-covered")))
    repeating = [
        paragraph(label("same-figures")),
        code(COMMAND),
    ]
    sections.append(Section(label("how-to-repeat-the-attacks"), joined(repeating)))
    sections += origin(manifest, job)
    return Page(
        kind=label("attack-report"),
        subject="" if manifest is None else label("on-release", method=manifest.method.name),
        heading=heading,
        tone=tone,
        lede=(report.summary, label("attackers-have")),
        cards=list(_cards(report, exceeded, bounded)),
        sections=sections,
    )


def worst_attackers(report: AttackReport, most: int = LINES) -> Markup:
    """Return a line for each aim and background knowledge: the worst attacker of its kind."""
    rows = [
        (
            shown_aim(finding.aim),
            finding.attacker.noun,
            finding.also_knows or Statement("also-knows.nothing"),
            label("of", count=finding.newly_certain, total=finding.targets)
            if finding.is_belief
            else "–",
            f"{finding.greatest:.1%}",
            f"{finding.mean:.1%}",
            f"{finding.baseline:.1%}",
            badge(finding.verdict, TONES[finding.verdict]),
        )
        for finding in report.worst[:most]
    ]
    head = labels(
        "what-is-learnt", "attacker", "knows-and", "newly-certain", "greatest-belief",
        "mean-belief", "without-the-release", "verdict",
    )  # fmt: skip
    counted = [] if report.counted is None else [paragraph(report.counted)]
    remarks = sentences([*report.pinned, *report.omissions])
    return joined([*counted, table(head, rows, range(3, 7)), remarks])


def shown_aim(aim: str) -> str:
    """Return an aim: the name of an attribute, unless it has words."""
    return aim if isinstance(aim, Statement) else exact(aim)


def criteria(report: AttackReport) -> Markup:
    """Return the worst attacker for each criterion of the Article 29 Working Party."""
    rows = [
        (criterion_words(criterion), label("no-attack-applies"), "–", "–", "–")
        if worst is None
        else (
            criterion_words(criterion),
            explained(exact(worst.title), Statement("attack.who", knowledge=worst.knowledge)),
            f"{worst.greatest:.1%}",
            f"{worst.baseline:.1%}",
            badge(worst.verdict, TONES[worst.verdict]),
        )
        for criterion, worst in report.by_criterion.items()
    ]
    head = labels(
        "criterion", "worst-attacker", "greatest-success", "without-the-release", "verdict"
    )
    return table(head, rows, (2, 3))


def criterion_words(criterion: Criterion) -> Statement:
    return Statement(f"criterion.{criterion.replace(' ', '-')}")


def attack_details(report: AttackReport, *, every: bool = True) -> Markup:
    """Return the plot of beliefs, re-identification, criteria, and every attacker, folded."""
    sought = "row" if report.persons is None else "person"
    beside = joined([subheading(label("re-identification-risk")), _risks(report.risks, sought)])
    parts = [
        figures([belief_chart(report.findings, report.threshold)], beside),
        subheading(label("criteria")),
        criteria(report),
    ]
    count = len(report.findings)
    if every:
        all_findings = _table(report.findings, report.threshold)
        parts.append(folded(label("all-attackers-count", count=count), all_findings))
    else:
        parts.append(paragraph(label("all-attackers-elsewhere", count=count, command=COMMAND)))
    if report.inapplicable:
        reasons = [joined([exact(name), ": ", why]) for name, why in report.inapplicable.items()]
        parts.append(folded(label("do-not-apply", count=len(reasons)), sentences(reasons)))
    return joined(parts)


def _cards(report: AttackReport, exceeded: int, bounded: int) -> Iterator[Card]:
    tone: Tone = "bad" if exceeded else "good" if bounded else "warn"
    yield Card(
        "bounds-kept", label("bounds-kept"), bounded - exceeded,
        label("of", count=bounded - exceeded, total=bounded), label("of-covered-attackers"), tone,
    )  # fmt: skip
    covered = [f for f in report.findings if f.verdict in (WITHIN, EXCEEDED) and f.is_belief]
    if covered:
        most = max(covered, key=lambda f: f.greatest)
        yield Card(
            "greatest-promised", label("greatest-covered-belief"), most.greatest,
            f"{most.greatest:.1%}",
            label("attack-on.bounded", attack=most.title, aim=most.aim, bound=most.bound or 0.0),
        )  # fmt: skip
    worst = report.strongest
    if worst is not None:
        yield Card(
            "strongest-reader", label("greatest-belief-of-any"), worst.greatest,
            f"{worst.greatest:.1%}", label("attack-on", attack=worst.title, aim=worst.aim),
            "warn" if worst.greatest > report.threshold else "",
        )  # fmt: skip
        certain = worst.newly_certain
        yield Card(
            "certain-rows", label(f"made-certain.{worst.unit.plural}"), certain,
            f"{certain:,}", label("of-targets", targets=worst.targets),
        )  # fmt: skip
    tried = len(report.findings)
    yield Card("findings", label("attackers-tried"), tried, f"{tried}")


def _table(findings: Sequence[Finding], threshold: float) -> Markup:
    head = (
        *labels("attack", "aim", "targets", "mean-belief", "greatest"),
        label("above", threshold=threshold),
        *labels("without-the-release", "guaranteed-at-most", "verdict"),
    )
    rows, before = [], None
    for finding in sorted(findings, key=lambda item: (item.attack, item.title)):
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
    who = Statement("attack.who", knowledge=finding.knowledge)
    name = "" if again else explained(exact(finding.title), who)
    verdict = [badge(finding.verdict, TONES[finding.verdict])]
    if how:
        verdict += [Markup("<br>"), tag("span", how, class_="soft")]
    return (
        name, shown_aim(finding.shown_aim),
        Statement(f"count.{finding.counted}", count=finding.targets),
        mean, f"{finding.greatest:.1%}", above if finding.is_belief else "–",
        f"{finding.baseline:.1%}", "–" if finding.bound is None else f"{finding.bound:.1%}",
        joined(verdict),
    )  # fmt: skip


def _risks(risks: Sequence[Risk], sought: str) -> Markup:
    several = any(risk.journalist is not None for risk in risks)
    head = [*labels("table", "greatest-prosecutor", "mean-marketer", "unique")]
    rows = []
    for number, risk in enumerate(risks):
        table_name = exact(risk.table) if number else label("the-original")  # the first
        row = [table_name, f"{risk.prosecutor:.2%}", f"{risk.marketer:.2%}", f"{risk.unique:.1%}"]
        if several:
            row.append("–" if risk.journalist is None else f"{risk.journalist:.2%}")
        rows.append(row)
    if several:
        head.append(label("in-the-population-journalist"))
    chance = paragraph(label(f"chance.{sought}"))
    return joined([chance, table(head, rows, range(1, len(head)))])
