"""Each command's output and help, and the main messages, word for word.

``DISCREET_UPDATE_SNAPSHOTS=1 pytest tests/cli/test_snapshots.py`` writes the files in ``snapshots``
anew; read the difference before committing it. Commands run within this process, in a folder of
their own, in a fixed order of rows; times, versions and paths are normalized.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
import typer
from tests.patients import ATTRIBUTES
from tests.saving import ACCEPTING
from typer.testing import CliRunner

from discreet.api.demonstrate import make_patients
from discreet.cli.app import app
from discreet.report.terminal import wrapped

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "DISCREET_UPDATE_SNAPSHOTS"
SCREEN = 100, 30  # columns and lines of a terminal window

JOBS = {
    "generalized": """\
requirements:
  - k-anonymity: {k: 5}
  - entropy-l-diversity: {l: 3, attribute: diagnosis}
method: {full-domain: {suppression: 0.05}}
""",
    "decomposed": """\
method: {decomposition: {primary: diagnosis, l: {diagnosis: 3, occupation: 3, income: 3}}}
""",
    "infeasible": """\
requirements:
  - p-diversity: {l: 100, attribute: diagnosis}
method: {mondrian: {}}
""",
}
SERIES = """\
source: {path: t%d.csv}
attributes:
  name: {role: identifier}
  age:  {role: quasi-identifier, type: integer}
  ill:  {role: sensitive}
