"""Readers of equivalence classes: linking and homogeneity.

The reader sees the published tables, knows everyone's exact quasi-identifiers and who is in the
table. In a class of n rows the target's row is each with probability 1/n, and a sensitive value
that c of them have is the target's with probability c/n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.releases.kind import View


@dataclass(frozen=True)
class Belief:
    """How well one reader does, over all published people."""

    attack: str
    attribute: str | None  # the sensitive attribute that is aimed at
    mean: float  # mean belief in the truth
    greatest: float
    certain: float  # the share of people whose truth is certain
    baseline: float  # the mean belief of a reader of the overall distribution alone

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return asdict(self)


def linking(view: View) -> Belief:
    """Which row is the target's: 1/(class size)."""
    size = view.counts.size
    rows = max(view.counts.rows, 1)
    return Belief(
        "linking",
        None,
        mean=len(size) / rows,
        greatest=float(1 / size.min()) if len(size) else 0.0,
        certain=float((size == 1).sum() / rows),
        baseline=1 / rows,
    )


def homogeneity(view: View, attribute: str) -> Belief:
    """Which value the target has: its share in the class."""
    counts = view.counts.values[attribute]
    rows = max(view.counts.rows, 1)
    share = counts.count / view.counts.size[counts.class_of_entry]  # (entries,)
    overall = counts.total / rows
    return Belief(
        "homogeneity",
        attribute,
        mean=float((counts.count * share).sum() / rows),
        greatest=float(share.max()) if len(share) else 0.0,
        certain=float(counts.count[share == 1].sum() / rows),
        baseline=float(np.square(overall).sum()),
    )


def attack_views(views: Sequence[View]) -> list[Belief]:
    """Both attacks on every view of a release."""
    beliefs = []
    for view in views:
        beliefs.append(linking(view))
        beliefs += [homogeneity(view, attribute) for attribute in view.counts.values]
    return beliefs
