"""The seam between the pipeline and a method: a task goes in, an outcome comes out.

A method never reads or writes files, prints, or draws on global randomness. What it returns is one
of the outcomes below; ``discreet.releases`` turns each kind into published tables.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.by_name import Named
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.table import Knowledge, Links, estimated_prior, link
from discreet.methods.manifest_entry import MethodEntry
from discreet.requirements.base import Domain, Domains, Requirement, requirements_within
from discreet.requirements.basis import Basis
from discreet.requirements.mutual_information import Information, measure_information
from discreet.table.bitmaps import Bitmap
from discreet.table.classes import Classes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts, count_classes, secret_generator, summed_weights
from discreet.table.past_releases import History
from discreet.table.persons import Keeping
from discreet.table.rare_values import RareTreatment
from discreet.typing import Codes

if TYPE_CHECKING:
    from discreet.methods.series.beliefs.correlation import Correlation, Unstated

Progress = Callable[[str, float], None]  # the phase, and how much of it is done in [0, 1]


def no_progress(phase: str, share: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True, eq=False)
class Secrets:
    """What the sensitive attributes of a table hide: which values, and which of them together."""

    # by sensitive attribute: (values,) which are sensitive; all of an attribute that is not here
    sensitive_values: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    groups: tuple[tuple[str, ...], ...] = ()  # attributes of one secret, the finest of each first
    rare: RareTreatment | None = None  # what became of rare values, where the job treats them

    @property
    def dependents(self) -> set[str]:
        """The sensitive attributes that go with a finer one of the same secret."""
        return {name for group in self.groups for name in group[1:]}

    def others(self, attribute: str, names: Iterable[str]) -> list[str]:
        """Return those of some sensitive attributes that are not of an attribute's own secret."""
        same = next((group for group in self.groups if attribute in group), (attribute,))
        return [name for name in names if name not in same]


@dataclass(frozen=True, eq=False)
class Past:
    """What is known of earlier releases about the same persons."""

    history: History | None = None  # what a ledger knows
    correlation: Correlation | None = None  # how values follow each other, where the job says so


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that a method may know."""

    table: CodedTable
    hierarchies: Mapping[str, Hierarchy]  # of quasi-identifiers, and of sensitive ones if given
    requirements: Sequence[Requirement]
    rng: np.random.Generator  # of the method: the seed's
    progress: Progress = no_progress
    bitmaps: Mapping[str, Bitmap] = field(default_factory=dict)  # of attributes that became bits
    knowledge: Mapping[str, Knowledge] = field(default_factory=dict)  # of quasi-sensitive ones
    basis: Basis = field(default_factory=Basis)  # whom the rows are about
    secrets: Secrets = field(default_factory=Secrets)
    past: Past = field(default_factory=Past)  # only for methods that need a ledger
    # of orders and group numbers, never of a method
    orders: np.random.Generator = field(default_factory=secret_generator)

    def without(self, gone: Collection[str]) -> Task:
        """Return the task as it is without some bits of multi-valued attributes."""
        if not gone:
            return self
        columns = {name: c for name, c in self.table.columns.items() if name not in gone}
        return replace(
            self,
            table=replace(self.table, columns=columns),
            requirements=requirements_within(self.requirements, columns, gone),
            bitmaps={name: bitmap.without(gone) for name, bitmap in self.bitmaps.items()},
        )

    @property
    def domains(self) -> Domains:
        """What requirements may know about the sensitive and quasi-sensitive attributes."""
        sensitive = {
            column.name: Domain.of(column, self.hierarchies.get(column.name))
            for column in self.table.sensitive
        }
        linked = {
            name: Domain(links.knowledge.labels, links=links) for name, links in self.links.items()
        }
        return sensitive | linked

    @cached_property
    def links(self) -> dict[str, Links]:
        """The labels that the original's cells link to, with a prior that is given or estimated."""
        by_attribute = {}
        for name, knowledge in self.knowledge.items():
            column = self.table[name]
            links = link(column, knowledge)
            if links.prior is None:
                links = links.with_prior(estimated_prior(links, column.reference))
            by_attribute[name] = links
        return by_attribute

    @cached_property
    def information(self) -> Information:
        """What the sensitive attributes reveal about each other."""
        return measure_information(self.table.sensitive, self.secrets.sensitive_values)

    def count(self, classes: Classes) -> ClassCounts:
        """The counts that the task's requirements need."""
        refined = any(requirement.algebra.refined for requirement in self.requirements)
        linked = [self.table[name] for name in self.knowledge]
        counts = count_classes(
            classes, self.table.sensitive, refined=refined, quasi_sensitive=linked
        )
        return replace(counts, weight=summed_weights(self.table, classes))


