"""The seam between the pipeline and a method: a task goes in, an outcome comes out.

A method never reads or writes files, prints, or draws on global randomness. What it returns is one
of the outcomes below; ``discreet.releases`` turns each kind into published tables.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.data.classes import Classes
from discreet.data.counts import ClassCounts, count_classes
from discreet.data.history import History
from discreet.data.table import CodedTable, Codes
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.models.correlation import Correlation, Unstated
from discreet.models.requirement import Domain, Domains, Requirement
from discreet.named import Named

Progress = Callable[[str, float], None]  # the phase, and how much of it is done in [0, 1]


def no_progress(phase: str, share: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that a method may know."""

    table: CodedTable
    hierarchies: Mapping[str, Hierarchy]  # of quasi-identifiers, and of sensitive ones if given
    requirements: Sequence[Requirement]
    rng: np.random.Generator
    progress: Progress = no_progress
    history: History | None = None  # what a ledger knows; only for methods that need it
    people: NDArray[np.uint64] | None = None  # (rows, 2) keyed hashes, where there is a ledger
    correlation: Correlation | None = None  # how values follow each other, where the job says so

    @property
    def domains(self) -> Domains:
        """What requirements may know about the sensitive attributes."""
        return {
            column.name: Domain(
                tuple(column.text.to_list()), column.distance, self.hierarchies.get(column.name)
            )
            for column in self.table.sensitive
        }

    def count(self, classes: Classes) -> ClassCounts:
        """The counts that the task's requirements need."""
        refined = any(requirement.needs_refined_counts for requirement in self.requirements)
        return count_classes(classes, self.table.sensitive, refined=refined)


@dataclass(frozen=True, eq=False)
class CellColumn:
    """A published column whose cells are the same for all rows of a class."""

    cell_of_class: Codes  # (classes,)
    labels: tuple[str | None, ...]  # (cells,)
    loss: NDArray[np.float64]  # (cells,) the share of the domain that each covers


@dataclass(frozen=True, eq=False)
class Generalized:
    """Rows in classes that share their published quasi-identifiers: kind "generalized"."""

    class_of_row: NDArray[np.int32]  # (rows,) −1 for a suppressed row
    cells: Mapping[str, CellColumn]  # for every quasi-identifier
    facts: dict[str, Any] = field(default_factory=dict)  # for the manifest, under "method"
    promises: tuple[Requirement, ...] = ()  # what the method promises beside the job's requirements


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
    notes: dict[str, Any] = field(default_factory=dict)  # for the publisher, never published
    promises: tuple[Requirement, ...] = ()  # what the method promises beside the job's requirements


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


Outcome = Generalized | Bucketized | Decomposed


class Method(Named):
    """A method with its parameters: a frozen, validated value."""

    # Whether every quasi-identifier must have a hierarchy; one is built where the job gives none.
    needs_hierarchies: ClassVar[bool] = False
    # Whether it must know what was published before, and so needs a ledger.
    needs_history: ClassVar[bool] = False

    @property
    def correlations(self) -> tuple[str | None, Unstated | None]:
        """The path of its correlation table, and the rule for what it leaves unstated."""
        return None, None

    @abstractmethod
    def run(self, task: Task) -> Outcome:
        """Find what to publish, or raise InfeasibleError."""
