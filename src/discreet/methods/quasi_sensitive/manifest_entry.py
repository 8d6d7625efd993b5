"""What a manifest says of quasi-sensitive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, NonNegativeInt

from discreet.methods.manifest_entry import MethodEntry, StatedRelease, label_problems
from discreet.statements import Statement


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
            Statement("terms.removed", attribute=name, rows=rows)
            for name, rows in self.emptied_rows.items()
        ]

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        sentences: list[str] = []
        searched = facts.get("attributes", {})
        measured = utility.get("terms", {})
        for name, searched_terms in searched.items():
            terms = measured.get(name, {})
            suppressed, labels = searched_terms["suppressed_terms"], searched_terms["labels"]
            sentences.append(
                Statement(
                    "terms.suppressed-share",
                    terms=suppressed,
                    share=terms["suppressed_share"],
                    attribute=name,
                    labels=labels,
                )
                if terms
                else Statement("terms.suppressed", terms=suppressed, attribute=name, labels=labels)
            )
            # How much the belief in labels changed, and what links to nothing.
            change = terms.get("belief_change")
            if change is not None:
                sentences.append(
                    Statement(
                        "terms.belief-change", greatest=change["greatest"], mean=change["mean"]
                    )
                )
            if searched_terms["unlinked_rows"]:
                sentences.append(
                    Statement(
                        "terms.unlinked",
                        rows=searched_terms["unlinked_rows"],
                        attribute=name,
                        terms=searched_terms["unknown_terms"],
                    )
                )
            sentences += [
                Statement(
                    f"terms.{key.replace('_', '-')}", attribute=name, labels=searched_terms[key]
                )
                for key in ("labels_without_terms", "doubled_labels")
                if searched_terms[key]
            ]
        # How the search of groups ended.
        if sentences:
            sentences.append(
                Statement(
                    "terms.groups",
                    failing=facts["failing_groups"],
                    optimal=facts["optimal_groups"],
                    groups=facts["groups"],
                )
            )
            if facts["unsolved_groups"]:
                sentences.append(Statement("terms.unsolved", groups=facts["unsolved_groups"]))
        return sentences
