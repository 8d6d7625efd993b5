"""MSA-diversity against Gal and others on an opinion table: Abdalaal (2012), figures 14 to 25.

Loss and discernibility against ℓ and the number d of opinions (figures 14 to 16, 18, 20, 22), query
error (17, 19, 21, 23), disclosure probabilities (24, 25), and beyond the paper: suppression beside
its lower bound, the two ways of grouping, and what an attacker who knows the algorithm learns from
samples of ten people (minimality).

    python -m experiments.msa_diversity --output figures

reads ``opinions/nonvoters.csv`` of the folder DISCREET_DATA, or any table:

    python -m experiments.msa_diversity --table t.csv --quasi age:integer zip --opinions a b c
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from discreet.methods.base import Task
from discreet.pipeline.prepare import prepare
from discreet.releases.registry import kind_of

QUASI = ("ppage:integer", "race", "educ")
OPINIONS = ("Q3_2", "Q3_3", "Q17_4", "Q2_4", "Q9_2")
MOST_WORLDS = 200


def job_for(
    columns: Sequence[str], quasi: Sequence[str], opinions: Sequence[str], method: dict, ell: int
) -> dc.Job:
    """The job of one run."""
    attributes: dict[str, Any] = {name: {"role": "drop"} for name in columns}
    for written in quasi:
        name, _, kind = written.partition(":")
        attributes[name] = {"role": "quasi-identifier", "type": kind or None}
    attributes |= {name: {"role": "sensitive"} for name in opinions}
    ours = "msa-diversity" in method
    requirements = [{"m-diversity": {"l": ell}}] if ours else []
    return dc.Job(attributes=attributes, requirements=requirements, method=method)


def measured(path: Path, job: dc.Job, opinions: Sequence[str]) -> dict[str, Any]:
    """Loss and disclosure of a release."""
    try:
        release = dc.publish(path, job, seed=1)
    except dc.InfeasibleError:
        return {"feasible": False}
    measures = dc.measure(release, original=path, job=job, queries=684)
    manifest = release.manifest
    views = kind_of(manifest.kind).views(
        release.coded_tables(), release.task.domains, refined=False
    )
    share = Counter[float]()
    greatest = 0.0
    for name in opinions:
        counts = views[0].counts.values[name]
        of_entry = counts.count / views[0].counts.size[counts.class_of_entry]
        greatest = max(greatest, float(of_entry.max()))
        for probability, people in zip(of_entry.round(1), counts.count, strict=True):
            share[float(probability)] += int(people)
    error = measures.query_error
    return {
        "feasible": True,
        "suppressed": manifest.suppressed_rows / manifest.source_rows,
        "bound": release.private.get("least_suppressed_rows", 0) / manifest.source_rows,
        "across": release.private["method"].get("steps", {}).get("across_blocks", 0)
        / manifest.source_rows,
        "loss": measures.loss,
        "discernibility": measures.structure.discernibility,
        "query_error": None if error is None else error.release.median,
        "unlinked": None if error is None else error.unlinked.median,
        "greatest": greatest,
        "people_by_probability": dict(sorted(share.items())),
    }


def compare(path: Path, quasi: Sequence[str], opinions: Sequence[str]) -> list[dict[str, Any]]:
    """All methods for ℓ = 2, 3, 4 and d = 2, 3, 5."""
    columns = pl.read_csv(path, n_rows=0).columns
    found = []
    for d, ell in product([d for d in (2, 3, 5) if d <= len(opinions)], (2, 3, 4)):
        methods = {
            "msa-diversity (curve)": {"msa-diversity": {"suppression": 0.95}},
            "msa-diversity (blocks)": {
                "msa-diversity": {"suppression": 0.95, "grouping": "blocks"}
            },
            "gal (both-safe)": {"gal": {"l": ell}},
            "gal (suppress)": {"gal": {"l": ell, "halves": "suppress"}},  # the paper's
        }
        for name, method in methods.items():
            job = job_for(columns, quasi, opinions[:d], method, ell)
            row = {"method": name, "d": d, "l": ell, **measured(path, job, opinions[:d])}
            found.append(row)
            print(_line(row), flush=True)
    return found


def _line(row: dict[str, Any]) -> str:
    if not row["feasible"]:
        return f"| {row['d']} | {row['l']} | {row['method']} | infeasible | | | | | | |"
    error = "–" if row["query_error"] is None else f"{row['query_error']:.3f}"
    return (
        f"| {row['d']} | {row['l']} | {row['method']} | {row['suppressed']:.1%} "
        f"| {row['bound']:.1%} | {row['across']:.1%} | {row['loss']:.4f} "
        f"| {row['discernibility']:,} | {error} | {row['greatest']:.2f} |"
    )


# ---- minimality


def minimality(
    path: Path, quasi: Sequence[str], opinions: Sequence[str], people: int = 10
) -> list[dict[str, Any]]:
    """Belief of an attacker who knows the algorithm in a person's own answers, at ℓ = 2.

    On small samples of the table, all worlds that exchange whole rows of answers inside the
    published groups: each weighs as often as the method, run on it, gives these very groups.
    ``curve`` draws nothing where no two people share a place, so one run decides. ``blocks`` draws
    orders, so many runs do; inside one block all worlds weigh alike (exchanging people of a block
    exchanges equally likely orders), so blocks are cut small here, to see what placing people
    across them gives away.
    """
    frame = pl.read_csv(path).unique(
        [name.partition(":")[0] for name in quasi], maintain_order=True
    )
    modes = {
        "curve": ({"suppression": 0.5}, 1, 40),
        "blocks of 4 to 7": ({"suppression": 0.5, "grouping": "blocks", "block": 4}, 30, 12),
    }
    found = []
    for name, (parameters, runs, tables) in modes.items():
        rng = np.random.default_rng(0)
        judged: list[np.ndarray] = []
        plain: list[np.ndarray] = []
        across = 0
        while len(judged) < tables:
            sample = frame.sample(people, seed=int(rng.integers(2**31)))
            job = job_for(frame.columns, quasi, opinions, {"msa-diversity": parameters}, 2)
            task = prepare(job, sample)
            outcome = _run(job.method, task, seed=0)
            if outcome is None or (outcome.class_of_row < 0).any():
                continue
            belief = _posterior(job.method, task, outcome.class_of_row, runs)
            if belief is None:
                continue
            judged.append(belief)
            plain.append(_shares(task, outcome.class_of_row))
            across += outcome.facts["steps"].get("across_blocks", 0)
        own, without = np.concatenate(judged), np.concatenate(plain)
        found.append(
            {
                "grouping": name,
                "across": across / (tables * people),
                "without the method": float(without.mean()),
                "with it": float(own.mean()),
                "above": float((own > without + 0.1).mean()),
                "certain": float((own > 0.999).mean()),
            }
        )
        print(found[-1], flush=True)
    return found


def _run(method: Any, task: Task, seed: int) -> Any:
    try:
        return method.run(replace(task, rng=np.random.default_rng(seed)))
    except dc.InfeasibleError:
        return None


def _shares(task: Task, group_of_row: np.ndarray) -> np.ndarray:
    """How large the share of each person's own value is in the group; all attributes in turn."""
    alike = group_of_row[:, None] == group_of_row[None, :]
    codes = [column.codes for column in task.table.sensitive]
    same = [((c[:, None] == c[None, :]) & alike).sum(axis=1) for c in codes]
    return np.concatenate([count / alike.sum(axis=1) for count in same])


