"""The report for the person who signs: the verdict, a declaration to sign, and what it rests on.

Before the lines to sign, on two printed pages: verdict, what attackers learn and analysts lose, the
columns, and the guarantees. Behind them are the figures, and at the end the job and its method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Finding
from discreet.job.model import Job
from discreet.releases.audit.figures import Picture
from discreet.releases.explanation import (
    certain_attackers,
    collapsed,
    guarantee_line,
    known_weaknesses,
    persons_of_rows,
    persons_singled_out,
    private_details,
    published,
    treatment,
    uncomputed,
    warnings,
)
from discreet.releases.manifest import Manifest
from discreet.releases.singling_out import singling_sentences
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import (
    learned_chart,
    lost_chart,
    picture_charts,
    shape_chart,
)
from discreet.report.pages.attack_page import attack_details, worst_attackers
from discreet.report.pages.release_page import origin
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    badge,
    exact,
    facts_table,
    figure_table,
    figures,
    folded,
    joined,
    label,
    labels,
    paragraph,
    phrase,
    sentences,
    subheading,
    table,
    tag,
)
from discreet.report.risk_verdict import (
    LOOK,
    READY,
    REFUSE,
    Review,
    RiskVerdict,
    SampledRows,
    risk_verdict,
)
from discreet.statements import Statement, day_text
from discreet.table.roles import Role

# Where the list of rows at risk comes from; what is left out of these is left out of the list.
LISTING = ("rows at risk", "set-homogeneity", "link-through-sensitive-table")
# Remarks of a verdict about an attacker who was judged in part, and who that is.
PARTLY = {
    "verdict.colleague-not-judged": StandardAttacker.COLLEAGUE,
    "verdict.archivist-without-ledger": StandardAttacker.ARCHIVIST,
}
SHADE = 0.85  # of the strongest association in a map
SIGNED_COLUMNS = 16  # of the table before the signature; the others follow behind it


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
    columns = _columns(manifest, job, private, review)
    details = _details(manifest, job, picture, private, review, columns[SIGNED_COLUMNS:])
    cards = [figure.card() for figure in verdict.worst_figures]
    if review.attacks is None:
        tried = label("attackers-tried")
        cards.append(Card("attacked", tried, 0, label("none"), review.not_attacked, "warn"))
    return Page(
        kind=label("report-to-sign"),
        subject=label("by-method", method=manifest.method.name),
        heading=label(verdict.word.lower().replace(" ", "-")),
        tone=verdict.tone,
        lede=(label("private"), *warnings(manifest.promises)),
        conclusion=list(_conclusion(verdict, manifest, private, review)),
        cards=cards,
        sections=[
            *_summary(verdict, manifest, job, private, review, columns[:SIGNED_COLUMNS]),
            *(replace(section, detail=True) for section in details),
        ],
        declaration=_declaration(verdict, manifest, private, review),
    )


def _conclusion(
    verdict: RiskVerdict, manifest: Manifest, private: Mapping[str, Any], review: Review
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the verdict block: whom it is about, why, and what to do."""
    yield label("conclusion.attackers"), [verdict.about]
    revealed = [figure.sentence for figure in verdict.worst_figures if figure.key != "singled_out"]
    above = [] if verdict.reasons else [Statement("verdict.none-above")]
    yield label("conclusion.open"), verdict.remarks
    yield label("conclusion.revealed"), [*above, *revealed]
    unique = persons_singled_out(private) or manifest.singling_out
    if unique is not None:
        yield label("conclusion.unchanged"), singling_sentences(unique)[:2]
    yield label("conclusion.analysts"), [*_use(review), *verdict.utility]
    reason = private.get("accepted_risk")
    steps = {READY: Statement("next.ready"), LOOK: Statement("next.look"), REFUSE: label("refused")}
    accepted = Statement("next.accepted", reason=reason)
    yield label("conclusion.next"), [steps[verdict.word] if reason is None else accepted]


def _use(review: Review) -> Sequence[str]:
    """Return which figures of analysts are closer than from two tables without any link."""
    if review.errors is None:
        return [label("not-measured")]
    if review.errors.no_better_than_unlinked:
        return []
    keys = [key for key in ("counts", "shares", "means") if getattr(review.errors, key) is not None]
    names: dict[bool, list[str]] = {True: [], False: []}
    for key in keys:
        error = getattr(review.errors, key)
        names[error.smaller].append(Statement(f"errors.{key}"))
    if not names[True]:
        return [label("not-measured")]
    if not names[False]:
        return [Statement("verdict.better-than-unlinked", better=names[True])]
    return [
        Statement("verdict.better-than-unlinked.partly", better=names[True], worse=names[False])
    ]


