"""``dc.check``: a worked example, labels of other tools, persons, jobs, and wrong calls."""

from __future__ import annotations

import json

import polars as pl
import pytest

import discreet as dc

# Table 3 of "ℓ-diversity", with the cells of ARX ("130**", "<30") and of sdcMicro ("[40,50]", NA).
GENERALIZED = pl.DataFrame(
    {
        "zip": ["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4,
        "age": ["<30"] * 4 + ["[40,50]"] * 4 + ["*"] * 4,
        "condition": ["heart", "heart", "viral", "viral", "cancer", "heart", "viral", "viral"]
        + ["cancer"] * 4,
        "cost": [10, 20, 30, 40, 10, 20, 30, 40, 10, 20, 30, 40],
    }
)
ROLES = {"quasi": ["zip", "age"], "sensitive": ["condition", "cost"]}


def test_a_table_of_another_tool():
    found = dc.check(GENERALIZED, **ROLES, k=4, l=2)
    k, ell = found.requirements
    assert not found.ok
    assert k.holds
    assert k.achieved == {"k": 4}
    assert not ell.holds
    assert ell.by_attribute == {"condition": 1, "cost": 4}
    assert (ell.failing.classes, ell.failing.members, ell.failing.sizes) == (1, 4, {4: 1})


def test_the_result_as_text_page_and_json_never_has_a_sensitive_cell(tmp_path):
    found = dc.check(GENERALIZED, **ROLES, k=4, l=2, t=0.1, figures=True)
    page = found.save_page(tmp_path / "check.html").read_text()
    for shown in (str(found), page, json.dumps(found.to_dict())):
        assert "heart" not in shown
        assert "cancer" not in shown
    assert "Failing groups: 1 of 3, with 4 rows: 1 of size 4" in str(found)
    assert "condition equal, cost ordered" in str(found)
    assert "group_sizes" in found.charts()
    assert "2 of 3 requirements fail" in page


def test_without_requirements_the_figures_of_all_models():
    found = dc.check(GENERALIZED, **ROLES)
    assert found.ok
    assert found.figures["k-anonymity"] == {"": 4}
    assert found.figures["distinct-l-diversity"] == {"condition": 1, "cost": 4}
    assert found.figures["alpha-k-anonymity"] == {"condition": 1, "cost": 0.25}
    assert found.figures["multi-attribute-l-diversity"] == {"condition": 1, "cost": 1}
    assert found.to_dict()["figures"]["delta-disclosure"]["condition"] is None  # unbounded


def test_numbers_in_a_text_file_are_ordered_unless_the_call_says_otherwise(tmp_path):
    path = tmp_path / "table.csv"
    GENERALIZED.write_csv(path)
    assert dc.check(path, **ROLES).to_dict() == dc.check(GENERALIZED, **ROLES).to_dict()
    assert dc.check(path, **ROLES).distances == {"condition": "equal", "cost": "ordered"}
    equal = dc.check(path, **ROLES, distance={"cost": "equal"})
    assert equal.distances["cost"] == "equal"


def test_persons_are_counted_not_rows():
    """Nine rows of one patient are no class of nine."""
    frame = pl.DataFrame(
        {
            "zip": ["a"] * 9 + ["b"] * 3,
            "who": [1] * 9 + [2, 3, None],
            "ill": ["x", "y", "z"] * 3 + ["x", "y", "z"],
        }
    )
    roles = {"quasi": ["zip"], "sensitive": ["ill"]}
    assert dc.check(frame, **roles, k=3, l=3).ok
    found = dc.check(frame, **roles, k=3, l=3, person="who")
    assert [one.holds for one in found.requirements] == [False, False]
    assert [one.achieved for one in found.requirements] == [{"k": 1}, {"l": 1}]
    assert found.requirements[0].failing.sizes == {1: 1}
    assert found.persons.persons == 4
    assert found.persons.unnamed == 1
    assert "intersect" in found.remarks[0]
    assert "person" in found.sentence(found.requirements[0])
    with pytest.raises(dc.JobError, match="cannot be judged on persons"):
        dc.check(frame, **roles, requirements=[{"sa-diversity": {"l": {"ill": 2}}}], person="who")


JOB = """
attributes:
  name: {role: identifier}
  zip: {role: quasi-identifier, hierarchy: {mask: right}}
  age: {role: quasi-identifier, type: integer}
  condition: {role: sensitive, hierarchy: {tree: {bad: [heart, cancer], other: [viral]}},
    distance: hierarchical}
  cost: {role: sensitive, type: integer}
requirements:
  - k-anonymity: {k: 4}
  - t-closeness: {t: 0.5, attribute: condition}
"""


def test_the_roles_and_requirements_of_a_job(tmp_path):
    """A published table lacks the identifiers of its job, and its cells are no integers."""
    (tmp_path / "job.yaml").write_text(JOB)
    found = dc.check(GENERALIZED, tmp_path / "job.yaml", l=1)
    assert [one.requirement.name for one in found.requirements] == [
        "k-anonymity", "t-closeness", "distinct-l-diversity",
    ]  # fmt: skip
    assert found.distances == {"condition": "hierarchical", "cost": "ordered"}
    assert found.requirements[1].achieved["t"] == pytest.approx(3 / 12 / 2 + 4 / 12)


def test_kinds_of_values_by_a_level_of_the_job_s_hierarchy(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB.replace("distance: hierarchical", ""))
    kinds = {"distinct-l-diversity": {"l": 2, "level": 1, "attribute": "condition"}}
    found = dc.check(GENERALIZED, tmp_path / "job.yaml", requirements=[kinds])
    assert found.requirements[-1].by_attribute == {"condition": 1}
    assert found.requirements[-1].failing.sizes == {4: 1}  # cancer alone; others have two kinds


def test_multi_valued_attributes_become_bits():
    frame = pl.DataFrame({"zip": ["a", "a", "b", "b"], "drugs": ["x;y", "x", "y", ""]})
    job = dc.Job(
        attributes={
            "zip": {"role": "quasi-identifier"},
            "drugs": {"role": "sensitive", "multi_valued": ";"},
        },
        requirements=[dc.DistinctLDiversity(l=2)],
    )
    assert dc.check(frame, job).requirements[0].by_attribute == {"drugs=x": 1, "drugs=y": 2}


def test_masked_cells_are_a_value_and_said_so():
    frame = pl.DataFrame({"zip": ["a", "a"], "ill": ["*", "x"]})
    found = dc.check(frame, quasi=["zip"], sensitive=["ill"], l=2)
    assert found.ok
    assert found.remarks == (
        "Column 'ill': 1 cells are '*'. They count as one value of their own.",
    )


def test_a_requirement_that_covers_no_sensitive_attribute():
    found = dc.check(GENERALIZED, **ROLES, k=2)
    assert found.remarks == (
        "No requirement covers 'condition', 'cost': all rows of a group may have the same value.",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"quasi": []}, "name the quasi-identifiers"),
        ({"quasi": ["zap"]}, "no column 'zap'. Did you mean 'zip'"),
        ({"quasi": ["zip"], "sensitive": ["zip"]}, "two roles"),
        ({"quasi": ["zip"], "l": 2}, "needs a sensitive attribute"),
        ({"quasi": ["zip"], "k": 0}, "greater than or equal to 1"),
        ({"quasi": ["zip"], "requirements": ["k-anonimity"]}, "Did you mean k-anonymity"),
        ({"quasi": ["zip"], "distance": {"age": "equal"}}, "not a sensitive attribute"),
        ({"quasi": ["zip"], "table": "people"}, "for the URL of a database"),
        ({"quasi": ["zip"], "job": JOB}, "either a job"),
    ],
)
def test_wrong_calls(given, message):
    with pytest.raises(dc.InputError, match=message):
        dc.check(GENERALIZED, **given)


