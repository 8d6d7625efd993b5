"""Utility of quasi-sensitive attributes: removed terms, their cost, and what an attacker learns.

*Cost* of the whole column: Σ over rows of 1/w + 1/(w − 1) + … for each removed term, over the same
for removing everything; rows that were suppressed have lost all. It needs no link between
published and original rows, as the sum over rows of what remains decides it.

*Belief change*: |β − α| over labels and groups, β the belief that a published group leaves (labels
of a row equally likely), α the prior.

What an attacker believes of the terms, for queries, is in ``term_coverage``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.table import Links, Terms, link_terms, terms_of
from discreet.requirements.quasi_sensitive import LabelPosteriors
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.counts import count_values


@dataclass(frozen=True)
class BeliefChange:
    """How far an attacker's belief moves from the prior."""

    mean: float  # over labels and groups
    greatest: float


@dataclass(frozen=True)
class TermMeasures:
    """What was removed from one quasi-sensitive attribute."""

    attribute: str
    suppressed_terms: int  # of published and of suppressed rows
    suppressed_share: float  # of all term occurrences
    emptied_rows: int  # published rows of which all terms were removed
    cost: float  # 0 nothing removed, 1 everything
    belief_change: BeliefChange | None  # where there is a knowledge table
    by_term: Mapping[str, int]  # how often each was removed; not for publication
    by_row: Mapping[str, Mapping[int, int]]  # rows by number of terms, "original" and "published"

    def __str__(self) -> str:
        change = self.belief_change
        headline = (
            f"{self.suppressed_terms:,} removed ({self.suppressed_share:.1%}), cost {self.cost:.4f}"
        )
        lines = [f"terms of {self.attribute}: {headline}"]
        if change is not None:
            lines.append(
                f"belief in its labels moves by {change.mean:.6f} on average, by "
                f"{change.greatest:.4f} at most"
            )
        return "\n".join(lines)

    def to_dict(self, *, private: bool) -> dict[str, Any]:
        """For the manifest, or with what must not be published: which terms were removed."""
        change = self.belief_change
        result: dict[str, Any] = {
            "suppressed_terms": self.suppressed_terms,
            "suppressed_share": self.suppressed_share,
            "emptied_rows": self.emptied_rows,
            "cost": self.cost,
        }
        if change is not None:
            result["belief_change"] = {"mean": change.mean, "greatest": change.greatest}
        if private:
            result["by_term"] = dict(self.by_term)
            result["by_row"] = {name: dict(rows) for name, rows in self.by_row.items()}
        return result


def measure_terms(
    original: Column, published: Column, classes: Classes, links: Links | None
) -> TermMeasures:
    """Compare a published quasi-sensitive column with the original's."""
    before, after = terms_of(original), terms_of(published)
    counts = before.counts(original.counts)
    left = dict(zip(after.names.to_list(), after.counts(published.counts).tolist(), strict=True))
    removed = {
        name: count - left.get(name, 0)
        for name, count in zip(before.names.to_list(), counts.tolist(), strict=True)
    }
    total, gone = int(counts.sum()), sum(removed.values())
    starred = (published.text == SUPPRESSED).fill_null(False).to_numpy()
    whole = _harmonic_sum(before, original.counts)
    return TermMeasures(
        attribute=original.name,
        suppressed_terms=gone,
        suppressed_share=gone / total if total else 0.0,
        emptied_rows=int(published.counts[starred].sum()),
        cost=1 - _harmonic_sum(after, published.counts) / whole if whole else 0.0,
        belief_change=None if links is None else _change(published, after, classes, links),
        by_term={name: count for name, count in removed.items() if count},
        by_row={
            "original": _by_length(before, original.counts),
            "published": _by_length(after, published.counts),
        },
    )


def _harmonic_sum(terms: Terms, count_of_value: NDArray[np.int64]) -> float:
    lengths = terms.length
    sums = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, lengths.max(initial=0) + 1))))
    return float(count_of_value @ sums[lengths])


def _by_length(terms: Terms, count_of_value: NDArray[np.int64]) -> dict[int, int]:
    rows = np.bincount(terms.length, count_of_value).astype(np.int64)
    return {length: int(count) for length, count in enumerate(rows) if count}


def _change(column: Column, terms: Terms, classes: Classes, links: Links) -> BeliefChange | None:
    """The belief of the published groups against the prior of the original."""
    if not classes.count:
        return None
    published = link_terms(terms, links.knowledge).with_prior(links.prior)
    mean, greatest = LabelPosteriors(count_values(classes, column), published, "equal").changes()
    return BeliefChange(float(mean.mean()), float(greatest.max()))
