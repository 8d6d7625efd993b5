"""Attackers as a job writes them, what is wrong with them, and what a release says of them."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dc
from discreet.pipeline.run import make_release

ROLES = """
attributes:
  age: {role: quasi-identifier, type: integer}
  zip: {role: quasi-identifier, hierarchy: {mask: right}}
  sex: {role: quasi-identifier, hierarchy: suppress}
  ill: {role: sensitive}
  pay: {role: sensitive}
"""


def problems(text):
    with pytest.raises(dc.JobError) as found:
        dc.Job.parse(ROLES + text)
    return list(found.value.problems)


def table(rows=60):
    return pl.DataFrame(
        {
            "age": [20 + i % 13 for i in range(rows)],
            "zip": [f"10{i % 7}" for i in range(rows)],
            "sex": ["f" if i % 3 else "m" for i in range(rows)],
            "ill": ["flu" if i % 2 else "gout" for i in range(rows)],
            "pay": [str(i % 4) for i in range(rows)],
        }
    )


def test_all_forms_of_an_attacker_are_read():
    job = dc.Job.parse(
        ROLES + "attackers:\n  a: [age, zip]\n  b: {any: 2}\n  c: {any: 1, of: [age, sex]}\n"
        "  d: {columns: zip, knows: pay}\n"
    )
    assert job.attackers.declared["a"].columns == ("age", "zip")
    assert job.attackers.declared["b"].any == 2
    assert job.attackers.declared["d"].knows == ("pay",)
    sets = [set(one.key_sets(["age", "zip", "sex"])) for one in job.attackers.declared.values()]
    assert sets == [
        {("age", "zip")},
        {("age", "zip"), ("age", "sex"), ("zip", "sex")},
        {("age",), ("sex",)},
        {("zip",)},
    ]


def test_each_problem_has_its_place():
    found = problems(
        "attackers:\n  a: [age, ill]\n  b: {any: 2, knows: sex}\n"
        "requirements:\n  - k-anonymity: {k: 2}\n"
    )
    assert found == [
        "line 9, attackers.a: 'ill' is not a quasi-identifier attribute. Allowed: 'age', 'zip', "
        "'sex'.",
        "line 10, attackers.b: 'sex' is not a sensitive attribute. Allowed: 'ill', 'pay'.",
    ]
    (found,) = problems("attackers:\n  a: {any: 0}\n")
    assert found.startswith("line 9, attackers.a.any: Input should be greater than or equal to 1")
    (found,) = problems("attackers:\n  a: {knows: ill}\n")
    assert found.startswith("line 9, attackers.a: an attacker knows a list of columns")
    (found,) = problems("attackers:\n  a: {anny: 2}\n")
    assert found == "line 9, attackers.a.anny: unknown key. Did you mean any?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "requirements:\n  - lkc-privacy: {l: 2, k: 2, c: 0.9}\nmethod: anatomy\n",
            "for attackers who know some columns is met by full-domain, mondrian",
        ),
        (
            "attackers: {a: [age]}\nrequirements:\n  - k-map: {k: 2}\n",
            "k-map is not judged for attackers who know some columns",
        ),
        (
            "requirements:\n  - k-anonymity: {k: 2, attackers: {a: [pay]}}\n",
            "attackers.a: 'pay' is not a quasi-identifier attribute",
        ),
        (
            "attackers: {a: {any: 1, knows: pay}}\nrequirements:\n"
            "  - multi-attribute-l-diversity: {l: 2}\n",
            "already assumes that other sensitive values are known",
        ),
        (
            "requirements:\n  - lkc-privacy: {l: 2, k: 2, c: 0.9, attackers: {a: [age]}}\n",
            "'l' says what attackers know",
        ),
        (
            "attackers: {a: {any: 1, knows: pay}, b: {columns: zip, knows: [pay, ill]}}\n"
            "requirements:\n  - p-diversity: {l: 2, attribute: pay}\n",
            "p-diversity protects 'pay', which every attacker that it holds for already knows",
        ),
    ],
)
def test_what_cannot_hold_for_attackers_is_refused(text, said):
    assert any(said in line for line in problems(text)), problems(text)


def test_a_release_names_its_attackers_and_bounds_no_other():
    job = dc.Job.parse(
        ROLES + "attackers:\n  neighbour: [age, sex]\n  survey: {any: 1, knows: pay}\n"
        "requirements:\n  - k-anonymity: {k: 3}\nmethod: full-domain\n"
    )
    release = make_release(table(), job, seed=1)
    (promise,) = release.manifest.promises
    assert promise.parameters["attackers"] == {
        "neighbour": {"columns": ["age", "sex"], "knows": []},
        "survey": {"any": 1, "of": ["age", "zip", "sex"], "knows": ["pay"]},
    }
    proved = dc.publish(table(), job, seed=1)
    assert any(
        "This holds for attackers of whom neighbour knows age, sex; survey knows any 1 of age, zip,"
        " sex, and the value of pay." in line
        for line in str(proved).splitlines()
    )


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "top-down"])
def test_several_attackers_with_requirements_of_every_shape(method):
    job = dc.Job.parse(
        ROLES + "attackers:\n  a: [age, sex]\n  b: [age, zip]\n  c: {columns: [sex], knows: pay}\n"
        "requirements:\n  - alpha-k-anonymity: {alpha: 0.9, k: 3, attribute: ill}\n"
        "  - multi-attribute-l-diversity: {l: 1, attackers: {a: [age, sex]}}\n"
        "  - t-closeness: {t: 0.6}\n"
        f"  - lkc-privacy: {{l: 1, k: 4, c: 0.9}}\nmethod: {method}\n"
    )
    frame = table(120).with_columns(pay=pl.Series([str(i % 7 // 3) for i in range(120)]))
    release = dc.publish(frame, job, seed=1)
    assert [promise.holds for promise in release.manifest.promises] == [True] * 4


@pytest.mark.parametrize("method", ["full-domain", "mondrian"])
def test_infeasible_names_the_columns_and_never_a_sensitive_value(method):
    job = dc.Job.parse(
        ROLES + "attackers: {a: {columns: [age], knows: pay}}\n"
        f"requirements:\n  - k-anonymity: {{k: 16}}\nmethod: {method}\n"
    )
    with pytest.raises(dc.InfeasibleError) as found:
        make_release(table(), job, seed=1)
    assert "pay" in str(found.value)
    assert "'3'" not in str(found.value)


def test_infeasible_names_the_failing_combination():
    job = dc.Job.parse(
        ROLES.replace("type: integer}", "type: integer, hierarchy: {intervals: [10]}}")
        + "requirements:\n  - lkc-privacy: {l: 2, k: 40, c: 1}\nmethod: full-domain\n"
    )
    with pytest.raises(dc.InfeasibleError, match="It fails for an attacker who knows age, zip"):
        make_release(table(), job, seed=1)
