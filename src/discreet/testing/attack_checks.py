"""The conformance of an attack, checked on small releases."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from discreet.api.attack import attack as run_attack
from discreet.api.publish import publish
from discreet.attacks.base import Attack, Finding
from discreet.attacks.run import AttackReport
from discreet.job.model import Job
from discreet.pipeline.release import Release
from discreet.testing.sample_tables import check_named, expect, sample_job, sample_table

TOLERANCE = 1e-9
RELEASES: Mapping[str, tuple[Any, Sequence[Any]]] = {
    "unprotected": ("full-domain", [{"k-anonymity": {"k": 1}}]),
    "generalized": ("mondrian", [{"k-anonymity": {"k": 3}}, {"p-diversity": {"l": 2}}]),
    "bucketized": ({"msa-diversity": {"publish": "buckets"}}, [{"m-diversity": {"l": 2}}]),
    "decomposed": ({"decomposition": {"l": {"diagnosis": 2, "salary": 2}}}, []),
    "projected": ("codip", [{"k-anonymity": {"k": 2}}, {"p-diversity": {"l": 1.5}}]),
    "in two tables": (
        {"codip": {"plan": "given", "tables": [["diagnosis"], ["salary"]]}},
        [{"k-anonymity": {"k": 2}}],
    ),
    "suppressed": ({"full-domain": {"suppression": 0.5}}, [{"k-anonymity": {"k": 3}}]),
}


def check_attack(
    attack: Attack,
    *,
    releases: Sequence[tuple[pl.DataFrame, Job]] = (),
    seconds: float = 60.0,
) -> None:
    """Check an attack on small releases of every kind, and on those of some tables and jobs."""
    check_named(attack)
    expect(attack.knowledge, f"{attack.name} does not state the attacker's knowledge.")
    cases = [
        *_sample_releases(),
        *((frame, publish(frame, job, seed=1)) for frame, job in releases),
    ]
    findings = [_check_on_release(attack, frame, release, seconds) for frame, release in cases]
    expect(any(findings), f"{attack.name} finds nothing on any release; give one by `releases`.")
    for finding in findings[0]:  # every cell is published
        expect(
            finding.mean >= finding.baseline - TOLERANCE or not finding.is_belief,
            f"{attack.name}: with every cell at hand, the belief in {finding.aim} is "
            f"{finding.mean:g}, without the release {finding.baseline:g}.",
        )


@cache
def _sample_releases() -> tuple[tuple[pl.DataFrame, Release], ...]:
    """Small releases of every kind, each with its table; the same for all attacks."""
    frames = map(sample_table, range(len(RELEASES)))
    return tuple(
        (frame, publish(frame, sample_job(*written), seed=1))
        for frame, written in zip(frames, RELEASES.values(), strict=True)
    )


def _check_on_release(
    attack: Attack, frame: pl.DataFrame, release: Release, seconds: float
) -> tuple[Finding, ...]:
    with TemporaryDirectory() as name:
        population = Path(name) / "population.csv"
        frame.write_csv(population)

        def run() -> AttackReport:
            return run_attack(release, original=frame, attacks=[attack], population=population)

        started = time.monotonic()
        report, again = run(), run()
    took = time.monotonic() - started
    expect(took < seconds, f"{attack.name} takes {took:.0f} s on {frame.height} rows.")
    expect(report == again, f"{attack.name}: two runs, two reports.")
    for finding in report.findings:
        _check_finding(attack, finding)
    expect(
        report.ok,
        f"{attack.name} exceeds what a release guarantees. If the guarantees do not speak of "
        "such an attacker, set `inside = False`.",
    )
    return report.findings


def _check_finding(attack: Attack, finding: Finding) -> None:
    shown = f"{attack.name}: the finding on {finding.aim}"
    expect(finding.attack == attack.name, f"{shown} is named '{finding.attack}'.")
    expect(finding.inside == attack.inside, f"{shown} does not say as the attack if it is inside.")
    bound = 1.0 if finding.bound is None else finding.bound
    for figure in ("mean", "greatest", "above", "certain", "baseline"):
        value = getattr(finding, figure)
        expect(
            math.isfinite(value) and -TOLERANCE <= value <= 1 + TOLERANCE,
            f"{shown} has {figure} {value}, which is not in [0, 1].",
        )
    expect(0 <= bound <= 1, f"{shown} has the bound {bound}.")
    expect(finding.mean <= finding.greatest + TOLERANCE, f"{shown} has a mean above its greatest.")
    expect(finding.targets >= 0, f"{shown} has {finding.targets} targets.")
    counted = sum(finding.histogram)
    expect(
        not finding.histogram or counted == finding.targets,
        f"{shown} has {finding.targets} targets and a histogram of {counted}.",
    )
    expect(finding.knowledge, f"{shown} does not state the attacker's knowledge.")
