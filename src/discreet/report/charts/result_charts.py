"""The chart of each result; how they are drawn is known elsewhere."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.releases.audit.figures import Picture
from discreet.report.charts.chart import Chart, Mark, ReferenceLine, Scale
from discreet.report.pieces import label, labels
from discreet.statements import Statement

if TYPE_CHECKING:
    from discreet.attacks.base import Finding
    from discreet.methods.codip.frontier import Frontier
    from discreet.releases.analyst_errors import AnalystErrors
    from discreet.releases.column_shapes import ColumnShapes
    from discreet.utility.comparison import Comparison, Point

STRIPS = 8  # findings in the plot of beliefs, those with the greatest beliefs
BARS = 24  # attributes in the plot of losses, those with the greatest
LINEAR = 3  # greatest over least figure, up to which an axis is linear
LEAST_RATIO = 0.001  # where a release that lost nothing is on a logarithmic axis


def picture_charts(picture: Picture) -> list[Chart]:
    """Return what the groups of a release show: beliefs, and sizes."""
    shares = share_chart(picture)
    return [*([] if shares is None else [shares]), *size_charts(picture)]


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
        names = [
            f"{band.low:,}" if band.low == band.high else f"{band.low:,}–{band.high:,}"
            for band in bands
        ]
        charts.append(
            Chart(
                name=f"group_sizes_{number}" if several else "group_sizes",
                form="columns",
                title=_titled(form, table if several else ""),
                note=Statement(f"{form}.note"),
                x=Scale(label("rows-in-the-group"), percent=False),
                y=Scale(label("share-of-rows"), high=above(max(shares))),
                marks=tuple(
                    Mark(y=share, lane=name) for name, share in zip(names, shares, strict=True)
                ),
                head=labels("size-of-the-group", "group-count", "rows", "share-of-rows"),
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
        x=Scale(label("belief-in-the-true-value")),
        y=Scale(label("rows")),
        marks=tuple(marks),
        head=labels("attribute", "mean-belief", "greatest-belief"),
        table=tuple((name, f"{s.mean:.1%}", f"{s.greatest:.1%}") for name, s in shown),
    )


def belief_chart(findings: Sequence[Finding], threshold: float) -> Chart | None:
    """Return how many targets each attack believes in how much: its strongest finding."""
    # The strongest finding of each attack.
    strongest: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda f: (-f.greatest, -f.mean)):
        if finding.is_belief and finding.targets:
            strongest.setdefault(finding.title, finding)
    shown = list(strongest.values())[:STRIPS]
    if not shown:
        return None
    # A histogram of each, with its bound.
    lanes = [Statement("chart.lane", attack=f.title, aim=f.shown_aim) for f in shown]
    marks = [
        mark for lane, f in zip(lanes, shown, strict=True) for mark in _strip(lane, f.histogram)
    ]
    bounds = [
        ReferenceLine("x", f.bound, label("guaranteed-at-most"), lane)
        for lane, f in zip(lanes, shown, strict=True)
        if f.bound is not None and f.bound < 1
    ]
    return Chart(
        name="beliefs",
        form="strips",
        title=Statement("chart.beliefs"),
        note=Statement("chart.beliefs.note"),
        x=Scale(label("belief-in-the-truth")),
        y=Scale(label("targets")),
        marks=tuple(marks),
        rules=(
            *bounds,
            ReferenceLine("x", threshold, Statement("chart.threshold", threshold=threshold)),
        ),
        head=labels("attack-and-aim", "targets", "mean", "greatest", "guaranteed-at-most"),
        table=tuple(
            (lane, f"{f.targets:,}", f"{f.mean:.1%}", f"{f.greatest:.1%}", _bound(f.bound))
            for lane, f in zip(lanes, shown, strict=True)
        ),
    )


def loss_charts(utility: Mapping[str, Any]) -> list[Chart]:
    """Return how much of its range a cell of each quasi-identifier leaves open, for each table."""
    losses: Mapping[str, Any] = utility.get("tables") or {"": utility}
    charts = []
    for table, of_table in losses.items():
        by_attribute = of_table.get("loss_by_attribute", {})
        if max(by_attribute.values(), default=0) > 0:
            name = f"loss_{table}" if table else "loss"
            shown = sorted(by_attribute.items(), key=lambda item: -item[1])[:BARS]
            role = Statement("role.quasi-identifier")
            charts.append(_bars(name, "chart.loss", role, "information-loss", shown, table=table))
    return charts


def error_chart(release: float, unlinked: float) -> Chart:
    """Return the error of COUNT queries next to that of the unlinked baseline."""
    shown = [(label("this-release"), release), (label("unlinked-baseline"), unlinked)]
    high = above(max(release, unlinked))
    return _bars(
        "query_error", "chart.query-error", label("release"), "median-relative-error", shown,
        high=high, faint=[shown[1][0]],
    )  # fmt: skip


def learned_chart(findings: Sequence[Finding]) -> Chart | None:
    """Return the belief in each sensitive column without the release, and with it."""
    shown = [finding for finding in findings if finding.targets][:BARS]
    if not shown:
        return None
    return Chart(
        name="learned",
        form="dumbbells",
        title=Statement("chart.learned"),
        note=Statement("chart.learned.note"),
        x=Scale(label("mean-belief")),
        y=Scale(label("attribute")),
        marks=tuple(
            Mark(x=f.baseline, x_end=f.mean, y_end=f.greatest, lane=f.aim, label=f"{f.mean:.1%}")
            for f in shown
        ),
        rules=(ReferenceLine("x", 0.5, "50%"),),
        head=labels("attribute", "attacker", "without-the-release", "mean-belief", "greatest"),
        table=tuple(
            (f.aim, f.attacker.noun, f"{f.baseline:.1%}", f"{f.mean:.1%}", f"{f.greatest:.1%}")
            for f in shown
        ),
    )


def lost_chart(errors: AnalystErrors | None, loss: float | None) -> Chart | None:
    """Return what analysts lose: a bar for each figure, and a pale one without any link."""
    shown: list[tuple[str, float]] = []
    for key in ("counts", "shares", "means"):
        error = None if errors is None else getattr(errors, key)
        if error is not None:
            name = Statement(f"errors.{key}")
            shown += [
                (name, error.release),
                (Statement("errors.unlinked", figure=name), error.unlinked),
            ]
    faint = [name for name, _ in shown[1::2]]
    shown += [] if loss is None else [(Statement("errors.information"), loss)]
    if not shown:
        return None
    high = above(max(share for _, share in shown))
    return _bars(
        "lost", "chart.lost", label("figure"), "error-or-loss", shown, high=high, faint=faint
    )


def shape_chart(shapes: ColumnShapes) -> Chart | None:
    """Return the histogram of each column before, and as the release implies it."""
    sides = labels("the-original", "this-release")
    marks = [
        Mark(
            x=place / len(histogram), x_end=(place + 1) / len(histogram), lane=name,
            y=float(share / max(float(np.max(pair)), 1e-12)), series=side, faint=number == 0,
            label=f"{share:.1%}",
        )
        for name, pair in shapes.histograms.items()
        for number, (side, histogram) in enumerate(zip(sides, pair, strict=True))
        for place, share in enumerate(histogram)
    ]  # fmt: skip
    moved = [
        (name, f"{float(abs(before - after).sum()) / 2:.1%}")
        for name, (before, after) in shapes.histograms.items()
    ]
    return None if not marks else Chart(
        name="shapes",
        form="strips",
        title=Statement("chart.shapes"),
        note=Statement("chart.shapes.note"),
        x=Scale(""),
        y=Scale(label("share-of-rows")),
        marks=tuple(marks),
        head=labels("column", "distance-of-shape"),
        table=tuple(moved),
    )  # fmt: skip


def risk_chart(risks: Sequence[tuple[str, float]]) -> Chart | None:
    """Return how risky sets of quasi-identifiers are: the riskiest of each size."""
    lanes = label("quasi-identifiers")
    return _bars("risk_by_set", "chart.risk", lanes, "unique-rows", risks) if risks else None


def _bars(
    name: str,
    form: str,
    lanes: Statement,
    figure: str,
    shown: Sequence[tuple[str, float]],
    *,
    table: str = "",
    high: float = 1.0,
    faint: Collection[str] = (),
) -> Chart:
    """Return a bar for each share, with the share beside it."""
    return Chart(
        name=name,
        form="bars",
        title=_titled(form, table),
        note=Statement(f"{form}.note"),
        x=Scale(label(figure), high=high),
        y=Scale(lanes),
        marks=tuple(
            Mark(x=share, lane=lane, label=f"{share:.1%}", faint=lane in faint)
            for lane, share in shown
        ),
        head=(lanes, label(figure)),
        table=tuple((lane, f"{share:.1%}") for lane, share in shown),
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
        x=Scale(label("number-of-tables"), 1, max(step.tables for step in steps), percent=False),
        y=Scale(label("share-or-distance"), percent=False),
        marks=tuple(marks),
        head=(label("tables"), *(Statement(f"chart.projections.{key}") for key in _PLAN_LINES)),
        table=tuple(
            (str(step.tables), *(_or_dash(getattr(step, key)) for key in _PLAN_LINES))
            for step in steps
        ),
    )


def frontier_chart(comparison: Comparison) -> Chart | None:
    """Return utility against risk: the frontier of a comparison."""
    places = _places(comparison, "divergence_ratio", LEAST_RATIO)
    if not places:
        return None
    ratios = [ratio for _, ratio in places]
    # A logarithmic axis tells releases apart that differ by more than its factor.
    low, high = min(ratios), max(ratios)
    log = high > LINEAR * low
    name = label("divergence-ratio.logarithmic" if log else "divergence-ratio")
    ends = (low / 1.3, max(1.6, high * 1.6)) if log else (0.0, above(high * 1.15))
    scale = Scale(name, *ends, log=log, percent=False)
    no_link = comparison.unlinked.divergence_ratio
    line = (
        [] if no_link is None else [ReferenceLine("x", max(no_link, LEAST_RATIO), label("no-link"))]
    )
    cells = tuple(
        (p.label, _or_dash(p.divergence_ratio), _bound(p.belief_99), _bound(p.belief_max),
         label("yes" if p.dominated else "no"))
        for p, _ in places
    )  # fmt: skip
    head = labels("release", "ratio", "belief-99", "greatest-belief", "dominated")
    return _against_risk("frontier", comparison, places, scale, line, head, cells)


def learning_chart(comparison: Comparison) -> Chart | None:
    """Return what can be learned from each release, against the same risk."""
    places = _places(comparison, "skill")
    if not places:
        return None
    skills = [skill for _, skill in places]
    # Both ends are multiples of a quarter; a model may be lucky.
    low = min(0.0, math.floor(min(skills) * 4) / 4)
    high = max(1.0, math.floor((max(skills) - 0.02) * 4) / 4 + 0.25)
    cells = tuple(
        (p.label, _or_dash(p.skill), _bound(p.accuracy), _bound(p.belief_99)) for p, _ in places
    )
    scale, head = (
        Scale(label("skill"), low, high, percent=False),
        labels("release", "skill", "accuracy", "belief-99"),
    )
    return _against_risk("learning", comparison, places, scale, (), head, cells)


def _places(
    comparison: Comparison, figure: str, least: float = -math.inf
) -> list[tuple[Point, float]]:
    """Return the releases whose risk and figure are known, with the figure."""
    points = (*comparison.published, comparison.unlinked)
    known = [point for point in points if point.belief_99 is not None]
    figures = [(point, getattr(point, figure)) for point in known]
    return [(point, max(x, least)) for point, x in figures if x is not None]


def _against_risk(
    name: str,
    comparison: Comparison,
    places: Sequence[tuple[Point, float]],
    scale: Scale,
    lines: Sequence[ReferenceLine],
    head: tuple[str, ...],
    cells: tuple[tuple[str, ...], ...],
) -> Chart:
    """Return releases by a figure and by the belief of the fixed attacker, below a ceiling."""
    ceiling = Statement("chart.ceiling", ceiling=comparison.ceiling)
    return Chart(
        name=name,
        form="points",
        title=Statement(f"chart.{name}"),
        note=Statement(f"chart.{name}.note"),
        x=scale,
        y=Scale(label("belief-99.axis")),
        marks=tuple(
            Mark(
                x=x,
                y=point.belief_99 or 0.0,
                y_end=point.belief_max,
                series=point.method,
                label=point.label,
                faint=point.dominated,
            )
            for point, x in places
        ),
        rules=(*lines, ReferenceLine("y", comparison.ceiling, ceiling)),
        head=head,
        table=cells,
    )


def series_chart(beliefs: Mapping[str, Sequence[float]], bound: float | None) -> Chart:
    """The greatest belief after every release of a series."""
    releases = max(len(series) for series in beliefs.values())
    return Chart(
        name="series",
        form="lines",
        title=Statement("chart.series"),
        note=Statement("chart.series.note"),
        x=Scale(label("release"), 1, releases, percent=False),
        y=Scale(label("greatest-belief")),
        marks=tuple(
            Mark(x=number, y=belief, series=name)
            for name, series in beliefs.items()
            for number, belief in enumerate(series, 1)
        ),
        rules=() if bound is None else (ReferenceLine("y", bound, label("guaranteed-at-most")),),
        head=(label("release"), *beliefs),
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


def _titled(form: str, table: str) -> Statement:
    return Statement(f"{form}.in-table", table=table) if table else Statement(form)


def above(greatest: float) -> float:
    """A round end of a scale above a share."""
    ends = (0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0)
    return next((end for end in ends if greatest <= end), math.ceil(greatest))


def _bound(bound: float | None) -> str:
    return "–" if bound is None else f"{bound:.1%}"


def _or_dash(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.4f}"
