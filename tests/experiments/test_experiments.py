"""Every paper's experiments run by options alone, on small tables in the papers' formats."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from experiments.__main__ import PAPERS, experiment_of, main
from experiments.harness import data_file
from experiments.plots import PlotPoint, plot

from experiments import opinion_polls

RNG_ROWS = 160
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def adult_like(tmp_path: Path) -> Path:
    """A table with Adult's columns that the experiments use."""
    rng = np.random.default_rng(1)

    def some(*values: str) -> list[str]:
        return rng.choice(values, RNG_ROWS).tolist()

    path = tmp_path / "adult" / "adult.csv"
    path.parent.mkdir()
    pl.DataFrame(
        {
            "age": rng.integers(20, 60, RNG_ROWS), "fnlwgt": rng.integers(1, 40, RNG_ROWS),
            "marital-status": some("a", "b"), "race": some("a", "b", "?"), "sex": some("f", "m"),
            "education": some("a", "b", "c", "d"), "hours-per-week": rng.integers(30, 34, RNG_ROWS),
            "relationship": some("a", "b", "c"), "occupation": some(*"abcdefg"),
            "native-country": some("x", "y"), "workclass": some("p", "q"),
            "salary-class": some("<=50K", "<=50K", ">50K"),
        }
    ).write_csv(path)  # fmt: skip
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(paper: str, output: Path, *arguments: str) -> None:
    assert main([paper, "--output", str(output), "--no-plots", *arguments]) == 0


def test_l_diversity(adult_like, tmp_path):
    run("l-diversity", tmp_path, "--data", str(adult_like), "--set", "anonymity=3",
        "--set", "k=2,3", "--set", "share=0.8",
        "--set", "quasi=age:integer,sex,race,marital-status")  # fmt: skip
    (occupation, salary) = rows_of(tmp_path / "l-diversity-homogeneity.csv")
    assert int(occupation["minimal tables"]) >= 1
    assert 0 <= int(salary["vulnerable"]) <= int(salary["minimal tables"])
    assert [row["quasi-identifiers"] for row in rows_of(tmp_path / "l-diversity-5.csv")] == [
        "3",
        "4",
    ]
    utility = rows_of(tmp_path / "l-diversity-7.csv")
    assert [row["requirement"] for row in utility[:3]] == ["k-anonymity", "entropy", "recursive"]
    page = (tmp_path / "l-diversity.md").read_text(encoding="utf-8")
    assert "| k or l | requirement |" in page
    made_with = json.loads((tmp_path / "l-diversity-provenance.json").read_text(encoding="utf-8"))
    assert f"version {made_with['version']}" in page
    assert made_with["settings"]["k"] == [2, 3]
    assert made_with["data"]["adult.csv"] == sha256(adult_like.read_bytes()).hexdigest()


def test_decomposition(adult_like, tmp_path):
    run("decomposition", tmp_path, "--data", str(adult_like), "--figures", "2,7,9",
        "--set", "l=2", "--set", "l_second=2",
        "--set", "quasi=age:integer,fnlwgt:integer,marital-status,race,sex")  # fmt: skip
    assert len(rows_of(tmp_path / "decomposition-2.csv")) == 1
    by_attributes = rows_of(tmp_path / "decomposition-7.csv")
    assert [row["attributes"] for row in by_attributes] == ["1", "2", "3", "4"]
    (noise,) = rows_of(tmp_path / "decomposition-9.csv")
    assert int(noise["noise"]) >= int(noise["floor"])


@pytest.mark.parametrize("household", ["bits", "status", "drop"])
def test_codip_on_the_form_of_census_income(tmp_path, household):
    lines = []
    for number in range(60):
        cells = [f"v{number % 2}"] * 42
        cells[0] = str(20 + number % 7)
        cells[5], cells[16], cells[17], cells[18] = "0", str(number % 3), "0", "5"
        cells[8] = f"Industry {number % 3}"
        cells[22] = "Spouse of householder" if number % 2 else "Householder"
        lines.append(", ".join(cells))
    raw = tmp_path / "census-income.data"
    raw.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("codip", tmp_path, "--data", str(raw), "--set", "census=true",
        "--set", f"household={household}", "--figures", "5,8,9", "--set", "k=2",
        "--set", "dm=1000,5000")  # fmt: skip
    assert len(rows_of(tmp_path / "codip-5.csv")) == (11 if household == "drop" else 12)
    assert {row["dm"] for row in rows_of(tmp_path / "codip-8.csv")} == {"1000.0", "5000.0"}


def test_quasi_sensitive_with_another_knowledge_table(adult_like, tmp_path):
    knowledge = tmp_path / "knowledge.csv"
    pairs = [(f"l{i}", f"t{(i + j) % 12}") for i in range(12) for j in range(6)]
    pl.DataFrame(pairs, schema=["label", "term"], orient="row").write_csv(knowledge)
    run("quasi-sensitive", tmp_path, "--data", str(adult_like),
        "--set", f"knowledge={knowledge}", "--set", "groups=2", "--set", "group_rows=3",
        "--set", "terms=3", "--set", "terms_each=3", "--set", "rows=60", "--set", "k=2",
        "--set", "symptoms=false", "--set", "l=2", "--set", "c=2", "--set", "t=0.4",
        "--set", "nodes=0,10", "--set", "queries=20",
        "--set", "quasi=age:integer,sex,race,education,workclass")  # fmt: skip
    releases = rows_of(tmp_path / "quasi-sensitive-9.csv")
    assert {row["method"] for row in releases} == {"two phases", "generalization"}
    by_method = {row["method"]: row for row in releases if row["requirement"] == "t = 0.5"}
    whole, alone = (float(by_method[m]["group size"]) for m in ("two phases", "generalization"))
    assert whole <= alone