method: {m-invariance: {m: 2}}
ledger: {path: people.ledger, person: name}
"""


def commands() -> list[str]:
    """Return all commands, those of a group after the group."""
    root = typer.main.get_command(app)
    names = [""]
    for name in root.list_commands(None):
        command = root.get_command(None, name)
        names.append(name)
        names += [f"{name} {inner}" for inner in getattr(command, "commands", ())]
    return names


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command; its output with times, versions and paths normalized."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_INSECURE_FIXED_ORDER", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments: str, status: int = 0) -> str:
        done = CliRunner().invoke(app, list(arguments))
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == status, done.output
        text = done.stdout if status == 0 else done.stdout + done.stderr
        text = text.replace(f"{tmp_path}/", "").replace(str(tmp_path), ".")
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines())

    yield run
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def hospital(tmp_path) -> Path:
    make_patients(tmp_path / "patients.csv", rows=300)
    for name, method in JOBS.items():
        role = "insensitive" if name == "generalized" else "sensitive"
        text = ATTRIBUTES.replace("ROLE", role) + method + f"output: {{path: {name}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def compare(name: str, text: str) -> None:
    """Compare a text with its snapshot, or write the snapshot anew."""
    file = FOLDER / f"{name}.txt"
    if os.environ.get(UPDATE):
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"There is no snapshot {file.name}. Write it with {UPDATE}=1."
    assert text == file.read_text(encoding="utf-8"), f"{file.name} differs; see {UPDATE} above."


def require_screen(text: str) -> None:
    """Require that a result fits one screen."""
    columns, lines = SCREEN
    assert len(wrapped(text.splitlines(), columns)) <= lines


def test_help(call):
    shown = [(command, call(*command.split(), "--help")) for command in commands()]
    compare("help", "\n".join(f"$ discreet {c} --help\n{text}" for c, text in shown))


@pytest.mark.parametrize("kind", ["generalized", "decomposed"])
def test_results_of_a_release(kind, hospital, call):
    job = f"{kind}.yaml"
    commands = {
        "publish": ("publish", job, "--seed", "1", *ACCEPTING),
        "audit": ("audit", kind),
        "audit-original": ("audit", kind, "--original", job),
        "attack": ("attack", kind, "--original", job),
        "measure": ("measure", kind, "--original", job, "--queries", "50"),
        "profile": ("profile", job),
    }
    for name, arguments in commands.items():
        text = call(*arguments)
        require_screen(text)
        compare(f"{kind}-{name}", text)


def test_results_without_a_job(hospital, call):
    for name, arguments in {
        "check": (
            "check",
            "patients.csv",
            "--quasi",
            "zip,sex",
            "--sensitive",
            "diagnosis,income",
            "--k",
            "5",
            "--l",
            "3",
            "--t",
            "0.3",
        ),
        "profile-table": ("profile", "patients.csv"),
        "init": ("init", "patients.csv"),
    }.items():
        text = call(*arguments, status=1 if name == "check" else 0)
        require_screen(text)
        compare(name, text)


def test_compare(hospital, call):
    methods = "--methods", "mondrian,anatomy", "--vary", "k=5,10", "--queries", "50"
    text = call("compare", "generalized.yaml", *methods)
    text = re.sub(r"(?m)^((?:release|mondrian|unlinked).*?)\s+\S+(  dominated)?$", r"\1\2", text)
    require_screen(text)
    compare("compare", text)


def test_demo(call):
    text = call("demo")
    require_screen(text)
    compare("demo", text)


def test_series(tmp_path, call):
    for number in (1, 2):
        rows = [f"Person {n},{20 + n % 30},{'flu' if n % 2 else 'ache'}" for n in range(40)]
        (tmp_path / f"t{number}.csv").write_text("\n".join(["name,age,ill", *rows, ""]))
        (tmp_path / f"job{number}.yaml").write_text(SERIES % number)
    steps = [
        ("ledger", "init", "people.ledger"),
        ("publish", "job1.yaml", "-o", "r1", "--seed", "1", *ACCEPTING),
        ("publish", "job2.yaml", "-o", "r2", "--seed", "1", *ACCEPTING),
        ("ledger", "verify", "people.ledger"),
        ("audit", "--ledger", "people.ledger"),
        ("attack", "--ledger", "people.ledger"),
    ]
    texts = []
    for arguments in steps:
        text = call(*arguments)
        require_screen(text)
        texts.append(f"$ discreet {' '.join(arguments)}\n{text}")
    listed = re.sub(r"\d{4}-\d\d-\d\dT\S+", "TIME", call("ledger", "list", "people.ledger"))
    compare("series", "\n".join([*texts, listed]))


def test_messages(hospital, call):
    (hospital / "twice.yaml").write_text("attributes: {}\nattributes: {}\n")
    (hospital / "tab.yaml").write_text("attributes:\n\tage: {role: sensitive}\n")
    (hospital / "wrong.yaml").write_text(
        "attributes: {age: {role: sensitiv}}\nmethod: {mondrain: {}}\nrequirement: []\n"
    )
    call("publish", "decomposed.yaml", "--seed", "1", *ACCEPTING)
    steps = [
        ("publish", "absent.yaml", *ACCEPTING),
        ("publish", "twice.yaml", *ACCEPTING),
        ("publish", "tab.yaml", *ACCEPTING),
        ("publish", "wrong.yaml", *ACCEPTING),
        ("publish", "decomposed.yaml", *ACCEPTING),
        ("init", "absent.csv"),
        ("audit", "absent"),
        ("audit",),
        ("attack", "decomposed"),
        ("attack", "decomposed", "--original", "decomposed.yaml", "--attacks", "guessing"),
        ("compare", "decomposed.yaml", "--methods", "anatomie"),
        ("ledger", "list", "absent.ledger"),
        ("keys", "new", "patients.csv"),
    ]
    texts = [f"$ discreet {' '.join(step)}\n{call(*step, status=2)}" for step in steps]
    text = call("publish", "infeasible.yaml", *ACCEPTING, status=1)
    texts.append(f"$ discreet publish infeasible.yaml\n{text}")
    (hospital / "decomposed" / "extra.csv").write_text("x\n")
    texts.append(f"$ discreet audit decomposed\n{call('audit', 'decomposed', status=1)}")
    compare("messages", "\n".join(texts))
