"""Run many cases in processes of their own, each release under a watch, and count how they end.

A run stores the ending of every case in ``--folder`` and goes on there when it is started again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.mass.cases import METHODS, make_case, method_of
from tests.mass.endings import DEFECTS, EXCEPTION, HANG, OUTCOMES, PUBLISHED

# Only the workers import what publishes, so that no thread of Polars lives in a process that forks.
DONE = None
WARMING = 20 * len(METHODS)  # cases


def work(numbers: Connection) -> None:
    """Run the cases that come, one after the other."""
    from tests.mass.running import run

    while (number := numbers.recv()) is not DONE:
        try:
            endings = [tuple(ending) for ending in run(make_case(number))]
        except Exception:
            endings = [(EXCEPTION, f"in the driver: {traceback.format_exc(limit=-3)}")]
        numbers.send((number, endings))


class Worker:
    """A process that runs one case at a time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.number = -1
        self.since = 0.0

    def give(self, number: int | None) -> None:
        self.number = -1 if number is None else number
        self.since = time.monotonic()
        self.connection.send(number)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class Results:
    """What the cases ended in, by method; a file has a line for each case."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "results.jsonl"
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.defects: list[tuple[int, str, str]] = []
        self.done: set[int] = set()
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    self._count(*json.loads(line))
                except ValueError:
                    continue  # a line that was cut off: its case runs again
        self._file = self.path.open("a", encoding="utf-8")

    def _count(self, number: int, endings: list[tuple[str, str]]) -> None:
        self.done.add(number)
        for outcome, detail in endings:
            self.counts[method_of(number)][outcome] += 1
            if outcome in DEFECTS:
                self.defects.append((number, outcome, detail))

    def add(self, number: int, endings: list[tuple[str, str]]) -> None:
        self._count(number, endings)
        self._file.write(json.dumps([number, endings]) + "\n")
        self._file.flush()

    @property
    def published(self) -> int:
        return sum(counts[PUBLISHED] for counts in self.counts.values())

    def table(self) -> str:
        """Counts by method in Markdown."""
        whole = sum((self.counts[name] for name in METHODS), Counter[str]())
        return "\n".join(
            [
                "| method | " + " | ".join(OUTCOMES) + " |",
                "| --- |" + " ---: |" * len(OUTCOMES),
                *(_row(name, self.counts[name]) for name in METHODS),
                _row("all", whole),
            ]
        )


def _row(name: str, counts: Counter[str]) -> str:
    return f"| {name} | " + " | ".join(f"{counts[one]:,}" for one in OUTCOMES) + " |"


def drive(options: argparse.Namespace, results: Results) -> None:
    """Keep the workers busy until enough releases are published or the time is up."""
    started = time.monotonic()
    numbers = _numbers(options.start, results.done)
    workers = [Worker() for _ in range(options.processes)]
    said = started
    for worker in workers:
        worker.give(next(numbers))
    while workers:
        ready = wait([worker.connection for worker in workers], timeout=1)
        now = time.monotonic()
        enough = (
            results.published >= options.releases
            or now - started >= options.seconds
            or (options.cases is not None and len(results.done) >= options.cases)
        )
        for worker in list(workers):
            if worker.connection in ready:
                try:
                    results.add(*worker.connection.recv())
                except (EOFError, ConnectionError):
                    results.add(worker.number, [(EXCEPTION, "the process died")])
                    worker = _renewed(worker, workers)
            elif now - worker.since > _allowed(options.timeout, results):
                results.add(worker.number, [(HANG, f"over {options.timeout} seconds")])
                worker = _renewed(worker, workers)
            else:
                continue
            if enough:
                worker.end()
                workers.remove(worker)
            else:
                worker.give(next(numbers))
        if now - said > 30:
            said = now
            print(f"{results.published:,} published, {len(results.defects)} defects", flush=True)


def _allowed(timeout: float, results: Results) -> float:
    """Seconds for a case; the first ones may compile kernels."""
    return timeout if len(results.done) >= WARMING else 10 * timeout


def _renewed(worker: Worker, workers: list[Worker]) -> Worker:
    worker.end()
    new = Worker()
    workers[workers.index(worker)] = new
    return new


def _numbers(start: int, done: set[int]) -> Iterator[int]:
    number = start
    while True:
        if number not in done:
            yield number
        number += 1


def replay(number: int) -> int:
    """Run one case in this process and show it."""
    from tests.mass.running import run

    case = make_case(number)
    print(json.dumps({**case.job(), "source": case.source, "format": case.format}, indent=1))
    for table in case.tables:
        print(json.dumps(table, ensure_ascii=False))
    endings = run(case)
    for ending in endings:
        print(f"{ending.outcome}: {ending.detail}")
    return int(any(ending.outcome in DEFECTS for ending in endings))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mass", description=__doc__)
    parser.add_argument("--releases", type=int, default=1000, help="published releases to reach")
    parser.add_argument("--cases", type=int, help="stop after so many cases")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for the whole run")
    parser.add_argument("--timeout", type=float, default=120, help="seconds of a case: then a hang")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--folder", type=Path, default=Path("build/mass"))
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="run this case alone")
    options: Any = parser.parse_args(arguments)
    if options.replay is not None:
        return replay(options.replay)
    results = Results(options.folder)
    drive(options, results)
    print(results.table())
    for number, outcome, detail in results.defects[:50]:
        print(f"{number} {method_of(number)} {outcome}: {detail[:300]}")
    print(f"{results.published:,} published releases, {len(results.defects):,} defects; "
          f"all endings: {results.path}")  # fmt: skip
    return int(bool(results.defects))
