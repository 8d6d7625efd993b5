"""Sampling weights as they are published: checked, and rounded where the job asks for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from discreet.errors import InputError
from discreet.job.model import Job
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role

PRECISION = 1e-12  # relative; published weights have 12 digits


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
                "the column the role 'unchanged'."
            )
        step = job.attributes[column.name].round
        if step is not None:
            columns[column.name] = rounded(column, step)
    return replace(table, columns=columns)


def rounded(column: Column, step: float) -> Column:
    """Weights as multiples of a step, rounded down; a weight below the step as 1, or the step.

    A published weight is at most the true one, or at most 1, which each row represents at least.
    So a sum of published weights never exceeds that of the true ones, and a guarantee that follows
    from the published weights holds for the true ones too.
    """
    assert column.numbers is not None
    nearest = np.rint(column.numbers / step)
    is_multiple = np.isclose(nearest * step, column.numbers, rtol=PRECISION, atol=0.0)
    multiple = np.where(is_multiple, nearest, np.floor(column.numbers / step))
    numbers = np.where(multiple >= 1, multiple * step, min(step, 1.0))
    distinct, code = np.unique(numbers, return_inverse=True)
    text = pl.Series(column.name, [f"{number:.12g}" for number in distinct], dtype=pl.String)
    return replace(
        column,
        codes=code.astype(np.int32)[column.codes],
        text=text,
        values=text,
        numbers=np.array([float(number) for number in text]),
    )
