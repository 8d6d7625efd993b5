"""Before and after, drawn from real releases of a small table: docs/images/method-*.svg.

``make pictures`` writes the pictures; a test compares them. Rows of the same group have the same
colour; where cells cover several people, one assignment of rows to people is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

import discreet as dc

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NAMES = ("name", "age", "zip", "sex", "diagnosis", "income")
PEOPLE = (
    ("Ann", 34, "4711", "f", "flu", "low"),
    ("Bob", 36, "4711", "m", "hiv", "high"),
    ("Cem", 38, "4712", "m", "asthma", "low"),
    ("Dee", 31, "4713", "f", "flu", "high"),
    ("Eva", 52, "4720", "f", "cancer", "high"),
    ("Fay", 55, "4721", "f", "flu", "low"),
    ("Gil", 58, "4722", "m", "asthma", "high"),
    ("Hal", 59, "4722", "m", "hiv", "low"),
    ("Ida", 71, "4730", "f", "flu", "low"),
    ("Jon", 74, "4731", "m", "cancer", "high"),
    ("Kim", 76, "4731", "f", "asthma", "low"),
    ("Leo", 79, "4733", "m", "flu", "high"),
)
QUASI = ("age", "zip", "sex")
ATTRIBUTES: Mapping[str, dict[str, Any]] = {
    "name": {"role": "identifier"},
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"intervals": [10, 20, 40]},
    },
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "diagnosis": {"role": "sensitive"},
    "income": {"role": "sensitive"},
}
CLASSES = [{"k-anonymity": {"k": 4}}, {"distinct-l-diversity": {"l": 2}}]


@dataclass(frozen=True)
class Example:
    """A job on the table of the pictures."""

    method: str
    requirements: Sequence[dict[str, Any]]
    after: str  # what to see on the right
    dropped: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def publish(self) -> dc.Release:
        attributes = {**ATTRIBUTES, **{name: {"role": "drop"} for name in self.dropped}}
        job = {
            "attributes": attributes,
            "requirements": list(self.requirements),
            "method": {self.method: dict(self.settings)},
        }
        frame = pl.DataFrame(PEOPLE, schema=list(NAMES), orient="row")
        return dc.publish(frame, job, seed=1)


EXAMPLES = (
    Example("full-domain", CLASSES, "every column at one level of its hierarchy"),
    Example("mondrian", [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}],
            "the table is cut as long as every part passes"),
    Example("local-recoding", [{"k-anonymity": {"k": 3}}, {"distinct-l-diversity": {"l": 2}}],
            "each group has its own cells, with the least loss"),
    Example("top-down", CLASSES, "from the most general cells down, while all groups pass"),
    Example("anatomy", [{"distinct-l-diversity": {"l": 2}}],
            "exact columns; each value is one of two or more of its group", ("income",)),
    Example("decomposition", [{"distinct-l-diversity": {"l": 2}}],
            "exact columns; a group has a list of values; sensitive rows stay whole"),
    Example("unlinked", [], "exact columns and whole sensitive rows, without a link"),
    Example("codip", [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}],
            "a table for each sensitive attribute, which cannot be joined"),
    Example("msa-diversity", [{"p-diversity": {"l": 2}}],
            "groups in which no sensitive value has more than half"),
)  # fmt: skip


def example_of(method: str) -> Example:
    """Return the example of a method."""
    return next(example for example in EXAMPLES if example.method == method)


LEAD = Example(  # of the README
    "msa-diversity",
    [{"k-anonymity": {"k": 6}}, {"p-diversity": {"l": 2}}],
    "groups of six, in which no sensitive value has more than half",
)
ROW, TITLE, LETTER, PADDING, GAP = 20, 22, 7.2, 9, 46
STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1b1f24 }
.title { font: 600 12px system-ui, sans-serif; fill: #57606a }
.head { font-weight: 700 }
.verdict { font: 700 15px system-ui, sans-serif; fill: #116329 }
 .card { fill: #ffffff } .frame { fill: none; stroke: #d0d7de }
.arrow { stroke: #57606a; stroke-width: 2; fill: none } .plain { fill: #ffffff00 }
.g0 { fill: #cfe8f7 } .g1 { fill: #fbe3b5 } .g2 { fill: #c9ecd9 } .g3 { fill: #f3d3e6 }
.g4 { fill: #fbf3b0 } .g5 { fill: #e0dcf5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .title { fill: #9da7b3 } .card { fill: #161b22 } .frame { stroke: #3d444d }
.arrow { stroke: #9da7b3 } .verdict { fill: #56d364 }
.g0 { fill: #1b4a66 } .g1 { fill: #6b4d0f } .g2 { fill: #1d5a41 } .g3 { fill: #6a2f55 }
.g4 { fill: #5d5610 } .g5 { fill: #443b78 }
}
"""
COLOURS = 6


