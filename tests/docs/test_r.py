"""The program for R on the page of Python and R runs as it stands, where R is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.docs.walk import environment

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def _missing() -> str | None:
    if shutil.which("Rscript") is None:
        return "R is not installed: apt-get install r-base-core r-cran-jsonlite"
    asked = ["Rscript", "-e", "q(status = !requireNamespace('jsonlite', quietly = TRUE))"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        return "R has no jsonlite: apt-get install r-cran-jsonlite"
    return None


def test_the_page_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    missing = _missing()
    if missing is not None:
        pytest.skip(missing)
    (script,) = re.findall(r"```r\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    shown = re.findall(r"^(\S.*?)  +# (.*)$", script, re.MULTILINE)
    lines = [line for line, _ in shown if not line.startswith(("write", "#"))]
    assert len(lines) == 6
    for line in lines:
        script = script.replace(
            f"\n{line} ", f"\ncat('>', paste({line}, collapse = ', '), '\\n')  #"
        )
    (tmp_path / "page.R").write_text(script, encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "page.R"], cwd=tmp_path, env=environment(tmp_path / ".programs"),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = [line[2:].strip() for line in done.stdout.splitlines() if line.startswith("> ")]
    said = [comment.partition(":")[0] for line, comment in shown if line in lines]
    assert printed == said
