"""Repairs: each that is listed keeps its word on the whole table."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import discreet as dc
from discreet.api import job_changes, trials
from discreet.api import repair as repairing
from discreet.api.job_changes import CANDIDATES, Change, Problem, Situation
from discreet.cli.app import app
from discreet.errors import InputError, JobError, RiskError
from discreet.job.edits import Edit
from discreet.job.model import Job
from discreet.job.parts import Attribute
from discreet.releases.analyst_errors import AnalystError
from discreet.statements import Statement

JOB = """\
source: {path: people.csv}
attributes:
  age: {role: quasi-identifier, type: integer}  # known to neighbours
  sex: {role: quasi-identifier, hierarchy: suppress}
  visits: {role: unchanged, type: integer}  # of the last year
  disease: {role: sensitive}
requirements:
  - k-anonymity: {k: 5}
  - distinct-l-diversity: {l: 2}
method: {mondrian: {}}
output: {path: release}
"""


def people(rows: int, seed: int = 0, **columns) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    table = {
        "age": rng.integers(20, 70, rows),
        "sex": rng.choice(["f", "m"], rows),
        "visits": rng.integers(0, 30, rows),
        "disease": rng.choice(["flu", "asthma", "ulcer", "gout", "angina", "none"], rows),
    }
    return pl.DataFrame({**table, **columns})


@pytest.fixture
def job(tmp_path):
    people(300).write_csv(tmp_path / "people.csv")
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def published_word(data, job, place) -> str:
    """The verdict of ``publish`` itself, with every attack."""
    release = dc.publish(data, job)
    try:
        release.save(place, report=False)
    except RiskError as error:
        return error.verdict.word
    return release.verdict().word


def test_a_red_job_becomes_green_by_the_command_that_publish_names(job, tmp_path):
    refused = run("publish", job)
    assert refused.exit_code == 1
    assert f"discreet repair {job}" in refused.stdout
    listed = run("repair", job, "--budget", "2m", "--quiet")
    assert listed.exit_code == 0, listed.output
    assert "1. Ready to sign" in listed.stdout
    applied = run("repair", job, "--apply", 1)  # at once: the list is kept beside the job
    assert applied.exit_code == 0, applied.output
    text = job.read_text(encoding="utf-8")
    assert "# known to neighbours" in text
    assert "# before discreet repair: {role: unchanged, type: integer}" in text
    done = run("publish", job)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Verdict about risk: Ready to sign.")


def test_json_has_lines_figures_and_costs(job):
    done = run("repair", job, "--budget", "2m", "--quiet", "--json")
    found = json.loads(done.stdout)
    assert found["verdict"] == "Do not publish"
    first = found["repairs"][0]
    assert first["number"] == 1
    assert first["verdict"] == "Ready to sign"
    (of_visits,) = [one for one in first["write"] if one["text"].startswith("visits: {role: ")]
    assert of_visits["lines"] == [5]
    assert 0 <= first["information_loss"] <= 1
    assert first["rows_lost"] == 0
    assert first["cost"][0]["id"].startswith("repair.")
    assert len(found["repairs"]) <= 5


@pytest.mark.parametrize("seed", range(6))
def test_a_listed_repair_keeps_its_word_on_random_tables(seed, tmp_path):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(60, 160))
    skew = float(rng.uniform(0.3, 0.95))
    table = people(
        rows,
        seed,
        pay=rng.choice([1, 2, 3, 4], rows),
        test=np.where(rng.random(rows) < skew, "negative", rng.choice(["a", "b"], rows)),
    )
    written = Job.parse(JOB)
    attributes = dict(written.attributes) | {
        "pay": Attribute(role="unchanged" if seed % 2 else "sensitive"),
        "test": Attribute(role="sensitive"),
    }
    method = ["mondrian", "local-recoding", "mondrian"][seed % 3]
    asked = Job(
        attributes=attributes,
        requirements=[{"k-anonymity": {"k": 3}}, {"distinct-l-diversity": {"l": 2}}],
        method=method,
        attackers=["research", "public"][seed % 2],
    )
    found = dc.repair(table, asked, budget=40, seed=seed)
    assert found.before.word == published_word(table, asked, tmp_path / "before")
    for number, one in enumerate(found.repairs):
        assert one.verdict == published_word(table, one.job, tmp_path / f"release{number}")
        before, after = found.before.grade, one.trial.grade
        assert after < before or (after == before and one.trial.excess < found.before.excess)


def test_the_same_seed_gives_the_same_repairs(job):
    first, second = (dc.repair(None, job, budget=300, seed=3).to_dict() for _ in range(2))
    assert not first["cut"]
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_a_table_with_dates_in_another_form_and_decimal_commas_is_repaired(tmp_path):
    rng = np.random.default_rng(7)
    days = np.datetime64("1940-01-01") + rng.integers(0, 20_000, 300)
    born = [day.strftime("%d.%m.%Y") for day in days.tolist()]
    levels = [f"{number:.1f}".replace(".", ",") for number in rng.integers(5, 25, 300) / 10]
    drugs = ["Steady"] + ["No"] * 299
    rows = [";".join(row) for row in zip(born, levels, drugs, strict=True)]
    (tmp_path / "lab.csv").write_text("\n".join(["born;level;drug", *rows, ""]), encoding="utf-8")
    job = tmp_path / "job.yaml"
    job.write_text(
        "source: {path: lab.csv, decimal: ','}\n"
        "attributes:\n"
        "  born: {role: quasi-identifier, type: date, format: '%d.%m.%Y'}\n"
        "  level: {role: sensitive, type: number}\n"
        "  drug: {role: sensitive}\n"
        "requirements: [{k-anonymity: {k: 3}}, {distinct-l-diversity: {l: 2}}]\n"
        "method: mondrian\n",
        encoding="utf-8",
    )
    found = dc.repair(None, job, budget=60)
    assert found.repairs[0].verdict == "Ready to sign"
    compared = dc.compare(None, job, methods=["mondrian"])
    assert compared.points[0].failure is None


def test_one_rare_value_is_named_and_does_not_cost_all_information(tmp_path):
    rows = 400
    table = people(rows, drug=["Steady"] + ["No"] * (rows - 1)).drop("visits")
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier"},
        "disease": {"role": "sensitive"},
        "drug": {"role": "sensitive"},
    }
    asked = Job(
        attributes=attributes,
        requirements=[{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 2}}],
        method="mondrian",
    )
    found = dc.repair(table, asked, budget=60)
    assert found.before.loss == 1
    assert "'drug'" in found.blocking
    assert "Steady" not in str(found)
    assert found.blocking in str(found)
    best = found.repairs[0]
    assert best.trial.loss < 0.5
    assert all("drug" in text for _, text in best.lines if "role" in text or "values" in text)
    assert {edit.entry for one in found.repairs for edit in one.edits} >= {("attributes", "drug")}
    harmless = [one for one in found.repairs if one.needs_decision]
    assert all("Your decision" in " ".join(c.cost for c in one.changes) for one in harmless)


def test_a_column_of_names_is_not_published(tmp_path):
    rows = 120
    names = [f"{first} {last}" for first in ("Anna", "Paul", "Maria", "John", "Peter", "Laura")
             for last in ("Smith", "Miller", "Jones", "Brown", "Davis", "Wilson", "Moore", "Taylor",
                          "Clark", "Lewis", "Young", "Hall", "Allen", "King", "Wright", "Scott",
                          "Green", "Baker", "Adams", "Nelson")]  # fmt: skip
    table = people(rows, surname=names[:rows]).drop("visits")
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier"},
        "surname": {"role": "unchanged"},
        "disease": {"role": "sensitive"},
    }
    requirements = [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 2}}]
    asked = Job(attributes=attributes, requirements=requirements, method="mondrian")
    found = dc.repair(table, asked, budget=60)
    assert found.before.word is None
    assert found.repairs[0].verdict == "Ready to sign"
    assert found.repairs[0].job.attributes["surname"].role == "drop"


def test_times_that_identify_are_published_in_coarser_values(tmp_path):
    rng = np.random.default_rng(1)
    at = [f"2024-0{month}-11 {hour}:{minute}:{second}" for month, hour, minute, second in
          rng.integers((1, 10, 10, 10), (10, 24, 60, 60), (300, 4))]  # fmt: skip
    attributes = {name: {"role": "quasi-identifier"} for name in ("age", "at", "sex")}
    asked = Job(
        attributes={**attributes, "disease": {"role": "sensitive"}},
        requirements=[{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 2}}],
        method="mondrian",
    )
    table = people(300, at=at).with_columns(pl.col("age").cast(pl.String))
    found = dc.repair(table, asked, budget=60)
    assert found.before.refused == ("at",)
    (coarser,) = [one for one in found.repairs if one.job.attributes["at"].finest][:1]
    assert coarser.job.attributes["at"].role == "quasi-identifier"
    assert "Analysts see 'at' in coarser values." in "\n".join(coarser.text())
    assert published_word(table, coarser.job, tmp_path / "release") == coarser.verdict


def test_counts_that_are_worse_than_without_a_link_are_named():
    sentence = (
        "Counts are worse than from two tables without any link: off by 30.0% instead of 10.0%"
    )
    worse, better = AnalystError(0.3, 0.1), AnalystError(0.1, 0.3)
    trial = repairing.Trial("Look at these", (), loss=0.2, count_error=worse)
    listed = repairing.Repairs(
        trial, (repairing.Repair((), Job.parse(JOB), trial, ()),), 1, False, 1, 0
    )
    assert sum(sentence in line for line in listed.lines()) == 2  # of the job, and of the repair
    assert not replace(trial, count_error=better).worse_counts
    assert not replace(trial, count_error=AnalystError(0.1, 0.1)).worse_counts


def test_nothing_to_repair(tmp_path, job):
    text = JOB.replace("role: unchanged, type: integer", "role: drop")
    job.write_text(text, encoding="utf-8")
    done = run("repair", job, "--quiet")
    assert done.exit_code == 0
    assert "Nothing to repair" in done.stdout
    assert run("repair", job, "--apply", 1).exit_code == 2
    assert job.read_text(encoding="utf-8") == text


def test_kept_repairs_are_not_applied_to_a_job_that_changed(job):
    run("repair", job, "--budget", "2m", "--quiet")
    assert repairing.read_repairs(job)
    job.write_text(JOB.replace("k: 5", "k: 6"), encoding="utf-8")
    assert repairing.read_repairs(job) is None


def test_a_trial_that_takes_too_long_ends_with_the_budget(job, monkeypatch):
    judged = trials._judged

    def slow(release, ends, progress, ledger, errors):
        if not errors:  # on the sample
            time.sleep(30)
        return judged(release, ends, progress, ledger, errors)

    monkeypatch.setattr(trials, "_judged", slow)
    begun = time.monotonic()
    found = dc.repair(None, job, budget=8)
    assert time.monotonic() - begun < 12
    assert found.cut
    assert found.repairs == ()


def test_a_job_that_is_not_judged_in_time_is_said_to_be_so(job, monkeypatch):
    monkeypatch.setattr(trials, "_judged", lambda *_: time.sleep(20))
    with pytest.raises(InputError, match="larger --budget"):
        dc.repair(None, job, budget=1)
    with pytest.raises(InputError, match="more than 0"):
        dc.repair(None, job, budget=0)


def test_a_further_sort_of_change_is_one_more_entry(job, monkeypatch):
    seen = []

    def drop_sex(situation: Situation):
        seen.append(situation.problems)
        edits = (Edit(("attributes", "sex", "role"), "drop"),)
        words = Statement("repair.unpublish", columns=["sex"])
        yield Change("mine", edits, words, words)

    monkeypatch.setattr(job_changes, "CANDIDATES", [*CANDIDATES])
    job_changes.solves(Problem.SINGLED_OUT)(drop_sex)
    dc.repair(None, job, budget=60)
    assert seen
    assert all(Problem.SINGLED_OUT in problems for problems in seen)


def situation_of(asked: Job, table: pl.DataFrame, **more) -> Situation:
    coded = repairing.Original.read(asked, table).coded
    return Situation(asked, coded, **({"problems": frozenset(Problem)} | more))


def test_rare_values_are_treated_and_fine_numbers_become_coarser():
    asked = Job.parse(JOB.replace("disease: {role: sensitive}", "disease: {role: sensitive}\n"
                                  "  pay: {role: sensitive, type: integer}"))  # fmt: skip
    table = people(200, pay=np.arange(200) * 37 % 4001)
    fine, skewed, *_ = job_changes.treat_rare_values(situation_of(asked, table))
    hierarchy, rare = fine.edits
    assert hierarchy.trail == ("attributes", "pay", "hierarchy")
    assert hierarchy.value["intervals"][-1] == "*"
    assert rare == Edit(("attributes", "pay", "rare"), "lift")
    assert Edit(("attributes", "disease", "rare"), "auto") in skewed.edits
    lifted = dc.publish(table, repairing.edited_job(asked, fine.edits), seed=1)
    assert lifted.audit.ok
    (published,) = [one for one in lifted.tables.values() if "pay" in one.columns]
    assert published["pay"].str.contains("-|,").any()


def test_beliefs_in_a_minority_are_bounded_by_the_distance_from_the_table():
    """70 % of the rows have one value, 25 % another: t = 0.25 keeps the second below one half."""
    asked = Job.parse(JOB.replace("{role: sensitive}", "{role: sensitive, type: integer}"))
    table = people(200, disease=[0] * 140 + [1] * 50 + [2] * 10)
    found = situation_of(asked, table, accused=("disease",))
    (change,) = job_changes.bound_beliefs(found)
    bound = {"attribute": ["disease"], "t": 0.25}
    assert change.edits == (
        Edit(("requirements", 2), {"t-closeness": bound}),
        Edit(("attributes", "disease", "distance"), "equal"),
    )
    release = dc.publish(table, repairing.edited_job(asked, change.edits), seed=1)
    assert release.audit.ok
    even = people(200, disease=[0] * 102 + [1] * 98)  # a second value is nearly half: no bound
    assert not [*job_changes.bound_beliefs(situation_of(asked, even, accused=("disease",)))]


def test_no_change_weakens_a_requirement():
    asked = Job.parse(JOB)
    table = repairing.Original.read(asked, people(80)).coded
    situation = Situation(asked, table, frozenset(Problem), accused=("disease",))
    changes = [one for changes in job_changes.proposed_changes(situation) for one in changes]
    assert len({one.sort for one in changes}) > 5
    for change in changes:
        try:
            after = repairing.edited_job(asked, change.edits)
        except JobError:  # nothing sensitive is left: not a repair
            continue
        kept = {one.name: one.parameters() for one in after.requirements}
        for requirement in asked.requirements:
            for key in ("k", "l"):
                value = requirement.parameters().get(key)
                assert value is None or kept[requirement.name][key] >= value
        assert after.sign_off == asked.sign_off
        assert after.attackers == asked.attackers
        declares = any(one.non_sensitive_values for one in after.attributes.values())
        assert declares == change.steward


def test_an_infeasible_publish_names_the_column_and_the_command(job):
    text = JOB.replace("distinct-l-diversity: {l: 2}", "distinct-l-diversity: {l: 60}")
    job.write_text(text, encoding="utf-8")
    done = run("publish", job)
    assert done.exit_code == 1
    assert "'disease'" in done.stderr
    assert f"discreet repair {job}" in done.stderr
