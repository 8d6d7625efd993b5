"""How long a fresh process takes before it is of use; kernels and bytecode are in their caches."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import DEVNULL, run

from tests.saving import ACCEPTING

from benchmarks.figures import Figure
from benchmarks.full_domain import SEVEN, adult, data_folder

REPETITIONS = 3


def results(quick: bool) -> Iterator[Figure]:
    """Bare import, help, and the publication of an Adult job, beside what is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        job = str(_job(Path(folder)))
        publish = [
            "-m",
            "discreet",
            "publish",
            job,
            "--force",
            "--quiet",
            "--no-attack",
            *ACCEPTING,
        ]
        asked: Sequence[tuple[str, list[str], float]] = (
            ("import discreet", ["-c", "import discreet"], 0.3),
            ("discreet --help", ["-m", "discreet", "--help"], 0.5),
            ("discreet publish, Adult", publish, 3.0),
        )
        for what, arguments, limit in asked:
            _timed(arguments)  # fill the caches
            seconds = min(_timed(arguments) for _ in range(REPETITIONS))
            yield Figure(
                "Starting", what, 0, seconds, ratio=seconds / limit, ratio_to=f"{limit} s",
                bound="≤ 1",
            )  # fmt: skip


def _timed(arguments: Sequence[str]) -> float:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # empty: cached as usual
    start = time.perf_counter()
    run([sys.executable, *arguments], check=True, stdout=DEVNULL, env=environment)
    return time.perf_counter() - start


def _job(folder: Path) -> Path:
    adult().write_csv(folder / "adult.csv")
    trees = data_folder() / "adult" / "arx-form"
    lines = [
        f"  {name}: {{role: quasi-identifier, hierarchy: {trees / name}.csv}}" for name in SEVEN
    ]
    job = folder / "job.yaml"
    job.write_text(
        "source: {path: adult.csv}\nattributes:\n"
        + "\n".join(lines)
        + "\n  occupation: {role: sensitive}\n  salary-class: {role: insensitive}\n"
        "requirements:\n  - k-anonymity: {k: 5}\n"
        "  - entropy-l-diversity: {l: 3, attribute: occupation}\n"
        "method: {full-domain: {suppression: 0.05}}\n",
        encoding="utf-8",
    )
    return job
