"""The script that checks a release without discreet says what the audit says, of every kind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED
from tests.worlds.cases import KEEP, METHODS, make_case
from tests.worlds.running import _job

import discreet as dc
from discreet.pipeline.run import make_release
from discreet.releases.registry import KINDS

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "audit-without-discreet" / "check.py"
HOLDS, FAILS, UNCHECKED = ": holds", ": FAILS", ": not checked here"
BOUNDS = [
    {"k-anonymity": {"k": 4}},
    {"distinct-l-diversity": {"l": 2}},
    {"entropy-l-diversity": {"l": 1.5}},
    {"recursive-cl-diversity": {"c": 3, "l": 2}},
    {"p-diversity": {"l": 1.5}},
    {"alpha-k-anonymity": {"alpha": 0.8, "k": 4}},
    {"t-closeness": {"t": 0.7}},
]
TWO = [{"k-anonymity": {"k": 4}}, {"p-diversity": {"l": 2}}]
DIVERSE = [{"p-diversity": {"l": 2}}, {"m-diversity": {"l": 2}}]
FLOORS = {"l": {"ill": 3, "job": 3, "pay": 2}}
# By kind of release: methods with their requirements.
RELEASES: dict[str, list[tuple[Any, list[Any]]]] = {
    "generalized": [("mondrian", BOUNDS), ("local-recoding", TWO), ("msa-diversity", DIVERSE)],
    "bucketized": [("anatomy", []), ("unlinked", [])],
    "generalized-buckets": [({"m-invariance": {"m": 2, "publish": "generalized"}}, [])],
    "projected": [("codip", TWO)],
    "decomposed": [({"decomposition": {"primary": "ill", **FLOORS}},
                    [{"conditional-l-diversity": {"l": 2, "known": "ill"}}])],
}  # fmt: skip
CASES = [(method, asked) for releases in RELEASES.values() for method, asked in releases]


def saved(method: Any, requirements: list[Any], tmp_path: Path) -> Path:
    """Publish 200 people with three sensitive attributes, one of them with a harmless value."""
    rng = np.random.default_rng(1)
    columns = {
        "id": [f"p{number}" for number in range(200)],
        "age": rng.integers(20, 60, 200),
        "town": rng.choice(["a", 'b "c", d'], 200),
        "ill": rng.choice(["p, x", "q", "r", "ß", ""], 200),
        "job": rng.choice(list("uvwxyz"), 200),
        "pay": rng.integers(1, 6, 200),
    }
    attributes: dict[str, Any] = {
        "id": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "town": {"role": "quasi-identifier"},
        "ill": {"role": "sensitive"},
        "job": {"role": "sensitive", "non_sensitive_values": ["u"]},
        "pay": {"role": "sensitive", "type": "integer"},
    }
    name = method if isinstance(method, str) else next(iter(method))
    if name == "decomposition":
        attributes["job"] = {"role": "sensitive"}
    for attribute in ("job", "pay") if name in ("anatomy", "m-invariance") else ():
        del columns[attribute], attributes[attribute]
    job = dc.Job(attributes=attributes, requirements=requirements, method=method)
    folder = tmp_path / "release"
    if name == "m-invariance":
        settings = dc.LedgerSettings(path=tmp_path / "people.ledger").located(tmp_path)
        job = job.model_copy(update={"ledger": settings})
        with dc.Ledger.create(settings) as ledger:
            make_release(pl.DataFrame(columns), job, seed=1, ledger=ledger).save(
                folder, **UNATTACKED
            )
        return folder
    dc.publish(pl.DataFrame(columns), job, seed=1).save(folder, **UNATTACKED)
    return folder


def checked(folder: Path) -> tuple[int, str]:
    """Run the script in an interpreter that sees nothing but the standard library."""
    run = subprocess.run(
        [sys.executable, "-I", "-S", SCRIPT, folder], capture_output=True, text=True, check=False
    )
    assert not run.stderr, run.stderr
    return run.returncode, run.stdout


def written(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


def rewritten(folder: Path, manifest: dict[str, Any]) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_every_kind_of_release_is_checked():
    assert RELEASES.keys() == KINDS.keys()


@pytest.mark.parametrize(("method", "requirements"), CASES, ids=str)
def test_the_script_derives_what_the_audit_derives(method, requirements, tmp_path):
    folder = saved(method, requirements, tmp_path)
    manifest = written(folder)
    status, printed = checked(folder)
    # A guarantee of a series needs all releases, and is the one that one folder does not prove.
    derived = [one["requirement"] for one in manifest["promises"] if not of_series(one)]
    assert printed.count(HOLDS) == len(derived) > 0, printed
    assert printed.count(UNCHECKED) == len(manifest["promises"]) - len(derived)
    assert status == (0 if len(derived) == len(manifest["promises"]) else 2)
    # The same where a guarantee says more than is kept: of each number, a little and much more.
    for number, promise in enumerate(manifest["promises"]):
        if of_series(promise):
            continue
        for changed in stricter(promise["parameters"]):
            forged = json.loads(json.dumps(manifest))
            forged["promises"][number]["parameters"] = changed
            rewritten(folder, forged)
            status, printed = checked(folder)
            verdict = dc.audit(folder).promises[number].holds
            assert (f"{promise['requirement']} {changed}{HOLDS}" in printed) == verdict
            assert (f"{promise['requirement']} {changed}{FAILS}" in printed) != verdict
            assert (status == 1) == (FAILS in printed)


def of_series(promise: dict[str, Any]) -> bool:
    return str(promise["requirement"]).endswith("-in-series")


def stricter(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield parameters with one bound that says more."""
    if "inner" in parameters:
        ((name, inner),) = parameters["inner"].items()
        for changed in stricter(inner):
            yield {**parameters, "inner": {name: changed}}
    for key in ("k", "l", "m"):
        bound = parameters.get(key)
        if isinstance(bound, int | float):
            yield {**parameters, key: bound + 1}
            yield {**parameters, key: bound + 50}
    for key in ("t", "alpha", "c"):
        if parameters.get(key):
            yield {**parameters, key: round(parameters[key] * 0.8, 3)}
            yield {**parameters, key: 0.1}
    if isinstance(parameters.get("l"), dict):
        for name, bound in parameters["l"].items():
            yield {**parameters, "l": {**parameters["l"], name: bound + 3}}


