"""The files of a release folder: those of the manifest, regular, unchanged and in canonical form.

Any other file in a folder would be published without a check. A table in another form than
discreet writes (quotes, metadata, compression) could hide values in that form. The checks run from
cheap to expensive, so that a file is neither followed out of the folder nor unpacked before its
name, hash, header and size are known to be those of the manifest.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from discreet.errors import InputError, ReleaseError
from discreet.extras import require_pyarrow
from discreet.io.atomic import hash_of_folder
from discreet.io.signatures import SIGNATURE, is_signature
from discreet.io.source import Source
from discreet.io.tables import column_names
from discreet.io.writing import (
    is_canonical_csv,
    is_canonical_parquet,
    is_compressed,
    is_of_other_library,
    parquet_rows,
)
from discreet.releases.manifest import FILE_NAME, Manifest, TableEntry, sha256_of
from discreet.table.coded_table import Tables

REPORT = "report.html"


def hash_of_table(path: Path) -> str:
    """Return the hash of a table's file, or one over all files of a table in several."""
    return hash_of_folder(path) if path.is_dir() else sha256_of(path)


def source_of_table(folder: Path, entry: TableEntry) -> Source:
    """Return where and how a published table is read."""
    return Source(path=folder / entry.file, delimiter="," if _is_csv(entry) else None)


def file_problems(folder: Path, manifest: Manifest) -> list[str]:
    """Return files that should not be in the folder, and files that are not as published."""
    beside = (FILE_NAME, REPORT, SIGNATURE)
    expected = {*beside, *(entry.file for entry in manifest.tables.values())}
    problems = [
        f"'{path.name}' is in the folder and not in the manifest"
        for path in sorted(folder.iterdir())
        if path.name not in expected
    ]
    problems += [
        f"'{name}' is not a regular file of the folder"
        for name in beside
        if _exists(folder / name) and not _is_regular(folder / name)
    ]
    for name, entry in manifest.tables.items():
        if Path(entry.file).name != entry.file:
            raise ReleaseError(f"{FILE_NAME}: table '{name}' points outside the folder.")
        problems += islice(_table_problems(folder, name, entry, hashed=True), 1)
    report = folder / REPORT
    if _is_regular(report) and sha256_of(report) != manifest.report_sha256:
        problems.append(f"'{REPORT}' is not the page that was published (sha256)")
    signature = folder / SIGNATURE
    if _is_regular(signature) and not is_signature(signature):
        problems.append(f"'{SIGNATURE}' is not a signature: it has another length or form")
    return problems


def form_problems_of_files(
    folder: Path, manifest: Manifest, tables: Tables, *, signed: bool
) -> tuple[list[str], list[str]]:
    """Return files that are not in canonical form, and files for which that is unknown.

    A file by another version of the Parquet library is refused unless its hash is ``signed``: its
    form cannot be checked, and could carry anything.
    """
    problems, remarks = [], []
    for name, entry in manifest.tables.items():
        path, table = folder / entry.file, tables[name]
        # Compare the bytes with those that discreet writes; None where that is unknown.
        if _is_csv(entry):
            canonical: bool | None = is_canonical_csv(path, table)
        else:
            dense = sum(
                int(c.text.str.len_bytes().fill_null(0).to_numpy().astype(float) @ c.counts)
                for c in table
            )
            canonical_files = [is_canonical_parquet(file, dense) for file in _files(path)]
            canonical = (
                False if False in canonical_files else None if None in canonical_files else True
            )
        # An unknown form is refused, unless a signature covers the file.
        if canonical is None and not signed and any(map(is_of_other_library, _files(path))):
            problems.append(
                f"'{entry.file}' was written by another version of the Parquet library, so its "
                "bytes could not be compared with the form that discreet writes. Audit it with "
                "that version, or check the publisher's signature (--trust)"
            )
        elif canonical is None:
            remarks.append(
                f"'{entry.file}' was written by another version of the Parquet library or is very "
                "large, so its bytes were not compared with the form that discreet writes. Its "
                "table was judged."
            )
        elif not canonical:
            problems.append(
                f"'{entry.file}' is not in the form that discreet writes: quotes, metadata or "
                "layout could carry what its table does not show"
            )
    return problems, remarks


def require_readable(folder: Path, manifest: Manifest) -> None:
    """Raise unless every table is a file that discreet may have written, regardless of its hash."""
    if any(_is_statement(name, entry) for name, entry in manifest.tables.items()):
        raise InputError(
            f"{folder}: the tables of this release are in a database. Audit it there: discreet "
            f"audit {folder} --database URL"
        )
    for name, entry in manifest.tables.items():
        for problem in _table_problems(folder, name, entry, hashed=False):
            raise ReleaseError(
                f"{folder}: {problem}. Get the release again from its publisher, and audit it."
            )


def _table_problems(folder: Path, name: str, entry: TableEntry, hashed: bool) -> Iterator[str]:
    """Yield reasons not to read a table, by rising cost; only the first is sure to be true."""
    path = folder / entry.file
    if _is_statement(name, entry):
        yield from _statement_problems(path, entry, hashed)
        return
    # The name and the sort of file, before any byte is read.
    if entry.file not in (f"{name}.csv", f"{name}.parquet"):
        yield f"the file of '{name}' is neither '{name}.csv' nor '{name}.parquet'"
    if not _exists(path):
        yield f"'{entry.file}' is missing"
    if not _is_regular(path) and (_is_csv(entry) or not _is_parts(path)):
        yield f"'{entry.file}' is not a regular file of the folder"
    # The bytes as published, before they are unpacked.
    if hashed and not entry.sha256:
        yield f"the manifest has no sha256 of '{entry.file}'"
    if hashed and hash_of_table(path) != entry.sha256:
        yield f"'{entry.file}' was changed after it was published (sha256)"
    if _is_csv(entry) and is_compressed(path):
        yield f"'{entry.file}' is compressed, which discreet does not write"
    # Header and size, before the table is read.
    if not _is_csv(entry):
        require_pyarrow()
    try:
        if not _is_csv(entry):
            rows = [parquet_rows(file) for file in _files(path)]
            if None in rows:
                yield f"'{entry.file}' has metadata or a layout that discreet does not write"
            if sum(count or 0 for count in rows) != entry.rows:
                yield f"'{entry.file}' does not have the {entry.rows} rows that the manifest states"
        if column_names(source_of_table(folder, entry)) != tuple(entry.columns):
            yield f"the columns of '{entry.file}' are not those that the manifest lists"
    except (InputError, OSError):
        yield f"'{entry.file}' cannot be read as a table"


def _is_statement(name: str, entry: TableEntry) -> bool:
    """Return whether a table is in a database, and its file the statement that reads it."""
    return entry.file == f"{name}.sql"


def _statement_problems(path: Path, entry: TableEntry, hashed: bool) -> Iterator[str]:
    if not _is_regular(path):
        yield f"'{entry.file}' is missing, or not a regular file of the folder"
    elif hashed and hash_of_table(path) != entry.sha256:
        yield f"'{entry.file}' was changed after it was published (sha256)"


def _is_csv(entry: TableEntry) -> bool:
    return entry.file.endswith(".csv")


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _is_parts(path: Path) -> bool:
    """Return whether a table in several files is a folder of these and of nothing else."""
    if path.is_symlink() or not path.is_dir():
        return False
    entries = sorted(path.iterdir())
    names = [f"part-{number:05}.parquet" for number in range(len(entries))]
    return [entry.name for entry in entries] == names and all(map(_is_regular, entries))


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _is_regular(path: Path) -> bool:
    return _exists(path) and stat.S_ISREG(path.lstat().st_mode)
