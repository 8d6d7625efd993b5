"""A table of Ibis as a place that counts: any backend, by the one aggregation that all have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.header import require_names
from discreet.io.in_place.place import COUNT, NUMBER, Place


class IbisPlace(Place):
    """An Ibis table expression; its backend groups and counts."""

    name = "The Ibis table"

    def __init__(self, table: Any) -> None:
        if not hasattr(table, "group_by"):
            raise InputError(f"An Ibis table is needed, not {type(table).__name__}.")
        self.table = table

    def columns(self) -> tuple[str, ...]:
        require_names(self.table.columns, self.name)
        return tuple(self.table.columns)

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
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
        grouped = table.group_by(keys).aggregate(**{COUNT: table.count()})
        try:
            found: pl.DataFrame = grouped.to_polars()
        except Exception as error:  # of any backend; its message may quote cells
            raise InputError(
                f"{self.name}: the backend cannot count the rows ({type(error).__name__})."
            ) from None
        return found
