"""The experiment runs on any job, and reads Census-Income as the paper does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import naive
from tests.real_data import real_data

import discreet as dc
from discreet.pipeline.prepare import prepare
from experiments import codip

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "codip" / "job.yaml"


def test_every_figure_on_the_example():
    settings = codip.CodipSettings(data=EXAMPLE, alpha=0.4)
    steps = list(codip.merging(settings))
    assert [row["tables"] for row in steps] == list(range(12, 0, -1))
    assert [row["attributes"] for row in codip.by_attributes(settings)] == list(range(2, 13))
    by_ceiling = list(codip.closeness(settings))
    assert len({row["dm"] for row in by_ceiling}) == 3
    nodes = [row["nodes"] for row in codip.by_k(settings)]
    assert nodes == sorted(nodes, reverse=True)


@pytest.mark.parametrize(
    ("status", "bits"),
    [
        ("Householder", ""),
        ("Spouse of householder", "married"),
        ("Child <18 never marr not in subfamily", "under 18|descendant"),
        ("Grandchild 18+ ever marr RP of subfamily", "married|descendant|subfamily"),
        ("Child under 18 of RP of unrel subfamily", "under 18|descendant|subfamily"),
    ],
)
def test_household_bits(status, bits):
    assert codip.household_bits(status) == bits


def test_census_income_is_read_from_its_raw_form(tmp_path):
    lines = []
    for number in range(40):
        cells = [f"v{number % 2}"] * 42
        cells[0] = str(20 + number)
        cells[5], cells[16], cells[17], cells[18] = "0", str(number % 3), "0", "5"
        cells[8] = "Not in universe or children" if number < 4 else f"Industry {number % 3}"
        cells[22] = (
            "Spouse of householder" if number % 2 else "Child 18+ never marr RP of subfamily"
        )
        lines.append(", ".join(cells))
    raw = tmp_path / "census-income.data"
    raw.write_text("\n".join(lines) + "\n", encoding="utf-8")
    frame = codip.census_frame(raw)
    assert frame.height == 36
    assert frame["gain"].unique().sort().to_list() == ["0", "1"]
    task = prepare(codip.census_job(), frame)
    bits = [name for name in task.table.columns if name.startswith("household=")]
    assert bits == ["household=descendant", "household=married", "household=subfamily"]
    assert dc.publish(frame, codip.census_job()).manifest.kind == "projected"


@pytest.mark.data
def test_adult_ratios_and_gap():
    """On the real table: ratios as computed directly, the best plan no worse than the greedy."""
    job = codip.adult_job(real_data("adult", "adult.csv").parent.parent)
    task = prepare(job)
    columns = {
        column.name: column.codes.tolist() for column in task.table.sensitive[:5]
    }  # codes tell values apart as well as their text
    part = codip.with_attributes(task, list(columns))
    for step in dc.Codip().explore(part).steps:
        plan = [list(block) for block in step.plan]
        assert step.association_loss == pytest.approx(naive.association_loss_of(columns, plan))
        assert step.information_exposure == pytest.approx(naive.exposure_of(columns, plan))
    settings = codip.CodipSettings(subsets=2)
    for row in codip.gap(settings):
        assert row["exhaustive"] <= row["greedy"] + 1e-12


@pytest.mark.data
@pytest.mark.parametrize("recoding", ["full-domain", "mondrian"])
def test_adult_is_published_and_audited(recoding):
    job = codip.adult_job(real_data("adult", "adult.csv").parent.parent)
    release = dc.publish(None, job.using(dc.Codip(beta=0.3, recoding=recoding)))
    assert release.audit is not None
    assert release.audit.ok
    loss = release.private["utility"]["loss"]
    assert loss < (0.1 if recoding == "mondrian" else 0.7)


@pytest.fixture
def census():
    path = real_data("census-income", "census-income.data")
    return codip.CodipSettings(census=True, data=path)


@pytest.mark.data
def test_figures_5_and_7_on_the_paper_s_data(census):
    """(0.19, 0.15), which section 7.1 names, is at nine tables; N grows with the attributes."""
    ratios = {
        row["tables"]: (row["association loss"], row["information exposure"])
        for row in codip.merging(census)
    }
    assert ratios[9] == pytest.approx((0.1888, 0.1436), abs=5e-5)
    assert ratios[2] == pytest.approx((0.0097, 0.8265), abs=5e-5)
    nearest = min(ratios, key=lambda n: abs(ratios[n][0] - 0.19) + abs(ratios[n][1] - 0.15))
    assert nearest == 9
    tables = [row["tables"] for row in codip.by_attributes(census)]
    assert tables == [2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5]


@pytest.mark.data
def test_attributes_of_adult_say_more_about_each_other_than_those_of_census_income(census):
    adult = codip.CodipSettings(data=real_data("adult", "adult.csv"))
    measured = [next(codip.association(settings)) for settings in (adult, census)]
    shares = [row["mean normalized mutual information"] for row in measured]
    assert shares == pytest.approx([0.064, 0.020], abs=5e-4)
    assert [row["attributes of each of two tables"] for row in measured] == ["4 and 5", "14 and 1"]
    tables = [row["tables"] for row in codip.by_attributes(adult)]
    assert tables == [2] * 8


@pytest.mark.data
def test_figures_8_and_9_with_our_hierarchies(census):
    """A smaller t than the single table's: never on Adult, by 6 to 13 % from eight tables on there.

    Only under the loosest ceiling, so that figure 9 counts no plan with a smaller t.
    """
    adult = codip.CodipSettings(data=real_data("adult", "adult.csv"), alpha=0.4)
    assert {row["improvement"] for row in codip.closeness(adult)} == {0}
    better = [row for row in codip.closeness(census) if row["improvement"]]
    assert [row["tables"] for row in better] == list(range(8, 16))
    assert len({row["dm"] for row in better}) == 1
    assert [round(row["improvement"], 2) for row in better] == [0.06] * 7 + [0.13]
    nodes, plans = {}, {}
    for name, settings in (("adult", adult), ("census", census)):
        rows = list(codip.by_k(settings))
        nodes[name] = [row["nodes"] for row in rows]
        first = next(key for key in rows[0] if key.startswith("plans"))
        plans[name] = [row[first] for row in rows]
    assert nodes == {"adult": [4, 4, 4, 4, 2, 1], "census": [6, 6, 5, 5, 3, 0]}
    assert plans == {"adult": [3] * 6, "census": [5, 5, 5, 5, 5, 0]}
