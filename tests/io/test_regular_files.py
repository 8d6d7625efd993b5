"""Every file that a job, a command or an upload names is opened in one guarded way."""

from __future__ import annotations

import ast
import bz2
import gzip
import lzma
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.errors import InputError
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.regular_files import open_regular, read_whole, unpacking_at_most
from discreet.table.roles import ColumnSpec, Role

SOURCE = Path(dc.__file__).parent
MEMORY = 1 << 32  # bytes of address space beyond what the imports take


def _limited(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with a limit on memory, which an endless file would exceed."""
    limited = (
        "import resource, discreet as dc\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({MEMORY}, {MEMORY}))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", limited + code],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
    )  # fmt: skip


JOB = """
source: {path: people.csv}
attributes:
  zip: {role: quasi-identifier, hierarchy: %s}
  illness: {role: sensitive, %s}
requirements: [{k-anonymity: {k: 2}}]
method: mondrian
"""


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no devices")
@pytest.mark.parametrize(
    ("hierarchy", "knowledge"),
    [("/dev/zero", ""), ("{path: /dev/zero}", ""),
     ("{mask: right}", "knowledge: {path: /dev/zero, label: "
     "a, term: b}")],
)  # fmt: skip
def test_an_endless_file_is_refused(tmp_path, hierarchy, knowledge):
    (tmp_path / "people.csv").write_text("zip,illness\n" + "12345,a\n12346,b\n" * 5)
    role = "quasi-sensitive" if knowledge else "sensitive"
    job = (JOB % (hierarchy, knowledge)).replace("role: sensitive", f"role: {role}")
    if knowledge:
        job = job.replace("path: /dev/zero", "path: zero.csv")
        (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "job.yaml").write_text(job)
    done = _limited(
        "try: dc.publish(None, 'job.yaml')\nexcept dc.InputError as error: print(error)", tmp_path
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "device" in done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match="pipe or a device"):
            open_regular(path)
    with pytest.raises(InputError, match="is a folder"):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "missing")


def test_a_file_that_is_read_whole_has_a_limit(tmp_path):
    place = tmp_path / "job.yaml"
    place.write_bytes(b"x" * 11)
    assert read_whole(place, most=11) == b"x" * 11
    with pytest.raises(InputError, match="larger than 10 bytes"):
        read_whole(place, most=10)
    with place.open("wb") as file:
        file.truncate(1 << 40)  # without blocks on the disk
    with pytest.raises(InputError, match="larger than"):
        dc.Job.load(place)


def _read(path: Path) -> int:
    source = Source(path=path)
    specs = dict.fromkeys(column_names(source), ColumnSpec(Role.INSENSITIVE))
    return read_table(source, specs).rows


@pytest.mark.parametrize(
    "ending", ["csv.gz", "csv.zst", "csv.bz2", "csv.xz", "parquet", "arrow", "xlsx"]
)
def test_what_a_file_unpacks_to_is_limited_while_it_is_read(tmp_path, ending):
    place = tmp_path / f"people.{ending}"
    frame = pl.DataFrame({"age": ["20"] * 100_000, "zip": ["1"] * 100_000})
    match ending:
        case "csv.gz":
            place.write_bytes(gzip.compress(frame.write_csv().encode()))
        case "csv.bz2":
            place.write_bytes(bz2.compress(frame.write_csv().encode()))
        case "csv.xz":
            place.write_bytes(lzma.compress(frame.write_csv().encode()))
        case "csv.zst":
            library = pytest.importorskip("zstandard")
            place.write_bytes(library.compress(frame.write_csv().encode()))
        case "parquet":
            frame.write_parquet(place)
        case "arrow":
            frame.write_ipc(place, compression="zstd")
        case "xlsx":
            pytest.importorskip("fastexcel")
            with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("xl/worksheets/sheet1.xml", b" " * 500_000)
    with unpacking_at_most(100_000), pytest.raises(InputError, match="unpacks to more than"):
        _read(place)
    if ending != "xlsx":  # the archive is no spreadsheet
        with unpacking_at_most(10_000_000):
            assert _read(place) == 100_000
        assert _read(place) == 100_000


def test_an_arrow_stream_is_not_unpacked_where_its_size_is_limited(tmp_path):
    place = tmp_path / "people.arrow"
    frame = pl.DataFrame({"age": ["20"] * 1000})
    frame.write_ipc_stream(place, compression="zstd")
    with unpacking_at_most(100_000_000), pytest.raises(InputError, match="an Arrow stream"):
        _read(place)
    assert _read(place) == 1000


def test_sizes_that_an_archive_states_are_not_believed(tmp_path):
    pytest.importorskip("fastexcel")
    place = tmp_path / "people.xlsx"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 5_000_000)
    data = place.read_bytes()
    stated = (5_000_000).to_bytes(4, "little")
    assert data.count(stated) == 2  # in the local header and in the directory
    place.write_bytes(data.replace(stated, (10).to_bytes(4, "little")))
    with unpacking_at_most(100_000), pytest.raises(InputError, match="unpacks to more than"):
        _read(place)


# Calls that read a file, and where they may be made: behind Source.require_file, on files that
# discreet wrote, on resources of the package, or on files that are written.
READERS = {"read_text", "read_bytes", "read_parquet", "scan_parquet", "read_parquet_schema",
    "scan_ipc", "read_ipc_stream", "read_ipc_schema", "read_ipc", "scan_csv", "read_excel",
    "ParquetFile", "read_metadata", "read_table", "genfromtxt", "loadtxt", "fromfile", "memmap",
    "load"}  # fmt: skip
ALLOWED = {
    ("regular_files.py", "os.open"): "the guarded way itself",
    ("extras.py", "read_bytes"): "names of this process's threads",
    ("io/arrow_files.py", "scan_parquet"): "behind require_file",
    ("io/arrow_files.py", "read_parquet_schema"): "behind require_file",
    ("io/arrow_files.py", "scan_ipc"): "behind require_file",
    ("io/arrow_files.py", "read_ipc_stream"): "behind require_file",
    ("io/arrow_files.py", "read_ipc_schema"): "behind require_file",
    ("addons/places/spreadsheets.py", "read_excel"): "behind require_file",
    ("io/writing.py", "read_metadata"): "behind the audit's check of regular files",
    ("io/writing.py", "ParquetFile"): "behind the audit's check of regular files",
    ("statements.py", "read_text"): "a resource of the package",
    ("addons/evidence/make.py", "read_text"): "a resource of the package",
    ("addons/evidence/safe_harbor.py", "read_text"): "a resource of the package",
    ("__init__.py", "read_text"): "a resource of the package",
    ("cli/checking.py", "open"): "a page, by the browser",
    ("report/pieces.py", "read_text"): "a resource of the package",
    ("addons/studio/runs.py", "read_text"): "a result in the private folder",
    ("addons/studio/releases.py", "read_text"): "a record and a job in the library",
    ("addons/studio/session.py", "read_text"): "what the library keeps of a release",
    ("addons/studio/downloads.py", "read_bytes"): "a release in the private folder",
    ("addons/studio/session.py", "read_bytes"): "an uploaded file in the private folder",
    ("ledger/record.py", "load"): "bytes of the database, by numpy",
    ("io/atomic.py", "os.open"): "folders, to sync and lock them",
    ("addons/studio/private_folder.py", "os.open"): "a lock in the private folder",
}


PARTS = {"open", "read_ipc", "read_ipc_stream", "read_parquet"}  # that an engine itself wrote


def _writes(call: ast.Call) -> bool:
    """Whether a call of open writes: its mode has a w, x or a, or its flags O_WRONLY."""
    texts = [a.value for a in (*call.args, *(k.value for k in call.keywords))
             if isinstance(a, ast.Constant) and isinstance(a.value, str)]  # fmt: skip
    return any(set(text) <= set("rwxabt+") and set(text) & set("wxa") for text in texts) or (
        "O_WRONLY" in ast.unparse(call)
    )


def _reads() -> set[tuple[str, str]]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            function = call.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(
                function, "id", ""
            )  # fmt: skip
            owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
            opens = name == "open" and owner.split(".")[-1] not in ("Ledger", "Store", "releases",
                "archive", "file") and not _writes(call)  # fmt: skip
            loads = name == "load" and owner != "np"
            tables = name == "read_table" and owner not in ("pq", "pa.parquet")
            guarded = name == "read_text" and not owner
            if opens or (name in READERS and not loads and not tables and not guarded):
                place = path.relative_to(SOURCE).as_posix()
                if not (place.startswith("addons/spark/") and name in PARTS):
                    found.add((place, "os.open" if opens and owner == "os" else name))
    return found


def test_no_other_way_to_open_a_file():
    assert _reads() - ALLOWED.keys() == set()
    assert ALLOWED.keys() - _reads() == set()
