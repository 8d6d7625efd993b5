"""The report for the person who signs: first the verdict about risk, then why; details last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from discreet.job.model import Job
from discreet.releases.analyst_errors import AnalystError
from discreet.releases.explanation import (
    certain_attackers,
    collapsed,
    explain_privately,
    guarantee_line,
    people_of_rows,
    published,
    treatment,
    uncomputed,
    warnings,
)
from discreet.releases.group_summary import Picture
from discreet.releases.manifest import Manifest
from discreet.releases.weaknesses import known_weaknesses
from discreet.report.charts.result_charts import loss_charts, share_chart, size_charts
from discreet.report.languages.translation import day
from discreet.report.pages.attack_page import attack_details, worst_attackers
from discreet.report.pages.measure_page import figure_table
from discreet.report.pages.provenance import origin
from discreet.report.pages.release_page import method_facts, promise_table, tables_of
from discreet.report.pieces import (
    Card,
    Html,
    Page,
    Section,
    exact,
    figures,
    folded,
    joined,
    paragraph,
    sentences,
    subheading,
    table,
)
from discreet.report.review import Review
from discreet.report.risk_verdict import RiskVerdict, risk_verdict
from discreet.table.roles import Role

# Where the list of rows at risk comes from; what is left out of these is left out of the list.
LISTING = ("rows at risk", "set-homogeneity", "link-through-sensitive-table")
NOT_ESTIMATED = (
    "Not estimated: the cells of this release are as narrow as the rows of each group, or it has "
    "no row for each person, so weights do not tell how many persons fit. Name a table under"
    " `population:`, or use full-domain or mondrian with 'cells: blind'."
)
PRIVATE = (
    "PRIVATE: for the publisher only. Figures of this page were computed with the original and "
    "would let an attacker narrow down values. Do not publish it."
)


def verdict_of(
    manifest: Manifest, job: Job, private: Mapping[str, Any], review: Review
) -> RiskVerdict:
    """Return the verdict about a release's risk."""
    utility = private.get("utility", {})
    return risk_verdict(manifest, review.attacks, job.sign_off, utility, review.not_attacked)


def signing_page(
    manifest: Manifest, job: Job, picture: Picture, private: Mapping[str, Any], review: Review
) -> Page:
    """Return the page for the person who signs: also what the release must not hold."""
    verdict = verdict_of(manifest, job, private, review)
    utility = private.get("utility", {})
    cards = [one.card() for one in verdict.figures] or [_not_known(review)]
    return Page(
        kind="Report to sign",
        subject=f"by {manifest.method.name}",
        heading=verdict.word,
        tone=verdict.tone,
        lede=(
            *warnings(manifest.promises),
            published(manifest, people_of_rows(manifest, private)),
            PRIVATE,
        ),
        cards=cards,
        sections=[
            *_summary(verdict, manifest, job, private, review),
            *_details(manifest, job, picture, private, review, utility),
        ],
        to_sign=True,
    )


def _not_known(review: Review) -> Card:
    return Card("attacked", "attackers tried", 0, "none", review.not_attacked, "warn")


def _summary(
    verdict: RiskVerdict, manifest: Manifest, job: Job, private: Mapping[str, Any], review: Review
) -> Iterator[Section]:
    if verdict.remarks:
        yield Section("Also look at", sentences(verdict.remarks), "Also look at")
    kept = [guarantee_line(promise, manifest.unit) for promise in manifest.promises]
    kept += private.get("stricter", [])
    guaranteed = sentences(kept) or paragraph("Nothing: the job states no requirement.")
    yield Section(
        "What is guaranteed, and what is not",
        joined(
            [
                subheading("Guaranteed"), guaranteed,
                subheading("Not guaranteed"),
                sentences(
                    [
                        *certain_attackers(manifest.readers),
                        *uncomputed(manifest, manifest.readers),
                        *known_weaknesses(manifest),
                    ]
                ),
            ]
        ),
        "Guarantees",
    )  # fmt: skip
    if review.attacks is not None:
        limit = review.attacks.seconds
        said = f"Every attack that applies was tried, for at most {limit:g} s." if limit else ""
        yield Section(
            "The worst attackers",
            joined([paragraph(said), worst_attackers(review.attacks)]),
            "Attackers",
        )
    known = private.get("utility", {}).get("population")
    if known:
        from discreet.knowledge.population_figures import PopulationFigures

        about = sentences(PopulationFigures.of(known).sentences())
        yield Section("Risk in the population", about, "Population")
    elif job.with_role(Role.WEIGHT) or job.population_size is not None:
        yield Section("Risk in the population", paragraph(NOT_ESTIMATED), "Population")
    lost = _lost(review, private)
    if lost:
        yield Section("What analysts lose", lost, "Utility")
    yield Section("Who is at risk", _at_risk(review), "At risk")
    yield Section("Provenance", _provenance(manifest, review), "Provenance")


