"""Section 6 of the ℓ-diversity paper: minimal tables, homogeneity, times and utility.

The paper's hierarchies are Incognito's, which it does not print; ours of Adult have the heights of
its figure 4 and may group other values. ``--figures taxonomies`` counts the minimal tables under
sixteen settings of age, education and rows. Its second table, Lands End, is not public; any other
CSV can be given by ``data``, ``quasi`` and ``sensitive`` (numbers as ``age:integer``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl
from experiments.harness import Experiment, Figure, Plot, Row, Settings, data_file
from pydantic import Field

import discreet as dc
from discreet.methods.base import Task
from discreet.methods.full_domain.full_domain import FullDomain, Recodings, minimal_nodes
from discreet.pipeline.prepare import prepare

SEED = 1


class LDiversitySettings(Settings):
    quasi: tuple[str, ...] = Field(
        default=("age:integer", "sex", "race", "marital-status", "education", "native-country",
                 "workclass"),
        description="Quasi-identifiers, in the order in which figures 5 and 6 add them.",
    )  # fmt: skip
    sensitive: tuple[str, ...] = Field(
        default=("occupation", "salary-class"),
        description="Sensitive attributes, one at a time; times and utility take the first.",
    )
    k: tuple[int, ...] = Field(default=(2, 4, 6, 8), description="k and ℓ of figure 7.")
    anonymity: int = Field(default=6, description="k and ℓ of the minimal tables and of the times.")
    copies: int = Field(
        default=30, ge=1, description="How often the table is repeated in figures 5 and 6."
    )
    c: float = Field(default=3, description="c of recursive (c,ℓ)-diversity in figure 7.")
    homogeneity: int = Field(default=5, description="Quasi-identifiers of the minimal tables.")
    utility: int = Field(default=4, description="Quasi-identifiers of figure 7.")
    share: float = Field(
        default=0.05, gt=0, le=1, description="Share of the rows that figure 7 samples."
    )


@lru_cache
def table(path: Path) -> pl.DataFrame:
    """All rows without a missing value."""
    frame = pl.read_csv(path, infer_schema=False)
    return frame.filter(~pl.any_horizontal((pl.all() == "?") | pl.all().is_null()))


@lru_cache
def all_rows(path: Path) -> pl.DataFrame:
    """All rows; ``?`` is a value."""
    return pl.read_csv(path, infer_schema=False)


def task_of(
    settings: LDiversitySettings,
    count: int,
    sensitive: str,
    requirement: dict,
    share: float = 1,
    complete: bool = True,
    hierarchies: Mapping[str, dict] = MappingProxyType({}),
    copies: int = 1,
) -> Task:
    """The first quasi-identifiers and one sensitive attribute under a requirement.

    ``hierarchies`` replace those of the files.
    """
    path = data_file(settings, "adult", "adult.csv")
    frame = table(path) if complete else all_rows(path)
    if share < 1:  # each row by itself, as in the paper
        chosen = np.random.default_rng(SEED).random(len(frame)) < share
        frame = frame.filter(pl.Series(chosen))
    attributes: dict = {}
    for written in settings.quasi[:count]:
        name, _, kind = written.partition(":")
        attributes[name] = {"role": "quasi-identifier", "type": kind or None}
        hierarchy = path.parent / "hierarchies" / f"{name}.csv"
        if hierarchy.exists():
            attributes[name]["hierarchy"] = str(hierarchy)
        if name in hierarchies:
            attributes[name]["hierarchy"] = hierarchies[name]
    attributes[sensitive] = {"role": "sensitive"}
    job = dc.Job(attributes=attributes, requirements=[requirement], method="full-domain")
    return prepare(job, pl.concat([frame.select(*attributes)] * copies))


def vulnerable_tables(task: Task, sensitive: str) -> Row:
    """Minimal tables, those in which a class has one sensitive value, and the most such rows."""
    recodings = Recodings(task, 0)
    vulnerable, revealed = 0, 0
    minimal = minimal_nodes(task)
    for levels in minimal:
        classes = recodings.sets[tuple(levels.values())]
        distinct = np.diff(classes.counts().values[sensitive].start)
        alone = int(classes.size[distinct == 1].sum())
        vulnerable += alone > 0
        revealed = max(revealed, alone)
    return {
        "minimal tables": len(minimal), "vulnerable": vulnerable, "most rows revealed": revealed,
    }  # fmt: skip


def homogeneity(settings: LDiversitySettings) -> Iterator[Row]:
    """Minimal k-anonymous tables, and those in which a class has one sensitive value."""
    k = settings.anonymity
    for sensitive in settings.sensitive:
        task = task_of(settings, settings.homogeneity, sensitive, {"k-anonymity": {"k": k}})
        yield {"sensitive": sensitive, "k": k, **vulnerable_tables(task, sensitive)}


def education_taxonomy(primary_to: str, low_to: str) -> dict:
    """Seven groups, then low and high; *primary* ends after a value, *low* after a group."""
    order = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th")
    primary = order[: order.index(primary_to) + 1]
    groups = {
        "primary": primary,
        "secondary": order[len(primary) :],
        "high school": ("HS-grad",),
        "some college": ("Some-college",),
        "associate": ("Assoc-voc", "Assoc-acdm"),
        "bachelor": ("Bachelors",),
        "graduate": ("Masters", "Prof-school", "Doctorate"),
    }
    low = tuple(groups)[: tuple(groups).index(low_to) + 1]
    return {
        "tree": {
            "low": {name: list(groups[name]) for name in low},
            "high": {name: list(groups[name]) for name in groups if name not in low},
        }
    }


AGES = {  # the paper's text has [1-5], [6-10]; the files too, under other labels
    "1-5, 6-10": {},
    "0-4, 5-9": {"age": {"intervals": [5, 10, 20, "*"]}},
}


def taxonomies(settings: LDiversitySettings) -> Iterator[Row]:
    """Minimal tables under every setting that was tried."""
    k = settings.anonymity
    for complete, ages, primary_to, low_to in product(
        (True, False), AGES, ("5th-6th", "7th-8th"), ("high school", "some college")
    ):
        hierarchies = AGES[ages] | {"education": education_taxonomy(primary_to, low_to)}
        row: Row = {"ages": ages, "primary up to": primary_to, "low up to": low_to}
        for sensitive in settings.sensitive:
            task = task_of(
                settings, settings.homogeneity, sensitive, {"k-anonymity": {"k": k}},
                complete=complete, hierarchies=hierarchies,
            )  # fmt: skip
            counted = vulnerable_tables(task, sensitive)
            row = {"rows": task.table.rows, **row, "minimal tables": counted["minimal tables"]}
            row[f"vulnerable, {sensitive}"] = counted["vulnerable"]
        yield row


def times(settings: LDiversitySettings) -> Iterator[Row]:
    """Processor seconds for all minimal tables, by the number of quasi-identifiers.

    k and l are those of the minimal tables; k counts the copies, so that both find the same tables
    as without. The second run of two is measured: kernels are compiled by then.
    """
    level, copies = settings.anonymity, settings.copies
    for count in range(3, len(settings.quasi) + 1):
        row: Row = {"quasi-identifiers": count}
        for name, requirement in (
            ("k-anonymity", {"k-anonymity": {"k": level * copies}}),
            ("entropy l-diversity", {"entropy-l-diversity": {"l": level}}),
        ):
            for _ in range(2):
                task = task_of(settings, count, settings.sensitive[0], requirement, copies=copies)
                started = time.process_time()
                tables = len(minimal_nodes(task))
                seconds = time.process_time() - started
            row |= {f"{name}, tables": tables, f"{name}, seconds": seconds}
        yield {"rows": task.table.rows, **row}


def utility(settings: LDiversitySettings) -> Iterator[Row]:
    """The best height, average class size and discernibility for k and ℓ."""
    measures = {"height": "height", "class size": "class-size", "discernibility": "discernibility"}
    for level in settings.k:
        for name, requirement in (
            ("k-anonymity", {"k-anonymity": {"k": level}}),
            ("entropy", {"entropy-l-diversity": {"l": level}}),
            ("recursive", {"recursive-cl-diversity": {"c": settings.c, "l": level}}),
        ):
            row: Row = {"k or l": level, "requirement": name}
            sensitive = settings.sensitive[0]
            whole = task_of(settings, settings.utility, sensitive, requirement)
            sample = task_of(settings, settings.utility, sensitive, requirement, settings.share)
            for measure, minimize in measures.items():
                task = whole if measure == "height" else sample
                try:
                    row[measure] = FullDomain(minimize=minimize).run(task).facts["cost"]
                except dc.InfeasibleError:
                    row[measure] = None
            yield row


EXPERIMENT = Experiment(
    "l-diversity",
    "ℓ-diversity: section 6 of the paper",
    LDiversitySettings,
    (
        Figure(
            "homogeneity", "Homogeneity: minimal 6-anonymous tables", homogeneity,
            "The paper: of 12 minimal tables one is vulnerable with occupation, of 9 tables 8 with "
            "salary class.",
        ),
        Figure(
            "taxonomies", "Homogeneity under other groups of age and education", taxonomies,
            "A fit: the paper does not print its taxonomies. Each row is a setting that was tried; "
            "in all rows a missing value is a value.",
        ),
        Figure(
            "5", "Figures 5 and 6: time against the number of quasi-identifiers", times,
            "The paper: similar times for k-anonymity and ℓ-diversity, sometimes less for the "
            "latter.",
            Plot("quasi-identifiers", ("k-anonymity, seconds", "entropy l-diversity, seconds")),
        ),
        Figure(
            "7", "Figure 7: utility against k and ℓ", utility,
            "The paper: heights for the same k and ℓ are equal or differ by one; recursive "
            "(3,ℓ)-diversity permits smaller classes than entropy.",
            Plot("k or l", ("class size",), ("requirement",)),
        ),
    ),
    quick={"k": "2,4", "homogeneity": "4", "copies": "2"},
)  # fmt: skip
