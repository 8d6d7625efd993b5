"""Values that a job writes as ``name: {parameters}``: requirements and methods.

``Annotated[Requirement, NamedValue("requirement", REQUIREMENTS)]`` accepts an instance, a mapping
with one key, or a bare name where every parameter has a default; it is written back in the same
form and described in the JSON Schema as one of its names.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema


def nearest(name: str, allowed: Iterable[str]) -> str:
    """A hint for a message: the nearest names, else all that are allowed."""
    known = sorted(allowed)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if close:
        return "Did you mean " + " or ".join(repr(found) for found in close) + "?"
    return "Allowed: " + ", ".join(known) + "."


@dataclass(frozen=True)
class NamedValue:
    """The annotation that reads and writes one of several named kinds of value."""

    what: str
    kinds: Mapping[str, type[BaseModel]]

    def parse(self, value: Any) -> BaseModel:
        """Make the value that a job's ``name``, ``{name: {…}}`` or instance stands for."""
        if isinstance(value, tuple(self.kinds.values())):
            return value  # type: ignore[return-value]  # isinstance on a tuple of types
        name, parameters = self._split(value)
        if name not in self.kinds:
            raise PydanticCustomError(
                "unknown_name",
                "unknown {what} '{name}'. {hint}",
                {"what": self.what, "name": name, "hint": nearest(name, self.kinds)},
            )
        return self.kinds[name].model_validate({} if parameters is None else parameters)

    def _split(self, value: Any) -> tuple[str, Any]:
        if isinstance(value, str):
            return value, None
        if isinstance(value, Mapping) and len(value) == 1:
            ((name, parameters),) = value.items()
            return str(name), parameters
        raise PydanticCustomError(
            "not_named",
            "a {what} is written 'name: {{parameters}}', one name; found {found}",
            {
                "what": self.what,
                "found": f"{len(value)} names: {', '.join(map(str, value))}"
                if isinstance(value, Mapping)
                else repr(value),
            },
        )

    def __get_pydantic_core_schema__(
        self,
        source: Any,  # noqa: ARG002
        handler: GetCoreSchemaHandler,  # noqa: ARG002
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: {value.name: value.parameters()}
            ),
        )

    def __get_pydantic_json_schema__(
        self,
        schema: core_schema.CoreSchema,  # noqa: ARG002
        handler: GetJsonSchemaHandler,
    ) -> JsonSchemaValue:
        choices: list[JsonSchemaValue] = []
        for name, kind in self.kinds.items():
            inner = handler(kind.__pydantic_core_schema__)
            bare = not any(field.is_required() for field in kind.model_fields.values())
            choices.append(
                {
                    "type": "object",
                    "properties": {name: inner},
                    "required": [name],
                    "additionalProperties": False,
                }
            )
            if bare:
                choices.append({"const": name})
        return {"title": self.what, "oneOf": choices}
