"""What a job asks for by the receiver of its release: guarantees, method, and attacks.

==================  ============================================================================
public              k = 10, 3 values of each secret, t = 0.4, attacks
research            k = 5, 2 values; for receivers who are bound by a contract
internal            k = 3, 2 values; for colleagues
cms-11              k = 11, 2 values: no cell of fewer than 11 persons (Centers for Medicare and
                    Medicaid Services, cell suppression policy)
hipaa-safe-harbor   the 18 identifiers of 45 CFR 164.514(b)(2) removed or coarsened: no names,
                    numbers, addresses, places below a state, or free text; three digits of a
                    ZIP code, years of dates, ages from 90 on together. No k is asked for.
==================  ============================================================================

Safe Harbor also demands that the publisher knows of no way to identify a person, which no program
can promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from discreet.job.proposing.role_judgement import Proposal
from discreet.job.proposing.vocabulary import Meaning
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType

SAFE_HARBOR = "hipaa-safe-harbor"
OLDEST = 89  # years, the oldest that Safe Harbor publishes by itself
OLDEST_KNOWN = 130
# Prefixes of areas with at most 20,000 people by the census of 2000, as the Office for Civil
# Rights lists them (Guidance regarding methods for de-identification, 2012).
SMALL_AREAS = frozenset(
    {
        "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878",
        "879", "884", "890", "893",
    }
)  # fmt: skip


class Preset(NamedTuple):
    """The guarantees that a receiver calls for."""

    k: int
    ell: int
    t: float | None = None
    attacks: bool = False


PRESETS: dict[str, Preset | None] = {
    "public": Preset(10, 3, 0.4, attacks=True),
    "research": Preset(5, 2),
    "internal": Preset(3, 2),
    SAFE_HARBOR: None,
    "cms-11": Preset(11, 2),
}


# The reason and the source of each number, as comments of a job.
SOURCES: dict[str, tuple[str, ...]] = {
    "public": (
        "For the public: anyone may be the attacker, also one who knows a secret of the person.",
        "k = 10: a chance of at most 10% to pick the right row. EMA and Health Canada ask for "
        "at most 0.09 of public clinical data (EMA/90915/2016), which is k = 12: raise it there.",
        "l = 3 and t = 0.4: a group shows three values, in shares near those of the table (our "
        "choice).",
        "Verdict: default thresholds of sign_off; singled out more than 5% is refused.",
    ),
    "research": (
        "For researchers who are bound by a contract: acquaintances and colleagues attack.",
        "k = 5: a chance of at most 20%. Statistical offices take 3 to 10.",
        "l = 2: no group shows one value only (our choice).",
        "Verdict: default thresholds of sign_off; singled out more than 5% is refused.",
    ),
    "internal": (
        "For colleagues who may see other data of these people: acquaintances attack.",
        "k = 3: the least that statistical offices take for a cell; a chance of at most 33%.",
        "l = 2: no group shows one value only (our choice).",
        "Verdict: default thresholds of sign_off; k = 3 is above 'look' (20%), so at best 'Look "
        "at these'.",
    ),
    "cms-11": (
        "k = 11: no cell of fewer than 11 persons (Centers for Medicare and Medicaid Services, "
        "cell suppression policy). l = 2 is our choice.",
    ),
}


@dataclass(frozen=True)
class Plan:
    """Roles and the rest of a job that follows from them."""

    roles: Mapping[str, Proposal]
    requirements: Sequence[Mapping[str, Any]]
    method: Mapping[str, Any] | str
    hierarchies: Mapping[str, Any]  # by column, where they are not the proposed ones
    attacks: bool = False
    notes: Sequence[str] = ()
    attackers: str | None = None


def plan_for(
    preset: str | Preset | None, columns: Sequence[Column], roles: Mapping[str, Proposal]
) -> Plan:
    """Return what a preset makes of proposed roles."""
    known = preset if isinstance(preset, Preset) else PRESETS[preset or "research"]
    if known is None:
        return _safe_harbor(columns, roles)
    requirements = requirements_for(known, columns, roles)
    notes = list(SOURCES[preset]) if isinstance(preset, str) else []
    attackers = preset if preset in ("public", "research", "internal") else None
    return Plan(roles, requirements, {"mondrian": {}}, {}, known.attacks, notes, attackers)


def requirements_for(
    preset: Preset, columns: Sequence[Column], roles: Mapping[str, Proposal]
) -> list[Mapping[str, Any]]:
    """k-anonymity, and as many different values as each sensitive attribute can have."""
    sensitive = [column for column in columns if roles[column.name].role is Role.SENSITIVE]
    requirements: list[Mapping[str, Any]] = [{"k-anonymity": {"k": preset.k}}]
    ells = {c.name: min(preset.ell, int(np.count_nonzero(c.counts))) for c in sensitive}
    for ell in sorted(set(ells.values()) - {0, 1}, reverse=True):
        names = [name for name, found in ells.items() if found == ell]
        asked: dict[str, Any] = {"l": ell}
        if len(names) < len(ells):
            asked["attribute"] = names[0] if len(names) == 1 else names
        requirements.append({"distinct-l-diversity": asked})
    if preset.t is not None and ells:
        requirements.append({"t-closeness": {"t": preset.t}})
    return requirements


_REMOVED = (Meaning.PLACE, Meaning.INSTITUTION, Meaning.BOOK_KEEPING, Meaning.HOUSEHOLD)


def _safe_harbor(columns: Sequence[Column], roles: Mapping[str, Proposal]) -> Plan:
    """Remove or coarsen the identifiers of Safe Harbor, at fixed levels."""
    changed = dict(roles)
    hierarchies: dict[str, Any] = {}
    levels: dict[str, int] = {}
    for column in columns:
        role = roles[column.name]
        if role.role is Role.QUASI_IDENTIFIER:
            level = _kept(column, role)
            if level is None:
                reason = Statement("because.safe-harbor", reason=role.reason)
                changed[column.name] = replace(role, role=Role.DROP, reason=reason)
            else:
                hierarchies[column.name], levels[column.name] = level
        elif role.role.published and (column.type is ValueType.DATE or role.confidence == "low"):
            reason = Statement("because.safe-harbor-may", reason=role.reason)
            changed[column.name] = replace(role, role=Role.DROP, reason=reason)
    notes = [
        f"Preset '{SAFE_HARBOR}': the 18 identifiers of 45 CFR 164.514(b)(2) at fixed levels.",
        "It promises no k. You must also know of no way to identify a person with the rest.",
    ]
    return Plan(changed, [], {"full-domain": {"levels": levels}}, hierarchies, notes=notes)


def _kept(column: Column, role: Proposal) -> tuple[Any, int] | None:
    """The hierarchy and level at which Safe Harbor publishes a column; None if it may not."""
    values = column.text.drop_nulls()
    if role.meaning in _REMOVED or role.confidence == "low":
        return None
    if role.meaning is Meaning.REGION and "'state'" not in role.reason:
        return None  # perhaps smaller than a state
    if column.type is ValueType.DATE:
        return {"dates": ["year", "*"]}, 1
    if role.meaning in (Meaning.BIRTH, Meaning.EVENT_DATE):
        return None  # no dates that could be reduced to years
    if role.meaning is Meaning.POSTCODE:
        five = bool(values.str.contains(r"^\d{5}$").all())
        small = values.str.slice(0, 3).is_in(list(SMALL_AREAS)).any()
        return ({"mask": "right"}, 2) if five and not small else None
    if role.meaning is Meaning.AGE:
        return _ages(column)
    return "suppress", 0


def _ages(column: Column) -> tuple[Any, int] | None:
    """Ages up to 89 exact, older ones together."""
    if column.numbers is None or column.type is not ValueType.INTEGER:
        return None
    if float(np.nanmax(column.numbers, initial=0)) <= OLDEST:
        return "suppress", 0
    tree: dict[str, list[str] | None] = {str(age): None for age in range(OLDEST + 1)}
    tree["90 or older"] = [str(age) for age in range(OLDEST + 1, OLDEST_KNOWN + 1)]
    return {"tree": tree}, 1
