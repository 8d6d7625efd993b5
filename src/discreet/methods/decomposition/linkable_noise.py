"""Noise as the paper chooses it: linkable sensitive values (section 5.2, Definition 4).

LSV(S^i, G) = Π_{S^i}(T^S ⋈ G.S^pri): the values of S^i in rows of T^S whose primary value is one of
the group's. Lines 16 to 22 of algorithm 1 add such values, attribute by attribute, until the set
has l_i; which of them is left open, so they are drawn at random. Nothing asks whether a whole row
of T^S lies within the group's sets, nor whether its owner can give it up, so an attacker may rule
some of them out: ``noise_support.without_assignment`` finds them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import InfeasibleError
from discreet.methods.decomposition.group_merging import SignatureGroups
from discreet.methods.decomposition.noise import Noise, SensitiveTable
from discreet.methods.decomposition.noise_support import without_assignment
from discreet.methods.decomposition.targets import Targets
from discreet.requirements.sa_diversity import SaDiversity
from discreet.typing import Ints, Ints32


def fill_with_linkable(
    sensitive: SensitiveTable,
    groups: SignatureGroups,
    short: Ints,
    targets: Targets,
    rng: np.random.Generator,
) -> Noise:
    """Fill up the short groups, or InfeasibleError where noise is too little or is ruled out."""
    names = [targets.primary.name, *(column.name for column in targets.others)]
    least = [targets.ell[name] for name in names]

    def fill(start: Ints, member: Ints32) -> Noise:
        return add_linkable_noise(sensitive, start, member, least, rng)

    noise = groups.fill(short, fill)
    if noise.lacking.any():
        raise _refusal("some group has too few linkable values", noise, 0, names, targets)
    gone = without_assignment(sensitive, groups.group_of_row, groups.groups, noise, rng)
    if len(gone):
        reason = (
            f"{len(gone):,} of {len(noise.value):,} noise values can be ruled out with the "
            "sensitive table, although each is linkable: no assignment of all rows to groups was "
            "found that uses them"
        )
        raise _refusal(reason, noise, len(gone), names, targets)
    return noise


def _refusal(
    reason: str, noise: Noise, ruled_out: int, names: Sequence[str], targets: Targets
) -> InfeasibleError:
    left = np.array([targets.ell[name] for name in names]) - noise.lacking.max(axis=0)
    requirement = SaDiversity(l=dict(targets.ell))
    return InfeasibleError(
        f"decomposition: {reason}. Use 'noise: supported'.",
        [
            {
                "requirement": requirement.name,
                "parameters": requirement.parameters(),
                "achieved": dict(zip(names, left.tolist(), strict=True)),
                "feasible": {"noise": "supported"},
                "noise_values": len(noise.value),
                "ruled_out": ruled_out,
            }
        ],
    )


def add_linkable_noise(
    sensitive: SensitiveTable,
    start: Ints,
    member: Ints32,
    wanted: Sequence[int],
    rng: np.random.Generator,
) -> Noise:
    """Fill up some groups by linkable values; arguments as of ``noise.add_noise``."""
    codes, groups = sensitive.codes, len(start) - 1
    lacking = np.zeros((groups, codes.shape[1]), np.int32)
    found: list[tuple[int, int, int]] = []
    linked = [_values_of_primary(sensitive, place) for place in range(codes.shape[1])]
    for group in range(groups):
        rows = codes[member[start[group] : start[group + 1]]]
        primary = np.unique(rows[:, 0])
        for place, want in enumerate(wanted):
            held = primary if place == 0 else np.unique(rows[:, place])
            lack = want - len(held)
            if lack <= 0:
                continue
            if place > 0:  # the primary attribute gets no noise
                linkable = np.unique(np.concatenate([linked[place][p] for p in primary]))
                further = np.setdiff1d(linkable, held, assume_unique=True)
                chosen = rng.choice(further, min(lack, len(further)), replace=False)
                found += [(group, place, int(value)) for value in chosen]
                lack -= len(chosen)
            lacking[group, place] = lack
    of_group, attribute, values = np.array(found, np.int32).reshape(-1, 3).T
    return Noise(of_group, attribute, values, lacking)


def _values_of_primary(sensitive: SensitiveTable, place: int) -> list[Ints32]:
    """For each primary value, the values of an attribute that occur with it."""
    values = int(sensitive.offset[1])
    pairs = np.unique(sensitive.codes[:, [0, place]], axis=0)
    return np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, values)))
