"""What ``--json`` prints has a schema: results of every command, and errors with stable codes."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from subprocess import run as run_process

import jsonschema
import pytest
from tests.saving import ACCEPTING

import discreet
from discreet.cli.schemas import RESULTS, error_schema, result_schema
from discreet.errors import CODES, DiscreetError

COLUMNS = ("--quasi", "zip,sex", "--sensitive", "diagnosis")
# By the name of the result: a command whose result it is.
COMMANDS = {
    "publish": ("publish", "job.yaml", *ACCEPTING),
    "audit": ("audit", "release"),
    "attack": ("attack", "release", "--original", "job.yaml"),
    "measure": ("measure", "release", "--original", "job.yaml", "--queries", "50"),
    "check": ("check", "patients.csv", *COLUMNS),
    "profile": ("profile", "job.yaml"),
    "init": ("init", "patients.csv", "--output", "proposed.yaml", "--budget", "0s"),
    "compare": ("compare", "job.yaml", "--methods", "mondrian"),
    "attack of a table": ("attack", "patients.csv", "--original", "patients.csv", *COLUMNS),
    "measure of a table": ("measure", "patients.csv", "--original", "patients.csv", *COLUMNS),
    "compare-tables": ("compare-tables", "patients.csv", "--original", "patients.csv", *COLUMNS),
    "export": ("export", "release", "--to", "exported.csv"),
    "hierarchy show": ("hierarchy", "show", "sex"),
    "ledger init": ("ledger", "init", "people.ledger"),
    "keys new": ("keys", "new", "private.key"),
    "report": ("report", "release"),
    "repair": ("repair", "job.yaml", "--budget", "3s"),
}
NEED_MORE = {  # a ledger with releases, or an add-on
    "apply", "attack of a series", "audit of a series", "evidence", "ledger list", "ledger verify",
    "ledger correlate", "ledger show",
}  # fmt: skip


def test_results_of_commands_keep_their_schema(hospital, run):
    assert {*COMMANDS, *NEED_MORE} == set(RESULTS)
    printed = json.loads(run("schema", "result").stdout)
    assert printed == result_schema()
    for name, words in COMMANDS.items():
        result = json.loads(run(*words, "--json").stdout)
        jsonschema.validate(result, printed)
        jsonschema.validate(result, printed["$defs"][name])
        for key in printed["$defs"][name]["required"]:
            damaged = {other: value for other, value in result.items() if other != key}
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(damaged, printed["$defs"][name])


def test_a_ledger_has_schemas_too(hospital, run):
    schemas = result_schema()["$defs"]
    job = hospital / "job.yaml"
    job.write_text(job.read_text().replace("full-domain: {suppression: 0.02}", "mondrian"))
    run("ledger", "init", "l.ledger")
    for name in ("list", "verify"):
        done = run("ledger", name, "l.ledger", "--json")
        jsonschema.validate(json.loads(done.stdout), schemas[f"ledger {name}"])


def errors(hospital: Path) -> dict[str, tuple[str, ...]]:
    """By code, a command that ends with it."""
    text = (hospital / "job.yaml").read_text(encoding="utf-8")
    jobs = {
        "lacking.yaml": text.replace("attributes:", "attributes:\n  height: {role: sensitive}"),
        "strict.yaml": text.replace("{k: 5}", "{k: 100000}"),
        "wrong.yaml": text + "tea: 1\n",
        "risky.yaml": text + "sign_off: {reidentified: {look: 0, refuse: 0}}\n",
    }
    for name, written in jobs.items():
        (hospital / name).write_text(written, encoding="utf-8")
    (hospital / "empty.csv").write_text("age,sex\n", encoding="utf-8")
    (hospital / "taken").mkdir()
    return {
        "discreet.input.file-missing": ("publish", "nowhere.yaml"),
        "discreet.input.column-missing": ("publish", "lacking.yaml"),
        "discreet.input.empty": ("check", "empty.csv", "--quasi", "age,sex"),
        "discreet.input": ("attack", "release"),
        "discreet.job": ("publish", "wrong.yaml"),
        "discreet.infeasible": ("publish", "strict.yaml"),
        "discreet.risk": ("publish", "risky.yaml", "--output", "other"),
        "discreet.release.exists": ("publish", "job.yaml", "--output", "taken"),
    }


def test_errors_have_stable_codes_and_keep_their_schema(hospital, run):
    printed = json.loads(run("schema", "error").stdout)
    assert printed == error_schema()
    jsonschema.Draft202012Validator.check_schema(printed)
    for code, words in errors(hospital).items():
        done = run(*words, "--json")
        error = json.loads(done.stdout)
        assert (error["code"], error["exit_status"]) == (code, done.returncode), words
        jsonschema.validate(error, printed)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(error | {"exit_status": 130}, printed)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(error | {"code": "discreet.tea"}, printed)


@pytest.mark.parametrize(
    "words", [("publish", "--tea"), ("tea",), ("publish",), ("attack", "a", "--seconds", "x")]
)
def test_usage_errors_are_objects_too(words, tmp_path):
    command = [sys.executable, "-m", "discreet", *words]
    done = run_process([*command, "--json"], capture_output=True, text=True, cwd=tmp_path)
    error = json.loads(done.stdout)
    jsonschema.validate(error, error_schema())
    assert (error["code"], error["exit_status"], done.returncode) == ("discreet.usage", 2, 2)
    assert error["error"] in " ".join(done.stderr.replace("\n", " ").split())
    plain = run_process(command, capture_output=True, text=True, cwd=tmp_path)
    assert (plain.stdout, plain.returncode) == ("", 2)
    assert plain.stderr.startswith("Usage: ")


def test_every_error_has_a_code_that_is_listed():
    kinds, waiting = [], [DiscreetError]
    while waiting:
        kinds.append(waiting.pop())
        waiting += [
            kind for kind in kinds[-1].__subclasses__() if kind.__module__.startswith("discreet")
        ]
    assert {kind.code for kind in kinds} <= set(CODES)
    assert all(CODES[kind.code] == kind.exit_status for kind in kinds)
    # Codes that are set where an error is raised are constants of this list.
    package = Path(discreet.__file__).parent
    from discreet import errors as module

    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "with_code":
                assert getattr(module, node.args[0].id) in CODES, path