def test_the_tables_on_which_pycanon_differs():
    """Counted by hand; the page on checks lists what pycanon finds."""
    frame = pl.DataFrame({"age": list("aaabbb"), "ill": list("xyyxxz")})
    figures = dc.check(frame, quasi=["age"], sensitive=["ill"]).figures
    assert figures["k-anonymity"][""] == 3
    assert figures["distinct-l-diversity"]["ill"] == 2
    assert figures["alpha-k-anonymity"]["ill"] == pytest.approx(2 / 3)
    assert figures["t-closeness"]["ill"] == pytest.approx(1 / 3)
    assert figures["beta-likeness"]["ill"] == pytest.approx(1)
    assert figures["entropy-l-diversity"]["ill"] == pytest.approx(3 / 2 ** (2 / 3))  # 1.890
    assert figures["recursive-cl-diversity"]["ill"] == 2  # 2 rows of the first, 1 of all others
    assert figures["delta-disclosure"]["ill"] == float("inf")
    lone = pl.DataFrame({"age": ["a", "a", None], "ill": ["x", None, "y"]})
    found = dc.check(lone, quasi=["age"], sensitive=["ill"], k=1, l=2)
    assert [one.achieved for one in found.requirements] == [{"k": 1}, {"l": 1}]
    assert found.requirements[1].failing.sizes == {1: 1}  # a missing value makes two in the other
