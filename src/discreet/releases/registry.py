"""The kinds of release, by name and by the outcome that makes them."""

from __future__ import annotations

from discreet.errors import ReleaseError
from discreet.methods.base import Bucketized, Decomposed, Generalized, Outcome, Projected
from discreet.releases.kinds.base import Kind
from discreet.releases.kinds.bucketized.tables import BucketizedKind
from discreet.releases.kinds.decomposed.tables import DecomposedKind
from discreet.releases.kinds.generalized.tables import GeneralizedKind
from discreet.releases.kinds.projected.tables import ProjectedKind

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (GeneralizedKind(), BucketizedKind(), DecomposedKind(), ProjectedKind())
}

_KIND_OF_OUTCOME: dict[type[Outcome], str] = {
    Generalized: GeneralizedKind.name,
    Bucketized: BucketizedKind.name,
    Decomposed: DecomposedKind.name,
    Projected: ProjectedKind.name,
}


def kind_of(name: str) -> Kind:
    """The kind with a name."""
    if name not in KINDS:
        raise ReleaseError(
            f"manifest.json: unknown kind of release '{name}'. "
            "The release may come from a newer version of discreet."
        )
    return KINDS[name]


def kind_of_outcome(outcome: Outcome) -> Kind:
    """The kind of release that an outcome becomes."""
    return KINDS[_KIND_OF_OUTCOME[type(outcome)]]
