"""The guards of ``publish`` hold on Spark, whose driver does not see unchanged columns."""

from __future__ import annotations

import polars as pl
import pytest
from tests.saving import UNATTACKED

from discreet.errors import InputError, JobError
from discreet.job.model import Job
from discreet.pipeline.run import publish_folder

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet")  # on pandas 3
ROWS = 120
NAMES = "James Mary Robert Linda David Susan Karen Nancy Paul Helen Mark Laura"
HEAD = """\
source: {path: people.csv}
attributes:
  sex: {role: quasi-identifier}
  illness: {role: sensitive}
"""
TAIL = """
requirements: [k-anonymity: {k: 2}]
method: mondrian
"""


@pytest.fixture
def people(tmp_path):
    names = NAMES.split()
    born = [f"19{40 + n // 2 % 50}-01-01" for n in range(ROWS - 1)] + ["1931-01-01"]
    pl.DataFrame(
        {
            "patient": [f"p{n // 2}" for n in range(ROWS)],
            "sex": ["fm"[n // 2 % 2] for n in range(ROWS)],
            "born": born,
            "first_name": [names[n % 12] for n in range(ROWS)],
            "rate": [1000 + n for n in range(ROWS)],
            "ward": ["ab"[n % 2] for n in range(ROWS)],
            "illness": [["flu", "cold", "gout"][n % 3] for n in range(ROWS)],
        }
    ).write_csv(tmp_path / "people.csv")
    return tmp_path


def publish(spark, folder, attributes, rest="unit: rows"):
    from discreet.addons.spark.spark_engine import SparkEngine

    job = Job.parse(HEAD + attributes + rest + TAIL, folder=folder)
    engine = SparkEngine.temporary(spark)
    return publish_folder(None, job, folder / "release", engine=engine, seed=1, **UNATTACKED)


@pytest.mark.parametrize(
    ("column", "said"),
    [("rate", "120 of 120 rows are unique"), ("first_name", r"names of persons \(12 distinct")],
)
def test_an_unchanged_column_that_identifies_is_refused(spark, people, column, said):
    with pytest.raises(JobError, match=rf"attributes\.{column}: .*{said}"):
        publish(spark, people, f"  {column}: {{role: unchanged}}\n")
    assert not (people / "release").exists()


def test_others_are_published(spark, people):
    allowed = "  rate: {role: unchanged, allow_identifying: true}\n  ward: {role: unchanged}\n"
    assert publish(spark, people, allowed).audit.ok


@pytest.mark.parametrize(("several", "refused"), [(2, False), (3, False), (4, True)])
def test_persons_who_keep_rows_are_counted_not_their_values(spark, tmp_path, several, refused):
    """``several`` of 60 persons are unique by the column, each by both values of their rows."""
    seen = [f"d{n}" if n < 2 * several else "dx" for n in range(ROWS)]
    pl.DataFrame(
        {
            "patient": [f"p{n // 2}" for n in range(ROWS)],
            "sex": ["fm"[n // 2 % 2] for n in range(ROWS)],
            "seen": seen,
            "illness": [["flu", "cold", "gout"][n % 3] for n in range(ROWS)],
        }
    ).write_csv(tmp_path / "people.csv")
    given = "  patient: {role: identifier}\n  seen: {role: unchanged}\n"
    person = "person: {column: patient, rows: keep}"
    if refused:
        with pytest.raises(JobError, match=r"attributes\.seen: 4 of 60 persons are unique"):
            publish(spark, tmp_path, given, person)
    else:
        assert publish(spark, tmp_path, given, person).audit.ok


def test_a_value_of_all_rows_of_one_person_is_unique(spark, tmp_path):
    pl.DataFrame(
        {
            "patient": [f"p{n // 2}" for n in range(ROWS)],
            "sex": ["fm"[n // 2 % 2] for n in range(ROWS)],
            "seen": [f"d{n // 2 % 55}" for n in range(ROWS)],
            "illness": [["flu", "cold", "gout"][n % 3] for n in range(ROWS)],
        }
    ).write_csv(tmp_path / "people.csv")
    given = "  patient: {role: identifier}\n  seen: {role: unchanged}\n"
    with pytest.raises(JobError, match=r"attributes\.seen: 50 of 60 persons are unique"):
        publish(spark, tmp_path, given, "person: {column: patient, rows: keep}")


@pytest.mark.parametrize("rows", ["collapse", "keep"])
def test_a_key_that_joins_strangers_is_refused(spark, people, rows):
    key = "  patient: {role: identifier}\n"
    person = f"person: {{column: patient, rows: {rows}}}"
    with pytest.raises(InputError, match="Of 60 persons .*'born': 1; 'first_name': 60"):
        publish(spark, people, key, person)
    accepted = f"person: {{column: patient, rows: {rows}, disagreeing: 60}}"
    assert publish(spark, people, key, accepted).audit.ok


@pytest.mark.parametrize(
    "rest", ["unit: rows", "person: {column: patient, rows: keep, disagreeing: 60}"]
)
def test_a_column_that_reveals_a_quasi_identifier_is_refused(spark, people, rest):
    path = people / "people.csv"
    age = pl.col("rate") // 2 % 25 + 20
    pl.read_csv(path).with_columns(age=age, birth_year=2025 - age).write_csv(path)
    key = "  patient: {role: identifier}\n" if rest.startswith("person") else ""
    columns = f"{key}  age: {{role: quasi-identifier, type: integer}}\n"
    said = "birth_year: this column reveals the quasi-identifier 'age'"
    with pytest.raises(JobError, match=said):
        publish(spark, people, columns + "  birth_year: {role: sensitive}\n", rest)
    assert not (people / "release").exists()
