"""Folders that a forger changed, who also knows how to write hashes and row counts.

Each change contradicts the manifest or would let a promise seem kept; the audit must refuse it,
by a problem or a broken promise, and never by a traceback.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app
from discreet.releases.manifest import sha256_of
from discreet.requirements.registry import REQUIREMENTS

ROWS = 120
KINDS = ("generalized", "bucketized", "counted", "decomposed", "projected")
PEOPLE = {
    "generalized": "records",
    "bucketized": "quasi_identifiers",
    "counted": "quasi_identifiers",
    "decomposed": "groups",
    "projected": "projection_1",
}


def write_people(folder: Path) -> None:
    rng = np.random.default_rng(5)
    pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(ROWS)],
            "age": rng.integers(20, 60, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "job": rng.choice(["cook", "nurse", "clerk", "smith"], ROWS),
            "drug": rng.choice(["a", "b", "c", "d"], ROWS),
            "note": rng.choice(["x", "y"], ROWS),
        }
    ).write_csv(folder / "people.csv")


def job_of(folder: Path, kind: str) -> dc.Job:
    method, requirements = {
        "generalized": ("mondrian", [{"k-anonymity": {"k": 4}}, {"t-closeness": {"t": 0.6}}]),
        "bucketized": ({"msa-diversity": {"publish": "buckets"}}, [{"m-diversity": {"l": 2}}]),
        "counted": ("anatomy", [{"distinct-l-diversity": {"l": 3}}]),
        "decomposed": ("decomposition", [{"sa-diversity": {"l": {"job": 2, "drug": 2}}}]),
        "projected": ({"codip": {"beta": 0.5}}, [{"k-anonymity": {"k": 3}}]),
    }[kind]
    return dc.Job(
        source={"path": str(folder / "people.csv")},
        attributes={
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [10, 20, "*"]},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "job": {"role": "drop" if kind == "counted" else "sensitive"},
            "drug": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        requirements=requirements,
        method=method,
    )


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("releases")
    write_people(folder)
    for kind in KINDS:
        dc.publish(None, job_of(folder, kind), seed=3).save(
            folder / kind, report=False, **UNATTACKED
        )
    return folder


class Forger:
    """A copy of a release folder that is changed and sealed again."""

    def __init__(self, releases: Path, kind: str, folder: Path) -> None:
        self.folder, self.kind, self.job = folder, kind, job_of(releases, kind)
        shutil.copytree(releases / kind, folder)
        self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.tables = {
            name: pl.read_csv(folder / entry["file"], infer_schema=False)
            for name, entry in self.manifest["tables"].items()
        }
        self.people = PEOPLE[kind]

    def add_table(self, name: str, frame: pl.DataFrame, role: str) -> None:
        self.tables[name] = frame
        columns = dict.fromkeys(frame.columns, role)
        self.manifest["tables"][name] = {"file": f"{name}.csv", "rows": 0, "columns": columns}

    def add_column(self, table: str, name: str, role: str) -> None:
        cells = [f"Person {i}" for i in range(self.tables[table].height)]
        self.tables[table] = self.tables[table].with_columns(pl.Series(name, cells))
        self.manifest["tables"][table]["columns"][name] = role

    def set_roles(self, role: str, other: str) -> None:
        for entry in self.manifest["tables"].values():
            entry["columns"] = {n: other if r == role else r for n, r in entry["columns"].items()}

    def write(self) -> None:
        for name, frame in self.tables.items():
            entry = self.manifest["tables"][name]
            frame.write_csv(self.folder / entry["file"])
            entry |= {"rows": frame.height, "sha256": sha256_of(self.folder / entry["file"])}
        self.write_manifest()

    def write_manifest(self) -> None:
        naive.write_manifest(self.folder, self.manifest)

    def refusal(self, original: bool = False) -> str:
        """Everything that an audit has against the folder; empty if it passes."""
        found = dc.audit(self.folder, original=self.job if original else None)
        broken = [f"{p.requirement} is broken" for p in found.promises if not p.holds]
        return "; ".join([*found.problems, *broken])


@pytest.fixture(params=KINDS)
def forger(request, releases, tmp_path) -> Forger:
    return Forger(releases, request.param, tmp_path / "release")


def forger_of(kind: str, releases: Path, tmp_path: Path) -> Forger:
    return Forger(releases, kind, tmp_path / "release")


def test_a_folder_that_was_only_sealed_again_passes(forger):
    forger.write()
    assert forger.refusal() == ""
    assert forger.refusal(original=True) == ""


def test_a_table_of_names_beside_the_others_is_refused(forger):
    forger.add_table("names", pl.DataFrame({"name": ["Ann"], "drug": ["a"]}), "insensitive")
    forger.write()
    assert "'names' is not a table of a" in forger.refusal()


@pytest.mark.parametrize("role", ["identifier", "drop", "structure"])
def test_a_column_that_nobody_would_read_is_refused(forger, role):
    forger.add_column(forger.people, "name", role)
    forger.write()
    assert f"has a column 'name' ({role}), which does not belong there" in forger.refusal()


def test_a_table_of_counterfeits_holds_nothing_else(releases, tmp_path):
    forger = forger_of("bucketized", releases, tmp_path)
    groups = forger.tables["sensitive"].select("group").head(1)
    table = groups.with_columns(count=pl.lit("0"), drug=pl.lit("a"))
    forger.add_table("counterfeits", table, "structure")
    forger.write()
    assert "'counterfeits' has a column 'drug'" in forger.refusal()


def test_a_kind_without_its_tables_is_refused(forger):
    other = "bucketized" if forger.kind in ("generalized", "projected") else "generalized"
    forger.manifest["kind"] = other
    forger.write()
    assert "is missing" in forger.refusal()


def test_sensitive_columns_under_another_role_prove_nothing(forger):
    forger.set_roles("sensitive", "insensitive")
    forger.write()
    assert forger.refusal()


def test_a_promise_about_no_attribute_does_not_hold(releases, tmp_path):
    for kind in ("generalized", "counted", "projected"):
        forger = forger_of(kind, releases, tmp_path / kind)
        promise = {"requirement": "t-closeness", "parameters": {"t": 0.9, "attribute": []}}
        forger.manifest["promises"] = [{**promise, "holds": True, "achieved": {}}]
        forger.write()
        assert "t-closeness is broken" in forger.refusal()


@pytest.mark.parametrize("part", ["achieved", "by_attribute"])
def test_figures_that_the_files_do_not_give_are_refused(forger, part):
    for promise in forger.manifest["promises"]:
        promise[part] = dict.fromkeys(promise.get(part) or ["k"], 0.125)
    forger.write()
    assert "the files say that it holds" in forger.refusal()


def test_a_promise_said_not_to_hold_is_a_contradiction(forger):
    forger.manifest["promises"][0]["holds"] = False
    forger.write()
    assert "that it does not hold" in forger.refusal()


def test_parameters_that_no_requirement_takes_are_no_traceback(forger):
    forger.manifest["promises"][0]["parameters"] = {"k": -3}
    forger.write()
    with pytest.raises(dc.DiscreetError, match=r"manifest\.json: damaged at"):
        dc.audit(forger.folder)


def test_row_counts_of_tables_must_be_theirs(forger):
    forger.write()
    forger.manifest["tables"][forger.people]["rows"] += 7
    forger.write_manifest()
    assert f"rows of '{forger.people}'; it has" in forger.refusal()


def test_a_file_without_a_hash_is_refused(forger):
    forger.write()
    forger.manifest["tables"][forger.people]["sha256"] = ""
    forger.write_manifest()
    assert "has no sha256" in forger.refusal()


@pytest.mark.parametrize("count", ["0", "-1", "0.9", "many", ""])
def test_a_value_that_is_counted_as_nobodys_does_not_occur(releases, tmp_path, count):
    """A group of two values and a third of nobody is not distinct 3-diverse."""
    forger = forger_of("counted", releases, tmp_path)
    table = forger.tables["sensitive"]
    group = table["group"][0]
    held = table.filter(pl.col("group") == group)["drug"]
    other = next(drug for drug in ("a", "b", "c", "d") if drug not in set(held))
    row = pl.DataFrame({"group": [group], "drug": [other], "count": [count]})
    forger.tables["sensitive"] = pl.concat([table, row])
    forger.write()
    assert "1 rows of 'sensitive' have no count above 0" in forger.refusal()


def test_buckets_in_the_order_of_their_people_are_refused(releases, tmp_path):
    forger = forger_of("bucketized", releases, tmp_path)
    for name in ("quasi_identifiers", "sensitive"):
        forger.tables[name] = forger.tables[name].sort(pl.col("group").cast(pl.Int64))
    forger.write()
    assert "so rows can be joined" in forger.refusal()


@pytest.mark.parametrize("kind", ["generalized", "projected"])
def test_a_mask_beside_values_is_not_one_more_value(releases, tmp_path, kind):
    forger = forger_of(kind, releases, tmp_path)
    name = next(n for n, frame in forger.tables.items() if "drug" in frame.columns)
    cells = ["*", *forger.tables[name]["drug"].to_list()[1:]]
    forger.tables[name] = forger.tables[name].with_columns(pl.Series("drug", cells))
    forger.write()
    assert "'drug' is masked in part of 1 classes" in forger.refusal()


@pytest.mark.parametrize("kind", ["bucketized", "decomposed"])
def test_people_in_the_order_of_the_original_are_refused(releases, tmp_path, kind):
    forger = forger_of(kind, releases, tmp_path)
    original = pl.read_csv(releases / "people.csv", infer_schema=False)
    keys = ["age", "sex", "note"]
    alike = pl.int_range(pl.len()).over(keys).alias("alike")
    people = forger.tables[forger.people].with_columns(alike)
    sought = original.select(keys).with_columns(alike)
    found = sought.join(people, on=[*keys, "alike"], maintain_order="left")
    forger.tables[forger.people] = found.select(forger.tables[forger.people].columns)
    forger.write()
    assert "is related to that of 'the original'" in forger.refusal(original=True)


def test_a_quasi_identifier_under_another_role_is_not_that_of_the_job(forger):
    for entry in forger.manifest["tables"].values():
        if "sex" in entry["columns"]:
            entry["columns"]["sex"] = "insensitive"
    forger.write()
    assert forger.refusal(original=True)


@pytest.mark.parametrize("column", ["sex", "note"])
def test_a_column_that_was_left_out_is_missed(forger, column):
    for name, entry in forger.manifest["tables"].items():
        if entry["columns"].pop(column, None):
            forger.tables[name] = forger.tables[name].drop(column)
    forger.write()
    assert f"are in no table: {column}" in forger.refusal(original=True)


def test_an_invented_column_is_refused_with_the_original(forger):
    forger.add_column(forger.people, "name", "insensitive")
    forger.write()
    assert "columns that the original lacks: name" in forger.refusal(original=True)


def test_a_weaker_promise_is_not_what_the_job_asked_for(forger):
    forger.manifest["promises"] = []
    forger.write()
    assert "which the release does not guarantee" in forger.refusal(original=True)


def test_another_distance_is_not_the_one_of_the_job(releases, tmp_path):
    forger = forger_of("generalized", releases, tmp_path)
    forger.manifest["attributes"]["job"]["distance"] = "ordered"
    forger.write()
    assert "'job' is text with the ordered distance" in forger.refusal(original=True)


def test_more_source_rows_than_the_original_has_are_refused(forger):
    forger.manifest["source_rows"] += 5
    forger.manifest["suppressed_rows"] += 5
    forger.write()
    assert "the original has 120 rows" in forger.refusal(original=True)


def test_what_readers_find_must_be_what_the_files_give(releases, tmp_path):
    forger = forger_of("decomposed", releases, tmp_path)
    finding = next(one for one in forger.manifest["readers"] if "reader" in one)
    name = next(key for key, value in finding.items() if isinstance(value, int | float))
    finding[name] = finding[name] + 1
    forger.write()
    assert "the manifest's 'readers' do not match" in forger.refusal()


def test_a_report_that_was_edited_is_refused(releases, tmp_path):
    folder = tmp_path / "release"
    dc.publish(None, job_of(releases, "generalized"), seed=3).save(folder, **UNATTACKED)
    assert dc.audit(folder).ok
    page = folder / "report.html"
    page.write_text(page.read_text(encoding="utf-8").replace("at least 4", "at least 40"))
    assert "'report.html' is not the page that was published" in dc.audit(folder).problems[0]
    page.unlink()
    assert dc.audit(folder).ok


METHOD_OF = {
    "counted": {"anatomy": {"l": 3}},
    "decomposed": {
        "decomposition": {
            "l": {"job": 2, "drug": 2},
            "primary": "job",
            "conditional_l": {"l": 2},
        }
    },
}


@pytest.fixture(params=sorted(METHOD_OF))
def by_method(request, releases, tmp_path):
    """A release whose job has no requirement: all that it promises is its method's."""
    asked = job_of(releases, request.param)
    job = dc.Job(source=asked.source, attributes=asked.attributes, method=METHOD_OF[request.param])
    dc.publish(None, job).save(tmp_path / request.param, report=False, **UNATTACKED)
    forger = Forger(tmp_path, request.param, tmp_path / "forged")
    forger.job = job
    return forger


