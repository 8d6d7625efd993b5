"""Spark sessions, and kernels that run on every partition."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from discreet.errors import DiscreetError, EngineError, InputError

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
T = TypeVar("T")
R = TypeVar("R")


def setting(session: SparkSession, name: str) -> int:
    """A setting of this engine, from the session's configuration."""
    written = session.conf.get(name, str(USUAL[name]))
    if not str(written).isdigit() or int(str(written)) < 1:
        raise InputError(f"{name} must be a whole number above 0, found {written!r}.")
    return int(str(written))


@contextmanager
def spark_session(master: str | None = None) -> Iterator[SparkSession]:
    """The session at hand, or a new one, which is stopped at the end."""
    known = SparkSession.getActiveSession()
    if known is not None and master is None:
        yield known
        return
    builder = SparkSession.builder.appName("discreet")
    if master is not None:
        builder = builder.master(master)
    if (master or "local").startswith("local"):  # workers are processes of this very Python
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config("spark.driver.defaultJavaOptions", SHORT_JVM)
    with reporting():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # Spark's own messages may hold cells of a table
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


def on_workers(session: SparkSession, items: Sequence[T], kernel: Callable[[T], R]) -> list[R]:
    """Run a kernel on every item, each in a task of its own; return its small results in order.

    Nothing but these passes through the JVM: kernels read and write the columns of their files.
    """

    def run(items: Iterable[T]) -> Iterator[R | DiscreetError]:
        for item in items:
            try:
                yield kernel(item)
            except DiscreetError as error:
                yield error

    if not items:
        return []
    results = session.sparkContext.parallelize(items, len(items)).mapPartitions(run).collect()
    return _unless_failed(results)


def _unless_failed(outcomes: Iterable[R | DiscreetError]) -> list[R]:
    """The results of tasks; raise the error of one that failed."""
    results = []
    for result in outcomes:
        if isinstance(result, DiscreetError):
            raise result
        results.append(result)
    return results


def each(frame: DataFrame, kernel: Callable[[Iterator[pa.Table]], Any]) -> list[Any]:
    """Run a kernel on every partition, some batches at a time; return its small results."""

    def run(batches: Batches) -> Batches:
        try:
            result: Any = kernel(_joined(batches))
        except DiscreetError as error:
            result = error
        yield pa.record_batch([pa.array([pickle.dumps(result)], pa.binary())], ["result"])

    rows = frame.mapInArrow(run, "result binary").collect()
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
