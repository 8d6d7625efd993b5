"""The quasi-sensitive method at its borders, and its figures on the real symptom table."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.paper_term_removal import remove_by_paper
from tests.real_data import real_data
from tests.saving import UNATTACKED

import discreet as dc
from discreet.io.knowledge import KnowledgeSource, read_knowledge
from discreet.knowledge.table import Terms, estimated_prior, link_terms
from discreet.methods.quasi_sensitive.quasi_sensitive import principles_of
from discreet.methods.quasi_sensitive.removal import (
    TermGroups,
    remove_terms,
)
from discreet.requirements.quasi_sensitive import QsTCloseness

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "quasi-sensitive"


def job(folder: Path, requirements, method=None, **symptoms) -> dc.Job:
    (folder / "e.csv").write_text("l,t\nflu,a\nflu,b\ncold,a\ngout,c\n")
    given = {
        "role": "quasi-sensitive",
        "multi_valued": "|",
        "knowledge": {"path": str(folder / "e.csv"), "label": "l", "term": "t"},
        **symptoms,
    }
    return dc.Job(
        attributes={"q": {"role": "quasi-identifier"}, "s": given},
        requirements=requirements,
        method=method or {"quasi-sensitive": {}},
    )


CLOSE = [{"qs-t-closeness": {"t": 0.3}}]


def test_one_row_of_one_value(tmp_path):
    frame = pl.DataFrame({"q": ["x"], "s": ["a"]})
    release = dc.publish(frame, job(tmp_path, CLOSE))
    assert release.tables["records"].rows() == [("x", "a")]
    assert release.private["method"]["suppressed_terms"] == 0


def test_rows_that_link_to_nothing_pass_and_are_counted(tmp_path):
    frame = pl.DataFrame({"q": ["x", "y"], "s": ["a|c", "unknown"]})
    release = dc.publish(frame, job(tmp_path, CLOSE))
    assert sorted(release.tables["records"]["s"]) == ["a|c", "unknown"]
    facts = release.private["method"]["attributes"]["s"]
    assert (facts["unlinked_rows"], facts["unknown_terms"]) == (2, 1)


def test_a_missing_cell_stays_empty(tmp_path):
    frame = pl.DataFrame({"q": ["x", "x"], "s": ["b", None]})
    release = dc.publish(frame, job(tmp_path, [{"qs-cl-diversity": {"c": 1, "l": 2}}]))
    assert sorted(release.tables["records"]["s"], key=str) == ["*", None]


def test_what_cannot_be_met_says_what_could(tmp_path):
    frame = pl.DataFrame({"q": ["x", "x"], "s": ["b", "c"]})
    with pytest.raises(dc.InfeasibleError, match="where every term is removed") as raised:
        dc.publish(frame, job(tmp_path, [{"qs-cl-diversity": {"c": 0.2, "l": 3}}]))
    (failure,) = raised.value.failures
    assert failure["feasible"] == {"c": pytest.approx(1.0)}


def test_groups_that_cannot_pass_are_suppressed(tmp_path):
    # α is nearly all on the flu, so "no terms" (1/3 each) is further from it than t allows
    frame = pl.DataFrame({"q": ["x"] * 20 + ["y"], "s": ["b"] * 20 + ["c"]})
    release = dc.publish(frame, job(tmp_path, [{"qs-t-closeness": {"t": 0.2}}]))
    assert release.manifest.suppressed_rows == 1
    assert release.private["method"]["unsolved_groups"] == 1
    prior = dc.publish(frame, job(tmp_path, [{"qs-t-closeness": {"t": 0.2, "weights": "prior"}}]))
    assert prior.manifest.suppressed_rows == 0


def test_a_term_that_reads_as_all_removed_is_refused(tmp_path):
    frame = pl.DataFrame({"q": ["x"], "s": ["a|*"]})
    with pytest.raises(dc.InputError, match="hold the term '\\*'"):
        dc.publish(frame, job(tmp_path, CLOSE))


def test_different_weights_on_one_attribute_are_refused(tmp_path):
    both = [*CLOSE, {"qs-cl-diversity": {"c": 2, "l": 2, "weights": "prior"}}]
    with pytest.raises(dc.JobError, match="different `weights`"):
        dc.publish(pl.DataFrame({"q": ["x"], "s": ["a"]}), job(tmp_path, both))


def test_what_a_job_lacks(tmp_path):
    with pytest.raises(dc.JobError, match="needs qs-cl-diversity"):
        job(tmp_path, [{"k-anonymity": {"k": 2}}])
    with pytest.raises(dc.JobError, match="is met by mondrian, quasi-sensitive, not by"):
        job(tmp_path, CLOSE, {"full-domain": {}})
    with pytest.raises(dc.JobError, match="'s' has no knowledge table"):
        job(tmp_path, CLOSE, knowledge=None)
    with pytest.raises(dc.JobError, match="for quasi-sensitive attributes, not for role"):
        job(tmp_path, [{"k-anonymity": {"k": 2}}], role="insensitive")


def test_two_attributes_with_their_own_tables(tmp_path):
    (tmp_path / "other.csv").write_text("l,t\nrich,yacht\nrich,bread\npoor,bread\n")
    one = job(tmp_path, [{"qs-cl-diversity": {"c": 1, "l": 2}}])
    bought = {
        "role": "quasi-sensitive",
        "multi_valued": "+",
        "knowledge": {"path": str(tmp_path / "other.csv"), "label": "l", "term": "t"},
    }
    both = dc.Job(
        attributes={**one.model_dump()["attributes"], "bought": bought},
        requirements=one.requirements,
        method=one.method,
    )
    frame = pl.DataFrame({"q": ["x"], "s": ["b"], "bought": ["bread+yacht"]})
    release = dc.publish(frame, both)
    assert release.tables["records"].rows() == [("x", "*", "bread")]
    assert release.private["method"]["suppressed_terms"] == 2


def test_the_example_publishes(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "example")
    job = dc.Job.load(tmp_path / "example" / "job.yaml")
    release = dc.publish(None, job, seed=1)
    release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(tmp_path / "release", knowledge=tmp_path / "example" / "diseases.csv").ok
    measured = dc.measure(tmp_path / "release", original=job, queries=50).to_dict(private=True)
    symptoms = measured["terms"]["symptoms"]
    assert symptoms["suppressed_terms"] == release.private["method"]["suppressed_terms"] > 0
    assert sum(symptoms["by_term"].values()) == symptoms["suppressed_terms"]
    assert sum(symptoms["by_row"]["published"].values()) == 120
    assert symptoms["belief_change"]["greatest"] <= 0.4
    assert "suppressed_terms" not in release.manifest.to_json()
    assert any("the knowledge table has" in sentence for sentence in release.explanation)


@pytest.mark.data
def test_first_solutions_on_the_real_symptom_table():
    """k = 5, t = 0.3, 5 terms a row: within 10 % of the optimum, the paper's orders far from it."""
    path = real_data("symptoms", "columbia.csv")
    given = KnowledgeSource(path=path.name, label="disease", term="symptom", weight="count")
    knowledge = read_knowledge(given, path.parent)
    assert (len(knowledge.labels), len(knowledge.terms)) == (134, 401)
    rng = np.random.default_rng(2)
    start = knowledge.term_start
    able = np.flatnonzero(np.diff(start) >= 5)
    drawn = [
        np.sort(rng.choice(knowledge.term[start[label] : start[label + 1]], 5, replace=False))
        for label in rng.choice(able, 500)
    ]
    groups = TermGroups(
        np.arange(101) * 5,
        np.arange(501) * 5,
        np.concatenate(drawn).astype(np.int32),
        knowledge.labels_of_term,
    )
    terms = Terms(groups.term_start, groups.term, pl.Series(knowledge.terms))
    links = link_terms(terms, knowledge)
    links = links.with_prior(estimated_prior(links, np.ones(500, np.int64)))
    asked = principles_of([QsTCloseness(t=0.3)], links)
    first = remove_terms(groups, asked, nodes=0)
    best = remove_terms(groups, asked, nodes=20_000)
    assert (best.status >= 2).all()
    assert 0.15 < best.cost.mean() < 0.2
    assert first.cost.mean() <= 1.1 * best.cost.mean()
    for adaptive in (True, False):
        by_paper = remove_by_paper(groups, asked, adaptive=adaptive, nodes=0)
        assert first.cost.mean() <= by_paper.cost.mean()


def test_the_sensitive_side_spares_harmless_values(tmp_path):
    """Ten of twelve rows have "none": no share of it must be bounded, that of "hiv" is."""
    frame = pl.DataFrame(
        {
            "q": [str(at % 4) for at in range(12)],
            "s": ["a|b|c"] * 12,
            "test": ["none", "hiv"] + ["none"] * 8 + ["flu", "none"],
        }
    )
    asked = [*CLOSE, {"p-diversity": {"l": 3, "attribute": "test"}}]
    given = job(tmp_path, CLOSE)

    def with_test(**values):
        attributes = {**given.attributes, "test": {"role": "sensitive", **values}}
        return dc.Job(attributes=attributes, requirements=asked, method=given.method)

    with pytest.raises(dc.InfeasibleError):
        dc.publish(frame, with_test(), seed=1)
    made = with_test(non_sensitive_values=["none"])
    place = dc.publish(frame, made, seed=1).save(tmp_path / "release", **UNATTACKED)
    records = pl.read_csv(place / "records.csv", infer_schema_length=0)
    assert records.height == 12
    for _, group in records.group_by("q"):
        for value in ("hiv", "flu"):
            assert 3 * (group["test"] == value).sum() <= group.height
