"""The terms of persons with several rows: the union of the terms of their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.terms import terms_of
from discreet.table.coded_table import Column
from discreet.table.persons import Persons

BETWEEN = "\x1f"  # terms of a person, where each cell of the column has one


def term_rows(column: Column) -> pl.DataFrame:
    """The row and the term of each occurrence of a term."""
    listed = terms_of(column)
    length = listed.length[column.codes]
    start = np.repeat(listed.start[column.codes], length)
    within = np.arange(len(start)) - np.repeat(np.cumsum(length) - length, length)
    term = listed.names.gather(pl.Series(listed.term[start + within], dtype=pl.Int64))
    return pl.DataFrame({"row": np.repeat(np.arange(len(column.codes)), length), "term": term})


def union_of_rows(column: Column, persons: Persons) -> Column:
    """A cell for each person with the terms of all their rows.

    It is ``*`` where rows lost all their terms, and empty where no row ever had any.
    """
    separator = column.separator or BETWEEN
    occurring = term_rows(column)
    person = pl.Series("person", persons.number[occurring["row"].to_numpy()])
    joined = _joined(occurring.select(person.alias("row"), "term").unique(), separator)
    emptied = (column.text == SUPPRESSED).fill_null(False).to_numpy()[column.codes]
    cells: list[str | None] = [None] * persons.count
    for of_person in np.unique(persons.number[emptied]):
        cells[of_person] = SUPPRESSED
    for of_person, text in joined.iter_rows():
        cells[of_person] = text
    return _coded(replace(column, separator=separator), pl.Series(column.name, cells, pl.String))


def rows_within(column: Column, persons: Persons, union: Column) -> Column:
    """The cells of rows, with the terms that the cell of their person still has."""
    occurring = term_rows(column).with_columns(
        pl.Series("person", persons.number[term_rows(column)["row"].to_numpy()])
    )
    left = term_rows(union).rename({"row": "person"})
    kept = occurring.join(left, on=["person", "term"], how="semi")
    if kept.height == occurring.height:
        return column
    cells = column.text.gather(pl.Series(column.codes)).to_list()
    for row in occurring["row"].unique().to_list():
        cells[row] = SUPPRESSED
    for row, text in _joined(kept.select("row", "term"), column.separator or BETWEEN).iter_rows():
        cells[row] = text
    return _coded(column, pl.Series(column.name, cells, pl.String))


def _joined(terms: pl.DataFrame, separator: str) -> pl.DataFrame:
    """The cell of each row that has terms."""
    ordered = terms.sort("row", "term")
    return ordered.group_by("row", maintain_order=True).agg(pl.col("term").str.join(separator))


def _coded(column: Column, cells: pl.Series) -> Column:
    """A column of the same name and role with other cells."""
    distinct = cells.unique().sort(nulls_last=True)
    place = {cell: code for code, cell in enumerate(distinct.to_list())}
    codes = np.array([place[cell] for cell in cells.to_list()], np.int32)
    return replace(column, codes=codes, text=distinct, values=distinct, weights=None, total=None)
