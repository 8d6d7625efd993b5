"""Measures, pages and comparisons of releases that keep several rows of a person."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.explanation import explain_privately
from discreet.report.terminal import measure_lines, published_lines
from discreet.table.persons import Persons
from discreet.utility.queries import MatchingPersons, QueryWorkload, estimated_persons

ROWS, PEOPLE = 240, 80


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    person = np.sort(np.append(rng.integers(0, PEOPLE, ROWS - PEOPLE), np.arange(PEOPLE)))
    return pl.DataFrame(
        {
            "id": [f"p{number}" for number in person],
            "age": 20 + person % 40 + rng.integers(0, 3, ROWS),
            "disease": rng.choice(list("abcdefgh"), ROWS),
            "stay": rng.choice([1, 2, 3, 7], ROWS),
        }
    )


@pytest.fixture(scope="module")
def job() -> dc.Job:
    return dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "disease": {"role": "sensitive"},
            "stay": {"role": "sensitive", "type": "integer"},
        },
        person={"column": "id", "rows": "keep"},
        requirements=[{"k-anonymity": {"k": 4}}],
        method="mondrian",
    )


def test_queries_count_the_persons_that_a_loop_finds(frame: pl.DataFrame, job: dc.Job):
    release = dc.publish(frame, job, seed=1)
    table, kept = release.task.table, release.task.basis.persons
    assert kept is not None
    matching = MatchingPersons(table, kept)
    workload = QueryWorkload(queries=40, selectivity=0.2)
    asked = 0
    for batch in workload.batches(table, np.random.default_rng(0)):
        found = matching.count(batch)
        for query in range(len(batch.number)):
            who = {
                int(kept.number[row])
                for row in range(table.rows)
                if all(m[table[name].codes[row], query] for name, m in batch.members.items())
            }
            assert found[query] == len(who)
            asked += 1
    assert asked == 40


def test_estimates_of_persons_are_those_of_rows_where_each_has_one():
    persons = Persons(np.arange(50), 50, 0)
    rows = np.array([0.0, 7.0, 50.0])
    assert estimated_persons(rows, persons) == pytest.approx(rows)
    doubled = Persons(np.repeat(np.arange(25), 2), 25, 0)
    assert estimated_persons(np.array([50.0]), doubled) == pytest.approx([25])


def test_a_measure_says_both_errors(frame: pl.DataFrame, job: dc.Job):
    found = dc.measure(dc.publish(frame, job, seed=1), original=frame, queries=50)
    assert found.query_error is not None and found.query_error.persons is not None
    assert "of people" in str(found) and "of people" in "\n".join(measure_lines(found))
    assert found.to_dict()["query_error"]["persons"]["release"]["median"] > 0
    by_row = dc.measure(
        dc.publish(frame, job.model_copy(update={"person": None, "unit": "rows"}), seed=1),
        original=frame, queries=50,
    )  # fmt: skip
    assert by_row.query_error is not None and by_row.query_error.persons is None
    assert "people" not in str(by_row)


def test_the_publisher_reads_rows_and_people_and_the_release_holds_no_count_of_people(
    frame: pl.DataFrame, job: dc.Job, tmp_path: Path
):
    release = dc.publish(frame, job, seed=1)
    place = release.save(tmp_path / "release", **UNATTACKED)
    both = f"{ROWS} of {ROWS} rows of {PEOPLE} people"
    assert both in "\n".join(
        published_lines(release.manifest, release.private, place, release.verdict(), "job.yaml")
    )
    assert both in (tmp_path / "release.private.html").read_text(encoding="utf-8")
    said = " ".join(explain_privately(release.manifest, release.private))
    assert f"{ROWS} rows of {PEOPLE} persons" in said
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "A person may have several rows" in page and f"of {PEOPLE} people" not in page


def test_a_comparison_keeps_all_rows_of_persons(frame: pl.DataFrame, job: dc.Job, tmp_path: Path):
    found = dc.compare(
        frame, job, methods=["mondrian", "local-recoding", "decomposition"], vary={"k": [3, 6]},
        queries=30, learning=True,
    )  # fmt: skip
    assert (found.rows, found.persons) == (ROWS, PEOPLE)
    assert {point.method for point in found.published} == {"mondrian", "local-recoding"}
    assert "99 of 100 people" in str(found)
    found.save(tmp_path)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert f"{ROWS} rows of {PEOPLE} people" in page
    by_label = {point.label: point for point in found.published}
    small, large = by_label["mondrian k=3"], by_label["mondrian k=6"]
    assert small.belief_99 is not None and large.belief_99 is not None
    assert small.belief_99 >= large.belief_99
