"""Propose a job for a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from discreet.job.proposing.job_text import ProposedJob, propose_job

PresetName = Literal["public", "research", "internal", "hipaa-safe-harbor", "cms-11"]


def propose(
    data: Any,
    *,
    preset: PresetName | None = None,
    encoding: str | None = None,
    folder: str | Path | None = None,
) -> ProposedJob:
    """Propose a job for a table: a role for each column, with reason, confidence and risk.

    ``data`` is a frame or a path, which the job names relative to ``folder`` (by default the
    current one). ``preset`` names the guarantees of a receiver: public, research (also without
    one), internal, hipaa-safe-harbor or cms-11. ``encoding`` is that of a text file. The proposal
    is a starting point for review: it cannot know what attackers know.
    """
    place = Path.cwd() if folder is None else Path(folder).resolve()
    return propose_job(data, place, preset=preset, encoding=encoding)
