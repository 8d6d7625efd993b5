"""``discreet publish --engine spark`` beside ``--engine local``: the same job on the same cores.

``make bench`` takes mondrian on ``local[2]``: what a million rows cost, ten million beside one
machine, and fifty million against the engine that moved rows through Spark's data frames. Options
of ``python -m benchmarks.spark`` choose other sizes and methods; ``--masters cluster`` takes a
master and two workers on loopback. Processor time and memory are those of all processes: the
driver, the JVMs, and the workers' Python. They are sampled, since Spark's Python daemon does not
wait for its workers; a process may miss its last fifth of a second. Pages that processes share are
counted in each.
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
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.saving import ACCEPTING

from benchmarks.figures import Figure
from benchmarks.workloads import FOLDER

SECTION = "Spark: `discreet publish --engine spark`, k = 5 and distinct ℓ = 3"
ROWS_AT_ONCE = 1_000_000
SIZES = (1_000_000, 10_000_000, 50_000_000)
BESIDE_LOCAL = 10_000_000  # rows at most that one machine publishes too
FIXED = 20.0  # seconds that a million rows may take
BEFORE = {50_000_000: 471.0}  # seconds on local[2] when Spark's data frames moved the rows
EVERY = 0.2  # seconds between samples
PATIENCE = 3600
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
    yield from measured((200_000,) if quick else SIZES, ("mondrian",), ("local[2]",))


def measured(
    sizes: Sequence[int], methods: Sequence[str], masters: Sequence[str]
) -> Iterator[Figure]:
    """Every method at every size, on one machine and on every master."""
    for rows in sizes:
        known = _folder(rows).is_dir()
        source = people(rows)
        for method in methods:
            here = _publish(source, rows, method, None) if rows <= BESIDE_LOCAL else None
            if here is not None:
                yield here.figure(f"{method}, --engine local", rows)
            for name in masters:
                with _cluster() if name == "cluster" else nullcontext(name) as master:
                    there = _publish(source, rows, method, master)
                if there is not None:
                    yield from _compared(f"{method}, {name}", rows, there, here)
        if rows > BESIDE_LOCAL and not known:
            shutil.rmtree(source)


def _compared(what: str, rows: int, there: Watched, here: Watched | None) -> Iterator[Figure]:
    asked: dict[str, Any] = {}
    if rows == SIZES[0]:
        asked = {"ratio": there.seconds / FIXED, "ratio_to": f"{FIXED:g} s", "bound": "≤ 1"}
    elif rows in BEFORE:
        asked = {"ratio": there.seconds / BEFORE[rows], "bound": "≤ 0.5",
                 "ratio_to": f"{BEFORE[rows]:g} s, rows in Spark's data frames"}  # fmt: skip
    yield there.figure(what, rows, **asked)
    yield Figure(SECTION, f"{what}: of it the JVM", rows, processor=there.jvm)
    if here is not None:
        bound = "≤ 4" if rows == BESIDE_LOCAL else ""
        for name, ratio in (
            ("processor time", there.processor / here.processor),
            ("by the clock", there.seconds / here.seconds),
        ):
            yield Figure(
                SECTION, f"{what}: {name}", rows, ratio=ratio, ratio_to="--engine local",
                bound=bound,
            )  # fmt: skip


def _folder(rows: int) -> Path:
    return FOLDER / f"spark-{rows}.parquet"


def people(rows: int) -> Path:
    """A table in Parquet files of a million rows each."""
    folder = _folder(rows)
    if folder.is_dir():
        return folder
    folder.mkdir(parents=True)
    texts = {
        "zip": pl.Series([f"{number:05}" for number in range(2000)]),
        "sex": pl.Series(["s0", "s1"]),
        "education": pl.Series([f"e{number}" for number in range(16)]),
        "diagnosis": pl.Series([f"d{number}" for number in range(20)]),
    }
    for number, start in enumerate(range(0, rows, ROWS_AT_ONCE)):
        count = min(ROWS_AT_ONCE, rows - start)
        rng = np.random.default_rng([3, number])
        cells = {"age": pl.Series(rng.integers(18, 90, count))}
        for name, values in texts.items():
            cells[name] = values.gather(rng.integers(0, len(values), count))
        cells["note"] = pl.Series(rng.integers(0, 1000, count))
        pl.DataFrame(cells).write_parquet(folder / f"part-{number:05}.parquet")
    return folder


@dataclass(frozen=True)
class Watched:
    """A process that has ended well, with all that it started."""

    seconds: float
    processor: float
    jvm: float  # processor seconds
    memory: float  # GB, the greatest sum of the resident sizes
    loss: float

    def figure(self, what: str, rows: int, **asked: Any) -> Figure:
        """The figure of the whole run."""
        return Figure(
            SECTION, what, rows, self.seconds, self.processor, self.memory, self.loss, **asked
        )


def _publish(source: Path, rows: int, method: str, master: str | None) -> Watched | None:
    """Publish on a master, or on one machine; None if it failed."""
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
    engine = ["--engine", "local"] if master is None else ["--engine", "spark", "--master", master]
    command = [sys.executable, "-m", "discreet", "publish", str(written), *engine,
               "--force", "--quiet", "--no-report", "--json", *ACCEPTING]  # fmt: skip
    sampler = _Sampler()
    with tempfile.TemporaryFile("w+") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, env=_environment(), start_new_session=True, stdout=output,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        with sampler.watching(process.pid):
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        seconds = time.perf_counter() - started
        output.seek(0)
        said = output.read()
    if process.returncode:
        print(f"  {method}, {master}, {rows:,}: ended with {process.returncode}")
        return None
    private = place.with_name(f"{place.name}.private.json")
    print(f"  {method}, {master}, {rows:,}: {json.loads(private.read_text()).get('steps')}")
    loss = json.loads(said)["private"]["utility"]["loss"]
    shutil.rmtree(place)
    return Watched(
        seconds, sampler.processor(), sampler.processor("java"), sampler.memory / 1e9, loss
    )


class _Sampler:
    """Processor time and memory of this process's descendants and of all in a session."""

    def __init__(self) -> None:
        self.memory = 0
        self._first: dict[int, float] = {}
        self._last: dict[int, tuple[str, float]] = {}

    def processor(self, name: str | None = None) -> float:
        """The seconds of all processes, or of those of a name, since the watch began."""
        return sum(
            took - self._first.get(pid, 0.0)
            for pid, (own, took) in self._last.items()
            if name in (None, own)
        )

    @contextmanager
    def watching(self, session: int) -> Iterator[None]:
        """Take samples until the end, and one more when all processes of the session ended."""
        self._first = {pid: took for pid, (_, took, _) in _processes(session).items()}
        self._first.pop(session, None)
        done = threading.Event()

        def watch() -> None:
            while not done.wait(EVERY):
                self._sample(session)

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._sample(session)

    def _sample(self, session: int) -> None:
        found = _processes(session)
        self._last |= {pid: (name, took) for pid, (name, took, _) in found.items()}
        self.memory = max(self.memory, sum(size for _, _, size in found.values()))


