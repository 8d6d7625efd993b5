"""The ``attackers`` key of a job: whom the verdict is about, and what declared attackers know.

Three forms: a preset (``attackers: public``), a list of standard attackers (``attackers:
[acquaintance, insider]``), or a mapping that declares attackers by the quasi-identifiers that they
know (``attackers: {press: [age, zip]}``). Requirements hold for declared attackers instead of for
one who knows every quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from discreet.attacks.attackers import AttackerPreset, StandardAttacker, with_included
from discreet.by_name import nearest
from discreet.job.parts import Part
from discreet.requirements.attackers.attacker import Attacker
from discreet.statements import Statement

ANY_COLUMNS = 2  # unchanged columns that a colleague knows, unless all


@dataclass(frozen=True)
class Choice:
    """The attackers that a verdict is about."""

    names: tuple[StandardAttacker, ...]
    unchanged: int | None  # unchanged columns that a colleague knows; None for all of them
    declared: tuple[str, ...] = ()  # attackers of the job who know some quasi-identifiers

    @property
    def sentence(self) -> Statement:
        """Whom the verdict is about."""
        if self.declared:
            return Statement("attackers.declared", names=self.declared)
        known = [
            Statement("attackers.one", name=one.noun, knows=self.knows(one)) for one in self.names
        ]
        return Statement("attackers.about", attackers=known)

    def knows(self, name: StandardAttacker) -> Statement:
        """What one of the attackers knows."""
        return name.knows(self.unchanged)


def _schema(schema: dict[str, Any]) -> None:
    """Let the schema allow the three forms."""
    declared = schema["properties"]["declared"]
    schema.clear()
    schema["anyOf"] = [
        {"type": "string", "enum": list(AttackerPreset)},
        {"type": "array", "items": {"enum": list(StandardAttacker)}, "minItems": 1},
        {"type": "object", "additionalProperties": declared["additionalProperties"]},
    ]


class JobAttackers(Part):
    """The attackers of a job, in one of three forms."""

    model_config = Part.model_config | {"json_schema_extra": _schema}

    preset: AttackerPreset | None = None
    names: tuple[StandardAttacker, ...] = ()
    declared: dict[str, Attacker] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _forms(cls, written: Any) -> Any:
        """Read the form that was written."""
        if isinstance(written, str):
            return {"preset": _named(written, list(AttackerPreset))}
        if isinstance(written, list | tuple):
            if not written:
                raise PydanticCustomError(
                    "attacker_form", "an empty list names no attacker. Name at least one of them."
                )
            return {"names": [_named(name, list(StandardAttacker)) for name in written]}
        if isinstance(written, Mapping):
            return {"declared": dict(written)}
        return written

    @model_serializer
    def _as_written(self) -> Any:
        if self.names:
            return [str(name) for name in self.names]
        if self.preset is not None:
            return str(self.preset)
        return {name: one.model_dump(exclude_none=True) for name, one in self.declared.items()}

    def chosen(self, *, ledger: bool) -> Choice:
        """Return whom the verdict is about; the default is the preset ``research``."""
        if self.declared:
            return Choice((), ANY_COLUMNS, tuple(self.declared))
        if self.names:
            return Choice(with_included(self.names), ANY_COLUMNS)
        preset = self.preset or AttackerPreset.RESEARCH
        unchanged = None if preset is AttackerPreset.PUBLIC else ANY_COLUMNS
        return Choice(preset.attackers(ledger=ledger), unchanged)


def _named(written: Any, allowed: list[Any]) -> Any:
    if written in allowed:
        return written
    hint = nearest(str(written), [str(name) for name in allowed])
    raise PydanticCustomError(
        "attacker_form",
        "unknown attacker or preset. {hint}",
        {"hint": hint},
    )
