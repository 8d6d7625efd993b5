"""The parts of a job that have no module of their own: attributes, output, verification, limits."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from discreet.attacks.registry import ATTACKS, AnyAttack
from discreet.by_name import Validated, nearest
from discreet.errors import InputError
from discreet.hierarchies.specs import AnyHierarchy, HierarchySpec
from discreet.io.databases import dialect_of
from discreet.io.knowledge import KnowledgeSource
from discreet.table.persons import CollapseRule
from discreet.table.roles import Distance, Role, ValueType

Value = Annotated[str, Field(coerce_numbers_to_str=True)] | None  # null is a missing value
Values = Annotated[tuple[Value, ...], BeforeValidator(lambda given: _listed(given))]


def _listed(given: object) -> object:
    """Return ``{a, b}``, which YAML reads as keys without values, as a tuple."""
    if isinstance(given, Mapping) and all(value is None for value in given.values()):
        return tuple(given)
    return given


DATE_PARTS = "dmyYbBj"  # of a date's format; Python and Polars read them alike
RoleName = Literal[
    "identifier",
    "quasi-identifier",
    "sensitive",
    "quasi-sensitive",
    "insensitive",
    "unchanged",
    "weight",
    "household",
    "drop",
]
CollapseName = Literal[
    "set", "constant", "first", "last", "most-frequent", "min", "max", "sum", "mean", "count"
]
ROLES = tuple(role for role in Role if role is not Role.STRUCTURE)


MASKED_AT_MOST = 0.05  # of the cells of an attribute with 'rare'
UNCHANGED = "unchanged"  # the same role as 'insensitive'


def _known_role(written: object) -> object:
    if written == UNCHANGED:
        return Role.INSENSITIVE
    if written in ROLES:
        return written
    raise PydanticCustomError(
        "role_unknown",
        "There is no role '{written}'. {hint}",
        {"written": str(written), "hint": nearest(str(written), (*ROLES, UNCHANGED))},
    )


JobRole = Annotated[
    Role,
    BeforeValidator(_known_role),
    WithJsonSchema({"enum": [*map(str, ROLES), UNCHANGED], "type": "string"}),
]


class Part(Validated):
    """A part of a job, which is never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


# By key of an attribute: the roles that may have it, its purpose, and what to do in another role.
_SENSITIVE_VALUES = (
    (Role.SENSITIVE,),
    "sensitive values are for sensitive attributes",
    "Remove them.",
)
_ROLES_OF: dict[str, tuple[tuple[Role, ...], str, str]] = {
    "hierarchy": (
        (Role.QUASI_IDENTIFIER, Role.SENSITIVE),
        "a hierarchy is for quasi-identifiers and sensitive attributes",
        "Remove it, or change the role.",
    ),
    "knowledge": (
        (Role.QUASI_SENSITIVE,),
        "a knowledge table is for quasi-sensitive attributes",
        "Remove it, or change the role.",
    ),
    "columns": (
        (Role.SENSITIVE, Role.QUASI_SENSITIVE),
        "'columns' make a set, which is for sensitive and quasi-sensitive attributes",
        "Name each column by itself.",
    ),
    "importance": (
        (Role.QUASI_IDENTIFIER,), "an importance is for quasi-identifiers", "Remove it."
    ),
    "finest": ((Role.QUASI_IDENTIFIER,), "'finest' is for quasi-identifiers", "Remove it."),
    "distance": ((Role.SENSITIVE,), "a distance is for sensitive attributes", "Remove it."),
    "rare": ((Role.SENSITIVE,), "'rare' is for sensitive attributes", "Remove it."),
    "round": ((Role.WEIGHT,), "'round' is for weights", "Remove it."),
    "sensitive_values": _SENSITIVE_VALUES,
    "non_sensitive_values": _SENSITIVE_VALUES,
}  # fmt: skip


