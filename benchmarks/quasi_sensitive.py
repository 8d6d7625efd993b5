"""How fast terms are removed, and what it costs, in the paper's setting and on a real table.

Three parts: groups of the paper's reference setting (3 000 labels of about 20 terms, 5 rows with 9
terms of one label each) with first solutions on one core and two, and the cost against the budget;
the default's first solution beside the paper's orders; a million people with 10 symptoms each of
the real disease–symptom table, from file to file, with the peak of memory. The real data are found
through ``DISCREET_DATA``.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from experiments.paper_term_removal import remove_by_paper
from numpy.typing import NDArray
from tests.saving import UNATTACKED

from benchmarks.figures import Figure
from benchmarks.full_domain import adult, data_folder
from discreet.io.knowledge import KnowledgeSource, read_knowledge
from discreet.job.model import Job
from discreet.knowledge.table import (
    Knowledge,
    Links,
    Terms,
    estimated_prior,
    knowledge_from_sets,
    link_terms,
)
from discreet.methods.quasi_sensitive.quasi_sensitive import principles_of
from discreet.methods.quasi_sensitive.removal import (
    Removal,
    TermGroups,
    remove_terms,
)
from discreet.methods.quasi_sensitive.state import Principles
from discreet.pipeline.run import make_release
from discreet.requirements.quasi_sensitive import LinkRequirement, QsClDiversity, QsTCloseness

BUDGETS = (0, 100, 1_000, 10_000)
PRINCIPLES: dict[str, LinkRequirement] = {
    "c = 1, l = 30": QsClDiversity(c=1, l=30),
    "t = 0.4": QsTCloseness(t=0.4),
}


def paper_knowledge(rng: np.random.Generator, labels: int = 3000) -> Knowledge:
    """Poisson(20) terms a label; how often a term occurs follows Poisson(100)."""
    sizes = np.maximum(rng.poisson(20, labels), 1)
    terms = round(int(sizes.sum()) / 100)
    frequency = np.maximum(rng.poisson(100, terms), 1).astype(float)
    frequency /= frequency.sum()
    return knowledge_from_sets(
        [
            (f"label {number:04}", [f"term {term:03}" for term in chosen])
            for number, chosen in enumerate(
                rng.choice(terms, min(size, terms), replace=False, p=frequency) for size in sizes
            )
        ]
    )


def columbia() -> Knowledge:
    """The real disease–symptom table, its counts as weights."""
    source = KnowledgeSource(path="columbia.csv", label="disease", term="symptom", weight="count")
    return read_knowledge(source, data_folder() / "symptoms")


def draw_groups(
    rng: np.random.Generator,
    knowledge: Knowledge,
    groups: int,
    rows: int,
    terms: int,
    likelihood: NDArray[np.float64] | None = None,
) -> TermGroups:
    """Groups of rows, each with so many terms of one label (a random one that has them)."""
    start = knowledge.term_start
    able = np.flatnonzero(np.diff(start) >= terms)
    share = None if likelihood is None else likelihood[able] / likelihood[able].sum()
    drawn = rng.choice(able, groups * rows, p=share)
    chosen = [
        np.sort(rng.choice(knowledge.term[start[label] : start[label + 1]], terms, replace=False))
        for label in drawn
    ]
    return TermGroups(
        np.arange(groups + 1) * rows,
        np.arange(groups * rows + 1) * terms,
        np.concatenate(chosen).astype(np.int32),
        knowledge.labels_of_term,
    )


def principles(
    knowledge: Knowledge, groups: TermGroups, requirement: LinkRequirement
) -> Principles:
    """A principle with the prior that the groups themselves give."""
    terms = Terms(groups.term_start, groups.term, pl.Series(knowledge.terms))
    links: Links = link_terms(terms, knowledge)
    ones = np.ones(len(groups.term_start) - 1, np.int64)
    return principles_of([requirement], links.with_prior(estimated_prior(links, ones)))


def timed(groups: TermGroups, asked: Principles, **options: Any) -> tuple[Removal, float]:
    """A removal and its seconds."""
    started = time.perf_counter()
    removal = remove_terms(groups, asked, **options)
    return removal, time.perf_counter() - started


def reference(groups: int = 1000) -> list[dict[str, Any]]:
    """First solutions on one core and two, and cost against budget."""
    rng = np.random.default_rng(1)
    knowledge = paper_knowledge(rng)
    drawn = draw_groups(rng, knowledge, groups, 5, 9)
    warm = draw_groups(rng, knowledge, 2, 5, 9)
    results = []
    for name, requirement in PRINCIPLES.items():
        asked = principles(knowledge, drawn, requirement)
        remove_terms(warm, asked, nodes=10)
        for threads, nodes in [(1, 0), *((2, budget) for budget in BUDGETS)]:
            removal, seconds = timed(drawn, asked, nodes=nodes, threads=threads)
            results.append(
                {
                    "configuration": f"paper's setting, {name}",
                    "threads": threads,
                    "nodes": nodes,
                    "groups_per_second": groups / seconds,
                    "cost": float(removal.cost.mean()),
                    "optimal": float(np.mean(removal.status >= 2)),
                }
            )
    return results


def first_solutions(groups: int = 60) -> list[dict[str, Any]]:
    """The default's first solution beside the paper's two orders."""
    rng = np.random.default_rng(2)
    paper, real = paper_knowledge(rng), columbia()
    tables = [
        (f"paper's setting, {name}", paper, draw_groups(rng, paper, groups, 5, 9), requirement)
        for name, requirement in PRINCIPLES.items()
    ]
    symptoms = draw_groups(rng, real, groups, 5, 5)
    tables.append(("Columbia, t = 0.3", real, symptoms, QsTCloseness(t=0.3)))
    results = []
    for name, knowledge, drawn, requirement in tables:
        asked = principles(knowledge, drawn, requirement)
        found: dict[str, Any] = {
            "configuration": name, "rows": float(remove_terms(drawn, asked, nodes=0).cost.mean())
        }  # fmt: skip
        for order in ("adaptive", "plain"):
            removal = remove_by_paper(drawn, asked, adaptive=order == "adaptive", nodes=0)
            found[order] = float(removal.cost.mean())
        best = remove_terms(drawn, asked, nodes=100_000)
        found["best"] = float(best.cost.mean())
        found["optimal"] = float(np.mean(best.status >= 2))
        results.append(found)
    return results


def people(rows: int, terms: int, knowledge: Knowledge, seed: int = 3) -> pl.DataFrame:
    """Adult's quasi-identifiers with the symptoms of a disease, each as frequent as it is."""
    rng = np.random.default_rng(seed)
    frame = adult(rows).select("age", "sex", "race", "education", "marital-status", "workclass")
    groups = draw_groups(rng, knowledge, rows, 1, terms, knowledge.weight)
    names = pl.Series(knowledge.terms).gather(pl.Series(groups.term))
    cells = pl.Series(names).reshape((rows, terms)).arr.to_list().list.join("|")
    return frame.with_columns(cells.alias("symptoms"))


