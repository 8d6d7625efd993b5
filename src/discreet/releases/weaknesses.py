"""What the guarantees of a release do not cover, each with the attack that measures it.

No attack is run: every sentence follows from the kind of release, its method and its guarantees.
"""

from __future__ import annotations

from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.requirements.diversity import DistinctLDiversity, Diversity, PDiversity
from discreet.statements import Statement
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
    weaknesses: list[str] = []
    if any(sensitive) and all(isinstance(r, SizeRequirement) for r in requirements):
        weaknesses.append(Statement("weakness.homogeneity"))
    weaknesses += [
        Statement("weakness.secret", finest=secret[0], others=secret[1:])
        for secret in manifest.secrets or ()
    ]
    if any(r.limits_knowledge for r in requirements):
        weaknesses.append(Statement("weakness.knowledge"))
    weaknesses += kind_of(manifest.kind).weaknesses(manifest)
    if _naive(requirements):
        weaknesses.append(Statement("weakness.non-membership"))
    if _reads_sensitive(manifest, requirements):
        weaknesses.append(manifest.method.minimality())
    weaknesses += manifest.method.weaknesses()
    if manifest.method.publishes_tight_cells:
        to_grid = manifest.method.rounds_to_grid
        weaknesses.append(
            Statement("weakness.downcoding.grid" if to_grid else "weakness.downcoding")
        )
    alike = kind_of(manifest.kind).makes_alike
    weaknesses += _several_rows(manifest.keeping) if manifest.keeps_rows and alike else []
    columns = [pair for one in manifest.tables.values() for pair in one.columns.items()]
    weaknesses += [
        Statement("weakness.weights", column=name) for name, role in columns if role is Role.WEIGHT
    ]
    if manifest.suppressed_rows:
        weaknesses.append(Statement("weakness.absence"))
    weaknesses.append(Statement("weakness.intersection"))
    return weaknesses


def _several_rows(keeping: Keeping) -> list[str]:
    """Return what several rows of a person leave open."""
    if keeping.numbered:
        return [Statement("weakness.person-numbers")]
    weaknesses: list[str] = [Statement("weakness.number-of-rows")]
    if keeping.scope is Scope.ROWS:
        weaknesses.append(Statement("weakness.person-intersection"))
    return weaknesses


def _naive(requirements: list[Requirement]) -> bool:
    """Return whether distinct values are counted and nothing bounds their shares."""
    bounded = any(isinstance(r, PDiversity) or r.name == ALPHA for r in requirements)
    diversities = [r for r in requirements if isinstance(r, Diversity)]
    return not bounded and any(isinstance(r, DistinctLDiversity) for r in diversities)


def _reads_sensitive(manifest: Manifest, requirements: list[Requirement]) -> bool:
    """Return whether the method chose groups by sensitive values and quasi-identifiers together."""
    if manifest.method.blind_to_quasi_identifiers and not manifest.keeps_rows:
        return False
    return any(not isinstance(r, SizeRequirement) and not r.judged_on_items for r in requirements)
