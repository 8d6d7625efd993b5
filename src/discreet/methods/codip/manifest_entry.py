"""What a manifest says of codip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, level_problems


class CodipEntry(MethodEntry):
    """CoDiP's projections."""

    name: Literal["codip"]
    plan: list[list[str]]  # sensitive attributes by table
    # By table and quasi-identifier; empty where recoding is local.
    levels: dict[str, dict[str, NonNegativeInt]] = Field(default_factory=dict)
    closeness: float = 0.0  # of the worst class of any table

    @property
    def publishes_tight_cells(self) -> bool:
        return not self.levels

    def levels_of(self, table: str) -> Mapping[str, int] | None:
        return self.levels.get(table)

    def problems(self, release: StatedRelease) -> list[str]:
        unknown = [
            f"levels of '{table}', which is not a table"
            for table in set(self.levels) - {*release.tables}
        ]
        return unknown + [
            line
            for table, levels in self.levels.items()
            for line in level_problems(f"levels.{table}", levels, release.quasi_identifiers)
        ]

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if "association_loss" not in facts:
            return []
        return [
            f"Between tables {facts['association_loss']:.1%} of the association between sensitive "
            "attributes is lost; an attacker who knows one value can still join "
            f"{facts['information_exposure']:.1%} of the linked information."
        ]
