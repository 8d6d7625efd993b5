"""The two estimates of Abdalaal (2012, section 4.3) for one person, beside the exact belief.

They look at the person's own groups and not at the other persons in them, so they are no bounds:
on random pairs of releases ``individual`` was below the exact belief for more than a quarter of
the survivors. Reports name them as estimates.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.methods.series.beliefs.correlation import Correlation, Value


def shares(group: Mapping[Value, int]) -> dict[Value, float]:
    """The first belief: each value's share of the rows."""
    total = sum(group.values())
    return {value: count / total for value, count in group.items()}


def individual(
    prior: Mapping[Value, float], group: Mapping[Value, int], correlation: Correlation
) -> dict[Value, float]:
    """Table 40's rule: the belief after a new group, from the belief before it.

    Stated chances go to their values; the unstated mass is spread over the rows whose value has no
    stated chance; what is stated for values that are not in the group is lost.
    """
    weight = dict.fromkeys(group, 0.0)
    for old, belief in prior.items():
        stated = correlation.stated.get(old, {})
        free = {value: count for value, count in group.items() if value not in stated}
        rest = max(1.0 - sum(stated.values()), 0.0)
        for value in group:
            if value in stated:
                weight[value] += belief * stated[value]
            else:
                weight[value] += belief * rest * free[value] / sum(free.values())
    return _normalized(weight)


def persistence(group: Mapping[Value, int], correlation: Correlation) -> dict[Value, float]:
    """Table 41's reading: each row of a value weighs P(value | value), 1/n where unstated."""
    rows = sum(group.values())
    weight = {
        value: count * correlation.stated.get(value, {}).get(value, 1.0 / rows)
        for value, count in group.items()
    }
    return _normalized(weight)


def _normalized(weight: Mapping[Value, float]) -> dict[Value, float]:
    total = sum(weight.values())
    return {value: mass / total if total else 0.0 for value, mass in weight.items()}