def _lost(review: Review, private: Mapping[str, Any]) -> Html:
    utility = private.get("utility", {})
    rows = []
    if review.errors is not None:
        found = review.errors
        rows += [
            _error("counts", "median error of a count by one quasi-identifier and one sensitive "
                   "value", found.counts, "{:.1%}"),
            _error("shares", "mean error of a value's share within a group of analysts, in "
                   "percentage points", found.shares, "{:.2%}"),
            _error("means", "median error of a mean by one quasi-identifier", found.means,
                   "{:.1%}"),
        ]  # fmt: skip
    kept = [row for row in rows if row is not None]
    loss = utility.get("loss")
    if loss is not None:
        kept.append(("information", "lost of the quasi-identifiers", f"{loss:.1%}", "100 %"))
    if not kept:
        return paragraph("Not measured. Run 'discreet measure RELEASE --original JOB'.")
    head = ("figure", "meaning", "this release", "without any link")
    return table(head, kept, (2, 3))


def _error(
    name: str, meaning: str, found: AnalystError | None, form: str
) -> tuple[str, str, str, str] | None:
    if found is None:
        return None
    return name, meaning, form.format(found.release), form.format(found.unlinked)


def _at_risk(review: Review) -> Html:
    attacks = review.attacks
    if attacks is None or attacks.at_risk is None:
        return paragraph(
            "Not listed: no attacker was tried, or the release was made in parts, which do not "
            "keep the numbers of source rows."
        )
    cut = [name for name in LISTING if name in attacks.omitted]
    missing = f" The list is not complete: {attacks.omitted[cut[0]]}." if cut else ""
    if not attacks.at_risk:
        if not attacks.about_values or cut:
            return paragraph(f"No row was found at risk.{missing or ' No attack applies.'}")
        return paragraph("No row is at risk beyond what is known without the release.")
    rows = len({one.row for one in attacks.at_risk})
    return paragraph(
        f"{rows:,} rows. The private file that ends in '.private.rows.csv' lists their numbers in "
        f"the source, so that they can be generalized further or left out.{missing}"
    )


def _provenance(manifest: Manifest, review: Review) -> Html:
    files = [(one.file, one.sha256 or "") for one in manifest.tables.values()]
    facts = [*review.facts.items(), *((f"sha256 of {file}", digest) for file, digest in files)]
    rows = [(name, Html(f"<code>{exact(day(fact))}</code>")) for name, fact in facts]
    return table(("", ""), rows)


def _detailed(
    manifest: Manifest,
    job: Job,
    picture: Picture,
    private: Mapping[str, Any],
    review: Review,
    utility: Mapping[str, Any],
) -> Iterator[Section]:
    hidden = [name for name, one in job.attributes.items() if not one.role.published]
    said = [f"Never published: {', '.join(hidden)}."] if hidden else []
    said += [*collapsed(manifest), *treatment(manifest), *explain_privately(manifest, private)[1:]]
    yield Section("Details: the columns", joined([sentences(said), _columns(review)]), "Details")
    for sample in review.samples:
        yield Section(f"Rows of '{sample.table}' before and after", _sample(sample))
    yield Section("Guarantees in full", promise_table(manifest.promises, manifest.unit))
    drawn = figures([share_chart(picture), *size_charts(picture), *loss_charts(utility)])
    yield Section(
        "Groups and loss", joined([drawn, folded("All figures", figure_table(utility))]), "Groups"
    )
    if review.attacks is not None:
        yield Section("All attackers", attack_details(review.attacks))
    facts = method_facts(private.get("method", {}))
    if facts:
        yield Section("What the method did", facts)
    yield Section("What is in the folder", tables_of(manifest))
    yield from origin(manifest, job)


def _details(
    manifest: Manifest,
    job: Job,
    picture: Picture,
    private: Mapping[str, Any],
    review: Review,
    utility: Mapping[str, Any],
) -> Iterator[Section]:
    for section in _detailed(manifest, job, picture, private, review, utility):
        yield replace(section, detail=True)


def _columns(review: Review) -> Html:
    rows = [
        (exact(one.name), one.role, f"{one.before:,}", f"{one.after:,}") for one in review.columns
    ]
    if not rows:
        return Html("")
    return table(("column", "role", "values before", "values after"), rows, (2, 3))


def _sample(sample: Any) -> Html:
    rows = [
        [joined([exact(old), Html(" → <b>"), exact(new), Html("</b>")]) for old, new in row]
        for row in sample.rows
    ]
    note = paragraph("Quasi-identifiers of some rows, in the source → as published.")
    return joined([note, table([exact(name) for name in sample.names], rows)])
