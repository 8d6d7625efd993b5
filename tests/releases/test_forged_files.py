"""Folders whose files carry what their tables do not show, by a forger who recomputes hashes.

Where a canonical form exists, the audit refuses any other.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests import naive
from tests.commands import invoke
from tests.saving import UNATTACKED

import discreet as dc
from discreet.io.atomic import hash_of_folder
from discreet.releases.manifest import sha256_of
from discreet.releases.worlds import sensitive_sets

ROWS = 90
METHODS = {
    "generalized": ("mondrian", [{"k-anonymity": {"k": 4}}]),
    "counted": ({"anatomy": {"l": 3}}, []),
    "decomposed": ({"decomposition": {"l": {"drug": 3}}}, []),
}


def job_of(kind: str) -> dc.Job:
    method, requirements = METHODS[kind]
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": "suppress"},
            "drug": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        requirements=requirements,
        method=method,
    )


def frame() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS),
            "drug": rng.permutation(
                np.array(["a", "b", "c", "d, e", None, '"f"'] * (ROWS // 6))
            ).tolist(),
            "note": rng.choice(np.array(["x", None, "line\nbreak"]), ROWS).tolist(),
        }
    )


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("releases")
    for kind in METHODS:
        made = dc.publish(frame(), job_of(kind))
        for format in ("csv", "parquet"):
            made.save(folder / f"{kind}-{format}", format=format, report=False, **UNATTACKED)
    return folder


@pytest.fixture
def copied(releases, tmp_path):
    def copy(name: str) -> Path:
        return Path(shutil.copytree(releases / name, tmp_path / name, symlinks=True))

    return copy


def seal(folder: Path, **rows: int) -> None:
    """Write hashes, and rows where they are given, as they should be."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for name, entry in manifest["tables"].items():
        place = folder / entry["file"]
        entry["sha256"] = hash_of_folder(place) if place.is_dir() else sha256_of(place)
        entry["rows"] = rows.get(name, entry["rows"])
    naive.write_manifest(folder, manifest)


def problems(folder: Path) -> str:
    found = dc.audit(folder)
    assert found.ok == (not found.problems)
    return "\n".join(found.problems)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("kind", METHODS)
def test_own_files_are_in_canonical_form(copied, kind, format):
    found = dc.audit(copied(f"{kind}-{format}"))
    assert found.ok
    assert not found.remarks


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\na", b'\n"a"', 1).replace(b",x", b',"x"', 1),
        lambda data: data + b"\n",
        lambda data: data.rstrip(b"\n"),
        lambda data: data.replace(b"\n", b"\r\n"),
    ],
    ids=["byte order mark", "quotes", "empty line", "no last line feed", "carriage returns"],
)
def test_a_csv_in_another_form_is_refused(copied, change):
    folder = copied("generalized-csv")
    path = folder / "records.csv"
    data = path.read_bytes()
    assert change(data) != data
    path.write_bytes(change(data))
    seal(folder)
    assert "'records.csv' is not in the form that discreet writes" in problems(folder)


def test_a_compressed_table_is_refused_before_it_is_unpacked(copied, monkeypatch):
    folder = copied("generalized-csv")
    path = folder / "records.csv"
    path.write_bytes(gzip.compress(path.read_bytes()))
    seal(folder)
    monkeypatch.setattr(gzip, "GzipFile", None)  # whoever unpacks it fails
    assert "'records.csv' is compressed" in problems(folder)
    with pytest.raises(dc.ReleaseError, match="compressed"):
        dc.read_release(folder)


def rewritten(path: Path, table: pa.Table | None = None, **options) -> None:
    table = pa.parquet.read_table(path) if table is None else table
    options = {"store_schema": False, **options}
    pa.parquet.write_table(table, path, **options)


def test_a_parquet_file_that_is_only_rewritten_stays_canonical(copied):
    folder = copied("generalized-parquet")
    rewritten(folder / "records.parquet")
    seal(folder)
    assert not problems(folder)


@pytest.mark.parametrize(
    "options",
    [
        {"store_schema": True},
        {"compression": "gzip"},
        {"row_group_size": 30},
        {"use_dictionary": False},
        {"write_statistics": False},
    ],
    ids=str,
)
def test_a_parquet_file_in_another_form_is_refused(copied, options):
    folder = copied("generalized-parquet")
    rewritten(folder / "records.parquet", **options)
    seal(folder)
    assert "'records.parquet'" in problems(folder)


def test_metadata_of_a_parquet_file_is_refused(copied):
    folder = copied("generalized-parquet")
    path = folder / "records.parquet"
    table = pa.parquet.read_table(path)
    rewritten(path, table.replace_schema_metadata({"names": "Ann, Bob"}), store_schema=True)
    seal(folder)
    assert "metadata or a layout that discreet does not write" in problems(folder)


def test_a_parquet_file_of_another_version_is_a_problem(copied, monkeypatch):
    folder = copied("generalized-parquet")
    monkeypatch.setattr("pyarrow.cpp_version", "0.0.1")
    assert "its bytes could not be compared" in problems(folder)


def test_a_parquet_file_too_large_to_compare_is_remarked_upon(copied, monkeypatch):
    folder = copied("generalized-parquet")
    monkeypatch.setattr("discreet.io.writing.DENSE_BYTES", 1)
    found = dc.audit(folder)
    assert found.ok
    assert "its bytes were not compared" in found.remarks[0]
    output = invoke("audit", str(folder)).output
    assert "every guarantee holds; 1 check could not be made" in " ".join(output.split())


