"""Downcoding against all ways to fill the classes of tiny releases."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.attacks.downcoding import CELLS, ROWS

TREE = {"*": {"v": ["a", "b"], "w": ["d", "e"], "u": ["c", "f", "g"]}}
ABOVE = {leaf: (node, "*") for node, leaves in TREE["*"].items() for leaf in leaves}
AGES = [20, 21, 23, 27]


def table_of(seed: int, rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.choice(AGES, rows),
            "town": rng.choice(["x", "y", "z"], rows),
            "job": rng.choice(list(ABOVE), rows),
            "ill": rng.choice(["p", "q"], rows),
        }
    )


def job_of(method: str | dict[str, object], k: int, town: str = "quasi-identifier") -> dc.Job:
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "town": {"role": town},
            "job": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
            "ill": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": k}}],
        method=method,
    )


def tight(column: str, values: tuple[object, ...], form: str = "free") -> str:
    """The cell that a class with these values is published with."""
    if form == "grid" and column == "age":  # steps of 2 from 0
        return f"[{min(values) // 2 * 2}, {max(values) // 2 * 2 + 2})"
    different = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    if len(different) == 1:
        return str(different[0])
    if column == "age":
        return f"[{different[0]}, {different[-1]}]"
    if column == "town":
        return "{" + ", ".join(map(str, different)) + "}"
    up = next(level for level in range(2) if len({ABOVE[str(v)][level] for v in different}) == 1)
    return ABOVE[str(different[0])][up]


def fillings(
    column: str, cell: str, rows: int, domain: list[object], form: str
) -> list[tuple[object, ...]]:
    return [v for v in product(domain, repeat=rows) if tight(column, v, form) == cell]


def naive(
    released: pl.DataFrame, original: pl.DataFrame, form: str = "free"
) -> tuple[int, int, int, int]:
    """Open cells, pinned cells, generalized rows, recovered rows."""
    columns = [name for name in released.columns if name != "ill"]
    opened = pinned = generalized = recovered = 0
    for cells, rows in Counter(released.select(columns).rows()).items():
        ways = []
        for column, cell in zip(columns, cells, strict=True):
            domain = sorted(original[column].unique().to_list())
            found = fillings(column, str(cell), rows, domain, form)
            ways.append(found)
            covered = {value for filling in found for value in filling}
            if len(covered) > 1:
                opened += rows
                pinned += len(set.intersection(*(set(filling) for filling in found)))
        if any(len(set(found)) > 1 for found in ways):
            generalized += rows
            worlds = {
                tuple(sorted(Counter(zip(*way, strict=True)).items(), key=str))
                for way in product(*ways)
            }
            recovered += rows * (len(worlds) == 1)
    return opened, pinned, generalized, recovered


def check(table: pl.DataFrame, job: dc.Job, seed: int, form: str) -> None:
    """Compare the figures of the attack with those of all ways to fill the classes."""
    release = dc.publish(table, job, seed=seed)
    found = dc.attack(release, original=table, attacks=["downcoding"])
    cells, rows = (next(f for f in found.findings if f.aim == aim) for aim in (CELLS, ROWS))
    opened, pinned, generalized, recovered = naive(release.tables["records"], table, form)
    assert (cells.targets, rows.targets) == (opened, generalized)
    assert cells.mean * max(cells.targets, 1) == pytest.approx(pinned)
    assert rows.mean * max(rows.targets, 1) == pytest.approx(recovered)


@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
@pytest.mark.parametrize("seed", range(12))
def test_pinned_cells_and_recovered_rows_equal_those_of_all_fillings(cuts, seed):
    check(table_of(seed, 6), job_of({"mondrian": {"cuts": cuts}}, 2), seed, "free")


@pytest.mark.parametrize("method", ["mondrian", "local-recoding"])
@pytest.mark.parametrize("seed", range(6))
def test_ranges_on_a_grid_pin_what_all_fillings_have_in_common(method, seed):
    job = job_of({method: {"cells": "grid"}}, 2, town="drop")
    check(table_of(seed, 6), job, seed, "grid")


def test_levels_of_full_domain_pin_nothing():
    table = table_of(3, 40)
    release = dc.publish(table, job_of("full-domain", 2), seed=1)
    found = dc.attack(release, original=table, attacks=["downcoding"]).findings
    assert [f.mean for f in found] == [0, 0]
    assert {f.verdict for f in found} == {"does no better than without the release"}


@pytest.mark.parametrize("seed", range(6))
def test_regions_cover_every_row_and_pin_nothing(seed):
    table = table_of(seed, 30)
    release = dc.publish(table, job_of({"mondrian": {"cells": "blind"}}, 3), seed=seed)
    assert min(Counter(release.tables["records"].select("age", "town", "job").rows()).values()) >= 3
    found = dc.attack(release, original=table, attacks=["downcoding"]).findings
    assert found and {one.mean for one in found} == {0}


def test_compare_shows_what_cells_pin():
    comparison = dc.compare(
        table_of(1, 40), job_of("mondrian", 2), methods=["mondrian"],
        vary={"cells": ["free", "grid", "blind"]},
    )  # fmt: skip
    free, grid, blind = (point.pinned for point in comparison.points)
    assert free > grid >= blind == 0
