"""The attackers that a verdict can be about: who they are, what they know, and the presets.

Every attack belongs to one of them. The steward chooses some; the verdict is about these, and what
the others would learn is reported apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from discreet.statements import Statement


class StandardAttacker(StrEnum):
    """An attacker by what is known beside the release."""

    ACQUAINTANCE = "acquaintance"
    COLLEAGUE = "colleague"
    INSIDER = "insider"
    INVESTIGATOR = "investigator"
    EXCLUDER = "excluder"
    ENGINEER = "engineer"
    ARCHIVIST = "archivist"

    @property
    def noun(self) -> Statement:
        """What the attacker is called."""
        return Statement(f"attacker.{self}")

    def knows(self, unchanged: int | None = None) -> Statement:
        """What the attacker knows; ``unchanged`` columns of a colleague, None for all of them."""
        if self is not StandardAttacker.COLLEAGUE:
            return Statement(f"attackers.knows.{self}")
        if unchanged is None:
            return Statement("attackers.knows.colleague-of-all")
        return Statement("attackers.knows.colleague", columns=unchanged)

    @property
    def includes(self) -> tuple[StandardAttacker, ...]:
        """The attackers who know a part of what this one knows, and so are judged with it."""
        return _INCLUDES.get(self, ())


class AttackerPreset(StrEnum):
    """A choice of attackers for one kind of publication."""

    INTERNAL = "internal"
    RESEARCH = "research"
    PUBLIC = "public"

    def attackers(self, *, ledger: bool) -> tuple[StandardAttacker, ...]:
        """Return its attackers; one with earlier releases where a ledger records them."""
        chosen = _PRESETS[self]
        archivist = StandardAttacker.ARCHIVIST
        return (*chosen, archivist) if ledger and archivist not in chosen else chosen


_INCLUDES = {
    StandardAttacker.COLLEAGUE: (StandardAttacker.ACQUAINTANCE,),
    StandardAttacker.INSIDER: (StandardAttacker.ACQUAINTANCE,),
    StandardAttacker.INVESTIGATOR: (StandardAttacker.ACQUAINTANCE, StandardAttacker.INSIDER),
    StandardAttacker.EXCLUDER: (StandardAttacker.ACQUAINTANCE,),
    StandardAttacker.ENGINEER: (StandardAttacker.ACQUAINTANCE,),
    StandardAttacker.ARCHIVIST: (StandardAttacker.ACQUAINTANCE,),
}

_PRESETS = {
    AttackerPreset.INTERNAL: (StandardAttacker.ACQUAINTANCE,),
    AttackerPreset.RESEARCH: (StandardAttacker.ACQUAINTANCE, StandardAttacker.COLLEAGUE),
    AttackerPreset.PUBLIC: (
        StandardAttacker.ACQUAINTANCE,
        StandardAttacker.COLLEAGUE,
        StandardAttacker.INSIDER,
        StandardAttacker.ARCHIVIST,
    ),
}


def with_included(names: Iterable[StandardAttacker]) -> tuple[StandardAttacker, ...]:
    """Return some attackers with those who know a part of it, in the order of their knowledge."""
    chosen = set(names)
    chosen |= {included for name in chosen for included in name.includes}
    return tuple(name for name in StandardAttacker if name in chosen)
