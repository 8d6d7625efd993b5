"""The seed makes a method reproducible; it never restores the order of the source."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.table.counts import FIXED_ORDER

ROWS = 24
FRAME = pl.DataFrame(
    {
        "age": [str(20 + n % 12) for n in range(ROWS)],
        "d": [f"d{n}" for n in range(ROWS)],
    }
)
ATTRIBUTES = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "d": {"role": "sensitive"},
}
METHODS = {
    "mondrian": ("mondrian", [{"k-anonymity": {"k": 4}}]),
    "anatomy": ({"anatomy": {"l": 4}}, []),
    "decomposition": ({"decomposition": {"l": {"d": 4}}}, []),
    "msa-diversity": ({"msa-diversity": {"publish": "buckets"}}, [{"p-diversity": {"l": 4}}]),
}


@pytest.fixture(autouse=True)
def _as_users_run_it(monkeypatch):
    monkeypatch.delenv(FIXED_ORDER)


def made(name, seed=1):
    method, requirements = METHODS[name]
    job = dc.Job(attributes=ATTRIBUTES, requirements=requirements, method=method)
    return dc.publish(FRAME, job, seed=seed)


def groups_of(release):
    """The sensitive values of every group, whatever its number."""
    tables = release.tables
    table = tables.get("group_values", tables.get("sensitive", tables.get("records")))
    by = "group" if "group" in table.columns else "age"
    value = "value" if "value" in table.columns else "d"
    grouped = table.group_by(by).agg(pl.col(value).sort())[value].to_list()
    return sorted(tuple(values) for values in grouped)


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_groups_in_another_order(name):
    one, other = made(name), made(name)
    assert groups_of(one) == groups_of(other)
    assert any(not one.tables[table].equals(other.tables[table]) for table in one.tables)


def test_a_guessed_seed_restores_no_order():
    """The attack: draw the orders of 10,000 seeds, and keep the one that fits the cells."""
    release = made("mondrian", seed=1234)
    order = release.formed.orders["records"]
    for seed in range(10_000):
        drawn = np.arange(ROWS, dtype=np.int32)
        np.random.default_rng(seed).shuffle(drawn)
        assert not np.array_equal(drawn, order), seed


def test_the_order_is_not_in_the_private_file(tmp_path):
    release = made("anatomy")
    release.save(tmp_path / "release", **UNATTACKED)
    private = json.loads((tmp_path / "release.private.json").read_text())
    assert private["seed"] == 1
    assert "insecure_fixed_order" not in private


def test_only_the_loud_option_makes_orders_reproducible(monkeypatch, tmp_path):
    monkeypatch.setenv(FIXED_ORDER, "1")
    one, other = made("anatomy"), made("anatomy")
    assert all(one.tables[name].equals(other.tables[name]) for name in one.tables)
    one.save(tmp_path / "release", **UNATTACKED)
    assert json.loads((tmp_path / "release.private.json").read_text())["insecure_fixed_order"]
