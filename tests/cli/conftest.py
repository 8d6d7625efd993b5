"""A small hospital, and ways to run a command: in this process, or in one of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.commands import run_command
from tests.patients import ATTRIBUTES

from discreet.api.demonstrate import make_patients

JOB = (
    ATTRIBUTES.replace("ROLE", "sensitive")
    + """\
requirements:
  - k-anonymity: {k: 5}
  - entropy-l-diversity: {l: 3, attribute: diagnosis}
method: {full-domain: {suppression: 0.02}}
"""
)

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    make_patients(tmp_path / "patients.csv", rows=600)
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run_command(tmp_path, *arguments)

    return call


@pytest.fixture
def process(tmp_path: Path) -> Run:
    """Run a command in a process of its own, as a user does."""

    def call(*arguments: str | Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "discreet", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=timeout, check=False
        )

    return call
