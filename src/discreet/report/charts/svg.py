"""A chart as inline SVG: no script, colours from the page's style, text that can be selected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from html import escape

from discreet.report.charts.chart import Chart, ReferenceLine, Scale
from discreet.statements import in_language, with_numbers

WIDTH = 480  # in the units of the view box; pages set two charts beside each other
TONES = ("#2f6690", "#c2571a", "#2a7f62", "#8a4f9e", "#9a7b0a", "#5b6472")  # as in style.css
SHAPES = len(TONES)  # of series; then they come again
FEW_LANES = 8  # that have room
CUT = 34  # characters of a lane's name at its left
Place = Callable[[float], float]


def draw(chart: Chart) -> str:
    """The drawing, for a page that has its style."""
    height, parts = _FORMS[chart.form](chart)
    return _svg(chart, height, parts)


def standalone(chart: Chart) -> str:
    """The drawing for a file of its own: with its colours, and a legend below."""
    height, parts = _FORMS[chart.form](chart)
    style = (
        "text{font:12px system-ui,sans-serif;fill:#333}.grid{stroke:#ddd}.axis{stroke:#888}"
        ".path{fill:none;stroke-width:2}.rule{stroke:#666;stroke-dasharray:4 3}.bar{fill:#2f6690}"
        ".bound{stroke:#b3261e;stroke-width:2}"
    ) + "".join(
        f".path.s{i},.whisker.s{i}{{stroke:{tone}}}.mark.s{i}{{fill:{tone}}}"
        for i, tone in enumerate(TONES)
    )
    back = f"<style>{style}</style><rect width='100%' height='100%' fill='white'/>"
    for number, name in enumerate(chart.series if legend(chart) else ()):
        height += 18
        parts += [_shape(number, 52, height - 10), _text(64, height - 6, name, "start")]
    return _svg(chart, height, [back, *parts]) + "\n"


def _svg(chart: Chart, height: float, parts: list[str]) -> str:
    return (
        f"<svg class='chart {chart.form}' viewBox='0 0 {WIDTH} {height:g}' role='img' "
        f"xmlns='http://www.w3.org/2000/svg'><title>{_escaped(chart.title)}</title>"
        f"<desc>{_escaped(chart.note)}</desc>{''.join(parts)}</svg>"
    )


def legend(chart: Chart) -> str:
    """Return what the colours and shapes represent; nothing for one series or named points."""
    if len(chart.series) < 2 or chart.form == "points":
        return ""
    items = "".join(
        f"<li><svg viewBox='-6 -6 12 12' width='12' height='12' aria-hidden='true'>"
        f"{_shape(number, 0, 0)}</svg> {_escaped(name)}</li>"
        for number, name in enumerate(chart.series)
    )
    return f"<ul class='legend'>{items}</ul>"


def _columns(chart: Chart) -> tuple[float, list[str]]:
    left, right, top, bottom = 46.0, WIDTH - 8.0, 12.0, 176.0
    y = _placed(chart.y, bottom, top)
    parts = [*_horizontal_grid(chart.y, y, left, right)]
    step = (right - left) / max(len(chart.marks), 1)
    every = max(1, math.ceil(max((len(m.lane) for m in chart.marks), default=1) * 6.6 / step))
    for number, mark in enumerate(chart.marks):
        begin, room = left + number * step, min(step * 0.84, 44.0)
        middle = begin + step / 2
        tall = max(bottom - y(mark.y), 1.0 if mark.y > 0 else 0.0)
        parts.append(
            f"<rect class='bar' x='{middle - room / 2:.1f}' y='{bottom - tall:.1f}' "
            f"width='{room:.1f}' height='{tall:.1f}' rx='1.5'><title>"
            f"{escape(chart.lane_text(mark.lane))}: {with_numbers(f'{mark.y:.1%}')}</title></rect>"
        )
        if number % every == 0:
            parts.append(_text(middle, bottom + 16, chart.lane_text(mark.lane), "middle"))
    parts.append(_line(left, bottom, right, bottom, "axis"))
    parts.append(_text((left + right) / 2, bottom + 36, chart.x.title, "middle", "name"))
    return bottom + 44, parts


def _bars(chart: Chart) -> tuple[float, list[str]]:
    left, row = _lanes_width(chart), 22.0
    x, bottom, parts = _named_lanes(chart, left, row)
    for number, mark in enumerate(chart.marks):
        middle = 8 + row * (number + 0.5)
        tone = "bar faint" if mark.faint else "bar"
        parts.append(
            f"<rect class='{tone}' x='{left:.1f}' y='{middle - 7:.1f}' "
            f"width='{max(x(mark.x) - left, 0.8):.1f}' height='14' rx='1.5'/>"
        )
        parts.append(_text(x(mark.x) + 6, middle + 4, with_numbers(mark.label), "start", "figure"))
    parts.append(_line(left, 8, left, bottom, "axis"))
    return bottom + 42, parts


def _dumbbells(chart: Chart) -> tuple[float, list[str]]:
    row = 24.0 if len(chart.marks) <= FEW_LANES else 18.0
    x, bottom, parts = _named_lanes(chart, _lanes_width(chart), row)
    for rule in chart.rules:
        parts.append(_line(x(rule.at), 8, x(rule.at), bottom, "bound"))
    for number, mark in enumerate(chart.marks):
        up = 8 + row * (number + 0.5)
        end, most = mark.x if mark.x_end is None else mark.x_end, mark.y_end
        if most is not None:
            parts.append(_line(x(end), up, x(most), up, "rule"))
            parts.append(_line(x(most), up - 5, x(most), up + 5, "whisker s1"))
        parts.append(_line(x(mark.x), up, x(end), up, "path s1"))
        parts.append(f"<circle class='hollow' cx='{x(mark.x):.1f}' cy='{up:.1f}' r='4.5'/>")
        parts.append(f"<circle class='mark s1' cx='{x(end):.1f}' cy='{up:.1f}' r='5'><title>"
                     f"{_escaped(mark.label)}</title></circle>")  # fmt: skip
    return bottom + 42, parts


def _lanes_width(chart: Chart) -> float:
    longest = max((len(in_language(mark.lane)) for mark in chart.marks), default=0)
    return min(10.0 + 6.4 * min(longest, CUT), 215.0)


def _named_lanes(chart: Chart, left: float, row: float) -> tuple[Place, float, list[str]]:
    """Return where figures lie, the bottom, and the grid with the name of each lane."""
    right, top = WIDTH - 54.0, 8.0
    x = _placed(chart.x, left, right)
    bottom = top + row * len(chart.marks)
    parts = [*_vertical_grid(chart.x, x, top, bottom)]
    for number, mark in enumerate(chart.marks):
        parts.append(
            _text(left - 8, top + row * (number + 0.5) + 4, _cut(mark.lane, CUT), "end", "label")
        )
    parts.append(_text((left + right) / 2, bottom + 34, chart.x.title, "middle", "name"))
    return x, bottom, parts


def _strips(chart: Chart) -> tuple[float, list[str]]:
    left, right, lane_height, top = 8.0, WIDTH - 8.0, 58.0, 4.0
    x = _placed(chart.x, left, right)
    bottom = top + lane_height * len(chart.lanes)
    parts = [*_vertical_grid(chart.x, x, top, bottom)] if chart.x.title else []
    # A histogram in each lane.
    base_of: dict[str, float] = {}
    for number, lane in enumerate(chart.lanes):
        base = base_of[lane] = top + lane_height * (number + 1) - 6
        parts.append(_text(left, base - 36, _cut(lane, 72), "start", "label"))
        for mark in (mark for mark in chart.marks if mark.lane == lane and mark.y > 0):
            end = mark.x if mark.x_end is None else mark.x_end
            tall = max(30 * mark.y, 2.0)
            if mark.series and mark.series != chart.series[0]:
                parts.append(_line(x(mark.x), base - tall, x(end), base - tall, "path s1"))
                continue
            tone = "bar faint" if mark.faint else "bar"
            parts.append(
                f"<rect class='{tone}' x='{x(mark.x) + 0.5:.1f}' y='{base - tall:.1f}' "
                f"width='{x(end) - x(mark.x) - 1:.1f}' height='{tall:.1f}'>"
                f"<title>{_escaped(mark.label)}</title></rect>"
            )
        parts.append(_line(left, base, right, base, "axis"))
    for rule in chart.rules:
        if rule.lane is None:
            parts.append(_line(x(rule.at), top, x(rule.at), bottom, "rule"))
            parts.append(_text(x(rule.at), bottom + 30, rule.label, "middle", "name"))
        else:
            base = base_of[rule.lane]
            parts.append(_bound(x(rule.at), base, rule))
    if not any(rule.lane is None for rule in chart.rules):
        parts.append(_text((left + right) / 2, bottom + 30, chart.x.title, "middle", "name"))
    return bottom + 38, parts


def _bound(x: float, base: float, rule: ReferenceLine) -> str:
    return (
        f"<line class='bound' x1='{x:.1f}' y1='{base - 33:.1f}' x2='{x:.1f}' y2='{base + 3:.1f}'>"
        f"<title>{_escaped(rule.label)} {with_numbers(f'{rule.at:.1%}')}</title></line>"
    )


def _points(chart: Chart) -> tuple[float, list[str]]:
    left, right, top, bottom = 46.0, WIDTH - 14.0, 34.0, 316.0  # the axis has its name on top
    x, y = _placed(chart.x, left, right), _placed(chart.y, bottom, top)
    parts = [*_horizontal_grid(chart.y, y, left, right), *_vertical_grid(chart.x, x, top, bottom)]
    parts += _rules(chart, x, y, left, right, top, bottom)
    labels: list[str] = []  # above all marks
    taken: list[tuple[float, float, float]] = []  # left end, height and width of each label
    # Faint marks below the others, each with its label where there is room.
    for mark in sorted(chart.marks, key=lambda mark: not mark.faint):
        number = chart.series.index(mark.series)
        at, up = x(mark.x), y(mark.y)
        if mark.y_end is not None:
            parts.append(
                f"<g class='whisker s{number % SHAPES}{' faint' if mark.faint else ''}'>"
                f"{_line(at, up, at, y(mark.y_end), '')}"
                f"{_line(at - 4, y(mark.y_end), at + 4, y(mark.y_end), '')}</g>"
            )
        parts.append(
            f"<g class='{'faint' if mark.faint else ''}'>{_shape(number, at, up)}"
            f"<title>{_escaped(mark.label)}</title></g>"
        )
        wide = 6.4 * len(in_language(mark.label))
        end = at + 9 + wide > right
        spot = (at - 9 if end else at + 9, _free(taken, at - wide if end else at, up + 4, wide))
        taken.append((at - wide if end else at, spot[1], wide))
        labels.append(_text(*spot, mark.label, "end" if end else "start", "label halo"))
    parts += labels
    parts.append(_line(left, bottom, right, bottom, "axis"))
    parts.append(_text((left + right) / 2, bottom + 36, chart.x.title, "middle", "name"))
    parts.append(_text(left, 10, chart.y.title, "start", "name"))
    return bottom + 44, parts


def _free(taken: list[tuple[float, float, float]], left: float, up: float, wide: float) -> float:
    """Return a height for a label near its point that no label before it has."""
    for shift in (0, -12, 12, -24, 24, -36, 36, -48, 48):
        if all(
            left > x + w + 4 or x > left + wide + 4 or abs(up + shift - y) > 11 for x, y, w in taken
        ):
            return up + shift
    return up


def _lines(chart: Chart) -> tuple[float, list[str]]:
    left, right, top, bottom = 46.0, WIDTH - 14.0, 12.0, 216.0
    x, y = _placed(chart.x, left, right), _placed(chart.y, bottom, top)
    parts = [*_horizontal_grid(chart.y, y, left, right)]
    every = max(1, math.ceil((chart.x.high - chart.x.low) / 12))
    parts += [
        _text(x(tick), bottom + 16, str(tick), "middle")
        for tick in range(math.ceil(chart.x.low), math.floor(chart.x.high) + 1, every)
    ]
    parts += _rules(chart, x, y, left, right, top, bottom)
    for number, name in enumerate(chart.series):
        marks = [mark for mark in chart.marks if mark.series == name]
        path = " ".join(f"{x(mark.x):.1f},{y(mark.y):.1f}" for mark in marks)
        parts.append(f"<polyline class='path s{number % SHAPES}' points='{path}'/>")
        parts += [_shape(number, x(mark.x), y(mark.y)) for mark in marks]
    parts.append(_line(left, bottom, right, bottom, "axis"))
    parts.append(_text((left + right) / 2, bottom + 36, chart.x.title, "middle", "name"))
    return bottom + 44, parts


_FORMS: dict[str, Callable[[Chart], tuple[float, list[str]]]] = {
    "columns": _columns,
    "bars": _bars,
    "dumbbells": _dumbbells,
    "strips": _strips,
    "points": _points,
    "lines": _lines,
}


def _placed(scale: Scale, begin: float, end: float) -> Place:
    """Where a figure lies between two ends of the drawing."""
    change = math.log10 if scale.log else float
    low, high = change(scale.low), change(scale.high)
    span = (high - low) or 1.0

    def place(figure: float) -> float:
        held = min(max(figure, scale.low), scale.high)
        return begin + (change(held) - low) / span * (end - begin)

    return place


def ticks_of(scale: Scale) -> list[float]:
    """Return the figures that are written at an axis: round ones, never a single one."""
    if scale.log:
        first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
        steps = (1, 2, 5) if last - first <= 3 else (1,)
        every = [s * 10.0**power for power in range(first, last + 1) for s in steps]
        return [tick for tick in every if scale.low * 0.999 <= tick <= scale.high * 1.001]
    span = scale.high - scale.low
    power = 10.0 ** math.floor(math.log10(span / 4))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if span / (s * power) <= 5)
    first, last = math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _written(scale: Scale, figure: float) -> str:
    if scale.percent:
        return with_numbers(f"{figure * 100:g}%")
    return with_numbers(f"{figure:g}")


def _horizontal_grid(scale: Scale, place: Place, left: float, right: float) -> Iterator[str]:
    for tick in ticks_of(scale):
        yield _line(left, place(tick), right, place(tick), "grid")
        yield _text(left - 6, place(tick) + 4, _written(scale, tick), "end")


def _vertical_grid(scale: Scale, place: Place, top: float, bottom: float) -> Iterator[str]:
    ticks = ticks_of(scale)
    for number, tick in enumerate(ticks):
        yield _line(place(tick), top, place(tick), bottom, "grid")
        flush = place(tick) < 12 or place(tick) > WIDTH - 14
        anchor = "middle" if not flush else "start" if number == 0 else "end"
        yield _text(place(tick), bottom + 16, _written(scale, tick), anchor)


def _rules(
    chart: Chart, x: Place, y: Place, left: float, right: float, top: float, bottom: float
) -> Iterator[str]:
    for rule in chart.rules:
        if rule.axis == "x":
            yield _line(x(rule.at), top, x(rule.at), bottom, "rule")
            yield _text(x(rule.at) - 5, bottom - 6, rule.label, "end", "name halo")
        else:
            yield _line(left, y(rule.at), right, y(rule.at), "rule")
            near = [x(mark.x) for mark in chart.marks if -24 < y(mark.y) - y(rule.at) < 8]
            if any(place > right - 90 for place in near):
                yield _text(left + 5, y(rule.at) - 5, rule.label, "start", "name halo")
            else:
                yield _text(right, y(rule.at) - 5, rule.label, "end", "name halo")


def _shape(number: int, x: float, y: float) -> str:
    """The mark of a series: another colour and another shape for each."""
    tone = f"class='mark s{number % SHAPES}'"
    points: tuple[tuple[float, float], ...]
    match number % SHAPES:
        case 0:
            return f"<circle {tone} cx='{x:.1f}' cy='{y:.1f}' r='4.5'/>"
        case 1:
            return f"<rect {tone} x='{x - 4:.1f}' y='{y - 4:.1f}' width='8' height='8'/>"
        case 2:
            points = ((0, -5), (5, 4), (-5, 4))
        case 3:
            points = ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0))
        case 4:
            points = ((0, 5), (5, -4), (-5, -4))
        case _:
            points = ((-5, 0), (-2.5, -4.5), (2.5, -4.5), (5, 0), (2.5, 4.5), (-2.5, 4.5))
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points)
    return f"<polygon {tone} points='{path}'/>"


def _line(x1: float, y1: float, x2: float, y2: float, tone: str) -> str:
    return f"<line class='{tone}' x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}'/>"


def _text(x: float, y: float, text: str, anchor: str, tone: str = "tick") -> str:
    placed = f"x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'"
    return f"<text class='{tone}' {placed}>{_escaped(text)}</text>"


def _escaped(text: str) -> str:
    return escape(in_language(text))


def _cut(text: str, most: int) -> str:
    text = in_language(text)
    return text if len(text) <= most else text[: most - 1] + "…"
