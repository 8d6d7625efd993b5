"""Make a pack for a framework from the facts of a release."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from discreet.addons.evidence.document import Evidence, EvidenceSection
from discreet.addons.evidence.facts import ReleaseFacts
from discreet.addons.evidence.frameworks import ema, gdpr, hipaa, nist
from discreet.errors import InputError


class Framework(NamedTuple):
    """The structure that a reviewer asks for."""

    title: str
    about: tuple[str, ...]
    sections: Callable[[ReleaseFacts], tuple[EvidenceSection, ...]]


FRAMEWORKS = {
    "ema": Framework(ema.TITLE, ema.ABOUT, ema.sections),
    "hipaa": Framework(hipaa.TITLE, hipaa.ABOUT, hipaa.sections),
    "nist": Framework(nist.TITLE, nist.ABOUT, nist.sections),
    "gdpr": Framework(gdpr.TITLE, gdpr.ABOUT, gdpr.sections),
}


def require_framework(name: str) -> Framework:
    """Return a framework; raise for an unknown one."""
    if name not in FRAMEWORKS:
        raise InputError(f"'{name}' is no framework. Use one of: {', '.join(FRAMEWORKS)}.")
    return FRAMEWORKS[name]


def make_evidence(facts: ReleaseFacts, name: str) -> Evidence:
    """Fill the structure of a framework with the facts of a release."""
    framework = require_framework(name)
    manifest = facts.manifest
    figures = facts.figures
    if name == "hipaa":
        figures["safe_harbor"] = [finding.to_dict() for finding in facts.identifiers]
    return Evidence(
        framework=name,
        title=framework.title,
        about=framework.about,
        private=facts.is_private,
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
        release={
            "discreet": manifest.discreet,
            "method": manifest.method.name,
            "kind": manifest.kind,
            "manifest_sha256": facts.manifest_sha256,
            "tables": {one.file: one.sha256 for one in manifest.tables.values()},
        },
        sections=framework.sections(facts),
        thresholds=facts.thresholds,
        figures=figures,
        verdict=facts.verdict,
        accepted_risk=facts.accepted_risk,
    )
