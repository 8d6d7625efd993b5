"""Charts as Vega-Lite, for notebooks: plain dictionaries that JupyterLab and VS Code draw.

``altair.Chart.from_dict(chart)`` makes an Altair chart of one, to change and to combine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from discreet.report.charts.chart import Chart, ReferenceLine, Scale

WIDTH, HEIGHT, LANE = 420, 240, 36
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_SERIES = {"field": "series", "type": "nominal", "title": None}


class VegaLite(dict[str, Any]):
    """A specification of Vega-Lite, which a notebook draws."""

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": dict(self), "text/plain": repr(self)}


def vega_lite_charts(charts: Iterable[Chart | None]) -> dict[str, VegaLite]:
    """Return charts by name."""
    return {chart.name: vega_lite(chart) for chart in charts if chart is not None}


def vega_lite(chart: Chart) -> VegaLite:
    """Return a chart as a specification of Vega-Lite."""
    form = {
        "columns": _columns, "bars": _bars, "strips": _strips, "points": _points, "lines": _lines,
    }[chart.form]  # fmt: skip
    return VegaLite(
        {
            "$schema": SCHEMA,
            "title": {"text": chart.title, "subtitle": chart.note, "anchor": "start"},
            "data": {"values": [asdict(mark) for mark in chart.marks]},
            **form(chart),
        }
    )


def _columns(chart: Chart) -> dict[str, Any]:
    category = {"field": "lane", "type": "nominal", "title": chart.x.title, "sort": chart.lanes}
    encoding = {"x": category, "y": _axis("y", chart.y), "tooltip": _fields("lane", "y")}
    return _sized({"mark": "bar", "encoding": encoding})


def _bars(chart: Chart) -> dict[str, Any]:
    encoding = {
        "x": _axis("x", chart.x),
        "y": {"field": "lane", "type": "nominal", "title": None, "sort": chart.lanes},
        "opacity": _faint(0.4),
        "tooltip": _fields("lane", "label"),
    }
    return _sized({"mark": "bar", "encoding": encoding}, height=24 * len(chart.lanes))


def _strips(chart: Chart) -> dict[str, Any]:
    def strip(lane: str) -> dict[str, Any]:
        bars = {
            "transform": [{"filter": {"field": "lane", "equal": lane}}],
            "mark": "bar",
            "encoding": {
                "x": {**_axis("x", chart.x), "bin": "binned"},
                "x2": {"field": "x_end"},
                "y": {"field": "y", "type": "quantitative", "axis": None},
                "tooltip": _fields("label"),
            },
        }
        layers = {"title": lane, "layer": [bars, *_rules(chart, lane)]}
        return _sized(layers, height=LANE)

    return {"vconcat": [strip(lane) for lane in chart.lanes]}


def _points(chart: Chart) -> dict[str, Any]:
    series = {**_SERIES, "sort": chart.series}
    shared = {"x": _axis("x", chart.x), "color": series, "opacity": _faint(0.35)}
    height = _axis("y", chart.y)
    points = {
        "mark": {"type": "point", "filled": True, "size": 90},
        "encoding": {
            **shared,
            "y": height,
            "shape": series,
            "tooltip": _fields("series", "label", "x", "y", "y_end"),
        },
    }
    whiskers = {"mark": "rule", "encoding": {**shared, "y": height, "y2": {"field": "y_end"}}}
    names = {
        "mark": {"type": "text", "align": "left", "dx": 8},
        "encoding": {**shared, "y": height, "text": {"field": "label"}},
    }
    return _sized({"layer": [*_rules(chart), whiskers, points, names]})


def _lines(chart: Chart) -> dict[str, Any]:
    lines = {
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": _axis("x", chart.x),
            "y": _axis("y", chart.y),
            "color": {**_SERIES, "sort": chart.series},
            "tooltip": _fields("series", "x", "y"),
        },
    }
    return _sized({"layer": [lines, *_rules(chart)]})


def _sized(drawn: dict[str, Any], height: int = HEIGHT) -> dict[str, Any]:
    return {"width": WIDTH, "height": height, **drawn}


def _axis(field: str, scale: Scale) -> dict[str, Any]:
    domain = {"domain": [scale.low, scale.high], "type": "log" if scale.log else "linear"}
    axis = {"format": "%"} if scale.percent else {}
    return {
        "field": field, "type": "quantitative", "title": scale.title, "scale": domain,
        "axis": axis,
    }  # fmt: skip


def _fields(*names: str) -> list[dict[str, str]]:
    """Return what is shown when the mouse is over a mark."""
    texts = ("lane", "label", "series")
    return [{"field": n, "type": "nominal" if n in texts else "quantitative"} for n in names]


def _faint(opacity: float) -> dict[str, Any]:
    return {"condition": {"test": "datum.faint", "value": opacity}, "value": 1}


def _rules(chart: Chart, lane: str | None = None) -> list[dict[str, Any]]:
    """Return the reference lines of the whole chart, and those of one lane."""

    def line(rule: ReferenceLine) -> dict[str, Any]:
        color = "#777" if rule.lane is None else "#b3261e"
        return {
            "data": {"values": [asdict(rule)]},
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": color},
            "encoding": {
                rule.axis: {"field": "at", "type": "quantitative"},
                "tooltip": _fields("label"),
            },
        }

    return [line(rule) for rule in chart.rules if rule.lane in (None, lane)]
