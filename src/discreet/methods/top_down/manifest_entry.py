"""What a manifest says of top-down."""

from __future__ import annotations

from typing import Literal

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, label_problems


class TopDownEntry(MethodEntry):
    """A recoding whose cells are nodes of hierarchies, or ``*``."""

    name: Literal["top-down"]
    hierarchies: dict[str, str]  # by quasi-identifier: what the labels come from

    def problems(self, release: StatedRelease) -> list[str]:
        return label_problems(self.hierarchies, release.quasi_identifiers)
