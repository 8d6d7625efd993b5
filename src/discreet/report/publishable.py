"""The job as a report may show it.

Left out: where the table comes from and goes to, folders of files, and every value of a sensitive
attribute that a job may name (which are sensitive, how they generalize), since it may occur in rows
that were suppressed. Requirements may name such values too; the report has the guarantees instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from discreet.job.model import Job
from discreet.table.roles import Role

HELD_BACK = "(not shown)"
VALUES = ("sensitive_values", "non_sensitive_values", "hierarchy")


def publishable_job(job: Job) -> str:
    """The job as YAML, without what a release does not publish."""
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
