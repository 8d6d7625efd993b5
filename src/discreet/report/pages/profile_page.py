"""A profile as a page: which rows are unique, and what can be guaranteed."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from discreet.job.table_profile import Profile
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import risk_chart
from discreet.report.pieces import (
    Card,
    Page,
    Section,
    exact,
    figures,
    joined,
    label,
    labels,
    paragraph,
    sentences,
    subheading,
    table,
)
from discreet.report.profile_view import SHOWN_PAIRS, persons_sentence
from discreet.statements import Statement


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
    drawn = figures(profile_charts(profile))
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
    yield Section(label("columns"), _columns(profile), label("columns"))


def _promises(profile: Profile) -> Markup:
    head = labels("attribute", "distinct-l", "entropy-l", "l-per", "largest-share", "raw-t")
    rows = [
        (exact(s.name), f"{s.values:,}", f"{s.entropy_l:.2f}", f"{s.l_per}",
         f"{s.largest_share:.1%}", "–" if s.raw_t is None else f"{s.raw_t:.3f}")
        for s in profile.sensitive
    ]  # fmt: skip
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
    rows = [
        (exact(c.name), Statement(f"role.{c.role}"), exact(c.type), f"{c.distinct:,}",
         f"{c.missing:,}")
        for c in profile.columns
    ]  # fmt: skip
    return table(labels("column", "role", "type", "distinct-values", "missing"), rows, {3, 4})
