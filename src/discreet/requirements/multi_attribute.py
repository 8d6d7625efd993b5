"""Multi-attribute ℓ-diversity: diversity that survives knowledge of the other attributes.

Definition 4.5 of the ℓ-diversity paper: for every sensitive attribute, the inner model holds when
all other sensitive attributes are treated as quasi-identifiers too. Classes are cut by those into
refined classes, and each of these must pass; the figure of a class is its worst refined class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from discreet.by_name import ByName
from discreet.requirements.base import (
    Algebra,
    AttributeRequirement,
    ClassNeeds,
    Domain,
    Domains,
    GuaranteeScope,
    PublishedValues,
    Requirement,
    Spared,
)
from discreet.requirements.basis import Counting
from discreet.requirements.diversity import (
    DistinctLDiversity,
    Diversity,
    EntropyLDiversity,
    MDiversity,
    NpdRecursiveClDiversity,
    PDiversity,
    PdRecursiveClDiversity,
    RecursiveClDiversity,
)
from discreet.requirements.judge import stated
from discreet.statements import stating
from discreet.table.counts import ClassCounts, RefinedCounts, ValueCounts
from discreet.table.roles import Unit
from discreet.typing import Bools, Floats, Ints

DIVERSITIES: tuple[type[Diversity], ...] = (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveClDiversity,
    PdRecursiveClDiversity,
    NpdRecursiveClDiversity,
    PDiversity,
    MDiversity,
)

_BY_NAME = {kind.name: kind for kind in DIVERSITIES}
AnyDiversity = Annotated[Diversity, ByName(_BY_NAME, "diversity requirement")]


class MultiAttributeLDiversity(AttributeRequirement):
    """The inner model holds where all other sensitive attributes count as quasi-identifiers.

    Either ``l``, for distinct ℓ-diversity, or another ``inner`` model. Closed under merging if
    the inner model is, as all are: the refined classes of a merged class are refined classes of
    its parts, or merged from two of them. Never absorbing, not even with distinct ℓ-diversity:
    a class that joins may bring a combination of the other attributes with one value alone.
    """

    name: ClassVar[str] = "multi-attribute-l-diversity"

    l: int | None = Field(  # noqa: E741 (the job's key)
        default=None, ge=1, description="The least number of values, for distinct l-diversity."
    )
    inner: AnyDiversity | None = Field(
        default=None, description="Another diversity requirement to hold, instead of l."
    )

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if (self.l is None) == (self.inner is None):
            raise ValueError("give either 'l' (for distinct l-diversity) or 'inner', not both")
        if self.inner is not None and self.inner.attribute is not None:
            raise ValueError("give 'attribute' beside 'inner', not inside it")
        return self

    @property
    def model(self) -> Diversity:
        """The inner model."""
        if self.inner is not None:
            return self.inner
        return DistinctLDiversity(l=self.l or 1)

    @property
    def algebra(self) -> Algebra:  # type: ignore[override]
        return replace(self.model.algebra, absorbing=False, refined=True)

    @property
    def counting(self) -> Counting:  # type: ignore[override]
        return self.model.counting

    @property
    def needs(self) -> ClassNeeds:  # type: ignore[override]
        return ClassNeeds(values=self.model.needs.values)

    @property
    def coverage(self) -> GuaranteeScope:  # type: ignore[override]
        return replace(self.model.coverage, names=self.named)

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        return self.model.measure(values, size, domain)

    def accepts(self, figures: Floats) -> Bools:
        return self.model.accepts(figures)

    def seen(
        self, counts: ClassCounts, domains: Domains, attribute: str
    ) -> tuple[AttributeRequirement, ClassCounts, Ints]:
        refined = refined_counts(counts, attribute)
        parts = ClassCounts(refined.size, {attribute: refined.counts})
        return self.model, parts, refined.class_of_refined.astype(np.int64)

    def further(self, counts: ClassCounts, domains: Domains, attribute: str) -> dict[str, float]:
        _, parts, _ = self.seen(counts, domains, attribute)
        return self.model.further(parts, domains, attribute)

    def problems(self, domains: Domains) -> list[str]:
        inner = self.model.model_copy(update={"attribute": self.attribute})
        return [f"{self.name}: {problem}" for problem in inner.problems(domains)]

    def given_others(self) -> AttributeRequirement:
        return self.model

    def sparing(self, spared: Spared, sensitive: Sequence[str]) -> list[Requirement]:
        named = self.named or tuple(sensitive)
        split = self.model.model_copy(update={"attribute": named}).sparing(spared, sensitive)
        if not set(named) & set(spared):
            return [self]
        return [self._with(inner) for inner in split if isinstance(inner, Diversity)]

    def naming(self, values: PublishedValues) -> Requirement:
        named = self.model.model_copy(update={"attribute": self.attribute}).naming(values)
        return self if self.inner is None else self._with(named)

    def _with(self, inner: Requirement) -> MultiAttributeLDiversity:
        """The same of the attributes that another inner model names."""
        assert isinstance(inner, Diversity)
        unnamed = inner.model_copy(update={"attribute": None})
        update = {"attribute": inner.attribute, "l": None, "inner": unnamed}
        return self.model_copy(update=update)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        inner = self.model.model_copy(update={"attribute": self.attribute})
        return stating(f"multi-attribute-l-diversity.{unit.plural}", stated(inner, unit))


def refined_counts(counts: ClassCounts, attribute: str) -> RefinedCounts:
    """Return the counts of an attribute where all other sensitive ones are known."""
    if counts.refined is None:
        raise ValueError(
            "A requirement with the other attributes known needs counts with refined classes:"
            " count_classes(…, refined=True)"
        )
    return counts.refined[attribute]
