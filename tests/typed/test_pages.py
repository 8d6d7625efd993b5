"""The examples of docs/python.md type-check as they are printed, by mypy and by pyright."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
from tests.typed.test_consumer import ROOT, mypy

PAGE = ROOT / "docs" / "python.md"
FRAME = "import polars as pl\n\nframe = pl.DataFrame()\n"
# Which kind of frame comes back follows from what came in.
TYPES = (
    FRAME
    + """
import discreet as dc

of_frame: pl.DataFrame = dc.publish(frame, "job.yaml").tables["records"]
of_lazy: pl.LazyFrame = dc.publish(frame.lazy(), "job.yaml").tables["records"]
of_path: pl.DataFrame = dc.publish("table.csv", "job.yaml").tables["records"]
wrong: pl.LazyFrame = dc.publish(frame, "job.yaml").tables["records"]
"""
)


def example() -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    return FRAME + "\n".join(blocks)


def test_the_page_type_checks_strictly(tmp_path):
    (tmp_path / "page.py").write_text(example(), encoding="utf-8")
    done = mypy(str(tmp_path / "page.py"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_published_table_has_the_type_of_the_frame(tmp_path):
    (tmp_path / "frames.py").write_text(TYPES, encoding="utf-8")
    done = mypy(str(tmp_path / "frames.py"))
    wrong = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(wrong) == 1, done.stdout
    assert f":{TYPES[: TYPES.index('wrong')].count(chr(10)) + 1}:" in wrong[0]


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not on the PATH")
def test_the_page_is_clean_for_pyright(tmp_path):
    (tmp_path / "page.py").write_text(example(), encoding="utf-8")
    settings = {"extraPaths": [str(ROOT / "src")], "include": ["page.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    options = ("--pythonpath", sys.executable, "--outputjson", "--project", str(tmp_path))
    done = subprocess.run(["pyright", *options], capture_output=True, text=True, cwd=tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert [one for one in found if one["severity"] == "error"] == []
