"""One Spark session for all tests, and the jobs that both engines run."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

ROWS = int(os.environ.get("DISCREET_ROWS", "3000"))  # a million, to compare sessions once
ATTRIBUTES = """
source: {path: people.csv, missing: ["?"]}
attributes:
  name: {role: identifier}
  age: {role: quasi-identifier, type: integer, hierarchy: {intervals: [5, 10, 20, 40, "*"]}}
  zip: {role: quasi-identifier, hierarchy: {mask: right}}
  sex: {role: quasi-identifier, hierarchy: suppress}
  diagnosis: {role: sensitive}
  income: {role: INCOME}
  note: {role: insensitive}
"""
JOBS = {
    "full-domain": ("sensitive", "[k-anonymity: {k: 4}, distinct-l-diversity: {l: 2}]",
                    "{full-domain: {suppression: 0.02}}"),
    "codip": ("sensitive", "[k-anonymity: {k: 3}, t-closeness: {t: 0.4}]",
              "{codip: {beta: 0.5}}"),
    "mondrian": ("sensitive", "[k-anonymity: {k: 4}, t-closeness: {t: 0.5}]", "mondrian"),
    "msa-diversity": ("sensitive", "[p-diversity: {l: 2}]", "msa-diversity"),
    "buckets": ("sensitive", "[p-diversity: {l: 2}]", "{msa-diversity: {publish: buckets}}"),
    "anatomy": ("insensitive", "[distinct-l-diversity: {l: 4}]", "anatomy"),
    "decomposition": ("sensitive", "[]", "{decomposition: {l: {diagnosis: 4, income: 3}}}"),
}  # fmt: skip


EXACT_METHODS = ["full-domain", "codip"]


def why_no_spark() -> str | None:
    """Why tests that start Spark can't run here."""
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed: pip install 'discreet[spark]'"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Java is not installed: apt-get install openjdk-17-jre-headless"
    return None


