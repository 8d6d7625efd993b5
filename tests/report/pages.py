"""Every kind of page of one small table, made as a publisher would make them."""

from __future__ import annotations

from pathlib import Path

import discreet as dc
from discreet.metrics.comparison import Comparison, Point, Recommendation, Use
from discreet.preparation import prepare
from discreet.profile import profile
from discreet.publishing import make_release
from discreet.releases.manifest import Manifest
from discreet.report.attack_page import attack_page
from discreet.report.comparison_page import comparison_page
from discreet.report.measure_page import measure_page
from discreet.report.profile_page import profile_page

COMPARISON = Comparison(
    points=(
        Point("mondrian l=2", "mondrian", {"l": 2}, divergence_ratio=0.35, belief_99=0.5,
              belief_max=1.0, skill=0.8, query_error=0.06),
        Point("mondrian l=5", "mondrian", {"l": 5}, divergence_ratio=4.5, belief_99=0.21,
              belief_max=0.3, skill=0.3, query_error=0.3, dominated=True),
        Point("anatomy l=5", "anatomy", {"l": 5}, divergence_ratio=0.9, belief_99=0.2,
              belief_max=0.2, skill=0.2, query_error=0.09),
        Point("anatomy l=9", "anatomy", {"l": 9}, failure="at most 7 is feasible"),
    ),
    unlinked=Point("unlinked", "unlinked", {}, divergence_ratio=1.0, belief_99=0.13,
                   belief_max=0.13, skill=0.0, query_error=0.11),
    recommendations=(Recommendation(Use.QUERIES, "anatomy l=5", "It answers counts best."),),
    rows=400,
)  # fmt: skip


def write_pages(folder: Path, job: dc.Job) -> dict[str, Path]:
    """Publish, attack, measure and profile; the page of each by its kind."""
    place = make_release(None, job, seed=1).save(folder / "release")
    manifest = Manifest.load(place)
    attacked = dc.attack(place, original=job)
    measured = dc.measure(place, original=job, queries=50)
    task = prepare(job)
    profiled = profile(task.table, task.hierarchies, links=task.links)
    pages = {
        "attack": attack_page(attacked, manifest).html(),
        "measure": measure_page(measured.to_dict(), manifest).html(),
        "profile": profile_page(profiled).html(),
        "compare": comparison_page(COMPARISON).html(),
        "notebook": "".join(
            one._repr_html_() for one in (dc.audit(place), attacked, measured, profiled, COMPARISON)
        ),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {"publish": place / "report.html"} | {n: folder / f"{n}.html" for n in pages}
