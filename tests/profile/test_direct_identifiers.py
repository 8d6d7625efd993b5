"""One guard for all roles: direct identifiers are refused in clear, ordinary columns are not."""

from __future__ import annotations

import random
import re

import polars as pl
import pytest
import yaml
from tests.tables import coded_column

import discreet as dc
from discreet.job.direct_identifiers import direct_identifiers
from discreet.job.proposing.job_text import propose_job

DRAW = random.Random(1)
ROWS = 300
GIVEN = {
    "en": "James Mary Robert Linda Wendell Susan Karen Nancy Paul Helen Mark Laura Kevin Amy Brian",
    "de": "Jürgen Sabine Uwe Anke Thorsten Petra Stefan Julia Kai Ute Ralf Silke Jonas Lena Bernd",
    "fr": "Jean Marie Pierre Camille Luc Nathalie Hugo Chloé Alain Inès Yves Sylvie Paul Manon",
    "es": "José María Antonio Carmen Javier Lucía Pablo Elena Sergio Paula Diego Marta Raúl Rocío",
    "it": "Giulia Marco Chiara Luca Matteo Alessandra Giorgio Silvia Fabio Ilaria Paolo Elisa",
    "tr": "Mehmet Ayşe Ahmet Fatma Mustafa Zeynep Emre Elif Murat Merve Can Selin Burak Ebru Ali",
}
FAMILY = {
    "en": "Smith Jones Taylor Brown Hall Green Adams Baker Carter Turner Parker Cook Reed Ward",
    "de": "Müller Schmidt Weber Fischer Wagner Becker Schulz Koch Bauer Lange Vogt Kühn Böhm Graf",
    "fr": "Martin Bernard Dubois Durand Moreau Laurent Garnier Faure Roux Blanc Perrin Morin Colin",
    "es": "García López Pérez Gómez Ruiz Díaz Moreno Álvarez Romero Navarro Torres Vázquez Ramos",
    "it": "Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo",
    "tr": "Yılmaz Kaya Demir Şahin Çelik Yıldız Öztürk Aydın Arslan Doğan Kılıç Aslan Koç Kurt",
}


def of(values):
    return DRAW.choices(values.split() if isinstance(values, str) else values, k=ROWS)


def each(make):
    return [make() for _ in range(ROWS)]


def digits(count):
    return "".join(DRAW.choice("0123456789") for _ in range(count))


def time_of_day():
    return f"{DRAW.randint(0, 23):02}:{DRAW.randint(0, 59):02}:{DRAW.randint(0, 59):02}"


