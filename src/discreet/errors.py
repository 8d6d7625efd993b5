"""The errors of discreet.

::

    DiscreetError
    ├── EngineError            the machinery that runs the job stopped it      exit 2
    ├── InputError             the table, a file or the call is wrong         exit 2
    │   ├── JobError           the job is wrong; all its problems at once
    │   ├── HierarchyError     a hierarchy does not fit its column
    │   └── ReleaseError       a release folder is damaged, or in the way
    └── PromiseError           a guarantee cannot be met, or does not hold      exit 1
        ├── InfeasibleError    no release of this kind meets the requirements
        └── AuditError         the written files do not keep what they promise

A message says what is wrong, what was found, what is allowed, where, and what to do. It may name
values of quasi-identifiers, never those of identifiers or of sensitive attributes.
"""

from __future__ import annotations

from collections.abc import Sequence


class DiscreetError(Exception):
    """The root of every error that discreet raises on purpose."""

    exit_status = 2


class EngineError(DiscreetError):
    """The engine stopped the job; nothing was published."""


class InputError(DiscreetError):
    """The table, a file or the call is wrong."""


class JobError(InputError):
    """The job is wrong. ``problems`` holds all that was found, each with its place."""

    def __init__(self, problems: Sequence[str], place: str = "job") -> None:
        self.problems = tuple(problems)
        self.place = place
        noun = "problem" if len(self.problems) == 1 else "problems"
        listed = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(f"{place}: {len(self.problems)} {noun}{listed}")

    def __reduce__(self) -> tuple[type[JobError], tuple[tuple[str, ...], str]]:
        return JobError, (self.problems, self.place)


class HierarchyError(InputError):
    """A hierarchy does not fit its column."""


class ReleaseError(InputError):
    """A release folder is damaged, unreadable, or in the way of a new one."""


class PromiseError(DiscreetError):
    """A guarantee cannot be met, or does not hold."""

    exit_status = 1


class InfeasibleError(PromiseError):
    """No release of this kind meets the requirements.

    ``failures`` says for each requirement that fails even in the best attempt: its name and
    parameters, what was achieved, and what would be feasible.
    """

    def __init__(self, message: str, failures: Sequence[dict[str, object]] = ()) -> None:
        self.failures = tuple(failures)
        super().__init__(message)

    def __reduce__(self) -> tuple[type[InfeasibleError], tuple[str, tuple[dict[str, object], ...]]]:
        return InfeasibleError, (str(self), self.failures)


class AuditError(PromiseError):
    """The written files do not keep their guarantees; nothing was published."""
