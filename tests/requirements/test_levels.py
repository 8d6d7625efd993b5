"""Requirements on kinds of values: naive counts, merging, and releases read by their files."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED
from tests.tables import coded_column, hierarchy_from_rows

import discreet as dc
from discreet.requirements.base import Domain
from discreet.requirements.diversity import DistinctLDiversity, PDiversity
from discreet.table.classes import Classes
from discreet.table.counts import count_classes
from discreet.table.roles import Role

ROWS = [["a", "x", "p"], ["b", "x", "p"], ["c", "y", "p"], ["d", "z", "q"], ["e", "z", "q"]]
PATH = {row[0]: row for row in ROWS}
TREE = {"diabetes": ["E10", "E11", "E13"], "heart": ["I20", "I21"], "lung": ["J40", "J45"]}
KIND = {value: kind for kind, values in TREE.items() for value in values}
SOME = {"age": {"role": "quasi-identifier", "type": "integer"},
        "ward": {"role": "quasi-identifier"}}  # fmt: skip


def judged(requirement, classes, values):
    column = coded_column("s", values, Role.SENSITIVE)
    domain = Domain.of(column, hierarchy_from_rows(column, ROWS))
    numbered = np.unique(classes, return_inverse=True)[1].astype(np.int32)
    counts = count_classes(Classes.of_numbers(numbered), [column])
    return requirement.check(counts, {"s": domain})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcde")), min_size=1, max_size=14),
    st.integers(1, 2),
    st.integers(1, 3),
)
def test_figures_agree_with_a_naive_count(rows, level, ell):
    classes, values = zip(*rows, strict=True)
    kinds = defaultdict(Counter)
    for number, value in rows:
        kinds[number][PATH[value][level]] += 1
    distinct = [len(one) for one in kinds.values()]
    found = judged(DistinctLDiversity(l=ell, level=level), classes, values)
    assert found.achieved["l"] == min(distinct)
    assert found.holds == all(figure >= ell for figure in distinct)
    spread = [Fraction(sum(one.values()), max(one.values())) for one in kinds.values()]
    found = judged(PDiversity(l=ell, level=level), classes, values)
    assert found.achieved["l"] == pytest.approx(float(min(spread)))
    assert found.holds == all(figure >= ell for figure in spread)
    merged = judged(PDiversity(l=ell, level=level), [0] * len(values), values)
    assert merged.holds or not found.holds  # closed under merging


def test_three_kinds_of_diabetes_are_one_kind():
    values = ["a", "b", "a", "b"]
    assert judged(DistinctLDiversity(l=2), [0] * 4, values).holds
    assert not judged(DistinctLDiversity(l=2, level=1), [0] * 4, values).holds


def test_without_its_hierarchy_nothing_passes():
    column = coded_column("s", ["a", "d"], Role.SENSITIVE)
    counts = count_classes(Classes.of_numbers(np.zeros(2, np.int32)), [column])
    for requirement in (DistinctLDiversity(l=1, level=1), PDiversity(l=1, level=1)):
        assert not requirement.check(counts, {"s": Domain.of(column)}).holds
        assert requirement.problems({"s": Domain.of(column)})


def patients(seed, rows=80):
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [draw.randint(20, 70) for _ in range(rows)],
            "ward": [draw.choice("fm") for _ in range(rows)],
            "d": [draw.choice(list(KIND)) for _ in range(rows)],
        }
    )


def job(method, requirement, hierarchy=None):
    d = {"role": "sensitive", "hierarchy": hierarchy or {"tree": TREE}}
    return dc.Job(attributes={**SOME, "d": d}, requirements=[requirement], method=method)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["mondrian", "full-domain", "local-recoding", "msa-diversity"]),
    st.booleans(),
)
def test_releases_keep_it_by_their_files_alone(tmp_path_factory, seed, method, distinct):
    """Derived from the files with nothing of ours: kinds by the manifest's own hierarchy."""
    name, ell = ("distinct-l-diversity", 3) if distinct else ("p-diversity", 1.5)
    asked = {name: {"l": ell, "attribute": "d", "level": 1}}
    place = tmp_path_factory.mktemp("levels") / "release"
    try:
        dc.publish(patients(seed), job(method, asked), seed=seed).save(
            place, report=False, **UNATTACKED
        )
    except dc.InfeasibleError:
        return
    manifest = json.loads((place / "manifest.json").read_text())
    kind = {row[0]: row[1] for row in manifest["attributes"]["d"]["hierarchy"]}
    assert kind == {value: KIND[value] for value in kind}
    groups = defaultdict(Counter)
    with (place / "records.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            groups[row["age"], row["ward"]][kind[row["d"]]] += 1
    for one in groups.values():
        held = len(one) >= ell if distinct else sum(one.values()) >= ell * max(one.values())
        assert held
    assert dc.audit(place).ok


def test_a_level_has_a_name_where_its_file_names_it(tmp_path):
    file = tmp_path / "icd.csv"
    file.write_text("".join(f"{value},{kind},*\n" for value, kind in KIND.items()))
    named = {"path": str(file), "levels": ["block", "all"]}
    asked = {"distinct-l-diversity": {"l": 2, "level": "block"}}
    release = dc.publish(patients(1), job("mondrian", asked, named), seed=1)
    (promise,) = release.audit.promises
    assert promise.parameters == {"l": 2, "level": 1}
    assert "2 different kinds (kinds: level 1 of its hierarchy)" in " ".join(release.explanation)
    wrong = {"distinct-l-diversity": {"l": 2, "level": "chapter"}}
    with pytest.raises(dc.JobError, match="levels 1 to 2 \\(block, all\\)"):
        dc.publish(patients(1), job("mondrian", wrong, named))


@pytest.mark.parametrize("method", ["anatomy", "decomposition"])
def test_other_methods_refuse_it(method):
    with pytest.raises(dc.JobError, match="at a level is met by"):
        job(method, {"distinct-l-diversity": {"l": 2, "level": 1}})


def test_m_diversity_has_no_level():
    with pytest.raises(dc.JobError, match="level"):
        job("mondrian", {"m-diversity": {"l": 2, "level": 1}})


def test_persons_with_several_rows_refuse_it():
    frame = patients(2).with_columns(person=pl.Series([f"p{n // 2}" for n in range(80)]))
    made = dc.Job(
        attributes={
            **SOME,
            "d": {"role": "sensitive", "hierarchy": {"tree": TREE}},
            "person": {"role": "identifier"},
        },
        person={"column": "person", "rows": "keep"},
        requirements=[{"distinct-l-diversity": {"l": 2, "level": 1}}],
        method="mondrian",
    )
    with pytest.raises(dc.JobError, match="cannot be judged on persons"):
        dc.publish(frame, made)


def test_a_forged_hierarchy_is_found_with_the_original(tmp_path):
    asked = {"distinct-l-diversity": {"l": 2, "level": 1}}
    frame, made = patients(3), job("mondrian", asked)
    place = dc.publish(frame, made, seed=1).save(tmp_path / "release", report=False, **UNATTACKED)
    file = place / "manifest.json"
    manifest = json.loads(file.read_text())
    for row in manifest["attributes"]["d"]["hierarchy"]:
        row[1] = f"kind of {row[0]}"
    file.write_text(json.dumps(manifest))
    from discreet.pipeline.prepare import prepare
    from discreet.releases.audit.audit import audit_folder

    problems = audit_folder(place, prepare(made, frame)).problems
    assert any("not as the job has it" in one for one in problems)


def test_check_counts_kinds_too():
    frame = patients(4)
    found = dc.check(frame, job=job("mondrian", {"distinct-l-diversity": {"l": 3, "level": 1}}))
    naive = defaultdict(set)
    for age, ward, value in frame.iter_rows():
        naive[age, ward].add(KIND[value])
    (one,) = found.requirements
    assert one.achieved["l"] == min(len(kinds) for kinds in naive.values())
