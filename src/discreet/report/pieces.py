"""The pieces that every page is made of. Text is escaped unless it is already ``Html``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Literal

from discreet import __version__
from discreet.report.charts.chart import Chart
from discreet.report.charts.svg import draw, legend
from discreet.report.languages.translation import (
    Language,
    needs_translation,
    numbers,
    speaking,
    spoken,
    translated,
)

Tone = Literal["", "good", "warn", "bad"]
# Says to the browser what is true anyway: no script, nothing from anywhere.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


@dataclass(frozen=True)
class Card:
    """A headline figure; ``key`` and ``value`` are for programs that read the page."""

    key: str
    name: str
    value: float | int | str
    shown: str
    note: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading."""

    title: str
    body: Html
    short: str = ""  # its name in the list of contents, which has only sections with one
    detail: bool = False  # behind the summary, and behind the lines to sign

    @property
    def anchor(self) -> str:
        return self.short.lower().replace(" ", "-")

    def html(self) -> Html:
        anchor = f" id='{escape(self.anchor)}'" if self.short else ""
        kind = " class='detail'" if self.detail else ""
        return Html(f"<section{anchor}{kind}><h2>{text(self.title)}</h2>{self.body}</section>")


@dataclass(frozen=True)
class Page:
    """A whole page, or what a notebook shows of it."""

    kind: str  # such as "Release report"
    subject: str  # what it is about
    heading: str
    tone: Tone
    lede: Sequence[str]
    cards: Sequence[Card]
    sections: Sequence[Section]
    to_sign: bool = False
    language: Language = field(default_factory=spoken)

    def html(self) -> str:
        """One self-contained file."""
        with speaking(self.language):
            return self._html()

    def _html(self) -> str:
        links = [one for one in self.sections if one.short]
        contents = "".join(f"<a href='#{one.anchor}'>{text(one.short)}</a>" for one in links)
        signed = ("Name", "Date", "Function", "Signature")
        sign = "".join(f"<span>{text(name)}</span>" for name in signed)
        titled = f"{translated(self.kind) or self.kind}: {translated(self.heading) or self.heading}"
        listed = escape(translated("Contents") or "Contents")
        made = f"Made by discreet {__version__}. This file has no script and uses no network."
        return (
            f"<!doctype html>\n<html lang='{self.language}'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            "<meta name='color-scheme' content='light dark'>"
            f"<link rel='icon' href='data:,'><title>{escape(titled)}</title>"
            f"<style>{style()}</style></head><body class='discreet page'><div class='sheet'>"
            f"<header>{self._head('h1')}{cards(self.cards)}"
            f"<nav aria-label='{listed}'>{contents}</nav></header><main>"
            f"{''.join(one.html() for one in self.sections if not one.detail)}"
            + (f"<div class='sign'>{sign}</div>" if self.to_sign else "")
            + f"{''.join(one.html() for one in self.sections if one.detail)}</main>"
            + f"<footer>{text(made)}</footer></div></body></html>\n"
        )

    def fragment(self) -> str:
        """The same for a notebook, with its style and without what only a file needs."""
        shown = [one for one in self.sections if one.short]
        return (
            f"<style>{style()}</style><div class='discreet notebook'>{self._head('h2')}"
            f"{cards(self.cards)}{''.join(one.html() for one in shown)}</div>"
        )

    def _head(self, level: str) -> str:
        sign = {"good": "✓", "bad": "✗", "warn": "!"}.get(self.tone, "")
        mark = f"<span class='mark {self.tone}' aria-hidden='true'>{sign}</span>" if sign else ""
        lede = "".join(f"<p class='lede'>{text(one)}</p>" for one in self.lede if one)
        return (
            f"<p class='kicker'><b>discreet</b><span>{text(self.kind)}</span>"
            f"<span>{text(self.subject)}</span></p><{level}>{mark}{text(self.heading)}</{level}>"
            f"{lede}"
        )


@cache
def style() -> str:
    """The style of all pages."""
    return files("discreet.report").joinpath("style.css").read_text(encoding="utf-8")


def text(given: str) -> Html:
    """Text as HTML, in the language of the page; what has no translation is marked as English."""
    if isinstance(given, Html):
        return given
    found = translated(given)
    if found is None and needs_translation(given):
        return Html(f"<span lang='en'>{escape(given)}</span>")
    return Html(escape(given if found is None else found))


def exact(given: str) -> Html:
    """A name or a cell: never translated."""
    return given if isinstance(given, Html) else Html(escape(given))


def with_numbers(given: str) -> Html:
    """Figures with their names, such as ``alpha = 0.5``: only numbers are in the page's form."""
    return given if isinstance(given, Html) else Html(escape(numbers(given)))


def phrase(template: str, **parts: Html) -> Html:
    """A sentence with HTML in its places, ``{q1}`` and so on."""
    said = text(template)
    for place, part in parts.items():
        said = Html(said.replace(f"{{{place}}}", part))
    return said


