"""The Bayes-optimal audit of a release, beside beliefs computed from its files by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.saving import ACCEPTING
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app

ATTRIBUTES = {
    "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "ill": {"role": "sensitive"},
}
ROWS = st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("ab")), min_size=2, max_size=8)


def job(requirements=(), method="full-domain") -> dc.Job:
    return dc.Job(attributes=ATTRIBUTES, requirements=requirements, method=method)


def frame(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["age", "ill"], orient="row")


def naive_belief(known, classes) -> dict[tuple[str, str], Fraction]:
    """β(q, s) by equation 1, where every class is a list of (q's it covers, counts of values)."""
    f = Counter(known)
    found = {}
    for covered, counts in classes:
        of_class = {s: sum(f[q, s] for q in covered) for s in counts}
        for q in covered:
            own = sum(f[q, s] for s in "ab")
            if not own:
                continue
            odds = {s: Fraction(n * f[q, s], own * of_class[s]) for s, n in counts.items()}
            total = sum(odds.values())
            found.update({(q, s): value / total for s, value in odds.items()})
    return found


@given(ROWS, st.booleans(), ROWS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_figures_are_those_of_the_formula(rows, exact, others):
    known = rows + others  # a population contains the table
    level = 0 if exact else 1
    asked = job(method={"full-domain": {"levels": {"age": level}}})
    release = dc.publish(frame(rows), asked, seed=1)
    counts = {q: Counter(s for p, s in rows if p == q) for q in "123"}
    classes = (
        [([q], counts[q]) for q in "123" if counts[q]] if exact
        else [("123", Counter(s for _, s in rows))]
    )  # fmt: skip
    for population, f in ((None, rows), (frame(known), known)):
        found = dc.audit_bayes(release, original=frame(rows), job=asked, population=population)
        belief = naive_belief(f, classes)
        held = [belief[row] for row in rows]
        figures = found.figures["ill"]
        assert figures.greatest_belief == pytest.approx(float(max(held)))
        before = {(q, s): Fraction(f.count((q, s)), sum(p == q for p, _ in f)) for q, s in rows}
        gain = max(belief[row] - before[row] for row in rows)
        assert figures.greatest_gain == pytest.approx(float(gain))
        sure = sum(one > Fraction(9, 10) for one in held)
        assert figures.positive == pytest.approx(sure / len(rows))


def test_a_population_that_lacks_rows_of_the_table_is_refused():
    rows = [("1", "a"), ("2", "b")]
    release = dc.publish(frame(rows), job(method={"full-domain": {"levels": {"age": 1}}}), seed=1)
    with pytest.raises(dc.InputError, match="1 rows of the original have quasi-identifiers"):
        dc.audit_bayes(
            release, original=frame(rows), job=job(), population=frame([("1", "a"), ("1", "b")])
        )


def test_bounds_out_of_range_are_refused():
    rows = [("1", "a"), ("2", "b")]
    release = dc.publish(frame(rows), job(), seed=1)
    with pytest.raises(dc.InputError, match="ρ1 is less than ρ2"):
        dc.audit_bayes(release, original=frame(rows), job=job(), rho=(0.8, 0.2))


def test_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [("1", "a"), ("1", "b"), ("2", "a"), ("2", "b"), ("3", "a"), ("3", "a")]
    frame(rows).write_csv("table.csv")
    frame(rows * 2).write_csv("everybody.csv")
    (tmp_path / "job.yaml").write_text(
        "source: {path: table.csv}\nattributes:\n"
        "  age: {role: quasi-identifier, hierarchy: suppress}\n  ill: {role: sensitive}\n"
        "requirements: [{k-anonymity: {k: 2}}]\nmethod: full-domain\n",
        encoding="utf-8",
    )
    runner = CliRunner()
    assert runner.invoke(app, ["publish", "job.yaml", "--output", "out", *ACCEPTING]).exit_code == 0
    said = runner.invoke(
        app, ["audit", "out", "--original", "job.yaml", "--population", "everybody.csv"]
    )
    assert said.exit_code == 0, said.output
    assert "knows how quasi-identifiers and values are distributed in the given" in said.output
    assert "greatest belief in a true value 100.0%" in said.output
    assert runner.invoke(app, ["audit", "out", "--bayes"]).exit_code == 2
