from __future__ import annotations

from pathlib import Path

import pytest
from tests.tables import coded_column

from discreet.job.proposal import propose_job, suggest_roles
from discreet.table.roles import Role

ROWS = range(100)


@pytest.mark.parametrize(
    ("name", "cells", "role"),
    [
        ("SSN", [f"{i:09d}" for i in ROWS], Role.IDENTIFIER),
        ("customerName", [f"p{i % 70}" for i in ROWS], Role.IDENTIFIER),
        ("ref", [7 * i for i in ROWS], Role.IDENTIFIER),
        ("remark", [f"a long remark about the person numbered {i}" for i in ROWS], Role.IDENTIFIER),
        ("age", [i % 40 for i in ROWS], Role.QUASI_IDENTIFIER),
        ("weight", [i / 7 for i in ROWS], Role.QUASI_IDENTIFIER),  # a measure
        ("name of ward", [f"w{i % 4}" for i in ROWS], Role.QUASI_IDENTIFIER),
        ("salary-class", [f"{i % 2}" for i in ROWS], Role.SENSITIVE),
        ("yearly income", [1000 + 7 * i for i in ROWS], Role.SENSITIVE),  # though unique
        ("main_diagnosis", [f"d{i % 9}" for i in ROWS], Role.SENSITIVE),
        ("country", ["x" for _ in ROWS], Role.INSENSITIVE),
        ("sometimes", ["x" if i % 2 else None for i in ROWS], Role.QUASI_IDENTIFIER),
        ("identity", [f"{i % 3}" for i in ROWS], Role.QUASI_IDENTIFIER),  # no word 'id' in it
    ],
)
def test_roles(name, cells, role):
    (proposal,) = suggest_roles([coded_column(name, cells)]).values()
    assert proposal.role is role
    texts = {cell for cell in cells if isinstance(cell, str)}
    assert texts.isdisjoint(proposal.reason.split())


def test_a_multi_valued_column_is_sensitive():
    column = coded_column("codes", ["a|b", "c", "a"] * 10, separator="|")
    assert suggest_roles([column])["codes"].role is Role.SENSITIVE


def test_tokens_that_mean_missing_are_proposed_and_hide_no_type(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,kind\n31,a\n?,b\n40,NA\n", encoding="utf-8")
    job = propose_job(table, tmp_path).text
    assert "missing: ['?', NA]" in job
    assert "type: integer" in job