@pytest.fixture(scope="session")
def java() -> None:
    """Skip with the reason where Spark can't start."""
    reason = why_no_spark()
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def spark(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with parts so small that every table has several.

    It runs on two threads, or where DISCREET_SPARK says: a master, or ``connect`` for a server of
    Spark Connect that the session starts.
    """
    from pyspark.sql import SparkSession

    from discreet.addons.spark.session import SHORT_JVM

    os.environ["PYSPARK_PYTHON"] = sys.executable
    address = os.environ.get("DISCREET_SPARK", "local[2]")
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.discreet.folder": str(tmp_path_factory.mktemp("engine")),
        "spark.discreet.rowsOfPart": str(ROWS // 2),
    }
    builder = SparkSession.builder
    if address == "connect":  # the settings of a server are its own
        builder = builder.remote("local[2]")
    else:
        builder = builder.master(address)
        settings |= {
            "spark.log.level": "OFF",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.defaultJavaOptions": SHORT_JVM,
        }
    if address.startswith("local"):
        settings |= {
            "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[2]),
            "spark.python.daemon.module": "tests.engines.daemon",
        }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def write_people(path: Path, rows: int = ROWS) -> Path:
    """A table of people with missing cells, leading zeros and sensitive values that follow age."""
    rng = np.random.default_rng(5)
    age = rng.integers(18, 90, rows)
    illness = (age // 30 + rng.integers(0, 9, rows)) % 9
    frame = pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(rows)],
            "age": [
                None if chance < 0.01 else int(a)
                for a, chance in zip(age, rng.random(rows), strict=True)
            ],
            "zip": [f"{number:05}" for number in rng.integers(0, 200, rows)],
            "sex": rng.choice(["f", "m", "?"], rows, p=[0.5, 0.49, 0.01]),
            "diagnosis": [f"illness {number}" for number in illness],
            "income": rng.choice(["low", "middle", "high", "none"], rows),
            "note": [f'said "{number}", twice' for number in rng.integers(0, 40, rows)],
        }
    )
    frame.write_csv(path)
    return path


def job_text(name: str) -> str:
    income, requirements, method = JOBS[name]
    head = ATTRIBUTES.replace("INCOME", income)
    return f"{head}requirements: {requirements}\nmethod: {method}\n"


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table and a job file for each method."""
    folder = tmp_path_factory.mktemp("people")
    write_people(folder / "people.csv")
    for name in JOBS:
        (folder / f"{name}.yaml").write_text(job_text(name), encoding="utf-8")
    return folder


ENCOUNTERS = """
source: {path: encounters.csv, missing: ["?"]}
person: {column: [hospital, patient], rows: {count: visits}, order: admitted}
attributes:
  hospital: {role: identifier}
  patient: {role: identifier}
  admitted: {role: drop, type: date}
  age: {role: quasi-identifier, type: integer, collapse: last,
        hierarchy: {intervals: [10, 20, 40, "*"]}}
  zip: {role: quasi-identifier, collapse: most-frequent, hierarchy: {mask: right}}
  visits: {role: quasi-identifier, type: integer, hierarchy: {intervals: [2, 8, "*"]}}
  diagnosis: {role: sensitive, collapse: DIAGNOSIS}
  stay: {role: STAY, type: number, collapse: mean}
  ward: {role: insensitive, collapse: first}
"""
COLLAPSED = {
    "full-domain": ("set", "sensitive", "[k-anonymity: {k: 4}]", "full-domain"),
    "codip": ("set", "drop", "[k-anonymity: {k: 3}]", "codip"),
    "mondrian": ("set", "sensitive", "[k-anonymity: {k: 4}]", "mondrian"),
    "msa-diversity": ("last", "drop", "[p-diversity: {l: 2}]", "msa-diversity"),
    "anatomy": ("last", "drop", "[distinct-l-diversity: {l: 3}]", "anatomy"),
    "decomposition": (
        "most-frequent", "drop", "[]", "{decomposition: {l: {diagnosis: 3}}}",
    ),
}  # fmt: skip


KEPT = {
    "mondrian": ("[k-anonymity: {k: 4}, distinct-l-diversity: {l: 3}]", "mondrian"),
    "msa-diversity": ("[k-anonymity: {k: 3}, p-diversity: {l: 1.5}]", "msa-diversity"),
}


@pytest.fixture(scope="session")
def encounters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of encounters, several of a patient, and a job for each method."""
    folder = tmp_path_factory.mktemp("encounters")
    rng = np.random.default_rng(6)
    rows, patients = 3000, 1200
    patient = np.minimum(rng.geometric(0.002, rows), patients)
    pl.DataFrame(
        {
            "hospital": patient % 3,
            "patient": [None if chance < 0.01 else int(p) for p, chance
                        in zip(patient, rng.random(rows), strict=True)],
            "admitted": [f"2024-{1 + n % 12:02}-{1 + n % 28:02}" for n in range(rows)],
            "age": 20 + patient % 60 + rng.integers(0, 2, rows),
            "zip": [f"{z:03}" for z in patient % 40],
            "diagnosis": [f"illness {n}" for n in rng.integers(0, 9, rows)],
            "stay": [("?", "1", "2.5", "7", "0.25")[n % 5] for n in range(rows)],
            "ward": rng.choice(["north", "south"], rows),
        }
    ).write_csv(folder / "encounters.csv")  # fmt: skip
    for name, (requirements, method) in KEPT.items():
        head = re.sub(r",? collapse: [A-Za-z-]+", "", ENCOUNTERS)
        head = "\n".join(line for line in head.splitlines() if "visits:" not in line)
        head = head.replace("rows: {count: visits}, order: admitted", "rows: keep")
        head = head.replace("role: STAY", "role: drop")
        text = f"{head}\nrequirements: {requirements}\nmethod: {method}\n"
        (folder / f"kept-{name}.yaml").write_text(text, encoding="utf-8")
    for name, (diagnosis, stay, requirements, method) in COLLAPSED.items():
        head = ENCOUNTERS.replace("DIAGNOSIS", diagnosis)
        head = head.replace(
            "role: STAY, type: number, collapse: mean",
            f"role: {stay}, type: number, collapse: mean" if stay != "drop" else "role: drop",
        )
        text = f"{head}requirements: {requirements}\nmethod: {method}\n"
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder
