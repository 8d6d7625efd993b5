"""What a group counts: rows, persons, sampling weights, members of a population."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from discreet.table.persons import Keeping, OneRowEach, PersonBasis, Persons
from discreet.table.roles import Unit
from discreet.typing import Ints32, Words

if TYPE_CHECKING:
    from discreet.knowledge.population import Population


PopulationSource = Literal["table", "weights"]  # of the population sizes of classes


@dataclass(frozen=True)
class Counting:
    """What the figure of a requirement counts."""

    # where persons have several rows; None where it cannot be judged on persons
    persons: PersonBasis | None = None
    # the population sizes of classes come from a table or from weights, or it is not yet known
    sizes: PopulationSource | Literal["rows", "unstated"] = "rows"

    @property
    def population(self) -> bool:
        """Whether classes are compared with the persons of a population whom their cells cover."""
        return self.sizes == "table"

    @property
    def weights(self) -> bool:
        """Whether the sampling weights of each class are summed up."""
        return self.sizes == "weights"


@dataclass(frozen=True, eq=False)
class Basis:
    """The persons behind the rows of a table, and the population that they are drawn from."""

    unit: Unit = Unit.ROW  # person where an identifier proves that every person has one row
    repeated: tuple[str, ...] = ()  # in a sentence each: identifiers whose values repeat
    one_row_each: OneRowEach | None = None  # where the job names persons, each with one row
    persons: Persons | None = None  # where all rows of persons are published: the person of each
    keeping: Keeping = field(default_factory=Keeping)  # how these rows are published
    people: Words | None = None  # (rows, 2) keyed hashes, where there is a ledger
    population: Population | None = None  # where a requirement compares with one
    population_size: int | None = None  # the persons of whom the rows are a random sample
    household: Ints32 | None = None  # (rows,) of figures of risk, never of a method
