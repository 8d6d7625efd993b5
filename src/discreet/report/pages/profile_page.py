"""Pages about a table before it is published: its profile, and the frontier of projections.

A profile has the rows that are unique, and what can be guaranteed. The frontier of projection plans
has what each number of tables loses and exposes. A terminal prints both pages as text.
"""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from discreet.job.table_profile import LinkProfile, Profile, SubsetRisk
from discreet.methods.codip.frontier import Frontier, FrontierStep
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import plan_chart, risk_chart
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    exact,
    explained,
    figures,
    joined,
    label,
    labels,
    paragraph,
    sentences,
    subheading,
    table,
)
from discreet.statements import Statement
from discreet.table.persons import PersonCounts

SHOWN_SUBSETS = 3  # of each size, the riskiest
SHOWN_PAIRS = 20  # of sensitive attributes; bits make thousands


def profile_page(profile: Profile) -> Page:
    """The page."""
    risk = profile.risk
    heading = Statement("profile.no-quasi-identifier", rows=profile.rows)
    lede: list[str] = []
    if risk is not None:
        heading = Statement("profile.unique", share=risk.unique_share)
        columns = profile.quasi_identifiers
        lede.append(
            Statement(
                "profile.distinguishes", count=len(columns), columns=columns,
                groups=risk.classes, rows=profile.rows,
            )
        )  # fmt: skip
    if profile.persons is not None:
        lede.append(persons_sentence(profile, profile.persons))
    if profile.proposals is not None:
        lede.append(Statement("profile.proposed-roles"))
    return Page(
        kind=label("profile"),
        subject=label("before-anything-is-published"),
        heading=heading,
        tone="warn" if risk is not None and risk.unique_share > 0 else "",
        lede=(*lede, *profile.warnings),
        cards=list(_cards(profile)),
        sections=list(_sections(profile)),
    )


def profile_charts(profile: Profile) -> list[Chart]:
    """The plots of a profile."""
    riskiest: dict[int, tuple[str, float]] = {}
    for subset in sorted(profile.subsets, key=lambda item: -item.unique_share):
        riskiest.setdefault(len(subset.columns), (", ".join(subset.columns), subset.unique_share))
    chart = risk_chart([riskiest[size] for size in sorted(riskiest)])
    return [] if chart is None else [chart]


def persons_sentence(profile: Profile, persons: PersonCounts) -> Statement:
    """Return how many rows persons have, and how many persons are unique."""
    by_rows = [
        Statement("profile.persons-by-rows", rows=rows, persons=count)
        for rows, count in persons.persons_by_rows.items()
    ]
    counted = Statement(
        "profile.persons", rows=persons.rows, persons=persons.persons, by_rows=by_rows
    )
    if profile.unique_persons is None:
        return counted
    return Statement("profile.unique-persons", first=counted, share=profile.unique_persons)


def _cards(profile: Profile) -> Iterator[Card]:
    yield Card("rows", label("rows"), profile.rows, f"{profile.rows:,}")
    if profile.risk is not None:
        risk = profile.risk
        yield Card(
            "average-risk", label("average-risk"), risk.average_risk,
            f"{risk.average_risk:.1%}",
        )  # fmt: skip
    if profile.sensitive:
        least = min(profile.sensitive, key=lambda attribute: attribute.l_per)
        yield Card(
            "largest-l", label("largest-l"), least.l_per, f"{least.l_per}",
            label("limited-by", attribute=least.name),
        )  # fmt: skip


def _sections(profile: Profile) -> Iterator[Section]:
    drawn = figures(profile_charts(profile), _subsets(profile))
    if drawn:
        yield Section(label("which-rows-are-unique"), drawn, label("risk"))
    if profile.population is not None:
        about = sentences(profile.population.sentences())
        yield Section(label("risk-in-the-population"), about, label("population"))
    if profile.sensitive:
        yield Section(label("feasible-guarantees"), _promises(profile), label("guarantees"))
    if profile.associations:
        secrets = sentences([secret.sentence for secret in profile.secrets])
        yield Section(label("associations"), joined([secrets, _pairs(profile)]), label("links"))
    for links in profile.links:
        yield Section(exact(links.name), _links(links, profile.rows))
    yield Section(label("columns"), _columns(profile), label("columns"))


def _subsets(profile: Profile) -> Markup:
    """Return the riskiest sets of quasi-identifiers of each size."""
    by_size: dict[int, list[SubsetRisk]] = {}
    for risk in profile.subsets:
        by_size.setdefault(len(risk.columns), []).append(risk)
    rows = [
        (exact(", ".join(risk.columns)), f"{risk.classes:,}", f"{risk.unique_share:.1%}",
         f"{risk.average_risk:.4f}")
        for risks in by_size.values()
        for risk in risks[:SHOWN_SUBSETS]
    ]  # fmt: skip
    head = labels("quasi-identifiers", "group-count", "unique-rows", "average-risk")
    return table(head, rows, {1, 2, 3}) if rows else Markup("")


