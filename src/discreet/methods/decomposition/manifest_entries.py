"""What a manifest says of anatomy and decomposition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import NonNegativeInt, PositiveInt

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, bound_problems


class AnatomyEntry(MethodEntry):
    """Anatomy."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["anatomy"]
    l: PositiveInt  # noqa: E741 (the manifest's key)
    groups: NonNegativeInt = 0

    def problems(self, release: StatedRelease) -> list[str]:
        return bound_problems(self.l, release.promised)


class DecompositionEntry(MethodEntry):
    """Decomposition."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["decomposition"]
    primary: str
    l: dict[str, PositiveInt]  # noqa: E741 (the manifest's key)
    groups: NonNegativeInt = 0

    def problems(self, release: StatedRelease) -> list[str]:
        return bound_problems(self.l, release.promised)

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if "noise_values" not in facts:
            return []
        merged = facts["merged_groups"]
        return [
            f"{facts['noise_values']:,} listed values are noise: no row of the group has them, but "
            "whole sensitive rows support them like the others."
            + (f" {merged:,} groups were merged into others." if merged else "")
        ]
