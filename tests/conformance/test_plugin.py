"""The example plugins install, pass their own tests, and break nothing where they are broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.saving import ACCEPTING

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def run(*arguments: object, path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Python, with the packages of a folder installed."""
    paths = [str(path), str(ROOT / "src"), str(ROOT)]
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )


def install(target: Path, example: Path) -> Path:
    """Install an example in a folder of its own, so that no other test finds its entry points."""
    target.mkdir(exist_ok=True)
    done = run(
        "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
        "--disable-pip-version-check", "--target", target, example,
        path=target, cwd=target,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def examples(tmp_path_factory) -> dict[str, Path]:
    names = ("plugin", "background-models")
    return {name: install(tmp_path_factory.mktemp(name), EXAMPLES / name) for name in names}


@pytest.fixture(scope="module")
def installed(examples) -> Path:
    return examples["plugin"]


@pytest.mark.parametrize("example", ["plugin", "background-models"])
def test_an_example_passes_its_tests(tmp_path, examples, example):
    installed = examples[example]
    tests = EXAMPLES / example / "tests"
    done = run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tests, tests,
        path=installed, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


JOB = """
source: {path: people.csv}
attributes:
  age: {role: quasi-identifier, type: integer}
  salary: {role: sensitive, type: integer}
requirements:
  - NAME: {deviation: 500}
method: mondrian
"""


def commands(tmp_path, path, name="least-spread"):
    (tmp_path / "people.csv").write_text("age,salary\n20,1000\n21,3000\n50,900\n51,4000\n")
    (tmp_path / "job.yaml").write_text(JOB.replace("NAME", name))
    return run("-m", "discreet", "publish", "job.yaml", *ACCEPTING, path=path, cwd=tmp_path)


def test_the_command_line_knows_it(installed, tmp_path):
    done = commands(tmp_path, installed)
    assert done.returncode == 0, done.stderr
    audited = run(
        "-m", "discreet", "audit", "release", "--original", "job.yaml", path=installed, cwd=tmp_path
    )
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "a standard deviation of at least 500" in " ".join(audited.stdout.split())
    elsewhere = tmp_path / "nothing"
    elsewhere.mkdir()
    without = run("-m", "discreet", "audit", "release", path=elsewhere, cwd=tmp_path)
    assert without.returncode == 2
    assert "unknown requirement 'least-spread'" in without.stderr
    assert "need a plugin that is not installed" in without.stderr.replace("\n", " ")


def broken(folder: Path, name: str, value: str) -> Path:
    """A package with one entry point."""
    info = folder / "ruined-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ruined\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[discreet.requirements]\n{name} = {value}\n")
    (folder / "ruined.py").write_text("raise RuntimeError('out of order')\n")
    return folder


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("least-spread", "ruined:Nothing", "raises RuntimeError: out of order"),
        ("least-spread", "pathlib:Path", "pathlib:Path is not a subclass of Requirement"),
        ("least-spread", "discreet:KAnonymity", "discreet:KAnonymity is named 'k-anonymity'"),
    ],
)
def test_a_plugin_that_fails_is_named(tmp_path, name, value, said):
    packages = tmp_path / "packages"
    packages.mkdir()
    done = commands(tmp_path, broken(packages, name, value))
    assert done.returncode == 2
    message = " ".join(done.stderr.split())
    assert "The package ruined 1.0 adds a requirement 'least-spread'" in message
    assert said in message
    assert "Traceback" not in done.stderr


def test_a_plugin_replaces_no_built_in(tmp_path):
    packages = tmp_path / "packages"
    packages.mkdir()
    broken(packages, "k-anonymity", "ruined:KAnonymity")
    code = (
        "from discreet.requirements.registry import REQUIREMENTS\n"
        "print(REQUIREMENTS['k-anonymity'].__module__)\n"
        "list(REQUIREMENTS)\n"
    )
    done = run("-c", code, path=packages, cwd=tmp_path)
    assert done.stdout.strip() == "discreet.requirements.k_anonymity"
    assert (
        "The package ruined 1.0 adds a requirement 'k-anonymity', which is a built-in"
        in done.stderr
    )


def test_a_job_of_built_ins_searches_no_package():
    code = (
        "import sys, discreet as dc\n"
        "dc.Job.model_validate({'attributes': {'a': {'role': 'quasi-identifier'}},"
        " 'requirements': [{'k-anonymity': {'k': 2}}], 'method': 'mondrian'})\n"
        "from discreet.methods.registry import METHODS\n"
        "from discreet.requirements.registry import REQUIREMENTS\n"
        "print([one.group for one in (METHODS, REQUIREMENTS) if '_plugins' in vars(one)])\n"
    )
    done = run("-c", code, path=ROOT / "src", cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr


OWN_METHOD_AND_KIND = '''
from typing import ClassVar

import numpy as np

from discreet.errors import InfeasibleError
from discreet.methods.base import CellColumn, Generalized, Method
from discreet.releases.kinds.generalized import GeneralizedKind
from discreet.table.classes import classes_of
from discreet.table.counts import count_classes


class Whole(Generalized):
    """All rows in one class."""


class WholeKind(GeneralizedKind):
    """A table whose quasi-identifiers are all suppressed."""

    name: ClassVar[str] = "whole"
    outcome: ClassVar[type] = Whole


class WholeTable(Method):
    """Publish all rows as one class."""

    name: ClassVar[str] = "whole-table"

    def run(self, task):
        whole = count_classes(classes_of([], task.table.rows), task.table.sensitive)
        if not all(one.passes(whole, task.domains).all() for one in task.requirements):
            raise InfeasibleError("The whole table does not meet the requirements.")
        cells = {
            column.name: CellColumn(np.zeros(1, np.int32), ("*",), np.ones(1))
            for column in task.table.quasi_identifiers
        }
        return Whole(np.zeros(task.table.rows, np.int32), cells)
'''
CHECK_BOTH = """
import discreet as dc
from discreet.testing import check_kind, check_method
from whole import WholeKind, WholeTable

check_method(WholeTable())
check_kind(WholeKind(), WholeTable(), requirements=[dc.KAnonymity(k=2)])
"""


def test_a_plugin_adds_a_method_and_a_kind(tmp_path):
    info = tmp_path / "whole-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: whole\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[discreet.methods]\nwhole-table = whole:WholeTable\n"
        "[discreet.kinds]\nwhole = whole:WholeKind\n"
    )
    (tmp_path / "whole.py").write_text(OWN_METHOD_AND_KIND)
    done = run("-c", CHECK_BOTH, path=tmp_path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
