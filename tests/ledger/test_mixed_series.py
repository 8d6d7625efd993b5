"""Releases of the same people by several methods: no guarantee of one is one of all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc


def frame(rows: list[tuple[str, int, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["name", "age", "ill"], orient="row")


@pytest.fixture
def job(tmp_path: Path) -> Any:
    settings = dc.LedgerSettings(path=tmp_path / "people.ledger").located(tmp_path)
    with dc.Ledger.create(settings):
        pass

    def make(method: Any, requirements: Any = (), **ledger: Any) -> dc.Job:
        return dc.Job(
            attributes={
                "name": {"role": "identifier"},
                "age": {"role": "quasi-identifier", "type": "integer"},
                "ill": {"role": "sensitive"},
            },
            requirements=list(requirements),
            method=method,
            ledger=settings.model_copy(update=ledger),
        )

    return make


LEAVING = [("N0", 20, "v3"), ("N1", 21, "v1"), ("N2", 22, "v3")]
BUCKETS = {"msa-diversity": {"publish": "buckets"}}
DIVERSE = [{"p-diversity": {"l": 1.5}}]


def test_counts_of_values_differ_though_the_values_do_not(job: Any, tmp_path: Path):
    """N2 left: the values of the others leave one row, so N2's value is certain."""
    dc.publish(frame(LEAVING), job(BUCKETS, DIVERSE), seed=1).save(tmp_path / "r1", **UNATTACKED)
    with pytest.raises(dc.AuditError, match="3 records would be in groups that have some value"):
        dc.publish(frame(LEAVING[:2]), job({"m-invariance": {"m": 2}}), seed=1)


def test_who_left_is_a_target_and_no_series_of_others_keeps_its_guarantees(
    job: Any, tmp_path: Path
):
    made = job(BUCKETS, DIVERSE)
    dc.publish(frame(LEAVING), made, seed=1).save(tmp_path / "r1", **UNATTACKED)
    again = dc.publish(frame(LEAVING[:2]), job(BUCKETS, DIVERSE), seed=1)
    again.save(tmp_path / "r2", **UNATTACKED)
    assert "WARNING: 2 records are also in earlier releases" in again.private["series"][0]
    assert "of 1 records that no single release reveals" in again.private["series"][1]
    found = dc.audit_series(ledger=made.ledger)
    assert not found.ok and not found.covered
    assert "'ill' of 1 records with more than a release guarantees" in found.problems[0]
    by_name = {attack.attack: attack for attack in found.attacks}
    assert by_name["value-association"].targets == 3
    assert by_name["value-association"].certain == 1
    assert "keeps its guarantees" not in str(found)


def test_rows_that_are_left_of_who_left_are_counted(job: Any, tmp_path: Path):
    dc.publish(frame(LEAVING), job(BUCKETS, DIVERSE, bcf_anonymity=2), seed=1).save(
        tmp_path / "r1", **UNATTACKED
    )
    with pytest.raises(dc.AuditError, match="fewer than 2 rows for 1 records, down to 1"):
        dc.publish(frame(LEAVING[:2]), job(BUCKETS, DIVERSE), seed=1)


@pytest.mark.parametrize("method", ["mondrian", {"msa-diversity": {}}, "local-recoding"])
def test_generalized_releases_of_the_same_people_are_judged(job: Any, tmp_path: Path, method: Any):
    """Three releases of other ages each: the groups of a record meet in the record alone."""
    values = ["a", "b", "c", "a", "b", "c"]
    asked = [{"k-anonymity": {"k": 2}}, {"p-diversity": {"l": 2}}]
    for number, order in enumerate([(0, 1, 2, 3, 4, 5), (0, 2, 4, 1, 3, 5), (0, 3, 1, 5, 2, 4)]):
        rows = [(f"P{n}", 20 + 10 * place, values[n]) for place, n in enumerate(order)]
        made = job(method, asked)
        dc.publish(frame(rows), made, seed=1).save(tmp_path / f"r{number}", **UNATTACKED)
    found = dc.audit_series(ledger=made.ledger)
    assert all(audit.ok for audit in found.audits) and len(found.audits) == 3
    assert not found.covered and found.invariance.returning == 6
    assert found.together[0].targets == 6
    assert "keeps its guarantees." not in str(found)
    if found.together[0].greatest > 0.5:
        assert not found.ok
    assert found.to_dict()["covered"] is False


def test_files_with_other_groups_than_the_ledger_records_are_found(job: Any, tmp_path: Path):
    rows = [(f"P{n}", 20 + n, "ab"[n % 2]) for n in range(8)]
    made = job("mondrian", [{"k-anonymity": {"k": 2}}, {"p-diversity": {"l": 2}}])
    dc.publish(frame(rows), made, seed=1).save(tmp_path / "r1", **UNATTACKED)
    assert dc.audit_series(ledger=made.ledger).ok
    other = made.model_copy(update={"ledger": None, "requirements": (dc.KAnonymity(k=8),)})
    dc.publish(frame(rows), other, seed=1).save(tmp_path / "r2", **UNATTACKED)
    (tmp_path / "r1").rename(tmp_path / "gone")
    (tmp_path / "r2").rename(tmp_path / "r1")
    found = dc.audit_series(ledger=made.ledger)
    assert "release 1: its files have other groups than the ledger records" in found.problems


def test_people_who_do_not_come_back_need_no_guarantee_together(job: Any, tmp_path: Path):
    for number in range(2):
        rows = [(f"P{number}{n}", 20 + n, "ab"[n % 2]) for n in range(8)]
        made = job("mondrian", [{"k-anonymity": {"k": 2}}])
        release = dc.publish(frame(rows), made, seed=1)
        release.save(tmp_path / f"r{number}", **UNATTACKED)
        assert "series" not in release.private
    found = dc.audit_series(ledger=made.ledger)
    assert found.ok and found.covered


def test_attributes_that_no_guarantee_covers_are_named(job: Any, tmp_path: Path):
    both = [("N0", 20, "a", "x"), ("N1", 21, "b", "y"), ("N2", 22, "a", "y"), ("N3", 23, "b", "x")]
    schema = ["name", "age", "ill", "drug"]
    made = job(BUCKETS, [{"p-diversity": {"l": 2}}])
    attributes = {**made.attributes, "drug": made.attributes["ill"]}
    made = made.model_copy(update={"attributes": attributes})
    for number in range(2):
        table = pl.DataFrame(both, schema=schema, orient="row")
        dc.publish(table, made, seed=number).save(tmp_path / f"r{number}", **UNATTACKED)
    found = dc.audit_series(ledger=made.ledger)
    assert {one.attribute for one in found.together} == {"ill", "drug"}
    assert not found.covered


def test_a_generalized_release_may_precede_a_rho_different_one(job: Any, tmp_path: Path):
    rows = [("N0", 20, "v1"), ("N1", 21, "v2"), ("N2", 22, "v3"), ("N3", 23, "v4")]
    stay = {"rho-different": {"rho": 0.5, "unstated": "stay", "domain": ["v1", "v2", "v3", "v4"]}}
    dc.publish(frame(rows), job({"mondrian": {}}, DIVERSE), seed=1).save(
        tmp_path / "r1", **UNATTACKED
    )
    made = job(stay)
    dc.publish(frame(rows), made, seed=1).save(tmp_path / "r2", **UNATTACKED)
    found = dc.audit_series(ledger=made.ledger)
    assert found.ok
    assert found.rho == 0.5
    assert found.joint is not None and max(found.joint.greatest) <= 0.5
