"""Where a release comes from and how to check it: the last sections of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from discreet.releases.manifest import Manifest
from discreet.report.pieces import (
    Section,
    code,
    exact,
    facts_table,
    joined,
    label,
    labels,
    paragraph,
    table,
    tag,
)
from discreet.table.roles import Role

if TYPE_CHECKING:
    from discreet.job.model import Job

HELD_BACK = "(not shown)"
VALUES = ("sensitive_values", "non_sensitive_values", "hierarchy")


def origin(manifest: Manifest | None, job: Job | None) -> Iterator[Section]:
    """The job that made a release and how to audit it, as far as they are given."""
    if job is not None:
        yield Section(label("job"), code(publishable_job(job)))
    if manifest is not None:
        facts = manifest.method.model_dump(mode="json", exclude_none=True)
        yield Section(label("method"), facts_table(facts.items()))
        yield Section(label("how-to-audit-the-release"), _checking(manifest))


def _checking(manifest: Manifest) -> Markup:
    hashes = [
        (exact(entry.file), tag("code", exact(entry.sha256)))
        for entry in manifest.tables.values()
        if entry.sha256
    ]
    parts = [
        paragraph(label("audit-derives")),
        code("discreet audit RELEASE\ndiscreet audit RELEASE --original JOB"),
    ]
    if hashes:
        parts += [paragraph(label("covered-files")), table(labels("file", "sha256"), hashes)]
    return joined(parts)


def publishable_job(job: Job) -> str:
    """Return the job as YAML, as a report may show it.

    Left out: where the table comes from and goes to, folders of files, and every value of a
    sensitive attribute that a job may name (which are sensitive, how they generalize), since it may
    occur in rows that were suppressed. Requirements may name such values too; the report has the
    guarantees instead.
    """
    import yaml  # which an audit does without

    data = job.model_dump(
        mode="json",
        exclude_none=True,
        exclude_defaults=True,
        exclude={"source", "output", "verify", "ledger", "measure", "requirements", "method"},
    )
    data["method"] = {job.method.name: job.method.parameters()}
    for name, attribute in data["attributes"].items():
        if job.attributes[name].role in (Role.SENSITIVE, Role.IDENTIFIER, Role.DROP):
            attribute.update({key: HELD_BACK for key in VALUES if key in attribute})
    return str(
        yaml.safe_dump(
            _without_folders(data), allow_unicode=True, sort_keys=False, default_flow_style=None
        )
    )


def _without_folders(data: Any) -> Any:
    if isinstance(data, dict):
        return {
            key: Path(value).name
            if key in ("path", "correlation", "hierarchy") and isinstance(value, str)
            else _without_folders(value)
            for key, value in data.items()
        }
    return [_without_folders(value) for value in data] if isinstance(data, list) else data
