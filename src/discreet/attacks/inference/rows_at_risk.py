"""The rows of the source whose value an attacker learns, for the publisher to treat."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.typing import Floats, Ints

ALONE = "quasi-identifiers"
OTHERS = "quasi-identifiers and all other sensitive values"


@dataclass(frozen=True)
class RowAtRisk:
    """One row of the source, and the attacker who learns its value."""

    row: int  # of the source, counted from 1
    attribute: str
    knows: str
    belief: float


@dataclass(eq=False)
class RowsAtRisk:
    """Rows as attacks find them, each with the first attacker who learns its value."""

    found: dict[tuple[int, str], RowAtRisk] = field(default_factory=dict)

    def add(self, rows: Ints, attribute: str, knows: str, belief: Floats) -> None:
        """Note rows of the source, counted from 0, and the belief in the value of each."""
        for row, own in zip(rows.tolist(), belief.tolist(), strict=True):
            if (row + 1, attribute) not in self.found:
                self.found[row + 1, attribute] = RowAtRisk(row + 1, attribute, knows, own)

    @property
    def listed(self) -> tuple[RowAtRisk, ...]:
        """All of them in the order of the source."""
        return tuple(sorted(self.found.values(), key=lambda one: (one.row, one.attribute)))
