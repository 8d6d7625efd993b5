"""Readers who know other sensitive values, or other tables of the same people."""

from __future__ import annotations

import pytest
from tests.attacks.handmade import Handmade

# Fang, Ashrafi and Ng (2011), table 1: race, sex, diagnosis, family history, job.
BOB = [
    ["white", "f", "HT", "HT", "teacher"],
    ["white", "m", "HT", "DB", "lawyer"],
    ["white", "m", "DB", "HT", "farmer"],
    ["black", "m", "AS", "AS", "teacher"],
]
BOB_COLUMNS = {"race": "q", "sex": "q", "diagnosis": "s", "family": "s", "job": "s"}


def test_background_join_codip_table_1b(tmp_path):
    """Bob is black and male, in E2 with t3: asthma 1/2, and 1 for one who knows he is a teacher."""
    published = [["white", "*", *row[2:]] for row in BOB[:2]]
    published += [["{black, white}", "m", *row[2:]] for row in BOB[2:]]
    # Written as buckets, so that the reader is sure of everybody's class as the paper is.
    people = [[*row[:2], g] for row, g in zip(BOB, "1122", strict=True)]
    sensitive = [[g, *row[2:]] for row, g in zip(BOB, "1122", strict=True)]
    made = Handmade(
        tmp_path,
        BOB_COLUMNS,
        BOB,
        {
            "quasi_identifiers": (["race", "sex", "group"], people),
            "sensitive": (["group", "diagnosis", "family", "job"], sensitive),
        },
        kind="bucketized",
    )
    assert made.one("homogeneity", "family").greatest == pytest.approx(1 / 2)
    by_job = [
        f
        for f in made.attack("background-join")
        if f.aim == "family" and f.details["known"] == ["job"]
    ]
    assert by_job[0].greatest == 1
    assert by_job[0].baseline == pytest.approx((0.5 + 1 + 1 + 0.5) / 4)


# Ye, Liu, Lv and Feng (2009), table 1: zip, occupation, salary.
EMPLOYEES = [
    ["10078", "nurse", "1"], ["10077", "nurse", "4"], ["10076", "police", "8"],
    ["10075", "cook", "9"], ["10085", "actor", "2"], ["10086", "actor", "7"],
    ["20086", "clerk", "8"], ["20087", "clerk", "2"],
]  # fmt: skip
EMPLOYEE_COLUMNS = {"zip": "q", "occupation": "s", "salary": "s"}
FIRST_GROUP = ["10078", "10085", "20086", "10076"]  # Alice, Ella, Gavin, Carl


def test_background_join_decomposition_table_3(tmp_path):
    """Each group is diverse in both attributes; who knows the occupation is certain of 2 of 8."""
    cells = ["{10075, 10076, 10077, 10078}"] * 4 + ["{10085, 10086, 20086, 20087}"] * 4
    records = [[cell, *row[1:]] for cell, row in zip(cells, EMPLOYEES, strict=True)]
    made = Handmade(
        tmp_path, EMPLOYEE_COLUMNS, EMPLOYEES, {"records": (list(EMPLOYEE_COLUMNS), records)}
    )
    assert made.one("homogeneity", "salary").certain == 0
    found = made.one("background-join", "salary")
    assert found.certain == pytest.approx(2 / 8)  # Carl the policeman and Diana the cook
    assert found.mean == pytest.approx((2 * 1 + 6 * 1 / 2) / 8)
    assert found.newly_certain == 0  # the sensitive table alone shows the one policeman and cook
    assert found.verdict == "does no better than without the release"


@pytest.mark.parametrize(("noise", "row", "matching"), [("4", 5, 8), ("7", 5, 6)])
def test_link_through_the_sensitive_table_decomposition_table_6(tmp_path, noise, row, matching):
    group_of = {row[0]: "1" if row[0] in FIRST_GROUP else "2" for row in EMPLOYEES}
    listed = {(group_of[r[0]], a, r[1 + i]) for r in EMPLOYEES for i, a in enumerate(
        ["occupation", "salary"])} | {("1", "salary", noise)}  # fmt: skip
    folder = tmp_path
    made = Handmade(
        folder,
        EMPLOYEE_COLUMNS,
        EMPLOYEES,
        {
            "groups": (["zip", "group"], [[r[0], group_of[r[0]]] for r in EMPLOYEES]),
            "group_values": (["group", "attribute", "value"], sorted(listed)),
            "sensitive": (["occupation", "salary"], [r[1:] for r in EMPLOYEES]),
        },
        kind="decomposed",
        method={"primary": "occupation"},
    )
    found = {
        f.details["reader"]: f
        for f in made.attack("link-through-sensitive-table")
        if f.aim == "salary"
    }
    assert found["row"].certain == pytest.approx(row / 8)
    assert found["matching"].certain == pytest.approx(matching / 8)
    assert found["matching"].method == "exact"
    assert found["pair"].mean <= found["row"].mean <= found["matching"].mean
    without = [f for f in made.attack("set-homogeneity") if f.aim == "salary"]
    assert [f.details["reader"] for f in without] == ["row", "matching"]
    assert all(f.greatest < 1 for f in without)


