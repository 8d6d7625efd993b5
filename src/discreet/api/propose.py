"""Propose a job for a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from discreet.api.repair import Repair, Repairs, repair
from discreet.api.trials import Trial
from discreet.errors import DiscreetError
from discreet.job.edits import edited_text
from discreet.job.proposing.job_text import ProposedJob, propose_job
from discreet.methods.base import Progress, no_progress
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


def tried_proposal(
    proposed: ProposedJob, *, budget: float, progress: Progress = no_progress
) -> tuple[ProposedJob, list[str]]:
    """Publish a proposed job in memory, and repair it if its release is refused or says nothing.

    Return the job, whose comments say what was changed, and the result in lines. Changes that are
    right only if the steward decides so are not made.
    """
    try:
        result = repair(None, proposed.job, budget=budget, unusable_only=True, progress=progress)
    except DiscreetError as error:  # the table cannot be published, or the time ended
        return proposed, [f"The job was not tried: {error}"]
    chosen = next((one for one in result.repairs if not one.needs_decision), None)
    if chosen is None:
        lines = _tried_lines(result.before)
        if not result.before.usable:
            lines.append("No repair was found in the time of the trial: run discreet repair.")
        return replace(proposed, text=_with_comments(proposed.text, lines)), lines
    lines = _repaired_lines(result, chosen)
    text = _with_comments(edited_text(proposed.text, chosen.edits), lines)
    roles = {
        name: replace(role, role=chosen.job.attributes[name].role)
        for name, role in proposed.roles.items()
        if name in chosen.job.attributes
    }
    return replace(proposed, text=text, roles={**proposed.roles, **roles}), lines


def _tried_lines(
    trial: Trial, what: str = "Tried on the whole table, with the roles as proposed"
) -> list[str]:
    """The verdict of a trial and its reasons, in lines."""
    verdict = f"'{trial.word}'" if trial.word else "nothing can be published"
    loss = "" if trial.loss is None else f", information loss {trial.loss:.1%}"
    first = f"{what}: {verdict}{loss}."
    return [first, *(str(reason).splitlines()[0] for reason in trial.reasons)]


def _repaired_lines(result: Repairs, chosen: Repair) -> list[str]:
    """The changes of a repair, what they cost, and what it costs to undo them."""
    before, *reasons = _tried_lines(result.before, "As first proposed")
    return [
        _tried_lines(chosen.trial)[0],
        " ".join([before, *reasons]),
        *dict.fromkeys(f"Changed: {change.action} {change.cost}" for change in chosen.changes),
        "A comment above each changed line has the line before; undone, the verdict is as first.",
    ]


def _with_comments(text: str, lines: list[str]) -> str:
    """Put lines as comments in front of a job's text."""
    return "".join(f"# {line}\n" for line in lines) + text
