"""The suite: the same rows from the same seeds, a run that goes on, and a page from its rows."""

from __future__ import annotations

import csv
import re
import shutil

import polars as pl
import pytest
from experiments.__main__ import main
from experiments.baselines import PERTURBING
from experiments.harness import MissingDataError
from experiments.suite import (
    COLUMNS,
    IDENTITY,
    MEASURES,
    METHODS,
    PUBLIC,
    TIMES,
    Cell,
    _released,
    grid,
    pair_error,
    read_rows,
    run,
    settings_of,
)
from experiments.suite_page import bounded, figures, overview, summary, write_page
from experiments.suite_tables import TABLES, generated_name, hash_of
from tests.docs.notebooks import ROOT
from tests.real_data import real_data

from discreet.utility.implied import ImpliedUnlinked, exact

TABLE = generated_name(0.5, 0.3)
RESULTS = ROOT / "docs" / "experiments" / "suite.parquet"
PAGE = "experiments/results/suite.md"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def suite(path, *arguments):
    assert main(["suite", "--quick", "--seeds", "1", "--output", str(path), *arguments]) == 0


@pytest.mark.parametrize("method", METHODS)
def test_a_second_run_gives_the_same_row_apart_from_times(method):
    cell = Cell(TABLE, 2, method, 3, seed=1)
    first, second = (run(cell, rows=200) for _ in range(2))
    for name in TIMES:
        assert first.pop(name) >= 0
        assert second.pop(name) >= 0
    assert first == second
    assert first["failure"] is None
    assert list(first) == [name for name in COLUMNS if name not in TIMES]
    assert all(0 <= first[f"{who}_mean"] <= 1 for who in ("acquaintance", "insider"))


def test_a_run_goes_on_where_it_ended(tmp_path):
    path = tmp_path / "suite.csv"
    chosen = ["--tables", TABLE]
    suite(path, "--methods", "unlinked", *chosen)
    before = rows_of(path)
    path.write_text(
        "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8"
    )
    suite(path, "--methods", "unlinked;swapping", *chosen)
    after = rows_of(path)
    assert len(after) == 2 * len(before)
    assert after[: len(before) - 1] == before[:-1]
    last = [row for row in after if row["method"] == "unlinked"][-1]
    assert {n: v for n, v in last.items() if n not in TIMES} == {
        n: v for n, v in before[-1].items() if n not in TIMES
    }


def test_a_row_says_where_it_comes_from(tmp_path):
    path = tmp_path / "suite.csv"
    suite(path, "--methods", "pram", "--tables", TABLE)
    row = rows_of(path)[0]
    assert (row["skew"], row["correlation"]) == ("0.5", "0.3")
    assert len(row["data_sha256"]) == 64
    assert row["version"]
    assert row["settings"] == '{"method": {"pram": {"l": 3}}, "requirements": []}'


def test_the_page_is_made_from_any_rows(tmp_path):
    path = tmp_path / "suite.csv"
    suite(path, "--methods", "unlinked;swapping", "--tables", TABLE)
    assert main(["suite", "--page", str(tmp_path / "suite.md"), "--output", str(path)]) == 0
    page = (tmp_path / "suite.md").read_text(encoding="utf-8")
    assert "## What skew costs" in page
    for name in figures(summary(pl.read_csv(path))):
        picture = (tmp_path / name).read_text(encoding="utf-8")
        assert f"({name})" in page
        assert picture.startswith("<svg")


def test_unknown_tables_and_methods_are_named(capsys):
    assert main(["suite", "--methods", "magic"]) == 2
    assert "No method magic." in capsys.readouterr().err
    assert main(["suite", "--tables", "Eve"]) == 2
    assert "No table Eve." in capsys.readouterr().err


def test_the_grid_has_each_run_once_with_five_seeds():
    cells = list(grid())
    assert len(set(cells)) == len(cells)
    assert {cell.seed for cell in cells} == {1, 2, 3, 4, 5}
    assert {cell.table for cell in cells} == set(TABLES)
    assert {cell.method for cell in cells} == set(METHODS)


def test_intervals_are_those_of_student():
    rows = pl.DataFrame(
        {name: [None] * 3 for name in COLUMNS}
        | {"table": ["t"] * 3, "sensitive": [2] * 3, "method": ["m"] * 3, "l": [2] * 3}
        | {"failure": [None, None, "infeasible"]}
        | {"query_error": [0.1, 0.3, None]}
    )
    (line,) = summary(rows).to_dicts()
    assert line["query_error"] == pytest.approx(0.2)
    assert line["query_error ±"] == pytest.approx(12.706 * 0.1)  # the deviation is 0.1 · √2
    assert (line["runs"], line["infeasible"]) == (3, 1)