@dataclass(frozen=True, eq=False)
class CellColumn:
    """A published column whose cells are the same for all rows of a class."""

    cell_of_class: Codes  # (classes,)
    labels: tuple[str | None, ...]  # (cells,)
    loss: NDArray[np.float64]  # (cells,) the share of the domain that each covers


@dataclass(frozen=True, eq=False)
class RowColumn:
    """A published column whose cells differ from the source's row by row."""

    codes: Codes  # (rows,) of all source rows
    cells: pl.Series  # (cells,) what is written for each code; null is an empty cell


@dataclass(frozen=True, eq=False)
class Generalized:
    """Rows in classes that share their published quasi-identifiers: kind "generalized"."""

    class_of_row: NDArray[np.int32]  # (rows,) −1 for a suppressed row
    cells: Mapping[str, CellColumn]  # for every quasi-identifier
    facts: dict[str, Any] = field(default_factory=dict)  # for the manifest, under "method"
    promises: tuple[Requirement, ...] = ()  # what the method promises beside the job's requirements
    private: dict[str, Any] = field(default_factory=dict)  # for the publisher alone
    # by sensitive attribute: (classes,) whether its values are masked in the whole class
    masked: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    row_cells: Mapping[str, RowColumn] = field(default_factory=dict)  # other columns that changed


@dataclass(frozen=True, eq=False)
class Projection:
    """One table of several: some sensitive attributes beside quasi-identifiers of its own."""

    attributes: tuple[str, ...]  # the sensitive ones, in the table's order
    recoding: Generalized


