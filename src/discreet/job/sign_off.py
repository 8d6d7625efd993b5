"""The ``sign_off`` key of a job: from which figures on a release needs a look, or is refused."""

from __future__ import annotations

from pydantic import ConfigDict, Field, model_validator

from discreet.by_name import Validated


class RiskLimits(Validated):
    """Two thresholds of one figure of risk."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    look: float = Field(ge=0, le=1, description="Above it, the report says 'Look at these'.")
    refuse: float = Field(ge=0, le=1, description="Above it, the report says 'Do not publish'.")

    @model_validator(mode="after")
    def _in_order(self) -> RiskLimits:
        if self.look > self.refuse:
            raise ValueError("'look' is above 'refuse'; it must be at most as large")
        return self


class SignOff(Validated):
    """Thresholds of the figures that decide the verdict about a release's risk."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    believed: RiskLimits = Field(
        default=RiskLimits(look=0.05, refuse=0.25),
        description="Share of targets whose value a chosen attacker believes above 50 %, and "
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
