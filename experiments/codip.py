"""The figures 5 to 9 of the CODIP paper, on Adult, on Census-Income, or on any job.

    python -m experiments codip
    python -m experiments codip --set census=true --data census-income.data
    python -m experiments codip --data job.yaml

Beyond the paper: how far the greedy plan is from the best one, and how long plans take. The paper
discards Census-Income rows whose major industry is not in universe and reads four bits from the
household status; it does not say which words make them, so ``household_bits`` is ours, and
``household=status`` takes the status as one value instead.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from experiments.harness import Experiment, Figure, Plot, Row, Settings, data_file
from pydantic import Field

import discreet as dc
from discreet.methods.base import Task
from discreet.methods.codip.codip import Codip, Projector
from discreet.methods.codip.node_table import NodeTable
from discreet.methods.codip.plans import merge_steps
from discreet.methods.full_domain.costs import discernibility
from discreet.pipeline.prepare import prepare
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import CodedTable


class CodipSettings(Settings):
    census: bool = Field(default=False, description="Read Census-Income's training data.")
    household: Literal["bits", "status", "drop"] = Field(
        default="bits",
        description="Household status of Census-Income as four bits, a value, or not.",
    )
    lattice: Literal["plain", "rich"] = Field(
        default="plain",
        description="Hierarchies of Census-Income: ages of 5 to 40 years and suppression, or ages "
        "of 2 to 64 years, white and other, and four levels of citizenship.",
    )
    alpha: float = Field(default=0.2, description="Bound on the association loss, figure 9.")
    beta: float = Field(default=0.5, description="Bound on the exposure, figures 7 and 9.")
    k: tuple[int, ...] = Field(default=(2, 5, 10, 20, 50, 100), description="k of figure 9.")
    dm: tuple[float, ...] = Field(
        default=(),
        description="Ceilings on the discernibility, figure 8, and the second in figure 9; by "
        "default those that 10, 35 and 80 % of the nodes are below.",
    )
    subsets: int = Field(default=10, description="Random subsets of attributes for the gap.")


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


def household_bits(status: str) -> str:
    """The bits of a household status, by its words."""
    words = status.lower()
    bits = {
        "married": "spouse" in words or "ever marr" in words.replace("never marr", ""),
        "under 18": "<18" in words or "under 18" in words,
        "descendant": "child" in words,
        "subfamily": "subfamily" in words and "not in" not in words,
    }
    return "|".join(name for name, holds in bits.items() if holds)


def census_frame(path: Path, household: str = "bits") -> pl.DataFrame:
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
    status = raw.to_series(22)
    columns["household"] = (
        pl.Series([household_bits(cell) for cell in status]) if household == "bits" else status
    )
    return pl.DataFrame({name: column.alias(name) for name, column in columns.items()})


BORN = {"Native": {"United States": ["Native- Born in the United States"],
                   "Abroad or outlying": ["Native- Born abroad of American Parent(s)",
                                          "Native- Born in Puerto Rico or U S Outlying"]},
        "Foreign": {"Citizen": ["Foreign born- U S citizen by naturalization"],
                    "Not a citizen": ["Foreign born- Not a citizen of U S"]}}  # fmt: skip
LATTICES: dict[str, dict[str, Any]] = {
    "plain": {
        "age": {"intervals": [5, 10, 20, 40, "*"]},
        "race": "suppress",
        "sex": "suppress",
        "citizenship": "suppress",
    },
    "rich": {
        "age": {"intervals": [2, 4, 8, 16, 32, 64, "*"]},
        "race": {
            "tree": {
                "White": ["White"],
                "Not white": [
                    "Amer Indian Aleut or Eskimo",
                    "Asian or Pacific Islander",
                    "Black",
                    "Other",
                ],
            }
        },
        "sex": "suppress",
        "citizenship": {"tree": BORN},
    },
}


def census_job(household: str = "bits", lattice: str = "plain") -> dc.Job:
    """The paper's attributes; the hierarchies are ours, since it gives none."""
    hierarchies = LATTICES[lattice]
    as_set = {"role": "drop"} if household == "drop" else SENSITIVE
    if household == "bits":
        as_set = {**SENSITIVE, "multi_valued": "|"}
    sensitive = ("worker class", "education", "industry", "employment", "business", "salary",
                 "occupation", "wage", "dividend", "gain", "loss")  # fmt: skip
    return dc.Job(
        attributes={
            **{name: {**QUASI, "hierarchy": levels} for name, levels in hierarchies.items()},
            "age": {**QUASI, "type": "integer", "hierarchy": hierarchies["age"]},
            **dict.fromkeys(sensitive, SENSITIVE),
            "household": as_set,
        },
        requirements=[{"k-anonymity": {"k": 2}}],
        method="codip",
    )


