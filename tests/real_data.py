"""Where the real data for development lies: the environment variable DISCREET_DATA."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parent.parent


def real_data(*parts: str) -> Path:
    """A path in the data folder; skips the test where it is absent."""
    folder = Path(os.environ.get("DISCREET_DATA", ROOT.parent / "shared" / "data"))
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path.name} is not in the data folder; set DISCREET_DATA")
    return path


def adult() -> pl.DataFrame:
    """The 30 162 complete rows of Adult with nine columns."""
    return pl.read_csv(real_data("adult", "arx-form", "adult-30162.csv"), separator=";")


def adult_hierarchy(column: str) -> list[list[str]]:
    """The rows of a column's hierarchy: leaf, level 1, …, top."""
    with real_data("adult", "arx-form", f"{column}.csv").open(newline="") as file:
        return list(csv.reader(file, delimiter=";"))
