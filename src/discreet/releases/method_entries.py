"""What a manifest says of each method: its parameters, its choices, and figures of its files.

A choice is needed to read the release, such as the levels of a recoding. A figure is derived from
the published tables (``audit/figures.py``), never taken from the method. Whatever else a method
knows about its run belongs to the publisher and is in the private file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PlainSerializer,
    PositiveInt,
    SerializationInfo,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from discreet.methods.registry import METHODS


class MethodEntry(BaseModel):
    """A method and its parameters: all that a manifest says of the method of a plugin."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    masks_cells: ClassVar[bool] = False  # whether published rows may hide sensitive values
    # Whether groups follow from sensitive values alone, ties broken by chance.
    blind_to_quasi_identifiers: ClassVar[bool] = False

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _parameters_of_the_method(self) -> MethodEntry:
        try:
            written = METHODS[self.name].model_validate(self.parameters).parameters()
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in ("parameters", *first["loc"]))
            raise ValueError(f"{place}: {first['msg']}") from None
        if written != self.parameters:
            raise ValueError(f"parameters: the method writes them as {written}")
        return self

    def levels_of(self, table: str) -> Mapping[str, int] | None:
        """Return the levels of a table's full-domain recoding; None where it is another."""
        return None

    def problems(
        self,
        tables: Collection[str],
        quasi_identifiers: Collection[str],
        promised: Sequence[Mapping[str, Any]],
    ) -> list[str]:
        """Return where the entry names what the release does not have, or promise."""
        return []


def _level_problems(
    place: str, levels: Mapping[str, int], quasi_identifiers: Collection[str]
) -> list[str]:
    if not levels or set(levels) == set(quasi_identifiers):
        return []
    return [f"'method.{place}' are not of the quasi-identifiers"]


def _label_problems(
    hierarchies: Mapping[str, str] | None, quasi_identifiers: Collection[str]
) -> list[str]:
    if set(hierarchies or ()) <= set(quasi_identifiers):
        return []
    return ["'method.hierarchies' names columns that are no quasi-identifiers"]


def _bound_problems(least: object, promised: Sequence[Mapping[str, Any]]) -> list[str]:
    if any(parameters.get("l") == least for parameters in promised):
        return []
    return ["'method.l' is the l of no promise"]


class FullDomainEntry(MethodEntry):
    """Full-domain recoding."""

    name: Literal["full-domain"]
    levels: dict[str, NonNegativeInt]  # by quasi-identifier

    def levels_of(self, table: str) -> Mapping[str, int]:
        return self.levels

    def problems(
        self,
        tables: Collection[str],
        quasi_identifiers: Collection[str],
        promised: Sequence[Mapping[str, Any]],
    ) -> list[str]:
        return _level_problems("levels", self.levels, quasi_identifiers)


class LabelledEntry(MethodEntry):
    """A local recoding whose cells may be labels of hierarchies."""

    name: Literal["mondrian", "local-recoding"]
    hierarchies: dict[str, str] | None = None  # by quasi-identifier: what the labels come from

    def problems(
        self,
        tables: Collection[str],
        quasi_identifiers: Collection[str],
        promised: Sequence[Mapping[str, Any]],
    ) -> list[str]:
        return _label_problems(self.hierarchies, quasi_identifiers)


class QuasiSensitiveEntry(MethodEntry):
    """Removal of quasi-sensitive terms."""

    name: Literal["quasi-sensitive"]
    hierarchies: dict[str, str] | None = None
    groups: NonNegativeInt = 0
    emptied_rows: dict[str, NonNegativeInt] = Field(default_factory=dict)  # by attribute: cells '*'

    def problems(
        self,
        tables: Collection[str],
        quasi_identifiers: Collection[str],
        promised: Sequence[Mapping[str, Any]],
    ) -> list[str]:
        return _label_problems(self.hierarchies, quasi_identifiers)


