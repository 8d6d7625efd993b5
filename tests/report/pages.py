"""Every kind of page of one small table, made as a publisher would make them."""

from __future__ import annotations

from pathlib import Path

from tests.saving import REASON

import discreet as dc
from discreet.job.table_profile import profile_table
from discreet.pipeline.prepare import prepare
from discreet.pipeline.run import make_release
from discreet.releases.manifest import Manifest
from discreet.report.pages.attack_page import attack_page
from discreet.report.pages.measure_page import comparison_page, measure_page
from discreet.report.pages.profile_page import profile_page


def write_pages(folder: Path, job: dc.Job) -> dict[str, Path]:
    """Publish, attack, measure, compare and profile; the page of each by its kind."""
    place = make_release(None, job, seed=1).save(folder / "release", attack=60, accept_risk=REASON)
    manifest = Manifest.load(place)
    attacked = dc.attack(place, original=job)
    measured = dc.measure(place, original=job, queries=50)
    compared = dc.compare(
        None, job, methods=["mondrian", "msa-diversity"], vary={"l": [2, 60]}, queries=20
    )
    compared.save(folder / "comparison")
    shown = comparison_page(compared, job).html()
    (folder / "comparison" / "comparison.html").write_text(shown, encoding="utf-8")
    task = prepare(job)
    profiled = profile_table(task.table, task.hierarchies, links=task.links)
    pages = {
        "attack": attack_page(attacked, manifest, job).html(),
        "measure": measure_page(measured.to_dict(), manifest, job).html(),
        "profile": profile_page(profiled).html(),
        "notebook": "".join(
            one._repr_html_() for one in (dc.audit(place), attacked, measured, profiled, compared)
        ),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    private = place.with_name(f"{place.name}.private.html")
    made = {
        "publish": place / "report.html",
        "private": private,
        "compare": folder / "comparison/comparison.html",
    }
    return made | {name: folder / f"{name}.html" for name in pages}