def test_what_the_method_promises_passes_with_the_original(by_method):
    assert by_method.refusal(original=True) == ""


def test_what_the_method_promises_is_missed(by_method):
    by_method.manifest["promises"].pop()
    by_method.write_manifest()
    assert "and the release does not" in by_method.refusal(original=True)
    by_method.manifest["promises"] = []
    by_method.write_manifest()
    assert "and the release does not" in by_method.refusal(original=True)


def test_weaker_parameters_are_not_those_of_the_job(by_method):
    by_method.manifest["method"]["parameters"]["l"] = 1 if by_method.kind == "counted" else {}
    by_method.write_manifest()
    assert "are not those of the job" in by_method.refusal(original=True)


def test_another_method_is_not_that_of_the_job(releases, tmp_path):
    forger = forger_of("generalized", releases, tmp_path)
    other = dc.LocalRecoding()
    forger.manifest["method"] = {"name": other.name, "parameters": other.parameters()}
    forger.write_manifest()
    assert "the manifest says the method local-recoding" in forger.refusal(original=True)


def test_rows_beyond_the_budget_are_not_suppressed(releases, tmp_path):
    forger = forger_of("generalized", releases, tmp_path)
    table = forger.tables["records"]
    sizes = table.group_by("age", "sex").len().sort("len")
    gone = sizes.head(1)
    forger.tables["records"] = table.join(gone, on=["age", "sex"], how="anti")
    left = forger.tables["records"].height
    forger.manifest |= {"published_rows": left, "suppressed_rows": ROWS - left}
    forger.write()
    refused = forger.refusal(original=True)
    assert f"{ROWS - left} rows are suppressed; the job allows at most 0" in refused


