"""A user's program type-checks strictly, without a plugin of pydantic, and misuse is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WRONG = """
import discreet as dc

dc.Nothing
dc.Attribute(role="nobody")
dc.Job(attributes={}, tea=1)
"""


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    cache = ROOT / ".mypy_cache" / "consumer"
    options = ("--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={cache}")
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, *arguments],
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_a_program_that_uses_every_result_type_checks():
    done = mypy("tests/typed/consumer.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_misuse_is_found():
    done = mypy("-c", WRONG)
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert lines == ["4", "5", "6"], done.stdout
