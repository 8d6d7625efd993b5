"""A column as it is published: codes of rows, and what is written for each code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.roles import Role
from discreet.data.table import Codes

GROUP = "group"  # columns that a release makes for itself
COUNT = "count"


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """One column of a published table.

    The dictionary holds labels, or for an untouched column the source's own typed values.
    """

    name: str
    role: Role
    codes: Codes  # (rows,)
    dictionary: pl.Series  # (values,) a null is an empty cell


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table as it is published; its rows are put into random order when it is written.

    A table whose order says nothing, because it is sorted by what it shows, may keep that order.
    """

    name: str
    columns: Sequence[PublishedColumn]
    rows: int
    # (rows,) the source's row that each stands for; None where all of the source's are, in order
    source_row: NDArray[np.int32] | None = None
    keeps_order: bool = False
