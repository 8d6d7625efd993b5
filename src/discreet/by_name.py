"""Values as a job writes them: one name with its parameters, ``{k-anonymity: {k: 5}}``.

``ByName`` is the annotation that lets a pydantic field take a requirement or a method in any of
three forms: an instance, a mapping with one name, or a bare name where every parameter has a
default. It writes the mapping, and its JSON Schema is one alternative for each name.

Frozen values that a job consists of, and the error of one that Python code makes wrongly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

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
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"])
        text = str(problem["msg"]).removeprefix("Value error, ")
        if problem["type"] == "missing":
            text = "is missing"
        elif problem["type"] == "extra_forbidden":
            text = "is not a parameter"
        elif place and "found" not in text and not isinstance(problem["input"], Mapping):
            text += f"; found {problem['input']!r}"
        problems.append(f"{place}: {text}" if place else text)
    return problems


class Named(Validated):
    """A frozen, validated value with a name: a requirement or a method."""

    # built at first use: a command imports many kinds and uses few
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: ClassVar[str]

    def parameters(self) -> dict[str, Any]:
        """The parameters as the job and the manifest write them."""
        return self.model_dump(mode="json", exclude_none=True)


Value = TypeVar("Value", bound=Named)


def nearest(name: str, allowed: Iterable[str]) -> str:
    """A hint for a message: the nearest names, else all that are allowed."""
    known = list(allowed)
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(known)}."


class ByName(Generic[Value]):
    """Annotate a field that holds one of some kinds of named value."""

    def __init__(self, kinds: Mapping[str, type[Value]], noun: str) -> None:
        self.kinds = kinds  # read at use: plugins are searched for only where one is asked for
        self.noun = noun

    def parse(self, written: object) -> Value:
        """Read a value; raise pydantic's errors, which carry their place."""
        if isinstance(written, Named) and isinstance(written, self.kinds.get(written.name, ())):
            return cast(Value, written)
        if isinstance(written, str):
            return self._build(written, {})
        if isinstance(written, Mapping) and len(written) == 1:
            (name, parameters), *_ = written.items()
            return self._build(str(name), {} if parameters is None else parameters)
        raise PydanticCustomError(
            "named_form",
            "A {noun} is one name with its parameters, such as {example}; found {found}.",
            {
                "noun": self.noun,
                "example": "{" + next(iter(self.kinds)) + ": {…}}",
                "found": _described(written),
            },
        )

    def _build(self, name: str, parameters: object) -> Value:
        kind = self.kinds.get(name)
        if kind is None:
            raise self._unknown(name)
        try:
            return kind.model_validate(parameters)
        except ValidationError as error:
            raise below(name, error) from None

    def _unknown(self, name: str) -> PydanticCustomError:
        return PydanticCustomError(
            "named_unknown",
            "There is no {noun} '{name}'. {hint}",
            {"noun": self.noun, "name": name, "hint": nearest(name, self.kinds)},
        )

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: {value.name: value.parameters()}
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        alternatives = [_alternative(kind, handler) for kind in self.kinds.values()]
        bare = [name for name, kind in self.kinds.items() if _takes_nothing(kind)]
        if bare:
            alternatives.append({"enum": bare})
        return {"oneOf": alternatives}


def _alternative(kind: type[Named], handler: GetJsonSchemaHandler) -> dict[str, Any]:
    """The schema of one name with its parameters."""
    kind.model_rebuild()  # unless it was used before
    parameters = handler(kind.__pydantic_core_schema__)
    parameters["description"] = (kind.__doc__ or "").partition("\n")[0]  # not the proofs
    return {
        "type": "object",
        "properties": {kind.name: parameters},
        "required": [kind.name],
        "additionalProperties": False,
    }


def _takes_nothing(kind: type[Named]) -> bool:
    try:
        kind()
    except JobError:
        return False
    return True


def _described(written: object) -> str:
    if isinstance(written, Mapping):
        names = ", ".join(str(name) for name in written)
        return f"{len(written)} names ({names})" if written else "an empty mapping"
    return "nothing" if written is None else repr(written)


def below(name: str, error: ValidationError) -> ValidationError:
    """The same errors, their places below the value's name."""
    details = [
        InitErrorDetails(
            type=PydanticCustomError(problem["type"], "{message}", {"message": problem["msg"]}),
            loc=(name, *problem["loc"]),
            input=problem["input"],
        )
        for problem in error.errors(include_url=False)
    ]
    return ValidationError.from_exception_data(name, details)
