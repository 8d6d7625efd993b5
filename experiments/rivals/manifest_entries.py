"""What a manifest says of gal, mmdcf and li-ye."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry
from discreet.statements import Statement


def share_sentences(method: str, share: Mapping[str, float]) -> list[str]:
    """Return how far the greatest share of a value is from a bound, where there is none."""
    if not share:
        return []
    name = max(share, key=share.__getitem__)
    return [Statement("method.unbounded-share", method=method, attribute=name, share=share[name])]


class GalEntry(MethodEntry):
    """Gal and others' partitioning, which bounds no share: the manifest says the greatest one."""

    name: Literal["gal"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0
    greatest_share: dict[str, float] = Field(default_factory=dict)  # by sensitive attribute

    @property
    def publishes_tight_cells(self) -> bool:
        return True

    def sentences(self) -> list[str]:
        return share_sentences(self.name, self.greatest_share)


class MmdcfEntry(MethodEntry):
    """MMDCF, whose groups have no value of an attribute twice."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["mmdcf"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0
    greatest_share: dict[str, float] = Field(default_factory=dict)  # by sensitive attribute


class LiYeEntry(MethodEntry):
    """Li and Ye's masking."""

    masks_cells: ClassVar[bool] = True

    name: Literal["li-ye"]
    groups: NonNegativeInt = 0
    masked_cells: dict[str, NonNegativeInt] = Field(default_factory=dict)  # by sensitive attribute
    greatest_share: dict[str, float] = Field(default_factory=dict)  # of cells that are not masked

    @property
    def publishes_tight_cells(self) -> bool:
        return True

    def sentences(self) -> list[str]:
        shares = share_sentences(self.name, self.greatest_share)
        if not self.masked_cells:
            return shares
        listed = ", ".join(f"{name} ({cells:,} cells)" for name, cells in self.masked_cells.items())
        return [f"Masked as '*' where a group had too few values: {listed}.", *shares]
