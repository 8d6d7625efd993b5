"""MSA-diversity against Gal on an opinion table: Abdalaal (2012), figures 14 to 25.

Loss and discernibility against ℓ and the number d of opinions (figures 14 to 16, 18, 20, 22), query
error (17, 19, 21, 23), disclosure probabilities (24, 25), and beyond the paper: suppression beside
its lower bound, the two ways of grouping, and what an attacker who knows the algorithm learns from
samples of ten people (minimality).

    python -m experiments opinion-polls                               # the non-voters' poll
    python -m experiments opinion-polls --set movielens=true --data ml-1m
    python -m experiments opinion-polls --set users=684 --set l=2,5   # generated ratings
    python -m experiments opinion-polls --data t.csv --set quasi=age:integer,zip --set opinions=a,b

Of MovieLens the users with a rating for each of the most rated movies are taken, as in the paper;
``films=least-skewed`` takes movies whose ratings are spread most evenly instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import permutations, product
from pathlib import Path
from typing import Any, Literal

import experiments.rivals  # noqa: F401 (registers gal)
import numpy as np
import polars as pl
from experiments.curves import CURVES, grouping_along
from experiments.harness import (
    Experiment,
    Figure,
    MissingDataError,
    Plot,
    Row,
    Settings,
    data_file,
)
from pydantic import Field

import discreet as dc
from discreet.methods.base import Task
from discreet.pipeline.prepare import prepare
from discreet.pipeline.run import make_release
from discreet.releases.measure import read_utility
from discreet.releases.registry import kind_of

MOST_WORLDS = 200
MOST_RATED = 50  # movies among which the least skewed are chosen
METHODS: dict[str, dict[str, Any]] = {
    "msa-diversity (curve)": {"msa-diversity": {"suppression": 0.95}},
    "msa-diversity (blocks)": {"msa-diversity": {"suppression": 0.95, "grouping": "blocks"}},
    "msa-diversity (paper)": {"msa-diversity": {"suppression": 1, "grouping": "paper"}},
    "gal (both-safe)": {"gal": {}},
    "gal (suppress)": {"gal": {"halves": "suppress"}},  # the paper's
}


class OpinionPollSettings(Settings):
    quasi: tuple[str, ...] = Field(
        default=("ppage:integer", "race", "educ"), description="Quasi-identifiers of a CSV."
    )
    opinions: tuple[str, ...] = Field(
        default=("Q3_2", "Q3_3", "Q17_4", "Q2_4", "Q9_2"), description="Opinions of a CSV."
    )
    movielens: bool = Field(
        default=False, description="Read a folder of MovieLens: users and ratings (1M or 100K)."
    )
    users: int = Field(
        default=0, description="Generate so many users with ten ratings instead of reading a file."
    )
    movies: int = Field(default=7, description="Movies of MovieLens that are opinions.")
    films: Literal["most-rated", "least-skewed"] = Field(
        default="most-rated",
        description="The most rated movies, or those of the 50 most rated whose commonest rating "
        "has the smallest share.",
    )
    d: tuple[int, ...] = Field(default=(2, 3, 5), description="Numbers of opinions, up to 7.")
    l: tuple[int, ...] = Field(default=(2, 3, 4), description="ℓ; the paper goes up to 10.")  # noqa: E741 (the paper's letter)
    queries: int = Field(default=684, description="Queries; as many as people in the paper.")
    blocks: tuple[int, ...] = Field(
        default=(2, 4, 8, 16, 32, 64), description="Least smallest groups in a block."
    )
    people: int = Field(default=10, description="People of each sample of the minimality attack.")
    samples: tuple[int, int] = Field(
        default=(40, 12), description="Samples of it along the curve, and in blocks."
    )


@lru_cache
def poll(settings: OpinionPollSettings) -> tuple[pl.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """The table, its quasi-identifiers and its opinions."""
    if settings.users:
        return generated(settings.users, settings.movies)
    if settings.movielens:
        return movielens(data_file(settings, "movielens"), settings.movies, settings.films)
    path = data_file(settings, "opinions", "nonvoters.csv")
    names = [written.partition(":")[0] for written in settings.quasi]
    frame = pl.read_csv(path, infer_schema=False).select(*names, *settings.opinions)
    return frame, settings.quasi, settings.opinions


def generated(users: int, movies: int) -> tuple[pl.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """Users with independent ratings from 0 to 9, the two most frequent with 15 % each."""
    rng = np.random.default_rng(1)
    shares = [0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.15, 0.15, 0.12, 0.10]
    columns = {
        "age": rng.integers(10, 75, users),
        "zip": rng.integers(10000, 99999, users),
        "sex": rng.choice(["f", "m"], users),
    }
    names = tuple(f"movie {number}" for number in range(movies))
    ratings = [str(value) for value in range(len(shares))]
    columns |= {name: rng.choice(ratings, users, p=shares) for name in names}
    return pl.DataFrame(columns), ("age:integer", "zip:integer", "sex"), names


def movielens(
    folder: Path, movies: int, films: str = "most-rated"
) -> tuple[pl.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """Users with their ratings of the chosen movies: the 1M form, or the 100K form."""
    if (folder / "users.dat").exists():
        users = _split(folder / "users.dat", "::", ("user", "gender", "age", "occupation", "zip"))
        ratings = _split(folder / "ratings.dat", "::", ("user", "movie", "rating", "time"))
    elif (folder / "u.user").exists():
        users = _split(folder / "u.user", "|", ("user", "age", "gender", "occupation", "zip"))
        ratings = _split(folder / "u.data", "\t", ("user", "movie", "rating", "time"))
    else:
        raise MissingDataError(
            f"{folder} has neither users.dat and ratings.dat (MovieLens 1M) nor u.user and u.data "
            "(MovieLens 100K); experiments/README.md says where to get them."
        )
    counts = ratings["movie"].value_counts().sort("count", "movie", descending=[True, False])
    most = counts["movie"].head(movies).to_list()
    if films == "least-skewed":
        most = _least_skewed(ratings, counts["movie"].head(MOST_RATED).to_list())[:movies]
    rated = ratings.filter(pl.col("movie").is_in(most)).pivot(
        "movie", index="user", values="rating", aggregate_function="first"
    )
    opinions = {movie: f"movie {movie}" for movie in most}
    joined = users.join(rated.drop_nulls(), on="user", maintain_order="left").rename(opinions)
    frame = joined.select("age", "gender", "zip", *opinions.values())
    return frame, ("age:integer", "gender", "zip"), tuple(opinions.values())


def _least_skewed(ratings: pl.DataFrame, movies: Sequence[str]) -> list[str]:
    """Movies by the share of their commonest rating, the smallest first."""
    by_rating = ratings.filter(pl.col("movie").is_in(movies)).group_by("movie", "rating").len()
    shares = by_rating.group_by("movie").agg(share=pl.col("len").max() / pl.col("len").sum())
    return shares.sort("share", "movie")["movie"].to_list()


def _split(path: Path, separator: str, names: Sequence[str]) -> pl.DataFrame:
    lines = path.read_text(encoding="latin-1").splitlines()
    rows = [line.split(separator) for line in lines if line]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def job_for(
    columns: Sequence[str], quasi: Sequence[str], opinions: Sequence[str], method: dict, ell: int
) -> dc.Job:
    """The job of one run; Gal takes ℓ as a parameter, MSA-diversity as a requirement."""
    if "gal" in method:
        method = {"gal": {"l": ell, **method["gal"]}}
    attributes: dict[str, Any] = {name: {"role": "drop"} for name in columns}
    for written in quasi:
        name, _, kind = written.partition(":")
        attributes[name] = {"role": "quasi-identifier", "type": kind or None}
    attributes |= {name: {"role": "sensitive"} for name in opinions}
    ours = "msa-diversity" in method
    requirements = [{"m-diversity": {"l": ell}}] if ours else []
    return dc.Job(attributes=attributes, requirements=requirements, method=method)


FIGURES = (
    "suppressed", "bound", "across", "loss", "discernibility", "median query error",
    "mean query error", "unlinked baseline", "greatest probability", "people above 1/l",
    "answers by probability",
)  # fmt: skip


@lru_cache
def measured(
    settings: OpinionPollSettings, method: str, d: int, ell: int
) -> tuple[Any, ...] | None:
    """Loss and disclosure of a release, the FIGURES in order; None where it is infeasible."""
    frame, quasi, opinions = poll(settings)
    opinions = opinions[:d]
    job = job_for(frame.columns, quasi, opinions, METHODS[method], ell)
    try:
        release = dc.publish(frame, job, seed=1)
    except dc.InfeasibleError:
        return None
    measures = dc.measure(release, original=frame, job=job, queries=settings.queries)
    manifest = release.manifest
    views = kind_of(manifest.kind).views(
        release.coded_tables(), release.task.domains, refined=False
    )
    greatest, above = 0.0, 0
    answers = np.zeros(11, np.int64)  # by the probability of each person's own, rounded to 0.1
    for name in opinions:
        counts = views[0].counts.values[name]
        of_entry = counts.count / views[0].counts.size[counts.class_of_entry]
        greatest = max(greatest, float(of_entry.max()))
        tenth = np.floor(10 * of_entry + 0.5).astype(np.int64)
        answers += np.bincount(tenth, counts.count, len(answers)).astype(np.int64)
        above = max(above, int(counts.count[of_entry > 1 / ell + 1e-9].sum()))
    error = measures.query_error
    steps = release.private["method"].get("steps", {})
    return (
        manifest.suppressed_rows / manifest.source_rows,
        release.private.get("least_suppressed_rows", 0) / manifest.source_rows,
        steps.get("across_blocks", 0) / manifest.source_rows,
        measures.loss,
        measures.structure.discernibility,
        None if error is None else error.release.median,
        None if error is None else error.release.mean,
        None if error is None else error.unlinked.median,
        greatest,
        above / manifest.source_rows,
        tuple(answers.tolist()),
    )


def compared(settings: OpinionPollSettings, *names: str) -> Iterator[Row]:
    """Some figures of all methods for each ℓ and d."""
    opinions = poll(settings)[2]
    for d, ell in product([d for d in settings.d if d <= len(opinions)], settings.l):
        for method in METHODS:
            found = measured(settings, method, d, ell)
            figures = dict(zip(FIGURES, found or [None] * len(FIGURES), strict=True))
            yield {"d": d, "l": ell, "method": method, **{name: figures[name] for name in names}}


def probabilities(settings: OpinionPollSettings) -> Iterator[Row]:
    """How many answers of people have which probability, over all opinions."""
    for row in compared(settings, "answers by probability"):
        counts = row.pop("answers by probability") or [None] * 11
        yield {**row, **{f"{at / 10:.1f}": count for at, count in enumerate(counts)}}


def by_block(settings: OpinionPollSettings) -> Iterator[Row]:
    """Loss of blocks of at least some smallest groups, and the rows placed across blocks."""
    frame, quasi, opinions = poll(settings)
    for d, ell in product([d for d in settings.d if d <= len(opinions)], settings.l):
        for groups in settings.blocks:
            method = {"suppression": 0.95, "grouping": "blocks", "block": groups * ell}
            job = job_for(frame.columns, quasi, opinions[:d], {"msa-diversity": method}, ell)
            release = make_release(frame, job, seed=1)
            reading = read_utility(release.coded_tables(), release.task, release.manifest)
            across = release.private["method"]["steps"].get("across_blocks", 0)
            yield {
                "d": d, "l": ell, "groups": groups, "loss": reading.measured().loss,
                "across": across / len(frame),
            }  # fmt: skip


def by_curve(settings: OpinionPollSettings) -> Iterator[Row]:
    """Loss along other space-filling curves, before and after the exchanges of near rows.

    By the dissertation's own grouping nothing is exchanged: what it loses is the curve's.
    """
    frame, quasi, opinions = poll(settings)
    for d, ell in product([d for d in settings.d if d <= len(opinions)], settings.l):
        for curve, grouping in product(CURVES, ("curve", "paper")):
            method = {"suppression": 1, "grouping": grouping}
            job = job_for(frame.columns, quasi, opinions[:d], {"msa-diversity": method}, ell)
            row: Row = {"d": d, "l": ell, "curve": curve, "grouping": grouping}
            try:
                with grouping_along(curve):
                    release = make_release(frame, job, seed=1)
            except dc.InfeasibleError:
                yield {**row, "loss": None, "suppressed": None}
                continue
            reading = read_utility(release.coded_tables(), release.task, release.manifest)
            suppressed = release.manifest.suppressed_rows / len(frame)
            yield {**row, "loss": reading.measured().loss, "suppressed": suppressed}


# ---- minimality


def minimality(settings: OpinionPollSettings) -> Iterator[Row]:
    """Belief of an attacker who knows the algorithm in a person's own answers, at ℓ = 2.

    On small samples of the table, all worlds that exchange whole rows of answers inside the
    published groups: each weighs as often as the method, run on it, gives these very groups.
    ``curve`` draws nothing where no two people share a place, so one run decides. ``blocks`` draws
    orders, so many runs do; inside one block all worlds weigh alike (exchanging people of a block
    exchanges equally likely orders), so blocks are cut small here, to see what placing people
    across them gives away.
    """
    whole, quasi, opinions = poll(settings)
    opinions, people = opinions[:2], settings.people
    frame = whole.unique([name.partition(":")[0] for name in quasi], maintain_order=True)
    along, in_blocks = settings.samples
    modes = {
        "curve": ({"suppression": 0.5}, 1, along),
        "blocks of 4 to 7": ({"suppression": 0.5, "grouping": "blocks", "block": 4}, 30, in_blocks),
    }
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
        yield {
            "grouping": name,
            "across": across / (tables * people),
            "without the method": float(without.mean()),
            "with it": float(own.mean()),
            "above": float((own > without + 0.1).mean()),
            "certain": float((own > 0.999).mean()),
        }


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


def _figure(name: str, title: str, paper: str, *figures: str) -> Figure:
    return Figure(
        name, title, lambda settings: compared(settings, *figures), paper,
        Plot("l", figures[:1], ("d", "method")),
    )  # fmt: skip


EXPERIMENT = Experiment(
    "opinion-polls",
    "MSA-diversity and Gal, beside the paper",
    OpinionPollSettings,
    (
        _figure(
            "14", "Figure 14: loss, and suppression beside its lower bound",
            "The paper: loss grows with ℓ and with d, more with ℓ.",
            "loss", "suppressed", "bound", "across",
        ),
        _figure(
            "15", "Figures 15, 16, 18, 20 and 22: discernibility",
            "The paper: MSA-diversity is below Gal for small ℓ.", "discernibility",
        ),
        _figure(
            "17", "Figures 17, 19, 21 and 23: query error",
            "The paper: MSA-diversity is below Gal for small ℓ.",
            "median query error", "mean query error", "unlinked baseline",
        ),
        _figure(
            "24", "Figures 24 and 25: probability of disclosure",
            "The paper: at most 1/ℓ with MSA-diversity; Gal exceeds it.",
            "greatest probability", "people above 1/l",
        ),
        Figure(
            "25", "Figures 24 and 25: answers by their probability", probabilities,
            "The paper counts people by the probability of their answer; at d = 5 and ℓ = 2 none "
            "is above 0.5 with MSA-diversity, and some reach 0.86 with Gal.",
        ),
        Figure("blocks", "Beyond the paper: loss against the size of blocks", by_block),
        Figure(
            "curves", "Section 5.5.1: other space-filling curves", by_curve,
            "The paper names Peano's curve and the Z-order, and takes Hilbert's.",
            Plot("l", ("loss",), ("d", "curve", "grouping")),
        ),
        Figure("minimality", "Beyond the paper: an attacker who knows the algorithm", minimality),
    ),
    quick={"d": "2", "l": "2", "queries": "50", "blocks": "8", "people": "6", "samples": "1,1"},
)  # fmt: skip
