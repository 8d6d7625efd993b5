"""What wrong input is told: a place, words that a writer of YAML knows, and never a traceback."""

from __future__ import annotations

import json

import pytest
import typer

from discreet.cli.console import guarded
from discreet.errors import InputError
from discreet.io.source import Source
from discreet.job.model import Job

ATTRIBUTES = "attributes: {age: {role: quasi-identifier}, flu: {role: sensitive}}\n"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("source: {path: t.csv, missing: [2020-13-45]}", "line 2: '2020-13-45' can't be read as"),
        ("source: {path: !secret t.csv}", "line 2: 't.csv' can't be read as !secret"),
        ("source: {path: !!int abc}", "line 2: 'abc' can't be read as int"),
        ("source: &a {path: t.csv, more: *a}", "an alias refers to itself"),
        ("source:\n\tpath: t.csv", "line 3: not valid YAML: tab used for indentation; use spaces"),
        ("source: t.csv", "line 2, source: must be a mapping"),
        ("source: {path: }", "line 2, source.path: must be the path of a file; found nothing"),
        ("source: {path: t.csv, missing: [999]}", "text, in quotes if YAML reads it as anything"),
        ("source: {path: t.csv, missing: '?'}", "source.missing: must be a list"),
        ("source: {path: t.csv, encoding: x}", "encoding: 'x'; try utf-8 or latin-1"),
        ("requirements: {k-anonymity: {k: 2}}", "requirements: must be a list"),
        ("requirements: [k-anonymity: {k: 2, kk: 3}]", "kk: unknown key. Did you mean k?"),
        ("requirements:\n- t-closeness: {t: 1, attribute: age}", "line 3, requirements[0]: t-cl"),
        ("method: {full-domain: {supression: 0.1}}", "unknown key. Did you mean suppression?"),
        ("method:", "line 2, method: A method is one name"),
        ("method: 3", "found 3."),
    ],
)
def test_a_wrong_job_is_told_where_and_in_words_of_yaml(written, said):
    with pytest.raises(InputError) as caught:
        Job.parse(ATTRIBUTES + written + "\n")
    message = str(caught.value)
    assert said in message
    for python in ("tuple", "dictionary", "instance", "NoneType", "<class"):
        assert python not in message


def test_a_role_that_is_none_and_the_schema_know_the_same_roles(tmp_path, run):
    for wrong, hint in (("sensitiv", "Did you mean sensitive"), ("structure", "Known: identifier")):
        with pytest.raises(InputError, match=f"line 1, attributes.a.role: .*'{wrong}'. {hint}"):
            Job.parse(f"attributes: {{a: {{role: {wrong}}}}}\n")
    assert '"structure"' not in run("schema").stdout


def test_a_problem_names_what_was_found_once():
    with pytest.raises(InputError) as caught:
        Job.parse(ATTRIBUTES + "source: {path: t.csv, delimiter: ';;'}\n")
    assert str(caught.value).count("';;'") == 1


def test_a_folder_in_place_of_a_file(tmp_path, run):
    (tmp_path / "folder").mkdir()
    for command in ("init", "profile"):
        for folder in (".", "folder"):
            done = run(command, folder)
            assert done.returncode == 2
            assert done.stderr == f"Error: {folder}: is a folder. Name one file in it.\n"
    with pytest.raises(InputError, match="there is no such file"):
        _ = Source(path=tmp_path / "nowhere").resolved_format


def test_a_defect_is_no_traceback_and_repeats_no_cell(capsys):
    with pytest.raises(typer.Exit) as ended, guarded(as_json=True):
        raise OverflowError("Alice has the flu")
    assert ended.value.exit_code == 2
    told = capsys.readouterr()
    assert "OverflowError in test_messages.py, line" in json.loads(told.out)["error"]
    assert "Alice" not in told.out + told.err
    with pytest.raises(typer.Exit) as ended, guarded(debug=True):
        raise OverflowError("Alice has the flu")
    assert ended.value.exit_code == 2  # 1 would say that a guarantee fails
    assert "OverflowError: Alice has the flu" in capsys.readouterr().err
