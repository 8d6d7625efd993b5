"""The figures 5 to 9 of the CODIP paper, on Adult, on Census-Income, or on any job.

    python -m experiments.codip --output results                       # Adult, from DISCREET_DATA
    python -m experiments.codip --output results --census census-income.data
    python -m experiments.codip --output results --job job.yaml

It writes one CSV a figure, ``results.md`` with all tables, and plots where matplotlib is there.

Figure 5: Γβ against Γα. Figure 6: reduced join-threat and association loss against the number of
tables. Figure 7: tables against sensitive attributes, at the bounds of the paper. Figure 8: best
closeness against tables under several ceilings on the discernibility. Figure 9: plans and nodes
that are left as k grows. Beyond the paper: how far the greedy plan is from the best one.

The paper discards Census-Income rows whose major industry is not in universe and reads four bits
from the household status; it does not say which words make them, so ``household`` is ours.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from discreet.methods.base import Task
from discreet.methods.codip.codip import Codip, Projector
from discreet.methods.codip.node_table import NodeTable
from discreet.methods.codip.plans import merge_steps
from discreet.methods.full_domain.costs import discernibility
from discreet.pipeline.prepare import prepare
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import CodedTable

ALPHA, BETA = 0.2, 0.5  # of the paper's section 7.2
ANONYMITY = (2, 5, 10, 20, 50, 100)
Rows = list[dict[str, Any]]

QUASI = {"role": "quasi-identifier"}
SENSITIVE = {"role": "sensitive"}


def adult_job(folder: Path) -> dc.Job:
    """Adult with 4 quasi-identifiers and 9 sensitive attributes."""
    files = folder / "adult" / "hierarchies"
    quasi = {name: {**QUASI, "hierarchy": str(files / f"{name}.csv")} for name in
             ("age", "race", "sex", "native-country")}  # fmt: skip
    sensitive = ("workclass", "education", "marital-status", "occupation", "relationship",
                 "hours-per-week", "capital-gain", "capital-loss", "salary-class")  # fmt: skip
    return dc.Job(
        source={"path": str(folder / "adult" / "adult.csv"), "missing": ["?"]},
        attributes={
            **quasi,
            **dict.fromkeys(sensitive, SENSITIVE),
            "fnlwgt": {"role": "drop"},
            "education-num": {"role": "drop"},
        },
        requirements=[{"k-anonymity": {"k": 2}}],
        method="codip",
    )


def household(status: str) -> str:
    """The bits of a household status, by its words."""
    words = status.lower()
    bits = {
        "married": "spouse" in words or "ever marr" in words.replace("never marr", ""),
        "under 18": "<18" in words or "under 18" in words,
        "descendant": "child" in words,
        "subfamily": "subfamily" in words and "not in" not in words,
    }
    return "|".join(name for name, holds in bits.items() if holds)


def census_frame(path: Path) -> pl.DataFrame:
    """The paper's columns of the Census-Income training data, its rows in universe."""
    raw = pl.read_csv(path, has_header=False, infer_schema=False)
    raw = raw.select(pl.all().str.strip_chars())
    raw = raw.filter(~raw.to_series(8).str.starts_with("Not in universe"))
    named = {
        "age": 0, "race": 10, "sex": 12, "citizenship": 35, "worker class": 1, "education": 4,
        "industry": 8, "employment": 15, "business": 36, "salary": 41, "occupation": 9,
    }  # fmt: skip
    columns = {name: raw.to_series(place) for name, place in named.items()}
    for name, place in {"wage": 5, "dividend": 18, "gain": 16, "loss": 17}.items():
        number = raw.to_series(place).cast(pl.Float64)
        columns[name] = (number > 0).cast(pl.Int64).cast(pl.String)
    status = raw.to_series(22).to_list()
    columns["household"] = pl.Series([household(cell) for cell in status])
    return pl.DataFrame({name: column.alias(name) for name, column in columns.items()})


def census_job() -> dc.Job:
    """The paper's attributes; the hierarchies are ours, since it gives none."""
    sensitive = ("worker class", "education", "industry", "employment", "business", "salary",
                 "occupation", "wage", "dividend", "gain", "loss")  # fmt: skip
    return dc.Job(
        attributes={
            "age": {**QUASI, "type": "integer", "hierarchy": {"intervals": [5, 10, 20, 40, "*"]}},
            "race": {**QUASI, "hierarchy": "suppress"},
            "sex": {**QUASI, "hierarchy": "suppress"},
            "citizenship": {**QUASI, "hierarchy": "suppress"},
            **dict.fromkeys(sensitive, SENSITIVE),
            "household": {**SENSITIVE, "multi_valued": "|"},
        },
        requirements=[{"k-anonymity": {"k": 2}}],
        method="codip",
    )


