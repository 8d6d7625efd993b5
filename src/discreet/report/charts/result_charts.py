"""The chart of each result; how they are drawn is known elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.releases.group_summary import Picture
from discreet.report.charts.chart import Chart, Mark, ReferenceLine, Scale
from discreet.statements import Statement

if TYPE_CHECKING:
    from discreet.attacks.base import Finding
    from discreet.methods.codip.frontier import Frontier
    from discreet.utility.comparison import Comparison, Point

STRIPS = 8  # findings in the plot of beliefs, those with the greatest beliefs
BARS = 24  # attributes in the plot of losses, those with the greatest
LEAST_RATIO = 0.001  # where a release that lost nothing is on a logarithmic axis


def size_charts(picture: Picture) -> list[Chart]:
    """Return how many rows are in groups of which size, for each table that has groups."""
    form = "chart.alike" if picture.alike else "chart.groups"
    several = len(picture.sizes) > 1
    charts = []
    for number, (table, bands) in enumerate(picture.sizes.items(), 1):
        total = sum(band.people for band in bands)
        if not total:
            continue
        shares = [band.people / total for band in bands]
        names = [_band(band.low, band.high) for band in bands]
        charts.append(
            Chart(
                name=f"group_sizes_{number}" if several else "group_sizes",
                form="columns",
                title=_titled(form, table if several else ""),
                note=Statement(f"{form}.note"),
                x=Scale(_word("rows-in-the-group"), percent=False),
                y=Scale(_word("share-of-rows"), high=_above(max(shares))),
                marks=tuple(
                    Mark(y=share, lane=name) for name, share in zip(names, shares, strict=True)
                ),
                head=_words("size-of-the-group", "group-count", "rows", "share-of-rows"),
                table=tuple(
                    (name, f"{band.groups:,}", f"{band.people:,}", f"{share:.1%}")
                    for name, band, share in zip(names, bands, shares, strict=True)
                ),
            )
        )
    return charts


def share_chart(picture: Picture) -> Chart | None:
    """Return what an attacker who knows the groups alone believes in the true values."""
    shown = sorted(picture.beliefs.items(), key=lambda item: -item[1].greatest)[:STRIPS]
    if not shown:
        return None
    marks = [mark for name, belief in shown for mark in _strip(name, belief.histogram)]
    return Chart(
        name="beliefs_by_group",
        form="strips",
        title=Statement("chart.shares"),
        note=Statement("chart.shares.note.cut", shown=STRIPS)
        if len(picture.beliefs) > STRIPS
        else Statement("chart.shares.note"),
        x=Scale(_word("belief-in-the-true-value")),
        y=Scale(_word("rows")),
        marks=tuple(marks),
        head=_words("attribute", "mean-belief", "greatest-belief"),
        table=tuple((name, f"{s.mean:.1%}", f"{s.greatest:.1%}") for name, s in shown),
    )


def belief_chart(findings: Sequence[Finding], threshold: float) -> Chart | None:
    """Return how many targets each attack believes in how much: its strongest finding."""
    strongest: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda f: (-f.greatest, -f.mean)):
        if finding.is_belief and finding.targets:
            strongest.setdefault(finding.title, finding)
    shown = list(strongest.values())[:STRIPS]
    if not shown:
        return None
    lanes = [Statement("chart.lane", attack=f.title, aim=f.shown_aim) for f in shown]
    marks = [
        mark for lane, f in zip(lanes, shown, strict=True) for mark in _strip(lane, f.histogram)
    ]
    bounds = [
        ReferenceLine("x", f.bound, _word("guaranteed-at-most"), lane)
        for lane, f in zip(lanes, shown, strict=True)
        if f.bound is not None and f.bound < 1
    ]
    return Chart(
        name="beliefs",
        form="strips",
        title=Statement("chart.beliefs"),
        note=Statement("chart.beliefs.note"),
        x=Scale(_word("belief-in-the-truth")),
        y=Scale(_word("targets")),
        marks=tuple(marks),
        rules=(
            *bounds,
            ReferenceLine("x", threshold, Statement("chart.threshold", threshold=threshold)),
        ),
        head=_words("attack-and-aim", "targets", "mean", "greatest", "guaranteed-at-most"),
        table=tuple(
            (lane, f"{f.targets:,}", f"{f.mean:.1%}", f"{f.greatest:.1%}", _bound(f.bound))
            for lane, f in zip(lanes, shown, strict=True)
        ),
    )


def loss_charts(utility: Mapping[str, Any]) -> list[Chart]:
    """Return how much of its range a cell of each quasi-identifier leaves open, for each table."""
    losses: Mapping[str, Any] = utility.get("tables") or {"": utility}
    charts = [_loss_chart(of.get("loss_by_attribute", {}), table) for table, of in losses.items()]
    return [chart for chart in charts if chart is not None]


def _loss_chart(loss_of_attribute: Mapping[str, float], table: str) -> Chart | None:
    shown = sorted(loss_of_attribute.items(), key=lambda item: -item[1])[:BARS]
    if not shown or max(loss_of_attribute.values()) <= 0:
        return None
    return Chart(
        name=f"loss_{table}" if table else "loss",
        form="bars",
        title=_titled("chart.loss", table),
        note=Statement("chart.loss.note"),
        x=Scale(_word("information-loss")),
        y=Scale(Statement("role.quasi-identifier")),
        marks=tuple(Mark(x=loss, lane=name, label=f"{loss:.1%}") for name, loss in shown),
        head=(Statement("role.quasi-identifier"), _word("information-loss")),
        table=tuple((name, f"{loss:.1%}") for name, loss in shown),
    )


def error_chart(release: float, unlinked: float) -> Chart:
    """Return the error of COUNT queries next to that of the unlinked baseline."""
    shown = {_word("this-release"): release, _word("unlinked-baseline"): unlinked}
    return Chart(
        name="query_error",
        form="bars",
        title=Statement("chart.query-error"),
        note=Statement("chart.query-error.note"),
        x=Scale(_word("median-relative-error"), high=_above(max(shown.values()))),
        y=Scale(_word("release")),
        marks=tuple(
            Mark(x=error, lane=name, label=f"{error:.1%}", faint=name.id != "page.this-release")
            for name, error in shown.items()
        ),
        head=_words("release", "median-relative-error"),
        table=tuple((name, f"{error:.2%}") for name, error in shown.items()),
    )


_PLAN_LINES = ("association_loss", "information_exposure", "closeness", "chosen_closeness")


def plan_chart(frontier: Frontier) -> Chart:
    """Return what each number of tables of a projected release loses, exposes and reaches."""
    steps = sorted(frontier.steps, key=lambda step: step.tables)
    marks = [
        Mark(x=step.tables, y=figure, series=Statement(f"chart.projections.{key}"))
        for key in _PLAN_LINES
        for step in steps
        if (figure := getattr(step, key)) is not None
    ]
    return Chart(
        name="projections",
        form="lines",
        title=Statement("chart.projections"),
        note=Statement("chart.projections.note"),
        x=Scale(_word("number-of-tables"), 1, max(step.tables for step in steps), percent=False),
        y=Scale(_word("share-or-distance"), percent=False),
        marks=tuple(marks),
        head=(_word("tables"), *(Statement(f"chart.projections.{key}") for key in _PLAN_LINES)),
        table=tuple(
            (str(step.tables), *(_or_dash(getattr(step, key)) for key in _PLAN_LINES))
            for step in steps
        ),
    )


def risk_chart(risks: Sequence[tuple[str, float]]) -> Chart | None:
    """How risky sets of quasi-identifiers are: the riskiest of each size."""
    if not risks:
        return None
    return Chart(
        name="risk_by_set",
        form="bars",
        title=Statement("chart.risk"),
        note=Statement("chart.risk.note"),
        x=Scale(_word("unique-rows")),
        y=Scale(_word("quasi-identifiers")),
        marks=tuple(Mark(x=share, lane=name, label=f"{share:.1%}") for name, share in risks),
        head=_words("quasi-identifiers", "unique-rows"),
        table=tuple((name, f"{share:.1%}") for name, share in risks),
    )


def frontier_chart(comparison: Comparison) -> Chart | None:
    """Utility against risk: the frontier of a comparison."""
    placed = [p for p in _compared(comparison) if p.divergence_ratio is not None]
    if not placed:
        return None
    ratios = [max(p.divergence_ratio or 0.0, LEAST_RATIO) for p in placed]
    low, high = min(ratios) / 1.3, max(1.6, max(ratios) * 1.6)
    no_link = comparison.unlinked.divergence_ratio
    return Chart(
        name="frontier",
        form="points",
        title=Statement("chart.frontier"),
        note=Statement("chart.frontier.note"),
        x=Scale(_word("divergence-ratio.logarithmic"), low, high, log=True, percent=False),
        y=Scale(_word("belief-99.axis")),
        marks=tuple(_point(p, at) for p, at in zip(placed, ratios, strict=True)),
        rules=(
            *(
                [ReferenceLine("x", max(no_link, LEAST_RATIO), _word("no-link"))]
                if no_link is not None
                else []
            ),
            _ceiling(comparison),
        ),
        head=_words("release", "ratio", "belief-99", "greatest-belief", "dominated"),
        table=tuple(
            (p.label, _or_dash(p.divergence_ratio), _bound(p.belief_99), _bound(p.belief_max),
             _word("yes" if p.dominated else "no"))
            for p in placed
        ),
    )  # fmt: skip


def learning_chart(comparison: Comparison) -> Chart | None:
    """Return what can be learned from each release, against the same risk."""
    placed = [p for p in _compared(comparison) if p.skill is not None]
    if not placed:
        return None
    skills = [p.skill or 0.0 for p in placed]
    highest = max(1.0, _quarter(max(skills) - 0.02) + 0.25)  # a model may be lucky
    return Chart(
        name="learning",
        form="points",
        title=Statement("chart.learning"),
        note=Statement("chart.learning.note"),
        x=Scale(_word("skill"), min(0.0, _quarter(min(skills))), highest, percent=False),
        y=Scale(_word("belief-99.axis")),
        marks=tuple(_point(p, at) for p, at in zip(placed, skills, strict=True)),
        rules=(_ceiling(comparison),),
        head=_words("release", "skill", "accuracy", "belief-99"),
        table=tuple(
            (p.label, _or_dash(p.skill), _bound(p.accuracy), _bound(p.belief_99)) for p in placed
        ),
    )


def _compared(comparison: Comparison) -> list[Point]:
    points = (*comparison.published, comparison.unlinked)
    return [point for point in points if point.belief_99 is not None]


def _point(point: Point, x: float) -> Mark:
    return Mark(
        x=x,
        y=point.belief_99 or 0.0,
        y_end=point.belief_max,
        series=point.method,
        label=point.label.removeprefix(point.method).strip(),
        faint=point.dominated,
    )


def series_chart(beliefs: Mapping[str, Sequence[float]], bound: float | None) -> Chart:
    """The greatest belief after every release of a series."""
    releases = max(len(series) for series in beliefs.values())
    return Chart(
        name="series",
        form="lines",
        title=Statement("chart.series"),
        note=Statement("chart.series.note"),
        x=Scale(_word("release"), 1, releases, percent=False),
        y=Scale(_word("greatest-belief")),
        marks=tuple(
            Mark(x=number, y=belief, series=name)
            for name, series in beliefs.items()
            for number, belief in enumerate(series, 1)
        ),
        rules=() if bound is None else (ReferenceLine("y", bound, _word("guaranteed-at-most")),),
        head=(_word("release"), *beliefs),
        table=tuple(
            (str(number + 1), *(f"{series[number]:.3f}" for series in beliefs.values()))
            for number in range(releases)
        ),
    )


def _strip(lane: str, histogram: Sequence[int]) -> list[Mark]:
    most, bins = max(histogram, default=0) or 1, max(len(histogram), 1)
    return [
        Mark(
            x=place / bins, x_end=(place + 1) / bins, y=count / most, lane=lane,
            label=Statement(
                "chart.between", count=count, low=place / bins, high=(place + 1) / bins
            ),
        )
        for place, count in enumerate(histogram)
    ]  # fmt: skip


def _ceiling(comparison: Comparison) -> ReferenceLine:
    ceiling = Statement("chart.ceiling", ceiling=comparison.ceiling)
    return ReferenceLine("y", comparison.ceiling, ceiling)


def _word(id: str) -> Statement:
    return Statement(f"page.{id}")


def _words(*ids: str) -> tuple[Statement, ...]:
    return tuple(_word(id) for id in ids)


def _titled(form: str, table: str) -> Statement:
    return Statement(f"{form}.in-table", table=table) if table else Statement(form)


def _band(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _above(greatest: float) -> float:
    """A round end of a scale above a share."""
    return next((end for end in (0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8) if greatest <= end), 1.0)


def _quarter(figure: float) -> float:
    """The multiple of a quarter below a figure."""
    return math.floor(figure * 4) / 4


def _bound(bound: float | None) -> str:
    return "–" if bound is None else f"{bound:.1%}"


def _or_dash(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.4f}"