def _declaration(
    verdict: RiskVerdict, manifest: Manifest, private: Mapping[str, Any], review: Review
) -> Markup:
    """Return what a signature declares: what was tested, and what was not."""
    blank = tag("span", class_="blank")
    files = exact(", ".join(entry.file for entry in manifest.tables.values()))
    rows = exact(f"{manifest.published_rows:,}")
    release = phrase("declaration.release", rows=rows, files=files, recipient=blank, purpose=blank)
    word = label(verdict.word.lower().replace(" ", "-"))
    stated: list[str] = [
        Statement("declaration.verdict", verdict=word),
        *_considered(verdict, review),
    ]
    if private.get("accepted_risk") is not None:
        stated.append(Statement("next.accepted", reason=private["accepted_risk"]))
    return tag(
        "section", tag("h2", label("declaration")), paragraph(release),
        *map(paragraph, stated), class_="declaration",
    )  # fmt: skip


def _considered(verdict: RiskVerdict, review: Review) -> Iterator[str]:
    """Yield which attackers were considered, which of them in part, and which were not."""
    choice, attacks = verdict.choice, review.attacks
    names = [name.noun for name in choice.names]
    if attacks is None:
        yield review.not_attacked or Statement("verdict.not-attacked")
        names = []
    elif choice.declared:
        yield Statement("declaration.declared", attackers=list(choice.declared))
    else:
        count = sum(finding.attacker in choice.names for finding in attacks.findings)
        yield Statement("declaration.considered", count=count, attackers=names)
    partly = [
        PARTLY[remark.id].noun if remark.id in PARTLY else remark.parameters["attacker"]
        for remark in verdict.remarks
        if isinstance(remark, Statement) and remark.id in (*PARTLY, "verdict.not-run")
    ]
    if partly:
        yield Statement("declaration.partly", attackers=list(dict.fromkeys(partly)))
    others = [name.noun for name in StandardAttacker if name.noun not in names]
    if others:
        yield Statement("declaration.not-considered", attackers=others)