def of_paper(**parameters: Any) -> Codip:
    """CODIP as in the paper: full-domain recodings, and attributes share tables freely."""
    return Codip(recoding="full-domain", insider=False, **parameters)


@lru_cache
def task_of(settings: CodipSettings) -> Task:
    """The table with its roles."""
    if settings.census:
        path = data_file(settings, "census-income", "census-income.data")
        return prepare(
            census_job(settings.household, settings.lattice), census_frame(path, settings.household)
        )
    path = data_file(settings, "adult", "adult.csv")
    if path.suffix in (".yaml", ".yml"):
        return prepare(dc.Job.load(path).using(of_paper()))
    return prepare(adult_job(path.parent.parent))


def with_k(task: Task, k: int) -> Task:
    """The same task with another k."""
    others = [r for r in task.requirements if not isinstance(r, KAnonymity)]
    return replace(task, requirements=[KAnonymity(k=k), *others])


def with_attributes(task: Task, names: Sequence[str]) -> Task:
    """The same task with some of its sensitive attributes."""
    columns = [*task.table.quasi_identifiers, *(task.table[name] for name in names)]
    table = CodedTable({column.name: column for column in columns}, task.table.rows)
    return replace(task, table=table)


def merging(settings: CodipSettings) -> Iterator[Row]:
    """Association loss and exposure of every merge step."""
    for step in of_paper().explore(task_of(settings)).steps:
        yield {
            "tables": step.tables,
            "association loss": step.association_loss,
            "information exposure": step.information_exposure,
            "reduced join-threat": step.reduced_join_threat,
        }


def association(settings: CodipSettings) -> Iterator[Row]:
    """How much attributes say about each other, and what the greedy plan makes of it.

    Mutual information over √(H(Ai) H(Aj)), the mean over all pairs of attributes.
    """
    projector = Projector(task_of(settings), of_paper())
    entropy, mutual = projector.information.entropy, projector.information.mutual
    first, second = np.triu_indices(len(entropy), 1)
    shares = mutual[first, second] / np.sqrt(entropy[first] * entropy[second])
    two = next(plan for plan in merge_steps(projector.information) if len(plan) == 2)
    yield {
        "attributes": len(entropy),
        "mean normalized mutual information": float(shares.mean()),
        "attributes of each of two tables": " and ".join(str(len(block)) for block in two),
        "their association loss": projector.ratios.association_loss(two),
        "their information exposure": projector.ratios.exposure(two),
    }


def by_attributes(settings: CodipSettings) -> Iterator[Row]:
    """The tables that CODIP* gives for the first s sensitive attributes."""
    task = task_of(settings)
    names = [column.name for column in task.table.sensitive]
    for count in range(2, len(names) + 1):
        steps = of_paper().explore(with_attributes(task, names[:count])).steps
        within = [step for step in steps if step.information_exposure <= settings.beta]
        chosen = min(within, key=lambda step: step.tables)
        yield {
            "attributes": count,
            "tables": chosen.tables,
            "association loss": chosen.association_loss,
            "information exposure": chosen.information_exposure,
        }


def ceilings(settings: CodipSettings) -> tuple[float, ...]:
    """The given ceilings, or what a tenth, a third and all but few nodes are below."""
    if settings.dm:
        return settings.dm
    sets = NodeTable(task_of(settings), "loss", None).frequency_sets
    size = [discernibility(found.size) for found in sets]
    return tuple(float(np.quantile(size, share)) for share in (0.1, 0.35, 0.8))


def closeness(settings: CodipSettings) -> Iterator[Row]:
    """Best closeness against the number of tables, under several ceilings."""
    for dm in ceilings(settings):
        for step in reversed(of_paper(dm=dm).explore(task_of(settings)).steps):
            yield {
                "dm": dm,
                "tables": step.tables,
                "closeness": step.closeness,
                "improvement": step.improvement,
            }