def test_opinion_polls_on_generated_users_favour_the_paper_at_small_l(tmp_path):
    """Figures 20 to 23: MSA-diversity by algorithm 1 beats Gal at ℓ = 2 and not at ℓ = 5."""
    run("opinion-polls", tmp_path, "--set", "users=684", "--set", "d=2", "--set", "l=2,5",
        "--figures", "15")  # fmt: skip
    found = {
        (row["l"], row["method"]): float(row["discernibility"])
        for row in rows_of(tmp_path / "opinion-polls-15.csv")
    }
    assert found["2", "msa-diversity (paper)"] < found["2", "gal (suppress)"]
    assert found["5", "msa-diversity (paper)"] > found["5", "gal (suppress)"]


@pytest.mark.parametrize("form", ["1M", "100K"])
def test_opinion_polls_on_the_forms_of_movielens(tmp_path, form):
    rng = np.random.default_rng(2)
    people = range(1, 61)
    fields = [(str(p), "FM"[p % 2], str(18 + p % 9), "7", f"0{p % 5}101") for p in people]
    ratings = [
        (str(p), str(movie), str(rng.integers(1, 6)), "978300760")
        for p in people
        for movie in (10, 20, 30, 40)
        if movie < 40 or p % 3
    ]
    if form == "1M":
        text = {"users.dat": ["::".join(f) for f in fields],
                "ratings.dat": ["::".join(r) for r in ratings]}  # fmt: skip
    else:
        text = {"u.user": ["|".join((u, a, g, o, z)) for u, g, a, o, z in fields],
                "u.data": ["\t".join(r) for r in ratings]}  # fmt: skip
    for name, lines in text.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="latin-1")
    frame, _, opinions = opinion_polls.movielens(tmp_path, 3)
    assert opinions == ("movie 10", "movie 20", "movie 30")
    assert frame.shape == (60, 6)
    assert frame["zip"][0] == "01101"
    run("opinion-polls", tmp_path, "--data", str(tmp_path), "--set", "movielens=true",
        "--set", "movies=3", "--set", "d=2,3", "--set", "l=2", "--set", "queries=20",
        "--figures", "14,24")  # fmt: skip
    rows = rows_of(tmp_path / "opinion-polls-24.csv")
    assert [row["d"] for row in rows] == ["2"] * 5 + ["3"] * 5
    for row in rows:
        if row["method"].startswith("msa"):
            assert row["greatest probability"] == "" or float(row["greatest probability"]) <= 0.5


def test_plots_name_both_axes_and_every_line_and_shares_end_at_1(tmp_path):
    lines = {
        "a": [PlotPoint(1, 0.2, 0.1, 0.3), PlotPoint(2, 0.4)],
        "b <": [PlotPoint(1, 0.2), PlotPoint(2, 0.4)],
    }
    plot(tmp_path / "shares.svg", "Two lines", ("ell", "loss"), lines)
    root = ElementTree.parse(tmp_path / "shares.svg").getroot()
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert {"ell", "loss", "a", "b <", "Two lines"} <= set(texts)
    drawn = [node.get("points") for node in root.iter(f"{SVG}polyline")]
    assert len(set(drawn)) == 2  # equal lines lie beside each other
    assert texts.count("1") == 2  # at the end of the axis of shares, and at x = 1
    plot(tmp_path / "counts.svg", "Counts", ("rows", "nodes"), {"a": [PlotPoint(10, 46)]}, log=True)
    texts = [
        n.text for n in ElementTree.parse(tmp_path / "counts.svg").getroot().iter(f"{SVG}text")
    ]
    assert "50" in texts


def test_missing_data_end_in_one_sentence(tmp_path, capsys):
    asked = ["decomposition", "--data", str(tmp_path / "none.csv"), "--output", str(tmp_path)]
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "experiments/README.md" in said


def test_what_does_not_exist_is_named(capsys):
    assert main(["codip", "--figures", "5,77"]) == 2
    assert "no figure 77. Figures: 5, 7, 8, 9" in capsys.readouterr().err
    assert main(["codip", "--set", "gamma=1", "--set", "alpha=x"]) == 2
    said = capsys.readouterr().err
    assert "alpha: " in said
    assert "gamma: " in said


def test_rows_are_kept_where_a_run_is_cut_off(adult_like, tmp_path, monkeypatch):
    from experiments import decomposition

    calls = []

    def cut_off(*arguments):
        calls.append(arguments)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return 1

    monkeypatch.setattr(decomposition, "permissible", cut_off)
    with pytest.raises(KeyboardInterrupt):
        run("decomposition", tmp_path, "--data", str(adult_like), "--figures", "7",
            "--set", "l=2")  # fmt: skip
    assert len(rows_of(tmp_path / "decomposition-7.csv")) == 2


@pytest.mark.parametrize("paper", PAPERS)
def test_every_experiment_lists_its_figures_and_settings(paper, capsys):
    experiment = experiment_of(paper)
    assert main([experiment.name, "--list"]) == 0
    said = capsys.readouterr().out
    assert all(figure.title in said for figure in experiment.figures)
    assert all(field.description for field in experiment.settings.model_fields.values())


def test_the_default_place_of_the_data(monkeypatch, tmp_path):
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    (tmp_path / "adult.csv").write_text("age\n1\n", encoding="utf-8")
    settings = experiment_of("decomposition").configured({})
    assert data_file(settings, "adult.csv") == tmp_path / "adult.csv"
