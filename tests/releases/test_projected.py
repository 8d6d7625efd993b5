"""The audit of projected releases: what it finds in tampered tables, and whether orders tell."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release
from discreet.releases.audit.row_order import related_columns

ROWS = 400


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    cause = rng.integers(0, 3, ROWS)
    pl.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "job": [f"job {c}" for c in cause],
            "drug": [f"drug {value}" for value in (cause + rng.integers(0, 2, ROWS)) % 4],
            "income": rng.integers(0, 9, ROWS),
            "note": rng.choice(["x", "y"], ROWS),
        }
    ).write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def job_of(source: Path, **parameters) -> dc.Job:
    return dc.Job(
        source={"path": str(source)},
        attributes={
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [10, 20, "*"]},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "job": {"role": "sensitive"},
            "drug": {"role": "sensitive"},
            "income": {"role": "sensitive", "type": "integer"},
            "note": {"role": "insensitive"},
        },
        requirements=[{"k-anonymity": {"k": 3}}, {"t-closeness": {"t": 0.4, "attribute": "job"}}],
        method={"codip": {"beta": 0.3, "recoding": "full-domain", **parameters}},
    )


@pytest.fixture
def release(people: Path) -> Path:
    make_release(None, job_of(people), seed=1).save(people.parent / "release", **UNATTACKED)
    return people.parent / "release"


def rewrite(folder: Path, table: str, rows: list[dict]) -> None:
    """Put other rows into a table and its true hash into the manifest."""
    path = folder / f"{table}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    manifest = naive.read_manifest(folder)
    manifest["tables"][table] |= {
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "rows": len(rows),
    }
    naive.write_manifest(folder, manifest)


def change(folder: Path, edit) -> None:
    manifest = naive.read_manifest(folder)
    edit(manifest)
    naive.write_manifest(folder, manifest)


def problems(folder: Path, original: dc.Job | None = None) -> str:
    found = dc.audit(folder, original=original)
    return " ".join(found.problems) + ("" if all(p.holds for p in found.promises) else " BROKEN")


def test_tables_roles_and_facts(release, people):
    manifest = naive.read_manifest(release)
    assert manifest["kind"] == "projected"
    assert manifest["method"]["plan"] == [["job", "drug"], ["income"]]
    assert {name: list(entry["columns"]) for name, entry in manifest["tables"].items()} == {
        "projection_1": ["age", "sex", "job", "drug", "note"],
        "projection_2": ["age", "sex", "income"],
    }
    assert set(manifest["method"]["levels"]) == {"projection_1", "projection_2"}
    assert manifest["suppressed_rows"] == 0
    assert problems(release, job_of(people)) == ""


def test_a_lost_row(release, people):
    rows = naive.read_csv(release / "projection_2.csv")
    rewrite(release, "projection_2", rows[:-1])
    assert "'projection_2' has 399" in problems(release)


def test_an_invented_value(release, people):
    rows = naive.read_csv(release / "projection_2.csv")
    rows[0]["income"] = "8" if rows[0]["income"] != "8" else "7"
    rewrite(release, "projection_2", rows)
    assert "1 of 400 rows of 'projection_2' correspond to no row" in problems(
        release, job_of(people)
    )


def test_small_classes(release):
    rows = naive.read_csv(release / "projection_1.csv")
    rows[0]["sex"] = "unheard of"
    rewrite(release, "projection_1", rows)
    assert "BROKEN" in problems(release)


def test_an_attribute_in_two_tables(release):
    rows = naive.read_csv(release / "projection_2.csv")
    rng = np.random.default_rng(0)
    doubled = [{**row, "drug": f"drug {rng.integers(0, 4)}"} for row in rows]
    rewrite(release, "projection_2", doubled)
    change(release, lambda m: m["tables"]["projection_2"]["columns"].update(drug="sensitive"))
    assert "'drug' is in two tables: 'projection_1' and 'projection_2'" in problems(release)


def test_an_attribute_in_no_table(release):
    rows = naive.read_csv(release / "projection_1.csv")
    rewrite(release, "projection_1", [{k: v for k, v in r.items() if k != "job"} for r in rows])
    change(release, lambda m: m["tables"]["projection_1"]["columns"].pop("job"))
    found = problems(release)
    assert "the plan has 'job', and no table does" in found
    assert "BROKEN" in found  # t-closeness was promised for it


def test_a_missing_quasi_identifier(release):
    rows = naive.read_csv(release / "projection_2.csv")
    rewrite(release, "projection_2", [{k: v for k, v in r.items() if k != "sex"} for r in rows])
    change(release, lambda m: m["tables"]["projection_2"]["columns"].pop("sex"))
    assert "'projection_2' lacks the quasi-identifiers sex" in problems(release)


def test_ratios_that_are_not_true(release, people):
    change(release, lambda m: m["method"]["parameters"].update(alpha=0.0))
    assert "above alpha = 0" in problems(release, job_of(people))
    change(release, lambda m: m["method"]["parameters"].update(alpha=1.0, beta=0.0))
    assert "above beta = 0" in problems(release, job_of(people))


def test_ratios_need_the_original_and_are_not_published(release):
    change(release, lambda m: m["method"].update(information_exposure=0.0))
    with pytest.raises(dc.ReleaseError, match="method.codip.information_exposure"):
        dc.audit(release)


def test_a_table_above_the_ceiling(release):
    change(release, lambda m: m["method"]["parameters"].update(dm=100))
    assert "above dm = 100" in problems(release)


def test_tables_in_the_same_order(people):
    """Rows of one order, as a careless publisher would write them, are found from the files."""
    made = make_release(None, job_of(people), seed=1)
    same = made.formed.orders["projection_1"]
    made.formed.orders = dict.fromkeys(made.formed.orders, same)
    with pytest.raises(dc.AuditError, match="is related to that of 'projection_2'"):
        made.save(people.parent / "same", **UNATTACKED)
    assert not (people.parent / "same").exists()


def test_tables_in_the_order_of_the_source(people):
    made = make_release(None, job_of(people), seed=1)
    made.formed.orders = {**made.formed.orders, "projection_2": np.arange(ROWS)}
    with pytest.raises(dc.AuditError, match=r"'projection_2' .* 'the original'"):
        made.save(people.parent / "same", **UNATTACKED)


def test_sorted_tables(release):
    for name in ("projection_1", "projection_2"):
        rows = naive.read_csv(release / f"{name}.csv")
        rewrite(release, name, sorted(rows, key=lambda row: (row["age"], row["sex"])))
    assert "the row order of" in problems(release)


def test_unrelated_orders_are_never_called_related(people):
    made = make_release(None, job_of(people), seed=1)
    tables = made.coded_tables()
    first, second = tables["projection_1"], tables["projection_2"]
    rng = np.random.default_rng(5)
    for _ in range(500):
        assert not related_columns(first, second.take(rng.permutation(ROWS)))


def test_orders_of_tables_are_independent(tmp_path):
    """From the files of many releases: where a person stands in one table says nothing of another.

    Every row can be told by its values, so the places of each person are known to the test.
    """
    rows = 60
    frame = pl.DataFrame(
        {
            "q": ["a"] * rows,
            "first": [f"{number:03}" for number in range(rows)],
            "second": [f"{number:03}" for number in range(rows)],
        }
    )
    job = dc.Job(
        attributes={
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "first": {"role": "sensitive"},
            "second": {"role": "sensitive"},
        },
        method={"codip": {"plan": "given", "tables": [["first"], ["second"]]}},
    )
    correlations, fixed, in_source_order = [], [], []
    for _ in range(300):
        release = make_release(frame, job)
        one = release.tables["projection_1"]["first"].cast(pl.Int64).to_numpy()
        two = release.tables["projection_2"]["second"].cast(pl.Int64).to_numpy()
        correlations.append(np.corrcoef(np.argsort(one), np.argsort(two))[0, 1])
        fixed.append((one == two).sum())
        in_source_order.append(np.corrcoef(one, np.arange(rows))[0, 1])
    # for independent orders the correlation has mean 0 and variance 1/(n − 1)
    for found in (correlations, in_source_order):
        assert abs(np.mean(found)) < 5 / np.sqrt((rows - 1) * 300)
        assert np.var(found) * (rows - 1) == pytest.approx(1, abs=0.4)
    # the same person at the same place: on average once, with variance 1
    assert np.mean(fixed) == pytest.approx(1, abs=5 / np.sqrt(300))
