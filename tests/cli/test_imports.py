"""A command imports what it uses: no compiler for small tables, no library for help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.saving import ACCEPTING

CODE = """
import sys
from discreet.cli.app import app
try:
    app(sys.argv[1:], standalone_mode=False)
finally:
    print(*sys.modules, file=sys.stderr)
"""
JOB = """
source: {path: people.csv}
attributes:
  age: {role: quasi-identifier, type: integer}
  disease: {role: sensitive}
requirements: [{k-anonymity: {k: 2}}, {distinct-l-diversity: {l: 2}}]
method: METHOD
"""


def imported(*arguments: object) -> set[str]:
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture
def job(tmp_path: Path) -> Path:
    rows = [f"{20 + row % 50},{['flu', 'gout', 'cold'][row % 3]}" for row in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["age,disease", *rows, ""]))
    (tmp_path / "job.yaml").write_text(JOB.replace("METHOD", "mondrian"))
    return tmp_path / "job.yaml"


def test_help_imports_no_library():
    assert not imported("--help") & {"numpy", "numba", "polars", "pyarrow", "yaml"}


def test_the_schema_needs_no_compiler():
    assert "numba" not in imported("schema")


@pytest.mark.parametrize("method", ["mondrian", "full-domain", "local-recoding", "anatomy"])
def test_a_small_table_is_published_and_audited_without_a_compiler(job, method):
    job.write_text(JOB.replace("METHOD", method))
    found = imported("publish", job, "--quiet", *ACCEPTING)
    assert not found & {"numba", "scipy", "rich"}
    own = {name.split(".")[2] for name in found if name.startswith("discreet.methods.")}
    others = {"mondrian", "full_domain", "local_recoding", "codip", "msa_diversity"}
    assert own & others <= {method.replace("-", "_"), "full_domain", "mondrian"}
    found = imported("audit", job.parent / "release")
    assert not found & {"numba", "scipy", "rich", "yaml", "discreet.job.model"}
    assert not {name for name in found if name.startswith("discreet.attacks.series_")}


def test_a_command_hardly_searches_for_garbage():
    code = """
import atexit, gc
from discreet.cli import main
atexit.register(lambda: print(sum(each["collections"] for each in gc.get_stats())))
main()
"""
    command = [sys.executable, "-c", code, "schema"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) < 30  # by default several hundred


def test_a_command_ends_without_dismantling_its_modules():
    code = """
import atexit, sys
from discreet.cli import main
class Dismantled:
    def __del__(self):
        print("dismantled", file=sys.__stderr__)
sys.modules["discreet"].kept = Dismantled()
atexit.register(print, "last")
main()
"""
    command = [sys.executable, "-c", code, "schema"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "last"  # what was registered for the end is done
    assert not done.stderr


@pytest.mark.parametrize(("given", "wanted"), [(None, "4"), ("20", "20")])
def test_idle_threads_of_numpy_sleep_at_once_unless_told_otherwise(job, given, wanted, monkeypatch):
    code = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print("found", os.environ.get("OPENBLAS_THREAD_TIMEOUT"))
sys.meta_path.insert(0, Watch())
from discreet.cli import main
main()
"""
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    if given is not None:
        monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", given)
    command = [sys.executable, "-c", code, "publish", str(job), "--quiet", *ACCEPTING]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"found {wanted}" in done.stdout.splitlines()
