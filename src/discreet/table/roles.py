"""The role of a column, the type of its values, and the distance between two of them.

The job's specification of one column, before the table is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Role of a column in a release."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    QUASI_SENSITIVE = "quasi-sensitive"
    INSENSITIVE = "insensitive"
    WEIGHT = "weight"  # the persons of the population that a row represents
    HOUSEHOLD = "household"  # what rows of one household share; for risks, never published
    DROP = "drop"
    STRUCTURE = "structure"  # made by a release, such as a group's number; never in a job

    @property
    def published(self) -> bool:
        """Whether a release carries the column in any form."""
        return self not in (Role.IDENTIFIER, Role.HOUSEHOLD, Role.DROP)

    @property
    def unchanged(self) -> bool:
        """Whether cells are published as they are, and say nothing that is protected."""
        return self in (Role.INSENSITIVE, Role.WEIGHT)


class ValueType(StrEnum):
    """The type of a column's values, which determines their order."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"

    @property
    def ordered(self) -> bool:
        """Whether the values lie on a line."""
        return self is not ValueType.TEXT


class Distance(StrEnum):
    """The ground distance between two values of a sensitive attribute."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


class Unit(StrEnum):
    """The unit of a guarantee: people, where every person is known to have one row, or rows."""

    PERSON = "person"
    ROW = "row"

    @property
    def plural(self) -> str:
        """Several of them, as a sentence says."""
        return "people" if self is Unit.PERSON else "rows"


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
