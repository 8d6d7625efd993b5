"""Requirements on persons with several rows, by loops over the persons of a group."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

REQUIREMENTS: list[dict[str, Any]] = [
    {"k-anonymity": {"k": 3}},
    {"distinct-l-diversity": {"l": 2}},
    {"p-diversity": {"l": 1.2}},
    {"alpha-k-anonymity": {"alpha": 0.8, "k": 2}},
    {"entropy-l-diversity": {"l": 1.4}},
    {"recursive-cl-diversity": {"c": 3.0, "l": 2}},
    {"t-closeness": {"t": 0.5}},
    {"beta-likeness": {"beta": 2.0}},
    {"delta-disclosure": {"delta": 2.0}},
]
Members = list[list[str]]  # by person of a group: the values of their rows


def covers(cell: str, value: str) -> bool:
    if cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        return int(low) <= int(value) <= int(high)
    return value in cell.strip("{}").split(", ") or cell == "*"


def touched(members: Members) -> Counter[str]:
    return Counter(value for own in members for value in set(own))


def mass(members: Members) -> Counter[str]:
    found: Counter[str] = Counter()
    for own in members:
        for value in own:
            found[value] += 1 / len(own)  # type: ignore[assignment]
    return found


def matched(members: Members) -> int:
    """The most values that different persons can supply, by trying all."""
    values = sorted({value for own in members for value in own})
    for size in range(len(values), 0, -1):
        for chosen in itertools.combinations(values, size):
            if _can_supply(chosen, members):
                return size
    return 0


def _can_supply(values: tuple[str, ...], members: Members) -> bool:
    if not values:
        return True
    return any(
        values[0] in own and _can_supply(values[1:], members[:place] + members[place + 1 :])
        for place, own in enumerate(members)
    )


def holds(requirement: dict[str, Any], members: Members, everyone: Members) -> bool:
    ((name, asked),) = requirement.items()
    people, share = len(members), mass(members)
    belief = {value: weight / people for value, weight in share.items()}
    whole = {value: weight / len(everyone) for value, weight in mass(everyone).items()}
    slack = 1e-5
    match name:
        case "k-anonymity":
            return people >= asked["k"]
        case "distinct-l-diversity":
            return matched(members) >= asked["l"]
        case "p-diversity":
            return max(touched(members).values()) <= people / asked["l"] + slack
        case "alpha-k-anonymity":
            greatest = max(touched(members).values())
            return people >= asked["k"] and greatest <= asked["alpha"] * people + slack
        case "entropy-l-diversity":
            entropy = -sum(p * math.log(p) for p in belief.values())
            return entropy >= math.log(asked["l"]) - slack
        case "recursive-cl-diversity":
            ordered = sorted(belief.values(), reverse=True)
            return ordered[0] < asked["c"] * sum(ordered[asked["l"] - 1 :]) - slack
        case "t-closeness":
            return (
                sum(abs(belief.get(v, 0) - p) for v, p in whole.items()) / 2 <= asked["t"] + slack
            )
        case "beta-likeness":
            return all(belief[v] <= (1 + asked["beta"]) * whole[v] + slack for v in belief)
        case "delta-disclosure":
            return all(
                v in belief and abs(math.log(belief[v] / p)) < asked["delta"] + slack
                for v, p in whole.items()
            )
    raise AssertionError(name)
