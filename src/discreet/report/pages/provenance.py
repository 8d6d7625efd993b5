"""Where a release comes from and how to check it: the last sections of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from discreet.releases.manifest import Manifest
from discreet.report.pieces import (
    Html,
    Section,
    code,
    exact,
    inline,
    joined,
    paragraph,
    table,
    with_numbers,
)

if TYPE_CHECKING:
    from discreet.job.model import Job


def origin(manifest: Manifest | None, job: Job | None) -> Iterator[Section]:
    """The job that made a release and how to audit it, as far as they are given."""
    if job is not None:
        from discreet.report.publishable import publishable_job

        yield Section("Job", code(publishable_job(job)))
    if manifest is not None:
        yield Section("Method", _method(manifest))
    if manifest is not None:
        yield Section("How to audit the release", _checking(manifest))


def _method(manifest: Manifest) -> Html:
    facts = manifest.method.model_dump(mode="json", exclude_none=True)
    shown = [
        (exact(name.replace("_", " ")), with_numbers(inline(value)))
        for name, value in facts.items()
    ]
    return table(("", ""), shown)


def _checking(manifest: Manifest) -> Html:
    hashes = [
        (exact(entry.file), Html(f"<code>{entry.sha256}</code>"))
        for entry in manifest.tables.values()
        if entry.sha256
    ]
    parts: list[str] = [
        paragraph(
            "Every guarantee can be derived again from the published files alone. With "
            "the original "
            "an audit also checks that nothing was lost or invented."
        ),
        code("discreet audit RELEASE\ndiscreet audit RELEASE --original JOB"),
    ]
    if hashes:
        parts += [paragraph("The report covers these files:"),
                  table(("file", "sha256"), hashes)]  # fmt: skip
    return joined(parts)
