"""Frozen values that a job consists of, and the error of one that Python code makes wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from discreet.errors import JobError

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class _RaisesJobErrors(ModelMetaclass):
    """Let a call of the class raise a JobError; validation within a job keeps pydantic's errors.

    Pydantic's errors carry the place in the job, and do not come through here.
    """

    if not TYPE_CHECKING:

        def __call__(self, *arguments: Any, **parameters: Any) -> Any:
            try:
                return super().__call__(*arguments, **parameters)
            except ValidationError as error:
                raise JobError(problems_of(error), self.__name__) from error


class Validated(BaseModel, metaclass=_RaisesJobErrors):
    """A frozen value with no other fields than its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def problems_of(error: ValidationError) -> list[str]:
    """Return what is wrong, each problem with its place and what was found."""
    problems = []
    for one in error.errors(include_url=False):
        place = ".".join(str(part) for part in one["loc"])
        said = str(one["msg"]).removeprefix("Value error, ")
        if one["type"] == "missing":
            said = "is missing"
        elif one["type"] == "extra_forbidden":
            said = "is not a parameter"
        elif place and "found" not in said and not isinstance(one["input"], Mapping):
            said += f"; found {one['input']!r}"
        problems.append(f"{place}: {said}" if place else said)
    return problems
