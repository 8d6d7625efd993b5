"""Propose a job for a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.job.proposing.job_text import ProposedJob, propose_job


def propose(data: Any, *, folder: str | Path | None = None) -> ProposedJob:
    """Propose a job for a table: a role for each column, with reason, confidence and risk.

    ``data`` is a frame or a path, which the job names relative to ``folder`` (by default the
    current one). The proposal is a starting point for review: it repeats no value of a column and
    cannot know what attackers know.
    """
    return propose_job(data, Path.cwd() if folder is None else Path(folder).resolve())
