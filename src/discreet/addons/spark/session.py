"""Spark sessions, and kernels that run on every partition."""

from __future__ import annotations

import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions

from discreet.errors import DiscreetError, EngineError, InputError
from discreet.regular_files import open_regular

ROWS_AT_ONCE = 1 << 18  # of a batch that is looked up in dictionaries, which costs by the batch
ROWS_OF_PART = "spark.discreet.rowsOfPart"
COLLECTED = "spark.discreet.collectedTuples"
USUAL = {
    ROWS_OF_PART: 1_000_000,  # rows that one task holds in memory
    COLLECTED: 5_000_000,  # distinct tuples, or values of a column, that the driver may hold
}
# the JVM of a local master plans and schedules: compiling it well, and a garbage collector with
# threads of its own, costs half of its time
SHORT_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
Batches = Iterator[pa.RecordBatch]
RESULT = "number long, result binary"
VALUES_HELD = 4  # shared values in the memory of a worker's process
T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def spark_session(address: str | None = None) -> Iterator[SparkSession]:
    """The session at hand, or a new one, which is stopped at the end.

    ``address`` is a master, or the URL sc://… of a Spark Connect server.
    """
    known = SparkSession.getActiveSession()
    if known is not None and address is None:
        yield known
        return
    builder = SparkSession.builder.appName("discreet")
    if address is not None and address.startswith("sc://"):
        builder = builder.remote(address)
    else:
        builder = builder.config("spark.log.level", "OFF")  # Spark's log may hold cells of a table
        if address is not None:
            builder = builder.master(address)
        if (address or "local").startswith("local"):  # workers are processes of this very Python
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            builder = builder.config("spark.driver.defaultJavaOptions", SHORT_JVM)
    with reporting():
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        if known is None:
            session.stop()


@contextmanager
def reporting() -> Iterator[None]:
    """Raise the failure of a Spark job without its message, which may contain cells."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        # PySpark 3.5 has the older of the two names alone
        name = "getCondition" if hasattr(error, "getCondition") else "getErrorClass"
        condition = getattr(error, name, lambda: None)() or type(error).__name__
        raise EngineError(
            f"Spark stopped the job ({condition}). Nothing was published. Its own log says more; "
            "look there for lost executors, memory, or records that do not fit the header (cells "
            "with line breaks are read from Parquet, not from CSV)."
        ) from None


def _unless_failed(outcomes: Iterable[R | DiscreetError]) -> list[R]:
    """The results of tasks; raise the error of one that failed."""
    results = []
    for result in outcomes:
        if isinstance(result, DiscreetError):
            raise result
        results.append(result)
    return results


@lru_cache(maxsize=VALUES_HELD)
def _loaded(path: str) -> Any:
    """Load a shared value once for each process of a worker."""
    with open_regular(path) as file:
        return pickle.load(file)


@dataclass(frozen=True)
class Shared(Generic[T]):
    """A value in a file that every worker reaches."""

    path: str

    @property
    def value(self) -> T:
        value: T = _loaded(self.path)
        return value


@dataclass(frozen=True, eq=False)
class Workers:
    """A session, and the private folder by which its workers share values and rows.

    Sessions of Spark Connect have neither contexts nor broadcasts, so that tasks are rows of a
    data frame, and values that all tasks need are files.
    """

    session: SparkSession
    folder: Path

    @cached_property
    def parallelism(self) -> int:
        """The number of tasks that Spark makes of a table by itself."""
        place = functions.spark_partition_id().alias("place")
        return self.session.range(1 << 16).select(place).distinct().count()

    def setting(self, name: str) -> int:
        """A setting of this engine, from the session's configuration."""
        written = self.session.conf.get(name, str(USUAL[name]))
        if not str(written).isdigit() or int(str(written)) < 1:
            raise InputError(f"{name} must be a whole number above 0, found {written!r}.")
        return int(str(written))

    def share(self, value: T) -> Shared[T]:
        """Write a value that tasks read when they need it."""
        path = self.folder / f"{secrets.token_hex(8)}.shared"
        with path.open("xb") as file:
            pickle.dump(value, file, pickle.HIGHEST_PROTOCOL)
        return Shared(str(path))

    def run(self, items: Sequence[T], kernel: Callable[[T], R]) -> list[R]:
        """Run a kernel on every item, each in a task of its own; return its results in order.

        Nothing but these passes through the JVM: kernels read and write the columns of files.
        """
        if not items:
            return []
        shared = self.share(list(items))

        def task(batches: Batches) -> Batches:
            for batch in batches:
                for number in batch.column(0).to_numpy():
                    yield _as_batch(number, partial(_item_done, kernel, shared, number))

        numbers = self.session.range(0, len(items), 1, len(items))
        return _collected(numbers.mapInArrow(task, RESULT))

    def each(self, frame: DataFrame, kernel: Callable[[Iterator[pa.Table]], R]) -> list[R]:
        """Run a kernel on every partition, some batches at a time; return its small results."""

        def task(batches: Batches) -> Batches:
            yield _as_batch(0, lambda: kernel(_joined(batches)))

        return _collected(frame.mapInArrow(task, RESULT))


def _item_done(kernel: Callable[[T], R], items: Shared[list[T]], number: int) -> R:
    return kernel(items.value[number])


def _as_batch(number: int, work: Callable[[], Any]) -> pa.RecordBatch:
    """The result of a task, or its error, as a row."""
    result: Any
    try:
        result = work()
    except DiscreetError as error:
        result = error
    cells: dict[str, pa.Array[Any]] = {
        "number": pa.array([number]),
        "result": pa.array([pickle.dumps(result)], pa.binary()),
    }
    return pa.record_batch(cells)


def _collected(results: DataFrame) -> list[Any]:
    """The results of tasks by their numbers."""
    rows = sorted(results.collect(), key=itemgetter("number"))
    return _unless_failed(pickle.loads(row["result"]) for row in rows)


def stream(
    frame: DataFrame, kernel: Callable[[Iterator[pa.Table]], Iterator[pa.Table]], schema: str
) -> DataFrame:
    """Map rows to rows, some batches at a time."""

    def run(batches: Batches) -> Batches:
        for table in kernel(_joined(batches)):
            yield from table.to_batches()

    return frame.mapInArrow(run, schema)


def _joined(batches: Batches) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= ROWS_AT_ONCE:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)
