"""The attacks, by the name that a call or a job gives them: built-ins, then those of plugins."""

from __future__ import annotations

from typing import Annotated

from discreet.attacks.associated import Associated
from discreet.attacks.background import BackgroundKnowledge
from discreet.attacks.background_join import BackgroundJoin
from discreet.attacks.base import Attack
from discreet.attacks.class_attacks import Homogeneity, Linking, Similarity, Skewness
from discreet.attacks.definetti import Definetti
from discreet.attacks.intersection import Intersection
from discreet.attacks.membership import Absence, Membership
from discreet.attacks.minimality import Minimality
from discreet.attacks.non_membership import NonMembership
from discreet.attacks.quasi_sensitive_linking import QuasiSensitiveLinking
from discreet.attacks.sensitive_table import LinkThroughSensitiveTable, SetHomogeneity
from discreet.by_name import ByName
from discreet.plugins import Registry

_ATTACKS: tuple[type[Attack], ...] = (
    Linking,
    Homogeneity,
    Skewness,
    Similarity,
    NonMembership,
    BackgroundKnowledge,
    BackgroundJoin,
    Intersection,
    Membership,
    QuasiSensitiveLinking,
    SetHomogeneity,
    LinkThroughSensitiveTable,
    Absence,
    Associated,
    Minimality,
    Definetti,
)

ATTACKS: Registry[Attack] = Registry("attack", "discreet.attacks", Attack, _ATTACKS)
AnyAttack = Annotated[Attack, ByName(ATTACKS, "attack")]


def attacks_inside() -> list[Attack]:
    """Every attack that the promises speak of."""
    return [kind() for kind in ATTACKS.values() if kind.inside]


def all_attacks() -> list[Attack]:
    """Every attack with its default parameters."""
    return [kind() for kind in ATTACKS.values()]
