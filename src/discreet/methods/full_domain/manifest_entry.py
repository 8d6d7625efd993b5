"""What a manifest says of full-domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, level_problems
from discreet.statements import Statement


class FullDomainEntry(MethodEntry):
    """Full-domain recoding."""

    name: Literal["full-domain"]
    levels: dict[str, NonNegativeInt]  # by quasi-identifier

    def levels_of(self, table: str) -> Mapping[str, int]:
        return self.levels

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if facts.get("proved_optimal", True):
            return []
        return [Statement("full-domain.not-optimal")]

    def problems(self, release: StatedRelease) -> list[str]:
        return level_problems("levels", self.levels, release.quasi_identifiers)
