"""No published cell says that a missing value is inside a label, range or set that lacks it."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.methods.base import Generalized
from discreet.pipeline.prepare import prepare

TREES = [
    {"Europe": ["France", "Spain", "Italy"]},
    {"World": {"Europe": ["France", "Spain"], "America": ["Italy"]}},
    {"Europe": ["France", "Spain"], "America": ["Italy"]},
]
TEXT = [{"tree": tree} for tree in TREES] + [{"mask": "right"}, "suppress", None]
NUMBER = [{"intervals": [10, 100]}, {"intervals": [10, 100, "*"]}, {"groups": [2, 8]}, None]
METHODS = [
    {"full-domain": {"suppression": 0.5}},
    {"mondrian": {}},
    {"mondrian": {"cuts": "relaxed"}},
    {"local-recoding": {}},
    {"msa-diversity": {"suppression": 0.9}},
    {"li-ye": {"alpha_qi": 2, "alpha_sa": 1}},
    {"gal": {"l": 2}},
]


def covers_null(cell: str | None) -> bool:
    """Whether a cell names the missing value: itself, everything, or a set that lists it."""
    if cell is None or cell == "*":
        return True
    return cell.startswith("{") and '""' in cell


@pytest.mark.parametrize("method", METHODS, ids=json.dumps)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["France", "Spain", "Italy", None]),
            st.sampled_from(["1", "7", "12", "40", None]),
            st.sampled_from(["flu", "gout", "cold"]),
        ),
        min_size=2,
        max_size=12,
    ),
    text=st.sampled_from(TEXT),
    number=st.sampled_from(NUMBER),
)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_missing_value_is_covered_by_its_cell(method, rows, text, number):
    land, age, ill = zip(*rows, strict=True)
    attributes = {
        "land": {"role": "quasi-identifier", **({"hierarchy": text} if text else {})},
        "age": {
            "role": "quasi-identifier",
            "type": "integer",
            **({"hierarchy": number} if number else {}),
        },
        "ill": {"role": "sensitive"},
    }
    name = next(iter(method))
    required = [] if name in ("li-ye", "gal") else [{"p-diversity": {"l": 1.5}}]
    job = dc.Job(attributes=attributes, requirements=required, method=method)
    frame = pl.DataFrame({"land": land, "age": age, "ill": ill}, schema=dict.fromkeys(
        ("land", "age", "ill"), pl.String
    ))  # fmt: skip
    try:
        task = prepare(job, frame, rng=np.random.default_rng(1))
        outcome = job.method.run(task)
    except (dc.InfeasibleError, dc.HierarchyError):
        return
    assert isinstance(outcome, Generalized)
    for name, source in (("land", land), ("age", age)):
        cells = outcome.cells[name]
        for row, value in enumerate(source):
            of_class = outcome.class_of_row[row]
            if value is None and of_class >= 0:
                assert covers_null(cells.labels[cells.cell_of_class[of_class]])
