"""What a page lets a job name: requirements, methods, standard hierarchies, presets, attackers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from discreet.attacks.attackers import AttackerPreset, StandardAttacker
from discreet.by_name import Named
from discreet.hierarchies.specs import StandardName
from discreet.job.proposing.presets import PRESETS
from discreet.methods.registry import METHODS
from discreet.requirements.base import AttributeRequirement
from discreet.requirements.registry import REQUIREMENTS


def job_choices() -> dict[str, Any]:
    """Return what a page lets a job name, with the JSON Schema of parameters, as plain data."""
    requirements = _kinds(REQUIREMENTS)
    for one in requirements:
        kind = REQUIREMENTS[one["name"]]
        one["role"] = str(kind.role) if issubclass(kind, AttributeRequirement) else None
    return {
        "requirements": requirements,
        "methods": _kinds(METHODS),
        "standards": list(get_args(StandardName)),
        "presets": [
            {"name": name, **({} if preset is None else preset._asdict())}
            for name, preset in PRESETS.items()
        ],
        "attackers": list(StandardAttacker),
        "attackers_of": {preset: preset.attackers(ledger=False) for preset in AttackerPreset},
    }


def _kinds(registry: Mapping[str, type[Named]]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "text": (registry[name].__doc__ or "").strip().partition("\n")[0],
            "parameters": registry[name].model_json_schema(),
        }
        for name in registry
    ]
