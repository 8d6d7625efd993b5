"""The ``measure`` key of a job: which queries are asked, and what learning predicts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from discreet.utility.queries import QueryWorkload


class MeasureSettings(BaseModel):
    """How releases of the job are measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queries: int = Field(default=1000, ge=0, description="How many random COUNT queries.")
    quasi_identifiers: int = Field(default=1, ge=0, description="Quasi-identifiers in a query.")
    sensitive: int = Field(default=1, ge=0, description="Sensitive attributes in a query.")
    selectivity: float = Field(default=0.05, gt=0, lt=1, description="Expected share of rows.")
    target: str | tuple[str, ...] | None = Field(
        default=None,
        description="Attribute that learning predicts; by default each sensitive attribute.",
    )

    @property
    def targets(self) -> tuple[str, ...]:
        """What learning predicts; nothing where the job does not say."""
        named = (self.target,) if isinstance(self.target, str) else self.target
        return named or ()

    def workload(self, queries: int | None = None) -> QueryWorkload | None:
        """The queries, or another number of them; None for none."""
        asked = self.queries if queries is None else queries
        if not asked:
            return None
        return QueryWorkload(
            queries=asked,
            quasi_identifiers=self.quasi_identifiers,
            sensitive=self.sensitive,
            selectivity=self.selectivity,
        )
