"""The methods by the name that a job gives them, and what a manifest says of each.

A method is imported when its name is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from discreet.by_name import ByName, below, nearest
from discreet.methods.base import Ability, Method
from discreet.methods.manifest_entry import MethodEntry
from discreet.plugins import Registry

_HOMES = {
    "full-domain": "discreet.methods.full_domain.full_domain:FullDomain",
    "mondrian": "discreet.methods.mondrian.mondrian:Mondrian",
    "top-down": "discreet.methods.top_down.top_down:TopDown",
    "local-recoding": "discreet.methods.local_recoding.local_recoding:LocalRecoding",
    "msa-diversity": "discreet.methods.msa_diversity.msa_diversity:MsaDiversity",
    "decomposition": "discreet.methods.decomposition.decomposition:Decomposition",
    "anatomy": "discreet.methods.decomposition.anatomy:Anatomy",
    "unlinked": "discreet.methods.unlinked.unlinked:Unlinked",
    "codip": "discreet.methods.codip.codip:Codip",
    "quasi-sensitive": "discreet.methods.quasi_sensitive.quasi_sensitive:QuasiSensitive",
    "m-invariance": "discreet.methods.series.m_invariance.m_invariance:MInvariance",
    "rho-different": "discreet.methods.series.rho_different.rho_different:RhoDifferent",
}

METHODS: Registry[Method] = Registry("method", "discreet.methods", Method, _HOMES)
AnyMethod = Annotated[Method, ByName(METHODS, "method")]  # a field of a job that holds any of them


def unmet(demand: str, ability: Ability, method: Method) -> list[str]:
    """Return the problem of a method that cannot meet a demand, with those that can, if so."""
    if ability in method.abilities:
        return []
    able = ", ".join(
        name for name, method_type in METHODS.built_in.items() if ability in method_type.abilities
    )
    return [f"{demand} is met by {able}, not by {method.name}. Use a method that meets it."]


def method_entry(name: str, parameters: dict[str, Any], facts: dict[str, Any]) -> MethodEntry:
    """Return the entry of a method, with those of its facts that the entry has a field for."""
    entry = _entry_of(name)
    known = {key: fact for key, fact in facts.items() if key in entry.model_fields}
    return _require_parameters(entry(name=name, parameters=parameters, **known))


def _require_parameters(entry: MethodEntry) -> MethodEntry:
    """Raise where the parameters are not those of the method, as it writes them."""
    try:
        written = METHODS[entry.name].model_validate(entry.parameters).parameters()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in ("parameters", *first["loc"]))
        raise ValueError(f"{place}: {first['msg']}") from None
    if written != entry.parameters:
        raise ValueError(f"parameters: the method writes them as {written}")
    return entry


def _entry_of(name: str) -> type[MethodEntry]:
    return METHODS[name].entry


class EntryByName:
    """Annotate a field that holds the entry of a method, which its ``name`` tells."""

    def parse(self, written: Any) -> MethodEntry:
        """Read the entry of a built-in method or of a plugin's."""
        name = written.get("name") if isinstance(written, dict) else getattr(written, "name", None)
        if not isinstance(name, str) or name not in METHODS:
            hint = nearest(str(name), METHODS)
            raise PydanticCustomError(
                "method", "There is no method '{name}'. {hint}", {"name": str(name), "hint": hint}
            )
        try:
            return _require_parameters(_entry_of(name).model_validate(written))
        except ValidationError as error:
            raise below(name, error) from None

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(_written, info_arg=True),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        entries = tuple(dict.fromkeys(kind.entry for kind in METHODS.built_in.values()))
        one_of_them: Any = Annotated[Union[entries], Field(discriminator="name")]  # noqa: UP007
        return handler(TypeAdapter(one_of_them).core_schema)


def _written(entry: MethodEntry, info: SerializationInfo) -> dict[str, Any]:
    return entry.model_dump(mode=info.mode, exclude_none=info.exclude_none)


if TYPE_CHECKING:
    AnyMethodEntry = MethodEntry
else:
    AnyMethodEntry = Annotated[MethodEntry, EntryByName()]
