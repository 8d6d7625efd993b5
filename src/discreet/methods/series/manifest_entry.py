"""What a manifest says of m-invariance and rho-different."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry
from discreet.statements import Statement


class RepublicationEntry(MethodEntry):
    """A release of a series."""

    name: Literal["m-invariance", "rho-different"]
    adversary: Literal["joint"] | None = None
    groups: NonNegativeInt = 0
    counterfeits: NonNegativeInt = 0
    held_back: NonNegativeInt = 0

    def sentences(self) -> list[str]:
        if not self.counterfeits:
            return []
        return [Statement("series.counterfeits", rows=self.counterfeits)]

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        sentences: list[str] = []
        if facts.get("changed_signatures"):
            changed = facts["changed_signatures"]
            sentences.append(Statement("series.changed-signatures", records=changed))
        if "greatest_belief" in facts:
            sentences.append(Statement("series.greatest-belief", belief=facts["greatest_belief"]))
        return sentences

    def weaknesses(self) -> list[str]:
        if self.name != "m-invariance":
            return []
        return [Statement("weakness.changing-values")]
