"""The report for the person who signs: first the verdict about risk, then why; details last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from discreet.job.model import Job
from discreet.releases.analyst_errors import AnalystError
from discreet.releases.audit.figures import Picture
from discreet.releases.explanation import (
    certain_attackers,
    collapsed,
    explain_privately,
    guarantee_line,
    known_weaknesses,
    persons_of_rows,
    persons_singled_out,
    published,
    treatment,
    uncomputed,
    warnings,
)
from discreet.releases.manifest import Manifest
from discreet.report.charts.result_charts import loss_charts, picture_charts
from discreet.report.pages.attack_page import attack_details, worst_attackers
from discreet.report.pages.release_page import origin, promise_table, tables_of, unchanged_columns
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    exact,
    facts_table,
    figure_table,
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
from discreet.report.risk_verdict import REFUSE, Review, RiskVerdict, risk_verdict
from discreet.statements import Statement, day_text
from discreet.table.roles import Role

# Where the list of rows at risk comes from; what is left out of these is left out of the list.
LISTING = ("rows at risk", "set-homogeneity", "link-through-sensitive-table")


def verdict_of(
    manifest: Manifest, job: Job, private: Mapping[str, Any], review: Review
) -> RiskVerdict:
    """Return the verdict about a release's risk."""
    utility = private.get("utility", {})
    allowed = [
        name
        for name, attribute in job.attributes.items()
        if attribute.allow_identifying and attribute.role.published
    ]
    return risk_verdict(
        manifest, review, job.attackers, job.sign_off, utility,
        ledger=job.ledger is not None, series=private.get("series", ()),
        singling_out=persons_singled_out(private), unguarded=allowed, guessed=job.guessed,
    )  # fmt: skip


def signing_page(
    manifest: Manifest, job: Job, picture: Picture, private: Mapping[str, Any], review: Review
) -> Page:
    """Return the page for the person who signs: also what the release must not hold."""
    verdict = verdict_of(manifest, job, private, review)
    utility = private.get("utility", {})
    cards = [figure.card() for figure in verdict.worst_figures]
    cards += [] if review.attacks is not None else [_not_known(review)]
    return Page(
        kind=label("report-to-sign"),
        subject=label("by-method", method=manifest.method.name),
        heading=label(verdict.word.lower().replace(" ", "-")),
        tone=verdict.tone,
        lede=(
            verdict.about,
            *warnings(manifest.promises),
            published(manifest, persons_of_rows(manifest, private)),
            label("private"),
        ),
        cards=cards,
        sections=[
            *_decided(verdict, private),
            *_summary(verdict, manifest, job, private, review),
            *(
                replace(section, detail=True)
                for section in _details(manifest, job, picture, private, review, utility)
            ),
        ],
        to_sign=True,
    )


def _decided(verdict: RiskVerdict, private: Mapping[str, Any]) -> Iterator[Section]:
    """Say what follows from the verdict *Do not publish*: nothing, or a reason to accept it."""
    reason = private.get("accepted_risk")
    if reason is not None:
        body = joined([paragraph(label("accepted-reason")), paragraph(exact(reason))])
        yield Section(label("the-risk-was-accepted"), body, label("accepted-risk"))
    elif verdict.word == REFUSE:
        body = paragraph(label("refused"))
        yield Section(label("nothing-was-published"), body, label("not-published"))


def _not_known(review: Review) -> Card:
    tried = label("attackers-tried")
    return Card("attacked", tried, 0, label("none"), review.not_attacked, "warn")


def _summary(
    verdict: RiskVerdict, manifest: Manifest, job: Job, private: Mapping[str, Any], review: Review
) -> Iterator[Section]:
    # What else to look at.
    if verdict.remarks:
        yield Section(label("also-look-at"), sentences(verdict.remarks), label("also-look-at"))
    yield from unchanged_columns(persons_singled_out(private) or manifest.singling_out)
    if verdict.stronger:
        yield Section(
            label("stronger-than-you-asked-for"),
            joined([paragraph(label("stronger-note")), sentences(verdict.stronger)]),
            label("stronger"),
        )
    # What is guaranteed, and what is not.
    guarantees = [guarantee_line(promise, manifest.unit) for promise in manifest.promises]
    guarantees += private.get("stricter", [])
    guaranteed = sentences(guarantees) or paragraph(label("nothing-guaranteed"))
    yield Section(
        label("guaranteed-or-not"),
        joined(
            [
                subheading(label("guaranteed")), guaranteed,
                subheading(label("not-guaranteed")),
                sentences(
                    [
                        *certain_attackers(manifest.readers),
                        *uncomputed(manifest, manifest.readers),
                        *known_weaknesses(manifest),
                    ]
                ),
            ]
        ),
        label("guarantees"),
    )  # fmt: skip
    # Links to a population.
    known = private.get("utility", {}).get("population")
    if known:
        from discreet.knowledge.population_figures import PopulationFigures

        about = sentences(PopulationFigures.of(known).sentences())
        yield Section(label("risk-in-the-population"), about, label("population"))
    elif job.with_role(Role.WEIGHT) or job.population_size is not None:
        about = paragraph(label("population-not-estimated"))
        yield Section(label("risk-in-the-population"), about, label("population"))
    # What analysts lose, and who is at risk.
    lost = _lost(review, private)
    if lost:
        useless = [paragraph(sentence) for sentence in verdict.utility]
        yield Section(label("what-analysts-lose"), joined([*useless, lost]), label("utility"))
    yield Section(label("who-is-at-risk"), _at_risk(review), label("at-risk"))


