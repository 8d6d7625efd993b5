"""Every attack on the first worked example of its paper."""

from __future__ import annotations

import pytest
from tests.attacks.handmade import Handmade, write_csv

import discreet as dc

# Paper 004, figure 1: zip, age, nationality, condition.
PATIENTS = [
    row.split(",")
    for row in [
        "13053,28,Russian,heart",
        "13068,29,American,heart",
        "13068,21,Japanese,viral",
        "13053,23,American,viral",
        "14853,50,Indian,cancer",
        "14853,55,Russian,heart",
        "14850,47,American,viral",
        "14850,49,American,viral",
        "13053,31,American,cancer",
        "13053,37,Indian,cancer",
        "13068,36,Japanese,cancer",
        "13068,35,American,cancer",
    ]
]
PATIENT_COLUMNS = {
    "zip": {"role": "q", "type": "integer"},
    "age": {"role": "q", "type": "integer"},
    "nationality": "q",
    "condition": "s",
}


def patients(folder, cells, promises=()):
    """The patients published with the cells of their classes."""
    records = [[*cell, "*", row[3]] for cell, row in zip(cells, PATIENTS, strict=True)]
    return Handmade(
        folder, PATIENT_COLUMNS, PATIENTS, {"records": (list(PATIENT_COLUMNS), records)}, promises
    )


def four_anonymous(folder, promises=()):
    """Figure 2."""
    cells = (
        [("[13000, 13100)", "[0, 30)")] * 4
        + [("[14850, 14860)", "[40, 99)")] * 4
        + [("[13000, 13100)", "[30, 40)")] * 4
    )
    return patients(folder, cells, promises)


def three_diverse(folder, promises=()):
    """Figure 3."""
    cell_of_zip = {
        "13053": ("[13050, 13060)", "[0, 40]"),
        "13068": ("[13060, 13070)", "[0, 40]"),
        "14853": ("[14850, 14860)", "(40, 99]"),
        "14850": ("[14850, 14860)", "(40, 99]"),
    }
    cells = [cell_of_zip[row[0]] for row in PATIENTS]
    cells = [(z, a.replace("(40", "[41")) for z, a in cells]
    return patients(folder, cells, promises)


def test_homogeneity_004_figure_2_discloses_4_of_12(tmp_path):
    found = four_anonymous(tmp_path, [{"k-anonymity": {"k": 4}}]).one("homogeneity")
    assert found.targets == 12
    assert found.certain == pytest.approx(4 / 12)
    assert found.mean == pytest.approx((4 * 0.5 + (2 * 0.5 + 2 * 0.25) + 4) / 12)
    assert found.greatest == 1
    assert found.bound is None


def test_homogeneity_004_figure_3_stays_at_a_half(tmp_path):
    found = three_diverse(tmp_path, [{"p-diversity": {"l": 2}}]).one("homogeneity")
    assert found.greatest == pytest.approx(1 / 2)
    assert found.bound == pytest.approx(1 / 2)
    assert not found.exceeded


UMEKO = {"who": {"nationality": ["Japanese"]}, "attribute": "condition", "never": ["heart"]}


