"""Sampling weights as they are published: checked, and rounded where the job asks for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from discreet.errors import InputError
from discreet.job.model import Job
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role


def with_weights(job: Job, table: CodedTable) -> CodedTable:
    """The table with its weights as they are published; refuse weights that are no numbers."""
    columns = dict(table.columns)
    for column in table.with_role(Role.WEIGHT):
        numbers = column.numbers
        assert numbers is not None
        wrong = int(column.counts[~(numbers > 0) | ~np.isfinite(numbers)].sum())
        if wrong:
            raise InputError(
                f"Column '{column.name}': {wrong} of {table.rows} weights are missing or not above "
                "0. A weight is the number of persons that a row represents; correct them, or give "
                "the column the role 'insensitive'."
            )
        step = job.attributes[column.name].round
        if step is not None:
            columns[column.name] = rounded(column, step)
    return replace(table, columns=columns)


def rounded(column: Column, step: float) -> Column:
    """Weights as multiples of a step, at least one step."""
    assert column.numbers is not None
    multiple = np.maximum(np.rint(column.numbers / step), 1).astype(np.int64)
    distinct, code = np.unique(multiple, return_inverse=True)
    numbers = distinct * step
    text = pl.Series(column.name, [f"{number:.12g}" for number in numbers], dtype=pl.String)
    return replace(
        column,
        codes=code.astype(np.int32)[column.codes],
        text=text,
        values=text,
        numbers=np.array([float(one) for one in text]),
    )
