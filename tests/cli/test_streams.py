"""Exit statuses and messages where the terminal, a pipe or a file is not what a command expects."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.saving import ACCEPTING

COMMAND = [sys.executable, "-m", "discreet"]


def shell(folder, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("discreet", " ".join(COMMAND))],
        cwd=folder, capture_output=True, timeout=120, check=False,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"), env={**os.environ, **environment},
    )  # fmt: skip


def test_a_narrow_encoding_of_stdout(hospital):
    narrow = {"PYTHONIOENCODING": "cp1252"}
    done = shell(hospital, "discreet profile patients.csv", **narrow)
    assert done.returncode == 0, done.stderr
    assert "ℓ" not in done.stdout
    done = shell(hospital, "discreet profile patients.csv --json", **narrow)
    assert json.loads(done.stdout)["rows"] == 600


def test_a_reader_that_goes_away_leaves_the_exit_status(hospital):
    done = shell(hospital, "discreet --help | true")
    assert (done.returncode, done.stderr) == (0, "")
    done = shell(hospital, "discreet publish job.yaml --quiet | true")
    assert (done.returncode, done.stderr) == (0, "")
    job = (hospital / "job.yaml").read_text().replace("k: 5", "k: 5000")
    (hospital / "impossible.yaml").write_text(job)
    done = shell(hospital, "discreet publish impossible.yaml --output other --json | true")
    assert done.returncode == 1
    done = shell(hospital, "discreet publish nowhere.yaml --json | true")
    assert done.returncode == 2


def test_a_closed_stream(hospital):
    done = shell(hospital, "discreet publish job.yaml --quiet >&-")
    assert done.returncode == 2
    assert done.stderr == (
        "Error: standard output is closed. Redirect it to a file or to /dev/null.\n"
    )
    assert not (hospital / "release").exists()
    done = shell(hospital, "discreet publish job.yaml 2>&-")
    assert done.returncode == 0
    assert "Written to" in done.stdout
    assert (hospital / "release").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_stdout(hospital):
    for command in ("discreet --version", "discreet profile patients.csv"):
        done = shell(hospital, f"{command} > /dev/full")
        assert done.returncode == 2
        assert "put: No space left on device" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_that_no_program_writes_to(hospital, process):
    os.mkfifo(hospital / "pipe")
    done = process("publish", "pipe", *ACCEPTING, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "Error: Job file pipe: is a pipe or a device. Save it to a file first.\n"
    job = (hospital / "job.yaml").read_text()
    (hospital / "other.yaml").write_text(job.replace("{mask: right}", "pipe"))
    done = process("publish", "other.yaml", *ACCEPTING, timeout=60)
    assert done.returncode == 2
    assert "pipe" in done.stderr
    assert "defect" not in done.stderr
    done = process("attack", "release", "--original", "job.yaml", "--knowledge", "pipe", timeout=60)
    assert done.returncode == 2
    assert "pipe" in done.stderr


def test_the_engine_spark_without_pyspark(hospital):
    without = "import sys; sys.modules['pyspark'] = None; import discreet.cli as c; c.main()"
    done = subprocess.run(
        [sys.executable, "-c", without, "publish", "job.yaml", "--engine", "spark", "--quiet"],
        cwd=hospital, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "Error: The engine 'spark' needs PySpark. Install it: pip install 'discreet[spark]'.\n"
    )


def test_debug_keeps_the_exit_status(hospital, process):
    done = process("publish", "nowhere.yaml", "--debug", *ACCEPTING)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("Error: Job file nowhere.yaml: No such file or directory. "
                                "Check the path.\n")  # fmt: skip


def test_no_method_that_fits_the_input_is_no_broken_guarantee(hospital, process):
    done = process("compare", "job.yaml", "--methods", "anatomy")
    assert done.returncode == 2  # anatomy publishes one sensitive column, the job has three
    text = (hospital / "job.yaml").read_text().replace("k: 5", "k: 5000")
    (hospital / "job.yaml").write_text(text)
    assert process("compare", "job.yaml", "--methods", "mondrian").returncode == 1


def test_lines_tell_of_compiling_from_one_second_on(capsys):
    from discreet.cli.console import CompilingNotes

    notes = CompilingNotes()
    for kernels, seconds in [(1, 0.4), (2, 1.2), (3, 2.0), (9, 6.3)]:
        notes(kernels, seconds)
    assert capsys.readouterr().err == (
        "Compiling kernels for this machine (once): 2 so far.\n"
        "Compiling kernels for this machine (once): 9 so far.\n"
    )
