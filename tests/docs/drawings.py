"""Drawings of ideas in docs/images: how to choose, what k, l and t say, how an attacker reasons.

Each is drawn from a real release, the registry of methods or the record of the benchmarks;
``make pictures`` writes them with those of the methods, and a test compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from benchmarks.record import RECORD, Record
from tests.docs.pictures import (
    GAP,
    LETTER,
    NAMES,
    PADDING,
    PEOPLE,
    ROW,
    STYLE,
    TITLE,
    DrawnTable,
    Example,
    covers,
    example_of,
    tables_of,
)

import discreet as dc

MORE_STYLE = """
.small { font: 11px system-ui, sans-serif; fill: #57606a }
.question { fill: #ddf4ff; stroke: #54aeff }
.answer { fill: #dafbe1; stroke: #4ac26b } .line { stroke: #8c959f; fill: none }
.bar { fill: #1f7a8c } .other { fill: #bf8700 } .words { font: 12px system-ui, sans-serif }
.strong { font: 700 12px system-ui, sans-serif }
@media (prefers-color-scheme: dark) {
.small { fill: #9da7b3 } .question { fill: #0c2d4a; stroke: #388bfd }
.answer { fill: #12361f; stroke: #2ea043 } .line { stroke: #6e7681 }
.bar { fill: #4db6c6 } .other { fill: #d29922 }
}
"""


def svg(title: str, width: float, height: float, elements: Sequence[str]) -> str:
    """Return a drawing on a card."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" role="img"><title>{escape(title)}</title>'
        f'<style>{STYLE}{MORE_STYLE}</style><rect class="card" width="100%" height="100%" rx="6"/>'
    )
    return "\n".join([head, *elements, "</svg>"]) + "\n"


def words(x: float, y: float, text: str, style: str = "words") -> str:
    """Return a line of text."""
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, style: str) -> str:
    """Return a rectangle."""
    return (
        f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'
    )


# A question with its answers: (what is said, the question or the methods that follow).
Choice = tuple[str, "Question | str"]


@dataclass(frozen=True)
class Question:
    """An inner node of the tree of methods."""

    text: str
    answers: Sequence[Choice]


TREE = Question(
    "Published once?",
    [
        ("again; values stay", "m-invariance"),
        ("again; values change", "rho-different"),
        ("once", Question(
            "What stays exact?",
            [
                ("sets of terms that can be looked up", "quasi-sensitive"),
                ("rows, one coding for each column", "full-domain"),
                ("rows, fast and tight cells", "mondrian"),
                ("rows, the least loss", "local-recoding"),
                ("rows; the attacker knows few of many columns", "top-down"),
                ("quasi-identifiers", Question(
                    "How many columns are sensitive?",
                    [
                        ("one", "anatomy"),
                        ("several; attackers rule values out", "msa-diversity"),
                        ("several; attackers know one of them", "codip"),
                        ("the same, and they must stay linked", "decomposition"),
                        ("links between both sides are not needed", "unlinked"),
                    ],
                )),
            ],
        )),
    ],
)  # fmt: skip


def tree() -> str:
    """Return the tree of questions that ends at the methods."""
    drawn: list[str] = []
    height = _draw_question(TREE, PADDING, TITLE, drawn)
    return svg("Which method? A tree of three questions", 660, height + PADDING, drawn)


def _draw_question(question: Question, x: float, y: float, drawn: list[str]) -> float:
    """Draw a question with its answers below it, indented; return where the next one begins."""
    width = len(question.text) * LETTER + 2 * PADDING
    drawn += [box(x, y, width, 24, "question"), words(x + PADDING, y + 16, question.text, "strong")]
    place = y + 34
    for said, follows in question.answers:
        stem = x + 14
        drawn.append(f'<path class="line" d="M{stem:g} {y + 24:g} V{place + 12:g} h14"/>')
        drawn.append(words(stem + 20, place + 16, said, "small"))
        right = stem + 310
        if isinstance(follows, Question):
            place = _draw_question(follows, x + 34, place + 26, drawn)
            continue
        drawn.append(box(right, place, len(follows) * LETTER + 2 * PADDING, 22, "answer"))
        drawn.append(words(right + PADDING, place + 15, follows, "plain-text"))
        place += 28
    return place


MEANING = Example(
    "full-domain",
    [{"k-anonymity": {"k": 4}}, {"distinct-l-diversity": {"l": 2, "attribute": "diagnosis"}},
     {"t-closeness": {"t": 0.9, "attribute": "diagnosis"}}],
    "what k, l and t say of a group", ("income",),
)  # fmt: skip


def meaning() -> str:
    """Return a group of a release, with k, l and t as the audit derives them."""
    release = MEANING.publish()
    achieved = {p.requirement: dict(p.achieved) for p in release.manifest.promises}
    frame = release.tables["records"]
    keys = [name for name in frame.columns if name != "diagnosis"]
    groups = [group for _, group in sorted(frame.group_by(keys), key=lambda item: str(item[0]))]
    group = min(groups, key=lambda rows: (len(rows), -_distance(rows, frame)))
    far = max(groups, key=lambda rows: _distance(rows, frame))
    shown = group.sort("diagnosis")
    table = DrawnTable(
        "one group of the release",
        shown.columns,
        [[str(cell) for cell in row] for row in shown.rows()],
        [0] * len(shown),
    )
    drawn = table.draw(PADDING, TITLE)
    left = PADDING + table.width + GAP
    people, values = len(group), group["diagnosis"].n_unique()
    k, ell = achieved["k-anonymity"]["k"], achieved["distinct-l-diversity"]["l"]
    t = achieved["t-closeness"]["t"]
    drawn += [
        words(left, 38, f"k: {people} people look alike, {k:g} at least in every group", "strong"),
        words(left, 56, f"An attacker picks the right row with a chance of 1 in {people}."),
        words(left, 84, f"l: {values} different values, {ell:g} at least in every group", "strong"),
        words(left, 102, "So many remain possible; the most frequent one is the best guess."),
        words(left, 130, f"t: the farthest group differs from the table by {t:.2f}", "strong"),
    ]
    bottom = _draw_shares(far, frame, left, 142, drawn)
    width = left + 440
    return svg(
        "What k, l and t say of a group", width, max(bottom, table.height + TITLE) + 12, drawn
    )


def _shares(rows: pl.DataFrame) -> dict[str, float]:
    counts = Counter(rows["diagnosis"].to_list())
    return {value: count / len(rows) for value, count in counts.items()}


def _distance(rows: pl.DataFrame, table: pl.DataFrame) -> float:
    """Return half of the sum of differences: the distance of t-closeness between equal values."""
    of_rows, of_table = _shares(rows), _shares(table)
    return sum(abs(of_rows.get(value, 0) - share) for value, share in of_table.items()) / 2


def _draw_shares(
    rows: pl.DataFrame, table: pl.DataFrame, left: float, top: float, drawn: list[str]
) -> float:
    """Draw the shares of a group beside those of the table; return where they end."""
    of_rows, y = _shares(rows), top
    for value, share in sorted(_shares(table).items()):
        drawn.append(words(left, y + 12, value, "small"))
        for offset, amount, style in ((0, of_rows.get(value, 0), "other"), (8, share, "bar")):
            drawn.append(box(left + 60, y + offset, 200 * amount, 7, style))
        y += 20
    drawn += [
        box(left + 290, top, 10, 7, "other"),
        words(left + 306, top + 8, "that group", "small"),
        box(left + 290, top + 16, 10, 7, "bar"),
        words(left + 306, top + 24, "the table", "small"),
    ]
    return y


KNOWN = "income"


def reasoning() -> str:
    """Return how an attacker who knows one sensitive value reasons about a decomposition."""
    release = example_of("decomposition").publish()
    groups, listed = release.tables["groups"], release.tables["group_values"]
    rows = release.tables["sensitive"].rows(named=True)
    # The person about whom the attacker learns most: fewest diagnoses are left.
    options = []
    for person in PEOPLE:
        found = dict(zip(NAMES, person, strict=True))
        place = groups.filter((pl.col("age") == found["age"]) & (pl.col("zip") == found["zip"]))[
            "group"
        ][0]
        values = listed.filter((pl.col("group") == place) & (pl.col("attribute") == "diagnosis"))
        allowed = sorted(values["value"].to_list())
        fitting = [
            row for row in rows if row["diagnosis"] in allowed and row[KNOWN] == found[KNOWN]
        ]
        options.append((Counter(row["diagnosis"] for row in fitting), allowed, found, place))
    left, allowed, person, _ = min(options, key=lambda o: (len(o[0]), -o[0].total(), o[2]["name"]))
    best = max(left, key=lambda value: left[value])
    sure = left[best] / left.total()
    alike = [row for row in rows if row[KNOWN] == person[KNOWN]]
    unlinked = sum(row["diagnosis"] == best for row in alike) / len(alike)
    steps = [
        (
            "1. Find the group",
            [
                f"{person['name']} is {person['age']}, lives in {person['zip']}.",
                "Quasi-identifiers are exact, so the",
                "group is known. Its list says:",
                *[f"   {value}" for value in allowed],
            ],
        ),
        (
            "2. Use what is known",
            [
                f"The attacker knows {person['name']}'s {KNOWN}: {person[KNOWN]}.",
                f"Whole sensitive rows with '{person[KNOWN]}' and",
                "a value of the list:",
                *[f"   {value}: {left.get(value, 0)} of {left.total()} rows" for value in allowed],
            ],
        ),
        (
            "3. What is believed",
            [
                f"{best} with {sure:.0%}; two tables without",
                f"a link would tell {unlinked:.0%}.",
                "conditional_l keeps several values",
                "possible for this attacker;",
                "insider: true lengthens the lists.",
            ],
        ),
    ]
    drawn: list[str] = []
    width = 268.0
    for number, (title, lines) in enumerate(steps):
        x = PADDING + number * (width + 26)
        drawn.append(box(x, TITLE, width, 34 + 18 * 5, "question"))
        drawn.append(words(x + PADDING, TITLE + 20, title, "strong"))
        drawn += [words(x + PADDING, TITLE + 42 + 18 * n, line) for n, line in enumerate(lines)]
        if number:
            drawn.append(
                f'<path class="arrow" d="M{x - 22:g} {TITLE + 60} h14 m-6 -5 l6 5 l-6 5"/>'
            )
    return svg(
        "An attacker reasons about a decomposition in three steps",
        PADDING * 2 + 3 * width + 52,
        TITLE + 34 + 18 * 5 + PADDING,
        drawn,
    )


SYMPTOMS = (
    (34, "f", "cough|fever|rash"),
    (36, "m", "fever|rash"),
    (38, "m", "cough|rash"),
    (52, "f", "thirst|fatigue|weight loss"),
    (55, "f", "cough|fatigue"),
    (58, "m", "thirst|weight loss"),
)
DISEASES = (
    ("flu", "cough|fever|fatigue"),
    ("measles", "cough|fever|rash"),
    ("scarlet fever", "fever|rash"),
    ("diabetes", "thirst|fatigue|weight loss"),
    ("tuberculosis", "cough|fatigue|weight loss"),
)


def removal() -> str:
    """Return a table of symptoms before and after terms were removed, with the look-up table."""
    columns = ["age", "sex", "symptoms"]
    frame = pl.DataFrame(SYMPTOMS, schema=columns, orient="row")
    with TemporaryDirectory() as folder:
        known = Path(folder) / "diseases.csv"
        lines = [f"{name},{terms}" for name, terms in DISEASES]
        known.write_text("\n".join(["disease,symptoms", *lines]) + "\n", encoding="utf-8")
        knowledge = {
            "path": str(known),
            "label": "disease",
            "term": "symptoms",
            "separator": "|",
        }
        release = dc.publish(
            frame,
            {
                "attributes": {
                    "age": {"role": "quasi-identifier", "type": "integer"},
                    "sex": {"role": "quasi-identifier"},
                    "symptoms": {
                        "role": "quasi-sensitive",
                        "multi_valued": "|",
                        "knowledge": knowledge,
                    },
                },
                "requirements": [{"k-anonymity": {"k": 3}}, {"qs-cl-diversity": {"c": 1, "l": 2}}],
                "method": "quasi-sensitive",
            },
            seed=1,
        )
    after = release.tables["records"]
    rows = sorted([str(cell) for cell in row] for row in after.rows())
    ages = list(dict.fromkeys(row[0] for row in rows))
    tables = [
        DrawnTable(
            "the table",
            columns,
            [[str(c) for c in row] for row in SYMPTOMS],
            [next(n for n, age in enumerate(ages) if covers(age, str(row[0]))) for row in SYMPTOMS],
        ),
        DrawnTable(
            "what an attacker looks up", ["disease", "symptoms"], DISEASES, [None] * len(DISEASES)
        ),
        DrawnTable("published", after.columns, rows, [ages.index(row[0]) for row in rows]),
    ]
    drawn: list[str] = []
    left = float(PADDING)
    for table in tables:
        drawn += table.draw(left, PADDING)
        left += table.width + 2 * PADDING
    height = max(table.height for table in tables) + 2 * PADDING
    return svg("Terms are removed until the look-up is ambiguous", left, height, drawn)


LATER = (*PEOPLE[1:6], ("Zoe", 33, "4712", "f", "flu", "low"))


def series() -> str:
    """Return two releases of a series by m-invariance; rows of a group have the same colour."""
    job = {
        "attributes": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "zip": {"role": "quasi-identifier"},
            "sex": {"role": "drop"},
            "diagnosis": {"role": "sensitive"},
            "income": {"role": "drop"},
        },
        "method": {"m-invariance": {"m": 2}},
        "ledger": {"path": "people.ledger"},
    }
    drawn: list[str] = []
    left, height = float(PADDING), 0.0
    with TemporaryDirectory() as folder:
        located = dc.LedgerSettings(path="people.ledger").located(Path(folder))
        with dc.Ledger.create(located):
            for month, people in (("January", PEOPLE[:6]), ("February", LATER)):
                frame = pl.DataFrame(people, schema=list(NAMES), orient="row")
                release = dc.publish(
                    frame, dc.Job.model_validate({**job, "ledger": located}), seed=1
                )
                release.save(Path(folder) / month, accept_risk="Made-up people", attack=None)
                _, tables = tables_of(release)
                for table in tables:
                    shown = replace(table, title=f"{month}: {table.title}")
                    drawn += shown.draw(left, PADDING)
                    left += shown.width + 2 * PADDING
                    height = max(height, shown.height)
                left += PADDING
    title = "Who stays is among the same values in both releases"
    return svg(title, left, height + 2 * PADDING, drawn)


@dataclass(frozen=True)
class Bar:
    """A figure of the benchmarks; `other` for another tool, or what is compared with."""

    label: str
    amount: float
    other: bool = False


def chart(title: str, unit: str, bars: Sequence[Bar]) -> str:
    """Return bars with their figures; the axis begins at zero."""
    most = max(bar.amount for bar in bars)
    start = max(len(bar.label) for bar in bars) * 6.4 + 2 * PADDING
    drawn = [words(PADDING, 20, f"{title} ({unit})", "strong")]
    for number, bar in enumerate(bars):
        y = 34 + number * ROW
        length = 320 * bar.amount / most
        drawn.append(words(PADDING, y + 13, bar.label, "small"))
        drawn.append(box(start, y + 3, max(length, 1), ROW - 7, "other" if bar.other else "bar"))
        drawn.append(words(start + length + 6, y + 13, f"{bar.amount:.3g}", "small"))
    return svg(title, start + 400, 34 + len(bars) * ROW + PADDING, drawn)


def _figures(part: str) -> list[dict[str, object]]:
    (found,) = (each for each in Record.read(RECORD).parts if each.name == part)
    return [vars(figure) for figure in found.figures]


def _label(what: str) -> str:
    return what.split(";")[0].removeprefix("Adult resampled: ")


def _seconds(part: str, rows: int, others: Callable[[str], bool]) -> list[Bar]:
    return [
        Bar(_label(str(f["what"])), float(str(f["seconds"])), others(str(f["what"])))
        for f in _figures(part)
        if f["seconds"] is not None and f["rows"] == rows
    ]


def _memory() -> list[Bar]:
    return [
        Bar(f"{f['what']}, {int(str(f['rows'])) / 1e6:.0f} million rows", float(str(f["ratio"])))
        for f in _figures("memory")
        if f["ratio_to"] == "1 GB"
    ]


CHARTS: dict[str, Callable[[], str]] = {
    "publish": lambda: chart(
        "Publishing ten million rows, file to audited release",
        "seconds",
        _seconds("whole-path", 10_000_000, lambda what: what.endswith("copy")),
    ),
    "memory": lambda: chart("Memory of one machine, nine columns", "GB", _memory()),
    "check": lambda: chart(
        "Checking a million rows for k, l, entropy l, (c, l) and t",
        "seconds",
        _seconds("check", 1_000_000, lambda what: what.startswith("pycanon")),
    ),
    "mondrian": lambda: chart(
        "Other packages, 30,000 rows, k = 5",
        "seconds",
        _seconds("peers", 30_000, lambda what: not what.startswith("discreet")),
    ),
    "attacks": lambda: chart(
        "All attacks on 300,000 rows", "seconds", _seconds("attacks", 300_000, lambda _: False)
    ),
    "spark": lambda: chart(
        "Mondrian on Spark and on one machine, 10 million rows",
        "seconds",
        [
            bar
            for bar in _seconds("spark", 10_000_000, lambda what: "--engine local" in what)
            if ":" not in bar.label
        ],
    ),
}

DRAWINGS: dict[str, Callable[[], str]] = {
    "which-method": tree,
    "k-l-t": meaning,
    "decomposition-attacker": reasoning,
    "method-quasi-sensitive": removal,
    "method-re-publication": series,
    **{f"benchmark-{name}": draw for name, draw in CHARTS.items()},
}
