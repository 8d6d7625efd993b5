"""The simulated series: without a ledger beliefs grow, with one they stay below the bound."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from experiments.simulation import SimulatedPopulation, main, simulate

SVG = "{http://www.w3.org/2000/svg}"


def test_a_series_without_a_ledger_reveals_what_a_ledger_bounds(tmp_path, capsys):
    plot = tmp_path / "series.svg"
    assert main(["--records", "60", "--releases", "3", "--json", "--plot", str(plot)]) == 0
    picture = ElementTree.parse(plot).getroot()
    lines = [line.get("points").split() for line in picture.iter(SVG + "polyline")]
    assert [len(line) for line in lines] == [3, 3, 3]  # a line for each publisher
    assert "guaranteed at most" in [text.text for text in picture.iter(SVG + "text")]
    steps = json.loads(capsys.readouterr().out)["steps"]
    last = {step["method"]: step for step in steps if step["release"] == 3}
    assert last["independent"]["greatest"] > 0.9
    assert last["rho-different"]["greatest"] <= 0.5 + 1e-9


def test_the_table_and_the_page_have_every_release(tmp_path, capsys):
    assert main(["--records", "40", "--releases", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line[:5] for line in printed[2:4]] == ["| 1 |", "| 2 |"]
    result = simulate(SimulatedPopulation(people=40, releases=2))
    page = result.save_page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What all releases together reveal" in page
    assert all("vega-lite" in chart["$schema"] for chart in result.charts().values())


@pytest.mark.parametrize("wrong", [["--records", "5"], ["--updates", "2"], ["--rho", "1"]])
def test_figures_out_of_range_are_refused(wrong):
    with pytest.raises(SystemExit):
        main(wrong)
