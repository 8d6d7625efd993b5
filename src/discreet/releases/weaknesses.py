"""What the promises of a release leave open, in sentences, each with the attack that measures it.

Nothing is run here: every sentence follows from the kind of release, its method and its promises.
"""

from __future__ import annotations

from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.requirements.diversity import DistinctLDiversity, Diversity, PDiversity
from discreet.requirements.value_bounds import AlphaKAnonymity
from discreet.table.roles import Role


def known_weaknesses(manifest: Manifest) -> list[str]:
    """The known weaknesses that apply to a release."""
    requirements = [promise.to_requirement() for promise in manifest.promises]
    sensitive = [
        {name for name, role in table.columns.items() if role is Role.SENSITIVE}
        for table in manifest.tables.values()
    ]
    found = []
    if any(sensitive) and all(isinstance(r, SizeRequirement) for r in requirements):
        found.append(
            "Nothing is promised about sensitive values: where a whole group shares one, the "
            "value of every row in it is disclosed (homogeneity)."
        )
    found += kind_of(manifest.kind).weaknesses(manifest)
    if _naive(requirements):
        found.append(
            "A number of distinct values in a group does not bound a belief: one of them may be "
            "far more frequent than the others, and an attacker who can rule out values for the "
            "target may be left with one (non-membership)."
        )
    if _reads_sensitive(manifest, requirements):
        found.append(manifest.method.minimality())
    found += manifest.method.weaknesses()
    if manifest.suppressed_rows:
        found.append("Which rows were left out may reveal their values (absence).")
    found.append(
        "Releases of the same records that are made independently of each other can be joined "
        "(intersection): use a ledger."
    )
    return found


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
