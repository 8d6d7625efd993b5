"""Charts as values: the same figures on the page, in the table below it and in Altair."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.releases.audit.figures import size_bands
from discreet.report.charts.chart import Chart, Mark, Scale, vega_lite
from discreet.report.charts.result_charts import (
    error_chart,
    frontier_chart,
    learning_chart,
    series_chart,
)
from discreet.report.charts.svg import draw, standalone, ticks_of
from discreet.report.pieces import Card, Page, Section, table, text
from discreet.utility.comparison import Comparison, Point, Recommendation, Use

FRAME = pl.DataFrame(
    {
        "age": [21, 22, 23, 41, 42, 43, 44, 45],
        "sex": ["f", "m"] * 4,
        "disease": ["flu", "gout", "flu", "flu", "flu", "flu", "gout", "asthma"],
    }
)

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


def release_of(method: object = None) -> dc.Release:
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [20, "*"]}},
            "sex": {"role": "drop"},
            "disease": {"role": "sensitive"},
        },
        requirements=[dc.KAnonymity(k=3)],
        method=method or dc.FullDomain(),
    )
    return dc.publish(FRAME, job, seed=1)


def test_the_picture_is_counted_from_the_published_groups():
    picture = release_of().audit.picture
    (bands,) = picture.sizes.values()
    assert [(band.low, band.groups, band.people) for band in bands if band.groups] == [
        (3, 1, 3), (5, 1, 5),
    ]  # fmt: skip
    found = picture.beliefs["disease"]
    beliefs = [2 / 3, 1 / 3, 2 / 3, 3 / 5, 3 / 5, 3 / 5, 1 / 5, 1 / 5]
    assert found.mean == pytest.approx(np.mean(beliefs))
    assert found.greatest == pytest.approx(2 / 3)
    assert found.people == sum(found.histogram) == 8
    assert [i for i, count in enumerate(found.histogram) if count] == [3, 6, 11, 13]


def test_bands_hold_every_group_once():
    sizes = np.random.default_rng(0).integers(1, 3000, 500)
    bands = size_bands(sizes)
    assert sum(band.groups for band in bands) == 500
    assert sum(band.people for band in bands) == sizes.sum()
    for band in bands:
        inside = sizes[(sizes >= band.low) & (sizes <= band.high)]
        assert (band.groups, band.people) == (len(inside), inside.sum())
    assert all(a.high + 1 == b.low for a, b in pairwise(bands))


def test_a_bar_is_as_long_as_its_figure():
    drawn = ET.fromstring(draw(error_chart(0.05, 0.2)))
    bars = [e for e in drawn.iter() if "bar" in e.get("class", "").split()]
    short, long = (float(bar.get("width")) for bar in bars)
    assert long / short == pytest.approx(4, rel=0.01)


def test_the_frontier_is_logarithmic_and_says_which_points_are_outdone():
    chart = frontier_chart(COMPARISON)
    assert chart is not None
    place = {}
    for mark in chart.marks:
        place[mark.series, mark.label] = mark
    assert place["mondrian", "mondrian l=5"].faint
    assert place["mondrian", "mondrian l=2"].y_end == 1.0
    drawn = ET.fromstring(draw(chart))
    titles = [e.text for e in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert "anatomy l=5" in titles
    assert not any("l=9" in title for title in titles)
    assert any(rule.at == 1 and rule.axis == "x" for rule in chart.rules)
    spots = [tick for tick in ticks_of(chart.x) if 0.3 < tick < 6]
    assert spots == [0.5, 1, 2, 5]


@pytest.mark.parametrize(
    "chart",
    [
        frontier_chart(COMPARISON),
        learning_chart(COMPARISON),
        error_chart(0.1, 0.3),
        series_chart({"m-invariance": [0.3, 0.5], "rho": [0.2, 0.2]}, 0.5),
    ],
    ids=lambda chart: chart.name,
)
def test_a_chart_stands_alone_and_is_vega_lite(chart):
    import altair

    assert ET.fromstring(standalone(chart)).tag.endswith("svg")
    spec = altair.Chart.from_dict(vega_lite(chart)).to_dict()
    values = re.findall(r"'series': '([^']*)'", str(spec))
    assert set(values) == {mark.series for mark in chart.marks}


def test_results_have_charts_by_name_that_notebooks_draw():
    release = release_of()
    assert set(release.charts()) == {"group_sizes", "beliefs_by_group", "loss"}
    assert set(release.audit.charts()) == {"group_sizes", "beliefs_by_group"}
    measured = dc.measure(release, original=None, queries=20)
    assert {"loss", "query_error"} >= set(measured.charts()) >= {"loss"}
    assert set(COMPARISON.charts()) == {"frontier", "learning"}
    spec = release.charts()["loss"]
    assert spec._repr_mimebundle_()["application/vnd.vegalite.v5+json"] == spec
    assert {row["lane"] for row in spec["data"]["values"]} == {"age"}


def test_results_render_in_a_notebook():
    release = release_of()
    attacked = dc.attack(release, original=None, attacks=["homogeneity"])
    for shown in (release, release.audit, attacked, COMPARISON):
        html = shown._repr_html_()
        assert html.count("<svg") >= 1
        assert "<script" not in html
        assert "notebook" in html


def test_text_is_escaped_everywhere():
    bad = "<b>&'\""
    page = Page(
        kind=bad, subject=bad, heading=bad, tone="good", lede=(bad,),
        cards=[Card("key", bad, bad, bad, bad)],
        sections=[Section(bad, table((bad,), [(bad,)]), "short")],
    ).html()  # fmt: skip
    body = page.partition("<body")[2]
    assert "<b>&" not in body
    assert body.count(text(bad)) >= 8
    chart = Chart("n", "bars", bad, bad, Scale(bad), Scale(bad), (Mark(x=1, lane=bad, label=bad),),
                  (bad,), ((bad,),))  # fmt: skip
    assert ET.fromstring(draw(chart)).find("{http://www.w3.org/2000/svg}title").text == bad
