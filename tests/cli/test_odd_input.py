"""Tables as they really come: odd names, delimiters, encodings, gzip, missing tokens, damage."""

from __future__ import annotations

import gzip
import json
import os

import pytest
from tests import naive
from tests.saving import ACCEPTING

NAMES = ["full name", "zip [home]", "a=b", "größe, cm", "日本", "no", "1988", "x: y", '"q"', " s "]


def quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def job_for(names: list[str], source: str) -> str:
    roles = ["identifier"] + ["quasi-identifier"] * (len(names) - 3) + ["sensitive", "insensitive"]
    lines = [f"  {quoted(n)}: {{role: {r}}}" for n, r in zip(names, roles, strict=True)]
    return (
        f"source: {source}\nattributes:\n"
        + "\n".join(lines)
        + "\nrequirements:\n  - k-anonymity: {k: 2}\n"
    )


def table_for(names: list[str], delimiter: str = ",") -> str:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    rows = [
        [f"p{number}ä", *(f"v{(number * column) % 3}ä" for column in range(1, len(names)))]
        for number in range(30)
    ]
    return "\n".join(delimiter.join(map(cell, row)) for row in [names, *rows]) + "\n"


def test_column_names_of_any_kind(tmp_path, run):
    (tmp_path / "t.csv").write_text(table_for(NAMES), encoding="utf-8")
    (tmp_path / "job.yaml").write_text(job_for(NAMES, "{path: t.csv}"), encoding="utf-8")
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 0, done.stderr
    rows = naive.read_csv(tmp_path / "release" / "records.csv")
    assert list(rows[0]) == NAMES[1:]
    groups = naive.classes(rows, NAMES[1:-2])
    assert naive.k_of(groups) >= 2
    assert run("audit", "release", "--original", "job.yaml").returncode == 0
    assert run("measure", "release", "--original", "job.yaml").returncode == 0


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_delimiters_encodings_and_gzip(tmp_path, run, delimiter, encoding):
    names = ["id", "größe", "kind", "s", "note"]
    data = table_for(names, delimiter).encode(encoding)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(data))
    said = "" if encoding == "utf-8-sig" else ", encoding: latin-1"
    job = job_for(names, f"{{path: t.csv.gz{said}}}")
    (tmp_path / "job.yaml").write_text(job, encoding="utf-8")
    done = run("publish", "job.yaml", "--format", "parquet", *ACCEPTING)
    assert done.returncode == 0, done.stderr
    assert run("audit", "release", "--original", "job.yaml").returncode == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,1,1\n1,2,3\n", ["same name", "columns 2, 3"]),
        (b"a,b\n1,2\n3\n", ["line 3"]),
        (b"a,b\n1,2\n3,4,5\n", ["line 3"]),
        (b"a,b\n1,\xff\n", ["line 2", "encoding"]),
        (b"", ["empty"]),
        (b"a,b\n", ["no row"]),
    ],
)
def test_damaged_tables_are_exit_2_with_the_line(tmp_path, run, data, words):
    (tmp_path / "t.csv").write_bytes(data)
    (tmp_path / "job.yaml").write_text(
        "source: {path: t.csv}\nattributes:\n"
        "  a: {role: quasi-identifier}\n  b: {role: sensitive}\n"
    )
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr, done.stderr
    assert not (tmp_path / "release").exists()


def test_missing_tokens_are_values_of_their_own(tmp_path, run):
    rows = "q,s\n" + "?,x\n,y\n1,x\n1,y\n"
    (tmp_path / "t.csv").write_text(rows)
    (tmp_path / "job.yaml").write_text(
        'source: {path: t.csv, missing: ["?"]}\nattributes:\n  q: {role: quasi-identifier, '
        "hierarchy: suppress}\n  s: {role: sensitive}\n"
        "requirements:\n  - distinct-l-diversity: {l: 2}\n"
    )
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 0, done.stderr
    published = naive.read_csv(tmp_path / "release" / "records.csv")
    assert sorted(row["q"] for row in published) == ["", "", "1", "1"]


HEADERLESS = """\
Marysecret,39,secret@example.org,flusecret
Annesecret,40,other@example.org,flusecret
"""
DAMAGED = "name,age,mail,illMarysecret,39,m@example.org,flusecret\nAnnesecret,40,a@b.org,colds\n"
PLAIN = "Marysecret,Femalesecret\nAnnesecret,Femalesecret\nZoesecret,Femalesecret\n"
JOB = """\
source: {path: t.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  mail: {role: identifier}
  ill: {role: sensitive}
"""


@pytest.mark.parametrize("data", [HEADERLESS, DAMAGED, PLAIN, "a,5,5\n" + HEADERLESS])
def test_the_first_person_is_not_printed_as_names_of_columns(tmp_path, run, data):
    (tmp_path / "t.csv").write_text(data)
    (tmp_path / "job.yaml").write_text(JOB)
    for command in (
        ["publish", "job.yaml", *ACCEPTING],
        ["publish", "job.yaml", "--json", *ACCEPTING],
    ):
        done = run(*command)
        assert done.returncode == 2
        said = done.stdout + done.stderr
        assert "secret" not in said
        assert "39" not in said
        assert "header" in said


def test_a_job_is_not_proposed_for_a_table_without_a_header(tmp_path, run):
    (tmp_path / "t.csv").write_text(HEADERLESS)
    for command in (["init", "t.csv"], ["profile", "t.csv"]):
        done = run(*command)
        assert done.returncode == 2
        assert "secret" not in done.stdout + done.stderr
        assert "first line looks like a row" in done.stderr
    assert not (tmp_path / "t.yaml").exists()


def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path, run):
    os.mkfifo(tmp_path / "t.csv")
    (tmp_path / "job.yaml").write_text(JOB)
    for command in (["publish", "job.yaml", *ACCEPTING], ["profile", "t.csv"]):
        done = run(*command)
        assert done.returncode == 2
        assert "a pipe or device, not a file" in done.stderr


def test_a_damaged_parquet_file_is_not_quoted(tmp_path, run):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 secretcell PAR1")
    (tmp_path / "job.yaml").write_text(JOB.replace("t.csv", "t.parquet"))
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 2
    assert "not a valid parquet file" in done.stderr
    assert "secretcell" not in done.stderr
