"""The manifest entry of each method: parameters, choices, and figures derived from the files.

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

    def sentences(self) -> list[str]:
        """Return what only this method did, for the person who signs."""
        return []

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        """Return what the publisher alone may know of the run."""
        return []

    def weaknesses(self) -> list[str]:
        """Return what the method leaves open, each with the attack that measures it."""
        return []

    def minimality(self) -> str:
        """Return what an attacker who knows the algorithm can ask of groups by sensitive values."""
        return (
            "Algorithm: groups depend on sensitive values, so an attacker who knows the algorithm "
            "can reason about why they are no finer (minimality)."
        )

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
    return ["'method.hierarchies' names columns that are not quasi-identifiers"]


def _bound_problems(least: object, promised: Sequence[Mapping[str, Any]]) -> list[str]:
    if any(parameters.get("l") == least for parameters in promised):
        return []
    return ["'method.l' is not the l of a guarantee"]


def _share_sentences(method: str, share: Mapping[str, float]) -> list[str]:
    if not share:
        return []
    name = max(share, key=share.__getitem__)
    return [
        f"The method '{method}' does not bound the frequency of a value: in some group one value "
        f"of '{name}' has a share of {share[name]:.0%}."
    ]


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

    def sentences(self) -> list[str]:
        return [
            f"Terms of '{name}' were removed where they disclose too much; {rows:,} rows have no "
            "term left (*)."
            for name, rows in self.emptied_rows.items()
        ]

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        sentences = []
        searched = facts.get("attributes", {})
        measured = utility.get("terms", {})
        for name, found in searched.items():
            terms = measured.get(name, {})
            share = f" ({terms['suppressed_share']:.1%})" if terms else ""
            sentences.append(
                f"{found['suppressed_terms']:,} terms{share} of '{name}' were removed from "
                f"published rows; the knowledge table has {found['labels']:,} labels."
            )
            change = terms.get("belief_change")
            if change is not None:
                sentences.append(
                    f"The attacker's belief in a label changes by at most "
                    f"{change['greatest']:.1%}, by {change['mean']:.2%} on average over labels and "
                    "groups."
                )
            if found["unlinked_rows"]:
                sentences.append(
                    f"{found['unlinked_rows']:,} rows have terms of '{name}' that match no label "
                    f"together ({found['unknown_terms']:,} terms are in no label); they are "
                    "published unchanged and tell this attacker nothing."
                )
            sentences += [
                f"In the knowledge table of '{name}', {found[key]:,} labels {said}."
                for key, said in (
                    ("labels_without_terms", "have no term and match only rows without any"),
                    ("doubled_labels", "are on several lines, which were joined"),
                )
                if found[key]
            ]
        if sentences:
            sentences.append(
                f"{facts['failing_groups']:,} groups failed before the removal; for "
                f"{facts['optimal_groups']:,} of the {facts['groups']:,} published groups it is "
                "proved that no smaller removal suffices."
            )
            if facts["unsolved_groups"]:
                sentences.append(
                    f"For {facts['unsolved_groups']:,} groups no removal was found; their rows "
                    "were suppressed."
                )
        return sentences


class MsaDiversityEntry(MethodEntry):
    """MSA-diversity."""

    name: Literal["msa-diversity"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0

    def minimality(self) -> str:
        if self.parameters.get("grouping") == "blocks":
            return (
                "Algorithm: rows that found no group in their block may have been placed by their "
                "sensitive values, about which an attacker who knows the algorithm can reason "
                "(minimality)."
            )
        return (
            "Algorithm: groups depend on sensitive values, so an attacker who knows the algorithm "
            "can reason about them; 'grouping: blocks' avoids this for most rows, at a higher "
            "information loss (minimality)."
        )


class GalEntry(MethodEntry):
    """Gal and others' partitioning, which bounds no share: the manifest says the greatest one."""

    name: Literal["gal"]
    groups: NonNegativeInt = 0
    suppressed_rows: NonNegativeInt = 0
    greatest_share: dict[str, float] = Field(default_factory=dict)  # by sensitive attribute

    def sentences(self) -> list[str]:
        return _share_sentences(self.name, self.greatest_share)


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

    def sentences(self) -> list[str]:
        shares = _share_sentences(self.name, self.greatest_share)
        if not self.masked_cells:
            return shares
        listed = ", ".join(f"{name} ({cells:,} cells)" for name, cells in self.masked_cells.items())
        return [f"Masked as '*' where a group had too few values: {listed}.", *shares]


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

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if "noise_values" not in facts:
            return []
        merged = facts["merged_groups"]
        return [
            f"{facts['noise_values']:,} listed values are noise: no row of the group has them, but "
            "whole sensitive rows support them like the others."
            + (f" {merged:,} groups were merged into others." if merged else "")
        ]


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
            f"levels of '{table}', which is not a table" for table in set(self.levels) - {*tables}
        ]
        return unknown + [
            line
            for table, levels in self.levels.items()
            for line in _level_problems(f"levels.{table}", levels, quasi_identifiers)
        ]

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        if "association_loss" not in facts:
            return []
        return [
            f"Between tables {facts['association_loss']:.1%} of the association between sensitive "
            "attributes is lost; an attacker who knows one value can still join "
            f"{facts['information_exposure']:.1%} of the linked information."
        ]


class RepublicationEntry(MethodEntry):
    """A release of a series."""

    name: Literal["m-invariance", "rho-different"]
    adversary: Literal["joint"] | None = None
    groups: NonNegativeInt = 0
    counterfeits: NonNegativeInt = 0
    held_back: NonNegativeInt = 0

    def sentences(self) -> list[str]:
        counterfeits = self.counterfeits
        sentences = []
        if counterfeits:
            sentences.append(
                f"{counterfeits:,} sensitive rows are counterfeits, which belong to no record; the "
                "table 'counterfeits' gives their number in each group."
            )
        return sentences

    def private_sentences(self, facts: Mapping[str, Any], utility: Mapping[str, Any]) -> list[str]:
        sentences = []
        if facts.get("changed_signatures"):
            sentences.append(
                f"{facts['changed_signatures']:,} records are now in groups with all new values, "
                "because their own value changed. Across such changes m-invariance does not bound "
                "the belief of an attacker who has several releases; use rho-different for data "
                "whose values change."
            )
        if "greatest_belief" in facts:
            sentences.append(
                "The greatest belief of an attacker who has all releases so far is "
                f"{facts['greatest_belief']:.3f}."
            )
        return sentences

    def weaknesses(self) -> list[str]:
        if self.name != "m-invariance":
            return []
        return [
            "Changing values: across releases, no bound covers a record whose value changed; use "
            "rho-different for such data (series)."
        ]


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
