"""MSA-diversity against Gal and others on an opinion table: paper 001, figures 14 to 25.

Loss and discernibility against ℓ and the number d of opinions (figures 14 to 16, 18, 20, 22), query
error (17, 19, 21, 23), disclosure probabilities (24, 25), and beyond the paper: suppression beside
its lower bound, the two ways of grouping, and what a reader who knows the algorithm learns from
random tables of 12 rows (minimality).

    python -m experiments.msa_diversity --output figures

reads ``opinions/nonvoters.csv`` of the folder DISCREET_DATA, or any table:

    python -m experiments.msa_diversity --table t.csv --quasi age:integer zip --opinions a b c
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from discreet.algorithms.method import Task
from discreet.data.roles import Role, ValueType
from discreet.data.table import CodedTable, Column
from discreet.models.diversity import PDiversity
from discreet.releases.catalog import kind_of

QUASI = ("ppage:integer", "race", "educ")
OPINIONS = ("Q3_2", "Q3_3", "Q17_4", "Q2_4", "Q9_2")


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
    """What a release costs and what it discloses."""
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
        "across": getattr(manifest.method, "steps", {}).get("across_blocks", 0)
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
            "gal": {"gal": {"l": ell}},
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


def minimality(tables: int = 30, rows: int = 12, ell: int = 2) -> dict[str, float]:
    """What a reader who knows the algorithm believes, on random tables of one attribute.

    Exact for ``grouping: curve``: of the worlds that exchange values inside the published groups,
    those remain on which the method gives these very groups. (With ``blocks`` all orders of a
    block are equally likely, so that no world is ruled out; only rows that are placed across
    blocks are not covered by that, and ``across`` in the comparison is their share.)
    """
    rng = np.random.default_rng(0)
    method = dc.MsaDiversity(suppression=0.9)
    certain = above = people = 0
    for _ in range(tables):
        values = _diverse(rng, rows, ell)
        groups = _groups(method, values, ell, seed=0)
        if groups is None:
            continue
        belief = _posterior(method, values, groups, ell)
        certain += int((belief > 0.999).sum())
        above += int((belief > 1 / ell + 1e-9).sum())
        people += len(belief)
    return {"certain": certain / people, "above": above / people}


def _diverse(rng: np.random.Generator, rows: int, ell: int) -> np.ndarray:
    while True:
        values = rng.integers(0, 4, rows)
        if np.bincount(values).max() * ell <= rows:
            return values


def _groups(method: dc.MsaDiversity, values: np.ndarray, ell: int, seed: int) -> Any:
    place = np.arange(len(values))
    columns = [
        _column("q", Role.QUASI_IDENTIFIER, ValueType.INTEGER, place),
        _column("s", Role.SENSITIVE, ValueType.TEXT, values),
    ]
    table = CodedTable({column.name: column for column in columns}, len(values))
    task = Task(table, {}, [PDiversity(l=ell)], np.random.default_rng(seed))
    try:
        of_row = method.run(task).class_of_row
    except dc.InfeasibleError:
        return None
    members: dict[int, list[int]] = {}
    for row, group in enumerate(of_row):
        members.setdefault(int(group), []).append(row)
    return frozenset(frozenset(m) for group, m in members.items() if group >= 0)


def _column(name: str, role: Role, kind: ValueType, cells: np.ndarray) -> Column:
    found, codes = np.unique(cells, return_inverse=True)
    text = pl.Series(name, [f"{value}" for value in found], dtype=pl.String)
    numbers = found.astype(float) if kind.ordered else None
    return Column(name, role, kind, codes.astype(np.int32), text, text, numbers)


def _posterior(
    method: dc.MsaDiversity, values: np.ndarray, groups: Any, ell: int, most: int = 200
) -> np.ndarray:
    """The belief in each person's own value."""
    members = [sorted(group) for group in groups]
    choices = [sorted(set(permutations(values[group].tolist()))) for group in members]
    worlds = list(product(*choices))
    if len(worlds) > most:
        chosen = np.random.default_rng(1).choice(len(worlds), most, replace=False)
        worlds = [worlds[i] for i in chosen]
    agree = np.ones(len(values))  # the true world
    total = 1
    for world in worlds:
        told = values.copy()
        for group, given in zip(members, world, strict=True):
            told[group] = given
        if (told != values).any() and _groups(method, told, ell, seed=0) == groups:
            total += 1
            agree += told == values
    belief: np.ndarray = agree[np.concatenate(members)] / total
    return belief


# ---- plots


def plot(found: Sequence[dict[str, Any]], folder: Path) -> None:
    """Loss, discernibility, query error and greatest probability against ℓ, for each d."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    for figure in ("loss", "discernibility", "query_error", "greatest"):
        ds = sorted({row["d"] for row in found})
        _, axes = pyplot.subplots(1, len(ds), figsize=(4 * len(ds), 3), squeeze=False)
        for axis, d in zip(axes[0], ds, strict=True):
            for name in dict.fromkeys(row["method"] for row in found):
                rows = [r for r in found if r["d"] == d and r["method"] == name and r["feasible"]]
                axis.plot([r["l"] for r in rows], [r[figure] for r in rows], "o-", label=name)
            axis.set(title=f"d = {d}", xlabel="ℓ", ylabel=figure)
        axes[0][0].legend()
        pyplot.tight_layout()
        pyplot.savefig(folder / f"{figure}.png")
        pyplot.close()


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
    reader = minimality()
    print("minimality, curve, 12 rows, l = 2:", reader, flush=True)
    found = compare(path, given.quasi, given.opinions)
    result = {"compare": found, "minimality": reader}
    (given.output / "msa_diversity.json").write_text(json.dumps(result, indent=1))
    if not given.no_plots:
        plot(found, given.output)


if __name__ == "__main__":
    main()
