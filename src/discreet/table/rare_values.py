"""What became of the rare values of a table before any method saw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from discreet.typing import Ints


@dataclass(frozen=True)
class RareCounts:
    """The rare values of one sensitive attribute, in numbers that name no value."""

    least: int  # persons, and values of the source, behind every lifted or masked cell
    values: int  # of the source
    rare: int  # of them: values with fewer persons
    unchanged: int  # of them: published as they are
    lifted: int  # cells
    masked: int  # cells
    suppressed: int  # rows, those included that hide which persons had a rare value
    loss: float  # mean over the cells of the source; 1 for a masked or suppressed one
    labels: tuple[str, ...] = ()  # that lifted cells have


@dataclass(frozen=True, eq=False)
class RareTreatment:
    """What was done to the rare values of each attribute."""

    source_rows: int
    rows: Ints  # (remaining rows,) their numbers in the source
    attributes: Mapping[str, RareCounts]
    rare_rows: int = 0  # suppressed because too few persons share their sensitive cells together

    @property
    def suppressed_rows(self) -> int:
        """The rows that were suppressed because of a rare value."""
        return self.source_rows - len(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for the publisher."""
        return {
            "source_rows": self.source_rows,
            "suppressed_rows": self.suppressed_rows,
            "rare_rows": self.rare_rows,
            "attributes": {name: asdict(counts) for name, counts in self.attributes.items()},
        }
