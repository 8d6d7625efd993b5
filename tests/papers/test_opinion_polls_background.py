"""Abdalaal (2012), chapter 2: the tables of mechanisms and models on the nine voters."""

from __future__ import annotations

import pytest
from tests.papers.test_classes import column, counted
from tests.papers.voters import VOTERS

from discreet.requirements.diversity import DistinctLDiversity, PDiversity
from discreet.requirements.k_anonymity import KAnonymity

ISSUE_1 = [row[2] for row in VOTERS]
PRINTED = [*ISSUE_1[:7], "a", ISSUE_1[8]]  # tables 7 to 10 print a for t8 (errata)
TABLE_7 = ["*,*", "25,*", "25,*", "*,6500", "*,*", "*,*", "*,*", "*,*", "*,6500"]
TABLE_8 = ["20-25,3000-4000"] * 3 + ["30-45,4500-6500"] * 3 + ["45-55,5000-6500"] * 3
TABLE_10 = ["20-25,3000-4000"] * 3 + ["30-40,4500-6500"] * 3 + ["45-55,5000-6500"] * 3
TABLE_11B = ["20-25,3000-4000"] * 3 + ["30-40,4500-6500"] * 3 + ["45-55,4500-6500"] * 3


@pytest.mark.parametrize(("cells", "k"), [(TABLE_7, 2), (TABLE_8, 3)], ids=["7", "8"])
def test_suppression_and_generalization(cells, k):
    counts, domains = counted(cells, column("I1", PRINTED))
    assert KAnonymity(k=k).check(counts, domains).achieved == {"k": k}


@pytest.mark.parametrize("cells", [TABLE_8, TABLE_10, TABLE_11B], ids=["8", "10", "11b"])
def test_cells_cover_the_voters(cells):
    for cell, row in zip(cells, VOTERS, strict=True):
        for written, value in zip(cell.split(","), row[:2], strict=True):
            low, high = map(int, written.split("-"))
            assert low <= int(value) <= high


def test_buckets_of_table_9():
    """Group 1: a, b, d; 2: b, a, a; 3: a, c, c, with t4 in the third and t8 in the second."""
    group = "111322323"
    values = {g: [v for v, of in zip(PRINTED, group, strict=True) if of == g] for g in "123"}
    assert values == {"1": list("abd"), "2": list("baa"), "3": list("acc")}


def test_table_10_is_2_diverse_and_its_third_group_believes_c_with_two_thirds():
    counts, domains = counted(TABLE_10, column("I1", PRINTED))
    assert DistinctLDiversity(l=2).check(counts, domains).achieved == {"l": 2}
    assert PDiversity(l=2).check(counts, domains).achieved == {"l": 1.5}


def cells_of_values(cells: list[str]) -> list[dict[str, set[str]]]:
    """For age and zip code, the cells that each value got."""
    found: list[dict[str, set[str]]] = [{}, {}]
    for cell, row in zip(cells, VOTERS, strict=True):
        for i, written in enumerate(cell.split(",")):
            found[i].setdefault(row[i], set()).add(written)
    return found


def test_table_11_recodes_globally_and_then_locally():
    """(b): each value has one cell; (c), the cells of table 10: zip 6500 has two."""
    assert all(len(got) == 1 for by in cells_of_values(TABLE_11B) for got in by.values())
    local = {value for by in cells_of_values(TABLE_10) for value, got in by.items() if len(got) > 1}
    assert local == {"6500"}
