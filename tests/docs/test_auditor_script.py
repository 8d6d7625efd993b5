"""The script that checks a release without discreet says what the audit says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "audit-without-discreet" / "check.py"
REQUIREMENTS = [
    {"k-anonymity": {"k": 4}},
    {"distinct-l-diversity": {"l": 2}},
    {"entropy-l-diversity": {"l": 1.5}},
    {"p-diversity": {"l": 1.5}},
    {"alpha-k-anonymity": {"alpha": 0.8, "k": 4}},
    {"t-closeness": {"t": 0.6}},
]


@pytest.fixture
def release(tmp_path):
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 200),
            "town": rng.choice(["a", 'b "c", d'], 200),
            "ill": rng.choice(["p, x", "q", "r", "ß"], 200),
        }
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "town": {"role": "quasi-identifier"},
            "ill": {"role": "sensitive"},
        },
        requirements=REQUIREMENTS,
        method="mondrian",
    )
    folder = tmp_path / "release"
    dc.publish(table, job, seed=1).save(folder, **UNATTACKED)
    return folder


def checked(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, folder], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def test_the_script_agrees_with_the_audit(release):
    status, said = checked(release)
    assert dc.audit(release).ok
    assert status == 0, said
    assert said.count(": holds") == 5
    assert "t-closeness: not checked here" in said


def test_the_script_finds_a_changed_table_and_a_guarantee_that_fails(release):
    manifest = release / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    told["promises"][0]["parameters"]["k"] = 50
    manifest.write_text(json.dumps(told), encoding="utf-8")
    assert checked(release)[0] == 1
    assert "FAILS" in checked(release)[1]
    with (release / "records.csv").open("a", encoding="utf-8") as file:
        file.write("30,a,q\n")
    assert "CHANGED" in checked(release)[1]
