"""The person as the unit of protection: the columns that name a person, and their rows' rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from discreet.job.parts import Attribute, Part
from discreet.table.persons import CollapseRule, Keeping, Link, Scope
from discreet.table.roles import Role

Names = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    Field(min_length=1),
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
]


def _short_forms(schema: dict[str, Any]) -> None:
    """Let the schema allow the short forms that ``Person`` reads."""
    column, rows = schema["properties"]["column"], schema["properties"]["rows"]
    names = {key: column.pop(key) for key in ("type", "items", "minItems") if key in column}
    column["anyOf"] = [{"type": "string"}, names]
    choices = {key: rows.pop(key) for key in ("enum", "type") if key in rows}
    count = {"type": "object", "properties": {"count": {"type": "string"}}}
    rows["anyOf"] = [choices, {**count, "required": ["count"], "additionalProperties": False}]
    full = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "string"}, full]


class Person(Part):
    """The columns that identify a person, and the treatment of the person's rows."""

    model_config = ConfigDict(json_schema_extra=_short_forms)

    column: Names = Field(description="The identifier of a person, or several that name one.")
    rows: Literal["one", "collapse", "keep"] = Field(
        default="one",
        description="'one': every person must have one row. 'collapse': reduce the rows of a "
        "person to one. {count: NAME} also collapses, and publishes the number of rows as NAME. "
        "'keep': publish all rows; groups are of persons.",
    )
    count: str | None = Field(
        default=None, description="The attribute that becomes the number of a person's rows."
    )
    order: str | None = Field(
        default=None,
        description="The column that orders a person's rows, for the rules first and last.",
    )

    disagreeing: int = Field(
        default=0,
        ge=0,
        description="The greatest number of persons whose rows may differ in sex, birth date or "
        "name, such as by errors in the data; beyond it the key joins strangers.",
    )
    scope: Scope = Field(
        default=Scope.PERSONS,
        description="With 'keep': 'persons' gives all rows of a person the cells of the person's "
        "group. 'rows' forms groups of rows, each of enough persons: finer cells, but an attacker "
        "who knows all rows of a person can intersect their groups.",
    )
    link: Link = Field(
        default=Link.NONE,
        description="With 'keep': 'pseudonym' publishes a random number for each person, new in "
        "every release. The number of a person's rows then counts as a quasi-identifier.",
    )
    at_most: int | None = Field(
        default=None,
        ge=1,
        description="With 'link: pseudonym': the greatest number of published rows of a person; "
        "rows beyond it, chosen at random, are suppressed.",
    )

    if TYPE_CHECKING:  # as callers may write it

        def __init__(
            self,
            *,
            column: str | Sequence[str],
            rows: Literal["one", "collapse", "keep"] | Mapping[str, str] = ...,
            count: str | None = ...,
            order: str | None = ...,
            scope: Scope | Literal["persons", "rows"] = ...,
            link: Link | Literal["none", "pseudonym"] = ...,
            at_most: int | None = ...,
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _read_short_forms(cls, written: Any) -> Any:
        """Read ``person: patient`` and ``rows: {count: visits}``."""
        if isinstance(written, str):
            return {"column": written}
        if isinstance(written, Mapping) and isinstance(written.get("rows"), Mapping):
            return {**written, "rows": "collapse", **written["rows"]}
        return written

    @model_validator(mode="after")
    def _fits_together(self) -> Person:
        if self.rows != "collapse" and (self.order is not None or self.count is not None):
            raise PydanticCustomError(
                "person_rows",
                "'order' and 'count' are for 'rows: collapse'. Remove them, or collapse the rows.",
            )
        keeps = self.scope is not Scope.PERSONS or self.link is not Link.NONE
        if self.rows != "keep" and (keeps or self.at_most is not None):
            raise PydanticCustomError(
                "person_keep",
                "'scope', 'link' and 'at_most' are for 'rows: keep'. Remove them, or keep the "
                "rows.",
            )
        if self.scope is Scope.ROWS and self.link is Link.PSEUDONYM:
            raise PydanticCustomError(
                "person_scope",
                "'link: pseudonym' would show which groups the rows of a person are in. Use "
                "'scope: persons', or 'link: none'.",
            )
        if self.at_most is not None and self.link is Link.NONE:
            raise PydanticCustomError(
                "person_at_most", "'at_most' is for 'link: pseudonym'. Remove it, or add the link."
            )
        return self

    @property
    def keeping(self) -> Keeping:
        """How all rows of persons are published."""
        return Keeping(self.scope, self.link, self.at_most)

    @property
    def place(self) -> str:
        """The columns, as a message names them."""
        return " and ".join(f"'{name}'" for name in self.column)


def person_problems(person: Person | None, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    """Return settings of persons that do not fit the job's attributes."""
    # Rules are for rows that are collapsed.
    collapses = person is not None and person.rows == "collapse"
    for name, attribute in attributes.items():
        place = f"attributes.{name}"
        if attribute.collapse is not None and not collapses:
            yield f"{place}: 'collapse' needs 'person: {{column: …, rows: collapse}}'. Add it."
        elif collapses:
            yield from _rule_problems(place, attribute)
    if person is None:
        return
    # The columns that name a person, and those that order or count the rows.
    known = [name for name, one in attributes.items() if one.role is Role.IDENTIFIER]
    yield from (
        f"person: '{name}' is not an identifier. Give it that role under `attributes:`; "
        f"identifiers of the job: {', '.join(map(repr, known)) or 'none'}."
        for name in person.column
        if name not in known
    )
    if person.order is not None and person.order not in attributes:
        yield f"person.order: there is no attribute '{person.order}'."
    ruled = [name for name, one in attributes.items() if one.collapse in _BY_ORDER]
    if ruled and person.order is None:
        yield (
            f"person: the rule of '{ruled[0]}' needs the order of a person's rows. Add 'order: "
            "COLUMN', such as a date."
        )
    if person.count is not None:
        counted = attributes.get(person.count)
        if counted is None or not counted.role.published:
            yield (
                f"person.count: '{person.count}' needs a role. Add it to `attributes:`, such as "
                "{role: quasi-identifier, type: integer}; the table has no such column."
            )


_BY_ORDER = (CollapseRule.FIRST, CollapseRule.LAST)


def _rule_problems(place: str, attribute: Attribute) -> Iterator[str]:
    """Return the reasons why the values of a person's rows cannot become one."""
    # A rule is for what is published, and must not inflate a weight.
    if attribute.collapse is not None and not attribute.role.published:
        yield f"{place}: role '{attribute.role}' is not published. Remove 'collapse'."
        return
    rule = attribute.collapse_rule
    if attribute.role is Role.WEIGHT and rule not in (CollapseRule.CONSTANT, CollapseRule.MIN):
        yield (
            f"{place}: 'collapse: {rule}' could let a person represent more persons than a row of "
            "theirs does. Use 'constant' or 'min'."
        )
        return
    # Sets have no order, and no hierarchy.
    if rule is not CollapseRule.SET:
        if attribute.multi_valued is not None and (rule.ordered or rule.numeric):
            yield f"{place}: sets cannot be collapsed by '{rule}'. Use 'set', 'first' or 'last'."
        return
    if attribute.role not in (Role.SENSITIVE, Role.QUASI_SENSITIVE):
        yield (
            f"{place}: 'collapse: set' is for sensitive and quasi-sensitive attributes. Use "
            "'first', 'last', 'most-frequent', 'min' or 'max'."
        )
    elif attribute.hierarchy is not None or attribute.distance is not None:
        yield (
            f"{place}: the values of a person's rows become a set, which has neither a hierarchy "
            "nor a distance. Remove them, or name a rule that chooses one value, such as "
            "'collapse: most-frequent'."
        )
