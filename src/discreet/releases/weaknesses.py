"""What the guarantees of a release do not cover, each with the attack that measures it.

No attack is run: every sentence follows from the kind of release, its method and its guarantees.
"""

from __future__ import annotations

from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.requirements.diversity import DistinctLDiversity, Diversity, PDiversity
from discreet.table.persons import Keeping, Scope
from discreet.table.roles import Role

ALPHA = "alpha-k-anonymity"  # by name: its module takes milliseconds to import


def known_weaknesses(manifest: Manifest) -> list[str]:
    """Return the known weaknesses that apply to a release."""
    requirements = [promise.to_requirement() for promise in manifest.promises]
    sensitive = [
        {name for name, role in table.columns.items() if role is Role.SENSITIVE}
        for table in manifest.tables.values()
    ]
    found = []
    if any(sensitive) and all(isinstance(r, SizeRequirement) for r in requirements):
        found.append(
            "Sensitive values: if a whole group shares one value, it is disclosed (homogeneity)."
        )
    if any(r.limits_knowledge for r in requirements):
        found.append(
            "Knowledge: an attacker who knows more of a target than the guarantees assume is not "
            "bounded by them (homogeneity)."
        )
    found += kind_of(manifest.kind).weaknesses(manifest)
    if _naive(requirements):
        found.append(
            "Confidence: distinct values do not bound a belief; one value may be far more "
            "frequent, and an attacker may rule out the others (non-membership)."
        )
    if _reads_sensitive(manifest, requirements):
        found.append(manifest.method.minimality())
    found += manifest.method.weaknesses()
    if manifest.method.publishes_tight_cells:
        certain = (
            "some row lies in the first step of a range and some in the last"
            if manifest.method.rounds_to_grid
            else "both ends of a range and every member of a set occur in its group"
        )
        found.append(
            f"Quasi-identifiers: {certain}, and a label of a hierarchy stands for two of its "
            "children or more (downcoding)."
        )
    found += _several_rows(manifest.keeping) if manifest.keeps_rows else []
    columns = [pair for one in manifest.tables.values() for pair in one.columns.items()]
    found += [
        f"Weights: '{name}' shows from which stratum a row was drawn; an attacker who knows "
        "the sampling design can tell rows with a rare weight apart from others of their group."
        for name, role in columns
        if role is Role.WEIGHT
    ]
    if manifest.suppressed_rows:
        found.append("Suppression: which rows are missing may reveal their values (absence).")
    found.append(
        "Other releases: independent releases of the same records can be intersected; use a ledger "
        "(intersection)."
    )
    return found


def _several_rows(keeping: Keeping) -> list[str]:
    """Return what several rows of a person leave open."""
    if keeping.numbered:
        return [
            "Person numbers: an attacker who recognizes a target by one sensitive value reads the "
            "values of all of the target's rows (background-join)."
        ]
    found = [
        "Numbers of rows: an attacker who knows how many rows a person has may infer that a "
        "person with many rows has a value that is frequent in the group (number-of-rows)."
    ]
    if keeping.scope is Scope.ROWS:
        found.append(
            "Several rows: an attacker who knows all rows of a target can intersect the groups "
            "that they are in (person-intersection)."
        )
    return found


def _naive(requirements: list[Requirement]) -> bool:
    """Return whether distinct values are counted and nothing bounds their shares."""
    bounded = any(isinstance(r, PDiversity) or r.name == ALPHA for r in requirements)
    diversities = [r for r in requirements if isinstance(r, Diversity)]
    return not bounded and any(isinstance(r, DistinctLDiversity) for r in diversities)


def _reads_sensitive(manifest: Manifest, requirements: list[Requirement]) -> bool:
    """Return whether the method chose groups by sensitive values and quasi-identifiers together."""
    if manifest.method.blind_to_quasi_identifiers and not manifest.keeps_rows:
        return False
    return any(
        not isinstance(r, SizeRequirement) and r.guides_groups and not r.judged_on_items
        for r in requirements
    )
