"""The figures 6 to 12 of "Anonymizing data with quasi-sensitive attribute values", drawn again.

Groups with synthetic knowledge of the paper's distribution (figures 6 to 8); Adult with the
symptoms of that table, and of the real disease–symptom table, through the whole method (9 to 12).
Nine random terms never fit a label, so that every row draws its terms from one label's set.

    python experiments/quasi_sensitive.py --output results [--groups 20] [--rows 1500] [--plots]

Writes a CSV for each figure and ``tables.md``; ``--plots`` adds PNGs (needs matplotlib). The real
data are found through ``DISCREET_DATA``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.full_domain import adult
from benchmarks.quasi_sensitive import (
    columbia,
    draw_groups,
    paper_knowledge,
    principles,
)

from discreet.api.publish import publish
from discreet.job.model import Job
from discreet.knowledge.table import Knowledge
from discreet.methods.quasi_sensitive.removal import PAPER_ADAPTIVE, PAPER_PLAIN, ROWS, remove_terms
from discreet.releases.kinds.generalized.implied import read_generalized
from discreet.requirements.quasi_sensitive import LinkRequirement, QsClDiversity, QsTCloseness
from discreet.utility.queries import QueryWorkload

SEARCHES = {"rows": ROWS, "adaptive": PAPER_ADAPTIVE, "plain": PAPER_PLAIN}
QUASI = ("age", "education", "workclass", "marital-status", "race", "sex", "native-country")
RELEASED = ("belief change, greatest", "cost", "query error, qd = 3")  # plotted for releases
Row = dict[str, Any]


def compared(
    knowledge: Knowledge, groups: int, rows: int, terms: int, requirement: LinkRequirement
) -> Row:
    """The mean cost of first solutions by each search, and of the default within its budget."""
    drawn = draw_groups(np.random.default_rng(rows * 100 + terms), knowledge, groups, rows, terms)
    asked = principles(knowledge, drawn, requirement)
    costs = {
        name: float(remove_terms(drawn, asked, search=number, nodes=0).cost.mean())
        for name, number in SEARCHES.items()
    }
    best = remove_terms(drawn, asked, nodes=5000)
    proved = float(np.mean(best.status >= 2))
    return {**costs, "rows, 5000 nodes": float(best.cost.mean()), "proved": proved}


def figures_6_and_7(knowledge: Knowledge, groups: int) -> Iterator[tuple[str, Row]]:
    """Cost against the terms of a row, the rows of a group, c, ℓ and t."""
    diverse, close = QsClDiversity(c=1, l=30), QsTCloseness(t=0.4)
    for name, requirement in (("6", diverse), ("7", close)):
        for terms in (5, 7, 9, 11):
            yield (
                f"{name}a",
                {"terms a row": terms, **compared(knowledge, groups, 5, terms, requirement)},
            )
        for rows in (3, 5, 7, 9):
            yield (
                f"{name}b",
                {"rows a group": rows, **compared(knowledge, groups, rows, 9, requirement)},
            )
    for c in (0.5, 1, 2, 4):
        found = compared(knowledge, groups, 5, 9, QsClDiversity(c=c, l=30))
        yield "6c", {"c": c, **found}
    for ell in (10, 30, 60, 90):
        found = compared(knowledge, groups, 5, 9, QsClDiversity(c=1, l=ell))
        yield "6d", {"l": ell, **found}
    for t in (0.2, 0.3, 0.4, 0.5):
        yield "7c", {"t": t, **compared(knowledge, groups, 5, 9, QsTCloseness(t=t))}


def figure_8(knowledge: Knowledge, groups: int) -> Iterator[tuple[str, Row]]:
    """Cost against the budget, in nodes."""
    drawn = draw_groups(np.random.default_rng(8), knowledge, groups, 5, 9)
    for requirement in (QsClDiversity(c=1, l=30), QsTCloseness(t=0.4)):
        asked = principles(knowledge, drawn, requirement)
        for nodes in (0, 10, 100, 1000):
            costs = {
                name: float(remove_terms(drawn, asked, search=number, nodes=nodes).cost.mean())
                for name, number in SEARCHES.items()
                if name != "adaptive" or nodes <= 100  # a node of this order costs a tailset
            }
            yield "8", {"principle": requirement.name, "nodes": nodes, **costs}


def people(rows: int, terms: int, knowledge: Knowledge) -> pl.DataFrame:
    """A sample of Adult with the terms of one label each."""
    rng = np.random.default_rng(9)
    table = adult()
    sample = table[rng.choice(len(table), rows, replace=False)].select(QUASI)
    groups = draw_groups(rng, knowledge, rows, 1, terms, knowledge.weight)
    names = pl.Series(knowledge.terms).gather(pl.Series(groups.term))
    cells = names.reshape((rows, terms)).arr.to_list().list.join("|")
    return sample.with_columns(cells.alias("symptoms"))


def write_knowledge(knowledge: Knowledge, path: Path) -> None:
    """A knowledge table as a file."""
    label = np.repeat(np.arange(len(knowledge.labels)), np.diff(knowledge.term_start))
    pl.DataFrame(
        {
            "label": pl.Series(knowledge.labels).gather(pl.Series(label)),
            "term": pl.Series(knowledge.terms).gather(pl.Series(knowledge.term)),
        }
    ).write_csv(path)


def released(frame: pl.DataFrame, table: Path, k: int, requirement: LinkRequirement) -> Row:
    """Disclosure and utility of a whole release."""
    job = Job(
        attributes={
            **{name: {"role": "quasi-identifier"} for name in QUASI},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "symptoms": {
                "role": "quasi-sensitive",
                "multi_valued": "|",
                "knowledge": {"path": str(table.resolve()), "label": "label", "term": "term"},
            },
        },
        requirements=[{"k-anonymity": {"k": k}}, requirement],
        method={"quasi-sensitive": {"nodes": 200}},
    )
    release = publish(frame, job, seed=1)
    terms = release.private["utility"]["terms"]["symptoms"]
    errors = {}
    for asked in (1, 3, 5):
        reading = read_generalized(
            release.task.table,
            {},
            release.coded_tables()["records"],
            release.manifest.suppressed_rows,
            links=release.task.links,
        )
        workload = QueryWorkload(queries=300, quasi_identifiers=asked, selectivity=0.5)
        measured = reading.measured(workload)
        assert measured.query_error is not None
        errors[f"query error, qd = {asked}"] = measured.query_error.release.median
    return {
        "k": k,
        "belief change, mean": terms["belief_change"]["mean"],
        "belief change, greatest": terms["belief_change"]["greatest"],
        "group size": release.private["utility"]["class_size"],
        "cost": release.private["method"]["cost"],
        "suppressed rows": release.manifest.suppressed_rows,
        **errors,
    }


def figures_9_to_12(output: Path, rows: int, synthetic: Knowledge) -> Iterator[tuple[str, Row]]:
    """Belief change, group size, cost and query error against k."""
    tables = {"synthetic": (synthetic, 9), "Columbia": (columbia(), 5)}
    for name, (knowledge, terms) in tables.items():
        path = output / f"knowledge_{name}.csv"
        write_knowledge(knowledge, path)
        frame = people(rows, terms, knowledge)
        for k in (1, 2, 5, 10):
            for ell in (30, 60) if name == "synthetic" else (3, 10):
                found = released(frame, path, k, QsClDiversity(c=1, l=ell))
                yield "9", {"table": name, "l": ell, **found}
            if name == "synthetic":
                yield (
                    "10",
                    {"table": name, "c": 4, **released(frame, path, k, QsClDiversity(c=4, l=60))},
                )
            for t in (0.3, 0.5):
                found = released(frame, path, k, QsTCloseness(t=t))
                yield "11 and 12", {"table": name, "t": t, **found}


def as_markdown(rows: list[Row]) -> str:
    """A table in Markdown."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(keys) + " |", "|" + " --- |" * len(keys)]
    for row in rows:
        cells = [row.get(key, "") for key in keys]
        shown = [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines)


