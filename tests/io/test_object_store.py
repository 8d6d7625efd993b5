"""Tables in an S3-compatible store on this machine, read by Polars and by fsspec.

Runs where ``moto_server`` is in the path: ``pip install 'moto[server]'``, in an environment of its
own if need be. fsspec's part also needs s3fs, beside discreet.
"""

from __future__ import annotations

import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError

import polars as pl
import pytest

import discreet as dc

BUCKET = "people"
JOB: dict[str, Any] = {
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "illness": {"role": "sensitive"},
    },
    "requirements": [{"k-anonymity": {"k": 3}}, {"distinct-l-diversity": {"l": 2}}],
    "method": "mondrian",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The options of a store with a bucket, for Polars."""
    server = shutil.which("moto_server")
    if server is None:
        pytest.skip("no S3-compatible server: pip install 'moto[server]'")
    log = tmp_path_factory.mktemp("store") / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [server, "--host", "127.0.0.1", "--port", "0"], stdout=output, stderr=output
        )
    try:
        address = _address(process, log)
        bucket = urllib.request.Request(f"{address}/{BUCKET}", method="PUT")
        urllib.request.urlopen(bucket, timeout=10).close()
        yield {
            "aws_endpoint_url": address,
            "aws_allow_http": "true",
            "aws_access_key_id": "key",
            "aws_secret_access_key": "secret",
            "aws_region": "us-east-1",
        }
    finally:
        process.terminate()
        process.wait(timeout=10)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address that the server prints once it listens."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        words = log.read_text(encoding="utf-8", errors="replace").split()
        listening = [word for word in words if word.startswith("http://127.0.0.1:")]
        if listening:
            try:
                urllib.request.urlopen(listening[0], timeout=10).close()
            except URLError:
                time.sleep(0.1)
                continue
            return listening[0]
        time.sleep(0.1)
    pytest.fail(f"the server does not listen: {log.read_text(errors='replace')[-500:]}")


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rows = 240
    return pl.DataFrame(
        {
            "name": [f"person {row}" for row in range(rows)],
            "age": [20 + row % 40 for row in range(rows)],
            "illness": [("flu", "ache", "rash")[row % 3] for row in range(rows)],
        }
    )


def require_published(table: Any, people: pl.DataFrame) -> None:
    """Publish a table; the sensitive values must be those of its people."""
    release = dc.publish(table, JOB)
    assert release.audit is not None and release.audit.ok
    tables = release.tables["records"]
    released = tables.collect() if isinstance(tables, pl.LazyFrame) else tables
    assert sorted(released["illness"]) == people["illness"].sort().to_list()


def test_a_lazy_frame_of_parquet_files(store: dict[str, str], people: pl.DataFrame) -> None:
    for part, rows in enumerate((people.head(100), people.tail(140))):
        rows.write_parquet(f"s3://{BUCKET}/parts/{part}.parquet", storage_options=store)
    table = pl.scan_parquet(f"s3://{BUCKET}/parts/*.parquet", storage_options=store)
    require_published(table, people)


def test_a_lazy_frame_of_csv(store: dict[str, str], people: pl.DataFrame) -> None:
    people.lazy().sink_csv(f"s3://{BUCKET}/people.csv", storage_options=store)
    table = pl.scan_csv(f"s3://{BUCKET}/people.csv", storage_options=store)
    require_published(table, people)


def test_a_frame_read_through_fsspec(store: dict[str, str], people: pl.DataFrame) -> None:
    pytest.importorskip("s3fs")
    pandas = pytest.importorskip("pandas")
    options = {
        "key": store["aws_access_key_id"],
        "secret": store["aws_secret_access_key"],
        "client_kwargs": {"endpoint_url": store["aws_endpoint_url"], "region_name": "us-east-1"},
    }
    place = f"s3://{BUCKET}/through-fsspec"
    people.to_pandas().to_csv(f"{place}.csv", index=False, storage_options=options)
    csv = pandas.read_csv(f"{place}.csv", storage_options=options)
    people.to_pandas().to_parquet(f"{place}.parquet", storage_options=options)
    parquet = pandas.read_parquet(f"{place}.parquet", storage_options=options)
    for frame in (csv, parquet):
        require_published(frame, people)


def test_a_missing_object_is_an_error_of_the_input(store: dict[str, str]) -> None:
    table = pl.scan_parquet(f"s3://{BUCKET}/nothing.parquet", storage_options=store)
    with pytest.raises(dc.InputError, match="cannot be collected .FileNotFoundError"):
        dc.publish(table, JOB)
