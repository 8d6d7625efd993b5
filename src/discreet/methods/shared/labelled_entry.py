"""What a manifest says of mondrian and local-recoding."""

from __future__ import annotations

from typing import Literal

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, label_problems


class LabelledEntry(MethodEntry):
    """A local recoding whose cells may be labels of hierarchies."""

    name: Literal["mondrian", "local-recoding"]
    hierarchies: dict[str, str] | None = None  # by quasi-identifier: what the labels come from

    @property
    def publishes_tight_cells(self) -> bool:
        return self.parameters.get("cells") != "blind"

    @property
    def rounds_to_grid(self) -> bool:
        return self.parameters.get("cells") == "grid"

    def problems(self, release: StatedRelease) -> list[str]:
        return label_problems(self.hierarchies, release.quasi_identifiers)
