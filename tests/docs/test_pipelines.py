"""The examples for pipelines run: each passes a table that is private and stops one that is not."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "pipelines"
PROGRAMS = Path(sys.executable).parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that publishes a table under published/."""
    (tmp_path / "published").mkdir()
    shutil.copy(EXAMPLES / "people.csv", tmp_path / "published")
    shutil.copy(EXAMPLES / "requirements.yaml", tmp_path)
    return tmp_path


def spoil(project: Path) -> Path:
    """Leave a class of three rows."""
    table = project / "published" / "people.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    return table


def run(project: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [str(part) for part in command],
        cwd=project, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def requires(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def test_the_hook_of_pre_commit(project):
    requires("pre_commit")
    shutil.copy(EXAMPLES / "pre-commit-config.yaml", project / ".pre-commit-config.yaml")
    for step in (("init", "-q"), ("add", ".")):
        assert run(project, "git", *step).returncode == 0
    hook = (sys.executable, "-m", "pre_commit", "run", "--all-files")
    done = run(project, *hook)
    assert done.returncode == 0, done.stdout + done.stderr
    spoil(project)
    done = run(project, *hook)
    assert done.returncode == 1
    assert "Failing groups: 1 of 2, with 3 rows" in done.stdout


def test_the_workflow_of_github(project):
    jobs = yaml.safe_load((EXAMPLES / "github-action.yaml").read_text())["jobs"]
    steps = [step["run"] for step in jobs["check"]["steps"] if "run" in step]
    (check,) = [step for step in steps if step.startswith("discreet")]
    assert run(project, "sh", "-c", check).returncode == 0
    assert (project / "check.html").exists()
    spoil(project)
    assert run(project, "sh", "-c", check).returncode == 1


def test_the_helper_for_pytest(project):
    shutil.copy(EXAMPLES / "test_published.py", project)
    call = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_published.py")
    done = run(project, *call)
    assert done.returncode == 0, done.stdout
    spoil(project)
    done = run(project, *call)
    assert done.returncode == 1
    assert "1 of 2 requirements fail" in done.stdout


PANDERA = """
import pandas, pandera.errors
from pandera_check import published

frame = pandas.read_csv("published/people.csv")
published.validate(frame)
try:
    published.validate(frame.head(7))
except pandera.errors.SchemaError as error:
    print("stopped by", error.check.name)
"""


def test_the_check_of_pandera(project):
    requires("pandera")
    requires("pandas")
    shutil.copy(EXAMPLES / "pandera_check.py", project)
    done = run(project, sys.executable, "-c", PANDERA)
    assert done.stdout == "stopped by is_private\n", done.stderr


def dbt_program() -> str:
    """The program dbt, beside this Python, on the path, or named by DISCREET_DBT."""
    found = os.environ.get("DISCREET_DBT") or shutil.which("dbt", path=str(PROGRAMS))
    found = found or shutil.which("dbt")
    if not found:
        pytest.skip(
            "dbt is not installed: it pins older packages, so install dbt-core and dbt-duckdb into "
            "an environment of their own and name its dbt in DISCREET_DBT"
        )
    return found


def test_the_tests_of_dbt(project):
    dbt = dbt_program()
    shutil.copytree(EXAMPLES / "dbt", project / "dbt")
    (project / "dbt" / "seeds").mkdir()
    build = (dbt, "--quiet", "build", "--no-use-colors", "--profiles-dir", ".")

    def built() -> subprocess.CompletedProcess[str]:
        shutil.copy(project / "published" / "people.csv", project / "dbt" / "seeds")
        return run(project / "dbt", *build)

    done = built()
    assert done.returncode == 0, done.stdout
    check = (
        sys.executable, "-m", "discreet", "check", "duckdb:///published.duckdb",
        "--table", "published", "--job", "../requirements.yaml",
    )  # fmt: skip
    done = run(project / "dbt", *check)
    assert done.returncode == 0, done.stdout + done.stderr
    spoil(project)
    done = built()
    assert done.returncode == 1
    assert "k_anonymous" in done.stdout
    assert run(project / "dbt", *check).returncode == 1
