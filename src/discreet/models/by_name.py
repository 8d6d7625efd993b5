"""Requirements as a job writes them: one name with its parameters, ``{k-anonymity: {k: 5}}``.

``ByName`` is the annotation that lets a pydantic field take a requirement in any of three forms:
an instance, a mapping with one name, or a bare name where every parameter has a default. It writes
the mapping, and its JSON Schema is one alternative for each name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from discreet.models.requirement import Requirement


class ByName:
    """Annotate a field that holds one of some kinds of requirement."""

    def __init__(self, kinds: Sequence[type[Requirement]], noun: str = "requirement") -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.noun = noun

    def parse(self, written: object) -> Requirement:
        """Read a requirement; raise pydantic's errors, which carry their place."""
        if isinstance(written, Requirement):
            if type(written) not in self.kinds.values():
                raise self._unknown(written.name)
            return written
        if isinstance(written, str):
            return self._build(written, {})
        if isinstance(written, Mapping) and len(written) == 1:
            (name, parameters), *_ = written.items()
            return self._build(str(name), {} if parameters is None else parameters)
        raise PydanticCustomError(
            "requirement_form",
            "A {noun} is one name with its parameters, such as {example}; found {found}.",
            {
                "noun": self.noun,
                "example": "{" + next(iter(self.kinds)) + ": {…}}",
                "found": _described(written),
            },
        )

    def _build(self, name: str, parameters: object) -> Requirement:
        kind = self.kinds.get(name)
        if kind is None:
            raise self._unknown(name)
        try:
            return kind.model_validate(parameters)
        except ValidationError as error:
            raise _below(name, error) from None

    def _unknown(self, name: str) -> PydanticCustomError:
        near = get_close_matches(name, self.kinds, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(self.kinds)}."
        return PydanticCustomError(
            "requirement_name",
            "There is no {noun} '{name}'. {hint}",
            {"noun": self.noun, "name": name, "hint": hint},
        )

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda requirement: {requirement.name: requirement.parameters()}
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


def _alternative(kind: type[Requirement], handler: GetJsonSchemaHandler) -> dict[str, Any]:
    """The schema of one name with its parameters."""
    parameters = handler(kind.__pydantic_core_schema__)
    parameters["description"] = (kind.__doc__ or "").partition("\n")[0]  # not the proofs
    return {
        "type": "object",
        "properties": {kind.name: parameters},
        "required": [kind.name],
        "additionalProperties": False,
    }


def _takes_nothing(kind: type[Requirement]) -> bool:
    try:
        kind()
    except ValidationError:
        return False
    return True


def _described(written: object) -> str:
    if isinstance(written, Mapping):
        names = ", ".join(str(name) for name in written)
        return f"{len(written)} names ({names})" if written else "an empty mapping"
    return f"a {type(written).__name__}"


def _below(name: str, error: ValidationError) -> ValidationError:
    """The same errors, their places below the requirement's name."""
    details = [
        InitErrorDetails(
            type=PydanticCustomError(one["type"], "{message}", {"message": one["msg"]}),
            loc=(name, *one["loc"]),
            input=one["input"],
        )
        for one in error.errors(include_url=False)
    ]
    return ValidationError.from_exception_data(name, details)
