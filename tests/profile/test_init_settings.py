"""Presets, questions, encodings and formats of a proposed job, and jobs that name some columns."""

from __future__ import annotations

import random

import polars as pl
import pytest
import yaml
from experiments.role_tables import Drawing
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app
from discreet.hierarchies.automatic import label_order
from discreet.job.proposing.job_text import propose_job
from discreet.job.proposing.questions import QUESTIONS


def hospital(rows=400):
    draw = Drawing(rows, 8)
    return pl.DataFrame(
        {
            "patient_nbr": draw.numbers("8#######"),
            "age": draw.of(*(f"[{low}-{low + 10})" for low in range(0, 100, 10))),
            "age_years": draw.whole(18, 97),
            "sex": draw.of("Female", "Male"),
            "zip": draw.codes(30, "1305#"),
            "city": draw.words("Albany Troy Utica"),
            "admitted": draw.dates("2019-01-01", "2023-12-31", "%d.%m.%Y"),
            "diagnosis": draw.words("asthma flu migraine gastritis"),
            "hiv_test": draw.of("not tested", "negative", "positive"),
            "email": [f"p{n}@mail.example" for n in range(rows)],
        }
    )


@pytest.fixture
def table(tmp_path):
    hospital().write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    ("preset", "k", "ell"), [("public", 10, 3), ("research", 5, 2), ("internal", 3, 2),
                             ("cms-11", 11, 2)],
)  # fmt: skip
def test_a_preset_sets_the_guarantees_and_publishes(table, preset, k, ell):
    proposed = dc.propose(table, preset=preset, folder=table.parent)
    job = yaml.safe_load(proposed.text)
    asked = {name: given for one in job["requirements"] for name, given in one.items()}
    assert asked["k-anonymity"] == {"k": k}
    assert asked["distinct-l-diversity"]["l"] == ell
    assert ("verify" in job) == (preset == "public")
    job = proposed.job.model_copy(update={"verify": None})
    assert dc.publish(None, job, seed=1).audit.ok


def test_safe_harbor_removes_or_coarsens_its_identifiers(table):
    proposed = dc.propose(table, preset="hipaa-safe-harbor", folder=table.parent)
    roles = {name: str(one.role) for name, one in proposed.roles.items()}
    assert roles["city"] == "drop"
    assert roles["email"] == roles["patient_nbr"] == "identifier"
    release = dc.publish(None, proposed.job, seed=1)
    assert release.audit.ok
    records = release.tables["records"]
    assert set(records["zip"]) == {"130**"}
    assert records["admitted"].str.contains(r"^\d{4}$").all()
    assert "90 or older" in set(records["age_years"])
    ages = [int(cell) for cell in records["age_years"].to_list() if cell.isdigit()]
    assert max(ages) <= 89


def test_safe_harbor_drops_regions_below_a_state_and_other_dates(tmp_path):
    draw = Drawing(300, 9)
    frame = hospital(300).with_columns(
        county=pl.Series(draw.words("Kent Essex Devon")),
        state=pl.Series(draw.words("NY NJ CT")),
        date_of_diagnosis=pl.Series(draw.dates("2020-01-01", "2021-12-31")),
        payment_day=pl.Series(draw.dates("2020-01-01", "2021-12-31")),
    )
    frame.write_csv(tmp_path / "t.csv")
    roles = dc.propose(tmp_path / "t.csv", preset="hipaa-safe-harbor").roles
    assert str(roles["county"].role) == "drop"
    assert str(roles["state"].role) == "quasi-identifier"
    assert str(roles["payment_day"].role) in ("drop", "quasi-identifier")
    text = dc.propose(tmp_path / "t.csv", preset="hipaa-safe-harbor", folder=tmp_path)
    published = dc.publish(None, text.job, seed=1).tables["records"]
    for name in published.columns:
        assert not published[name].cast(pl.String).str.contains(r"^\d{4}-\d{2}-\d{2}$").any(), name


def test_safe_harbor_drops_postcodes_of_small_areas():
    frame = hospital().with_columns(pl.lit("03601").alias("zip")).with_columns(
        pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("zip")).otherwise(pl.lit("13053"))
        .alias("zip")
    )  # fmt: skip
    frame = frame.with_columns(zip=pl.Series([f"036{n % 20:02}" for n in range(len(frame))]))
    assert str(dc.propose(frame, preset="hipaa-safe-harbor").roles["zip"].role) == "drop"


