"""The attacks, by the name that a call or a job gives them: built-ins, then those of plugins.

An attack is imported when its name is first asked for.
"""

from __future__ import annotations

from typing import Annotated

from discreet.attacks.base import Attack
from discreet.by_name import ByName
from discreet.plugins import Registry

_HOMES = {
    "linking": "discreet.attacks.class_attacks:Linking",
    "homogeneity": "discreet.attacks.class_attacks:Homogeneity",
    "skewness": "discreet.attacks.class_attacks:Skewness",
    "similarity": "discreet.attacks.class_attacks:Similarity",
    "non-membership": "discreet.attacks.non_membership:NonMembership",
    "background-knowledge": "discreet.attacks.background:BackgroundKnowledge",
    "background-join": "discreet.attacks.background:BackgroundJoin",
    "intersection": "discreet.attacks.intersection:Intersection",
    "membership": "discreet.attacks.membership:Membership",
    "quasi-sensitive-linking": "discreet.attacks.quasi_sensitive_linking:QuasiSensitiveLinking",
    "set-homogeneity": "discreet.attacks.sensitive_table:SetHomogeneity",
    "link-through-sensitive-table": "discreet.attacks.sensitive_table:LinkThroughSensitiveTable",
    "person-intersection": ("discreet.attacks.intersection:PersonIntersection"),
    "number-of-rows": "discreet.attacks.class_attacks:NumberOfRows",
    "absence": "discreet.attacks.membership:Absence",
    "associated": "discreet.attacks.intersection:Associated",
    "minimality": "discreet.attacks.minimality:Minimality",
    "downcoding": "discreet.attacks.downcoding:Downcoding",
    "refinement": "discreet.attacks.refinement:Refinement",
    "definetti": "discreet.attacks.definetti:Definetti",
}

ATTACKS: Registry[Attack] = Registry("attack", "discreet.attacks", Attack, _HOMES)
AnyAttack = Annotated[Attack, ByName(ATTACKS, "attack")]


def attacks_inside() -> list[Attack]:
    """Return every attack that a guarantee covers."""
    return [kind() for kind in ATTACKS.values() if kind.inside]


def all_attacks() -> list[Attack]:
    """Every attack with its default parameters."""
    return [kind() for kind in ATTACKS.values()]