IDENTIFYING = {
    **{
        f"{word}": of(GIVEN[language])
        for word, language in {
            "first": "en", "first_name": "en", "firstname": "en", "Vorname": "de", "prénom": "fr",
            "nombre": "es", "nome": "it", "ad": "tr", "patient_first_name": "en",
            "fake_first_name": "en", "anon last name 2": "de", "kid_surname_old": "fr",
        }.items()
    },
    **{
        f"{word}": of(FAMILY[language])
        for word, language in {
            "last": "en", "surname": "en", "Nachname": "de", "nom de famille": "fr",
            "apellidos": "es", "cognome": "it", "soyadı": "tr", "LastName": "en",
        }.items()
    },
    "name": each(lambda: f"{of(GIVEN['en'])[0]} {of(FAMILY['en'])[0]}"),
    "who": each(lambda: f"{of(GIVEN['de'])[0]} {of(FAMILY['de'])[0]}"),  # by values alone
    "quien": each(lambda: f"{of(FAMILY['es'])[0].lower()}, {of(GIVEN['es'])[0].lower()}"),
    "c_case_number": [f"{13000000 + n}CF10A" for n in range(ROWS)],
    "case": [f"C{n:05d}" for n in range(ROWS)],  # by values alone
    "id": list(range(1, ROWS + 1)),
    "patient_nbr": each(lambda: DRAW.randint(100, 10**7)),
    "account_no": each(lambda: f"{DRAW.choice('AB')}{digits(4)}-{digits(1)}"),
    "contact": each(lambda: f"{DRAW.choice('abcxyz')}{digits(3)}@example.org"),
    "reach": each(lambda: f"+49 170 {digits(7)}"),
    "lives at": each(lambda: f"{DRAW.randint(1, 99)} {DRAW.choice(['Oak', 'Elm'])} Street"),
    "jail_in": each(lambda: f"2013-0{DRAW.randint(1, 9)}-1{DRAW.randint(0, 9)} {time_of_day()}"),
}  # fmt: skip
ORDINARY = {
    "occupation": of("Nurse Teacher Driver Baker Cook Farmer Miller Smith Judge Weaver Carter"),
    "Beruf": of("Koch Bauer Richter Schneider Fischer Weber Müller Wagner Becker Schäfer Klein"),
    "meslek": of("öğretmen doktor çiftçi şoför aşçı terzi berber kasap fırıncı avukat hemşire"),
    "country": of("Germany France Spain Turkey Italy Poland Austria Jordan Georgia Chad Israel"),
    "city": of("Florence Charlotte Austin Jackson Madison Houston Lincoln Dallas Boston Denver"),
    "Ort": of("Ulm Bonn Kiel Jena Trier Köln Essen Halle Gera Hof Passau"),
    "diagnosis": of("Asthma Diabetes Gout Flu Cancer Stroke Ulcer Angina Eczema Migraine Anemia"),
    "diagnosis_text": each(
        lambda: (
            f"{of(['Acute', 'Chronic', 'Severe'])[0]} "
            f"{of('Bronchitis Gastritis Nephritis Arthritis Colitis')[0]}"
        )
    ),
    "drug name": of("Aspirin Ibuprofen Metformin Insulin Warfarin Codeine Statin Lithium Heparin"),
    "major": of("Biology Physics History Law Medicine Arts Music Geology Botany Ethics Logic"),
    "brand": of("Ford Opel Fiat Volvo Honda Mercedes Seat Skoda Lancia Audi Porsche"),
    "school_name": of("Northgate Eastfield Westbrook Hillside Lakeview Parkside Oakwood Elmtree"),
    "department": of("Sales Research Finance Legal Support Design Security Logistics Audit Press"),
    "last visit": of("January February March April May June July August September October"),
    "first": of("yes no maybe"),
    "dob": each(lambda: f"19{digits(2)}-0{DRAW.randint(1, 9)}-1{DRAW.randint(0, 9)}"),
    "zip": each(lambda: digits(5)),
    "income": each(lambda: DRAW.randint(9_000, 250_000)),
    "salary": each(lambda: round(DRAW.uniform(9_000, 250_000), 2)),
    "number_inpatient": each(lambda: DRAW.randint(0, 20)),
    "number of steps": each(lambda: DRAW.randint(0, 100_000)),
    "admitted": each(lambda: f"2013-0{DRAW.randint(1, 9)}-1{DRAW.randint(0, 9)} 00:00:00"),
    "colour": of("white brown black green grey red blue yellow pink orange purple"),
    "Familienstand": of("ledig verheiratet geschieden verwitwet"),
    "ville": of("Paris Lyon Nantes Lille Nice Rennes Reims Brest Metz Tours Dijon"),
    "professione": of("medico avvocato cuoco muratore sarto idraulico pittore barista autista"),
}


@pytest.mark.parametrize("name", IDENTIFYING)
def test_it_is_recognized_whatever_its_role(name):
    assert direct_identifiers(coded_column(name, IDENTIFYING[name])) is not None


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_column_is_none(name):
    assert direct_identifiers(coded_column(name, ORDINARY[name])) is None


@pytest.mark.parametrize("name", IDENTIFYING)
def test_init_does_not_publish_it(name, tmp_path):
    frame = pl.DataFrame({name: IDENTIFYING[name], "sex": of("f m"), "illness": of("flu cold")})
    frame.write_csv(tmp_path / "table.csv")
    proposed = yaml.safe_load(propose_job(tmp_path / "table.csv", tmp_path).text)
    assert proposed["attributes"][name]["role"] in ("identifier", "drop")


