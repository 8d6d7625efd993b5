"""What engines share: counted tables, first cuts, random numbers, without any engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.engines.conftest import EXACT_METHODS, job_text, write_people

from discreet.addons.spark.cuts_from_sample import top_cuts
from discreet.addons.spark.parts import CODED, fingerprint, in_codes, row_hashes
from discreet.addons.spark.recording import permuted
from discreet.job.model import Job
from discreet.methods.base import Task
from discreet.pipeline.prepare import prepare
from discreet.requirements.closeness import TCloseness
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import CodedTable


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_every_number_is_taken_once(size):
    numbers = permuted(np.arange(size), size, 11)
    assert sorted(numbers.tolist()) == list(range(size))
    assert size < 64 or (numbers != np.arange(size)).any()


def test_the_order_depends_on_the_key():
    assert permuted(np.arange(100), 100, 1).tolist() != permuted(np.arange(100), 100, 2).tolist()


@pytest.mark.parametrize("name", EXACT_METHODS)
def test_a_counted_table_leads_to_the_same_choice(tmp_path, name):
    write_people(tmp_path / "people.csv", 800)
    job = Job.parse(job_text(name), folder=tmp_path)
    task = prepare(job, rng=np.random.default_rng(0))
    bare = {c.name: c for c in task.table if c.name != "note"}
    whole = replace(task, table=CodedTable(bare, task.table.rows))
    codes = np.stack([c.codes for c in bare.values()], axis=1)
    distinct, weights = np.unique(codes, axis=0, return_counts=True)
    columns = {
        n: replace(c, codes=distinct[:, i].astype(np.int32))
        for i, (n, c) in enumerate(bare.items())
    }
    counted = CodedTable(columns, len(distinct)).counted(weights.astype(np.int64))
    assert counted.rows == task.table.rows
    facts = job.method.run(whole).facts
    found = job.method.run(replace(task, table=counted)).facts
    assert found.pop("cost", 0) == pytest.approx(facts.pop("cost", 0))
    assert str(found) == str(facts)


def cut(tmp_path, requirements) -> tuple[Task, object, np.ndarray]:
    write_people(tmp_path / "people.csv", 2000)
    task = prepare(Job.parse(job_text("mondrian"), folder=tmp_path))
    tree = top_cuts(replace(task, requirements=requirements), 200)
    quasi = [column.codes for column in task.table.quasi_identifiers]
    return task, tree, tree.parts_of(quasi, task.table.rows)


def test_first_cuts_make_parts_of_at_least_the_given_size(tmp_path):
    _, tree, part = cut(tmp_path, [KAnonymity(k=2)])
    sizes = np.bincount(part, minlength=tree.parts)
    assert tree.parts > 3
    assert sizes.min() >= 200
    assert sizes.max() < 800


def test_a_cut_that_is_taken_back_leaves_its_sides_together(tmp_path):
    task, tree, part = cut(tmp_path, [KAnonymity(k=2), TCloseness(t=0.5)])
    failing = np.zeros(tree.parts, bool)
    failing[part[0]] = True
    fewer, new = tree.without(failing)
    assert fewer.parts < tree.parts
    quasi = [column.codes for column in task.table.quasi_identifiers]
    assert fewer.parts_of(quasi, task.table.rows).tolist() == new[part].tolist()
    assert sorted(set(new.tolist())) == list(range(fewer.parts))


def test_text_is_exchanged_in_codes(tmp_path):
    pytest.importorskip("pyspark")
    from discreet.addons.spark.exchange import exchange, received

    few = pl.Series(["b", None, "", "not used"])
    coded = pl.DataFrame({"x": in_codes(few, np.array([0, 1, 2, 0])), "y": [1, 2, 3, 4]})
    others = pl.DataFrame({"x": in_codes(pl.Series(["c", "b"]), np.array([0, 1])), "y": [5, 6]})
    empty = pl.DataFrame({"x": in_codes(few[1:2], np.array([0, 0])), "y": [7, 8]})
    text = pl.DataFrame({"x": ["q", None], "y": [9, 10]})
    assert coded["x"].dtype == pl.Enum
    files = [
        exchange(frame, np.array(target), 2, tmp_path)
        for frame, target in [(coded, [0, 1, 1, 0]), (others, [1, 1]), (empty, [1, 0]),
                              (text, [1, 1])]
    ]  # fmt: skip
    first = received(files, [0])
    assert first["x"].dtype == pl.Enum
    assert first.cast({"x": pl.String}).rows() == [("b", 1), ("b", 4), (None, 8)]
    second = received(files, [1])  # one of the files has text
    assert second.rows() == [
        (None, 2), ("", 3), ("c", 5), ("b", 6), (None, 7), ("q", 9), (None, 10),
    ]  # fmt: skip
    assert received(files[1:2], [0]) is None


def test_many_values_stay_text():
    many = pl.Series([f"{n}" for n in range(CODED + 1)])
    assert in_codes(many, np.array([3, 0])).to_list() == ["3", "0"]
    assert in_codes(many, np.array([3])).dtype == pl.String
    assert in_codes(many[1:], np.array([3])).dtype == pl.Enum


def test_rows_have_one_hash_whatever_the_types_of_their_cells():
    text = pl.DataFrame({"a": ["x", None, "", "x"], "b": ["1", "2", "1", "1"]})
    typed = text.with_columns(pl.col("a").cast(pl.Enum(["", "x"])), pl.col("b").cast(pl.Int64))
    hashes = row_hashes(text, 1)
    assert hashes.to_list() == row_hashes(typed, 1).to_list()
    assert hashes.n_unique() == 3
    assert fingerprint(text) == fingerprint(typed[::-1])
    assert fingerprint(text) != fingerprint(text[:3])
    assert fingerprint(text) != fingerprint(text.select("b", "a"))