def _links(links: LinkProfile, rows: int) -> Markup:
    """Return what a knowledge table tells of the rows of a quasi-sensitive attribute."""
    share = links.single_rows / rows if rows else 0.0
    notes = [
        f"Looked up in a knowledge table of {links.labels:,} labels and {links.terms:,} terms, "
        f"'{links.name}' links {links.single_rows:,} rows ({share:.1%}) to exactly one label, "
        f"{links.unlinked_rows:,} to none and {links.open_rows:,} (without terms) to all."
    ]
    if links.mean_labels is not None:
        notes.append(f"A linked row fits {links.mean_labels:.1f} labels.")
    counts = {
        f"terms, in {links.unknown_rows:,} rows, are in no label": links.unknown_terms,
        "labels have no term": len(links.labels_without_terms),
        "labels are on several lines, which were joined": len(links.doubled_labels),
    }
    notes += [f"{count:,} {note}." for note, count in counts.items() if count]
    exposed = [(exact(name), f"{n:,}", f"{n / rows:.1%}") for name, n in links.exposed]
    head = ("label that rows link to alone", label("rows"), label("share-of-rows"))
    return joined([sentences(notes), table(head, exposed, {1, 2}) if exposed else ""])


def _promises(profile: Profile) -> Markup:
    head = labels("attribute", "distinct-l", "entropy-l", "l-per", "largest-share", "raw-t")
    rows = [
        (exact(s.name), f"{s.values:,}", f"{s.entropy_l:.2f}", f"{s.l_per}",
         f"{s.largest_share:.1%}", "–" if s.raw_t is None else f"{s.raw_t:.3f}")
        for s in profile.sensitive
    ]  # fmt: skip
    # What p-diversity would suppress.
    ells = list(profile.least_suppressed)
    suppressed: list[tuple[str, ...]] = [
        (exact(s.name), *(f"{share:.1%}" for share in s.least_suppressed.values()))
        for s in profile.sensitive
    ]
    if len(profile.sensitive) > 1:
        shares = (f"{share:.1%}" for share in profile.least_suppressed.values())
        suppressed.append((label("all-at-once"), *shares))
    return joined(
        [
            table(head, rows, range(1, 6)),
            subheading(label("least-suppressed")),
            table(
                (label("attribute"), *(exact(f"ℓ = {ell}") for ell in ells)),
                suppressed,
                range(1, len(ells) + 1),
            ),
            paragraph(Statement("profile.primary", attribute=profile.primary)),
        ]
    )


def _pairs(profile: Profile) -> Markup:
    strongest = sorted(profile.associations, key=lambda pair: -pair.mutual_information)
    rows = [
        (exact(f"{p.first}, {p.second}"), f"{p.mutual_information:.4f}", f"{p.normalized:.1%}")
        for p in strongest[:SHOWN_PAIRS]
    ]
    return table(labels("attributes", "nats", "of-the-smaller-entropy"), rows, {1, 2})


def _columns(profile: Profile) -> Markup:
    because = profile.proposals or {}
    rows = [
        (
            explained(exact(c.name), because[c.name].reason)
            if c.name in because
            else exact(c.name),
            Statement(f"role.{c.role}"),
            exact(c.type),
            f"{c.distinct:,}",
            f"{c.missing:,}",
        )
        for c in profile.columns
    ]
    return table(labels("column", "role", "type", "distinct-values", "missing"), rows, {3, 4})


_HEAD = labels(
    "tables", "association-loss", "information-exposure", "closest-t", "better-than-one-table",
    "chosen-t", "requirements-met", "attributes-in-one-table",
)  # fmt: skip


def frontier_page(frontier: Frontier) -> Page:
    """The frontier as a page: plot and table."""
    rows = [
        (*cells, plan if isinstance(plan, Statement) else exact(plan))
        for *cells, plan in map(_cells, reversed(frontier.steps))
    ]
    return Page(
        kind=label("projections"),
        subject=label("of-sensitive-attributes", count=len(frontier.attributes)),
        heading=Statement("headline.projections"),
        tone="",
        lede=(_nodes(frontier) if frontier.nodes else "",),
        cards=(),
        sections=[
            Section(label("the-frontier"), figures([plan_chart(frontier)]), label("plot")),
            Section(
                label("every-number-of-tables"), table(_HEAD, rows, range(1, 6)), label("the-table")
            ),
        ],
    )


def _nodes(frontier: Frontier) -> Statement:
    return Statement("projections.nodes", valid=frontier.nodes_valid, nodes=frontier.nodes)


def _cells(step: FrontierStep) -> tuple[str, ...]:
    together = [" + ".join(block) for block in step.plan if len(block) > 1]
    return (
        str(step.tables),
        f"{step.association_loss:.4f}",
        f"{step.information_exposure:.4f}",
        "–" if step.closeness is None else f"{step.closeness:.4f}",
        "–" if step.improvement is None else f"{step.improvement:.1%}",
        "–" if step.chosen_closeness is None else f"{step.chosen_closeness:.4f}",
        label("met" if step.feasible else "not-met"),
        " | ".join(together) or label("none"),
    )
