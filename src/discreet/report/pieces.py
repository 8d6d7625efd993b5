"""The pieces that every page is made of. Text is escaped unless it is already ``Markup``.

A statement is written in the language of the page. Any other text with words is English, and marked
so on a page in another language; names and cells go through ``exact``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any, Literal

from markupsafe import Markup, escape

from discreet import __version__
from discreet.report.charts.chart import Chart
from discreet.report.charts.svg import draw, legend
from discreet.statements import (
    ENGLISH,
    LANGUAGES,
    Language,
    Statement,
    in_language,
    speaking,
    spoken,
    templates,
    with_numbers,
)

Tone = Literal["", "good", "warn", "bad"]
# Says to the browser what is true anyway: no script, nothing from anywhere.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
DRAWN = ("loss_by_attribute",)  # measures that a plot has
NAMING = ("tables", "terms")  # by the names of tables or attributes
_LETTERS = re.compile(r"[^\W\d_]{2}")


def label(id: str, /, **parameters: Any) -> Statement:
    """Return a text of pages, such as a heading."""
    return Statement(f"page.{id}", **parameters)


def labels(*ids: str) -> tuple[Statement, ...]:
    """Return texts of pages, such as the head of a table."""
    return tuple(label(id) for id in ids)


def text(content: str) -> Markup:
    """Return text as HTML, in the language of the page; other sentences are marked as English."""
    if isinstance(content, Markup):
        return content
    if isinstance(content, Statement):
        return escape(in_language(content))
    if not _LETTERS.search(content):
        return escape(with_numbers(content))
    return escape(content) if spoken() == ENGLISH else tag("span", escape(content), lang="en")


def exact(name: str) -> Markup:
    """Return a name or a cell, which is never translated."""
    return escape(name)


def figures_line(line: str) -> Markup:
    """Return figures with their names, such as ``alpha = 0.5``, in the form of the page."""
    return escape(with_numbers(line))


def joined(parts: Iterable[str]) -> Markup:
    """Return HTML from pieces of it."""
    return Markup("").join(text(part) for part in parts)


def tag(name: str, *content: str, **attributes: object) -> Markup:
    """Return an element; attributes without a text are left out."""
    pairs = ((key.rstrip("_").replace("_", "-"), str(value)) for key, value in attributes.items())
    opened = "".join(f" {key}='{escape(value)}'" for key, value in pairs if value)
    return Markup(f"<{name}{opened}>{joined(content)}</{name}>")


def phrase(id: str, /, **parts: Markup) -> Markup:
    """Return a text of pages with HTML in its places."""
    places = label(id, **{name: f"{{{name}}}" for name in parts})
    return escape(in_language(places)).format(**parts)


@dataclass(frozen=True)
class Card:
    """A headline figure; ``key`` and ``value`` are for programs that read the page."""

    key: str
    name: str
    value: float | int | str
    shown: str
    note: str = ""
    tone: Tone = ""

    def html(self) -> Markup:
        return tag(
            "div",
            tag("dt", self.name),
            tag("dd", self.shown, class_="value"),
            tag("dd", self.note, class_="note") if self.note else "",
            class_=f"card {self.tone}",
            data_figure=self.key,
            data_value=self.value,
        )


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading."""

    title: str
    body: Markup
    short: str = ""  # its name in the list of contents, which has only sections with one
    detail: bool = False  # behind the summary, and behind the lines to sign

    @property
    def anchor(self) -> str:
        return self.short.lower().replace(" ", "-")

    def html(self) -> Markup:
        kind = "detail" if self.detail else ""
        return tag("section", tag("h2", self.title), self.body, id=self.anchor, class_=kind)


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
    conclusion: Sequence[tuple[str, Sequence[str]]] = ()  # below the heading: a name, sentences
    declaration: Markup | None = None  # above the lines to sign; None without such lines
    language: Language = field(default_factory=spoken)

    def html(self) -> str:
        """One self-contained file."""
        with speaking(self.language):
            return self._html()

    def _html(self) -> str:
        title = escape(f"{in_language(self.kind)}: {in_language(self.heading)}")
        links = [
            tag("a", section.short, href=f"#{section.anchor}")
            for section in self.sections
            if section.short
        ]
        contents = tag("nav", *links, aria_label=in_language(label("contents")))
        signed: Sequence[str] = ()
        if self.declaration is not None:
            lines = labels("name", "date", "function", "signature")
            signed = [
                self.declaration,
                tag("div", *(tag("span", line) for line in lines), class_="sign"),
            ]
        main = [
            *(section.html() for section in self.sections if not section.detail),
            *signed,
            *(section.html() for section in self.sections if section.detail),
        ]
        return (
            f"<!doctype html>\n<html lang='{self.language}'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            "<meta name='color-scheme' content='light dark'>"
            f"<link rel='icon' href='data:,'><title>{title}</title>"
            f"<style>{style()}</style></head><body class='discreet page'><div class='sheet'>"
            f"{tag('header', *self._head('h1'), contents)}{tag('main', *main)}"
            f"{tag('footer', label('made-by', version=__version__))}</div></body></html>\n"
        )

    def fragment(self) -> str:
        """The same for a notebook, with its style and without what only a file needs."""
        shown = [section.html() for section in self.sections if section.short]
        body = tag("div", *self._head("h2"), *shown, class_="discreet notebook")
        return f"<style>{style()}</style>{body}"

    def text(self) -> str:
        """The same as plain text for a terminal, without charts."""
        reader = _PlainText()
        with speaking(self.language):
            shown = [*self._head("h1"), *(section.html() for section in self.sections)]
        reader.feed(str(joined(shown[1:])))
        return "\n".join(reader.lines).strip()

    def _head(self, level: str) -> list[Markup]:
        sign = {"good": "✓", "bad": "✗", "warn": "!"}.get(self.tone, "")
        mark = tag("span", sign, class_=f"mark {self.tone}", aria_hidden="true") if sign else ""
        subject = tag("span", self.subject)
        return [
            tag("p", tag("b", exact("discreet")), tag("span", self.kind), subject, class_="kicker"),
            tag(level, mark, self.heading),
            *(tag("p", sentence, class_="lede") for sentence in self.lede if sentence),
            *self._conclusion(),
            tag("dl", *(card.html() for card in self.cards), class_="cards"),
        ]

    def _conclusion(self) -> Iterator[Markup]:
        if self.conclusion:
            rows = [
                tag("div", tag("dt", name), *(tag("dd", sentence) for sentence in stated))
                for name, stated in self.conclusion
                if stated
            ]
            yield tag("dl", *rows, class_="conclusion")