def million(rows: int = 1_000_000, terms: int = 10) -> dict[str, Any]:
    """From a file to an audited release, with the peak of memory of this process."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        people(rows, terms, columbia()).write_csv(place / "people.csv")
        quasi = ("sex", "race", "education", "marital-status", "workclass")
        job = Job(
            source={"path": place / "people.csv"},
            attributes={
                "age": {"role": "quasi-identifier", "type": "integer"},
                **{name: {"role": "quasi-identifier"} for name in quasi},
                "symptoms": {
                    "role": "quasi-sensitive",
                    "multi_valued": "|",
                    "knowledge": {
                        "path": str(data_folder() / "symptoms" / "columbia.csv"),
                        "label": "disease",
                        "term": "symptom",
                        "weight": "count",
                    },
                },
            },
            requirements=[{"k-anonymity": {"k": 5}}, {"qs-t-closeness": {"t": 0.3}}],
            method={"quasi-sensitive": {}},
        )
        started = time.perf_counter()
        release = make_release(None, job, seed=1)
        made = time.perf_counter() - started
        release.save(place / "release", **UNATTACKED)
        facts = release.private["method"]
        return {
            "configuration": f"{rows:,} people × {terms} symptoms, k = 5, t = 0.3",
            "seconds": time.perf_counter() - started,
            "seconds_made": made,
            "timings": release.private["timings"],
            "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
            **{key: facts[key] for key in ("groups", "optimal_groups", "cost", "suppressed_terms")},
        }


def results(quick: bool) -> Iterator[Figure]:
    """First solutions and costs of groups, and the whole path of a table."""
    section = "Removal of terms"
    groups = 200 if quick else 1000
    for row in reference(groups):
        what = f"{row['configuration']}, {row['threads']} threads, {row['nodes']} nodes"
        seconds = groups / row["groups_per_second"]
        yield Figure(section, what, groups * 5, seconds, loss=row["cost"])
    for row in first_solutions(10 if quick else 60):
        for search in ("rows", "adaptive", "plain", "best"):
            what = f"{row['configuration']}, first solution: {search}"
            yield Figure(section, what, (10 if quick else 60) * 5, loss=row[search])
    rows = 100_000 if quick else 1_000_000
    whole = million(rows)
    yield Figure(
        section, whole["configuration"], rows, whole["seconds"], memory=whole["peak_gb"],
        loss=whole["cost"],
    )  # fmt: skip
