"""Who is in a table, which row is whose, and what is said by who is missing."""

from __future__ import annotations

import pytest
from tests.attacks.handmade import Handmade, write_csv
from tests.papers.voters import CELLS_42, TABLE_42, VOTER_COLUMNS, VOTERS

import discreet as dc


def test_linking_opinion_polls_table_12(tmp_path):
    """Bob (20, 3000) and Sam (30, 6500) are the only ones who look like their rows."""
    rows = [["20", "3000", "a"], ["25", "3500", "b"], ["25", "4000", "d"], ["30", "6500", "a"]]
    columns = {"age": "q", "zip": "q", "I1": "s"}
    made = Handmade(tmp_path, columns, rows, {"records": (list(columns), rows)})
    found = made.one("linking")
    assert found.greatest == found.mean == 1
    population = [["Bob", "20", "3000"], ["Mandy", "50", "5000"], ["Tom", "55", "6500"]]
    population += [["Sam", "30", "6500"], ["A", "25", "3500"], ["B", "25", "3500"]]
    population += [["C", "25", "4000"]]
    write_csv(tmp_path / "public.csv", ["name", "age", "zip"], population)
    report = dc.attack(
        made.place, original=made.job, attacks=["membership"], population=tmp_path / "public.csv"
    )
    risk = report.risks[1]
    assert risk.prosecutor == risk.journalist == 1
    assert risk.unique_population == pytest.approx(3 / 4)
    assert risk.marketer_population == pytest.approx((1 + 1 / 2 + 1 + 1) / 4)
    (found,) = report.findings
    assert found.mean == pytest.approx((1 + 1 / 2 + 1 + 1) / 4)


def test_membership_opinion_polls_table_3(tmp_path):
    """The population of table 3; t4, t5 and t7 are not in the table."""
    population = [[row[0], row[1]] for row in VOTERS]
    write_csv(tmp_path / "people.csv", ["age", "zip"], population)
    (tmp_path / "g").mkdir(), (tmp_path / "b").mkdir()
    # Without the third class, as the specification has it.
    records = [[*CELLS_42[g], *VOTERS[i][2:]] for g in range(2) for i in TABLE_42[g]]
    original = [VOTERS[i] for g in range(2) for i in TABLE_42[g]]
    made = Handmade(
        tmp_path / "g", VOTER_COLUMNS, original, {"records": (list(VOTER_COLUMNS), records)}
    )
    found = made.one("membership", population=tmp_path / "people.csv")
    # t1, t2, t3: 1; t6, t8, t9 (and t7, who is not in it): 3/4; t4 and t5: 0
    assert found.mean == pytest.approx((3 * 1 + 3 * 3 / 4) / 6)
    assert found.details["certainly_in"] == 3
    assert found.details["certainly_not_in"] == 2
    assert found.baseline == pytest.approx(6 / 9)
    people = [[*row[:2], "1"] for row in original]
    sensitive = [["1", *row[2:]] for row in original]
    made = Handmade(
        tmp_path / "b",
        VOTER_COLUMNS,
        original,
        {
            "quasi_identifiers": (["age", "zip", "group"], people),
            "sensitive": (["group", "I1", "I2"], sensitive),
        },
        kind="bucketized",
    )
    found = made.one("membership", population=tmp_path / "people.csv")
    assert found.mean == found.greatest == 1
    assert found.details["certainly_not_in"] == 3


def test_absence_of_the_suppressed(tmp_path):
    """Source a5 b3 c2, published a2 b3 c2: the three who are missing all have a."""
    original = [["1", v] for v in "aabbbcc"] + [["2", "a"]] * 3
    published = [["1", v] for v in "aabbbcc"]
    made = Handmade(
        tmp_path,
        {"q": "q", "v": "s"},
        original,
        {"records": (["q", "v"], published)},
        suppressed=3,
    )
    found = made.one("absence")
    assert found.targets == 3
    assert found.mean == found.greatest == 1
    assert found.baseline == pytest.approx(1 / 2)
    assert found.verdict == "no guarantee against this"


def test_quasi_sensitive_linking_figure_1(tmp_path):
    """The three students link to flu alone; one engineer to flu, the other to nothing."""
    terms = ["coughing|headache|sore throat", "coughing|headache", "headache|sore throat",
             "headache|vomiting", "headache|sore throat"]  # fmt: skip
    write_csv(tmp_path / "table.csv", ["state", "symptoms"],
              list(zip(["GA"] * 3 + ["TX"] * 2, terms, strict=True)))  # fmt: skip
    flu = ["coughing", "headache", "sore throat"]
    hepatitis = ["loss of appetite", "vomiting", "body aches", "dark urine"]
    write_csv(tmp_path / "diseases.csv", ["disease", "symptom"],
              [["flu", t] for t in flu] + [["hepatitis B", t] for t in hepatitis])  # fmt: skip
    job = tmp_path / "job.yaml"
    job.write_text(
        "source: {path: table.csv}\nattributes:\n  state: {role: quasi-identifier}\n"
        "  symptoms: {role: quasi-sensitive, multi_valued: '|', knowledge: "
        "{path: diseases.csv, label: disease, term: symptom}}\nmethod: mondrian\n"
        "requirements: [k-anonymity: {k: 2}]\n",
        encoding="utf-8",
    )
    release = dc.publish(None, dc.Job.load(job), seed=0)
    (found,) = dc.attack(release, original=job, attacks=["quasi-sensitive-linking"]).findings
    assert found.greatest == found.mean == 1
    assert found.targets == 4
    assert found.details["rows_that_link_to_nothing"] == 1
