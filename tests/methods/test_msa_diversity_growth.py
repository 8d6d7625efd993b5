"""MSA-diversity suppresses about as few rows as any method must, at any size."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks.msa_diversity import ELL, made_task, skewed_task

from discreet.methods.base import Task
from discreet.methods.msa_diversity import msa_diversity
from discreet.methods.msa_diversity.donors import place_with_donors
from discreet.methods.msa_diversity.msa_diversity import MsaDiversity
from discreet.requirements.diversity import PDiversity
from discreet.table.coded_table import CodedTable


@pytest.mark.parametrize("grouping", ["curve", "blocks"])
@pytest.mark.parametrize("rows", [1_000, 30_000])
def test_fewer_than_one_in_a_hundred_where_values_fill_half_of_what_they_may(rows, grouping):
    task = made_task(rows, seed=4)
    shares = [column.counts.max() / rows for column in task.table.sensitive]
    assert max(shares) <= 1 / (2 * ELL)
    group_of_row = MsaDiversity(grouping=grouping).run(task).class_of_row
    assert (group_of_row < 0).mean() < 0.01
    kept = group_of_row >= 0
    size = np.bincount(group_of_row[kept])
    for column in task.table.sensitive:
        pairs = group_of_row[kept].astype(np.int64) * column.cardinality + column.codes[kept]
        found, count = np.unique(pairs, return_counts=True)
        assert (count * ELL <= size[found // column.cardinality]).all()


def repeated_task(people: int, rows: int, share: float) -> Task:
    """Few people, many rows of each; one answer fills ``share`` of the table, by age."""
    rng = np.random.default_rng(3)
    task = made_task(people, seed=3)
    person = rng.integers(0, people, rows)
    columns = {}
    for column in task.table.columns.values():
        codes = column.codes
        if column.name == "q0":
            oldest_first = np.argsort(-task.table.columns["age"].codes)
            codes = codes.copy()
            codes[oldest_first[: int(share * people)]] = 0
            codes[oldest_first[int(share * people) :]] %= column.cardinality - 1
            codes[oldest_first[int(share * people) :]] += 1
        columns[column.name] = dataclasses.replace(column, codes=codes[person])
    return Task(CodedTable(columns, rows), {}, [PDiversity(l=2)], np.random.default_rng(3))


@pytest.mark.parametrize("grouping", ["curve", "blocks"])
@pytest.mark.parametrize("rows", [2_000, 40_000])
def test_nobody_is_suppressed_where_the_whole_table_keeps_the_bound(rows, grouping):
    task = repeated_task(500, rows, share=0.47)
    outcome = MsaDiversity(grouping=grouping, suppression=1).run(task)
    assert outcome.private["least_suppressed_rows"] == 0
    assert outcome.facts["suppressed_rows"] == 0


@pytest.mark.parametrize("grouping", ["curve", "blocks"])
@pytest.mark.parametrize("rows", [2_000, 40_000])
def test_a_skewed_table_loses_hardly_more_rows_than_it_must(rows, grouping):
    task = repeated_task(500, rows, share=0.6)
    outcome = MsaDiversity(grouping=grouping, suppression=1).run(task)
    least = outcome.private["least_suppressed_rows"]
    assert least > 0.1 * rows
    assert outcome.facts["suppressed_rows"] <= least + 0.02 * rows


def test_more_rows_of_a_skewed_table_are_never_worse():
    beyond = []
    for rows in (300, 1_500):
        outcome = MsaDiversity(suppression=1).run(skewed_task(rows, share=0.49))
        least = outcome.private["least_suppressed_rows"]
        assert least == 0
        beyond.append((outcome.facts["suppressed_rows"] - least) / rows)
    assert beyond[1] <= beyond[0] <= 0.02


@pytest.mark.parametrize("grouping", ["curve", "blocks"])
def test_donors_that_are_sought_nearby_are_those_of_the_whole_table(monkeypatch, grouping):
    used = []

    def recorded(rows, groups, unplaced, j, around, places, near, limits):
        found = place_with_donors(rows, groups, unplaced, j, around, places, near, limits)
        used.append((limits.reach, len(rows.values), int(found[0])))
        return found

    def outcome(place):
        monkeypatch.setattr(msa_diversity, "place_with_donors", place)
        return MsaDiversity(grouping=grouping, suppression=1).run(made_task(30_000)).class_of_row

    def everywhere(rows, groups, unplaced, j, around, places, near, limits):
        every, its_place = msa_diversity._along(groups, np.arange(len(rows.values)))
        whole = limits._replace(reach=len(rows.values))
        return place_with_donors(rows, groups, unplaced, j, every, its_place, near, whole)

    monkeypatch.setattr(msa_diversity, "NEAREST", 8)  # so that many rows need donors
    nearby = outcome(recorded)
    assert any(reach < count and found >= 0 for reach, count, found in used)
    assert (nearby == outcome(everywhere)).all()
