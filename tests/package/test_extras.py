"""Without extras all of a text file's way works, and each missing extra is named with a command."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from tests.package.base_install import COMMANDS, NEEDS, WITHOUT_NEED, prepare, run, sentence

import discreet as dc

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("base")
    prepare(place)
    for command in COMMANDS:
        done = run(sys.executable, place, command, hidden=True)
        assert done.returncode == 0, (command, done.stderr)
    return place


def test_the_base_install_publishes_and_audits(folder):
    assert (folder / "release" / "records.csv").is_file()
    assert (folder / "table.csv").is_file()


def test_every_extra_is_tried():
    assert set(NEEDS) | WITHOUT_NEED == set(EXTRAS)


def test_all_names_every_other_extra():
    (all_of_them,) = EXTRAS["all"]
    assert set(all_of_them.removeprefix("discreet[")[:-1].split(",")) == set(EXTRAS) - {"all"}


@pytest.mark.parametrize("extra", NEEDS)
def test_a_missing_extra_ends_in_the_command_that_installs_it(folder, extra):
    done = run(sys.executable, folder, NEEDS[extra], hidden=True)
    assert done.returncode in (1, 2)
    assert done.stderr.rstrip().endswith(sentence(extra)), done.stderr
    if isinstance(NEEDS[extra], tuple):
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_licences_of_all_dependencies_are_listed():
    page = (
        (ROOT / "requirements" / "licences.md")
        .read_text(encoding="utf-8")
        .lower()
        .replace("_", "-")
    )
    groups = [lines for extra, lines in EXTRAS.items() if extra != "all"]
    for line in chain(PROJECT["project"]["dependencies"], *groups):
        name = re.split(r"[^\w-]", line)[0].lower().replace("_", "-")
        assert f"| {name} |" in page, f"{name}: run python -m tests.package.licences"


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {dc.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {dc.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
