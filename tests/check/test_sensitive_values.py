"""``check`` where some values of a sensitive attribute may be disclosed."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app

# two classes: one without a secret, one with three values of which two are secrets
FRAME = pl.DataFrame(
    {
        "sex": ["f"] * 4 + ["m"] * 4,
        "test": ["none"] * 4 + ["none", "none", ">=7", "hiv"],
    }
)


def checked(**more):
    return dc.check(FRAME, quasi=["sex"], sensitive=["test"], **more)


@pytest.mark.parametrize(
    "values",
    [{"harmless_values": {"test": ["none"]}}, {"sensitive_values": {"test": [">=7", "hiv"]}}],
)
def test_requirements_cover_the_sensitive_values(values):
    assert not checked(l=3).ok
    found = checked(l=3, **values)
    assert found.ok
    assert found.requirements[0].requirement.coverage.spared == ("none",)
    asked = [{"p-diversity": {"l": 3}}]
    assert checked(requirements=asked, **values).ok
    assert not checked(requirements=[{"p-diversity": {"l": 5}}], **values).ok


def test_figures_are_those_of_classes_with_a_sensitive_value():
    plain = checked(figures=True).figures
    spared = checked(figures=True, harmless_values={"test": ["none"]}).figures
    assert plain["distinct-l-diversity"] == {"test": 1}
    assert spared["distinct-l-diversity"] == {"test": 3}
    assert plain["p-diversity"] == {"test": 1}
    assert spared["p-diversity"] == {"test": 4}  # one of four rows
    assert spared["alpha-k-anonymity"] == {"test": 0.25}
    assert spared["entropy-l-diversity"]["test"] == pytest.approx(4)
    none = checked(figures=True, sensitive_values={"test": []}).figures
    assert none["p-diversity"] == {}


def test_figures_of_several_attributes_do_not_meet_at_their_harmless_values():
    frame = FRAME.with_columns(job=pl.Series(["x", "x", "y", "y"] * 2))
    found = dc.check(
        frame, quasi=["sex"], sensitive=["test", "job"], figures=True,
        harmless_values={"test": ["none"]},
    ).figures  # fmt: skip
    # 'm' and 'y' leave {>=7, hiv}; all else leaves 'none' alone
    assert found["multi-attribute-l-diversity"]["test"] == 2
    assert found["multi-attribute-l-diversity"]["job"] == 1


def test_persons_are_judged_by_the_stricter_form_where_no_other_exists():
    frame = FRAME.with_columns(person=pl.Series(range(8)))
    asked = {"quasi": ["sex"], "sensitive": ["test"], "person": ["person"]}
    spared = {"harmless_values": {"test": ["none"]}}
    assert dc.check(frame, **asked, requirements=[{"p-diversity": {"l": 3}}], **spared).ok
    assert not dc.check(frame, **asked, l=2, **spared).ok  # matching counts all values


def test_options_name_values_with_commas_and_equals_signs(tmp_path):
    path = tmp_path / "table.csv"
    FRAME.write_csv(path)
    base = ["check", str(path), "--quasi", "sex", "--sensitive", "test", "--l", "3"]
    run = CliRunner().invoke
    assert run(app, base).exit_code == 1
    assert run(app, [*base, "--harmless-values", "test=none"]).exit_code == 0
    found = run(app, [*base, "--sensitive-values", "test=>=7,hiv", "--json"])
    assert found.exit_code == 0
    (one,) = json.loads(found.stdout)["requirements"]
    assert one["parameters"]["non_sensitive"] == ["none"]


def test_a_value_that_does_not_occur_and_a_column_without_a_role_are_refused():
    with pytest.raises(dc.JobError, match="does not occur"):
        checked(l=2, harmless_values={"test": ["nothing"]})
    with pytest.raises(dc.JobError, match="'sex': it is not a sensitive attribute"):
        checked(l=2, harmless_values={"sex": ["f"]})
    with pytest.raises(dc.JobError, match="not both"):
        checked(l=2, harmless_values={"test": ["none"]}, sensitive_values={"test": ["hiv"]})
    job = {"attributes": {"sex": {"role": "quasi-identifier"}, "test": {"role": "sensitive"}}}
    with pytest.raises(dc.InputError, match="already names the roles"):
        dc.check(FRAME, job, harmless_values={"test": ["none"]})
