"""The wheel installs into a clean environment, and the demonstration runs from it."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def call(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(argument) for argument in arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_wheel_installs_and_demonstrates(tmp_path):
    built = call(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT,
        cwd=tmp_path,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("discreet-*.whl")
    place = tmp_path / "environment"
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    reachable = call(python, "-m", "pip", "download", "--no-deps", "pyyaml", cwd=tmp_path)
    if reachable.returncode:
        pytest.skip("no package registry can be reached to install the wheel's dependencies from")
    installed = call(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    demonstrated = call(place / "bin" / "discreet", "demo", cwd=tmp_path)
    assert demonstrated.returncode == 0, demonstrated.stderr
    assert "every guarantee holds" in demonstrated.stdout
    assert (tmp_path / "discreet-demo" / "release" / "groups.csv").is_file()
