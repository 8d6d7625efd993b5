"""Figures on Adult that other software and brute force agree on."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.real_data import adult, adult_hierarchy
from tests.tables import coded_frame, hierarchy_from_rows

from discreet.releases.kinds.generalized import read_generalized
from discreet.table.coded_table import CodedTable
from discreet.table.roles import ValueType
from discreet.utility.queries import QueryWorkload

pytestmark = pytest.mark.data


def recoded(table, hierarchies, levels):
    columns = dict(table.columns)
    for name, depth in levels.items():
        level = hierarchies[name].levels[depth]
        labels = pl.Series(name, level.labels, dtype=pl.String)
        codes = level.node_of_leaf[table[name].codes]
        columns[name] = replace(
            table[name], codes=codes, text=labels, values=labels, type=ValueType.TEXT, numbers=None
        )
    return CodedTable(columns, table.rows)


def measured(roles, levels, queries=None):
    frame = adult()
    original = coded_frame(frame, roles)
    names = [column.name for column in original.quasi_identifiers]
    hierarchies = {n: hierarchy_from_rows(original[n], adult_hierarchy(n)) for n in names}
    chosen = dict(zip(names, levels, strict=True))
    published = recoded(original, hierarchies, chosen)
    reading = read_generalized(original, hierarchies, published, 0, chosen)
    return reading.measured(queries, seed=1)


def test_entropy_of_nine_quasi_identifiers():
    measures = measured("qqqqqqqqq", [1, 2, 1, 1, 3, 2, 2, 1, 1])
    assert measures.entropy == pytest.approx(407289.5389, abs=1e-4)
    assert measures.structure.height == 14


def test_discernibility_with_occupation_sensitive():
    measures = measured("qqqqqqqsq", [1, 1, 1, 2, 3, 2, 2, 1])
    assert measures.structure.discernibility == 97868020


def test_entropy_with_occupation_sensitive():
    measures = measured("qqqqqqqsq", [1, 1, 1, 1, 3, 2, 2, 1])
    assert measures.entropy == pytest.approx(324620.5270, abs=1e-4)


def test_the_unlinked_baseline_is_near_the_prototype():
    measures = measured("qqqqqqqsi", [1, 1, 1, 1, 2, 1, 1], QueryWorkload(queries=2000))
    assert measures.query_error is not None
    assert measures.query_error.unlinked.median == pytest.approx(0.108, abs=0.015)
