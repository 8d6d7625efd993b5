"""A table of Ibis as a place that counts: any backend, by the one aggregation that all have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.header import require_names
from discreet.io.in_place.place import COUNT, NUMBER, Place

# Backends that compare text by its bytes, unless a column was declared otherwise.
BY_BYTES = (
    "bigquery",
    "clickhouse",
    "datafusion",
    "duckdb",
    "polars",
    "pyspark",
    "snowflake",
    "trino",
)


class IbisPlace(Place):
    """An Ibis table expression; its backend groups and counts."""

    name = "The Ibis table"

    def __init__(self, table: Any) -> None:
        if not hasattr(table, "group_by"):
            raise InputError(f"An Ibis table is needed, not {type(table).__name__}.")
        self.table = table
        self.backend = str(table.get_backend().name)

    def columns(self) -> tuple[str, ...]:
        require_names(self.table.columns, self.name)
        return tuple(self.table.columns)

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        texts = [name for name in columns if self.table[name].type().is_string()]
        if self.backend not in BY_BYTES and texts:
            try:
                return self._grouped(columns, person, texts)
            except Exception:  # of a backend that cannot see the bytes of text
                self.remarks = (
                    f"Text was compared as the backend '{self.backend}' compares it. Where that "
                    "ignores case, accents or blanks, classes are smaller than counted here.",
                )
        try:
            return self._grouped(columns, person, ())
        except Exception as error:  # of any backend; its message may quote cells
            raise InputError(
                f"{self.name}: the backend cannot count the rows ({type(error).__name__})."
            ) from None

    def _grouped(
        self, columns: Sequence[str], person: Sequence[str], by_bytes: Sequence[str]
    ) -> pl.DataFrame:
        """Count combinations, of some columns also by the bytes of their text."""
        ibis = require_extra("ibis", "Ibis tables", "ibis")
        table, keys = self.table, list(columns)
        if person:
            texts = [table[name].cast("string").nullif("") for name in person]
            rank = ibis.dense_rank().over(ibis.window(order_by=texts))
            absent = texts[0].isnull()
            for text in texts[1:]:
                absent |= text.isnull()
            table = table.mutate(**{NUMBER: ibis.ifelse(absent, ibis.null(), rank)})
            keys.append(NUMBER)
        for number, name in enumerate(by_bytes):
            table = table.mutate(**{f"discreet_bytes_{number}": table[name].cast("binary")})
            keys.append(f"discreet_bytes_{number}")
        grouped = table.group_by(keys).aggregate(**{COUNT: table.count()})
        found: pl.DataFrame = grouped.drop(*keys[len(keys) - len(by_bytes) :]).to_polars()
        return found
