"""A release that DuckDB makes of its own rows, beside ``CREATE TABLE AS SELECT *``.

A made-up table: four quasi-identifiers, two sensitive attributes, 1.2 million combinations of
their cells. Other sizes: ``python -m benchmarks.in_place 10000000``. Both are whole processes; the
ratio is that of processor seconds, which other work on the machine changes little.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import yaml

from benchmarks.figures import Figure, Run, run

SECTION = (
    "In place: `discreet publish --engine database` in a DuckDB file, full-domain, k = 5, ℓ = 2"
)
ROWS = 100_000_000
AT_MOST = "≤ 4"
MADE = """CREATE TABLE people AS SELECT
  (17 + hash(i) % 73)::INTEGER AS age, 'work ' || (hash(i * 7 + 1) % 8) AS work,
  (1000 + hash(i * 3 + 5) % 25)::VARCHAR AS zip, 'sex ' || (hash(i + 9) % 2) AS sex,
  'ill ' || (hash(i * 11) % 8) AS ill, (hash(i * 13) % 5)::TINYINT AS pay
FROM range({rows}) AS r(i)"""
COPY = """import duckdb, sys
duckdb.connect(sys.argv[1]).execute("CREATE TABLE copy AS SELECT * FROM people")"""
JOB = {
    "source": {"url": "duckdb:///people.duckdb", "table": "people"},
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
        "work": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "ill": {"role": "sensitive"},
        "pay": {"role": "sensitive"},
    },
    "requirements": [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 2}}],
    "method": "full-domain",
    "output": {"path": "release", "prefix": "released_"},
}


def results(quick: bool) -> Iterator[Figure]:
    """A hundred million rows; ``quick`` takes a hundredth."""
    yield from measured(ROWS // 100 if quick else ROWS)


def measured(rows: int) -> Iterator[Figure]:
    """Yield the copy, the release, and the audit of the released table."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-in-place-"))
    try:
        with duckdb.connect(str(folder / "people.duckdb")) as base:
            base.execute("SET memory_limit = '4GB'")
            base.execute(MADE.format(rows=rows))
        (folder / "job.yaml").write_text(yaml.safe_dump(JOB), encoding="utf-8")
        copy = run([sys.executable, "-c", COPY, str(folder / "people.duckdb")])
        yield _figure("CREATE TABLE AS SELECT *", rows, copy)
        command = [sys.executable, "-m", "discreet"]
        published = run(
            [*command, "publish", str(folder / "job.yaml"), "--engine", "database", "--quiet"]
        )
        yield replace(
            _figure("discreet publish, release in place", rows, published),
            ratio=published.processor / copy.processor,
            ratio_to="the copy, processor seconds",
            bound=AT_MOST,
        )
        url = f"duckdb:///{folder / 'people.duckdb'}"
        audited = run([*command, "audit", str(folder / "release"), "--database", url])
        yield _figure("discreet audit --database", rows, audited)
    finally:
        shutil.rmtree(folder)


def _figure(what: str, rows: int, done: Run) -> Figure:
    return Figure(SECTION, what, rows, done.seconds, done.processor, done.memory)


if __name__ == "__main__":
    for figure in measured(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS):
        sys.stdout.write(f"{figure}\n")