def with_k(task: Task, k: int) -> Task:
    """The same task with another k."""
    others = [r for r in task.requirements if not isinstance(r, KAnonymity)]
    return replace(task, requirements=[KAnonymity(k=k), *others])


def with_attributes(task: Task, names: Sequence[str]) -> Task:
    """The same task with some of its sensitive attributes."""
    columns = [*task.table.quasi_identifiers, *(task.table[name] for name in names)]
    table = CodedTable({column.name: column for column in columns}, task.table.rows)
    return replace(task, table=table)


def figures_5_and_6(task: Task) -> Rows:
    """Association loss and exposure of every merge step."""
    return [
        {
            "tables": step.tables,
            "association_loss": step.association_loss,
            "information_exposure": step.information_exposure,
            "reduced_join_threat": step.reduced_join_threat,
        }
        for step in Codip().explore(task).steps
    ]


def figure_7(task: Task, beta: float) -> Rows:
    """The tables that CODIP* gives for the first s sensitive attributes."""
    names = [column.name for column in task.table.sensitive]
    rows = []
    for count in range(2, len(names) + 1):
        steps = Codip().explore(with_attributes(task, names[:count])).steps
        within = [step for step in steps if step.information_exposure <= beta]
        chosen = min(within, key=lambda step: step.tables)
        rows.append(
            {
                "attributes": count,
                "tables": chosen.tables,
                "association_loss": chosen.association_loss,
                "information_exposure": chosen.information_exposure,
            }
        )
    return rows


def ceilings(task: Task) -> list[float]:
    """Three ceilings: the discernibility that a tenth, a third and all but few nodes are below."""
    size = [
        discernibility(found.size)
        for found in NodeTable(task, "loss", None).frequency_sets
    ]  # fmt: skip
    return [float(np.quantile(size, share)) for share in (0.1, 0.35, 0.8)]


def figure_8(task: Task) -> Rows:
    """Best closeness against the number of tables, under several ceilings."""
    return [
        {
            "dm": dm,
            "tables": step.tables,
            "closeness": step.closeness,
            "improvement": step.improvement,
        }
        for dm in ceilings(task)
        for step in reversed(Codip(dm=dm).explore(task).steps)
    ]


def figure_9(task: Task, alpha: float, beta: float) -> Rows:
    """How many plans within α and β reach a t, and how many nodes are left, as k grows.

    The t are those of the paper in proportion to the single table's at k = 2: 0.4 and 0.37 of 0.42.
    """
    dm = ceilings(task)[1]
    rows = []
    wanted: list[float] = []
    for k in ANONYMITY:
        frontier = Codip(dm=dm).explore(with_k(task, k))
        base = frontier.baseline.closeness
        wanted = wanted or [base or 0.0, 0.4 / 0.42 * (base or 0.0), 0.37 / 0.42 * (base or 0.0)]
        bounded = [
            step
            for step in frontier.steps
            if step.association_loss <= alpha and step.information_exposure <= beta
        ]
        reached = {
            f"plans_t_{t:.3f}": sum(
                step.closeness is not None and step.closeness <= t + 1e-9 for step in bounded
            )
            for t in wanted
        }
        rows.append({"k": k, "nodes": frontier.nodes_valid, "single_table_t": base, **reached})
    return rows


def gap(task: Task, subsets: int = 10, seed: int = 1) -> Rows:
    """How far greedy plans are from the best, on random subsets of up to nine attributes."""
    names = [column.name for column in task.table.sensitive]
    rng = np.random.default_rng(seed)
    rows = []
    size = min(9, len(names) - 1) if len(names) > 3 else len(names)
    drawn = [tuple(np.sort(rng.choice(len(names), size, replace=False))) for _ in range(subsets)]
    for number, chosen in enumerate(dict.fromkeys(drawn)):
        part = with_attributes(task, [names[i] for i in chosen])
        for beta in (0.1, 0.3, 0.5):
            losses = []
            for plan in ("greedy", "exhaustive"):
                projector = Projector(part, Codip(plan=plan, beta=beta))
                losses.append(projector.ratios.association_loss(projector.find()))
            rows.append(
                {
                    "subset": number,
                    "attributes": size,
                    "beta": beta,
                    "greedy": losses[0],
                    "exhaustive": losses[1],
                    "excess": losses[0] / losses[1] - 1 if losses[1] > 1e-12 else None,
                }
            )
    return rows


