"""Mondrian where attackers know some columns: one partition for each block of columns.

A block is the set of columns that one attacker knows. Blocks without common columns are cut apart
from each other. A block that shares columns with an earlier one takes over the cells that these
columns have there, and cuts only its other columns within each group of these cells: such a group
is a union of passing groups of the earlier block, so it passes. That needs a single earlier block
that has all shared columns; blocks that meet several are joined, which is stricter and so safe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from discreet.methods.base import CellColumn, Generalized, Task
from discreet.requirements.attackers.judging import Demand, demands_of
from discreet.requirements.base import Requirement
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType
from discreet.typing import Codes

FIXED = ""  # the column of groups that must not be joined


@dataclass(frozen=True, eq=False)
class BlockRecoding:
    """The classes of a block, and the cells of the columns that were cut there."""

    class_of_row: Codes
    cells: dict[str, CellColumn]


# of a task whose last quasi-identifier is FIXED, under further requirements where values are known
RecodeBlock = Callable[[Task, Sequence[Demand]], BlockRecoding]


def recode_blocks(task: Task, recode: RecodeBlock) -> Generalized:
    """Recode the columns of each block, and join the classes of all."""
    table = task.table
    blocks = _blocks(demands_of(task.requirements, table))
    recoded: list[BlockRecoding] = []
    done: dict[str, BlockRecoding] = {}
    for columns, demands in blocks:
        # Groups of columns that earlier blocks have cut stay apart.
        fixed = _fixed([name for name in columns if name in done], done, table.rows)
        new = [name for name in columns if name not in done]
        columns_of_block = {
            column.name: column
            for column in table
            if column.role is not Role.QUASI_IDENTIFIER or column.name in new
        }
        columns_of_block[FIXED] = _fixed_column(fixed)
        # Cut the other columns within them.
        requirements: list[Requirement] = []
        for demand in demands:
            for requirement in () if demand.keys.known else demand.requirements:
                alone = requirement.model_copy(update={"attackers": None})
                requirements += [] if alone in requirements else [alone]
        part = replace(
            task, table=replace(table, columns=columns_of_block), requirements=requirements
        )
        recoding = recode(part, [demand for demand in demands if demand.keys.known])
        recoded.append(recoding)
        done |= dict.fromkeys(new, recoding)
    return _joined(task, recoded, done)


def _blocks(demands: Sequence[Demand]) -> list[tuple[tuple[str, ...], list[Demand]]]:
    """The blocks in the order in which they are cut, each with all that must hold there.

    What must hold in one of several blocks that share columns must hold in all of them, so that
    the groups that a block takes over pass its own requirements.
    """
    # Join blocks until each shares its columns with a single earlier one.
    columns = list(dict.fromkeys(demand.keys.columns for demand in demands))
    while (pair := _to_join(columns)) is not None:
        earlier, later = pair
        joined = tuple(dict.fromkeys([*columns[earlier], *columns[later]]))
        columns = [joined, *(c for n, c in enumerate(columns) if n not in pair)]
    # Components of blocks that share columns.
    together = [set(block_columns) for block_columns in columns]
    for block_columns in columns:
        meeting = [names for names in together if names & set(block_columns)]
        together = [names for names in together if names not in meeting]
        together.append(set().union(*meeting))
    return [
        (
            block,
            [
                demand
                for demand in demands
                if any({*block, *demand.keys.columns} <= names for names in together)
            ],
        )
        for block in columns
    ]


def _to_join(columns: Sequence[tuple[str, ...]]) -> tuple[int, int] | None:
    """Two blocks to join: a later one shares columns that no single earlier block has."""
    for later, block in enumerate(columns):
        before = columns[:later]
        shared = {
            name for name in block if any(name in columns_before for columns_before in before)
        }
        if shared and not any(shared <= {*columns_before} for columns_before in before):
            return next(
                n for n, columns_before in enumerate(before) if shared & {*columns_before}
            ), later
    return None


def _fixed(names: Sequence[str], done: dict[str, BlockRecoding], rows: int) -> Classes:
    """The rows that have the same published cells in some columns."""
    cells = [done[name].cells[name] for name in names]
    codes = [
        cell.cell_of_class[done[name].class_of_row] for name, cell in zip(names, cells, strict=True)
    ]
    return group_codes(codes, [len(cell.labels) for cell in cells], rows)


def _fixed_column(groups: Classes) -> Column:
    text = pl.Series(FIXED, [str(number) for number in range(groups.count)], dtype=pl.String)
    return Column(FIXED, Role.QUASI_IDENTIFIER, ValueType.TEXT, groups.class_of_row, text, text)


def _joined(
    task: Task, recoded: Sequence[BlockRecoding], done: dict[str, BlockRecoding]
) -> Generalized:
    """The classes of all blocks together; columns that no attacker knows stay exact."""
    exact = [column for column in task.table.quasi_identifiers if column.name not in done]
    codes = [
        *(block_recoding.class_of_row for block_recoding in recoded),
        *(column.codes for column in exact),
    ]
    counts = [
        *(int(block_recoding.class_of_row.max()) + 1 for block_recoding in recoded),
        *(c.cardinality for c in exact),
    ]
    classes = group_codes(codes, counts, task.table.rows)
    cells = {}
    for column in task.table.quasi_identifiers:
        if column.name in done:
            block = done[column.name]
            cell = block.cells[column.name]
            cell_of_class = cell.cell_of_class[block.class_of_row[classes.first_row]]
            cells[column.name] = replace(cell, cell_of_class=cell_of_class)
        else:
            labels = tuple(column.text.to_list())
            cell_of_class = column.codes[classes.first_row]
            cells[column.name] = CellColumn(cell_of_class, labels, np.zeros(len(labels)))
    return Generalized(classes.class_of_row, cells, {"partitions": classes.count})