@dataclass(frozen=True, eq=False)
class Projected:
    """Several tables about the same people: kind "projected"."""

    projections: tuple[Projection, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    promises: tuple[Requirement, ...] = ()
    private: dict[str, Any] = field(default_factory=dict)


def projection_name(number: int) -> str:
    """The name of the published table with a number, from 0."""
    return f"projection_{number + 1}"


@dataclass(frozen=True, eq=False)
class Counterfeits:
    """Sensitive rows that a group is published with though no person has them."""

    group: NDArray[np.int32]  # (counterfeits,)
    value: Mapping[str, Codes]  # by sensitive attribute: (counterfeits,)


@dataclass(frozen=True, eq=False)
class Bucketized:
    """Rows with exact quasi-identifiers in groups that share their sensitive rows: "bucketized".

    Numbers of groups are replaced by random ones, and the two tables are shuffled apart from each
    other, when the release is formed; the order in which a method numbers groups does not matter.
    """

    group_of_row: NDArray[np.int32]  # (rows,) 0 … groups − 1, −1 for a suppressed row
    counted: bool = False  # one sensitive attribute, published as values and their counts
    counterfeits: Counterfeits | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    promises: tuple[Requirement, ...] = ()  # what the method promises beside the job's requirements
    private: dict[str, Any] = field(default_factory=dict)  # for the publisher alone


@dataclass(frozen=True, eq=False)
class GeneralizedBuckets(Bucketized):
    """The same with quasi-identifiers as coarse as each group needs: "generalized-buckets"."""

    cells: Mapping[str, CellColumn] = field(default_factory=dict)  # for every quasi-identifier


@dataclass(frozen=True, eq=False)
class NoiseValues:
    """Values that a group is published with though none of its rows has them."""

    group: NDArray[np.int32]  # (values,)
    value: Codes  # (values,)


@dataclass(frozen=True, eq=False)
class Decomposed:
    """Rows with exact quasi-identifiers in groups that share sets of values: kind "decomposed"."""

    group_of_row: NDArray[np.int32]  # (rows,) 0 … groups − 1
    noise: Mapping[str, NoiseValues]  # by sensitive attribute
    facts: dict[str, Any] = field(default_factory=dict)
    promises: tuple[Requirement, ...] = ()
    private: dict[str, Any] = field(default_factory=dict)


Outcome = Generalized | Bucketized | Decomposed | Projected


class Spread(StrEnum):
    """How a method runs on a table that no machine holds whole."""

    COUNTS = "counts"  # once, on the distinct tuples of the table and their numbers
    CUTS = "cuts"  # on parts of near rows, which Mondrian's first cuts make
    CURVE = "curve"  # on stretches of the Hilbert curve; remaining rows in a second pass
    SHARDS = "shards"  # on parts that hold an even share of each value of one attribute


class Ability(StrEnum):
    """What a method takes into account beyond the sizes and values of its groups of rows."""

    COUNTS = "counts"  # groups are judged by counts alone, also by those of kinds of values
    SENSITIVE_VALUES = "sensitive-values"  # protects the values that a job names, not all
    RULED_OUT = "ruled-out"  # groups are judged by the requirement itself, whatever rows it counts
    ATTACKERS = "attackers"  # who know some quasi-identifiers, not all
    ITEMS = "items"  # of sets
    LINKS = "links"  # the labels that quasi-sensitive terms link to
    TERMS = "terms"  # removes terms, and needs a requirement on their labels
    POPULATION = "population"  # the population of every group
    PRESENCE = "presence"  # whether a member of the population is in the table
    POPULATION_CELLS = "population-cells"  # cells span the population's values, numbered as there
    PERSONS = "persons"  # its run reads the persons of a task; others group one row for each person


ADDED_FACTS = {
    "partitions", "groups", "suppressed_rows", "steps", "noise_values", "noise_by_attribute",
    "merged_groups", "failing_groups", "optimal_groups", "unsolved_groups", "suppressed_terms",
}  # fmt: skip


def _added(facts: Sequence[Any]) -> Any:
    """A sum of numbers, or of mappings of them key by key."""
    if not isinstance(facts[0], Mapping):
        return sum(facts)
    names = dict.fromkeys(name for fact in facts for name in fact)
    return {name: sum(fact.get(name, 0) for fact in facts) for name in names}


NOT_NUMBERED = "{} cannot number persons. Use mondrian, 'link: none'"


class Method(Named):
    """A method with its parameters: a frozen, validated value."""

    entry: ClassVar[type[MethodEntry]] = MethodEntry  # what a manifest says of it
    # How it runs on parts of a table; None where it needs the table whole.
    spread: ClassVar[Spread | None] = None
    abilities: ClassVar[frozenset[Ability]] = frozenset()  # what it meets beyond plain groups

    @property
    def needs_hierarchies(self) -> bool:
        """Whether every quasi-identifier must have a hierarchy; a missing one is then built."""
        return False

    @property
    def shrinks_cells(self) -> bool:
        """Whether cells are as narrow as the rows of a class, and may leave out persons like them.

        Sums of weights are then too large for the persons whom the cells cover.
        """
        return False

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The columns that its release makes for itself, which the table must not have."""
        return ()

    @property
    def needs_history(self) -> bool:
        """Whether it must know what was published before, and so needs a ledger."""
        return False

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        """Why it cannot publish several rows of a person, with a remedy; None where it can."""
        return f"{self.name} cannot publish several rows of a person. Use mondrian"

    def cell_hierarchy(self, task: Task, column: Column) -> Hierarchy | None:
        """Return the hierarchy whose labels a published column has; None for ranges and sets."""
        return task.hierarchies.get(column.name)

    def joined_facts(self, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The facts of a release made in parts: numbers that count something are added up."""
        return {
            name: _added([part[name] for part in parts if name in part])
            if name in ADDED_FACTS
            else fact
            for part in reversed(parts)
            for name, fact in part.items()
        }

    @property
    def correlations(self) -> tuple[str | None, Unstated | None]:
        """The path of its correlation table, and the rule for what it leaves unstated."""
        return None, None

    @property
    def declared_domain(self) -> tuple[str | None, ...]:
        """The values that the job declares for a series before its first release."""
        return ()

    def promises(self, task: Task) -> tuple[Requirement, ...]:
        """Return what every release of a task by this method promises beside the requirements."""
        return ()

    def most_suppressed(self, rows: int) -> int | None:
        """Return how many of some rows it may suppress; None where the method sets no limit."""
        return None

    @abstractmethod
    def run(self, task: Task) -> Outcome:
        """Find what to publish, or raise InfeasibleError."""


class ShardedMethod(Method):
    """A method that runs on parts in which each value of one attribute has an even share."""

    spread: ClassVar[Spread | None] = Spread.SHARDS

    @abstractmethod
    def shard_attribute(self, task: Task) -> str:
        """The sensitive attribute whose values every shard holds an even share of."""