def test_random_tables_of_every_method_are_judged_alike(tmp_path):
    counted = dict.fromkeys((HOLDS, UNCHECKED), 0)
    for number in range(6 * len(METHODS)):
        case = make_case(number)
        if case.name in ("series", "m-invariance-cells"):
            continue
        folder = tmp_path / f"release-{number}"
        try:
            job = _job(case.jobs[0], tmp_path)
            dc.publish(pl.DataFrame(case.rows), job, seed=number).save(
                folder, report=False, **UNATTACKED
            )
        except (dc.InfeasibleError, dc.JobError, dc.InputError):
            continue
        status, printed = checked(folder)
        assert FAILS not in printed and "BROKEN" not in printed, (number, printed)
        assert status == (2 if UNCHECKED in printed else 0)
        assert case.basis != KEEP or HOLDS not in printed
        for words in counted:
            counted[words] += printed.count(words)
    assert counted[HOLDS] > 40
    assert counted[UNCHECKED] > 0


def test_a_changed_table_is_found(tmp_path):
    folder = saved("mondrian", TWO, tmp_path)
    with (folder / "records.csv").open("a", encoding="utf-8") as file:
        file.write("30,a,q,v,3\n")
    status, printed = checked(folder)
    assert status == 1
    assert "CHANGED" in printed


@pytest.mark.parametrize("broken", ["a value without a row", "a sensitive row", "a group"])
def test_a_decomposition_that_contradicts_itself_is_found(broken, tmp_path):
    import csv
    import hashlib

    ((method, requirements),) = RELEASES["decomposed"]
    folder = saved(method, requirements, tmp_path)
    manifest = written(folder)
    name = {"a value without a row": "group_values", "a sensitive row": "sensitive"}.get(
        broken, "groups"
    )
    path = folder / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    match broken:
        case "a value without a row":
            rows.append([rows[0][0], "job", "never"])
        case "a sensitive row":  # that no group lists: another takes its place
            rows[0] = ["never", *rows[0][1:]]
        case "a group":  # people whose lists hold too few rows
            place = header.index("group")
            for row in rows[: len(rows) // 2]:
                row[place] = rows[0][place]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    manifest["tables"][name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["tables"][name]["rows"] = len(rows)
    rewritten(folder, manifest)
    status, printed = checked(folder)
    assert status == 1
    assert "BROKEN" in printed


def test_a_guarantee_about_no_attribute_of_the_tables_is_not_called_held(tmp_path):
    folder = saved("mondrian", TWO, tmp_path)
    manifest = written(folder)
    manifest["promises"][1]["parameters"]["attribute"] = "nowhere"
    rewritten(folder, manifest)
    status, printed = checked(folder)
    assert status == 2
    assert UNCHECKED in printed
