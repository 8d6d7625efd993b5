"""What a job can be made of: roles, types, requirements, methods, attacks, standard hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from discreet.addons.studio.opened_table import PRESET_TEXTS
from discreet.attacks.registry import ATTACKS
from discreet.by_name import Named
from discreet.hierarchies.specs import StandardName
from discreet.job.model import Job
from discreet.job.parts import ROLES
from discreet.methods.registry import METHODS
from discreet.requirements.base import AttributeRequirement
from discreet.requirements.registry import REQUIREMENTS
from discreet.table.roles import ValueType

_ROLE_TEXTS = {
    "identifier": "Names a person; never published.",
    "quasi-identifier": "An attacker may know it; made coarser.",
    "sensitive": "What must not become known of a person; protected.",
    "quasi-sensitive": "Its terms link to sensitive labels by a knowledge table.",
    "insensitive": "Published unchanged.",
    "weight": "How many people of the population a row represents.",
    "household": "What rows of one household share; never published.",
    "drop": "Not published.",
}
_STANDARD_TEXTS = {
    "icd-9": "Diagnoses (ICD-9-CM)",
    "icd-10": "Diagnoses (ICD-10)",
    "atc": "Drugs (ATC)",
    "iso-3166": "Countries (ISO 3166)",
    "nuts": "Regions of Europe (NUTS)",
    "postcode": "Post codes",
    "isco-08": "Occupations (ISCO-08)",
    "nace": "Industries (NACE)",
    "age": "Ages",
    "date": "Dates",
    "number": "Numbers in round ranges",
}


def job_choices() -> dict[str, Any]:
    """Return all that a job can name, with the JSON Schema of its parameters, as plain data."""
    requirements = _kinds(REQUIREMENTS)
    for one in requirements:
        kind = REQUIREMENTS[one["name"]]
        one["role"] = str(kind.role) if issubclass(kind, AttributeRequirement) else None
    return {
        "roles": [{"name": str(role), "text": _ROLE_TEXTS[str(role)]} for role in ROLES],
        "types": [str(kind) for kind in ValueType],
        "requirements": requirements,
        "methods": _kinds(METHODS),
        "attacks": _kinds(ATTACKS),
        "standards": [
            {"name": name, "text": _STANDARD_TEXTS[name]} for name in get_args(StandardName)
        ],
        "presets": [{"name": name, "text": text} for name, text in PRESET_TEXTS.items()],
        "schema": Job.model_json_schema(),
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
