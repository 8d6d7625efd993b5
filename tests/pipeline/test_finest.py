"""No cell is finer than the level of its hierarchy at which a job lets it be published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import InputError, JobError
from discreet.hierarchies.cells import Range, ValueSet, parse_cell

METHODS: dict[str, dict[str, Any]] = {
    "mondrian": {"method": "mondrian"},
    "mondrian-grid": {"method": {"mondrian": {"cells": "grid"}}},
    "full-domain": {"method": "full-domain"},
    "local-recoding": {"method": "local-recoding"},
    "local-recoding-ranges": {"method": {"local-recoding": {"ranges": True}}},
    "top-down": {"method": "top-down"},
    "codip": {"method": "codip"},
    "msa-diversity": {"method": "msa-diversity", "requirements": [{"p-diversity": {"l": 2}}]},
    "msa-buckets": {
        "method": {"msa-diversity": {"publish": "buckets"}},
        "requirements": [{"p-diversity": {"l": 2}}],
    },
    "anatomy": {"method": {"anatomy": {"l": 2}}, "requirements": []},
    "decomposition": {"method": {"decomposition": {"l": {"diag": 2}}}, "requirements": []},
    "unlinked": {"method": "unlinked"},
}
TREE = {"North": {"Coast": ["10115", "10999"], "Lakes": ["20095"]}, "South": ["80331", "80999"]}


def patients(rows: int = 150) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, rows).astype(str),
            "zip": rng.choice(["10115", "10999", "20095", "80331", "80999"], rows),
            "born": [f"19{year}-0{month}-11" for year, month in
                     zip(rng.integers(50, 99, rows), rng.integers(1, 9, rows), strict=True)],
            "diag": rng.choice(["flu", "cold", "gout", "ulcer"], rows),
        }
    )  # fmt: skip


def job(**parts: Any) -> dc.Job:
    attributes: dict[str, Any] = {
        "age": {"type": "integer", "hierarchy": {"intervals": [5, 10, 20, "*"]}, "finest": 2},
        "zip": {"hierarchy": {"tree": TREE}, "finest": 1},
        "born": {"type": "date", "hierarchy": {"dates": ["month", "year", "decade", "*"]},
                 "finest": "year"},
    }  # fmt: skip
    for name, changes in parts.pop("attributes", {}).items():
        attributes[name] |= changes
    written = {
        "attributes": {
            **{name: {"role": "quasi-identifier", **one} for name, one in attributes.items()},
            "diag": {"role": "sensitive"},
        },
        "requirements": [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}],
    }
    return dc.Job(**{**written, **parts})


def ages_of(cell: str) -> list[tuple[float, float]]:
    """The half-open ranges of ages that a cell lists."""
    parsed = parse_cell(cell)
    if isinstance(parsed, ValueSet):
        return [ages for member in parsed.members if member for ages in ages_of(member)]
    assert isinstance(parsed, Range), cell
    assert not parsed.closed, cell
    return [(float(parsed.low), float(parsed.high))]


@pytest.mark.parametrize("method", METHODS)
def test_no_method_publishes_a_finer_cell(method: str, tmp_path: Path) -> None:
    patients().write_csv(tmp_path / "patients.csv")
    chosen = job(source={"path": str(tmp_path / "patients.csv")}, **METHODS[method])
    release = dc.publish(None, chosen, seed=1)
    release.save(tmp_path / "release", accept_risk="a test of cells")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert {n: a.get("finest") for n, a in manifest["attributes"].items()} == {
        "age": 2, "zip": 1, "born": 2, "diag": None
    }  # fmt: skip
    zips = {"Coast", "Lakes", "80331", "80999", "North", "South", "*"}
    for entry in manifest["tables"].values():
        rows = pl.read_csv(tmp_path / "release" / entry["file"], infer_schema=False)
        if "age" in rows.columns:
            for cell in rows["age"].unique():
                for low, high in [] if cell == "*" else ages_of(cell):
                    assert low % 10 == high % 10 == 0, cell
        if "zip" in rows.columns:
            members = rows["zip"].str.strip_chars("{}").str.split(", ").explode()
            assert set(members) <= (zips - {"80331", "80999"}) | {"South"}
        if "born" in rows.columns:
            assert not rows["born"].str.contains(r"\d-\d\d-").any()
    audit = dc.audit(tmp_path / "release", original=chosen)
    assert audit.ok, audit
    figures = dc.measure(tmp_path / "release", original=chosen).to_dict()
    assert figures["loss"] >= 0.1, figures  # of the labels themselves


def test_a_job_that_allows_finer_cells_is_another_job(tmp_path: Path) -> None:
    patients().write_csv(tmp_path / "patients.csv")
    parts: dict[str, Any] = {
        "source": {"path": str(tmp_path / "patients.csv")},
        "method": "unlinked",
    }
    coarse, fine = job(**parts), job(**parts, attributes={"age": {"finest": 1}})
    dc.publish(None, fine, seed=1).save(tmp_path / "fine", accept_risk="a test of cells")
    assert dc.audit(tmp_path / "fine", original=fine).ok
    audit = dc.audit(tmp_path / "fine", original=coarse)
    assert not audit.ok
    assert "another finest level of 'age'" in str(audit)


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        ({"age": {"finest": 7}}, r"attributes.age.finest: the hierarchy has no level 7. It has "
         r"levels 1 to 4\."),
        ({"born": {"finest": "day"}}, r"no level 'day'. It has levels 1 to 4 \(month, year"),
        ({"age": {"finest": 4}}, r"all rows have one label at level 4. Use a lower level, or"),
    ],
)  # fmt: skip
def test_levels_that_a_hierarchy_lacks_or_that_say_nothing(
    attribute: dict[str, Any], problem: str
) -> None:
    with pytest.raises(JobError, match=problem):
        dc.publish(patients(), job(attributes=attribute))


def test_only_quasi_identifiers_have_a_finest_level() -> None:
    with pytest.raises(JobError, match="'finest' is for quasi-identifiers, not for role 'sens"):
        dc.Job(attributes={"diag": {"role": "sensitive", "finest": 1}})


def test_missing_values_stay_missing_and_automatic_hierarchies_are_built() -> None:
    table = patients().with_columns(
        age=pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise("age")
    )
    chosen = job(method="unlinked", attributes={"age": {"hierarchy": None, "finest": 1}})
    release = dc.publish(table, chosen, seed=1)
    ages = release.tables["quasi_identifiers"]["age"]
    assert ages.null_count() == 15
    assert ages.drop_nulls().str.starts_with("[").all()


def test_the_spark_engine_names_the_key() -> None:
    from discreet.addons.spark.spark_engine import SparkEngine

    with pytest.raises(InputError, match="attributes.age.finest: not supported by the engine"):
        SparkEngine.require_supported(None, job())  # type: ignore[arg-type]


def test_a_level_that_hardly_joins_direct_identifiers_is_refused() -> None:
    """Times without their last digit are still times of one person each."""
    rng = np.random.default_rng(1)
    clock = zip(rng.integers(0, 24, 150), rng.integers(0, 60, (150, 2)), strict=True)
    times = [f"2024-05-07 {hour:02}:{minute:02}:{second:02}" for hour, (minute, second) in clock]
    at: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"mask": "right"}}
    attributes = {"at": at, "diag": {"role": "sensitive"}}
    table = patients().with_columns(at=pl.Series(times)).select("at", "diag")
    with pytest.raises(JobError, match="at level 1 of its hierarchy .* still have a label of"):
        dc.publish(
            table, dc.Job(attributes={**attributes, "at": {**at, "finest": 1}}, method="unlinked")
        )
    hours = {**attributes, "at": {**at, "finest": 6}}
    release = dc.publish(table, dc.Job(attributes=hours, method="unlinked"), seed=1)
    assert release.tables["quasi_identifiers"]["at"].n_unique() <= 24
