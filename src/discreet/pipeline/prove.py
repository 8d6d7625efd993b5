"""The audit of a release before it appears, and its verdicts in the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.pipeline.engine import Reading
from discreet.pipeline.manifest_draft import name_published_values
from discreet.pipeline.release import Release
from discreet.releases.audit.audit import Audit, require_sound
from discreet.releases.audit.figures import settle
from discreet.releases.audit.files import hash_of_table
from discreet.releases.audit.linked_labels import public_promise
from discreet.releases.manifest import Manifest

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


def audit_reading(
    release: Release, manifest: Manifest, reading: Reading, ledger: Ledger | None
) -> Audit:
    """Audit tables, raise unless every check passes, and write the findings into the manifest.

    With a ledger, the series that the release would join is judged too.
    """
    name_published_values(manifest, reading.values)
    audit = reading.audit(manifest)
    if release.draft is not None and ledger is not None:
        from discreet.pipeline.series_check import with_series

        correlation = release.task.correlation
        audit = with_series(audit, ledger, release.draft, reading, correlation)
    require_sound(audit)
    manifest.promises = [public_promise(promise, manifest) for promise in audit.promises]
    manifest.readers = list(audit.readers)
    assert audit.tally is not None  # a release of the right form has one
    settle(manifest, audit.tally, audit.picture)
    manifest.singling_out = audit.singling_out
    return audit


@contextmanager
def hashing(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Hash the written files for the manifest, in parallel with the block."""
    places = {name: folder / entry.file for name, entry in manifest.tables.items()}
    with ThreadPoolExecutor(1) as pool:
        hashes = {name: pool.submit(hash_of_table, place) for name, place in places.items()}
        yield
        for name, digest in hashes.items():
            manifest.tables[name].sha256 = digest.result()
