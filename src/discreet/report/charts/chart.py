"""A chart as a value: what is drawn, said once for the page (SVG) and for Python (Vega-Lite).

A chart has a form, two scales, marks and reference lines, and the same figures as a table for
readers who cannot see it. How each form places its marks:

========  ==========================================================================================
columns   ``lane`` is the category below, ``y`` the height
bars      ``lane`` is the category at the left, ``x`` the length
dumbbells ``lane`` is the category at the left, a line from ``x`` to ``x_end``, a tick at ``y_end``
strips    a histogram in every ``lane``: from ``x`` to ``x_end`` of height ``y`` (0 to 1); a second
          ``series`` is an outline above the first
points    at ``x``, ``y``, with a whisker up to ``y_end``
lines     one line through the marks of each ``series``
========  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from discreet.statements import in_language, with_numbers

WIDTH, HEIGHT, LANE = 420, 240, 36  # of a chart in a notebook
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
Form = Literal["columns", "bars", "dumbbells", "strips", "points", "lines"]


@dataclass(frozen=True)
class Scale:
    """One axis."""

    title: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    percent: bool = True


@dataclass(frozen=True)
class Mark:
    """One thing that is drawn; see the table above."""

    x: float = 0.0
    y: float = 0.0
    x_end: float | None = None
    y_end: float | None = None
    lane: str = ""
    series: str = ""
    label: str = ""  # written beside it
    faint: bool = False


@dataclass(frozen=True)
class ReferenceLine:
    """A reference line across the chart, or across one lane of it."""

    axis: Literal["x", "y"]
    at: float
    label: str
    lane: str | None = None


@dataclass(frozen=True)
class Chart:
    """One chart."""

    name: str
    form: Form
    title: str
    note: str  # how to read it, in a sentence
    x: Scale
    y: Scale
    marks: tuple[Mark, ...]
    head: tuple[str, ...]  # of the table
    table: tuple[tuple[str, ...], ...]
    rules: tuple[ReferenceLine, ...] = ()

    @property
    def lanes(self) -> list[str]:
        """The categories, in the order in which they come."""
        return list(dict.fromkeys(mark.lane for mark in self.marks))

    @property
    def series(self) -> list[str]:
        """The names of what is compared, in the order in which they come."""
        return list(dict.fromkeys(mark.series for mark in self.marks if mark.series))

    def lane_text(self, lane: str) -> str:
        """Return a category in the language of the page: a range of numbers, or a name."""
        return with_numbers(lane) if self.form == "columns" else in_language(lane)


class VegaLite(dict[str, Any]):
    """A specification of Vega-Lite: a plain dictionary that JupyterLab and VS Code draw.

    ``altair.Chart.from_dict(chart)`` makes an Altair chart of one, to change and to combine.
    """

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": dict(self), "text/plain": repr(self)}


def vega_lite(chart: Chart) -> VegaLite:
    """Return a chart as a specification of Vega-Lite."""
    # Channels that several forms share.
    x, y = _axis("x", chart.x), _axis("y", chart.y)
    lane = {"field": "lane", "type": "nominal", "sort": chart.lanes}
    series = {"field": "series", "type": "nominal", "title": None, "sort": chart.series}
    pale = {"condition": {"test": "datum.faint", "value": 0.4}, "value": 1}
    drawn: dict[str, Any] = {"width": WIDTH, "height": HEIGHT}
    # The marks of each form.
    match chart.form:
        case "columns":
            drawn |= _layer("bar", ["lane", "y"], x={**lane, "title": chart.x.title}, y=y)
        case "bars":
            lanes = {**lane, "title": None}
            drawn |= _layer("bar", ["lane", "label"], x=x, y=lanes, opacity=pale)
            drawn["height"] = 24 * len(chart.lanes)
        case "dumbbells":
            lanes = {**lane, "title": None}
            drawn["layer"] = [
                _layer("rule", [], x=x, x2={"field": "x_end"}, y=lanes),
                _layer({"type": "point", "filled": False}, ["lane", "x"], x=x, y=lanes),
                *(
                    _layer({"type": mark, "filled": True}, ["lane", field], y=lanes,
                           x={"field": field, "type": "quantitative"})
                    for mark, field in (("point", "x_end"), ("tick", "y_end"))
                ),
                *_rules(chart),
            ]  # fmt: skip
            drawn["height"] = 24 * len(chart.lanes)
        case "strips":
            bins = {"x": {**x, "bin": "binned"}, "x2": {"field": "x_end"}, "opacity": pale}
            bars = _layer("bar", ["label"], **bins, y={**y, "axis": None, "stack": None})
            drawn = {
                "vconcat": [
                    {
                        "title": name,
                        "width": WIDTH,
                        "height": LANE,
                        "transform": [{"filter": {"field": "lane", "equal": name}}],
                        "layer": [bars, *_rules(chart, name)],
                    }
                    for name in chart.lanes
                ]
            }
        case "points":
            shared = {"x": x, "y": y, "color": series, "opacity": pale}
            point = {"type": "point", "filled": True, "size": 90}
            shown = ["series", "label", "x", "y", "y_end"]
            drawn["layer"] = [
                *_rules(chart),
                _layer("rule", [], **shared, y2={"field": "y_end"}),
                _layer(point, shown, **shared, shape=series),
                _layer({"type": "text", "align": "left", "dx": 8}, ["label"], **shared,
                       text={"field": "label"}),
            ]  # fmt: skip
        case "lines":
            line = _layer(
                {"type": "line", "point": True}, ["series", "x", "y"], x=x, y=y, color=series
            )
            drawn["layer"] = [line, *_rules(chart)]
    return VegaLite(
        {
            "$schema": SCHEMA,
            "title": {"text": chart.title, "subtitle": chart.note, "anchor": "start"},
            "data": {"values": [asdict(mark) for mark in chart.marks]},
            **drawn,
        }
    )


def _layer(mark: str | dict[str, Any], shown: list[str], **channels: Any) -> dict[str, Any]:
    """Return marks by the channels of their fields; ``shown`` are those below the mouse."""
    texts = ("lane", "label", "series")
    tooltip = [{"field": f, "type": "nominal" if f in texts else "quantitative"} for f in shown]
    return {"mark": mark, "encoding": {**channels, "tooltip": tooltip}}


def _axis(field: str, scale: Scale) -> dict[str, Any]:
    domain = {"domain": [scale.low, scale.high], "type": "log" if scale.log else "linear"}
    return {
        "field": field,
        "type": "quantitative",
        "title": scale.title,
        "scale": domain,
        "axis": {"format": "%"} if scale.percent else {},
    }


def _rules(chart: Chart, lane: str | None = None) -> list[dict[str, Any]]:
    """Return the reference lines of the whole chart, and those of one lane."""
    return [
        {
            "data": {"values": [asdict(rule)]},
            **_layer(
                {"type": "rule", "strokeDash": [4, 3], "color": "#b3261e" if rule.lane else "#777"},
                ["label"],
                **{rule.axis: {"field": "at", "type": "quantitative"}},
            ),
        }
        for rule in chart.rules
        if rule.lane in (None, lane)
    ]