def draw(name: str, rows: list[Row], output: Path) -> None:
    """Draw costs by the varied parameter (figures 6 to 8), and releases by k (9 to 12)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    searches = [*SEARCHES, "rows, 5000 nodes"]
    panels = [key for key in RELEASED if key in rows[0]] or ["cost"]
    drawing, axes = pyplot.subplots(
        1, len(panels), figsize=(2.8 * max(len(panels), 2), 3), squeeze=False
    )
    across = next(key for key in ("k", "nodes", next(iter(rows[0]))) if key in rows[0])
    for axis, panel in zip(axes[0], panels, strict=True):
        for label, marked, points in _lines(
            rows, across, searches if panel not in rows[0] else [panel]
        ):
            axis.plot(*zip(*points, strict=True), marker=marked, label=label)
        axis.set(xlabel=across, ylabel=panel)
        axis.set_xscale("symlog" if across == "nodes" else "linear")
        if across != "nodes":
            axis.set_xticks(sorted({row[across] for row in rows}))
        axis.set_ylim(bottom=0)
    handles, labels = axes[0][0].get_legend_handles_labels()
    columns = 4 if len(panels) > 1 else 2
    lines = -(-len(labels) // columns)
    drawing.legend(handles, labels, loc="lower center", ncols=columns, frameon=False, fontsize=8)
    drawing.tight_layout(rect=(0, 0.03 + 0.055 * lines, 1, 1))
    drawing.savefig(output / f"figure_{name.replace(' ', '_')}.png", dpi=90)
    pyplot.close(drawing)


def _lines(
    rows: list[Row], across: str, keys: list[str]
) -> Iterator[tuple[str, str, list[tuple[float, float]]]]:
    """One line for every setting except that of the x axis, and every key."""
    told = [
        key for key in ("principle", "table", "c", "l", "t") if key in rows[0] and key != across
    ]
    settings = dict.fromkeys(tuple(row[key] for key in told) for row in rows)
    marks = "os^vDx*+"
    number = 0
    for setting in settings:
        chosen = [row for row in rows if tuple(row[key] for key in told) == setting]
        named = [
            str(value) if key in ("principle", "table") else f"{key} = {value}"
            for key, value in zip(told, setting, strict=True)
        ]
        for key in keys:
            points = [(row[across], row[key]) for row in chosen if row.get(key) is not None]
            if points:
                label = ", ".join(named if len(keys) == 1 else [*named, key])
                yield label, marks[number % len(marks)], points
                number += 1


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="The folder for the results.")
    parser.add_argument("--groups", type=int, default=20, help="Groups of figures 6 to 8.")
    parser.add_argument("--rows", type=int, default=1500, help="People of figures 9 to 12.")
    parser.add_argument("--labels", type=int, default=3000, help="Labels of the synthetic table.")
    parser.add_argument("--plots", action="store_true", help="Draw PNGs too.")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    knowledge = paper_knowledge(np.random.default_rng(1), given.labels)
    figures: dict[str, list[Row]] = {}
    for part in (
        figures_6_and_7(knowledge, given.groups),
        figure_8(knowledge, given.groups),
        figures_9_to_12(given.output, given.rows, knowledge),
    ):
        for name, row in part:
            figures.setdefault(name, []).append(row)
            print(name, row, flush=True)
    text = []
    for name, rows in figures.items():
        pl.DataFrame(rows, infer_schema_length=None).write_csv(
            given.output / f"figure_{name.replace(' ', '_')}.csv"
        )
        text.append(f"### Figure {name}\n\n{as_markdown(rows)}\n")
        if given.plots:
            draw(name, rows, given.output)
    (given.output / "tables.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
