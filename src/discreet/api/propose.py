"""Propose a job for a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from discreet.job.proposing.job_text import ProposedJob, propose_job
from discreet.regular_files import path_of

PresetName = Literal["public", "research", "internal", "hipaa-safe-harbor", "cms-11"]


def propose(
    data: Any,
    *,
    preset: PresetName | None = None,
    encoding: str | None = None,
    source: Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    folder: str | Path | None = None,
) -> ProposedJob:
    """Propose a job for a table: a role for each column, with reason, confidence and risk.

    ``data`` is a frame, the URL of a database (with its ``table`` or a ``query``) or a path, which
    the job names relative to ``folder`` (by default the current one). ``preset`` names the
    guarantees of a receiver: public, research (also without one), internal, hipaa-safe-harbor or
    cms-11. ``encoding`` is that of a text file, and ``source`` has other options to read a file,
    such as ``{"sheet": "People"}``. The proposal is a starting point for review: it cannot know
    what attackers know.
    """
    place = Path.cwd() if folder is None else path_of(folder, "The folder").resolve()
    options = dict(source or {}) | ({} if encoding is None else {"encoding": encoding})
    return propose_job(data, place, preset=preset, options=options, table=table, query=query)
