"""The job's specification of one column, before the table is read."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.table.roles import Distance, Role, ValueType


@dataclass(frozen=True)
class ColumnSpec:
    """The role of a column, and the form of its cells.

    Without a type, cells of a text file are text and those of a typed source have the type of
    their dtype. Without a distance, integers, numbers and dates are ordered and texts equal or not.
    """

    role: Role
    type: ValueType | None = None
    distance: Distance | None = None
    separator: str | None = None  # between the members of a multi-valued cell
    date_format: str | None = None  # of dates in text, such as %d.%m.%Y; ISO if not given
    decimal: str = "."  # the decimal sign of numbers in text

    @property
    def is_foreign(self) -> bool:
        """Whether cells are converted before they are published: dates, or decimal signs."""
        if self.type is ValueType.DATE:
            return self.date_format is not None
        return self.type in (ValueType.INTEGER, ValueType.NUMBER) and self.decimal != "."
