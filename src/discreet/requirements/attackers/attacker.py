"""What an attacker knows of a target: the quasi-identifiers of one set, or any few of some.

An attacker who knows the values of some columns finds the published rows whose cells cover these
values. Those rows are a union of *groups*: rows with the same cells in the known columns. Every
requirement is closed under merging, so it holds for the rows that any attacker finds if it holds
for every group (docs/theory/class-models.md). For the same reason it suffices to judge the largest
sets of columns: an attacker who knows fewer of them finds a union of their groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from discreet.by_name import Validated
from discreet.statements import Statement

SHOWN = 8  # columns that a sentence lists


@dataclass(frozen=True)
class KeySets:
    """Sets of columns whose values an attacker knows: every ``length`` of some columns."""

    columns: tuple[str, ...]  # quasi-identifiers
    length: int
    known: tuple[str, ...] = ()  # sensitive attributes whose values are known beside them

    @property
    def count(self) -> int:
        """The number of sets."""
        return comb(len(self.columns), self.length)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return combinations(self.columns, self.length)


def _short_form(schema: dict[str, Any]) -> None:
    """Let the schema allow a list of columns."""
    full = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "array", "items": {"type": "string"}, "minItems": 1}, full]


class Attacker(Validated):
    """What one attacker knows of a target beside that the target may be in the table."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", defer_build=True, json_schema_extra=_short_form
    )

    columns: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="The quasi-identifiers that the attacker knows."
    )
    any: int | None = Field(
        default=None, ge=1, description="Instead: any at most so many of the columns in 'of'."
    )
    of: tuple[str, ...] | None = Field(
        default=None,
        min_length=1,
        description="With 'any': the columns to choose from; by default all quasi-identifiers.",
    )
    knows: tuple[str, ...] = Field(
        default=(), description="Sensitive attributes whose value the attacker knows as well."
    )

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, written: Any) -> Any:
        """Read a list as ``columns``, and one name in the place of a list."""
        if isinstance(written, list | tuple):
            return {"columns": written}
        if isinstance(written, Mapping):
            return {
                key: [value]
                if key in ("columns", "of", "knows") and isinstance(value, str)
                else value
                for key, value in written.items()
            }
        return written

    @model_validator(mode="after")
    def _one_form(self) -> Attacker:
        if (self.columns is None) == (self.any is None):
            raise PydanticCustomError(
                "attacker_form",
                "an attacker knows a list of columns, such as [age, zip], or any few of some, such "
                "as {any: 3, of: [age, zip, sex]}. Give one of the two.",
            )
        if self.of is not None and self.any is None:
            raise PydanticCustomError(
                "attacker_form", "'of' is for 'any'. Remove it, or add 'any'."
            )
        return self

    @property
    def named(self) -> tuple[str, ...]:
        """The quasi-identifiers that it names."""
        return self.columns or self.of or ()

    def resolved(self, quasi: Sequence[str], bits: Mapping[str, Sequence[str]]) -> Attacker:
        """The same with all columns named; ``bits`` are those that replaced an attribute."""
        knows = tuple(bit for name in self.knows for bit in bits.get(name, (name,)))
        if self.any is None:
            return self.model_copy(update={"knows": knows})
        return self.model_copy(update={"of": self.of or tuple(quasi), "knows": knows})

    def without(self, gone: Sequence[str]) -> Attacker:
        """The same where some sensitive attributes are not published."""
        return self.model_copy(
            update={"knows": tuple(name for name in self.knows if name not in gone)}
        )

    def key_sets(self, quasi: Sequence[str]) -> KeySets:
        """The largest sets of columns that it may know."""
        columns = tuple(dict.fromkeys(self.columns or self.of or quasi))
        length = len(columns) if self.any is None else min(self.any, len(columns))
        return KeySets(columns, length, self.knows)

    def statement(self, name: str) -> Statement:
        """What an attacker with this name knows."""
        columns: Statement | tuple[str, ...] = self.named
        if not self.named:
            columns = Statement("columns.quasi-identifiers")
        elif len(self.named) > SHOWN:
            more = len(self.named) - SHOWN
            columns = Statement("columns.more", columns=self.named[:SHOWN], more=more)
        form = "attacker.knows" if self.any is None else "attacker.knows-any"
        parameters: dict[str, Any] = {"name": name, "columns": columns}
        if self.any is not None:
            parameters["number"] = self.any
        if self.knows:
            form, parameters["known"] = f"{form}.values", self.knows
        return Statement(form, **parameters)
