"""``discreet publish --engine spark``: two threads, or a master and two workers on loopback.

Sizes and methods are arguments: ``python -m benchmarks.spark --rows 5000000 50000000``. Memory of
the driver's Python process is measured as everywhere; the memory of the JVMs and of the workers'
Python processes is read from Spark's log of events.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.figures import Figure, RunError, run
from benchmarks.workloads import FOLDER

SECTION = "Spark: `discreet publish --engine spark`, k = 5 and distinct ℓ = 3"
ROWS_AT_ONCE = 1_000_000
MASTERS = ("local[2]", "cluster")
METHODS = ("full-domain", "mondrian", "msa-diversity", "anatomy")
ATTRIBUTES = {
    "age": {
        "role": "quasi-identifier", "type": "integer",
        "hierarchy": {"intervals": [5, 10, 20, 40, "*"]},
    },
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "education": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "diagnosis": {"role": "sensitive"},
    "note": {"role": "insensitive"},
}  # fmt: skip
REQUIREMENTS = {
    "msa-diversity": [{"p-diversity": {"l": 3}}],
    "anatomy": [{"distinct-l-diversity": {"l": 3}}],
}
FURTHER: dict[str, Any] = {  # distinct tuples must fit the driver
    "full-domain": {"zip": {"role": "insensitive"}},
}
USUAL = [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 3}}]


def results(quick: bool) -> Iterator[Figure]:
    """The part of ``make bench``."""
    yield from measured((200_000,) if quick else (5_000_000, 50_000_000), ("mondrian",), MASTERS)


def measured(
    sizes: Sequence[int], methods: Sequence[str], masters: Sequence[str]
) -> Iterator[Figure]:
    """Every method on every master, and how it grows from each size to the next."""
    for name in masters:
        before: dict[str, tuple[int, float]] = {}
        for rows in sizes:
            source = people(rows)
            for method in methods:
                with _cluster() if name == "cluster" else nullcontext(name) as master:
                    found = list(_publish(source, rows, method, name, master))
                if not found:
                    continue
                yield from found
                seconds = found[0].seconds or 0.0
                if method in before:
                    fewer, took = before[method]
                    what = f"{method}, {name}: growth from {fewer:,}"
                    more = f"{rows / fewer:g} times the rows"
                    yield Figure(SECTION, what, rows, ratio=seconds / took, ratio_to=more)
                before[method] = rows, seconds


def people(rows: int) -> Path:
    """A table in Parquet files of a million rows each."""
    folder = FOLDER / f"spark-{rows}.parquet"
    if folder.is_dir():
        return folder
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, rows, ROWS_AT_ONCE)):
        count = min(ROWS_AT_ONCE, rows - start)
        rng = np.random.default_rng([3, number])
        frame = pl.DataFrame(
            {
                "age": rng.integers(18, 90, count),
                "zip": rng.integers(0, 2000, count),
                "sex": rng.integers(0, 2, count),
                "education": rng.integers(0, 16, count),
                "diagnosis": rng.integers(0, 20, count),
                "note": rng.integers(0, 1000, count),
            }
        )
        frame.select(
            "age",
            pl.col("zip").cast(pl.String).str.zfill(5),
            pl.format("s{}", "sex").alias("sex"),
            pl.format("e{}", "education").alias("education"),
            pl.format("d{}", "diagnosis").alias("diagnosis"),
            "note",
        ).write_parquet(folder / f"part-{number:05}.parquet")
    return folder


def _publish(
    source: Path, rows: int, method: str, name: str, master: str | None
) -> Iterator[Figure]:
    """The time of a whole process first, then where memory went; nothing if it failed."""
    place = FOLDER / f"spark-{rows}-{method}"
    job = {
        "source": {"path": str(source), "format": "parquet"},
        "attributes": ATTRIBUTES | FURTHER.get(method, {}),
        "requirements": REQUIREMENTS.get(method, USUAL),
        "method": {method: {}},
        "output": {"path": str(place), "format": "parquet"},
    }
    written = place.with_suffix(".yaml")
    written.write_text(json.dumps(job), encoding="utf-8")
    log = Path(tempfile.mkdtemp(prefix="discreet-events-"))
    command = [sys.executable, "-m", "discreet", "publish", str(written), "--engine", "spark",
               "--master", str(master), "--force", "--quiet", "--no-report", "--json"]  # fmt: skip
    with _settings(log):
        try:
            done = run(command, timeout=6 * 3600)
        except RunError as failure:
            print(f"  {method}, {name}, {rows:,}: {failure}")
            return
    loss = json.loads(done.output)["private"]["utility"]["loss"]
    steps = json.loads(place.with_name(f"{place.name}.private.json").read_text())["steps"]
    print(f"  {method}, {name}, {rows:,}: {steps}")
    seen = Seen.of(log)
    shutil.rmtree(log)
    shutil.rmtree(place)
    what = f"{method}, {name}: driver's Python"
    yield Figure(SECTION, what, rows, done.seconds, memory=done.memory, loss=loss)
    driver = "JVM of driver and workers" if name != "cluster" else "JVM of the driver"
    yield Figure(SECTION, f"{method}, {name}: {driver}", rows, memory=seen.driver)
    yield Figure(SECTION, f"{method}, {name}: Python of a machine's tasks", rows, memory=seen.tasks)


@contextmanager
def _settings(log: Path) -> Iterator[None]:
    """Little memory for the driver, and a log of events that tells where memory went."""
    wanted = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.executor.memory": "3g",
        "spark.driver.maxResultSize": "64m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.logStageExecutorMetrics": "true",
        "spark.executor.processTreeMetrics.enabled": "true",
        "spark.executor.metrics.pollingInterval": "500ms",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    arguments = " ".join(f"--conf {name}={value}" for name, value in wanted.items())
    before = dict(os.environ)
    os.environ |= {
        "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONWARNINGS": "ignore",
    }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@dataclass(frozen=True)
class Seen:
    """What a log of events tells."""

    driver: float  # GB, the resident size of the driver's JVM
    tasks: float  # GB, that of all Python processes of the machine where they were greatest

    @classmethod
    def of(cls, log: Path) -> Seen:
        """Read the log of a job."""
        driver = tasks = 0
        for file in (path for path in log.rglob("*") if path.is_file()):
            with file.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if '"SparkListenerStageExecutorMetrics"' in line:
                        event = json.loads(line)
                        held = event["Executor Metrics"]
                        if event["Executor ID"] == "driver":
                            driver = max(driver, int(held["ProcessTreeJVMRSSMemory"]))
                        tasks = max(tasks, int(held["ProcessTreePythonRSSMemory"]))
        return cls(driver / 1e9, tasks / 1e9)


@contextmanager
def _cluster() -> Iterator[str]:
    """A standalone master and two workers of one core each, ended with all that they started."""
    import pyspark

    program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    work = Path(tempfile.mkdtemp(prefix="discreet-workers-"))
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> None:
        started.append(
            subprocess.Popen([program, *arguments], env=environment, start_new_session=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )  # fmt: skip

    try:
        deploy = "org.apache.spark.deploy"
        start(f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port),
              "--webui-port", "0")  # fmt: skip
        for _ in range(120):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.5)
        for number in range(2):
            start(f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "-c", "1",
                  "-m", "3g", "-d", str(work / str(number)), address)  # fmt: skip
        yield address
    finally:
        for process in reversed(started):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait(30)
        shutil.rmtree(work, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["mondrian"])
    parser.add_argument("--masters", nargs="+", default=list(MASTERS))
    arguments = parser.parse_args()
    for figure in measured(arguments.rows, arguments.methods, arguments.masters):
        print(figure, flush=True)


if __name__ == "__main__":
    main()