@dataclass(frozen=True)
class DrawnTable:
    """A table with the colour of each row; None for no group."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    groups: Sequence[int | None]

    @property
    def widths(self) -> list[float]:
        cells = [self.columns, *self.rows]
        return [max(len(row[n]) for row in cells) * LETTER + 2 * PADDING
                for n in range(len(self.columns))]  # fmt: skip

    @property
    def width(self) -> float:
        return max(sum(self.widths), len(self.title) * LETTER)

    @property
    def height(self) -> float:
        return TITLE + (len(self.rows) + 1) * ROW

    def draw(self, left: float, top: float) -> list[str]:
        """Return the SVG elements of the table at a place."""
        drawn = [f'<text class="title" x="{left:g}" y="{top + 14:g}">{escape(self.title)}</text>']
        for number, row in enumerate([self.columns, *self.rows]):
            y = top + TITLE + number * ROW
            colour = self.groups[number - 1] if number else None
            style = "plain" if colour is None else f"g{colour % COLOURS}"
            width = sum(self.widths)
            drawn.append(f'<rect class="{style}" x="{left:g}" y="{y:g}" width="{width:g}" '
                         f'height="{ROW}"/>')  # fmt: skip
            x = left
            for cell, cell_width in zip(row, self.widths, strict=True):
                kind = "" if number else ' class="head"'
                drawn.append(
                    f'<text{kind} x="{x + PADDING:g}" y="{y + 14:g}">{escape(cell)}</text>'
                )
                x += cell_width
        size = f'width="{sum(self.widths):g}" height="{(len(self.rows) + 1) * ROW}"'
        drawn.append(f'<rect class="frame" x="{left:g}" y="{top + TITLE:g}" {size}/>')
        return drawn


def covers(cell: str, value: str) -> bool:
    """Whether a published cell covers a value of the source."""
    if cell in ("*", value):
        return True
    if cell[0] in "[(":
        low, high = (float(end) for end in cell[1:-1].split(","))
        number = float(value)
        above = number > low or (cell[0] == "[" and number == low)
        return above and (number < high or (cell[-1] == "]" and number == high))
    if cell[0] == "{":
        return value in cell[1:-1].split(", ")
    return len(cell) == len(value) and all(c in ("*", v) for c, v in zip(cell, value, strict=True))


def groups_of_people(columns: Sequence[str], rows: Sequence[Sequence[str]],
                     groups: Sequence[int | None]) -> list[int | None]:  # fmt: skip
    """Return the group of each person by one assignment of published rows to people."""
    shared = [name for name in columns if name in NAMES]
    places = [list(columns).index(name) for name in shared]
    people = [[str(person[NAMES.index(name)]) for name in shared] for person in PEOPLE]
    fits = np.array(
        [[all(covers(row[p], cell) for p, cell in zip(places, person, strict=True)) for row in rows]
         for person in people]
    )  # fmt: skip
    of_person = maximum_bipartite_matching(csr_matrix(fits), perm_type="column")
    return [None if place < 0 else groups[place] for place in of_person.tolist()]


def tables_of(release: dc.Release) -> tuple[list[int | None], list[DrawnTable]]:
    """Return the group of each person, and the published tables."""
    people: list[int | None] = [None] * len(PEOPLE)
    number_of: dict[Any, int] = {}
    drawn = []
    for name, frame in release.tables.items():
        columns = list(frame.columns)
        rows = [["" if cell is None else str(cell) for cell in row] for row in frame.rows()]
        if columns[:3] == ["group", "attribute", "value"]:  # a line for each group
            columns, rows = _lists(rows)
        by = ["group"] if "group" in columns else [c for c in columns if c in QUASI]
        keys = [tuple(row[columns.index(c)] for c in by) for row in rows]
        if "age" in columns and not number_of:  # groups are numbered by their youngest person
            age = columns.index("age")
            for n in sorted(range(len(rows)), key=lambda n: (_least(rows[n][age]), rows[n])):
                number_of.setdefault(keys[n], len(number_of))
        grouped = bool(by) and len(set(keys)) > 1 and all(key in number_of for key in keys)
        if grouped and by == ["group"]:  # published numbers are random
            place = columns.index("group")
            rows = [[*row[:place], str(number_of[key] + 1), *row[place + 1 :]]
                    for row, key in zip(rows, keys, strict=True)]  # fmt: skip
        numbered = [
            (number_of[key] if grouped else 0, row) for key, row in zip(keys, rows, strict=True)
        ]
        numbered.sort(key=lambda item: (item[0], _least(item[1][0]), item[1]))
        shown = [row for _, row in numbered]
        colours = [number if grouped else None for number, _ in numbered]
        if "age" in columns and grouped and all(person is None for person in people):
            people = groups_of_people(columns, shown, colours)
        drawn.append(DrawnTable(name, columns, shown, colours))
    return people, drawn


def _lists(rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the lists of values by group, an attribute a column."""
    attributes = list(dict.fromkeys(row[1] for row in rows))
    groups = sorted({int(row[0]) for row in rows})
    return ["group", *attributes], [
        [str(group), *(", ".join(sorted(r[2] for r in rows if r[:2] == [str(group), attribute]))
                       for attribute in attributes)]
        for group in groups
    ]  # fmt: skip