def test_intersection_of_independent_releases_codip_tables_1c_and_1d(tmp_path):
    """Each 1/2 alone; together all four are certain."""
    people = [["1", "HT"], ["2", "HT"], ["3", "DB"], ["4", "AS"]]
    made = []
    for name, groups in (("c", "1212"), ("d", "1221")):
        (tmp_path / name).mkdir()
        made.append(
            Handmade(
                tmp_path / name,
                {"person": "q", "diagnosis": "s"},
                people,
                {
                    "quasi_identifiers": (
                        ["person", "group"],
                        [[row[0], g] for row, g in zip(people, groups, strict=True)],
                    ),
                    "sensitive": (
                        ["group", "diagnosis"],
                        [[g, row[1]] for row, g in zip(people, groups, strict=True)],
                    ),
                },
                kind="bucketized",
            )
        )
    assert made[0].one("homogeneity").greatest == made[1].one("homogeneity").greatest == 0.5
    found = made[0].one({"intersection": {"releases": [str(made[1].place)]}})
    assert found.certain == 1
    assert found.method == "exact"


def codip(folder, promises=()):
    """{diagnosis} as in table 1(c), {family, job} as in 1(b); sex told apart for certainty."""
    rows = [["w1", "f", *BOB[0][2:]], ["w2", "m", *BOB[1][2:]], ["w3", "m", *BOB[2][2:]],
            ["b4", "m", *BOB[3][2:]]]  # fmt: skip
    c = ["{w1, w3}", "{b4, w2}", "{w1, w3}", "{b4, w2}"]
    b = ["{w1, w2}", "{w1, w2}", "{b4, w3}", "{b4, w3}"]
    return Handmade(
        folder,
        BOB_COLUMNS,
        rows,
        {
            "projection_1": (["race", "sex", "diagnosis"],
                             [[cell, "*", row[2]] for cell, row in zip(c, rows, strict=True)]),
            "projection_2": (["race", "sex", "family", "job"],
                             [[cell, "*", *row[3:]] for cell, row in zip(b, rows, strict=True)]),
        },
        promises,
        kind="projected",
    )  # fmt: skip


def test_codip_keeps_the_diagnosis_from_one_who_knows_the_job(tmp_path):
    made = codip(tmp_path)
    assert made.one("homogeneity", "diagnosis").greatest == pytest.approx(1 / 2)
    joined = made.attack("background-join")
    assert {f.aim for f in joined} == {"family", "job"}  # inside the second table alone
    assert max(f.greatest for f in joined) == 1
    assert made.one("homogeneity", "family").greatest == pytest.approx(1 / 2)
    pairs = {f.aim: f for f in made.attack("intersection")}
    assert pairs["diagnosis and job"].greatest == pytest.approx(1 / 4)
    assert pairs["diagnosis and family"].mean == pytest.approx(1 / 4)


def test_background_join_with_so_many_others_known(tmp_path):
    """Who knows more believes more, up to all others."""
    rows = [["x", *values] for values in ("aump", "aunp", "avmp", "bump", "bvnq", "avmq")]
    columns = {"q": "q", "s": "s", "t": "s", "u": "s", "v": "s"}
    made = Handmade(tmp_path, columns, rows, {"records": (list(columns), rows)})
    mean = {}
    for f in made.attack({"background-join": {"others": 2}}):
        if f.aim == "s":
            mean[tuple(f.details["known"])] = f.mean
    assert set(mean) == {("t",), ("u",), ("v",), ("t", "u"), ("t", "v"), ("u", "v"),
                         ("t", "u", "v")}  # fmt: skip
    assert mean["t",] <= mean["t", "u"] <= mean["t", "u", "v"]
    # Only the first and the fourth share (u, m), with different s.
    assert mean["t", "u"] == pytest.approx((1 / 2 + 1 + 1 + 1 / 2 + 1 + 1) / 6)


def test_associated_codip_makes_bob_certain(tmp_path):
    """Asthma runs in families: one who knows that puts Bob's two tables together again."""
    found = {f.shown_aim: f for f in codip(tmp_path).attack("associated")}
    assert set(found) == {
        "diagnosis ~ family", "family ~ diagnosis", "diagnosis ~ job", "job ~ diagnosis"
    }  # fmt: skip
    by_family = found["diagnosis ~ family"]
    assert by_family.greatest == 1
    assert by_family.certain >= 1 / 4
    assert by_family.method == "exact"
    assert by_family.verdict == "no guarantee against this"
    assert by_family.baseline == pytest.approx((1 / 2 + 1 / 2 + 1 / 4 + 1 / 4) / 4)
