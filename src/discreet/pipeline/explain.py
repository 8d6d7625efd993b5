"""The files beside the tables of a release: report, manifest, signature, private files."""

from __future__ import annotations

import json
from pathlib import Path

from discreet.io.atomic import write_private
from discreet.io.signatures import SigningKey
from discreet.pipeline.release import Release
from discreet.pipeline.verify import risk_file
from discreet.releases.audit.files import REPORT
from discreet.releases.audit.persons import packed_rows
from discreet.releases.group_summary import Picture
from discreet.releases.manifest import FILE_NAME, Manifest, sha256_of


def write_explanation(
    folder: Path,
    manifest: Manifest,
    picture: Picture,
    report: bool,
    key: SigningKey | None,
    language: str = "en",
) -> None:
    """Write the page and the manifest of a release into its folder, and sign it with a key.

    The page is a function of the manifest, the tables and the language that the page itself
    names, so an audit can render it again; its hash is in the manifest.
    """
    if report:
        from discreet.report.pages.release_page import release_page
        from discreet.statements import speaking

        with speaking(language):
            page = release_page(manifest, picture).html()
        (folder / REPORT).write_text(page, encoding="utf-8")
        manifest.report_sha256 = sha256_of(folder / REPORT)
    (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")
    if key is not None:
        key.sign(folder, FILE_NAME)


def write_private_files(path: Path, release: Release, report: bool) -> None:
    """Write the publisher's private files beside a release: figures, and a page of them.

    Where persons keep several rows, a later audit finds them by the source row of each published
    row.
    """
    rows_of_source = release.formed.source_rows() if release.manifest.keeps_rows else None
    if rows_of_source is not None:
        packed = {name: packed_rows(rows) for name, rows in rows_of_source.items()}
        release.private["source_rows"] = packed
    text = json.dumps(release.private, indent=1) + "\n"
    write_private(path.with_name(f"{path.name}.private.json"), text)
    place = path.with_name(f"{path.name}.private.html")
    rows = path.with_name(f"{path.name}.private.rows.csv")
    place.unlink(missing_ok=True)  # of a release that this one replaces
    rows.unlink(missing_ok=True)
    if not report:
        return
    write_private(place, release.private_page().html())
    attacks = None if release.review is None else release.review.attacks
    if attacks is not None and attacks.at_risk:
        write_private(rows, risk_file(attacks.at_risk))