class MsaDiversityEntry(MethodEntry):
    """MSA-diversity."""

    name: Literal["msa-diversity"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0


class GalEntry(MethodEntry):
    """Gal and others' partitioning, which bounds no share: the manifest says the greatest one."""

    name: Literal["gal"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0
    greatest_share: dict[str, float] = Field(default_factory=dict)  # by sensitive attribute


class MmdcfEntry(MethodEntry):
    """MMDCF, whose groups have no value of an attribute twice."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["mmdcf"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0
    greatest_share: dict[str, float] = Field(default_factory=dict)  # by sensitive attribute


class LiYeEntry(MethodEntry):
    """Li and Ye's masking."""

    masks_cells: ClassVar[bool] = True

    name: Literal["li-ye"]
    groups: NonNegativeInt = 0
    masked_cells: dict[str, NonNegativeInt] = Field(default_factory=dict)  # by sensitive attribute
    greatest_share: dict[str, float] = Field(default_factory=dict)  # of cells that are not masked


class AnatomyEntry(MethodEntry):
    """Anatomy."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["anatomy"]
    l: PositiveInt  # noqa: E741 (the manifest's key)
    groups: NonNegativeInt = 0

    def problems(
        self,
        tables: Collection[str],
        quasi_identifiers: Collection[str],
        promised: Sequence[Mapping[str, Any]],
    ) -> list[str]:
        return _bound_problems(self.l, promised)


class DecompositionEntry(MethodEntry):
    """Decomposition."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["decomposition"]
    primary: str
    l: dict[str, PositiveInt]  # noqa: E741 (the manifest's key)
    groups: NonNegativeInt = 0

    def problems(
        self,
        tables: Collection[str],
        quasi_identifiers: Collection[str],
        promised: Sequence[Mapping[str, Any]],
    ) -> list[str]:
        return _bound_problems(self.l, promised)


class CodipEntry(MethodEntry):
    """CoDiP's projections."""

    name: Literal["codip"]
    plan: list[list[str]]  # sensitive attributes by table
    # By table and quasi-identifier; empty where recoding is local.
    levels: dict[str, dict[str, NonNegativeInt]] = Field(default_factory=dict)
    closeness: float = 0.0  # of the worst class of any table

    def levels_of(self, table: str) -> Mapping[str, int] | None:
        return self.levels.get(table)

    def problems(
        self,
        tables: Collection[str],
        quasi_identifiers: Collection[str],
        promised: Sequence[Mapping[str, Any]],
    ) -> list[str]:
        unknown = [
            f"levels of '{table}', which is no table" for table in set(self.levels) - {*tables}
        ]
        return unknown + [
            line
            for table, levels in self.levels.items()
            for line in _level_problems(f"levels.{table}", levels, quasi_identifiers)
        ]


class RepublicationEntry(MethodEntry):
    """A release of a series."""

    name: Literal["m-invariance", "rho-different"]
    adversary: Literal["joint"] | None = None
    groups: NonNegativeInt = 0
    counterfeits: NonNegativeInt = 0
    held_back: NonNegativeInt = 0


_ENTRIES: tuple[type[MethodEntry], ...] = (
    FullDomainEntry,
    LabelledEntry,
    QuasiSensitiveEntry,
    MsaDiversityEntry,
    GalEntry,
    MmdcfEntry,
    LiYeEntry,
    AnatomyEntry,
    DecompositionEntry,
    CodipEntry,
    RepublicationEntry,
)


def _of_plugin(written: Any, built_in: ValidatorFunctionWrapHandler) -> Any:
    """Read the entry of a plugin's method; all others are those of the built-in methods."""
    name = written.get("name") if isinstance(written, dict) else getattr(written, "name", None)
    if isinstance(name, str) and name not in METHODS.built_in and name in METHODS:
        return MethodEntry.model_validate(written)
    return built_in(written)


def _written(entry: MethodEntry, info: SerializationInfo) -> dict[str, Any]:
    return entry.model_dump(mode=info.mode, exclude_none=info.exclude_none)


AnyMethodEntry = Annotated[
    FullDomainEntry
    | LabelledEntry
    | QuasiSensitiveEntry
    | MsaDiversityEntry
    | GalEntry
    | MmdcfEntry
    | LiYeEntry
    | AnatomyEntry
    | DecompositionEntry
    | CodipEntry
    | RepublicationEntry,
    Field(discriminator="name"),
    WrapValidator(_of_plugin),
    PlainSerializer(_written),
]
_ENTRY_OF_METHOD: dict[str, type[MethodEntry]] = {
    name: entry
    for entry in _ENTRIES
    for name in entry.model_fields["name"].annotation.__args__  # type: ignore[union-attr]
}


def method_entry(name: str, parameters: dict[str, Any], facts: dict[str, Any]) -> Any:
    """Return the entry of a method, with those of its facts that the entry has a field for."""
    entry = _ENTRY_OF_METHOD.get(name, MethodEntry)
    known = {key: fact for key, fact in facts.items() if key in entry.model_fields}
    return entry(name=name, parameters=parameters, **known)
