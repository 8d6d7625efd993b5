"""What a manifest says of quasi-sensitive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, label_problems


class QuasiSensitiveEntry(MethodEntry):
    """Removal of quasi-sensitive terms."""

    name: Literal["quasi-sensitive"]
    hierarchies: dict[str, str] | None = None
    groups: NonNegativeInt = 0
    emptied_rows: dict[str, NonNegativeInt] = Field(default_factory=dict)  # by attribute: cells '*'

    @property
    def publishes_tight_cells(self) -> bool:
        return True

    def problems(self, release: StatedRelease) -> list[str]:
        return label_problems(self.hierarchies, release.quasi_identifiers)

    def sentences(self) -> list[str]:
        return [
            f"Terms of '{name}' were removed where they disclose too much; {rows:,} rows have no "
            "term left (*)."
            for name, rows in self.emptied_rows.items()
        ]

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        sentences = []
        searched = facts.get("attributes", {})
        measured = utility.get("terms", {})
        for name, found in searched.items():
            terms = measured.get(name, {})
            share = f" ({terms['suppressed_share']:.1%})" if terms else ""
            sentences.append(
                f"{found['suppressed_terms']:,} terms{share} of '{name}' were removed from "
                f"published rows; the knowledge table has {found['labels']:,} labels."
            )
            change = terms.get("belief_change")
            if change is not None:
                sentences.append(
                    f"The attacker's belief in a label changes by at most "
                    f"{change['greatest']:.1%}, by {change['mean']:.2%} on average over labels and "
                    "groups."
                )
            if found["unlinked_rows"]:
                sentences.append(
                    f"{found['unlinked_rows']:,} rows have terms of '{name}' that match no label "
                    f"together ({found['unknown_terms']:,} terms are in no label); they are "
                    "published unchanged and tell this attacker nothing."
                )
            sentences += [
                f"In the knowledge table of '{name}', {found[key]:,} labels {said}."
                for key, said in (
                    ("labels_without_terms", "have no term and match only rows without any"),
                    ("doubled_labels", "are on several lines, which were joined"),
                )
                if found[key]
            ]
        if sentences:
            sentences.append(
                f"{facts['failing_groups']:,} groups failed before the removal; for "
                f"{facts['optimal_groups']:,} of the {facts['groups']:,} published groups it is "
                "proved that no smaller removal suffices."
            )
            if facts["unsolved_groups"]:
                sentences.append(
                    f"For {facts['unsolved_groups']:,} groups no removal was found; their rows "
                    "were suppressed."
                )
        return sentences