def ask_from(lines):
    answers = iter(lines)
    told = []

    def ask(question, proposed):
        told.append(question)
        return next(answers, None)

    return ask, told


def test_eight_questions_end_in_a_job(table):
    answers = ["", "age, sex, zip", "diagnosis, hiv_test", "email, city, age_years", "public",
               "half", "even", "no"]  # fmt: skip
    ask, asked = ask_from(answers)
    notes: list[str] = []
    proposed = propose_job(table, table.parent, ask=ask, tell=notes.append)
    assert len(asked) == len(QUESTIONS) == 8
    job = yaml.safe_load(proposed.text)
    roles = {name: one["role"] for name, one in job["attributes"].items()}
    assert roles == {
        "patient_nbr": "identifier", "age": "quasi-identifier", "age_years": "drop",
        "sex": "quasi-identifier", "zip": "quasi-identifier", "city": "drop",
        "admitted": "drop", "diagnosis": "sensitive", "hiv_test": "sensitive",
        "email": "drop",
    }  # fmt: skip
    assert {"k-anonymity": {"k": 10}} in job["requirements"]
    assert {"p-diversity": {"l": 2, "attribute": "diagnosis"}} in job["requirements"] or any(
        "'diagnosis'" in one for one in notes
    )
    assert "full-domain" in job["method"]
    assert proposed.job.requirements


def test_answers_that_end_early_are_the_proposed_ones(table):
    ask, _ = ask_from([])
    given = yaml.safe_load(propose_job(table, table.parent, ask=ask).text)
    plain = yaml.safe_load(propose_job(table, table.parent).text)
    roles = [{n: one["role"] for n, one in job["attributes"].items()} for job in (given, plain)]
    changed = {name for name in roles[0] if roles[0][name] != roles[1][name]}
    assert changed <= {"email"}  # dropped instead of an identifier that names no person
    assert given["requirements"] == plain["requirements"]


def test_a_wrong_answer_is_asked_again_and_ends_in_an_error(table):
    ask, asked = ask_from(["", "agee", "age"])
    told: list[str] = []
    propose_job(table, table.parent, ask=ask, tell=told.append)
    assert any("no column 'agee'" in one for one in told)
    assert len(asked) == 9
    ask, _ = ask_from(["", "agee", "agee", "agee"])
    with pytest.raises(dc.InputError, match="no column 'agee'"):
        propose_job(table, table.parent, ask=ask)
    ask, _ = ask_from(["", "age", "age"])
    with pytest.raises(dc.InputError, match="'age' is in two answers"):
        propose_job(table, table.parent, ask=ask)


def test_the_command_reads_answers_from_standard_input(table):
    words = ["init", str(table), "--output", str(table.parent / "job.yaml"), "--ask"]
    ended = CliRunner().invoke(app, words, input="\nage, sex\ndiagnosis\n")
    assert ended.exit_code == 0, ended.output
    written = dc.Job.load(table.parent / "job.yaml")
    assert [n for n, a in written.attributes.items() if a.role is dc.Role.QUASI_IDENTIFIER] == [
        "age", "sex",
    ]  # fmt: skip
    assert "1/8" in ended.stderr


def test_dates_of_other_formats_and_encodings(tmp_path):
    table = tmp_path / "t.csv"
    frame = hospital().select("sex", "admitted", "diagnosis")
    text = frame.write_csv().replace("Female", "weiblich").replace("Male", "männlich")
    table.write_bytes(text.encode("latin-1"))
    with pytest.raises(dc.InputError, match="encoding"):
        dc.propose(table)
    proposed = dc.propose(table, encoding="latin-1", folder=tmp_path)
    job = yaml.safe_load(proposed.text)
    assert job["source"]["encoding"] == "latin-1"
    assert job["attributes"]["admitted"]["type"] == "date"
    assert job["attributes"]["admitted"]["format"] == "%d.%m.%Y"
    assert dc.publish(None, proposed.job, seed=1).audit.ok