def by_k(settings: CodipSettings) -> Iterator[Row]:
    """How many plans within α and β reach a t, and how many nodes are left, as k grows.

    The t are those of the paper in proportion to the single table's at k = 2: 0.4 and 0.37 of 0.42.
    """
    task = task_of(settings)
    dm = ceilings(settings)[:2][-1]
    wanted: list[float] = []
    for k in settings.k:
        frontier = of_paper(dm=dm).explore(with_k(task, k))
        base = frontier.baseline.closeness
        wanted = wanted or [share * (base or 0.0) for share in (1, 0.4 / 0.42, 0.37 / 0.42)]
        bounded = [
            step
            for step in frontier.steps
            if step.association_loss <= settings.alpha
            and step.information_exposure <= settings.beta
        ]
        reached = {
            f"plans, t = {t:.3f}": sum(
                step.closeness is not None and step.closeness <= t + 1e-9 for step in bounded
            )
            for t in wanted
        }
        yield {"k": k, "nodes": frontier.nodes_valid, "single table's t": base, **reached}


def gap(settings: CodipSettings) -> Iterator[Row]:
    """How far greedy plans are from the best, on random subsets of up to nine attributes."""
    task = task_of(settings)
    names = [column.name for column in task.table.sensitive]
    rng = np.random.default_rng(1)
    size = min(9, len(names) - 1) if len(names) > 3 else len(names)
    drawn = [
        tuple(np.sort(rng.choice(len(names), size, replace=False))) for _ in range(settings.subsets)
    ]
    for number, chosen in enumerate(dict.fromkeys(drawn)):
        part = with_attributes(task, [names[i] for i in chosen])
        for beta in (0.1, 0.3, 0.5):
            losses = []
            for plan in ("greedy", "exhaustive"):
                projector = Projector(part, of_paper(plan=plan, beta=beta))
                losses.append(projector.ratios.association_loss(projector.find()))
            yield {
                "subset": number,
                "attributes": size,
                "beta": beta,
                "greedy": losses[0],
                "exhaustive": losses[1],
                "excess": losses[0] / losses[1] - 1 if losses[1] > 1e-12 else None,
            }


def check_time(settings: CodipSettings) -> Iterator[Row]:
    """Seconds for the whole frontier, and microseconds for checking a plan."""
    task = task_of(settings)
    start = time.perf_counter()
    projector = Projector(task, of_paper())
    projector.frontier()
    seconds = time.perf_counter() - start
    plans = list(merge_steps(projector.information))
    start = time.perf_counter()
    for _ in range(100):
        for plan in plans:
            projector.accepts(plan)
    check = (time.perf_counter() - start) / 100 / len(plans)
    yield {
        "rows": task.table.rows,
        "attributes": len(task.table.sensitive),
        "seconds of the frontier": seconds,
        "microseconds of a check": 1e6 * check,
    }


EXPERIMENT = Experiment(
    "codip",
    "CODIP, beside the paper",
    CodipSettings,
    (
        Figure(
            "5", "Figures 5 and 6: join-threat, exposure and association loss", merging,
            "The paper: a slight association loss lowers the exposure much.",
            Plot("association loss", ("information exposure",)),
        ),
        Figure(
            "7", "Figure 7: tables against sensitive attributes", by_attributes,
            "The paper: the number of tables grows up to nine attributes.",
            Plot("attributes", ("tables",)),
        ),
        Figure(
            "8", "Figure 8: best closeness against tables", closeness,
            "The paper: more tables reach a smaller t.", Plot("tables", ("closeness",), ("dm",)),
        ),
        Figure(
            "9", "Figure 9: plans and nodes that are left as k grows", by_k,
            "The paper: no plan is left from k = 50 on.", Plot("k", ("nodes",)),
        ),
        Figure("information", "Beside figure 7: what attributes say about each other", association),
        Figure("gap", "Beyond the paper: greedy plans beside the best", gap),
        Figure("time", "Beyond the paper: time", check_time),
    ),
    quick={"k": "2,50", "subsets": "1"},
)  # fmt: skip
