"""The ``measure`` key of a job: which queries are asked, and what learning predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from discreet.by_name import Validated

if TYPE_CHECKING:
    from discreet.utility.queries import QueryWorkload

FigureName = Literal["loss", "divergence", "queries"]


def _short_form(schema: dict[str, Any]) -> None:
    """Let the schema allow ``measure: none``."""
    full = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"const": "none"}, full]


class MeasureSettings(Validated):
    """How releases of the job are measured; ``none`` is short for no figures."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_short_form)

    figures: tuple[FigureName, ...] = Field(
        default=("loss", "divergence", "queries"),
        description="What is measured: information loss, which is part of any, divergence, and "
        "errors of queries. With none, or 'measure: none', a publish measures nothing.",
    )
    queries: int = Field(default=1000, ge=0, description="How many random COUNT queries.")
    quasi_identifiers: int = Field(default=1, ge=0, description="Quasi-identifiers in a query.")
    sensitive: int = Field(default=1, ge=0, description="Sensitive attributes in a query.")
    selectivity: float = Field(default=0.05, gt=0, lt=1, description="Expected share of rows.")
    target: str | tuple[str, ...] | None = Field(
        default=None,
        description="Attribute that learning predicts; by default each sensitive attribute.",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, written: Any) -> Any:
        """Read ``measure: none``."""
        return {"figures": ()} if written == "none" else written

    @property
    def divergence(self) -> bool:
        """Whether divergences are measured; where nothing is chosen, a call measures all."""
        return not self.figures or "divergence" in self.figures

    @property
    def targets(self) -> tuple[str, ...]:
        """What learning predicts; nothing where the job does not say."""
        named = (self.target,) if isinstance(self.target, str) else self.target
        return named or ()

    def workload(self, queries: int | None = None) -> QueryWorkload | None:
        """The queries, or another number of them; None for none."""
        asked = self.queries if queries is None else queries
        if not asked or (queries is None and self.figures and "queries" not in self.figures):
            return None
        from discreet.utility.queries import QueryWorkload

        return QueryWorkload(
            queries=asked,
            quasi_identifiers=self.quasi_identifiers,
            sensitive=self.sensitive,
            selectivity=self.selectivity,
        )