def test_background_knowledge_004_umeko(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    rule = {"background-knowledge": {"rules": [UMEKO]}}
    found = four_anonymous(tmp_path / "a").one(rule)
    # Umeko's viral infection is certain; the other Japanese is among four with cancer.
    assert found.certain == pytest.approx(5 / 12)
    assert found.method == "exact"
    found = three_diverse(tmp_path / "b").one(rule)
    # In 1306*: Umeko viral 1/3, the Japanese with cancer 2/3; each American: heart 1/2,
    # cancer 1/3. In 1305*, where no one is Japanese: 1/4, 1/4, 1/2, 1/2; in 1485* the same shares.
    expected = [1 / 3, 2 / 3, 1 / 2, 1 / 3, *([1 / 4, 1 / 4, 1 / 2, 1 / 2] * 2)]
    assert found.mean == pytest.approx(sum(expected) / 12)
    assert found.greatest == pytest.approx(2 / 3)


def test_linking_001_table_12(tmp_path):
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


def test_skewness_001_section_2_3_2_3(tmp_path):
    """2-diverse group with a and c at a half each, where a fills a tenth of the table."""
    rows = [["1", "a"], ["1", "c"]] + [["2", "c"]] * 8
    columns = {"q": "q", "v": "s"}
    promise = [{"t-closeness": {"t": 0.4}}]
    made = Handmade(tmp_path, columns, rows, {"records": (["q", "v"], rows)}, promise)
    found = made.one("skewness")
    assert found.details["greatest_gain"] == pytest.approx(5)
    assert found.bound == 1.0
    assert not found.exceeded
    assert found.mean == pytest.approx((0.5 + 0.5 + 8) / 10)


def test_skewness_001_table_14_gains_nothing(tmp_path):
    rows = [["1", "a"]] * 4 + [["1", "b"]]
    made = Handmade(tmp_path, {"q": "q", "v": "s"}, rows, {"records": (["q", "v"], rows)})
    found = made.one("skewness")
    assert found.details["greatest_gain"] == pytest.approx(1)
    assert found.greatest == pytest.approx(0.8)


def test_similarity_001_table_15(tmp_path):
    rows = [["1", v] for v in "ababf"]
    made = Handmade(tmp_path, {"q": "q", "v": "s"}, rows, {"records": (["q", "v"], rows)})
    kinds = {"similarity": {"kinds_of": {"v": {"first": ["a", "b"], "second": ["f"]}}}}
    found = made.one(kinds)
    assert found.greatest == pytest.approx(0.8)


def test_non_membership_001_table_2(tmp_path):
    """(b,w),(c,x),(a,w),(c,y): one who is known not to have c has w."""
    rows = [["1", "b", "w"], ["1", "c", "x"], ["1", "a", "w"], ["1", "c", "y"]]
    columns = {"q": "q", "I1": "s", "I2": "s"}
    made = Handmade(
        tmp_path, columns, rows, {"records": (list(columns), rows)}, [{"p-diversity": {"l": 2}}]
    )
    one, two = [f for f in made.attack("non-membership") if f.aim == "I2"]
    assert one.greatest == 1
    assert one.certain == pytest.approx(1 / 2)
    assert one.bound is None  # 2-pdiversity promises nothing after one bit: 1/(2 − 1)
    assert two.greatest == 1


# Paper 001, tables 4, 42: age, zip, I1, I2 of t1 … t9.
VOTERS = [
    row.split(",")
    for row in [
        "20,3000,a,w",
        "25,3500,b,z",
        "25,4000,d,x",
        "30,6500,a,x",
        "35,4500,b,y",
        "40,5500,a,y",
        "45,6000,c,z",
        "50,5000,b,x",
        "55,6500,c,w",
    ]
]
VOTER_COLUMNS = {
    "age": {"role": "q", "type": "integer"},
    "zip": {"role": "q", "type": "integer"},
    "I1": "s",
    "I2": "s",
}
TABLE_42 = [[0, 1, 2], [5, 7, 8], [3, 4, 6]]
CELLS_42 = [
    ("[20, 25]", "[3000, 4000]"),
    ("[40, 55]", "[5000, 6500]"),
    ("[30, 45]", "[4500, 6500]"),
]


def table_42(folder, promises=({"m-diversity": {"l": 3}},), left_out=()):
    kept = [i for i in range(9) if i not in left_out]
    records = [
        [*cells, *VOTERS[i][2:]]
        for cells, group in zip(CELLS_42, TABLE_42, strict=True)
        for i in group
        if i in kept
    ]
    original = [VOTERS[i] for i in kept]
    return Handmade(
        folder, VOTER_COLUMNS, original, {"records": (list(VOTER_COLUMNS), records)}, promises
    )


def buckets_42(folder):
    people = [[*VOTERS[i][:2], str(g)] for g, group in enumerate(TABLE_42) for i in group]
    sensitive = [[str(g), *VOTERS[i][2:]] for g, group in enumerate(TABLE_42) for i in group]
    return Handmade(
        folder,
        VOTER_COLUMNS,
        VOTERS,
        {
            "quasi_identifiers": (["age", "zip", "group"], people),
            "sensitive": (["group", "I1", "I2"], sensitive),
        },
        [{"m-diversity": {"l": 3}}],
        kind="bucketized",
    )


def test_non_membership_001_table_42(tmp_path):
    """1/3, 1/2 and 1 for i = 0, 1, 2: the promise, and no more."""
    made = buckets_42(tmp_path)
    assert made.one("homogeneity", "I1").greatest == pytest.approx(1 / 3)
    one, two = [f for f in made.attack("non-membership") if f.aim == "I1"]
    assert one.greatest == pytest.approx(1 / 2)
    assert one.bound == pytest.approx(1 / 2)
    assert two.greatest == pytest.approx(1)
    assert not one.exceeded
    assert not two.exceeded


def test_people_who_fit_two_classes_of_table_42_are_believed_less(tmp_path):
    """t6, t7 and t9's cells overlap: beliefs mix over the assignments, never above 1/3."""
    found = table_42(tmp_path).one("homogeneity", "I1")
    assert found.targets == 9
    assert found.method == "exact"
    assert found.greatest <= 1 / 3 + 1e-12
    assert not found.exceeded


def test_membership_001_table_3(tmp_path):
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
    assert found.verdict == "beyond the promise"


# Paper 000, table 1: race, sex, diagnosis, family history, job.
BOB = [
    ["white", "f", "HT", "HT", "teacher"],
    ["white", "m", "HT", "DB", "lawyer"],
    ["white", "m", "DB", "HT", "farmer"],
    ["black", "m", "AS", "AS", "teacher"],
]
BOB_COLUMNS = {"race": "q", "sex": "q", "diagnosis": "s", "family": "s", "job": "s"}


def test_background_join_000_table_1b(tmp_path):
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


# Paper 002, table 1 without the columns that nothing needs: zip, occupation, salary.
EMPLOYEES = [
    ["10078", "nurse", "1"], ["10077", "nurse", "4"], ["10076", "police", "8"],
    ["10075", "cook", "9"], ["10085", "actor", "2"], ["10086", "actor", "7"],
    ["20086", "clerk", "8"], ["20087", "clerk", "2"],
]  # fmt: skip
EMPLOYEE_COLUMNS = {"zip": "q", "occupation": "s", "salary": "s"}
FIRST_GROUP = ["10078", "10085", "20086", "10076"]  # Alice, Ella, Gavin, Carl


@pytest.mark.parametrize(("noise", "row", "matching"), [("4", 5, 8), ("7", 5, 6)])
def test_link_through_the_sensitive_table_002_table_6(tmp_path, noise, row, matching):
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
    assert found["matching"].details["certain_people"] == matching
    assert found["matching"].method == "exact"
    assert found["pair"].mean <= found["row"].mean <= found["matching"].mean
    assert made.one("set-homogeneity", "salary").greatest < 1


def test_minimality_of_full_domain(tmp_path):
    """q1,q1,q2,q2,q2,q2 with a,a,b,c,d,e at ℓ = 2: one class, share of a 1/3, belief 1."""
    rows = [["q1", "a"], ["q1", "a"], *(["q2", v] for v in "bcde")]
    write_csv(tmp_path / "table.csv", ["q", "v"], rows)
    job = dc.Job(
        source={"path": str(tmp_path / "table.csv")},
        attributes={
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "v": {"role": "sensitive"},
        },
        requirements=[{"distinct-l-diversity": {"l": 2}}],
        method="full-domain",
    )
    release = dc.publish(None, job, seed=0)
    (plain, found) = dc.attack(
        release, original=job, attacks=["homogeneity", "minimality"]
    ).findings
    assert plain.greatest == pytest.approx(1 / 3)
    assert found.method == "exact"
    assert found.certain == pytest.approx(2 / 6)
    assert found.verdict == "beyond the promise"
    # The bound by drawn worlds is a bound.
    (bound,) = dc.attack(release, original=job, attacks=[{"minimality": {"worlds": 1}}]).findings
    assert bound.method.startswith(("at most share/acceptance", "not assessed"))


def test_minimality_of_mondrian_by_leaves(tmp_path):
    """A class that every allowed cut would have broken tells why it was not cut."""
    rows = [["1", "a"], ["1", "a"], ["2", "b"], ["2", "c"]]
    write_csv(tmp_path / "table.csv", ["q", "v"], rows)
    job = dc.Job(
        source={"path": str(tmp_path / "table.csv")},
        attributes={
            "q": {"role": "quasi-identifier", "type": "integer"},
            "v": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}],
        method="mondrian",
    )
    release = dc.publish(None, job, seed=0)
    for worlds, how in ((1000, "exact"), (1, "leaf")):
        (found,) = dc.attack(
            release, original=job, attacks=[{"minimality": {"worlds": worlds}}]
        ).findings
        assert found.method == how
        # Of the 12 worlds 4 have both a on one side: a belief of 1/2 in everybody's truth
        # becomes 1/2 for a (either side) and 1/4 for b and c.
        assert found.mean == pytest.approx((1 / 2 + 1 / 2 + 1 / 4 + 1 / 4) / 4)


