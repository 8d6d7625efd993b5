"""What a manifest says of a method: its parameters, its choices, and figures of its files.

A choice is needed to read the release, such as the levels of a recoding. A figure is derived from
the published tables (``releases/audit/figures.py``), never taken from the method. Whatever else a
method knows about its run belongs to the publisher and is in the private file. A method names its
entry, a subclass in its folder, by ``Method.entry``; ``methods.registry`` composes them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from discreet.statements import Statement


class StatedRelease(NamedTuple):
    """What else a manifest names, to which an entry must fit."""

    tables: Collection[str]
    quasi_identifiers: Collection[str]
    promised: Sequence[Mapping[str, Any]]  # the parameters of each promise


class MethodEntry(BaseModel):
    """A method and its parameters, and in subclasses what else a manifest says of a method."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    masks_cells: ClassVar[bool] = False  # whether published rows may hide sensitive values
    # Whether groups follow from sensitive values alone, ties broken by chance.
    blind_to_quasi_identifiers: ClassVar[bool] = False

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)

    @property
    def publishes_tight_cells(self) -> bool:
        """Whether cells are no wider than the rows of their class need."""
        return False

    @property
    def rounds_to_grid(self) -> bool:
        """Whether the ends of ranges are those of steps, which need not occur."""
        return False

    def levels_of(self, table: str) -> Mapping[str, int] | None:
        """Return the levels of a table's full-domain recoding; None where it is another."""
        return None

    def sentences(self) -> list[str]:
        """Return what only this method did, for the person who signs."""
        return []

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        """Return what the publisher alone may know of the run."""
        return []

    def weaknesses(self) -> list[str]:
        """Return what the method leaves open, each with the attack that measures it."""
        return []

    def minimality(self) -> str:
        """Return what an attacker who knows the algorithm can ask of groups by sensitive values."""
        return Statement("weakness.minimality")

    def problems(self, release: StatedRelease) -> list[str]:
        """Return where the entry names what the release does not have, or promise."""
        return []


def level_problems(
    place: str, levels: Mapping[str, int], quasi_identifiers: Collection[str]
) -> list[str]:
    """Return the problem of levels that are not of the quasi-identifiers."""
    if not levels or set(levels) == set(quasi_identifiers):
        return []
    return [f"'method.{place}' are not of the quasi-identifiers"]


def label_problems(
    hierarchies: Mapping[str, str] | None, quasi_identifiers: Collection[str]
) -> list[str]:
    """Return the problem of hierarchies of other columns than the quasi-identifiers."""
    if set(hierarchies or ()) <= set(quasi_identifiers):
        return []
    return ["'method.hierarchies' names columns that are not quasi-identifiers"]


def bound_problems(least: object, promised: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the problem of an l that no promise has."""
    if any(parameters.get("l") == least for parameters in promised):
        return []
    return ["'method.l' is not the l of a guarantee"]


class LabelledEntry(MethodEntry):
    """A local recoding whose cells may be labels of hierarchies."""

    name: Literal["mondrian", "local-recoding"]
    hierarchies: dict[str, str] | None = None  # by quasi-identifier: what the labels come from

    @property
    def publishes_tight_cells(self) -> bool:
        return self.parameters.get("cells") != "blind"

    @property
    def rounds_to_grid(self) -> bool:
        return self.parameters.get("cells") == "grid"

    def problems(self, release: StatedRelease) -> list[str]:
        return label_problems(self.hierarchies, release.quasi_identifiers)
