"""How long the measures take on a million rows: 1 000 queries, and the divergences.

Adult's rows sampled to a million, five quasi-identifiers; one release of each kind of p2. Seconds
are the least of two runs, kernels compiled, the release made before. ``p2`` reads the tables (of a
decomposed release it rakes); ``queries`` asks the default workload of the release, of the original
and of the baseline, as ``discreet measure`` does; ``divergences`` are KL, D and the associations;
``reader`` is the belief of ``discreet compare``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

import discreet as dc
from benchmarks.attacks import FINE, QUASI, table
from benchmarks.figures import Figure
from benchmarks.quasi_sensitive import columbia, data_folder, people
from discreet.api.compare import Original
from discreet.releases.measure import read_utility
from discreet.utility.divergence import diverge, fixed_reader
from discreet.utility.queries import QueryWorkload, query_errors

SECTION = "Measures, 5 quasi-identifiers, 1 000 queries"
SECONDS = 10.0  # what "in seconds" means here
ROWS = 1_000_000
K5 = [{"k-anonymity": {"k": 5}}]
BOTH, ONE = ("occupation", "education"), ("occupation",)
RELEASES: dict[str, tuple[Any, list[dict[str, Any]], tuple[str, ...]]] = {
    "generalized, full-domain": ({"full-domain": {"suppression": 0.02}}, K5, BOTH),
    "generalized, mondrian": ("mondrian", K5, BOTH),
    "bucketized, anatomy": ({"anatomy": {"l": 4}}, [], ONE),
    "bucketized, msa-diversity": (
        {"msa-diversity": {"publish": "buckets"}}, [{"p-diversity": {"l": 2}}], BOTH,
    ),
    "bucketized, m-invariance": ({"m-invariance": {"m": 4}}, [], ONE),
    "decomposed": ({"decomposition": {"l": {"occupation": 4, "education": 3}}}, [], BOTH),
    "projected, codip": (
        {"codip": {"plan": "given", "tables": [["occupation"], ["education"]]}}, K5, BOTH,
    ),
}  # fmt: skip


def job(method: Any, requirements: list[dict[str, Any]], sensitive: tuple[str, ...]) -> dc.Job:
    """Five quasi-identifiers; what is not sensitive is left out."""
    age = {
        "role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [5, 10, 20, "*"]}
    }  # fmt: skip
    return dc.Job(
        attributes={
            "age": age,
            **{name: {"role": "quasi-identifier", "hierarchy": "suppress"} for name in QUASI},
            **{name: {"role": "sensitive" if name in sensitive else "drop"} for name in BOTH},
        },
        requirements=requirements,
        method=method,
    )


def terms_job() -> dc.Job:
    """People with symptoms whose terms are removed."""
    knowledge = {
        "path": str(data_folder() / "symptoms" / "columbia.csv"),
        "label": "disease", "term": "symptom", "weight": "count",
    }  # fmt: skip
    quasi = ("sex", "race", "education", "marital-status", "workclass")
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            **{name: {"role": "quasi-identifier"} for name in quasi},
            "symptoms": {"role": "quasi-sensitive", "multi_valued": "|", "knowledge": knowledge},
        },
        requirements=[*K5, {"qs-t-closeness": {"t": 0.3}}],
        method="quasi-sensitive",
    )


def results(quick: bool) -> Iterator[Figure]:
    """Four lines for each kind of release."""
    rows = 100_000 if quick else ROWS
    data = table(rows).drop(FINE)
    for name, (method, requirements, sensitive) in RELEASES.items():
        yield from measured(name, job(method, requirements, sensitive), data)
    yield from measured("term-suppressed", terms_job(), people(rows, 5, columbia()))


def measured(name: str, asked: dc.Job, data: pl.DataFrame) -> Iterator[Figure]:
    """The seconds of one release's measures."""
    for frame in (data.head(3000), data):  # the first compiles
        original = Original.read(asked, frame)
        release = original.release(original.job, 0, None, lambda *_: None)
        tables = release.coded_tables()
        parts = _parts(tables, release)
        seconds = {part: min(_seconds(run) for _ in range(2)) for part, run in parts.items()}
    for part, spent in seconds.items():
        bound = f"≤ {SECONDS:g}" if part == "queries" else ""
        yield Figure(
            SECTION, f"{name}: {part}", len(data), spent,
            ratio=spent if bound else None, ratio_to="one second" if bound else "", bound=bound,
        )  # fmt: skip


def _parts(tables: Any, release: Any) -> dict[str, Callable[[], object]]:
    def reading() -> Any:
        return read_utility(tables, release.task, release.manifest)

    read = reading()
    return {
        "p2": lambda: reading().implied,
        "queries": lambda: query_errors(read.original, read.implied, QueryWorkload(), 0),
        "divergences": lambda: diverge(read.original, read.implied),
        "reader": lambda: fixed_reader(read.original, read.implied),
    }


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