def test_minimality_of_groups_along_the_curve(tmp_path):
    """Rows a, a, b, c in curve order at ℓ = 2; blind blocks are immune."""
    rows = [["1", "a"], ["2", "a"], ["3", "b"], ["4", "c"]]
    write_csv(tmp_path / "table.csv", ["q", "v"], rows)
    findings = {}
    for grouping in ("curve", "blocks"):
        job = dc.Job(
            source={"path": str(tmp_path / "table.csv")},
            attributes={
                "q": {"role": "quasi-identifier", "type": "integer"},
                "v": {"role": "sensitive"},
            },
            requirements=[{"m-diversity": {"l": 2}}],
            method={"msa-diversity": {"grouping": grouping, "publish": "buckets"}},
        )
        release = dc.publish(None, job, seed=0)
        findings[grouping] = dc.attack(release, original=job, attacks=["minimality"])
    (found,) = findings["curve"].findings
    assert found.method == "exact"
    assert found.greatest > 1 / 2
    assert "immune" in findings["blocks"].inapplicable["minimality"]


def test_intersection_of_independent_releases_000_tables_1c_and_1d(tmp_path):
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


def test_codip_000_keeps_the_diagnosis_from_one_who_knows_the_job(tmp_path):
    made = codip(tmp_path)
    assert made.one("homogeneity", "diagnosis").greatest == pytest.approx(1 / 2)
    joined = made.attack("background-join")
    assert {f.aim for f in joined} == {"family", "job"}  # inside the second table alone
    assert max(f.greatest for f in joined) == 1
    assert made.one("homogeneity", "family").greatest == pytest.approx(1 / 2)
    pairs = {f.aim: f for f in made.attack("intersection")}
    assert pairs["diagnosis and job"].greatest == pytest.approx(1 / 4)
    assert pairs["diagnosis and family"].mean == pytest.approx(1 / 4)


def test_quasi_sensitive_linking_003_figure_1(tmp_path):
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
