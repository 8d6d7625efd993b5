"""The errors of discreet.

::

    DiscreetError
    ├── EngineError            the machinery that runs the job stopped it      exit 2
    ├── InputError             the table, a file or the call is wrong         exit 2
    │   ├── JobError           the job is wrong; all its problems at once
    │   ├── HierarchyError     a hierarchy does not fit its column
    │   └── ReleaseError       a release folder is damaged, or in the way
    ├── RiskError              the verdict is *Do not publish*; nothing appeared exit 1
    └── PromiseError           a guarantee cannot be met, or does not hold      exit 1
        ├── InfeasibleError    no release of this kind meets the requirements
        └── AuditError         the written files do not keep what they promise

A message says what is wrong, what was found, what is allowed, where, and what to do. It may name
values of quasi-identifiers, never those of identifiers or of sensitive attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol


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


class JudgedRisk(Protocol):
    """The verdict about a release's risk."""

    @property
    def word(self) -> str:
        """*Ready to sign*, *Look at these* or *Do not publish*."""

    @property
    def reasons(self) -> list[str]:
        """Why it is not *Ready to sign*."""

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""


class RiskError(DiscreetError):
    """The verdict about a release is *Do not publish*, so nothing appeared.

    ``verdict`` has its word, its figures and its reasons; ``report`` is the private report, or the
    private record where no report was wanted.
    """

    exit_status = 1

    def __init__(self, message: str, verdict: JudgedRisk, report: Path) -> None:
        self.verdict, self.report = verdict, report
        super().__init__(message)

    def __reduce__(self) -> tuple[type[RiskError], tuple[str, JudgedRisk, Path]]:
        return RiskError, (str(self), self.verdict, self.report)


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
