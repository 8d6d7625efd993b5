"""What the promises of a release leave open, in sentences, each with the attack that measures it.

Nothing is run here: every sentence follows from the kind of release, its method and its promises.
"""

from __future__ import annotations

from discreet.releases.manifest import Manifest
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.requirements.diversity import DistinctLDiversity, Diversity, PDiversity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.requirements.value_bounds import AlphaKAnonymity
from discreet.table.roles import Role


def known_weaknesses(manifest: Manifest) -> list[str]:
    """The known weaknesses that apply to a release."""
    requirements = [promise.to_requirement() for promise in manifest.promises]
    sensitive = [
        {name for name, role in table.columns.items() if role is Role.SENSITIVE}
        for table in manifest.tables.values()
    ]
    together = any(len(names) > 1 for names in sensitive)
    found = []
    if any(sensitive) and all(isinstance(r, SizeRequirement) for r in requirements):
        found.append(
            "Nothing is promised about sensitive values: where a whole group shares one, the "
            "value of every row in it is disclosed (homogeneity)."
        )
    if together and manifest.kind != "decomposed" and not _holds_joins(requirements):
        found.append(
            "Whole sensitive rows are in one table: an attacker who knows one sensitive value of "
            "the target may learn the others (background-join)."
        )
    if _naive(requirements):
        found.append(
            "A number of distinct values in a group does not bound a belief: one of them may be "
            "far more frequent than the others, and an attacker who can rule out values for the "
            "target may be left with one (non-membership)."
        )
    if manifest.kind == "decomposed":
        found.append(
            "With the table of whole sensitive rows an attacker who knows one value of the target "
            "can rule out values of the others (link-through-sensitive-table)."
        )
    if manifest.kind in ("bucketized", "decomposed"):
        found.append(
            "Quasi-identifiers are exact and show whether a target is in the table (membership)."
        )
    if any(sensitive) and manifest.kind != "decomposed":
        found.append(
            "All groups together may teach which quasi-identifiers go with which value, and so "
            "which row of a group has which (definetti)."
        )
    if _reads_sensitive(manifest, requirements):
        found.append(_why_these_groups(manifest))
    if manifest.kind == "projected" and len(manifest.tables) > 1:
        found.append(
            "An attacker who knows from elsewhere how values of different tables go together may "
            "join the tables again (associated)."
        )
    if manifest.method.name == "m-invariance":
        found.append(
            "Across releases nothing bounds a belief about a record whose value changed; use "
            "rho-different for data whose values change (series)."
        )
    if manifest.suppressed_rows:
        found.append("Which rows were left out may reveal their values (absence).")
    found.append(
        "Releases of the same records that are made independently of each other can be joined "
        "(intersection): use a ledger."
    )
    return found


def _why_these_groups(manifest: Manifest) -> str:
    """What an attacker who knows the algorithm can ask of the groups."""
    if manifest.method.parameters.get("grouping") == "blocks":
        return (
            "Rows that found no group in their blind block may have been placed with a look across "
            "blocks: an attacker who knows the algorithm can reason about them (minimality)."
        )
    if manifest.method.name == "msa-diversity":
        return (
            "Sensitive values decided which neighbours on the curve are together: an attacker who "
            "knows the algorithm can reason about why others are not; 'grouping: blocks' leaves "
            "that to chance but for a few, and loses more (minimality)."
        )
    return (
        "The groups were formed by looking at sensitive values: an attacker who knows the "
        "algorithm can reason about why they are no finer (minimality)."
    )


def _holds_joins(requirements: list[Requirement]) -> bool:
    return any(isinstance(r, MultiAttributeLDiversity) for r in requirements)


def _naive(requirements: list[Requirement]) -> bool:
    """Whether distinct values are counted and nothing bounds their shares."""
    bounded = any(isinstance(r, PDiversity | AlphaKAnonymity) for r in requirements)
    diversities = [r for r in requirements if isinstance(r, Diversity)]
    return not bounded and any(isinstance(r, DistinctLDiversity) for r in diversities)


def _reads_sensitive(manifest: Manifest, requirements: list[Requirement]) -> bool:
    """Whether the method chose groups by sensitive values and quasi-identifiers together."""
    if manifest.method.blind_to_quasi_identifiers:
        return False
    return any(not isinstance(r, SizeRequirement) for r in requirements)
