"""The workflows call what exists, hold no secret, and give each job only the rights it needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import discreet as dc

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))


def commands(workflow: dict) -> list[str]:
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [step["run"] for step in steps if "run" in step]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_workflow_calls_targets_that_exist(path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    called = " ; ".join(commands(yaml.safe_load(path.read_text(encoding="utf-8"))))
    for target in re.findall(r"\bmake (\w+)", called):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert "secrets." not in path.read_text(encoding="utf-8")


def test_only_the_upload_may_speak_for_the_project():
    assert RELEASE["permissions"] == {}
    rights = {name: job["permissions"] for name, job in RELEASE["jobs"].items()}
    assert rights["publish"] == {"id-token": "write"}
    assert "id-token" not in rights["documentation"]
    assert RELEASE["jobs"]["publish"]["environment"] == "pypi"


def test_the_tag_is_compared_with_the_version():
    (line,) = [line for line in commands(RELEASE) if "GITHUB_REF_NAME" in line and "grep" in line]
    wanted = f'__version__ = "{dc.__version__}"'
    assert wanted in (ROOT / "src" / "discreet" / "__init__.py").read_text("utf-8").splitlines()
    assert "src/discreet/__init__.py" in line