def _least(cell: str) -> float:
    """Return the least number that a cell covers, if it is one."""
    digits = cell.strip("[(").split(",")[0]
    return float(digits) if digits.isdigit() else 0.0


def verdict_of(release: dc.Release) -> str:
    """Save a release, which attacks it, and return the first line of the verdict."""
    with TemporaryDirectory() as folder:
        release.save(Path(folder) / "release")
    return release.verdict().lines()[0]


def picture(example: Example, *, judged: bool = False) -> str:
    """Return the SVG of an example; its verdict too, where it is judged."""
    release = example.publish()
    people, after = tables_of(release)
    verdict = verdict_of(release) if judged else None
    order = sorted(range(len(PEOPLE)), key=lambda n: (people[n] is None, people[n] or 0, n))
    before = DrawnTable(
        "the table",
        NAMES,
        [[str(cell) for cell in PEOPLE[n]] for n in order],
        [people[n] for n in order],
    )
    # Published tables stand in columns beside the source, as many below each other as fit.
    columns: list[list[DrawnTable]] = [[]]
    for table in after:
        used = sum(t.height + PADDING for t in columns[-1])
        if columns[-1] and used + table.height > before.height + ROW:
            columns.append([])
        columns[-1].append(table)
    drawn, top = [], TITLE + PADDING
    left, height = PADDING + before.width + GAP, top + before.height
    drawn += before.draw(PADDING, top)
    y = top + before.height / 2
    drawn.append(f'<path class="arrow" d="M{left - 36:g} {y:g} h24 m-7 -6 l7 6 l-7 6"/>')
    words = f"{example.method}: {example.after}"
    drawn.append(f'<text class="title" x="{left:g}" y="16">{escape(words)}</text>')
    for stack in columns:
        place = float(top)
        for table in stack:
            drawn += table.draw(left, place)
            place += table.height + PADDING
        height = max(height, place)
        left += max(table.width for table in stack) + 2 * PADDING
    if verdict is not None:
        height += TITLE
        middle = PADDING + before.width + GAP
        drawn.append(
            f'<text class="verdict" x="{middle:g}" y="{height:g}">{escape(verdict)}</text>'
        )
    width = max(left, PADDING + before.width + GAP + len(words) * LETTER)
    size = f"{width:.0f} {height + PADDING:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        f'width="{width:.0f}" role="img"><title>{escape(words)}</title><style>{STYLE}</style>'
        f'<rect class="card" width="100%" height="100%" rx="6"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def main() -> None:
    """Write all pictures."""
    for example in EXAMPLES:
        path = IMAGES / f"method-{example.method}.svg"
        path.write_text(picture(example), encoding="utf-8")
    (IMAGES / "before-after.svg").write_text(picture(LEAD, judged=True), encoding="utf-8")
    from tests.docs.drawings import DRAWINGS

    for name, draw in DRAWINGS.items():
        (IMAGES / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
