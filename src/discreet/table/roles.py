"""What a column is for, what its values are, and how far apart two of them are."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Role of a column in a release."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    QUASI_SENSITIVE = "quasi-sensitive"
    INSENSITIVE = "insensitive"
    DROP = "drop"
    STRUCTURE = "structure"  # made by a release, such as a group's number; never in a job

    @property
    def published(self) -> bool:
        """Whether a release carries the column in any form."""
        return self not in (Role.IDENTIFIER, Role.DROP)


class ValueType(StrEnum):
    """What the values of a column are, and so how they are ordered."""

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
    """What a guarantee counts: people, where every person is known to have one row, or rows."""

    PERSON = "person"
    ROW = "row"
