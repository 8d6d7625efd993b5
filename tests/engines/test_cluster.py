"""A master with two workers, and a server of Spark Connect, on loopback.

The suite of both engines runs on each; a worker dies, a driver dies, memory is small.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.conftest import job_text, write_people
from tests.saving import ACCEPTING, UNATTACKED

import discreet as dc
from discreet.job.model import Job

PATIENCE = 300
ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "discreet"
SUITE = (  # each kind of release by Spark, and the methods whose tables must be equal
    "test_a_release_is_audited_attacked_measured_drawn_and_saved and spark "
    "or test_what_follows_from_counts_is_the_same"
)
CLASSIC = re.compile(r"sparkContext|\.rdd\b|\bbroadcast\(|\b_jvm\b|\b_jdf\b|accumulator\(")


def environment(*settings: str) -> dict[str, str]:
    from discreet.addons.spark.session import SHORT_JVM

    conf = ["spark.ui.enabled=false", "spark.sql.shuffle.partitions=4",
            "spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1",
            f"spark.driver.defaultJavaOptions={SHORT_JVM}",
            f"spark.executor.defaultJavaOptions={SHORT_JVM}", *settings]  # fmt: skip
    arguments = " ".join(f"--conf {shlex.quote(setting)}" for setting in conf)
    return {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_JVM,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONWARNINGS": "ignore",
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def spark_class(*arguments: str) -> subprocess.Popen[bytes]:
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    return subprocess.Popen(
        [str(program), *arguments], env=environment(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started."""
    if process.poll() is not None:
        return
    with process:  # which closes what it says, and waits
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def cluster(java: None, tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    package = "org.apache.spark.deploy"
    master = spark_class(f"{package}.master.Master", "--host", "127.0.0.1", "--port", str(port),
                         "--webui-port", "0")  # fmt: skip
    for _ in range(PATIENCE * 2):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.5)
    workers = [
        spark_class(f"{package}.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "-c",
                    "1", "-m", "1g", "-d", str(tmp_path / f"worker-{number}"), address)
        for number in range(2)
    ]  # fmt: skip
    yield address, workers
    for process in (*workers, master):
        end(process)


def publishing(folder: Path, master: str, *settings: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "discreet", "publish", "job.yaml", "--engine", "spark", "--master",
         master, "--format", "parquet", *ACCEPTING],
        cwd=folder, env=environment("spark.discreet.rowsOfPart=3000", *settings),
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def wait_for(folder: Path, pattern: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a running job has come so far that it has written a file."""
    for _ in range(PATIENCE * 20):
        if any(folder.glob(pattern)):
            return
        assert process.poll() is None, process.communicate()[0].decode()[-2000:]
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} after {PATIENCE} seconds")


def ready(folder: Path) -> Job:
    write_people(folder / "people.csv", 12_000)
    (folder / "job.yaml").write_text(job_text("mondrian"), encoding="utf-8")
    return Job.load(folder / "job.yaml")


def test_a_worker_that_dies_does_not_stop_the_job(cluster, tmp_path):
    address, workers = cluster
    job = ready(tmp_path)
    run = publishing(tmp_path, address, "spark.executor.memory=600m", "spark.task.maxFailures=8")
    wait_for(tmp_path, ".release.partial-*/tables", run)
    end(workers[0])
    said = run.communicate(timeout=PATIENCE)[0].decode()
    assert run.returncode == 0, said[-2000:]
    assert dc.audit(tmp_path / "release", original=job).ok


def test_a_driver_that_dies_leaves_no_release(java, tmp_path):
    job = ready(tmp_path)
    run = publishing(tmp_path, "local[2]")
    wait_for(tmp_path, ".release.partial-*/tables", run)
    end(run)
    assert not (tmp_path / "release").exists()
    dc.publish(None, job).save(tmp_path / "release", **UNATTACKED)
    assert not list(tmp_path.glob(".release.*"))


def test_a_driver_with_little_memory_publishes_what_it_could_not_hold(java, tmp_path):
    ready(tmp_path)
    write_people(tmp_path / "people.csv", 60_000)
    run = publishing(tmp_path, "local[2]", "spark.driver.maxResultSize=256k",
                     "spark.driver.memory=600m", "spark.discreet.collectedTuples=2000")  # fmt: skip
    said = run.communicate(timeout=PATIENCE)[0].decode()
    assert run.returncode == 0, said[-2000:]
    assert dc.audit(tmp_path / "release").ok
    assert (tmp_path / "people.csv").stat().st_size > 10 * 256_000


def run_suite(address: str) -> str:
    """Run the tests of both engines where a session has this address; return what they print."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", SUITE,
         "tests/engines/test_both.py"],
        cwd=ROOT, env={**environment(), "DISCREET_SPARK": address}, check=False, text=True,
        timeout=6 * PATIENCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4000:]
    return run.stdout


@pytest.mark.skipif(
    importlib.util.find_spec("grpc_status") is None
    or importlib.util.find_spec("zstandard") is None,
    reason="Spark Connect is not installed: pip install 'pyspark[connect]'",
)
def test_a_server_of_spark_connect_publishes_the_same(java):
    assert "6 passed" in run_suite("connect")


def test_a_cluster_of_two_workers_publishes_the_same(cluster):
    address, _ = cluster
    assert "6 passed" in run_suite(address)


def test_nothing_needs_a_classic_session():
    """Spark Connect has no contexts, RDDs or broadcasts."""
    used = [
        f"{path.name}: {line.strip()}"
        for path in sorted((SOURCES / "addons" / "spark").glob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if CLASSIC.search(line)
    ]
    assert used == []
