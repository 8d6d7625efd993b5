"""What a manifest says of m-invariance and rho-different."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry


class RepublicationEntry(MethodEntry):
    """A release of a series."""

    name: Literal["m-invariance", "rho-different"]
    adversary: Literal["joint"] | None = None
    groups: NonNegativeInt = 0
    counterfeits: NonNegativeInt = 0
    held_back: NonNegativeInt = 0

    def sentences(self) -> list[str]:
        counterfeits = self.counterfeits
        sentences = []
        if counterfeits:
            sentences.append(
                f"{counterfeits:,} sensitive rows are counterfeits, which belong to no record; the "
                "table 'counterfeits' gives their number in each group."
            )
        return sentences

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        sentences = []
        if facts.get("changed_signatures"):
            sentences.append(
                f"{facts['changed_signatures']:,} records are now in groups with all new values, "
                "because their own value changed. Across such changes m-invariance does not bound "
                "the belief of an attacker who has several releases; use rho-different for data "
                "whose values change."
            )
        if "greatest_belief" in facts:
            sentences.append(
                "The greatest belief of an attacker who has all releases so far is "
                f"{facts['greatest_belief']:.3f}."
            )
        return sentences

    def weaknesses(self) -> list[str]:
        if self.name != "m-invariance":
            return []
        return [
            "Changing values: across releases, no bound covers a record whose value changed; use "
            "rho-different for such data (series)."
        ]
