"""The role of a column, the type of its values, and the distance between two of them."""

from __future__ import annotations

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
