"""Make an evidence pack about a release, for a regulator or a review board."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from discreet.addons.evidence.document import (
    Evidence,
    EvidenceSection,
    PackPart,
    Paragraph,
    ToWrite,
)
from discreet.addons.evidence.facts import ReleaseFacts
from discreet.addons.evidence.parts import PARTS, criterion_parts
from discreet.api.audit import audit_files
from discreet.api.opened_release import job_of_original
from discreet.attacks.base import Criterion
from discreet.attacks.run import run_attacks
from discreet.errors import AuditError, InputError
from discreet.io.signatures import SIGNATURE
from discreet.methods.base import Progress, no_progress
from discreet.pipeline.prepare import prepare
from discreet.pipeline.prove import read_population
from discreet.regular_files import MOST_PRIVATE_BYTES, path_of, read_text
from discreet.releases.audit.against_original import as_published
from discreet.releases.audit.audit import Audit, read_tables
from discreet.releases.audit.persons import source_rows_beside
from discreet.releases.manifest import FILE_NAME, Manifest, sha256_of

if TYPE_CHECKING:
    from discreet.job.model import Job


class Framework(NamedTuple):
    """The structure that a reviewer asks for."""

    title: str
    about: str
    sections: list[tuple[str, str, list[Any]]]  # title, name in the contents, parts


@cache
def frameworks() -> dict[str, Framework]:
    """Return the frameworks by name, which are data."""
    import yaml

    text = files("discreet.addons.evidence").joinpath("frameworks.yaml").read_text("utf-8")
    return {name: Framework(**parts) for name, parts in yaml.safe_load(text).items()}


def _filled(part: Any, facts: ReleaseFacts) -> Iterable[PackPart]:
    """Return a part of a section, filled with the facts of a release."""
    if isinstance(part, str):
        return PARTS[part](facts)
    ((kind, text),) = part.items()
    if kind == "criterion":
        return criterion_parts(facts, Criterion(text))
    return [ToWrite(text) if kind == "write" else Paragraph(text)]


def require_framework(name: str) -> Framework:
    """Return a framework; raise for an unknown one."""
    if name not in frameworks():
        raise InputError(f"'{name}' is no framework. Use one of: {', '.join(frameworks())}.")
    return frameworks()[name]


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
        about=(framework.about,),
        private=facts.is_private,
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
        release={
            "discreet": manifest.discreet,
            "method": manifest.method.name,
            "kind": manifest.kind,
            "manifest_sha256": facts.manifest_sha256,
            "tables": {table.file: table.sha256 for table in manifest.tables.values()},
        },
        sections=tuple(
            EvidenceSection(title, short, tuple(chain(*(_filled(part, facts) for part in parts))))
            for title, short, parts in framework.sections
        ),
        thresholds=facts.thresholds,
        figures=figures,
        verdict=facts.verdict,
        accepted_risk=facts.accepted_risk,
    )


FrameworkName = Literal["ema", "hipaa", "nist", "gdpr"]


def evidence(
    release: str | Path,
    framework: FrameworkName,
    *,
    original: Job | str | Path | None = None,
    population: str | Path | None = None,
    seconds: float | None = None,
    progress: Progress = no_progress,
) -> Evidence:
    """Make an evidence pack about a release folder in the structure of a framework.

    The release is audited first; a pack is refused for one that fails. Without ``original`` the
    pack holds what the files say and nothing else. With it, a job or the path of one, the release
    is compared with the original and attacked, for at most ``seconds``, the private file beside
    the release is read, and the pack is private. ``population`` is a table of the
    quasi-identifiers of a larger population, or a job, for risks in the population.
    """
    require_framework(framework)
    if population is not None and original is None:
        raise InputError("A population needs the original too. Name the job (--original).")
    folder = path_of(release, "The release")
    manifest = Manifest.load(folder)
    job = None if original is None else job_of_original(original)
    task = None if job is None else prepare(job, progress=progress)
    progress("audit", 0.0)
    audit = audit_files(folder, job, task)
    _require_passed(folder, audit)
    tables = read_tables(folder, manifest)
    facts = ReleaseFacts.of(
        manifest,
        sha256_of(folder / FILE_NAME),
        (folder / SIGNATURE).exists(),
        audit,
        tables,
    )
    if job is not None and task is not None:
        attacks = run_attacks(
            tables,
            as_published(task, manifest),
            manifest,
            population=None
            if population is None
            else read_population(path_of(population, "The population"), job),
            source_rows=source_rows_beside(folder) if manifest.keeps_rows else None,
            seconds=seconds,
            progress=progress,
        )
        private = _private_file(folder, manifest)
        facts = replace(facts, job=job, attacks=attacks, private=private)
    accepted = _private_file(folder, manifest).get("accepted_risk")
    return make_evidence(replace(facts, accepted_risk=accepted), framework)


def _require_passed(folder: Path, audit: Audit) -> None:
    if audit.ok:
        return
    broken = [
        f"{guarantee.requirement} does not hold"
        for guarantee in audit.promises
        if not guarantee.holds
    ]
    listed = "".join(f"\n  - {line}" for line in [*audit.problems, *broken])
    raise AuditError(f"{folder}: the release failed its audit; no evidence was written.{listed}")


def _private_file(folder: Path, manifest: Manifest) -> Mapping[str, Any]:
    """The private file beside a release; nothing where it is missing or of another release."""
    place = folder.resolve().with_name(f"{folder.resolve().name}.private.json")
    try:
        private = json.loads(read_text(place, most=MOST_PRIVATE_BYTES))
        utility = private.get("utility", {})
    except (OSError, ValueError, AttributeError):
        return {}
    stated = manifest.utility.model_dump(exclude_none=True)
    shared = [name for name in ("discernibility", "classes", "class_size") if name in utility]
    same = all(utility[name] == stated[name] for name in shared if name in stated)
    return private if same else {}
