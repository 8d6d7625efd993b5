"""What a manifest says of full-domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, level_problems


class FullDomainEntry(MethodEntry):
    """Full-domain recoding."""

    name: Literal["full-domain"]
    levels: dict[str, NonNegativeInt]  # by quasi-identifier

    def levels_of(self, table: str) -> Mapping[str, int]:
        return self.levels

    def problems(self, release: StatedRelease) -> list[str]:
        return level_problems("levels", self.levels, release.quasi_identifiers)
