"""The kinds of release, by name and by the outcome that makes them: built-ins, then plugins.

A kind is imported when it is first asked for.
"""

from __future__ import annotations

from discreet.errors import ReleaseError
from discreet.methods.base import Generalized, Outcome, Projected
from discreet.plugins import Registry
from discreet.releases.kinds.base import Kind

KINDS: Registry[Kind] = Registry(
    "kind of release",
    "discreet.kinds",
    Kind,
    {
        "generalized": "discreet.releases.kinds.generalized:GeneralizedKind",
        "bucketized": "discreet.releases.kinds.bucketized:BucketizedKind",
        "generalized-buckets": ("discreet.releases.kinds.bucketized:GeneralizedBucketsKind"),
        "decomposed": "discreet.releases.kinds.decomposed:DecomposedKind",
        "projected": "discreet.releases.kinds.projected:ProjectedKind",
    },
)


def kind_of(name: str) -> Kind:
    """The kind with a name."""
    if name not in KINDS:
        raise ReleaseError(
            f"manifest.json: unknown kind of release '{name}'. The release may come from a newer "
            "version of discreet, or need a plugin that is not installed."
        )
    return KINDS[name]()


def suppressed_rows(outcome: Outcome) -> int:
    """Return how many source rows an outcome publishes in no table."""
    if isinstance(outcome, Projected):
        return 0
    group = outcome.class_of_row if isinstance(outcome, Generalized) else outcome.group_of_row
    return int((group < 0).sum())


def kind_of_outcome(outcome: Outcome) -> Kind:
    """The kind of release that an outcome becomes."""
    return next(kind for kind in KINDS.values() if kind.outcome is type(outcome))()
