"""A column as it is published: codes of rows, and the text or value of each code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from discreet.table.coded_table import count_codes
from discreet.table.roles import Role
from discreet.typing import Codes, Ints32

GROUP = "group"  # columns that a release makes for itself
COUNT = "count"
PERSON = "person"


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """One column of a published table.

    The dictionary holds labels, or for an untouched column the source's own typed values.
    """

    name: str
    role: Role
    codes: Codes  # (rows,)
    dictionary: pl.Series  # (values,) a null is an empty cell

    def compacted(self) -> PublishedColumn:
        """Return the column with a dictionary that holds published values and nothing else.

        The texts are copied: a slice of a Polars column shares the memory of the whole column, and
        serializing the slice writes all of it.
        """
        occurs = count_codes(self.codes, len(self.dictionary)) > 0
        codes, dictionary = self.codes, self.dictionary
        if not occurs.all():
            codes = (np.cumsum(occurs) - 1).astype(np.int32).take(codes)
            dictionary = dictionary.filter(pl.Series(occurs))
        if dictionary.dtype == pl.String:
            dictionary = dictionary + ""  # a sum has memory of its own
        return replace(self, codes=codes, dictionary=dictionary)


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table as it is published; its rows are put into random order when it is written.

    A table whose order reveals nothing, because it is sorted by published columns, may keep it.
    """

    name: str
    columns: Sequence[PublishedColumn]
    rows: int
    # (rows,) the source's row that each represents; None where all of the source's are, in order
    source_row: Ints32 | None = None
    keeps_order: bool = False

    def compacted(self) -> PublishedTable:
        """Return the table with dictionaries that hold published values and nothing else."""
        return replace(self, columns=[column.compacted() for column in self.columns])

    def without(self, gone: Collection[str]) -> PublishedTable:
        """Return the table without some columns."""
        return replace(self, columns=[c for c in self.columns if c.name not in gone])
