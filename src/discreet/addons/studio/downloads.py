"""What leaves the private folder: a zip, or a folder of this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from discreet import ReleaseError
from discreet.io.atomic import release_place, write_private

MANIFEST = "manifest.json"
PRIVATE_ENDINGS = (".private.json", ".private.html", ".private.rows.csv")


def zipped(folder: Path, name: str, files: Iterable[tuple[str, Path]]) -> Response:
    """Return files as a zip, which is written to a folder and removed once it is sent."""
    handle, written = tempfile.mkstemp(suffix=".zip", dir=folder)
    place = Path(written)
    try:
        with (
            os.fdopen(handle, "wb") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for inside, file in files:
                archive.write(file, inside)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
    return FileResponse(
        place,
        media_type="application/zip",
        filename=name,
        background=BackgroundTask(place.unlink, missing_ok=True),
    )


def files_below(folder: Path, inside: str) -> list[tuple[str, Path]]:
    """Return the files of a folder with their names in a zip."""
    return [
        (f"{inside}/{file.relative_to(folder).as_posix()}", file)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    ]


def private_files(release: Path, inside: str) -> list[tuple[str, Path]]:
    """Return the private files beside a release."""
    beside = [(ending, release.with_name(release.name + ending)) for ending in PRIVATE_ENDINGS]
    return [(inside + ending, file) for ending, file in beside if file.is_file()]


def save_release(
    release: Path, target: Path, others: Iterable[tuple[str, Path]], *, force: bool
) -> list[str]:
    """Copy a release, whole or not at all, with its private record and job beside it.

    ``others`` are further files by their name beside the release. Returns all that was written.
    """
    if not target.parent.is_dir():
        raise ReleaseError(f"{target.parent}: there is no such folder. Make it first.")
    if os.path.lexists(target) and not force:
        raise ReleaseError(f"{target} already exists. Choose another name, or replace it.")
    if target.is_dir() and not (target / MANIFEST).is_file():
        raise ReleaseError(f"{target} is not a release, so it is not replaced.")
    with release_place(target, force=force) as partial:
        shutil.copytree(release, partial, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for ending in PRIVATE_ENDINGS:  # of a release that this one replaces
        target.with_name(target.name + ending).unlink(missing_ok=True)
    written = [str(target)]
    for inside, file in [*private_files(release, target.name), *others]:
        place = target.parent / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        write_private(place, file.read_bytes())
        written.append(str(place))
    return written


def attachment(text: str, name: str) -> Response:
    """Return text as a file to save."""
    headers: dict[str, Any] = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode(), media_type="text/yaml; charset=utf-8", headers=headers)