def joined(parts: Iterable[str]) -> Html:
    """HTML from pieces of it."""
    return Html("".join(text(part) for part in parts))


def cards(shown: Sequence[Card]) -> Html:
    """Headline figures."""
    items = "".join(
        f"<div class='card {card.tone}' data-figure='{escape(card.key)}' "
        f"data-value='{escape(str(card.value))}'><dt>{text(card.name)}</dt>"
        f"<dd class='value'>{text(card.shown)}</dd>"
        + (f"<dd class='note'>{text(card.note)}</dd>" if card.note else "")
        + "</div>"
        for card in shown
    )
    return Html(f"<dl class='cards'>{items}</dl>")


def paragraph(said: str, tone: str = "") -> Html:
    """One paragraph."""
    return Html(f"<p class='{tone}'>{text(said)}</p>" if tone else f"<p>{text(said)}</p>")


def sentences(said: Iterable[str]) -> Html:
    """A list of sentences."""
    items = "".join(f"<li>{text(one)}</li>" for one in said)
    return Html(f"<ul class='sentences'>{items}</ul>" if items else "")


def explained(name: str, meaning: str) -> Html:
    """A name with what it means below it."""
    return joined(
        [Html("<strong>"), name, Html("</strong><br><span class='soft'>"), meaning, Html("</span>")]
    )


def badge(word: str, tone: Tone = "") -> Html:
    """A verdict."""
    return Html(f"<span class='badge {tone}'>{text(word)}</span>")


def code(written: str) -> Html:
    """A block of code."""
    return Html(f"<pre><code>{exact(written)}</code></pre>")


def subheading(title: str) -> Html:
    """A heading within a section."""
    return Html(f"<h3>{text(title)}</h3>")


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[int] = (),
    short: Collection[int] = (),
) -> Html:
    """A table; ``numbers`` are the columns set to the right, ``short`` those kept on a line."""

    def tone(place: int) -> str:
        return " class='number'" if place in numbers else " class='short'" * (place in short)

    top = "".join(f"<th{tone(i)} scope='col'>{text(name)}</th>" for i, name in enumerate(head))
    body = "".join(
        "<tr>" + "".join(f"<td{tone(i)}>{text(cell)}</td>" for i, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    whole = f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody>"
    return Html(f"<div class='scroll'><table>{whole}</table></div>")


def folded(title: str, body: str) -> Html:
    """Something that is shown when asked for."""
    return Html(f"<details><summary>{text(title)}</summary>{text(body)}</details>")


def figures(charts: Iterable[Chart | None], beside: str = "") -> Html:
    """Charts beside each other, each with its figures as a table below; then something else."""
    drawn = "".join(_figure(chart) for chart in charts if chart is not None)
    last = f"<div>{text(beside)}</div>" if beside else ""
    return Html(f"<div class='charts'>{drawn}{last}</div>" if drawn or last else "")


def _figure(chart: Chart) -> str:
    rows = [(exact(_lane(chart, lane)), *cells) for lane, *cells in chart.table]
    shown = _translated_chart(chart)
    return (
        f"<figure data-chart='{escape(chart.name)}'><figcaption><b>{text(chart.title)}</b>"
        f"<span>{text(chart.note)}</span></figcaption>{legend(shown)}{draw(shown)}"
        f"{folded('The figures', table(chart.head, rows, range(1, len(chart.head))))}</figure>"
    )


def _translated_chart(chart: Chart) -> Chart:
    """A chart with its words in the language of the page; names stay."""
    return replace(
        chart,
        title=_word(chart.title),
        note=_word(chart.note),
        x=replace(chart.x, title=_word(chart.x.title)),
        y=replace(chart.y, title=_word(chart.y.title)),
        marks=tuple(
            replace(mark, lane=_lane(chart, mark.lane), label=_word(mark.label))
            for mark in chart.marks
        ),
        rules=tuple(
            replace(
                rule,
                label=_word(rule.label),
                lane=None if rule.lane is None else _lane(chart, rule.lane),
            )
            for rule in chart.rules
        ),
    )


def _lane(chart: Chart, lane: str) -> str:
    """A category: a range of numbers, a name, or an attack with an aim that has words."""
    return numbers(lane) if chart.form == "columns" else translated(lane, "lane") or lane


def _word(said: str) -> str:
    return translated(said) or said


def inline(value: Any) -> str:
    """Any figure of a manifest in one line, to four digits."""
    if isinstance(value, dict):
        return ", ".join(
            f"{key}: {inline(inner)}" if isinstance(inner, dict) else f"{key} = {inline(inner)}"
            for key, inner in value.items()
        )
    if isinstance(value, list | tuple):
        return ", ".join(f"[{inline(v)}]" if isinstance(v, list) else inline(v) for v in value)
    if isinstance(value, bool):
        return _word("yes" if value else "no")
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    return _word("unbounded") if value is None else str(value)
