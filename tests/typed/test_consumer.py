"""Users' programs type-check strictly, without a plugin of pydantic, and misuse is found.

One run of mypy reads all of them: a program with every public name, the examples of docs/python.md
as they are printed, programs that depend on the kind of frame, and wrong ones.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
WRONG = """
import discreet as dc

dc.Nothing
dc.Attribute(role="nobody")
dc.Job(attributes={}, tea=1)
"""
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


@pytest.fixture(scope="module")
def errors(tmp_path_factory) -> dict[str, list[str]]:
    """The lines with errors of each program, with what mypy says of them."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in (("page", example()), ("frames", TYPES), ("misuse", WRONG)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    cache = ROOT / ".mypy_cache" / "consumer"
    options = ("--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={cache}")
    programs = ["tests/typed/consumer.py", *sorted(map(str, folder.glob("*.py")))]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *programs],
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "(checked 4 source files)" in done.stdout, done.stdout + done.stderr
    found = defaultdict(list)
    for path, line, said in re.findall(r"^(.*?):(\d+): error: (.*)$", done.stdout, re.MULTILINE):
        found[Path(path).stem].append(f"{line}: {said}")
    return found


def lines_of(errors: list[str]) -> list[int]:
    return [int(error.partition(":")[0]) for error in errors]


def test_a_program_that_uses_every_result_type_checks(errors):
    assert errors["consumer"] == []


def test_misuse_is_found(errors):
    assert lines_of(errors["misuse"]) == [4, 5, 6], errors["misuse"]


def test_the_page_type_checks_strictly(errors):
    assert errors["page"] == []


def test_a_published_table_has_the_type_of_the_frame(errors):
    assert lines_of(errors["frames"]) == [TYPES[: TYPES.index("wrong")].count("\n") + 1]


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not on the PATH")
def test_the_page_is_clean_for_pyright(tmp_path):
    (tmp_path / "page.py").write_text(example(), encoding="utf-8")
    settings = {"extraPaths": [str(ROOT / "src")], "include": ["page.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    options = ("--pythonpath", sys.executable, "--outputjson", "--project", str(tmp_path))
    done = subprocess.run(["pyright", *options], capture_output=True, text=True, cwd=tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert [one for one in found if one["severity"] == "error"] == []
