"""A profile as a page: which rows are unique, and what can be guaranteed."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.job.table_profile import Profile
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import risk_chart
from discreet.report.pieces import (
    Card,
    Html,
    Page,
    Section,
    figures,
    joined,
    paragraph,
    sentences,
    subheading,
    table,
)
from discreet.report.profile_view import SHOWN_PAIRS, persons_sentence


def profile_page(profile: Profile) -> Page:
    """The page."""
    risk = profile.risk
    heading = (
        f"{profile.rows:,} rows, no quasi-identifier"
        if risk is None
        else f"{risk.unique_share:.1%} of the rows are unique"
    )
    lede = (
        ""
        if risk is None
        else f"An attacker who knows all {len(profile.quasi_identifiers)} quasi-identifiers "
        f"({', '.join(profile.quasi_identifiers)}) distinguishes {risk.classes:,} groups "
        f"among {profile.rows:,} rows."
    )
    proposed = (
        ""
        if profile.proposals is None
        else "Roles are a proposal from names and values; correct them in the job file."
    )
    counts = profile.persons
    persons = "" if counts is None else persons_sentence(profile, counts)
    return Page(
        kind="Profile",
        subject="before anything is published",
        heading=heading,
        tone="warn" if risk is not None and risk.unique_share > 0 else "",
        lede=(lede, persons, proposed, *profile.warnings),
        cards=list(_cards(profile)),
        sections=list(_sections(profile)),
    )


def profile_charts(profile: Profile) -> list[Chart]:
    """The plots of a profile."""
    riskiest: dict[int, tuple[str, float]] = {}
    for subset in sorted(profile.subsets, key=lambda one: -one.unique_share):
        riskiest.setdefault(len(subset.columns), (", ".join(subset.columns), subset.unique_share))
    chart = risk_chart([riskiest[size] for size in sorted(riskiest)])
    return [] if chart is None else [chart]


def _cards(profile: Profile) -> Iterator[Card]:
    yield Card("rows", "rows", profile.rows, f"{profile.rows:,}")
    if profile.risk is not None:
        risk = profile.risk
        yield Card(
            "average-risk", "average re-identification risk", risk.average_risk,
            f"{risk.average_risk:.1%}",
        )  # fmt: skip
    if profile.sensitive:
        least = min(profile.sensitive, key=lambda one: one.l_per)
        yield Card(
            "largest-l", "largest ℓ for all sensitive attributes", least.l_per, f"{least.l_per}",
            f"limited by '{least.name}'",
        )  # fmt: skip


def _sections(profile: Profile) -> Iterator[Section]:
    drawn = figures(profile_charts(profile))
    if drawn:
        yield Section("Which rows are unique", drawn, "Risk")
    if profile.population is not None:
        said = sentences(profile.population.sentences())
        yield Section("Risk in the population", said, "Population")
    if profile.sensitive:
        yield Section("The strongest feasible guarantees", _promises(profile), "Guarantees")
    if profile.associations:
        yield Section("Association between sensitive attributes", _pairs(profile), "Links")
    yield Section("Columns", _columns(profile), "Columns")


def _promises(profile: Profile) -> Html:
    head = ("attribute", "distinct ℓ", "entropy ℓ", "l_per", "largest share", "t, raw")
    rows = [
        (s.name, f"{s.values:,}", f"{s.entropy_l:.2f}", f"{s.l_per}", f"{s.largest_share:.1%}",
         "–" if s.raw_t is None else f"{s.raw_t:.3f}")
        for s in profile.sensitive
    ]  # fmt: skip
    ells = list(profile.least_suppressed)
    gone = [
        (s.name, *(f"{share:.1%}" for share in s.least_suppressed.values()))
        for s in profile.sensitive
    ]
    if len(profile.sensitive) > 1:
        gone.append(("all at once", *(f"{v:.1%}" for v in profile.least_suppressed.values())))
    return joined(
        [
            table(head, rows, range(1, 6)),
            subheading("Least share of rows that p-diversity must suppress"),
            table(("attribute", *(f"ℓ = {ell}" for ell in ells)), gone, range(1, len(ells) + 1)),
            paragraph(f"Suggested primary attribute: {profile.primary}."),
        ]
    )


def _pairs(profile: Profile) -> Html:
    strongest = sorted(profile.associations, key=lambda pair: -pair.mutual_information)
    rows = [
        (f"{p.first}, {p.second}", f"{p.mutual_information:.4f}", f"{p.normalized:.1%}")
        for p in strongest[:SHOWN_PAIRS]
    ]
    return table(("attributes", "nats", "of the smaller entropy"), rows, {1, 2})


def _columns(profile: Profile) -> Html:
    rows = [(c.name, c.role, c.type, f"{c.distinct:,}", f"{c.missing:,}") for c in profile.columns]
    return table(("column", "role", "type", "distinct values", "missing"), rows, {3, 4})
