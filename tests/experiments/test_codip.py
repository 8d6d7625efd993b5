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