@pytest.mark.parametrize(
    "ordered",
    [
        ["[0-10)", "[10-20)", "[90-100)", "[100-110)"],
        ["<18", "18-64", "65+"],
        ["under 5", "5 to 9", "10 or more"],
        ["low", "medium", "high"],
        ["never", "sometimes", "always"],
    ],
)
def test_ordered_labels(ordered):
    assert label_order(sorted(ordered)) == ordered


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], ["<18", "18-64", "unknown"], ["1-2", "1-2 "], ["5-1", "1-2", "3-4"]]
)
def test_labels_without_a_certain_order(labels):
    assert label_order(labels) is None


def test_brackets_are_published_with_their_neighbours(table):
    job = propose_job(table, table.parent)
    assert "order: ['[0-10)', '[10-20)'" in job.text
    frame = hospital().select("age", "diagnosis")
    attributes = {"age": {"role": "quasi-identifier"}, "diagnosis": {"role": "sensitive"}}
    made = dc.Job(attributes=attributes, requirements=[{"k-anonymity": {"k": 20}}],
                  method="full-domain")  # fmt: skip
    cells = set(dc.publish(frame, made, seed=1).tables["records"]["age"])
    assert "{[0-10), [10-20)}" in cells or "{[0-10), [10-20), [20-30), [30-40)}" in cells


def test_others_are_dropped_without_being_named(table):
    attributes = {"age": {"role": "quasi-identifier"}, "diagnosis": {"role": "sensitive"}}
    asked = [{"k-anonymity": {"k": 5}}]
    job = dc.Job(attributes=attributes, requirements=asked, method="mondrian")
    assert job == dc.Job(**{**dict(job), "others": "drop"})
    for data in (table, hospital()):
        release = dc.publish(data, job, seed=1)
        (notice,) = release.private["notices"]
        assert notice.id == "columns.unnamed" and "'patient_nbr'" in notice.parameters["columns"]
        assert release.tables["records"].columns == ["age", "diagnosis"]
        assert release.audit.ok
    wrong = dc.Job(attributes={**attributes, "agee": {"role": "drop"}}, others="drop",
                   requirements=asked, method="mondrian")  # fmt: skip
    with pytest.raises(dc.JobError, match="no column 'agee'"):
        dc.publish(table, wrong)


@pytest.mark.parametrize("receiver", ["public", "research", "internal"])
def test_a_receiver_sets_the_attackers_and_says_where_numbers_come_from(table, receiver):
    proposed = dc.propose(table, preset=receiver, folder=table.parent)
    assert yaml.safe_load(proposed.text)["attackers"] == receiver
    comments = [line for line in proposed.text.splitlines() if line.startswith("# ")]
    for number in ("k = ", "l = "):
        assert any(line.startswith(f"# {number}") for line in comments)


def test_init_tries_its_job_and_repairs_it(tmp_path):
    """Age gives the diagnosis away: the first proposal is refused, the written job is not."""
    draw = random.Random(3)
    ages = [draw.randint(20, 79) for _ in range(600)]
    illness = ["flu", "gout", "asthma", "ulcer", "angina", "stroke"]
    frame = pl.DataFrame({
        "age": ages,
        "sex": [draw.choice("fm") for _ in ages],
        "diagnosis": [illness[age // 10 - 2] if draw.random() < 0.95 else "cold" for age in ages],
        "smoker": [draw.choice(["yes", "no"]) for _ in ages],
    })  # fmt: skip
    table = tmp_path / "t.csv"
    frame.write_csv(table)
    first = dc.propose(table, folder=tmp_path)
    with pytest.raises(dc.RiskError):
        dc.publish(None, first.job, seed=0).save(tmp_path / "refused")
    words = ["init", str(table), "--output", str(tmp_path / "job.yaml"), "--budget", "60s"]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, ended.output
    text = (tmp_path / "job.yaml").read_text(encoding="utf-8")
    assert "As first proposed: 'Do not publish'" in text
    assert "# Changed: " in text
    assert "before discreet repair:" in text
    assert "Changed: " in ended.stdout
    dc.publish(None, tmp_path / "job.yaml", seed=0).save(tmp_path / "release")
