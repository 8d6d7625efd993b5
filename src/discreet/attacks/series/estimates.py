"""Two estimates over a whole series (Abdalaal, 2012, section 4.3), beside the exact belief.

They follow each person alone (``series.beliefs.estimates``); people who were among the same values
in all releases are followed once.
"""

from __future__ import annotations

import numpy as np

from discreet.attacks.series.series_view import Series
from discreet.methods.series.beliefs.correlation import Correlation, Value
from discreet.methods.series.beliefs.equal_runs import distinct_runs
from discreet.methods.series.beliefs.estimates import individual, persistence, shares
from discreet.typing import Ints

Estimates = dict[str, tuple[float, ...]]  # the greatest belief by release


def estimates(series: Series, correlation: Correlation) -> Estimates:
    """Return what readers believe who look at one person alone: tables 40 and 41."""
    signature, first = _signatures(series)
    groups = [series.signature(int(group)) for group in first]
    beliefs: list[dict[Value, float]] = [{}]  # by state; nothing is believed before the first group
    state = np.zeros(len(series.people), np.int64)
    by_rule: dict[str, list[float]] = {"individual": [], "persistence": []}
    for layer in range(series.releases):
        here = np.flatnonzero(series.group_of[layer] >= 0)
        of_person = signature[series.group_of[layer, here]]
        keys, inverse = np.unique(state[here] * len(groups) + of_person, return_inverse=True)
        begun = len(beliefs)
        persistent = [0.0]
        for key in keys.tolist():
            prior, group = beliefs[key // len(groups)], groups[key % len(groups)]
            alone = shares(group)
            beliefs.append(individual(prior, group, correlation) if prior else alone)
            again = persistence(group, correlation) if prior else alone
            persistent.append(max(again.values()))
        state[here] = begun + inverse
        found = [max(belief.values()) for belief in beliefs[begun:]]
        by_rule["individual"].append(max(found, default=0.0))
        by_rule["persistence"].append(max(persistent))
    return {rule: tuple(greatest) for rule, greatest in by_rule.items()}


def _signatures(series: Series) -> tuple[Ints, Ints]:
    """Number the groups that were published with the same values alike; also a group of each."""
    groups = series.groups
    run = np.stack([groups.value, groups.count], axis=1).reshape(-1).astype(np.int32)
    return distinct_runs(2 * groups.start, run)
