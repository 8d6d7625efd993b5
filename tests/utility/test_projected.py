"""p2 of a projected release against a sum over every combination of quasi-identifiers."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.methods.base import Projected, Projection
from discreet.methods.codip.codip import Projector
from discreet.pipeline.run import make_release
from discreet.releases.kinds.generalized import MeasuredTable
from discreet.releases.kinds.projected import ImpliedProjected, ProjectedKind, read_projected
from discreet.utility.implied import QueryBatch
from discreet.utility.queries import QueryWorkload

BAND = {"a": "ab", "b": "ab", "c": "cd", "d": "cd"}
TABLES = [["s"], ["t"], ["u"]]
LEVELS = [{"q": 0, "r": 1}, {"q": 1, "r": 0}, {"q": 2, "r": 0}]


def made_job(rows: int, seed: int) -> tuple[pl.DataFrame, dc.Job]:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "q": rng.choice(list("abcd"), rows),
            "r": rng.choice(["x", "y"], rows),
            "s": rng.choice(["0", "1", "2"], rows),
            "t": rng.choice(["0", "1"], rows),
            "u": rng.choice(["0", "1"], rows),
        }
    )
    job = dc.Job(
        attributes={
            "q": {
                "role": "quasi-identifier",
                "hierarchy": {"tree": {"ab": ["a", "b"], "cd": ["c", "d"]}},
            },
            "r": {"role": "quasi-identifier", "hierarchy": "suppress"},
            **{name: {"role": "sensitive"} for name in "stu"},
        },
        method={"codip": {"plan": "given", "tables": TABLES, "recoding": "full-domain"}},
    )
    return frame, job


def cell(value: str, level: int, attribute: str) -> str:
    if attribute == "r":
        return "*" if level else value
    return [value, BAND[value], "*"][level]


def naive_estimate(frame: pl.DataFrame, wanted: dict[str, set[str]]) -> float:
    """n · Σ over q of p_b(q, s_b) Π p_u(s_u | class of q in u), in plain Python."""
    rows = frame.to_dicts()
    domain = {name: sorted({row[name] for row in rows}) for name in "qr"}
    loss = [(0 + 1) / 2, (1 / 3 + 0) / 2, (1 + 0) / 2]
    base = loss.index(min(loss))
    homes = [u for u, block in enumerate(TABLES) if block[0] in wanted]
    if len(homes) == 1:
        base = homes[0]
    total = 0.0
    for q, r in product(domain["q"], domain["r"]):
        if q not in wanted.get("q", domain["q"]) or r not in wanted.get("r", domain["r"]):
            continue

        def inside(table, q=q, r=r):
            levels = LEVELS[table]
            return [
                row for row in rows
                if cell(row["q"], levels["q"], "q") == cell(q, levels["q"], "q")
                and cell(row["r"], levels["r"], "r") == cell(r, levels["r"], "r")
            ]  # fmt: skip

        levels = LEVELS[base]
        spread = sum(cell(v, levels["q"], "q") == cell(q, levels["q"], "q") for v in domain["q"])
        spread *= sum(cell(v, levels["r"], "r") == cell(r, levels["r"], "r") for v in domain["r"])
        mine = TABLES[base][0]
        mass = sum(row[mine] in wanted.get(mine, {row[mine]}) for row in inside(base)) / spread
        others = [u for u in homes if u != base]
        empty = any(not inside(u) for u in others)
        for u in others:
            group = rows if empty else inside(u)
            mass *= sum(row[TABLES[u][0]] in wanted[TABLES[u][0]] for row in group) / len(group)
        total += mass
    return total


@pytest.mark.parametrize(("rows", "seed"), [(12, 0), (12, 5), (7, 1), (60, 2)])
def test_estimates_equal_the_sum_over_all_combinations(rows, seed):
    frame, job = made_job(rows, seed)
    made = make_release(frame, job, seed=0)
    table = made.task.table
    domain = Projector(made.task, job.method).recoder.recodings
    projections = tuple(
        Projection(tuple(block), domain.recode((levels["q"], levels["r"])))
        for block, levels in zip(TABLES, LEVELS, strict=True)
    )
    made.formed.published = ProjectedKind().tables(made.task, Projected(projections))
    tables = made.coded_tables()
    parts = [
        MeasuredTable(
            tables[f"projection_{u + 1}"],
            [*table.quasi_identifiers, table[b]],
            made.task.hierarchies,
            LEVELS[u],
            table,
            0,
        )
        for u, (b,) in enumerate(TABLES)
    ]
    implied = ImpliedProjected(parts, list(tables.values()))
    asked = [
        {"q": {"a", "c"}, "s": {"0", "1"}},
        {"q": {"b"}, "t": {"1"}},
        {"q": {"a", "b", "c"}, "s": {"1"}, "t": {"0"}},
        {"r": {"x"}, "s": {"0"}, "u": {"1"}},
        {"q": {"d", "b"}, "r": {"y"}, "s": {"2", "0"}, "t": {"1"}, "u": {"0"}},
        {"s": {"1"}, "t": {"1"}, "u": {"1"}},
        {"q": {"a"}, "t": {"1"}, "u": {"1"}},
    ]
    for wanted in asked:
        members = {
            name: np.array([[v in values] for v in table[name].text.to_list()])
            for name, values in wanted.items()
        }
        found = implied.estimate(QueryBatch(np.array([0]), members))
        assert found[0] == pytest.approx(naive_estimate(frame, wanted), abs=1e-9), wanted


def test_queries_on_several_tables_are_answered_better_than_without_any_link():
    rng = np.random.default_rng(1)
    age = rng.integers(0, 20, 3000)
    frame = pl.DataFrame(
        {
            "age": age,
            "s": [str(value) for value in (age // 5 + rng.integers(0, 2, 3000)) % 4],
            "t": [str(value) for value in (age // 4 + rng.integers(0, 2, 3000)) % 5],
        }
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, "*"]}},
            "s": {"role": "sensitive"},
            "t": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 5}}],
        method={"codip": {"beta": 0.0}},
    )
    release = dc.publish(frame, job)
    workload = QueryWorkload(queries=300, sensitive=2, selectivity=0.2)
    reading = read_projected(release.coded_tables(), release.task, release.manifest)
    measures = reading.measured(workload)
    assert measures.query_error is not None
    assert measures.query_error.release.median < 0.5 * measures.query_error.unlinked.median
    assert "association loss" in str(measures)
    assert set(measures.to_dict()["tables"]) == {"projection_1", "projection_2"}
