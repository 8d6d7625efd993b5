"""Charts as Altair charts, for notebooks: to change, to combine, to save (extra ``charts``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from discreet.extras import require_extra
from discreet.report.charts.chart import Chart, ReferenceLine, Scale

if TYPE_CHECKING:
    import altair

WIDTH, HEIGHT, LANE = 420, 240, 36


def altair_charts(charts: Iterable[Chart | None]) -> dict[str, altair.TopLevelMixin]:
    """Altair charts by name."""
    return {chart.name: altair_chart(chart) for chart in charts if chart is not None}


def altair_chart(chart: Chart) -> altair.TopLevelMixin:
    """The same chart drawn by Altair."""
    alt = require_extra("altair", "Charts from Python", "charts")
    values = alt.Data(values=[asdict(mark) for mark in chart.marks])
    title = alt.TitleParams(chart.title, subtitle=chart.note, anchor="start")
    base = alt.Chart(values, title=title, width=WIDTH, height=HEIGHT)
    drawn: Any = {
        "columns": _columns, "bars": _bars, "strips": _strips, "points": _points, "lines": _lines,
    }[chart.form](alt, base, chart)  # fmt: skip
    found: altair.TopLevelMixin = drawn
    return found


def _columns(alt: Any, base: Any, chart: Chart) -> Any:
    return base.mark_bar().encode(
        x=alt.X("lane:N", title=chart.x.title, sort=chart.lanes),
        y=_axis(alt.Y, alt, "y", chart.y),
        tooltip=["lane:N", "y:Q"],
    )


def _bars(alt: Any, base: Any, chart: Chart) -> Any:
    return (
        base.mark_bar()
        .encode(
            x=_axis(alt.X, alt, "x", chart.x),
            y=alt.Y("lane:N", title=None, sort=chart.lanes),
            opacity=alt.condition("datum.faint", alt.value(0.4), alt.value(1.0)),
            tooltip=["lane:N", "label:N"],
        )
        .properties(height=24 * len(chart.lanes))
    )


def _strips(alt: Any, base: Any, chart: Chart) -> Any:
    def strip(lane: str) -> Any:
        bars = (
            base.mark_bar()
            .encode(
                x=_axis(alt.X, alt, "x", chart.x).bin("binned"),
                x2="x_end:Q",
                y=alt.Y("y:Q", axis=None),
                tooltip=["label:N"],
            )
            .transform_filter(alt.datum.lane == lane)
            .properties(title=lane, height=LANE)
        )
        return alt.layer(bars, *_rules(alt, chart, lane))

    return alt.vconcat(*map(strip, chart.lanes), title=chart.title)


def _points(alt: Any, base: Any, chart: Chart) -> Any:
    at = base.encode(
        x=_axis(alt.X, alt, "x", chart.x),
        color=alt.Color("series:N", sort=chart.series, title=None),
        opacity=alt.condition("datum.faint", alt.value(0.35), alt.value(1.0)),
    )
    points = at.mark_point(filled=True, size=90).encode(
        y=_axis(alt.Y, alt, "y", chart.y),
        shape=alt.Shape("series:N", sort=chart.series, title=None),
        tooltip=["series:N", "label:N", "x:Q", "y:Q", "y_end:Q"],
    )
    whiskers = at.mark_rule().encode(y="y:Q", y2="y_end:Q")
    names = at.mark_text(align="left", dx=8).encode(y="y:Q", text="label:N")
    return alt.layer(*_rules(alt, chart), whiskers, points, names)


def _lines(alt: Any, base: Any, chart: Chart) -> Any:
    lines = base.mark_line(point=True).encode(
        x=_axis(alt.X, alt, "x", chart.x),
        y=_axis(alt.Y, alt, "y", chart.y),
        color=alt.Color("series:N", sort=chart.series, title=None),
        tooltip=["series:N", "x:Q", "y:Q"],
    )
    return alt.layer(lines, *_rules(alt, chart))


def _axis(channel: Any, alt: Any, field: str, scale: Scale) -> Any:
    kind = alt.Scale(domain=[scale.low, scale.high], type="log" if scale.log else "linear")
    shown = alt.Axis(format="%") if scale.percent else alt.Axis()
    return channel(f"{field}:Q", title=scale.title, scale=kind, axis=shown)


def _rules(alt: Any, chart: Chart, lane: str | None = None) -> list[Any]:
    """The reference lines of the whole chart, and those of one lane."""

    def line(rule: ReferenceLine) -> Any:
        data = alt.Data(values=[asdict(rule)])
        tone = "#777" if rule.lane is None else "#b3261e"
        ruled = alt.Chart(data).mark_rule(strokeDash=[4, 3], color=tone)
        return ruled.encode(**{rule.axis: "at:Q", "tooltip": "label:N"})

    return [line(rule) for rule in chart.rules if rule.lane in (None, lane)]
