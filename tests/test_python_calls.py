"""The Python calls of the contract, on each kind of frame."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.saving import UNATTACKED

import discreet as dc

ROWS = {
    "name": [f"p{i}" for i in range(12)],
    "zip": ["13053", "13068", "13068", "13053", "14853", "14853", "14850", "14850", "13053",
            "13053", "13068", "13068"],
    "age": [28, 29, 21, 23, 50, 55, 47, 49, 31, 37, 36, 35],
    "condition": ["heart", "heart", "viral", "viral", "cancer", "heart", "viral", "viral", "cancer",
                  "cancer", "cancer", "cancer"],
}  # fmt: skip


def job(**changes) -> dc.Job:
    described = {
        "attributes": {
            "name": {"role": "identifier"},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20, 40, "*"]}},
            "condition": {"role": "sensitive"},
        },
        "requirements": [dc.KAnonymity(k=4)],
        "method": dc.FullDomain(),
    }
    return dc.Job(**{**described, **changes})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, pl.LazyFrame])
def test_the_kind_of_frame_that_comes_in_goes_out(make, tmp_path):
    frame = make(ROWS)
    release = dc.publish(frame, job(), seed=1)
    records = release.tables["records"]
    assert type(records) is type(frame)
    assert release.audit.ok
    assert release.manifest.promises[0].achieved["k"] >= 4
    release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(tmp_path / "release").ok
    measured = dc.measure(release, original=frame)
    assert measured.loss == pytest.approx(release.private["utility"]["loss"])
    assert dc.measure(tmp_path / "release", original=frame, job=job()).loss == measured.loss


def test_results_print_and_render(tmp_path):
    release = dc.publish(pl.DataFrame(ROWS), job())
    assert "at least 4 people" in str(release)
    assert "<table>" in release._repr_html_()
    assert "loss" in str(dc.measure(release, original=None))


def test_every_result_has_data_a_page_charts_and_html(tmp_path):
    frame = pl.DataFrame(ROWS)
    release = dc.publish(frame, job())
    results = [
        release,
        release.audit,
        dc.attack(release, original=None, attacks=["homogeneity"]),
        dc.measure(release, original=None),
        dc.compare(frame, job(), methods=["mondrian"]),
        dc.check(frame, job(), figures=True),
        dc.profile(frame, job()),
        dc.profile(frame),
        dc.explore_projections(frame, job(requirements=[])),
    ]
    for number, result in enumerate(results):
        assert isinstance(result, dc.Result)
        assert json.loads(json.dumps(result.to_dict()))
        page = result.save_page(tmp_path / f"{number}.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")
        assert "<section" in result._repr_html_()
        assert all("vega-lite" in chart["$schema"] for chart in result.charts().values())


def test_the_page_of_a_release_is_the_publisher_s(tmp_path):
    release = dc.publish(pl.DataFrame(ROWS), job())
    page = release.save_page(tmp_path / "signed.html")
    assert page.stat().st_mode & 0o077 == 0
    assert release.to_dict()["promises"][0]["requirement"] == "k-anonymity"


def test_a_profile_prints_its_tables():
    assert "re-identification risk" in str(dc.profile(pl.DataFrame(ROWS), job()))


def test_another_method_must_fit_the_job():
    assert job().using("mondrian").method == dc.Mondrian()
    assert job().using({"anatomy": {"l": 2}}).requirements == job().requirements
    with pytest.raises(dc.JobError, match="needs qs-cl-diversity or qs-t-closeness"):
        job().using(dc.QuasiSensitive())
    with pytest.raises(dc.JobError, match="Did you mean mondrian"):
        job().using("mondrain")


def test_a_series_needs_its_ledger_or_persons(tmp_path):
    with pytest.raises(dc.InputError, match="either its ledger or a table of persons"):
        dc.audit_series([tmp_path])
    with pytest.raises(dc.InputError, match="either folders or a ledger"):
        dc.audit_series([tmp_path], ledger=tmp_path / "people.ledger")


def test_a_manifest_of_a_newer_format_is_refused_with_what_to_do(tmp_path):
    place = (
        dc.publish(pl.DataFrame(ROWS), job()).save(tmp_path / "release", **UNATTACKED)
        / "manifest.json"
    )
    written = place.read_text(encoding="utf-8").replace('"format": 1', '"format": 2')
    place.write_text(written, encoding="utf-8")
    with pytest.raises(dc.ReleaseError, match="format 2.*reads format 1.*Update discreet"):
        dc.Manifest.load(tmp_path / "release")


def test_values_are_frozen_and_validated():
    with pytest.raises(ValueError, match="frozen"):
        dc.KAnonymity(k=4).k = 1
    with pytest.raises(dc.JobError, match="greater than or equal to 1"):
        dc.KAnonymity(k=0)
    with pytest.raises(dc.JobError) as caught:
        job(requirements=[{"k-anonymity": {"k": "many"}}], method={"full-domain": {"tea": 1}})
    assert len(caught.value.problems) == 2


def test_minimal_nodes_of_the_lattice():
    nodes = dc.minimal_nodes(pl.DataFrame(ROWS), job())
    assert nodes
    for node in nodes:
        assert set(node) == {"zip", "age"}


def test_columns_of_a_frame_must_match_the_job():
    with pytest.raises(dc.JobError, match="'condition'"):
        dc.publish(pl.DataFrame(ROWS).drop("condition"), job())


def test_a_value_that_looks_like_notation_is_refused_unless_escaped():
    rows = {**ROWS, "zip": ["*", *ROWS["zip"][1:]]}
    with pytest.raises(dc.InputError, match="'zip'.*escape: true"):
        dc.publish(pl.DataFrame(rows), job(requirements=[]))
    attributes = {
        "name": {"role": "identifier"},
        "zip": {"role": "quasi-identifier", "hierarchy": "suppress", "escape": True},
        "age": {"role": "drop"},
        "condition": {"role": "sensitive"},
    }
    release = dc.publish(pl.DataFrame(rows), job(attributes=attributes, requirements=[]))
    assert "\\*" in release.tables["records"]["zip"].to_list()
    assert release.audit.ok


def test_a_value_alone_in_its_node_is_escaped_at_every_level():
    rows = {"sign": ["[1, 2]"] * 3 + ["plain", "other"] * 2, "s": list("xyxyxyx")}
    tree = {"all": {"[1, 2]": ["[1, 2]"], "words": ["plain", "other"]}}
    attributes = {
        "sign": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "escape": True},
        "s": {"role": "sensitive"},
    }
    release = dc.publish(
        pl.DataFrame(rows), job(attributes=attributes, requirements=[dc.KAnonymity(k=3)])
    )
    assert sorted(set(release.tables["records"]["sign"])) == ["\\[1, 2]", "words"]
    assert release.audit.ok


def test_leading_zeros_and_nulls_survive(tmp_path):
    rows = {"code": ["007", "007", None, None], "s": ["x", "y", None, "x"]}
    attributes = {"code": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    release = dc.publish(
        pl.DataFrame(rows), job(attributes=attributes, requirements=[dc.KAnonymity(k=2)])
    )
    records = release.tables["records"]
    assert sorted(records["code"].to_list(), key=str) == ["007", "007", None, None]
    release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(tmp_path / "release").ok


def test_one_row_and_no_quasi_identifier():
    attributes = {"s": {"role": "sensitive"}}
    release = dc.publish(pl.DataFrame({"s": ["x"]}), job(attributes=attributes, requirements=[]))
    assert release.tables["records"]["s"].to_list() == ["x"]


def test_hierarchical_distance_is_audited_from_the_manifest(tmp_path):
    attributes = {
        "name": {"role": "identifier"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "age": {"role": "drop"},
        "condition": {
            "role": "sensitive",
            "distance": "hierarchical",
            "hierarchy": {"tree": {"chronic": ["heart", "cancer"], "acute": ["viral"]}},
        },
    }
    requirement = dc.TCloseness(t=0.4)
    release = dc.publish(pl.DataFrame(ROWS), job(attributes=attributes, requirements=[requirement]))
    release.save(tmp_path / "release", **UNATTACKED)
    found = dc.audit(tmp_path / "release")
    assert found.ok
    assert found.promises[0].achieved == release.audit.promises[0].achieved


def test_a_place_that_no_ledger_has_is_refused():
    with pytest.raises(dc.InputError, match="ledger: .*ftp"):
        dc.audit_series(ledger="ftp://example.org/ledger")
    with pytest.raises(dc.InputError, match="ledger: .*ftp"):
        job().with_ledger("ftp://example.org/ledger")


def test_a_job_may_be_the_path_of_its_file(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(
        "attributes: {age: {role: quasi-identifier, type: integer}, condition: {role: sensitive}}\n"
        "requirements: [{k-anonymity: {k: 3}}]\nmethod: mondrian\n"
    )
    frame = pl.DataFrame(ROWS).select("age", "condition")
    assert dc.publish(frame, path).manifest.promises[0].achieved["k"] >= 3
    assert dc.profile(frame, path).quasi_identifiers == ("age",)
