"""Every command on the pages of the papers and of their experiments runs, with small settings."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from experiments.__main__ import experiment_of, main
from experiments.suite_tables import generated_name
from tests.real_data import real_data
from tests.saving import UNATTACKED
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app
from discreet.pipeline.run import make_release
from experiments import simulation

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(
    page for name in ("docs/papers", "experiments/results") for page in (ROOT / name).glob("*.md")
)
MAP = ROOT / "docs" / "papers" / "map.csv"
FILES = [*PAGES, MAP, ROOT / "experiments" / "README.md"]
TEXT = "\n".join(file.read_text(encoding="utf-8") for file in FILES)
RUNS = sorted(set(re.findall(r"python -m experiments [^`\n#]*[^`\n# ]", TEXT)))
SIMULATIONS = sorted(set(re.findall(r"python -m experiments\.simulation[^`\n]*", TEXT)))
COMMANDS = sorted(set(re.findall(r"`(discreet [^`\n]*)`", TEXT)))


def test_no_page_runs_an_experiment_in_another_way():
    written = re.findall(r"python (?!-m experiments[ .])[^`\n]*", TEXT)
    modules = set(re.findall(r"python -m experiments\.(\w+)", TEXT))
    assert (written, modules) == ([], {"simulation"})
    assert len(RUNS) >= 8


@pytest.mark.data
@pytest.mark.parametrize("command", RUNS)
def test_an_experiment_runs(command, tmp_path, monkeypatch):
    for folder, file in (("adult", "adult.csv"), ("census-income", "census-income.data"),
                         ("movielens", "ratings.dat"), ("opinions", "nonvoters.csv")):  # fmt: skip
        monkeypatch.setenv("DISCREET_DATA", str(real_data(folder, file).parent.parent))
    paper, *written = shlex.split(command, comments=True)[3:]
    if paper == "suite":
        small = ["--output", str(tmp_path / "suite.csv"), "--tables", generated_name(0, 0.3)]
        once = ["--quick", "--seeds", "1", "--methods", "unlinked", *small]
        assert main(["suite", *once]) == 0
        assert (
            "--page" not in written
            or main(["suite", *written, "--page", str(tmp_path / "suite.md"), *small]) == 0
        )
        return
    small = experiment_of(paper.replace("-", "_")).quick  # also where the page has large settings
    settings = [part for name, value in small.items() for part in ("--set", f"{name}={value}")]
    arguments = [*written, "--quick", *settings, "--no-plots", "--output", str(tmp_path)]
    assert main([paper, *arguments]) == 0
    assert "--list" in written or any(tmp_path.glob("*.csv"))


@pytest.mark.parametrize("command", SIMULATIONS)
def test_a_simulation_runs(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small = ["--records", "60", "--releases", "2"]
    assert simulation.main([*shlex.split(command)[3:], *small]) == 0
    assert "| 2 |" in capsys.readouterr().out


JOB = """\
source: {path: people.csv}
attributes:
  sex: {role: quasi-identifier, hierarchy: suppress}
  town: {role: quasi-identifier, hierarchy: suppress}
  illness: {role: sensitive}
requirements:
  - k-anonymity: {k: 3}
method: full-domain
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> dict[str, list[str]]:
    """What each command needs: a release, its job, a series with a ledger."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "people.csv").write_text(
        "sex,town,illness\n" + "".join(f"{s},{t},{i}\n" for s in "fm" for t in "ab" for i in "xyz"),
        encoding="utf-8",
    )
    job = folder / "people.yaml"
    job.write_text(JOB, encoding="utf-8")
    release = folder / "release"
    make_release(None, dc.Job.load(job), seed=1).save(release, **UNATTACKED)
    series = shutil.copytree(ROOT / "examples" / "series", folder / "series")
    with dc.Ledger.create(dc.LedgerSettings(path="people.ledger").located(series)):
        for month in ("january", "february"):
            monthly = dc.Job.load(series / f"{month}.yaml")
            dc.publish(None, monthly).save(series / monthly.output.path, **UNATTACKED)
    original = ["--original", str(job)]
    return {
        "discreet init": [str(folder / "people.csv"), "--output", str(folder / "job.yaml")],
        "discreet profile": [str(ROOT / "examples" / "codip" / "job.yaml")],
        "discreet profile --projections": [str(ROOT / "examples" / "codip" / "job.yaml")],
        "discreet audit": [str(release)],
        "discreet audit --bayes": [str(release), *original],
        "discreet audit --ledger": [str(series / "people.ledger")],
        "discreet attack": [str(release), *original],
        "discreet measure": [str(release), *original],
    }  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command, places):
    outcome = CliRunner().invoke(app, [*shlex.split(command)[1:], *places[command]])
    assert outcome.exit_code == 0, outcome.output
