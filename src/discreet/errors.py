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

Each error has a stable ``code`` beside its exit status, such as ``discreet.infeasible``; ``CODES``
lists all of them, with those of failures that are no error of discreet. ``discreet schema error``
prints the JSON Schema of what ``--json`` says of an error.

A message says what is wrong, what was found, what is allowed, where, and what to do. It may name
values of quasi-identifiers, never those of identifiers or of sensitive attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self

COLUMN_MISSING, EMPTY = "discreet.input.column-missing", "discreet.input.empty"
FILE_MISSING, EXISTS = "discreet.input.file-missing", "discreet.release.exists"
USAGE, SYSTEM, MEMORY = "discreet.usage", "discreet.system", "discreet.memory"
INTERNAL, INTERRUPTED = "discreet.internal", "discreet.interrupted"
CODES = {
    USAGE: 2,  # a command or an option is wrong
    "discreet.input": 2,
    COLUMN_MISSING: 2,  # the table lacks columns that the job names
    FILE_MISSING: 2,
    EMPTY: 2,  # the table has no rows
    "discreet.job": 2,
    "discreet.hierarchy": 2,
    "discreet.release": 2,
    EXISTS: 2,  # something is in the place of the release
    "discreet.engine": 2,
    SYSTEM: 2,  # the system refused to read or write
    MEMORY: 2,
    INTERNAL: 2,  # a defect of discreet or of a plugin
    "discreet.error": 2,
    "discreet.risk": 1,
    "discreet.promise": 1,
    "discreet.infeasible": 1,
    "discreet.audit": 1,
    INTERRUPTED: 130,
}


class DiscreetError(Exception):
    """The root of every error that discreet raises on purpose."""

    exit_status = 2
    code = "discreet.error"

    def with_code(self, code: str) -> Self:
        """Return the error with a code that says more than its class."""
        self.code = code
        return self


class EngineError(DiscreetError):
    """The engine stopped the job; nothing was published."""

    code = "discreet.engine"


class InputError(DiscreetError):
    """The table, a file or the call is wrong."""

    code = "discreet.input"


class JobError(InputError):
    """The job is wrong. ``problems`` holds all that was found, each with its place."""

    code = "discreet.job"

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

    code = "discreet.hierarchy"


class ReleaseError(InputError):
    """A release folder is damaged, unreadable, or in the way of a new one."""

    code = "discreet.release"


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
    code = "discreet.risk"

    def __init__(self, message: str, verdict: JudgedRisk, report: Path) -> None:
        self.verdict, self.report = verdict, report
        super().__init__(message)

    def __reduce__(self) -> tuple[type[RiskError], tuple[str, JudgedRisk, Path]]:
        return RiskError, (str(self), self.verdict, self.report)


class PromiseError(DiscreetError):
    """A guarantee cannot be met, or does not hold."""

    exit_status = 1
    code = "discreet.promise"


class InfeasibleError(PromiseError):
    """No release of this kind meets the requirements.

    ``failures`` says for each requirement that fails even in the best attempt: its name and
    parameters, what was achieved, and what would be feasible.
    """

    code = "discreet.infeasible"

    def __init__(self, message: str, failures: Sequence[dict[str, object]] = ()) -> None:
        self.failures = tuple(failures)
        super().__init__(message)

    def __reduce__(self) -> tuple[type[InfeasibleError], tuple[str, tuple[dict[str, object], ...]]]:
        return InfeasibleError, (str(self), self.failures)


class AuditError(PromiseError):
    """The written files do not keep their guarantees; nothing was published."""

    code = "discreet.audit"


def code_of(error: BaseException) -> str:
    """Return the code of any failure."""
    if isinstance(error, DiscreetError):
        missing = type(error) is InputError and isinstance(error.__context__, FileNotFoundError)
        return FILE_MISSING if missing and error.code == InputError.code else error.code
    kinds: tuple[tuple[type[BaseException], str], ...] = (
        (KeyboardInterrupt, INTERRUPTED),
        (MemoryError, MEMORY),
        (FileNotFoundError, FILE_MISSING),
        (OSError, SYSTEM),
    )
    return next((code for kind, code in kinds if isinstance(error, kind)), INTERNAL)
