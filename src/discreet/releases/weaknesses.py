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
            "Nothing is promised about sensitive values: where a whole group shares one, everybody "
            "in it is disclosed (homogeneity)."
        )
    if together and manifest.kind != "decomposed" and not _holds_joins(requirements):
        found.append(
            "Whole sensitive rows stand in one table: somebody who knows one sensitive value of a "
            "person may learn the others (background-join)."
        )
    if _naive(requirements):
        found.append(
            "So many distinct values in a group are no bound on a belief: one of them may be far "
            "more frequent than the others, and somebody who knows which values a person does not "
            "have may be left with one (non-membership)."
        )
    if manifest.kind == "decomposed":
        found.append(
            "The table of whole sensitive rows lets somebody who knows one value of a person rule "
            "out values of the others (link-through-sensitive-table)."
        )
    if manifest.kind in ("bucketized", "decomposed"):
        found.append(
            "Quasi-identifiers are exact, so anybody can see who is in the table (membership)."
        )
    if any(sensitive) and manifest.kind != "decomposed":
        found.append(
            "All groups together may teach which quasi-identifiers go with which value, and so who "
            "of a group has which (definetti)."
        )
    if _reads_sensitive(manifest, requirements):
        found.append(_why_these_groups(manifest))
    if manifest.kind == "projected" and len(manifest.tables) > 1:
        found.append(
            "Somebody who knows from elsewhere how values of different tables go together may put "
            "the pieces together again (associated)."
        )
    if manifest.method.name == "m-invariance":
        found.append(
            "Across releases nothing bounds a belief about a person whose value changed; the "
            "method for data whose values change is rho-different (series)."
        )
    if manifest.suppressed_rows:
        found.append("Who was left out may be telling by itself (absence).")
    found.append(
        "Releases that are made of the same people independently of each other can be joined "
        "(intersection): use a ledger."
    )
    return found


def _why_these_groups(manifest: Manifest) -> str:
    """What a reader of the groups may ask who knows the method."""
    if manifest.method.parameters.get("grouping") == "blocks":
        return (
            "Rows that found no group in their blind block may have been placed with a look across "
            "blocks: an attacker who knows the algorithm can reason about them (minimality)."
        )
    if manifest.method.name == "msa-diversity":
        return (
            "Sensitive values decided which neighbours on the curve are together: somebody who "
            "knows the method may ask why others are not; 'grouping: blocks' leaves that to "
            "chance but for a few, and loses more (minimality)."
        )
    return (
        "The groups were formed by looking at sensitive values: somebody who knows the method "
        "may ask why they are no finer (minimality)."
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
