"""(l1, …, ld)-diversity: a least number of values for each sensitive attribute of its own.

Ye and others, "Decomposition: privacy preservation for multiple sensitive attributes"; and a floor
under what an attacker keeps who knows one sensitive value and the table T^S of all sensitive rows.

l values are no belief of 1/l: a value that is common in the whole table stays likelier than others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from discreet.errors import InputError
from discreet.requirements.base import (
    Algebra,
    Domains,
    GuaranteeScope,
    PublishedValues,
    Requirement,
    Spared,
    TableTerms,
)
from discreet.requirements.covered_values import Value
from discreet.requirements.diversity import DistinctLDiversity
from discreet.statements import Statement, stating
from discreet.table.counts import ClassCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats

Reader = Literal["pair", "row"]

PositiveInt = Annotated[int, Field(ge=1)]


def with_attacker(given: object) -> object:
    """Return parameters in which `reader`, the former name of `attacker`, is accepted too."""
    if isinstance(given, Mapping) and "reader" in given and "attacker" not in given:
        return {"attacker" if key == "reader" else key: part for key, part in given.items()}
    return given


class SaDiversity(Requirement):
    """Every group has at least ``l`` values of each attribute, a number for each.

    Absorbing: merging only adds values. Counted as published: a decomposed release may list values
    that none of a group's people has, as long as no reader of T^S can strike them out.
    """

    name: ClassVar[str] = "sa-diversity"
    algebra: ClassVar[Algebra] = Algebra("l", absorbing=True)

    l: Mapping[str, PositiveInt] = Field(  # noqa: E741 (the job's key)
        min_length=1, description="The least number of values in a group, for each attribute."
    )

    def attributes(self, counts: ClassCounts) -> Iterable[str]:
        return tuple(self.l)

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        return np.diff(counts.values[attribute].start).astype(np.float64)

    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        return self.figures(counts, domains, attribute) >= self.l[attribute]

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        return GuaranteeScope(tuple(self.l))

    def for_table(self, terms: TableTerms) -> Self:
        bits = terms.bits
        ells = {bit: ell for name, ell in self.l.items() for bit in bits.get(name, (name,))}
        return self.model_copy(update={"l": ells})

    def within(self, attributes: Collection[str]) -> Self | None:
        left = {name: ell for name, ell in self.l.items() if name in attributes}
        return self.model_copy(update={"l": left}) if left else None

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        rest = self.within([name for name in self.l if name not in spared])
        return [
            *([] if rest is None else [rest]),
            *(
                DistinctLDiversity(
                    l=ell,
                    attribute=name,
                    attackers=self.attackers,
                    non_sensitive=tuple(spared[name]),
                )
                for name, ell in self.l.items()
                if name in spared
            ),
        ]

    def problems(self, domains: Domains) -> list[str]:
        allowed = ", ".join(f"'{name}'" for name in domains) or "none"
        return [
            f"{self.name}: '{name}' is not a sensitive attribute. Allowed: {allowed}."
            for name in self.l
            if name not in domains
        ]

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        values = [Statement("values-of", l=ell, attribute=name) for name, ell in self.l.items()]
        return Statement(f"sa-diversity.{unit.plural}", values=values)


class ConditionalLDiversity(Requirement):
    """An attacker who knows a person's ``known`` is left with ``l`` values of every other one.

    Only of decomposed releases. The attacker ``pair`` rules out the values that never occur with
    the known one in T^S, ``row`` those that no row of T^S with the known value supports within the
    group's sets. Absorbing: merging only adds rows that support a value. Where some values are not
    sensitive, an attacker may be left with fewer, if none of them is; merging may then add the
    first sensitive one.
    """

    name: ClassVar[str] = "conditional-l-diversity"

    l: int = Field(ge=1, description="The least number of values left.")  # noqa: E741 (the job's key)
    attacker: Reader = Field(default="row", description="'pair', or 'row', which is stronger.")
    known: str = Field(description="The attribute with a known value: the primary one.")
    non_sensitive: Mapping[str, tuple[Value, ...]] | None = Field(
        default=None,
        description="Values that may be disclosed, by attribute; from `non_sensitive_values`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _synonyms(cls, given: object) -> object:
        return with_attacker(given)

    @property
    def algebra(self) -> Algebra:  # type: ignore[override]
        return Algebra("l", absorbing=not self.non_sensitive)

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        return GuaranteeScope(all_values=not self.non_sensitive)

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        others = {name: tuple(values) for name, values in spared.items() if name != self.known}
        if self.non_sensitive is not None or not others:
            return [self]
        return [self.model_copy(update={"non_sensitive": others})]

    def naming(self, values: PublishedValues) -> Requirement:
        if not self.non_sensitive:
            return self
        shown = {
            name: tuple(value for value in spared if value in values.get(name, ()))
            for name, spared in self.non_sensitive.items()
        }
        return self.model_copy(update={"non_sensitive": shown})

    def attributes(self, counts: ClassCounts) -> Iterable[str]:
        return tuple(name for name in counts.values if name != self.known)

    def figures(self, counts: ClassCounts, domains: Domains, attribute: str) -> Floats:
        spared = (self.non_sensitive or {}).get(attribute, ())
        values_left = counts.values_left
        remaining = values_left and values_left(self.attacker, self.known, spared)
        if remaining is None:
            raise InputError(
                f"{self.name}: only a release by 'decomposition' whose primary attribute is "
                f"'{self.known}' can guarantee it. Use that method, or drop the requirement."
            )
        return np.where(np.isinf(remaining[attribute]), self.l, remaining[attribute])

    def judge(self, counts: ClassCounts, domains: Domains, attribute: str) -> Bools:
        return self.figures(counts, domains, attribute) >= self.l

    def problems(self, domains: Domains) -> list[str]:
        if self.known in domains:
            if len(domains) > 1:
                return []
            return [f"{self.name}: there is no sensitive attribute beside '{self.known}'. Drop it."]
        allowed = ", ".join(f"'{name}'" for name in domains) or "none"
        return [f"{self.name}: '{self.known}' is not a sensitive attribute. Allowed: {allowed}."]

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = f"conditional-l-diversity.{self.attacker}.{unit.plural}"
        sentence = Statement(form, known=self.known, l=self.l)
        return stating("guarantee.exempt", sentence) if self.non_sensitive else sentence
