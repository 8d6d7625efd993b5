"""Spark sessions, and kernels that run on every partition."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
Batches = Iterator[pa.RecordBatch]


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
        said = getattr(error, name, lambda: None)() or type(error).__name__
        raise EngineError(
            f"Spark stopped the job ({said}). Nothing was published. Its own log says more; look "
            "there for lost executors, memory, or records that do not fit the header (cells with "
            "line breaks are read from Parquet, not from CSV)."
        ) from None


def each(frame: DataFrame, kernel: Callable[[pa.Table], Any]) -> list[Any]:
    """Run a kernel on every partition that has rows; return its small results to the driver."""

    def run(batches: Batches) -> Batches:
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        try:
            result: Any = kernel(pa.Table.from_batches(held))
        except DiscreetError as error:
            result = error
        yield pa.record_batch([pa.array([pickle.dumps(result)], pa.binary())], ["result"])

    found = []
    for row in frame.mapInArrow(run, "result binary").collect():
        result = pickle.loads(row["result"])
        if isinstance(result, DiscreetError):
            raise result
        found.append(result)
    return found


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


def spread(frame: DataFrame, column: str, partitions: int) -> DataFrame:
    """Bring the rows of each number 0 … partitions − 1 together in a partition of its own.

    Spark places rows by a hash; numbers are replaced by keys whose hashes give one partition each.
    """
    from pyspark.sql import functions as f

    session = frame.sparkSession
    hashed = session.range(32 * partitions + 256).select(
        f.col("id"), f.pmod(f.hash("id"), f.lit(partitions)).alias("partition")
    )
    found = hashed.groupBy("partition").agg(f.min("id").alias("key")).collect()
    key_of = {int(row["partition"]): int(row["key"]) for row in found}
    keys = f.array(
        *(f.lit(key_of.get(number, number)).cast("long") for number in range(partitions))
    )
    return (
        frame.withColumn("slot", keys[f.col(column)]).repartition(partitions, "slot").drop("slot")
    )
