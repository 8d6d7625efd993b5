"""Tables that anjana and SDV themselves write, checked and attacked beside their originals.

Both ask for versions of libraries that exclude ours: DISCREET_OTHER_TOOLS names a Python in whose
environment ``pip install anjana sdv`` has put them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet as dc

ROWS = 600
ANJANA = """
import sys
import pandas as pd
from anjana.anonymity import k_anonymity
people = pd.read_csv(sys.argv[1], dtype=str)
first = people["age"].str[0]
decade = "[" + first + "0, " + (first.astype(int) + 1).astype(str) + "0)"
suppressed = ["*"] * len(people)
levels = {"age": {0: people["age"].values, 1: decade.values, 2: suppressed},
          "sex": {0: people["sex"].values, 1: suppressed}}
k_anonymity(people, [], ["age", "sex"], 5, 0, levels).to_csv(sys.argv[2], index=False)
"""
SDV = """
import sys
import pandas as pd
from sdv.metadata import Metadata
from sdv.single_table import GaussianCopulaSynthesizer
people = {"people": pd.read_csv(sys.argv[1])}
synthesizer = GaussianCopulaSynthesizer(Metadata.detect_from_dataframes(people))
synthesizer.fit(people)
synthesizer.sample(len(people["people"]))["people"].to_csv(sys.argv[2], index=False)
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 80, ROWS)
    frame = pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], ROWS),
            "income": 20_000 + 300 * age + rng.integers(0, 9_000, ROWS),
            "disease": rng.choice(["flu", "asthma", "gout"], ROWS),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def written_by(program: str, people: Path) -> Path:
    """Run a program in the environment of the other tools; return the table that it writes."""
    interpreter = os.environ.get("DISCREET_OTHER_TOOLS")
    if interpreter is None:
        pytest.skip(
            "anjana and sdv exclude our libraries: name their Python in DISCREET_OTHER_TOOLS"
        )
    table = people.with_name("table.csv")
    subprocess.run([interpreter, "-c", program, people, table], check=True, capture_output=True)
    return table


def test_a_table_of_anjana_has_the_k_that_it_was_asked_for(people):
    table = written_by(ANJANA, people)
    found = dc.check(table, quasi=["age", "sex"], sensitive=["disease"], k=5)
    assert found.ok
    assert dc.check(people, quasi=["age", "sex"], sensitive=["disease"], k=5).ok is False
    attacked = dc.attack_table(
        table, original=people, quasi=["age", "sex"], sensitive=["disease"], attacks=["linking"]
    )
    assert attacked.exact is not None
    assert all(finding.greatest <= 1 / 5 for finding in attacked.exact.findings)


def test_a_table_of_sdv_is_attacked_as_one_of_exact_values(people):
    table = written_by(SDV, people)
    attacked = dc.attack_table(
        table, original=people, quasi=["age", "sex"], sensitive=["income", "disease"]
    )
    assert {attacker.attack for attacker in attacked.attackers} == {
        "singling-out", "linkability", "inference",
    }  # fmt: skip
