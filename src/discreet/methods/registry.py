"""The methods by the name that a job gives them, and what a manifest says of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    SerializationInfo,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from discreet.by_name import ByName
from discreet.methods.base import Method
from discreet.methods.codip.codip import Codip
from discreet.methods.decomposition.anatomy import Anatomy
from discreet.methods.decomposition.decomposition import Decomposition
from discreet.methods.full_domain.full_domain import FullDomain
from discreet.methods.local_recoding.local_recoding import LocalRecoding
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.msa_diversity.msa_diversity import MsaDiversity
from discreet.methods.quasi_sensitive.quasi_sensitive import QuasiSensitive
from discreet.methods.rivals.gal import Gal
from discreet.methods.rivals.li_ye import LiYe
from discreet.methods.rivals.mmdcf import Mmdcf
from discreet.methods.series.m_invariance.m_invariance import MInvariance
from discreet.methods.series.rho_different.rho_different import RhoDifferent
from discreet.plugins import Registry

_METHODS: tuple[type[Method], ...] = (
    FullDomain,
    Mondrian,
    LocalRecoding,
    MsaDiversity,
    Decomposition,
    Anatomy,
    Codip,
    QuasiSensitive,
    MInvariance,
    RhoDifferent,
    LiYe,
    Gal,
    Mmdcf,
)

METHODS: Registry[Method] = Registry("method", "discreet.methods", Method, _METHODS)
AnyMethod = Annotated[Method, ByName(METHODS, "method")]  # a field of a job that holds any of them


def method_entry(name: str, parameters: dict[str, Any], facts: dict[str, Any]) -> MethodEntry:
    """Return the entry of a method, with those of its facts that the entry has a field for."""
    entry = METHODS.built_in[name].entry if name in METHODS.built_in else MethodEntry
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


def _of_plugin(written: Any, built_in: ValidatorFunctionWrapHandler) -> Any:
    """Read the entry of a plugin's method; all others are those of the built-in methods."""
    name = written.get("name") if isinstance(written, dict) else getattr(written, "name", None)
    if isinstance(name, str) and name not in METHODS.built_in and name in METHODS:
        return MethodEntry.model_validate(written)
    return built_in(written)


def _written(entry: MethodEntry, info: SerializationInfo) -> dict[str, Any]:
    return entry.model_dump(mode=info.mode, exclude_none=info.exclude_none)


if TYPE_CHECKING:
    AnyMethodEntry = MethodEntry
else:
    AnyMethodEntry = Annotated[
        Union[tuple(dict.fromkeys(kind.entry for kind in _METHODS))],  # noqa: UP007
        Field(discriminator="name"),
        WrapValidator(_of_plugin),
        AfterValidator(_require_parameters),
        PlainSerializer(_written),
    ]