class Attribute(Part):
    """One column of the table."""

    role: JobRole = Field(description="Role of the column in the release.")
    type: ValueType | None = Field(
        default=None,
        description="What its values are; text for text files, else the column's own type.",
    )
    format: str | None = Field(
        default=None,
        description="Format of dates in text, such as %d.%m.%Y; by default ISO, %Y-%m-%d. They "
        "are published as ISO.",
    )
    hierarchy: AnyHierarchy | None = Field(
        default=None,
        description="How its values generalize; built automatically where a method needs one.",
    )
    finest: Annotated[int, Field(ge=1)] | str | None = Field(
        default=None,
        description="Of a quasi-identifier: the finest level of its hierarchy that may be "
        "published, by number or name. Its labels replace the values before the method runs.",
    )
    distance: Distance | None = Field(
        default=None,
        description="The ground distance of a sensitive attribute: equal for text, ordered for "
        "numbers and dates, by default.",
    )
    multi_valued: str | None = Field(
        default=None,
        min_length=1,
        description="What separates the members of a cell that holds a set. A sensitive attribute "
        "is then published as bits, one for each member.",
    )
    columns: tuple[str, ...] | None = Field(
        default=None,
        min_length=2,
        description="Several columns of the table, such as [diag_1, diag_2, diag_3], whose values "
        "in a row are the members of one set. The attribute has a name of its own.",
    )
    min_support: int | None = Field(
        default=None,
        ge=1,
        description="Of a multi-valued sensitive attribute: members that fewer rows hold share "
        "one bit, so that the sets cannot be restored.",
    )
    sensitive_values: Values | None = Field(
        default=None,
        description="The values of a sensitive attribute that are sensitive; else all are.",
    )
    non_sensitive_values: Values | None = Field(
        default=None, description="The values of a sensitive attribute that are not sensitive."
    )
    rare: Literal["auto", "lift", "mask", "suppress"] | None = Field(
        default=None,
        description="What becomes of values of a sensitive attribute that fewer than l persons "
        "have, before the method runs: lifted along the hierarchy, masked as '*', their rows "
        "suppressed, or what loses least. By default they stay.",
    )
    masked_at_most: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="With 'rare': the share of the attribute's cells that may be masked or "
        "suppressed; 0.05 unless given.",
    )
    rare_rows: bool = Field(
        default=False,
        description="With 'rare': also suppress rows whose sensitive cells fewer than l persons "
        "share together. Values are lifted further until 'masked_at_most' bounds these rows.",
    )
    knowledge: KnowledgeSource | None = Field(
        default=None,
        description="Of a quasi-sensitive attribute: the table that links its terms to labels.",
    )
    collapse: CollapseRule | None = Field(
        None,
        description="Where the rows of a person are collapsed: how their values become one. A set "
        "for sensitive and quasi-sensitive attributes, 'constant' for others, unless said "
        "otherwise.",
    )
    round: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Of a weight: publish it rounded down to a multiple of this number, so that a "
        "rare weight does not identify a row. A weight below it is published as 1.",
    )
    importance: float = Field(
        default=1.0,
        gt=0,
        allow_inf_nan=False,
        description="Of a quasi-identifier: how much its information loss weighs against that of "
        "others.",
    )
    allow_identifying: bool = Field(
        default=False,
        description="Publish the column although its values look like direct identifiers (names, "
        "e-mail addresses, telephone or record numbers), or single out more than 5% of the "
        "persons.",
    )
    escape: bool = Field(
        default=False,
        description="Publish a value that looks like '*', a range or a set behind a backslash, "
        "instead of refusing it.",
    )

    if TYPE_CHECKING:  # as callers may write it

        def __init__(
            self,
            *,
            role: Role | RoleName,
            type: ValueType | Literal["text", "integer", "number", "date"] | None = ...,
            format: str | None = ...,
            hierarchy: HierarchySpec | Mapping[str, Any] | str | Path | None = ...,
            finest: int | str | None = ...,
            distance: Distance | Literal["equal", "ordered", "hierarchical"] | None = ...,
            multi_valued: str | None = ...,
            columns: Collection[str] | None = ...,
            min_support: int | None = ...,
            sensitive_values: Collection[str | float | None] | None = ...,
            non_sensitive_values: Collection[str | float | None] | None = ...,
            rare: Literal["auto", "lift", "mask", "suppress"] | None = ...,
            masked_at_most: float | None = ...,
            rare_rows: bool = ...,
            knowledge: KnowledgeSource | Mapping[str, Any] | None = ...,
            collapse: CollapseRule | CollapseName | None = ...,
            round: float | None = ...,
            importance: float = ...,
            allow_identifying: bool = ...,
            escape: bool = ...,
        ) -> None: ...

    @field_validator("format")
    @classmethod
    def _names_a_day(cls, format: str | None) -> str | None:
        if format is None:
            return None
        named = set(re.findall("%(.?)", format))
        day = datetime(2003, 11, 25)
        sound = named <= set(DATE_PARTS) and bool(named & {"Y", "y"})
        try:  # Python 3.13 warns of days without a year
            sound = sound and datetime.strptime(day.strftime(format), format) == day
        except (ValueError, re.error):
            sound = False
        if not sound:
            parts = " ".join(f"%{part}" for part in DATE_PARTS)
            raise ValueError(f"must name day, month and year once each by {parts}: %d.%m.%Y")
        return format

    @model_validator(mode="after")
    def _fits_together(self) -> Attribute:
        if self.format is not None and self.type is not ValueType.DATE:
            raise PydanticCustomError(
                "format_type", "a format is for dates. Add 'type: date', or remove it."
            )
        # Each key is for some roles.
        for key, (roles, purpose, remedy) in _ROLES_OF.items():
            unset = getattr(self, key) == type(self).model_fields[key].default
            if not unset and self.role not in roles:
                raise PydanticCustomError(
                    "attribute_role",
                    "{purpose}, not for role '{role}'. {remedy}",
                    {"purpose": purpose, "role": str(self.role), "remedy": remedy},
                )
        # Keys that exclude or need each other.
        if self.escape and self.role is Role.QUASI_SENSITIVE:
            raise PydanticCustomError(
                "escape_role",
                "the terms of a quasi-sensitive attribute can't be escaped. Remove 'escape'.",
            )
        if self.distance is Distance.HIERARCHICAL and self.hierarchy is None:
            raise PydanticCustomError(
                "distance_hierarchy",
                "distance 'hierarchical' needs a hierarchy. Add one, or use 'equal' or 'ordered'.",
            )
        if self.role is Role.WEIGHT and self.type in (ValueType.TEXT, ValueType.DATE):
            raise PydanticCustomError(
                "weight_type", "a weight is a number. Remove 'type', or use 'type: number'."
            )
        if self.sensitive_values is not None and self.non_sensitive_values is not None:
            raise PydanticCustomError(
                "sensitive_values_both",
                "give either 'sensitive_values' or 'non_sensitive_values', not both.",
            )
        self._sets_fit()
        self._rare_fits()
        return self

    def _sets_fit(self) -> None:
        """Check that bits have neither a hierarchy nor another distance."""
        if self.columns is not None and self.type not in (None, ValueType.TEXT):
            raise PydanticCustomError(
                "columns_type", "the members of a set are text. Remove 'type'."
            )
        several = self.multi_valued is not None or self.columns is not None
        becomes_bits = several and self.role is Role.SENSITIVE
        if becomes_bits and (self.hierarchy is not None or self.distance is not None):
            raise PydanticCustomError(
                "multi_valued_bits",
                "a multi-valued sensitive attribute becomes bits, which have neither a hierarchy "
                "nor a distance of their own. Remove them.",
            )
        becomes_bits |= self.collapse is CollapseRule.SET and self.role is Role.SENSITIVE
        if self.min_support is not None and not becomes_bits:
            raise PydanticCustomError(
                "min_support",
                "'min_support' is for a multi-valued sensitive attribute. Remove it, or add "
                "'multi_valued' or, where rows of a person are collapsed, 'collapse: set'.",
            )

    @property
    def value_type(self) -> ValueType | None:
        """The declared type of its values; a weight is a number in any case."""
        return ValueType.NUMBER if self.role is Role.WEIGHT else self.type

    @property
    def collapse_rule(self) -> CollapseRule:
        """The rule by which the values of a person's rows become one, where rows are collapsed."""
        several = self.role in (Role.SENSITIVE, Role.QUASI_SENSITIVE)
        return self.collapse or (CollapseRule.SET if several else CollapseRule.CONSTANT)

    def _rare_fits(self) -> None:
        """Check that rare values are those of a sensitive attribute with single values."""
        if self.rare is None:
            if self.masked_at_most is not None or self.rare_rows:
                raise PydanticCustomError(
                    "masked_at_most",
                    "'masked_at_most' and 'rare_rows' are for 'rare'. Add 'rare: auto'.",
                )
            return
        if self.multi_valued is not None or self.columns is not None:
            raise PydanticCustomError(
                "rare_sets",
                "'rare' is for single values. Rare members of a set share one bit by "
                "'min_support'.",
            )
        if self.rare == "lift" and self.hierarchy is None:
            raise PydanticCustomError(
                "rare_lift", "'rare: lift' needs a hierarchy. Add one, or use 'rare: mask'."
            )

    @property
    def masked_limit(self) -> float:
        """The share of cells of which rare values may be masked or suppressed."""
        return MASKED_AT_MOST if self.masked_at_most is None else self.masked_at_most