def test_rows_of_a_parquet_file_are_known_before_it_is_read(copied, monkeypatch):
    folder = copied("generalized-parquet")
    path = folder / "records.parquet"
    table = pa.parquet.read_table(path)
    rewritten(path, pa.concat_tables([table, table]))
    seal(folder)
    monkeypatch.setattr(pa.parquet, "ParquetFile", None)  # whoever reads it fails
    monkeypatch.setattr(pl, "scan_parquet", None)
    assert f"does not have the {ROWS} rows that the manifest states" in problems(folder)


@pytest.mark.parametrize("name", ["records.csv", "manifest.json"])
def test_a_link_out_of_the_folder_is_refused(copied, tmp_path, name):
    folder = copied("generalized-csv")
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    assert f"'{name}' is not a regular file of the folder" in problems(folder)


def test_a_pipe_is_refused_and_not_waited_for(copied):
    folder = copied("generalized-csv")
    os.mkfifo(folder / "report.html")
    assert "'report.html' is not a regular file" in problems(folder)
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(dc.ReleaseError, match=r"manifest\.json"):
        dc.audit(folder)


def test_a_table_under_another_file_name_is_refused(copied):
    folder = copied("generalized-csv")
    (folder / "records.csv").rename(folder / "Ann has flu.csv")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tables"]["records"]["file"] = "Ann has flu.csv"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "is neither 'records.csv' nor 'records.parquet'" in problems(folder)


@pytest.mark.parametrize("change", [{"age": "name"}, {"age": "drug", "drug": "age"}], ids=str)
def test_a_header_unlike_the_manifest_is_refused(copied, change):
    folder = copied("generalized-csv")
    path = folder / "records.csv"
    header, _, rest = path.read_text().partition("\n")
    names = [change.get(name, name) for name in header.split(",")]
    path.write_text(",".join(names) + "\n" + rest)
    seal(folder)
    assert "the columns of 'records.csv' are not those that the manifest lists" in problems(folder)
    with pytest.raises(dc.ReleaseError, match="not those that the manifest lists"):
        dc.read_release(folder)


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini", ".hidden", "notes.txt"])
@pytest.mark.parametrize("form", ["file", "link", "folder"])
def test_any_file_that_is_not_of_the_release_is_a_problem(copied, tmp_path, name, form):
    folder = copied("generalized-csv")
    if form == "file":
        (folder / name).write_text("Ann Lee has a\n")
    elif form == "link":
        (folder / name).symlink_to(tmp_path / "nowhere")
    else:
        (folder / name).mkdir()
    assert f"'{name}' is in the folder and not in the manifest" in problems(folder)
    result = invoke("audit", str(folder))
    assert result.exit_code == 1
    assert "every guarantee holds" not in result.output


def test_a_file_of_a_file_manager_among_the_parts_of_a_table_is_a_problem(copied):
    folder = copied("generalized-parquet")
    whole = folder / "records.parquet"
    whole.rename(folder / "part")
    whole.mkdir()
    (folder / "part").rename(whole / "part-00000.parquet")
    seal(folder)
    assert not problems(folder)
    (whole / ".DS_Store").write_text("Ann Lee has a\n")
    assert "'records.parquet' is not a regular file" in problems(folder)


@pytest.mark.parametrize(
    "content",
    [b"Ann Lee has a", b"x" * 64, b"Ann Lee has drug a, Bob Lee has drug b".ljust(63) + b"\n"],
    ids=["short", "letters", "a line"],
)
def test_a_text_is_no_signature(copied, content):
    folder = copied("generalized-csv")
    (folder / "manifest.sig").write_bytes(content)
    assert "'manifest.sig' is not a signature" in problems(folder)
    assert invoke("audit", str(folder)).exit_code == 1


def rewrite(folder: Path, table: str, change) -> None:
    path = folder / f"{table}.csv"
    old = pl.read_csv(path, infer_schema=False)
    new = change(old)
    new.write_csv(path, line_terminator="\n")
    seal(folder, **{table: new.height})


@pytest.mark.parametrize("pieces", [1, 2, 2**16])
def test_sorted_values_of_groups_are_wanted(copied, pieces, monkeypatch):
    monkeypatch.setattr(sensitive_sets, "IN_CACHE", pieces)
    folder = copied("decomposed-csv")
    assert not problems(folder)
    rewrite(folder, "group_values", lambda table: table.reverse())
    assert "'group_values' is not sorted by group, attribute and value" in problems(folder)


@pytest.mark.parametrize("kind", ["counted", "decomposed"])
@pytest.mark.parametrize(
    "renumber",
    [lambda n: n + 1, lambda n: 10 * n, lambda n: -n, lambda n: f"{n:05}"],
    ids=["from 2", "gaps", "negative", "leading zeros"],
)
def test_groups_are_numbered_from_one(copied, kind, renumber):
    folder = copied(f"{kind}-csv")
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, entry in manifest["tables"].items():
        if "group" in entry["columns"]:
            rewrite(
                folder,
                name,
                lambda table: table.with_columns(
                    pl.Series("group", [str(renumber(int(n))) for n in table["group"]])
                ),
            )
    assert "are not numbered from 1 to" in problems(folder)


def test_counts_have_one_form(copied):
    folder = copied("counted-csv")
    rewrite(folder, "sensitive", lambda t: t.with_columns(count="0" + pl.col("count")))
    assert "counts with signs, blanks or leading zeros" in problems(folder)


def test_a_count_in_two_rows_is_refused(copied):
    folder = copied("counted-csv")

    def split(table: pl.DataFrame) -> pl.DataFrame:
        return pl.concat([table.with_columns(pl.lit("1").alias("count"))] * 2)

    rewrite(folder, "sensitive", split)
    assert "repeat what another counts" in problems(folder)
