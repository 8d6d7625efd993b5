"""``dc.apply``: a new batch at the levels of a release, proved alone and together with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app

JOB = """
source: {path: first.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi-identifier, type: integer, hierarchy: {intervals: [10, 20, "*"]}}
  zip: {role: quasi-identifier, hierarchy: {mask: right}}
  ill: {role: sensitive}
requirements:
  - k-anonymity: {k: 2}
  - t-closeness: {t: 0.5}
method: {full-domain: {suppression: 0.3}}
measure: none
"""
Person = tuple[int, str, str]
PEOPLE = st.lists(
    st.tuples(
        st.integers(20, 59),
        st.sampled_from(["101", "102", "201", "299"]),
        st.sampled_from(["flu", "gout", "ache"]),
    ),
    min_size=4,
    max_size=16,
)


def write(path: Path, people: list[Person], first: int = 0) -> Path:
    lines = [f"p{first + n},{a},{z},{i}" for n, (a, z, i) in enumerate(people)]
    path.write_text("\n".join(["name,age,zip,ill", *lines]) + "\n")
    return path


def recoded(levels: dict[str, int], age: int, code: str) -> tuple[str, str]:
    """The cells of a row, by hand."""
    width = (None, 10, 20)[levels["age"]] if levels["age"] < 3 else None
    cell = str(age) if levels["age"] == 0 else "*"
    if width:
        cell = f"[{age // width * width}, {age // width * width + width})"
    mask = levels["zip"]
    return cell, code if not mask else "*" if mask == 3 else code[:-mask] + "*" * mask


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(first=PEOPLE, second=PEOPLE)
def test_each_batch_and_all_rows_keep_the_guarantees(first, second, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    write(tmp_path / "first.csv", first)
    batch = write(tmp_path / "second.csv", second, first=len(first))
    job = tmp_path / "job.yaml"
    try:
        dc.publish(None, job).save(tmp_path / "release", force=True, **UNATTACKED)
        made = dc.apply(tmp_path / "release", batch, original=job)
    except dc.PromiseError:
        return
    made.save(tmp_path / "batch", force=True, **UNATTACKED)
    manifest = naive.read_manifest(tmp_path / "batch")
    levels = manifest["method"]["levels"]
    assert levels == naive.read_manifest(tmp_path / "release")["method"]["levels"]
    before = naive.read_csv(tmp_path / "release" / "records.csv")
    after = naive.read_csv(tmp_path / "batch" / "records.csv")
    expected = sorted((*recoded(levels, age, code), ill) for age, code, ill in second)
    published = sorted((row["age"], row["zip"], row["ill"]) for row in after)
    for row in published:  # each is a row of the batch, in the cells of the levels
        expected.remove(row)
    assert len(expected) == manifest["suppressed_rows"]
    for rows in (after, before + after):
        groups = naive.classes(rows, ["age", "zip"])
        assert naive.k_of(groups) >= 2
        assert naive.t_equal_of(groups, "ill") <= 0.5
    assert made.private["together"]["rows"] == len(before) + len(after)


FIRST = [(20 + n % 30, ("101", "102")[n % 2], ("flu", "gout", "ache")[n % 3]) for n in range(40)]


@pytest.fixture
def release(tmp_path) -> Path:
    (tmp_path / "job.yaml").write_text(JOB)
    write(tmp_path / "first.csv", FIRST)
    dc.publish(None, tmp_path / "job.yaml").save(tmp_path / "release", **UNATTACKED)
    return tmp_path / "release"


def test_the_command(release, monkeypatch):
    monkeypatch.chdir(release.parent)
    write(Path("second.csv"), FIRST, first=100)
    write(Path("third.csv"), FIRST, first=200)
    given = ("--original", "job.yaml", "--json")
    done = CliRunner().invoke(app, ["apply", "release", "second.csv", "-o", "second", *given])
    assert done.exit_code == 0, done.output
    more = ("-o", "third", "--beside", "second")
    done = CliRunner().invoke(app, ["apply", "release", "third.csv", *more, *given])
    assert done.exit_code == 0, done.output
    assert '"rows": 120' in done.stdout
    assert dc.audit("third").ok
    done = CliRunner().invoke(app, ["apply", "release", "third.csv", "-o", "third", *given])
    assert done.exit_code == 2  # it already exists


def test_a_small_batch_appears_only_where_it_is_safe_by_itself(release, tmp_path):
    """An attacker may know who is in the batch, so the earlier rows give no cover."""
    batch = write(tmp_path / "one.csv", FIRST[:1], first=100)
    with pytest.raises(dc.InfeasibleError, match="given levels"):
        dc.apply(release, batch, original=tmp_path / "job.yaml")


def test_persons_of_the_release_are_refused(release, tmp_path):
    batch = write(tmp_path / "again.csv", FIRST, first=39)
    with pytest.raises(dc.InputError, match="1 values of 'name' are among the rows"):
        dc.apply(release, batch, original=tmp_path / "job.yaml")


def test_a_changed_release_is_refused(release, tmp_path):
    records = release / "records.csv"
    records.write_text(records.read_text().replace("flu", "gout"))
    batch = write(tmp_path / "second.csv", FIRST, first=100)
    with pytest.raises(dc.AuditError, match="fails its audit"):
        dc.apply(release, batch, original=tmp_path / "job.yaml")


def test_a_hierarchy_that_depends_on_the_rows_is_refused(tmp_path):
    text = JOB.replace('{intervals: [10, 20, "*"]}', "automatic")
    text = text.replace("suppression: 0.3", "suppression: 0.3, levels: {age: 1, zip: 3}")
    (tmp_path / "job.yaml").write_text(text)
    write(tmp_path / "first.csv", FIRST)
    dc.publish(None, tmp_path / "job.yaml").save(tmp_path / "release", **UNATTACKED)
    batch = write(tmp_path / "old.csv", [(age + 33, z, i) for age, z, i in FIRST], first=100)
    with pytest.raises(dc.InputError, match="hierarchy of 'age' depends on the rows"):
        dc.apply(tmp_path / "release", batch, original=tmp_path / "job.yaml")


def test_only_full_domain_has_levels_to_apply(tmp_path):
    (tmp_path / "job.yaml").write_text(
        JOB.replace("full-domain: {suppression: 0.3}", "mondrian: {}")
    )
    write(tmp_path / "first.csv", FIRST)
    dc.publish(None, tmp_path / "job.yaml").save(tmp_path / "release", **UNATTACKED)
    with pytest.raises(dc.InputError, match="Only a release by full-domain"):
        dc.apply(tmp_path / "release", tmp_path / "first.csv", original=tmp_path / "job.yaml")


def test_rows_of_persons_cannot_be_counted_together(tmp_path):
    """The rows of a release do not show which belong to one person."""
    job = JOB + "person: {column: name, rows: keep}\n"
    (tmp_path / "job.yaml").write_text(job.replace("  - t-closeness: {t: 0.5}\n", ""))
    people = [(20 + n % 30, "101", "flu") for n in range(20)]
    write(tmp_path / "first.csv", people)
    dc.publish(None, tmp_path / "job.yaml").save(tmp_path / "release", **UNATTACKED)
    batch = write(tmp_path / "second.csv", people, first=100)
    with pytest.raises(dc.InputError, match="do not show which belong to one person.*collapse"):
        dc.apply(tmp_path / "release", batch, original=tmp_path / "job.yaml")


def test_members_of_sets_must_be_those_of_the_release(tmp_path):
    text = JOB.replace("ill: {role: sensitive}", 'ill: {role: sensitive, multi_valued: ";"}')
    (tmp_path / "job.yaml").write_text(text.replace("t: 0.5", "t: 0.9, attribute: ill"))
    people = [(age, code, f"{ill};cold" if age % 2 else ill) for age, code, ill in FIRST]
    write(tmp_path / "first.csv", people)
    dc.publish(None, tmp_path / "job.yaml").save(tmp_path / "release", **UNATTACKED)
    batch = write(tmp_path / "second.csv", people, first=100)
    made = dc.apply(tmp_path / "release", batch, original=tmp_path / "job.yaml")
    figures = made.private["together"]["requirements"][1]["by_attribute"]
    assert set(figures) == {"ill=ache", "ill=cold", "ill=flu", "ill=gout"}
    batch = write(tmp_path / "third.csv", [*people, (30, "101", "plague")] * 2, first=200)
    with pytest.raises(dc.InputError, match="'ill=plague': sets of new rows have other members"):
        dc.apply(tmp_path / "release", batch, original=tmp_path / "job.yaml")
