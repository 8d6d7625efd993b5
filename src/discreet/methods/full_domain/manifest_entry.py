"""What a manifest says of full-domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, level_problems


class FullDomainEntry(MethodEntry):
    """Full-domain recoding."""

    name: Literal["full-domain"]
    levels: dict[str, NonNegativeInt]  # by quasi-identifier

    def levels_of(self, table: str) -> Mapping[str, int]:
        return self.levels

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if facts.get("proved_optimal", True):
            return []
        return [
            "The search was ended by 'seconds': the chosen levels meet every requirement, but "
            "other levels may cost less."
        ]

    def problems(self, release: StatedRelease) -> list[str]:
        return level_problems("levels", self.levels, release.quasi_identifiers)
