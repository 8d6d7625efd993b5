"""Where values that a job declares non-sensitive are protected all the same.

A requirement without a meaning for a part of the values, and a method that forms its groups from
all values alike, treat them as sensitive. That is stricter, so always safe, and the publisher is
told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import InfeasibleError
from discreet.job.model import Job
from discreet.methods.base import Ability
from discreet.releases.manifest import Manifest
from discreet.requirements.judge import covered


def _declared(job: Job) -> list[str]:
    """The attributes with values that the job declares sensitive or not."""
    return [
        name
        for name, attribute in job.attributes.items()
        if attribute.sensitive_values is not None or attribute.non_sensitive_values is not None
    ]


@contextmanager
def advising_to_spare(job: Job) -> Iterator[None]:
    """Add to an infeasible run that another method would not protect non-sensitive values."""
    try:
        yield
    except InfeasibleError as error:
        names = _declared(job)
        if not names or Ability.SENSITIVE_VALUES in job.method.abilities:
            raise
        listed = ", ".join(f"'{name}'" for name in names)
        raise InfeasibleError(
            f"{error} {job.method.name} protects all values of {listed} alike; mondrian, "
            "full-domain, local-recoding and codip spare those that are not sensitive.",
            error.failures,
        ) from error


def protected_alike(job: Job, manifest: Manifest) -> list[str]:
    """Return a sentence for each attribute whose non-sensitive values are protected as well."""
    roles = {n: role for one in manifest.tables.values() for n, role in one.columns.items()}
    promised = [promise.to_requirement() for promise in manifest.promises]
    found = []
    for name in _declared(job):
        own = [of for of in roles if of == name or of.startswith(f"{name}=")]  # or its bits
        covering = dict.fromkeys(
            one.name
            for one in promised
            if one.coverage.all_values and set(own) & set(covered(one, roles))
        )
        if covering:
            found.append(
                f"Stricter than asked: as {job.method.name} guarantees it, {' and '.join(covering)}"
                f" also covers those values of '{name}' that the job declares non-sensitive."
            )
    return found
