"""How a projection's quasi-identifiers are recoded: the seam between plans and recodings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.methods.base import Generalized
from discreet.methods.codip.plans import Block


@dataclass(frozen=True, eq=False)
class Recoded:
    """One table of a plan, recoded."""

    outcome: Generalized
    closeness: float  # of its worst class and attribute
    levels: dict[str, int] | None = None  # of a full-domain recoding


class Recoder(Protocol):
    """What finding and publishing a plan asks of a recoding."""

    def can_publish(self, block: Block) -> bool:
        """Whether a table with these attributes can meet all requirements and the ceiling."""

    def recoded(self, block: Block) -> Recoded:
        """Return what is published of a block that can be."""

    def chosen_closeness(self, block: Block) -> float | None:
        """The t of what would be published; None where nothing can be."""

    def best_closeness(self, block: Block) -> float | None:
        """The least t that a recoding which still says something reaches; None if none passes."""

    def why_not(self, blocks: Sequence[Block]) -> tuple[str, list[dict[str, object]]]:
        """Why some blocks can't be published and what would be feasible, in words and as data."""

    def facts(self) -> dict[str, Any]:
        """For the manifest."""


def failure_of(
    requirement: str, parameters: dict[str, Any], feasible: dict[str, float]
) -> dict[str, object]:
    """One bound that can't be met, as an InfeasibleError carries it."""
    return {
        "requirement": requirement,
        "parameters": parameters,
        "achieved": feasible,
        "feasible": feasible,
    }