def _lost(review: Review, private: Mapping[str, Any]) -> Markup:
    rows: list[tuple[str, str, str, str]] = []
    if review.errors is not None:
        for name, form in (("counts", "{:.1%}"), ("shares", "{:.2%}"), ("means", "{:.1%}")):
            error: AnalystError | None = getattr(review.errors, name)
            if error is not None:
                rows.append(
                    _lost_row(name, form.format(error.release), form.format(error.unlinked))
                )
    loss = private.get("utility", {}).get("loss")
    if loss is not None:
        rows.append(_lost_row("information", f"{loss:.1%}", "100 %"))
    if not rows:
        return paragraph(label("not-measured"))
    return table(labels("figure", "meaning", "this-release", "without-any-link"), rows, (2, 3))


def _lost_row(name: str, release: str, unlinked: str) -> tuple[str, str, str, str]:
    return Statement(f"errors.{name}"), Statement(f"errors.{name}.meaning"), release, unlinked


def _at_risk(review: Review) -> Markup:
    attacks = review.attacks
    if attacks is None or attacks.at_risk is None:
        return paragraph(Statement("at-risk.not-listed"))
    reason = next((attacks.omitted[name] for name in LISTING if name in attacks.omitted), None)
    rows = len({listed.row for listed in attacks.at_risk})
    form = "at-risk.rows" if rows else "at-risk.none-found"
    counted = {"rows": rows} if rows else {}
    if reason is not None:
        return paragraph(Statement(f"{form}.incomplete", reason=reason, **counted))
    if not rows and attacks.about_values:
        return paragraph(Statement("at-risk.none"))
    return paragraph(Statement(form, **counted))


def _provenance(manifest: Manifest, review: Review) -> Markup:
    facts: list[tuple[str, str]] = [
        (Statement(f"fact.{name}"), fact) for name, fact in review.facts.items()
    ]
    facts += [
        (label("sha256-of", file=entry.file), entry.sha256 or "")
        for entry in manifest.tables.values()
    ]
    rows = [(name, tag("code", exact(day_text(fact)))) for name, fact in facts]
    return table(("", ""), rows)


def _details(
    manifest: Manifest,
    job: Job,
    picture: Picture,
    private: Mapping[str, Any],
    review: Review,
    utility: Mapping[str, Any],
) -> Iterator[Section]:
    yield Section(label("provenance"), _provenance(manifest, review), label("provenance"))
    # Where it comes from, and what became of each column.
    hidden = [name for name, attribute in job.attributes.items() if not attribute.role.published]
    treated: list[str] = [Statement("columns.never-published", columns=hidden)] if hidden else []
    treated += [*collapsed(manifest), *treatment(manifest)]
    treated += explain_privately(manifest, private)[1:]
    yield Section(
        label("details-the-columns"),
        joined([sentences(treated), _columns(review)]),
        label("details"),
    )
    for sample in review.samples:
        yield Section(label("before-and-after", table=sample.table), _sample(sample))
    yield Section(label("guarantees-in-full"), promise_table(manifest.promises, manifest.unit))
    # Groups, losses and attackers.
    drawn = figures([*picture_charts(picture), *loss_charts(utility)])
    all_figures = folded(label("all-figures"), figure_table(utility))
    yield Section(label("groups-and-loss"), joined([drawn, all_figures]), label("groups"))
    if review.attacks is not None:
        limit = review.attacks.seconds
        tried = label("attacks-tried", seconds=limit) if limit else ""
        yield Section(
            label("the-worst-attackers"),
            joined([paragraph(tried), worst_attackers(review.attacks)]),
            label("attackers"),
        )
        yield Section(label("all-attackers"), attack_details(review.attacks))
    facts = facts_table(private.get("method", {}).items())
    if facts:
        yield Section(label("what-the-method-did"), facts)
    yield Section(label("what-is-in-the-folder"), tables_of(manifest))
    yield from origin(manifest, job)


def _columns(review: Review) -> Markup:
    rows = [
        (exact(name), Statement(f"role.{role}"), f"{before:,}", f"{after:,}")
        for name, role, before, after in review.columns
    ]
    if not rows:
        return Markup("")
    return table(labels("column", "role", "values-before", "values-after"), rows, (2, 3))


def _sample(sample: Any) -> Markup:
    rows = [
        [joined([exact(old), " → ", tag("b", exact(new))]) for old, new in row]
        for row in sample.rows
    ]
    return joined(
        [paragraph(label("some-rows")), table([exact(name) for name in sample.names], rows)]
    )
