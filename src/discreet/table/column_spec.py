"""What a job says of one column, before the table is read."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.table.roles import Distance, Role, ValueType


@dataclass(frozen=True)
class ColumnSpec:
    """The role of a column and how its cells are read.

    Without a type, cells of a text file are text and those of a typed source what their dtype
    says. Without a distance, integers, numbers and dates are ordered and texts equal or not.
    """

    role: Role
    type: ValueType | None = None
    distance: Distance | None = None
    separator: str | None = None  # between the members of a multi-valued cell
