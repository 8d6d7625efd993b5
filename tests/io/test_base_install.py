"""The base install, without pyarrow and Numba, does all but Parquet releases and pandas frames."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc

SCRIPT = """
import sys
for extra in ("pyarrow", "numba"):
    sys.modules[extra] = None  # an import of it fails, as where it is not installed
from pathlib import Path
import polars as pl
import discreet as dc
folder = Path(sys.argv[1])
job = dc.Job(
    attributes={
        "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "ill": {"role": "sensitive"},
        "since": {"role": "insensitive"},
    },
    requirements=[{"k-anonymity": {"k": 2}}],
    method="full-domain",
)
for ending in ("csv", "parquet", "arrow"):
    asked = job.model_copy(update={"source": dc.Source(path=folder / f"people.{ending}")})
    dc.publish(None, asked).save(folder / ending)
    assert dc.audit(folder / ending, original=asked).ok
frame = pl.read_csv(folder / "people.csv")
release = dc.publish(frame, job)
assert release.tables["records"].height == frame.height
"""
FAILING = {
    "release": 'release.save(folder / "typed", format="parquet")',
    "audit": 'dc.audit(folder / "parquet-release")',
    "pandas": "import pandas; dc.publish(pandas.DataFrame(frame.to_dict(as_series=False)), job)",
}


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"], "since": [1, 1, 2, 2]})
    frame.write_csv(folder / "people.csv")
    frame.write_parquet(folder / "people.parquet")
    frame.write_ipc(folder / "people.arrow")
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive"},
            "since": {"role": "drop"},
        },
        requirements=[{"k-anonymity": {"k": 2}}],
        method="full-domain",
    )
    dc.publish(frame, job).save(folder / "parquet-release", format="parquet", **UNATTACKED)
    command = [sys.executable, "-c", script, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_files_and_frames_of_polars_are_published_and_audited(tmp_path: Path) -> None:
    done = run(tmp_path, SCRIPT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("what", FAILING)
def test_what_needs_pyarrow_says_so(tmp_path: Path, what: str) -> None:
    done = run(tmp_path, SCRIPT + FAILING[what])
    extra = "pandas" if what == "pandas" else "parquet"
    said = f"need the package pyarrow. Install it: pip install 'discreet[{extra}]'"
    assert said in done.stderr
    assert not (tmp_path / "typed").exists()
