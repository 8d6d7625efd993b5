"""What a manifest says of msa-diversity."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry


class MsaDiversityEntry(MethodEntry):
    """MSA-diversity."""

    name: Literal["msa-diversity"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0

    @property
    def publishes_tight_cells(self) -> bool:
        return True

    @property
    def rounds_to_grid(self) -> bool:
        return self.parameters.get("cells") == "grid"

    def minimality(self) -> str:
        if self.parameters.get("grouping") == "blocks":
            return (
                "Algorithm: rows that found no group in their block may have been placed by their "
                "sensitive values, about which an attacker who knows the algorithm can reason "
                "(minimality)."
            )
        return (
            "Algorithm: groups depend on sensitive values, so an attacker who knows the algorithm "
            "can reason about them; 'grouping: blocks' avoids this for most rows, at a higher "
            "information loss (minimality)."
        )