class Output(Part):
    """The folder and the format of the release."""

    path: str = Field(default="release", description="The release folder.")
    format: Literal["csv", "parquet"] = Field(
        default="csv", description="The format of its tables."
    )
    url: str | None = Field(
        default=None, description="A database that gets the tables too, in one transaction."
    )
    prefix: str = Field(default="", description="Prefix of the table names in that database.")
    language: Literal["en", "de", "tr"] = Field(
        default="en", description="The language of the reports."
    )

    @field_validator("url")
    @classmethod
    def _sound_url(cls, url: str | None) -> str | None:
        if url is not None:
            try:
                dialect_of(url)
            except InputError as error:
                raise PydanticCustomError(
                    "output_url", "{problem}", {"problem": str(error)}
                ) from None
        return url


def _short_forms(schema: dict[str, Any]) -> None:
    """Let the schema of ``Verify`` allow the short forms that it reads."""
    schema["properties"]["attacks"]["anyOf"].append({"const": "all"})
    full = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"const": "attacks"}, full]


class Verify(Part):
    """Attacks that a release must withstand before it appears."""

    model_config = ConfigDict(json_schema_extra=_short_forms)

    attacks: tuple[AnyAttack, ...] | None = Field(
        default=None, description="Which attacks; by default all that a guarantee covers."
    )
    ceiling: float = Field(
        default=1.0, ge=0, le=1, description="The greatest belief that any of them may reach."
    )
    threshold: float = Field(
        default=0.5, ge=0, le=1, description="The report counts the targets with a belief above it."
    )
    population: str | None = Field(
        default=None, description="A table of the population's quasi-identifiers, for membership."
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, written: Any) -> Any:
        """Read the short forms ``verify: attacks`` and ``attacks: all``."""
        if written == "attacks":
            return {}
        if isinstance(written, Mapping) and written.get("attacks") == "all":
            return {**written, "attacks": list(ATTACKS)}
        return written