def job_of(**attributes):
    known = {"sex": {"role": "quasi-identifier"}}
    return dc.Job(
        attributes={**known, **attributes}, requirements=[{"k-anonymity": {"k": 2}}],
        method="mondrian", unit="rows",
    )  # fmt: skip


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "unchanged"])
@pytest.mark.parametrize("name", ["first", "surname", "c_case_number", "id", "jail_in", "lives at"])
def test_publish_refuses_it_with_the_count_and_no_value(role, name):
    frame = pl.DataFrame({name: IDENTIFYING[name], "sex": of("f m")})
    count = frame[name].n_unique()
    with pytest.raises(dc.JobError, match=rf"attributes\.{name}: .*\({count:,} distinct") as caught:
        dc.publish(frame, job_of(**{name: {"role": role}}))
    assert "allow_identifying" in str(caught.value)
    values = [str(value) for value in frame[name].unique() if len(str(value)) > 3]
    assert not any(value in str(caught.value) for value in values)
    allowed = job_of(**{name: {"role": role, "allow_identifying": True}})
    assert dc.publish(frame, allowed).audit.ok


def test_an_unchanged_column_may_single_out_few():
    frame = pl.DataFrame({"sex": of("f m"), "rate": list(range(16)) + [1000] * (ROWS - 16)})
    with pytest.raises(dc.JobError, match=r"attributes\.rate: 16 of 300 rows are unique"):
        dc.publish(frame, job_of(rate={"role": "unchanged"}))
    few = frame.with_columns(pl.col("rate").clip(1, None))
    assert dc.publish(few, job_of(rate={"role": "insensitive"})).audit.ok  # 14 are unique
    assert dc.publish(frame, job_of(rate={"role": "sensitive"})).audit.ok
    assert dc.publish(frame, job_of(rate={"role": "quasi-identifier"})).audit.ok


def test_persons_who_keep_their_rows_are_counted_once():
    frame = pl.DataFrame({
        "person": [f"p{n // 2}" for n in range(ROWS)], "sex": ["f"] * ROWS,
        "rate": [n // 2 for n in range(ROWS)],
    })  # fmt: skip
    attributes = {"person": {"role": "identifier"}, "sex": {"role": "quasi-identifier"},
                  "rate": {"role": "unchanged"}}  # fmt: skip
    job = dc.Job(attributes=attributes, requirements=[{"k-anonymity": {"k": 2}}],
                 person={"column": "person", "rows": "keep"}, method="mondrian")  # fmt: skip
    with pytest.raises(dc.JobError, match=r"attributes\.rate: 150 of 150 persons are unique"):
        dc.publish(frame, job)


def test_init_publishes_unchanged_only_what_singles_out_nobody(tmp_path):
    """A flag and scales leave few rows unique, but split every group: they are protected."""
    rows = 2000
    draw = random.Random(2)
    known = "age sex zip country occupation education language region city married department job"
    frame = pl.DataFrame({
        **{name: [draw.randint(20, 29) for _ in range(rows)] for name in known.split()},
        "quux": [draw.randint(0, 10**9) for _ in range(rows)],
        "flag": [draw.randint(0, 1) for _ in range(rows)],
        "batch": ["b"] * rows,
        **{f"x{n}z": [draw.randint(0, 9) for _ in range(rows)] for n in range(3)},
    })  # fmt: skip
    frame.write_csv(tmp_path / "table.csv")
    text = propose_job(tmp_path / "table.csv", tmp_path).text
    assert not re.search(r"(\d+%) instead of \1", text)
    attributes = yaml.safe_load(text)["attributes"]
    unchanged = [name for name, one in attributes.items() if one["role"] == "unchanged"]
    assert unchanged == ["batch"]
    release = dc.publish(None, dc.Job.parse(text, folder=tmp_path), seed=1)
    assert not any(release.manifest.singling_out.unique.values())
    dropped = [name for name in attributes if attributes[name]["role"] == "drop"]
    assert set(dropped) == {"department", "language"}  # two more than an attacker knows
    secrets = [name for name, one in attributes.items() if one["role"] == "sensitive"]
    assert {"flag", "x0z", "x1z", "x2z"} <= set(secrets)
    for name in dropped:
        (line,) = [line for line in text.splitlines() if line.startswith(f"  {name}: ")]
        assert "to publish it coarsened, write {role: quasi-identifier}" in line
