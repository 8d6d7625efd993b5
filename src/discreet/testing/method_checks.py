"""The conformance of a method, checked by publishing small random tables."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.api.audit import audit
from discreet.api.publish import publish
from discreet.api.series import audit_series
from discreet.errors import InfeasibleError
from discreet.ledger.ledger import Ledger
from discreet.methods.base import Method
from discreet.pipeline.prepare import prepare
from discreet.pipeline.release import Release
from discreet.requirements.base import Requirement
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.roles import Role
from discreet.testing.sample_tables import ATTRIBUTES, check_named, expect, sample_job, sample_table

Frame = pl.DataFrame
USUAL = (KAnonymity(k=2),)
IMPOSSIBLE = (KAnonymity(k=1000),)
LEDGER = "people.ledger"  # beside the folders of a series


SYNTHETIC = "A conformance check: the table is synthetic, and the release is removed."


def check_method(
    method: Method,
    *,
    requirements: Sequence[Requirement] = USUAL,
    impossible: Method | Sequence[Requirement] = IMPOSSIBLE,
    attributes: Mapping[str, Mapping[str, Any]] = ATTRIBUTES,
    make_table: Callable[[int], Frame] = sample_table,
    tables: int = 3,
) -> None:
    """Check a method by publishing small random tables.

    The attributes are written as in a job file; ``make_table`` makes a table from a seed. What is
    ``impossible`` for all of them is asked by requirements, or by parameters of the method.
    """
    check_named(method)
    for seed in range(tables):
        frame = make_table(seed)
        with tempfile.TemporaryDirectory() as name:
            first, again = (
                published_sample(method, requirements, attributes, frame, seed, place)
                for place in (_new(name, "first"), _new(name, "again"))
            )
            expect(_facts(first) == _facts(again), f"{method.name}: one seed, two manifests.")
            expect(_cells(first) == _cells(again), f"{method.name}: one seed, two releases.")
            stated = {promise.requirement for promise in first.manifest.promises}
            asked = {requirement.name for requirement in requirements}
            expect(asked <= stated, f"{method.name}: {asked - stated} are not in the manifest.")
    _check_infeasible(method, requirements, impossible, attributes, make_table(0))
    if method.needs_history:
        _check_series(method, requirements, attributes, make_table)
    else:
        _check_unchanged(method, requirements, attributes, make_table(0))


def _new(folder: str, name: str) -> Path:
    """Return a place with a ledger of its own."""
    above = Path(folder) / f"of {name}"
    above.mkdir()
    return above / name


def published_sample(
    method: Method,
    requirements: Sequence[Requirement],
    attributes: Mapping[str, Mapping[str, Any]],
    frame: Frame,
    seed: int,
    folder: Path,
) -> Release:
    """Publish a table, and derive its guarantees again from the files.

    Releases in folders side by side are a series, where the method needs one.
    """
    folder.mkdir()
    ledger = folder.parent / LEDGER if method.needs_history else None
    source = folder / "people.csv"
    frame.write_csv(source)
    job = sample_job(method, requirements, attributes, source=source, ledger=ledger)
    if ledger is not None and not ledger.exists() and job.ledger is not None:
        with Ledger.create(job.ledger.located(folder)):
            pass
    release = publish(None, job, seed=seed)
    place = release.save(folder / "release", report=False, attack=None, accept_risk=SYNTHETIC)
    for original in (None, job):
        verdict = audit(place, original=original)
        broken = [
            guarantee.requirement
            for guarantee in verdict.promises
            if not guarantee.holds and not guarantee.unproved
        ]
        expect(verdict.ok, f"{method.name}: the audit refuses {broken}, {verdict.problems}.")
    return release


def _check_series(
    method: Method,
    requirements: Sequence[Requirement],
    attributes: Mapping[str, Mapping[str, Any]],
    make_table: Callable[[int], Frame],
) -> None:
    """Several releases of people who join and leave keep what is guaranteed of all of them."""
    people = make_table(0)
    with tempfile.TemporaryDirectory() as name:
        for number, first in enumerate((0, 2, 4)):
            present = people.slice(first, people.height - 4)
            folder = Path(name) / f"release {number}"
            published_sample(method, requirements, attributes, present, number, folder)
        verdict = audit_series(ledger=Path(name) / LEDGER)
    expect(verdict.ok, f"{method.name}: the audit refuses the series, {verdict.problems}.")


def _facts(release: Release) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(release.manifest.to_json())
    for table in written["tables"].values():
        del table["sha256"]  # rows are in a secret order
    return written


def _cells(release: Release) -> dict[str, list[str]]:
    """The rows of each table without what the release numbers at random."""
    cells = {}
    for name, table in release.tables.items():
        columns = release.manifest.tables[name].columns
        stable = [column for column, role in columns.items() if role is not Role.STRUCTURE]
        cells[name] = sorted(map(repr, pl.DataFrame(table).select(stable).rows()))
    return cells


def _check_infeasible(
    method: Method,
    requirements: Sequence[Requirement],
    impossible: Method | Sequence[Requirement],
    attributes: Mapping[str, Mapping[str, Any]],
    frame: Frame,
) -> None:
    asked = (impossible, requirements) if isinstance(impossible, Method) else (method, impossible)
    with tempfile.TemporaryDirectory() as name:
        try:
            published_sample(*asked, attributes, frame, 0, _new(name, "impossible"))
        except InfeasibleError as error:
            expect(str(error), f"{method.name}: an InfeasibleError says nothing.")
            return
    raise AssertionError(f"{method.name} publishes what is impossible, {impossible}.")


def _check_unchanged(
    method: Method,
    requirements: Sequence[Requirement],
    attributes: Mapping[str, Mapping[str, Any]],
    frame: Frame,
) -> None:
    """A method leaves its task as it was."""
    task = prepare(
        sample_job(method, requirements, attributes), frame, rng=np.random.default_rng(0)
    )
    before = {column.name: column.codes.copy() for column in task.table}
    method.run(task)
    changed = [name for name, codes in before.items() if (task.table[name].codes != codes).any()]
    expect(not changed, f"{method.name} changes the source's columns {changed}.")