class RiskLimits(Part):
    """Two thresholds of one figure of risk."""

    look: float = Field(ge=0, le=1, description="Above it, the report says 'Look at these'.")
    refuse: float = Field(ge=0, le=1, description="Above it, the report says 'Do not publish'.")

    @model_validator(mode="after")
    def _in_order(self) -> RiskLimits:
        if self.look > self.refuse:
            raise ValueError("'look' is above 'refuse'; it must be at most as large")
        return self


class SignOff(Part):
    """Thresholds of the figures that decide the verdict about a release's risk."""

    believed: RiskLimits = Field(
        default=RiskLimits(look=0.05, refuse=0.25),
        description="Share of targets whose value a chosen attacker believes above 50%, and "
        "would not without the release.",
    )
    certain: RiskLimits = Field(
        default=RiskLimits(look=0.0, refuse=0.5),
        description="Share of targets whose value only the release makes certain, to a chosen "
        "attacker.",
    )
    reidentified: RiskLimits = Field(
        default=RiskLimits(look=0.2, refuse=0.5),
        description="Greatest chance to pick a target's row by its quasi-identifiers.",
    )
    singled_out: RiskLimits = Field(
        default=RiskLimits(look=0.0, refuse=0.05),
        description="Share of persons who are unique by published quasi-identifiers and the "
        "unchanged columns that the chosen attackers know.",
    )