class _PlainText(HTMLParser):
    """The lines of a page: a line for each heading, sentence and figure, columns for tables."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._line = ""  # of the block or cell
        self._rows: list[list[str]] = []  # of the table
        self._hidden = ""  # the element around, where it is only drawn

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if not self._hidden and (tag == "figure" or ("aria-hidden", "true") in attributes):
            self._hidden = tag
        if self._hidden:
            return
        if tag == "tr":
            self._rows.append([])
        elif tag in ("h2", "h3") and self.lines:
            self.lines.append("")
        self._line += {"li": "  - ", "br": ": ", "dd": " "}.get(tag, "")

    def handle_data(self, data: str) -> None:
        self._line += "" if self._hidden else data

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            self._hidden = "" if tag == self._hidden else self._hidden
        elif tag in ("td", "th"):
            self._rows[-1].append(self._line)
            self._line = ""
        elif tag == "table":
            widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)]
            for row in self._rows:
                cells = zip(row, widths, strict=True)
                self.lines.append("  ".join(cell.ljust(width) for cell, width in cells).rstrip())
            self._rows = []
        elif tag in ("h1", "h2", "h3", "p", "li", "summary", "div", "pre") and self._line:
            self.lines.append(self._line)
            self._line = ""


def language_of_page(page: str) -> Language:
    """Return the language that a page names; English where it names none that is supported."""
    stated = re.match(r"<!doctype html>\n<html lang='(\w+)'>", page)
    return next((name for name in LANGUAGES if stated and name == stated[1]), ENGLISH)


@cache
def style() -> str:
    """The style of all pages."""
    return files("discreet.report").joinpath("style.css").read_text(encoding="utf-8")


def paragraph(sentence: str, tone: str = "") -> Markup:
    """One paragraph."""
    return tag("p", sentence, class_=tone)


def sentences(listed: Iterable[str]) -> Markup:
    """A list of sentences."""
    items = [tag("li", sentence) for sentence in listed]
    return tag("ul", *items, class_="sentences") if items else Markup("")


def explained(name: str, meaning: str) -> Markup:
    """A name with what it means below it."""
    return joined([tag("strong", name), Markup("<br>"), tag("span", meaning, class_="soft")])


def badge(word: str, tone: Tone = "") -> Markup:
    """A verdict."""
    return tag("span", word, class_=f"badge {tone}")


def code(written: str) -> Markup:
    """A block of code."""
    return tag("pre", tag("code", exact(written)))


def subheading(title: str) -> Markup:
    """A heading within a section."""
    return tag("h3", title)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[int] = (),
    short: Collection[int] = (),
) -> Markup:
    """A table; ``numbers`` are the columns set to the right, ``short`` those kept on a line."""

    def cells(name: str, row: Sequence[str], **attributes: str) -> Markup:
        tones = ("number" if i in numbers else "short" * (i in short) for i in range(len(row)))
        pairs = zip(row, tones, strict=True)
        return tag("tr", *(tag(name, cell, class_=tone, **attributes) for cell, tone in pairs))

    top = tag("thead", cells("th", head, scope="col"))
    body = tag("tbody", *(cells("td", row) for row in rows))
    return tag("div", tag("table", top, body), class_="scroll")


def facts_table(facts: Iterable[tuple[str, Any]]) -> Markup:
    """A table of names and any figures of a manifest."""
    rows = [(exact(name.replace("_", " ")), figures_line(inline(fact))) for name, fact in facts]
    return table(("", ""), rows) if rows else Markup("")


def figure_table(measured: Mapping[str, Any]) -> Markup:
    """Every figure, with what it means."""
    return table(labels("measure", "figure"), _figure_rows(measured), {1})


def _figure_rows(
    measured: Mapping[str, Any], within: tuple[str, ...] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the name of every figure with its meaning, and the figure; nested names are joined."""
    for key, value in measured.items():
        if key in DRAWN:
            continue
        if isinstance(value, Mapping):
            yield from _figure_rows(value, (*within, key))
            continue
        name: str = _measure(key)
        for place in reversed(range(len(within))):
            is_name = place > 0 and within[place - 1] in NAMING  # of a table or an attribute
            outer = str(within[place]) if is_name else _measure(within[place])
            name = Statement("measure.within", outer=outer, figure=name)
        shown = name if isinstance(name, Statement) else exact(name)
        meaning = f"measure.{key}.meaning"
        if meaning in templates(ENGLISH):
            shown = explained(shown, Statement(meaning))
        yield shown, inline(value)


def _measure(key: str) -> str:
    """Return the name of a measure; a table, an attribute or an unknown key stays as it is."""
    id = f"measure.{key}"
    return Statement(id) if id in templates(ENGLISH) else str(key).replace("_", " ")


def folded(title: str, body: str) -> Markup:
    """Something that is shown when asked for."""
    return tag("details", tag("summary", title), body)


def figures(charts: Iterable[Chart | None], beside: str = "") -> Markup:
    """Charts beside each other, each with its figures as a table below; then something else."""
    drawn = [_figure(chart) for chart in charts if chart is not None]
    drawn += [tag("div", beside)] if beside else []
    return tag("div", *drawn, class_="charts") if drawn else Markup("")


def _figure(chart: Chart) -> Markup:
    rows = [(escape(chart.lane_text(lane)), *cells) for lane, *cells in chart.table]
    return tag(
        "figure",
        tag("figcaption", tag("b", chart.title), tag("span", chart.note)),
        Markup(legend(chart)),
        Markup(draw(chart)),
        folded(label("the-figures"), table(chart.head, rows, range(1, len(chart.head)))),
        data_chart=chart.name,
    )


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
        return in_language(label("yes" if value else "no"))
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    return in_language(label("unbounded")) if value is None else str(value)
