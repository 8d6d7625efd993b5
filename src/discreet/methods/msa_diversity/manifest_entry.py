"""What a manifest says of msa-diversity."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry
from discreet.statements import Statement


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
        blocks = self.parameters.get("grouping") == "blocks"
        return Statement("weakness.minimality.blocks" if blocks else "weakness.minimality.curve")
