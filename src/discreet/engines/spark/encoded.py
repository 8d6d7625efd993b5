"""The encoded rows of a table, and the tasks that are made of some of them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession

from discreet.engines.parts import PartPlan
from discreet.engines.spark.session import ROWS_OF_PART, setting
from discreet.methods.base import Task


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """All rows of a table, or the remaining ones, with the facts that every worker has."""

    session: SparkSession
    plan: PartPlan
    staging: Path
    frame: DataFrame  # row, c0, c1, … as ``reading.encode`` writes them
    count: int

    @cached_property
    def place_of(self) -> dict[str, str]:
        """The column of the frame that each source column is in."""
        return {name: f"c{place}" for place, name in enumerate(self.plan.specs)}

    @cached_property
    def rows_of_part(self) -> int:
        """The number of rows that a task may hold."""
        return setting(self.session, ROWS_OF_PART)

    @property
    def parts(self) -> int:
        """The number of parts of such a size."""
        return max(1, -(-self.count // self.rows_of_part))

    def of_files(self, files: list[str], count: int) -> EncodedRows:
        """Rows that were written to files, in the same form."""
        frame = self.session.read.parquet(*(Path(file).as_uri() for file in files))
        return replace(self, frame=frame, count=count)

    def share(self, value: Any) -> Broadcast[Any]:
        """Send a value to every worker once."""
        return self.session.sparkContext.broadcast(value)


def task_of_part(
    plan: PartPlan,
    frame: pl.DataFrame,
    place_of: Mapping[str, str],
    rng: np.random.Generator,
    *,
    plain: bool = True,
) -> Task:
    """The task of some encoded rows; without ``plain`` it has no insensitive columns."""
    codes = {name: frame[place_of[name]].to_numpy() for name in plan.coded}
    others = {name: frame[place_of[name]] for name in plan.plain} if plain else {}
    return plan.task_of(codes, others, rng)


def in_order(part: pa.Table) -> pl.DataFrame:
    """The rows of a part in the order of their numbers, however they came."""
    frame = pl.from_arrow(part)
    assert isinstance(frame, pl.DataFrame)
    return frame.sort("row")


def new_name() -> str:
    """A name that no other attempt at the same part has."""
    return secrets.token_hex(8)
