"""Attack a release with the attacks that apply to it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from discreet.api.opened_release import job_of_release, opened_release, source_rows_of
from discreet.attacks.base import Attack
from discreet.attacks.registry import AnyAttack
from discreet.attacks.run import AttackReport, run_attacks
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.pipeline.expected_cost import announce_cost
from discreet.pipeline.prove import read_population
from discreet.pipeline.release import Release
from discreet.regular_files import named_text, path_of


def attack(
    release: Release | str | Path,
    *,
    original: Any,
    job: Job | None = None,
    attacks: Sequence[Attack | str | Mapping[str, Any]] | None = None,
    population: str | Path | None = None,
    threshold: float = 0.5,
    seconds: float | None = None,
    quick: bool = False,
    progress: Progress = no_progress,
) -> AttackReport:
    """Attack a release with every attack that applies, or with those that are named.

    ``original`` is a job or the path of one; for a release in memory, or with ``job``, it may be
    the frame that was published. It provides the people's quasi-identifiers, and the true values
    by which beliefs are scored. ``population`` is a table of the quasi-identifiers of a larger
    population, or a job. What has not ended after ``seconds`` is left out, and the report says so.
    With ``quick``, figures are estimated from targets drawn at random, with intervals.
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold: a belief is between 0 and 1; found {threshold:g}.")
    tables, task, manifest = opened_release(release, original, job, progress)
    announce_cost(progress, task.table, None, attack_seconds=math.inf, budget=seconds or math.inf)
    everybody = None
    if population is not None:
        everybody = read_population(
            path_of(population, "The population"), job_of_release(release, original, job)
        )
    return run_attacks(
        tables,
        task,
        manifest,
        attacks=None if attacks is None else parse_attacks(attacks),
        population=everybody,
        source_rows=source_rows_of(release, manifest),
        threshold=threshold,
        seconds=seconds,
        quick=quick,
        progress=progress,
    )


def parse_attacks(attacks: Sequence[Attack | str | Mapping[str, Any]]) -> list[Attack]:
    """Attacks from their names, or from a name with its parameters."""
    try:
        return TypeAdapter(list[AnyAttack]).validate_python(list(attacks))
    except ValidationError as error:
        raise InputError(
            "attacks: " + "; ".join(detail["msg"] for detail in error.errors(include_url=False))
        ) from None


def read_attacks(path: str | Path) -> list[Attack]:
    """Attacks with their parameters from a YAML file: a list of them."""
    try:
        written = yaml.safe_load(named_text(path, "Attacks"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        raise InputError(f"{path}{line}: not valid YAML.") from None
    if not isinstance(written, list):
        raise InputError(f"{path}: expected a list of attacks, such as '- linking'.")
    return parse_attacks(written)
