"""``init`` and ``publish`` with no edits: verdict, loss, counts, first repair.

    python -m benchmarks.first_jobs                # the table of docs/repair.md
    python -m benchmarks.first_jobs hr students    # some of them

Six tables are read from the folder DISCREET_DATA, the others are made up (``first_tables``).
Nothing is told about a table but its file. Where ``init`` guessed roles, the second verdict is that
of the same job once its ``unconfirmed`` line is deleted. Counts are those by one quasi-identifier
and one sensitive attribute (``releases/analyst_errors.py``), beside two tables without any link.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

import discreet as dc
from benchmarks import first_tables
from discreet.releases.analyst_errors import AnalystError, analyst_errors
from discreet.releases.measure import read_utility

DATA = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
# The names of the data's own description (UCI, census-income.names), in the order of the file.
CENSUS_NAMES = next(csv.reader([
    "age,class of worker,industry code,occupation code,education,wage per hour,enrolled in edu "
    "inst last wk,marital status,major industry code,major occupation code,race,hispanic origin,"
    "sex,member of a labor union,reason for unemployment,full or part time employment stat,"
    "capital gains,capital losses,dividends from stocks,tax filer status,region of previous "
    "residence,state of previous residence,detailed household and family stat,detailed household "
    "summary in household,instance weight,migration code-change in msa,migration code-change in "
    "reg,migration code-move within reg,live in this house 1 year ago,migration prev res in "
    "sunbelt,num persons worked for employer,family members under 18,country of birth father,"
    "country of birth mother,country of birth self,citizenship,own business or self employed,"
    "fill inc questionnaire for veterans admin,veterans benefits,weeks worked in year,year,income"
]))  # fmt: skip
LEAST_LOSS = 0.3  # above it, a first release counts as useless


def of_data(member: str) -> Callable[[Path], None]:
    """Link a table of DISCREET_DATA."""

    def write(place: Path) -> None:
        place.symlink_to((DATA / member).resolve(strict=True))

    return write


def census(place: Path) -> None:
    """Write Census-Income with the names of its description."""
    cells = (DATA / "census-income/census-income.data").read_text(encoding="utf-8")
    names = ",".join(CENSUS_NAMES)
    place.write_text(names + "\n" + cells.replace(", ", ",").replace(".\n", "\n"), encoding="utf-8")


TABLES: dict[str, Callable[[Path], None]] = {
    "compas": of_data("compas/compas-scores-two-years.csv"),
    "hr": of_data("hr/hr-attrition.csv"),
    "diabetes": of_data("diabetes/diabetic_data.csv"),
    "adult": of_data("adult/adult.csv"),
    "opinions": of_data("opinions/nonvoters.csv"),
    "census-income": census,
    "clinic": first_tables.clinic,
    "students": first_tables.students,
    "payroll": first_tables.payroll,
    "survey": first_tables.survey,
    "registry": first_tables.registry,
    "laboratory": first_tables.laboratory,
    "benefits": first_tables.benefits,
}


class First(NamedTuple):
    """A release of a job, or why there is none."""

    word: str
    confirmed: str  # the verdict once guessed roles are confirmed
    loss: float | None
    counts: AnalystError | None
    rows_lost: int
    quasi: int
    sensitive: int
    unpublished: int
    method: str
    seconds: float  # of processor time

    @property
    def usable(self) -> bool:
        """Whether it appears, with at most so much loss."""
        appears = self.word in ("Ready to sign", "Look at these")
        return appears and self.loss is not None and self.loss <= LEAST_LOSS

    def cells(self) -> list[str]:
        """The figures as cells of a table."""
        counts = "–" if self.counts is None else f"{self.counts.release:.1%}"
        unlinked = "–" if self.counts is None else f"{self.counts.unlinked:.1%}"
        loss = "–" if self.loss is None else f"{self.loss:.1%}"
        roles = f"{self.quasi} / {self.sensitive} / {self.unpublished}"
        return [
            roles,
            self.method,
            self.word,
            self.confirmed,
            loss,
            counts,
            unlinked,
            f"{self.rows_lost:,}",
        ]


def publish(path: Path, place: Path) -> First:
    """Publish a job as ``discreet publish`` does, and read its figures."""
    began = time.process_time()
    job = dc.Job.load(path)
    roles = [str(one.role) for one in job.attributes.values()]
    counted = [roles.count(name) for name in ("quasi-identifier", "sensitive", "drop")]
    try:
        release = dc.publish(None, job, seed=1)
        word = release.save(place, force=True) and release.verdict().word
        confirmed = replace(release, job=job.confirmed()).verdict().word
    except dc.RiskError as error:
        word = confirmed = error.verdict.word
    except dc.DiscreetError as error:
        print(f"  {type(error).__name__}: {error}", file=sys.stderr)
        return First(
            "nothing",
            "nothing",
            None,
            None,
            0,
            *counted,
            job.method.name,
            time.process_time() - began,
        )
    formed, manifest = release.formed, release.manifest
    read = read_utility(formed.read(manifest).tables, formed.original, manifest)
    errors = analyst_errors(read.original, read.for_analysts, read.weights)
    loss = release.private["utility"].get("loss")
    seconds = time.process_time() - began
    lost = manifest.suppressed_rows
    return First(word, confirmed, loss, errors.counts, lost, *counted, job.method.name, seconds)


def lines(names: list[str], folder: Path, budget: str) -> Iterator[str]:
    """A line for each table, and one more after its first repair, where it needs some."""
    head = [
        "table", "rows", "quasi / sensitive / not published", "method", "verdict", "confirmed",
        "information loss", "error of counts", "without any link", "rows lost", "init", "publish",
    ]  # fmt: skip
    yield f"| {' | '.join(head)} |"
    yield "| --- " * len(head) + "|"
    for name in names:
        place = folder / name
        place.mkdir()
        TABLES[name](place / "table.csv")
        command = [sys.executable, "-m", "discreet", "init", "table.csv", "--quiet"]
        began = os.times().children_user
        subprocess.run(
            [*command, "--budget", budget], cwd=place, check=True, stdout=subprocess.DEVNULL
        )
        init = os.times().children_user - began
        first = publish(place / "job.yaml", place / "release")
        table = pl.scan_csv(place / "table.csv", infer_schema_length=0)
        rows = f"{table.select(pl.len()).collect().item():,}"
        times = [f"{init:.0f} s", f"{first.seconds:.0f} s"]
        yield f"| {' | '.join([name, rows, *first.cells(), *times])} |"
        if first.usable:
            continue
        repaired = [sys.executable, "-m", "discreet", "repair", "job.yaml", "--apply", "1"]
        repaired += ["--quiet", "--budget", budget]
        done = subprocess.run(repaired, cwd=place, capture_output=True, check=False)
        if done.returncode:
            yield f"| {name}, no repair: {done.stderr.decode().strip()[:200]} |"
            continue
        after = publish(place / "job.yaml", place / "release")
        times = ["", f"{after.seconds:.0f} s"]
        yield f"| {' | '.join([f'{name}, first repair', rows, *after.cells(), *times])} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="init and publish on real tables, with no edits.")
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}")
    parser.add_argument(
        "--budget", default="60s", help="of init and repair; more if others compute"
    )
    parser.add_argument("--folder", type=Path, help="keep jobs and releases here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for line in lines(given.tables or list(TABLES), given.folder or Path(folder), given.budget):
            print(line, flush=True)


if __name__ == "__main__":
    main()
