"""Attack a table that any tool made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.addons.tables.joint_tables import JointTables, join_tables
from discreet.addons.tables.neighbour_attacks import link_records, neighbour_attacks
from discreet.addons.tables.other_table import OtherTable, TableShape, holdout_of, open_table
from discreet.addons.tables.predicates import single_out
from discreet.addons.tables.success import Success
from discreet.addons.tables.table_attack import TableAttack
from discreet.api.attack import parse_attacks
from discreet.attacks.base import Attack
from discreet.attacks.registry import all_attacks
from discreet.attacks.run import AttackReport, run_attacks
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.statements import Statement
from discreet.table.classes import group_codes
from discreet.table.roles import Role

# Their beliefs follow from how the method chooses groups and cells, which no table says.
KNOW_THE_METHOD = ("minimality", "downcoding")


def attack_table(
    table: Any,
    *,
    original: Any,
    job: Job | Mapping[str, Any] | str | Path | None = None,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    control: Any = None,
    suppressed: Sequence[str] = (),
    attacks: Sequence[Attack | str | Mapping[str, Any]] | None = None,
    threshold: float = 0.5,
    seconds: float | None = None,
    seed: int = 0,
    source: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> TableAttack:
    """Attack a table of any tool, a file or a frame, beside the original it was made from.

    ``original`` is a job, or a file or frame with the roles of ``job``, of ``quasi`` and
    ``sensitive``, or those that ``propose`` gives. Where every row of the table covers a row of
    the original of its own (generalization and suppression), the exact attacks run. Where cells
    are values (noise, swapping, synthetic rows), attackers guess: singling out, linkability,
    inference and, with ``control``, membership; each with the success of guesses without the
    table and an interval of 95 %. ``control`` has rows of the same columns from which the table
    was not made. ``suppressed`` are cells that mean "suppressed"; by default ``*``.
    """
    opened = open_table(
        table, original, job=job, quasi=quasi, sensitive=sensitive, suppressed=suppressed,
        source=source, progress=progress,
    )  # fmt: skip
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold: a belief is between 0 and 1; found {threshold:g}.")
    holdout = None if control is None else holdout_of(control, opened, source)
    shape = opened.shape
    joint = join_tables(
        opened.published, opened.original, holdout, opened.covered, opened.task.hierarchies
    )
    copies, unique = _copies(joint)
    remarks = list(opened.remarks)
    exact = None
    roles = {role: [c.name for c in opened.original if c.role is role] for role in Role}
    attackable = roles[Role.QUASI_IDENTIFIER] and roles[Role.SENSITIVE]
    if opened.is_true and attackable:
        exact = _exact(opened, attacks, threshold, seconds, progress)
    elif opened.is_true:
        remarks.append(Statement("tables.no-roles"))
    attackers: list[Success] = []
    if shape is not TableShape.GENERALIZED:
        attackers = _guessing(opened, joint, roles, np.random.default_rng(seed), progress)
        if control is None:
            remarks.append(Statement("tables.no-control"))
    return TableAttack(
        shape.value, opened.published.rows, opened.original.rows, copies, unique,
        tuple(attackers), exact, tuple(remarks),
    )  # fmt: skip


def _exact(
    opened: OtherTable,
    attacks: Sequence[Attack | str | Mapping[str, Any]] | None,
    threshold: float,
    seconds: float | None,
    progress: Progress,
) -> AttackReport:
    chosen = all_attacks() if attacks is None else parse_attacks(attacks)
    return run_attacks(
        opened.tables,
        opened.task,
        opened.manifest,
        attacks=[attack for attack in chosen if attack.name not in KNOW_THE_METHOD],
        threshold=threshold,
        seconds=seconds,
        progress=progress,
    )


def _guessing(
    opened: OtherTable,
    joint: JointTables,
    roles: Mapping[Role, Sequence[str]],
    rng: np.random.Generator,
    progress: Progress,
) -> list[Success]:
    """Run the attackers who guess."""
    quasi, names = list(roles[Role.QUASI_IDENTIFIER]), joint.names
    secrets = list(roles[Role.SENSITIVE]) or names
    progress("singling out", 0.0)
    successes = list(single_out(joint, rng))
    # One half of the columns is what the attacker links to the other: by roles, or every second.
    others = [name for name in names if name not in quasi]
    halves = (quasi, others) if quasi and others else (names[::2], names[1::2])
    progress("nearest rows", 0.3)
    successes += neighbour_attacks(joint, quasi, secrets, halves, rng)
    if opened.is_aligned:
        progress("record linkage", 0.9)
        successes += link_records(joint, quasi or names, rng)
    return successes


def _copies(joint: JointTables) -> tuple[int, int]:
    """Return the rows that are rows of the original, and those that no other row equals."""
    both = [np.concatenate([column.published, column.original]) for column in joint.columns]
    rows = joint.rows + joint.original_rows
    alike = group_codes(both, [column.cardinality for column in joint.columns], rows)
    published = np.bincount(alike.class_of_row[: joint.rows], minlength=alike.count)
    original = np.bincount(alike.class_of_row[joint.rows :], minlength=alike.count)
    copied = np.minimum(published, original)
    return int(copied.sum()), int(((published == 1) & (original == 1)).sum())