def test_findings_of_readers_cannot_be_left_out(releases, tmp_path):
    forger = forger_of("decomposed", releases, tmp_path)
    assert forger.manifest["readers"]
    forger.manifest["readers"] = []
    forger.write_manifest()
    assert "the manifest's 'readers' do not match" in forger.refusal()


def test_the_command_line_prints_what_readers_find(releases):
    result = CliRunner().invoke(app, ["audit", str(releases / "decomposed"), "--verbose"])
    assert result.exit_code == 0
    assert "An attacker who knows a target's" in result.output


@pytest.mark.parametrize(
    ("requirement", "parameters"),
    [
        ("k-map", {"k": 1000, "by": "table"}),
        ("population-risk", {"at_most": 0.01, "by": "table"}),
        ("k-map", {"k": 1000, "by": "weights"}),
        ("delta-presence", {"lower": 0.0, "upper": 0.1}),
        ("m-invariance-in-series", {"m": 2}),
    ],
)
def test_a_guarantee_that_neither_job_nor_files_know_is_a_problem(forger, requirement, parameters):
    promise = REQUIREMENTS[requirement].model_validate(parameters)
    forger.manifest["promises"].append(
        {
            "requirement": requirement,
            "parameters": promise.parameters(),
            "holds": True,
            "achieved": {},
            "by_attribute": {},
        }
    )
    forger.write_manifest()
    found = dc.audit(forger.folder, original=forger.job)
    assert not found.ok
    assert any(
        requirement in problem and "the job does not ask for" in problem
        for problem in found.problems
    )
    alone = CliRunner().invoke(app, ["audit", str(forger.folder)])
    assert alone.exit_code == 1
    assert "every guarantee holds" not in alone.output