def test_an_error_of_associations_is_0_of_the_original_and_1_without_a_link():
    rows = 400
    task, _ = _released(
        TABLES[TABLE].sample(1, rows, None), TABLES[TABLE].attributes(2), {"unlinked": {}}, [],
        Cell(TABLE, 2, "unlinked", 3, 1),
    )  # fmt: skip
    table = task.table
    pairs = [(table["age"], table["s1"]), (table["sex"], table["s2"])]
    truth = exact([*table.quasi_identifiers, *table.sensitive], rows)
    unlinked = ImpliedUnlinked((table.quasi_identifiers, table.sensitive), rows)
    assert pair_error(table, truth, pairs) == 0
    assert pair_error(table, unlinked, pairs) == pytest.approx(1)
    assert pair_error(table, unlinked, [(table["s1"], table["s2"])]) == 0
    assert pair_error(table, truth, []) is None


@pytest.mark.data
@pytest.mark.parametrize("name", PUBLIC)
def test_public_tables_are_those_that_were_frozen(name):
    real_data("adult", "adult.csv")
    try:
        whole = TABLES[name].whole()
    except MissingDataError as error:
        pytest.skip(str(error))
    assert hash_of(whole) == TABLES[name].sha256
    sample = TABLES[name].sample(1, 100, whole)
    assert sample.equals(TABLES[name].sample(1, 100, whole))
    assert len(sample) == 100


def test_the_page_is_that_of_the_rows(tmp_path):
    folder = tmp_path / "docs" / "experiments"
    folder.mkdir(parents=True)
    (tmp_path / "experiments" / "results").mkdir(parents=True)
    results = shutil.copy(RESULTS, folder / RESULTS.name)
    page = write_page(results, tmp_path / PAGE).read_text(encoding="utf-8")
    assert page == (ROOT / PAGE).read_text(encoding="utf-8")
    pictures = sorted(folder.glob("*.svg"))
    assert len(pictures) == 6
    for picture in pictures:
        assert picture.read_bytes() == RESULTS.with_name(picture.name).read_bytes()


@pytest.mark.data
@pytest.mark.parametrize("method", ["unlinked", "gal", "li-ye", "mmdcf", "mdav", *PERTURBING])
def test_rows_of_the_results_come_out_again(method):
    """By methods that lie beside the suite; the others are those of the commit in each row."""
    real_data("adult", "adult.csv")
    rows = read_rows(RESULTS)
    for table, ell in (("hr", 2), ("opinions", 3), ("compas", 5)):
        cell = Cell(table, 2, method, ell, seed=3)
        again = run(cell)
        (row,) = rows.filter(
            pl.concat_str(pl.col(IDENTITY).cast(pl.String), separator=" ") == " ".join(cell.key)
        ).to_dicts()
        figures = [name for name in MEASURES if row[name] is not None]
        assert figures == [name for name in MEASURES if again[name] is not None]
        assert [again[name] for name in figures] == pytest.approx(
            [row[name] for name in figures], rel=1e-5, abs=2e-6
        )
        same = ("settings", "data_sha256", "failure", "rows")
        assert [again[name] for name in same] == [row[name] for name in same]


def test_the_main_table_of_the_documentation_is_that_of_the_rows():
    text = (ROOT / "docs" / "papers" / "index.md").read_text(encoding="utf-8")
    rows = read_rows(RESULTS)
    assert overview(summary(rows)).strip() in text
    minutes = rows["row_seconds"].sum() / 60
    assert f"{len(rows):,} runs, {minutes:.0f} minutes of processor time" in text
    for method, share in re.findall(r"`([\w-]+)` \((\d+)%\)", bounded(rows)):
        assert f"`{method}` ({share}%)" in text


def test_the_results_fit_an_hour_and_name_their_commit():
    rows = read_rows(RESULTS)
    assert rows.columns == list(COLUMNS)
    assert rows["row_seconds"].sum() <= 60 * 60
    assert set(rows.select(IDENTITY).rows()) == {tuple(vars(cell).values()) for cell in grid()}
    assert rows["commit"].n_unique() == 1
    assert "+" not in rows["commit"][0]


def test_another_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    (tmp_path / "hr").mkdir()
    columns = TABLES["hr"].columns
    (tmp_path / "hr" / "hr-attrition.csv").write_text(
        ",".join(columns) + "\n" + ",".join("1" * len(columns)) + "\n", encoding="utf-8"
    )
    with pytest.raises(ValueError, match="Another table than the frozen one"):
        TABLES["hr"].whole()


def test_settings_ask_all_methods_for_the_same_l():
    for method in METHODS:
        asked, requirements = settings_of(method, 7, ["ill", "job"])
        assert method == "unlinked" or "7" in f"{asked}{requirements}"