def _processes(session: int) -> dict[int, tuple[str, float, int]]:
    """By number: the name, processor seconds and resident bytes of each process."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    found, parent = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        if (pid := int(folder.name)) == os.getpid():
            continue
        with suppress(OSError):
            name, fields = (folder / "stat").read_text().rsplit(")", 1)
            numbers = fields.split()
            took = (int(numbers[11]) + int(numbers[12])) / ticks
            parent[pid] = int(numbers[1])
            found[pid] = name.partition("(")[2], took, int(numbers[21]) * page
            if int(numbers[3]) == session:
                parent[pid] = os.getpid()  # also where its parent has ended

    def ours(pid: int) -> bool:
        while pid in parent:
            pid = parent[pid]
        return pid == os.getpid()

    return {pid: seen for pid, seen in found.items() if ours(pid)}


def _environment() -> dict[str, str]:
    """Little memory for the driver, and no page in the browser."""
    wanted = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.executor.memory": "3g",
        "spark.driver.maxResultSize": "64m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    arguments = " ".join(f"--conf {name}={value}" for name, value in wanted.items())
    return {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONWARNINGS": "ignore",
    }


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
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["mondrian"])
    parser.add_argument("--masters", nargs="+", default=["local[2]"])
    arguments = parser.parse_args()
    for figure in measured(arguments.rows, arguments.methods, arguments.masters):
        print(figure, flush=True)


if __name__ == "__main__":
    main()