def _summary(
    verdict: RiskVerdict,
    manifest: Manifest,
    job: Job,
    private: Mapping[str, Any],
    review: Review,
    columns: Sequence[Sequence[str]],
) -> Iterator[Section]:
    # What attackers learn, beside what analysts lose; what others would learn.
    loss = private.get("utility", {}).get("loss")
    drawn = figures([_learned(verdict, manifest, review), lost_chart(review.errors, loss)])
    stronger = [subheading(label("stronger-than-you-asked-for")), sentences(verdict.stronger)]
    yield Section(
        label("what-is-learned-and-lost"),
        joined([drawn, paragraph(_at_risk(review)), *(stronger if verdict.stronger else [])]),
        label("utility"),
    )
    yield Section(label("columns"), _column_table(columns), label("columns"))
    # What is guaranteed, and what is not.
    guarantees = [guarantee_line(promise, manifest.unit) for promise in manifest.promises]
    guarantees += private.get("stricter", [])
    guaranteed = sentences(guarantees) or paragraph(label("nothing-guaranteed"))
    exceptions = [*certain_attackers(manifest.readers), *uncomputed(manifest, manifest.readers)]
    yield Section(
        label("what-is-guaranteed"),
        joined([guaranteed, subheading(label("not-guaranteed")) if exceptions else "",
                sentences(exceptions)]),
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


def _learned(verdict: RiskVerdict, manifest: Manifest, review: Review) -> Chart | None:
    """Return the chart of what the chosen attackers believe, the worst of each column."""
    if review.attacks is None:
        return None
    worst: dict[str, Finding] = {}
    for finding in review.attacks.about_values:
        if finding.attacker in verdict.choice.names or verdict.choice.declared:
            for name in manifest.coverage:  # also at a level of its hierarchy
                if finding.aim == name or finding.aim.startswith(f"{name} ("):
                    worst.setdefault(name, finding)
    return learned_chart(list(worst.values()))


def _at_risk(review: Review) -> Statement:
    attacks = review.attacks
    if attacks is None or attacks.at_risk is None:
        return Statement("at-risk.not-listed")
    reason = next((attacks.omitted[name] for name in LISTING if name in attacks.omitted), None)
    rows = len({listed.row for listed in attacks.at_risk})
    form = "at-risk.rows" if rows else "at-risk.none-found"
    counted = {"rows": rows} if rows else {}
    if reason is not None:
        return Statement(f"{form}.incomplete", reason=reason, **counted)
    if not rows and attacks.about_values:
        return Statement("at-risk.none")
    return Statement(form, **counted)


def _columns(
    manifest: Manifest, job: Job, private: Mapping[str, Any], review: Review
) -> list[Sequence[str]]:
    """Return a line for each column: role, what was done, values; unchanged columns first."""
    utility = private.get("utility", {})
    losses: dict[str, float] = {}
    for measured in (utility.get("tables") or {"": utility}).values():
        losses |= measured.get("loss_by_attribute", {})
    values = {name: f"{before:,} → {after:,}" for name, _, before, after in review.columns}
    roles = {n: role for entry in manifest.tables.values() for n, role in entry.columns.items()}
    order = sorted(
        roles, key=lambda name: (not roles[name].unchanged, list(Role).index(roles[name]))
    )
    lines: list[Sequence[str]] = [
        (
            tag("strong", exact(name)) if roles[name].unchanged else exact(name),
            Statement(f"role.{roles[name]}"),
            _done(name, roles[name], losses.get(name), manifest),
            values.get(name, "–"),
        )
        for name in order
        if roles[name] is not Role.STRUCTURE
    ]
    hidden: dict[Role, list[str]] = {}
    for name, attribute in job.attributes.items():
        if not attribute.role.published:
            hidden.setdefault(attribute.role, []).append(name)
    for role, names in hidden.items():
        names_of_role = exact(", ".join(names))
        lines.append((names_of_role, Statement(f"role.{role}"), Statement("column.hidden"), "–"))
    return lines


def _done(name: str, role: Role, loss: float | None, manifest: Manifest) -> str:
    """Return what was done to a published column."""
    if role.unchanged:
        return badge(Statement("column.unchanged"), "warn")
    if role in (Role.SENSITIVE, Role.QUASI_SENSITIVE):
        covering = manifest.coverage.get(manifest.dependents.get(name, name))
        if covering:
            return Statement("column.covered", guarantees=covering)
        return badge(Statement("column.uncovered"), "bad")
    if loss is None:
        return Statement("column.coarsened-further")
    return Statement("column.coarsened", loss=loss) if loss else Statement("column.exact")


def _column_table(lines: Sequence[Sequence[str]]) -> Markup:
    return table(labels("column", "role", "what-was-done", "values-before-after"), lines, (3,))


def _details(
    manifest: Manifest,
    job: Job,
    picture: Picture,
    private: Mapping[str, Any],
    review: Review,
    columns: Sequence[Sequence[str]],
) -> Iterator[Section]:
    utility = private.get("utility", {})
    # What is not covered, and what became of columns and rows.
    weaknesses = sentences(known_weaknesses(manifest))
    yield Section(label("what-is-not-covered"), weaknesses, label("not-covered"))
    if columns:
        yield Section(label("more-columns"), _column_table(columns))
    steps = [
        published(manifest, persons_of_rows(manifest, private)),
        *collapsed(manifest),
        *treatment(manifest, columns=False),
        *private_details(manifest, private),
    ]
    yield Section(label("what-was-done-to-the-table"), sentences(steps), label("details"))
    for sample in review.samples[:1]:  # those of further tables show the same columns
        yield Section(label("before-and-after", table=sample.table), _sample(sample))
    if review.shapes is not None and review.shapes.names:
        shapes = review.shapes
        related = association_map(shapes.names, shapes.before, shapes.after)
        drawn = joined([figures([shape_chart(shapes)]), related])
        yield Section(label("distributions-and-associations"), drawn, label("distributions"))
    # Groups and attackers.
    drawn = figures(picture_charts(picture))
    all_figures = folded(label("all-figures"), figure_table(utility))
    yield Section(label("figures"), joined([drawn, all_figures]), label("figures"))
    if review.attacks is not None:
        limit = review.attacks.seconds
        tried = label("attacks-tried", seconds=limit) if limit else ""
        worst = worst_attackers(review.attacks)
        parts = [paragraph(tried), worst, attack_details(review.attacks, every=False)]
        yield Section(label("the-worst-attackers"), joined(parts), label("attackers"))
    # Where it comes from.
    yield Section(label("provenance"), _provenance(manifest, review), label("provenance"))
    facts = facts_table(private.get("method", {}).items())
    if facts:
        yield Section(label("what-the-method-did"), facts)
    yield from origin(manifest, job, hashes=False)


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


def association_map(
    names: Sequence[str], before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]
) -> Markup:
    """Return the map: above the diagonal the original, below it the table; darker is stronger."""
    rows = []
    for i, name in enumerate(names):
        cells: list[Markup] = [exact(name)]
        for j in range(len(names)):
            strength = (before if j > i else after)[i][j]
            shade = f"--strength: {SHADE * strength:.0%}"
            shown = tag("span", f"{strength:.2f}", class_="strength", style=shade)
            cells.append(Markup("") if i == j else shown)
        rows.append(cells)
    head = (label("column"), *(exact(name) for name in names))
    drawn = table(head, rows, range(1, len(head)))
    return joined([paragraph(label("association-map")), drawn])


def _sample(sample: SampledRows) -> Markup:
    rows = [
        [joined([exact(old), " → ", tag("b", exact(new))]) for old, new in row]
        for row in sample.rows
    ]
    return joined(
        [paragraph(label("some-rows")), table([exact(name) for name in sample.names], rows)]
    )