def check_time(task: Task) -> Rows:
    """Seconds for the whole frontier, and microseconds for checking a plan."""
    start = time.perf_counter()
    projector = Projector(task, Codip())
    projector.frontier()
    seconds = time.perf_counter() - start
    plans = list(merge_steps(projector.information))
    start = time.perf_counter()
    for _ in range(100):
        for plan in plans:
            projector.accepts(plan)
    check = (time.perf_counter() - start) / 100 / len(plans)
    return [
        {
            "rows": task.table.rows,
            "attributes": len(task.table.sensitive),
            "frontier_seconds": seconds,
            "check_microseconds": 1e6 * check,
        }
    ]


def table_of(rows: Rows) -> str:
    """Rows as a Markdown table."""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        cells = (f"{v:.4g}" if isinstance(v, float) else "–" if v is None else str(v)
                 for v in row.values())  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def plot(results: dict[str, Rows], folder: Path) -> None:
    """Draw figures 5 to 8; needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    steps = results["figures-5-and-6"]
    drawings = {
        "figure-5": ("association loss", "information exposure",
                     {"": [(r["association_loss"], r["information_exposure"]) for r in steps]}),
        "figure-6": ("tables", "share", {
            name: [(r["tables"], r[name]) for r in steps]
            for name in ("reduced_join_threat", "association_loss")
        }),
        "figure-7": ("sensitive attributes", "tables",
                     {"": [(r["attributes"], r["tables"]) for r in results["figure-7"]]}),
        "figure-8": ("tables", "best closeness", {
            f"dm = {dm:.3g}": [
                (r["tables"], r["closeness"]) for r in results["figure-8"]
                if r["dm"] == dm and r["closeness"] is not None
            ]
            for dm in sorted({r["dm"] for r in results["figure-8"]})
        }),
    }  # fmt: skip
    for name, (across, up, lines) in drawings.items():
        figure, axes = pyplot.subplots(figsize=(5, 3.5))
        for number, (label, points) in enumerate(lines.items()):  # equal lines stay apart
            if points:
                axes.plot(
                    *zip(*points, strict=True), marker="os^"[number % 3], label=label or None,
                    linestyle=("-", "--", ":")[number % 3], fillstyle="none" if number else "full",
                )  # fmt: skip
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.set_ylim(0, 1.25 * axes.get_ylim()[1])
        if across != "association loss":
            axes.xaxis.get_major_locator().set_params(integer=True)
        if len(lines) > 1:
            axes.legend()
        figure.tight_layout()
        figure.savefig(folder / f"{name}.png", dpi=120)
        pyplot.close(figure)


def main() -> None:
    """Run every figure and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="The folder to write to.")
    parser.add_argument("--job", type=Path, help="A job file, instead of Adult.")
    parser.add_argument("--census", type=Path, help="Census-Income's training data.")
    parser.add_argument("--alpha", type=float, default=ALPHA, help="For figure 9.")
    parser.add_argument("--beta", type=float, default=BETA, help="For figures 7 and 9.")
    options = parser.parse_args()
    data = None
    if options.job:
        job = dc.Job.load(options.job).using(Codip())
    elif options.census:
        job, data = census_job(), census_frame(options.census)
    else:
        default = Path(__file__).resolve().parents[2] / "shared" / "data"
        job = adult_job(Path(os.environ.get("DISCREET_DATA", default)))
    task = prepare(job, data)
    options.output.mkdir(parents=True, exist_ok=True)
    results = {
        "figures-5-and-6": figures_5_and_6(task),
        "figure-7": figure_7(task, options.beta),
        "figure-8": figure_8(task),
        "figure-9": figure_9(task, options.alpha, options.beta),
        "gap": gap(task),
        "time": check_time(task),
    }
    for name, rows in results.items():
        with (options.output / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        print(f"{name}\n\n{table_of(rows)}")
    text = "\n".join(f"## {name}\n\n{table_of(rows)}" for name, rows in results.items())
    (options.output / "results.md").write_text(text, encoding="utf-8")
    try:
        plot(results, options.output)
    except ModuleNotFoundError:
        print("matplotlib is not installed; the figures are in the CSV files alone.")


if __name__ == "__main__":
    main()