def _posterior(method: Any, task: Task, group_of_row: np.ndarray, runs: int) -> np.ndarray | None:
    """The belief in each person's own value, all attributes in turn; None for too many worlds."""
    members = [np.flatnonzero(group_of_row == g) for g in range(group_of_row.max() + 1)]
    if math.prod(math.factorial(len(group)) for group in members) > MOST_WORLDS:
        return None
    columns = task.table.sensitive
    agree = np.zeros(len(columns) * len(group_of_row))
    weight = 0
    wanted = _partition(group_of_row)
    for world in product(*(permutations(group) for group in members)):
        row_of_person = np.empty(len(group_of_row), np.int64)
        for group, given in zip(members, world, strict=True):
            row_of_person[group] = given
        dealt = {c.name: replace(c, codes=c.codes[row_of_person]) for c in columns}
        told = replace(task, table=replace(task.table, columns={**task.table.columns, **dealt}))
        outcomes = [_run(method, told, seed) for seed in range(runs)]
        alike = sum(o is not None and _partition(o.class_of_row) == wanted for o in outcomes)
        weight += alike
        same = [c.codes[row_of_person] == c.codes for c in columns]
        agree += alike * np.concatenate(same)
    return agree / weight if weight else None


def _partition(group_of_row: np.ndarray) -> frozenset[frozenset[int]]:
    groups = range(-1, int(group_of_row.max()) + 1)
    return frozenset(frozenset(np.flatnonzero(group_of_row == g).tolist()) for g in groups)


# ---- plots


def plot(found: Sequence[dict[str, Any]], folder: Path) -> None:
    """Loss, discernibility, query error and greatest probability against ℓ, for each d."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ds = sorted({row["d"] for row in found})
    ells = sorted({row["l"] for row in found})
    figures = {
        "loss": "loss",
        "discernibility": "discernibility",
        "query_error": "median query error",
        "greatest": "greatest probability",
    }
    for figure, title in figures.items():
        drawing, axes = pyplot.subplots(
            1, len(ds), figsize=(2.6 * len(ds), 2.8), sharey=True, squeeze=False
        )
        for axis, d in zip(axes[0], ds, strict=True):
            for name, mark in zip(
                dict.fromkeys(row["method"] for row in found), "os^", strict=True
            ):
                rows = [r for r in found if r["d"] == d and r["method"] == name and r["feasible"]]
                axis.plot(
                    [r["l"] for r in rows], [r[figure] for r in rows], marker=mark, label=name
                )
            if figure == "greatest":
                axis.plot(ells, [1 / ell for ell in ells], "k:", label="1/ℓ")
            axis.set(title=f"{d} opinions", xlabel="ℓ", xticks=ells)
        if figure == "discernibility":
            axes[0][0].set_yscale("log")
        else:
            axes[0][0].set_ylim(bottom=0)
        axes[0][0].set_ylabel(title)
        handles, labels = axes[0][0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
        drawing.tight_layout(rect=(0, 0.09, 1, 1))
        drawing.savefig(folder / f"{figure}.png", dpi=90)
        pyplot.close(drawing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--quasi", nargs="+", default=QUASI)
    parser.add_argument("--opinions", nargs="+", default=OPINIONS)
    parser.add_argument("--no-plots", action="store_true")
    given = parser.parse_args()
    data = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
    path = given.table or data / "opinions" / "nonvoters.csv"
    given.output.mkdir(parents=True, exist_ok=True)
    reader = minimality(path, given.quasi, given.opinions[:2])
    found = compare(path, given.quasi, given.opinions)
    result = {"compare": found, "minimality": reader}
    (given.output / "msa_diversity.json").write_text(json.dumps(result, indent=1))
    if not given.no_plots:
        plot(found, given.output)


if __name__ == "__main__":
    main()
