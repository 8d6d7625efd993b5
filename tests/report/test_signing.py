"""The verdict about risk, and what the person who signs sees beside it."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.saving import REASON

import discreet as dc
from discreet.addons.studio.release_summary import declaration_of
from discreet.releases.analyst_errors import analyst_errors
from discreet.releases.measure import read_utility
from discreet.statements import Statement


def job(**further) -> dc.Job:
    roles = {"q": "quasi-identifier", "s": "sensitive", "t": "sensitive"}
    parts = {
        "attributes": {name: {"role": role} for name, role in roles.items()},
        "requirements": [dc.KAnonymity(k=3), dc.PDiversity(l=2, attribute="s"),
                         dc.PDiversity(l=2, attribute="t")],
        "method": dc.Mondrian(),
    }  # fmt: skip
    return dc.Job(**(parts | further))


def saved(frame: pl.DataFrame, given_job: dc.Job, folder, **how) -> dc.Release:
    release = dc.publish(frame, given_job, seed=1)
    release.save(folder / "release", **{"attack": 60, "accept_risk": REASON, **how})
    return release


SPREAD = pl.DataFrame(
    {
        "q": [n // 8 for n in range(64)],
        "s": list("abcdefgh") * 8,
        "t": ["uvwxyz"[(n % 8 + n // 8) % 6] for n in range(64)],  # goes with each value of s
    }
)


def test_a_release_without_findings_is_ready_to_sign(tmp_path):
    """Every group has every pair of values as often as the table: nothing is learned."""
    each = [value for value in "uvwxyz" for _ in range(6)]
    frame = pl.DataFrame({"q": [1] * 36 + [2] * 36, "s": list("abcdef") * 12, "t": each * 2})
    found = saved(frame, job(), tmp_path).verdict()
    assert found.word == "Ready to sign", found
    assert found.reasons == []
    assert {one.key: one.value for one in found.figures} == {
        "believed": 0, "certain": 0, "reidentified": pytest.approx(1 / 36), "singled_out": 0,
    }  # fmt: skip


def test_certain_values_and_thresholds_of_the_job_decide(tmp_path):
    """Who knows the other value is certain in groups where it occurs once."""
    knowing = {"attackers": ["insider"]}
    strict = job(sign_off={"certain": {"look": 0, "refuse": 0.2}}, **knowing)
    release = saved(SPREAD, strict, tmp_path)
    figures = {(one.attacker, one.key): one.value for one in release.verdict().figures}
    assert figures["acquaintance", "certain"] == 0 and figures["insider", "certain"] > 0.2
    assert release.verdict().word == "Do not publish"
    lenient = {"certain": {"look": 1, "refuse": 1}, "believed": {"look": 1, "refuse": 1}}
    lenient = job(sign_off=lenient, **knowing)
    again = saved(SPREAD, lenient, tmp_path, force=True).verdict()
    assert again.word == "Ready to sign"
    default = saved(SPREAD, job(), tmp_path, force=True).verdict()
    assert default.word == "Ready to sign"  # the insider is none of the attackers of a release
    assert any("insider" in sentence for sentence in default.stronger)
    public = saved(SPREAD, job(attackers="public"), tmp_path, force=True).verdict()
    assert public.word == "Do not publish"
    with pytest.raises(dc.JobError, match="at most as large"):
        job(sign_off={"certain": {"look": 0.5, "refuse": 0.1}})


def test_the_verdict_says_that_a_certain_value_needs_the_number_of_rows(tmp_path):
    """One person in 3 has each value, but 2 of 6 rows are others': a person of 4 rows has 'hiv'."""
    frame = pl.DataFrame(
        {
            "person": [1, 1, 1, 1, 2, 3, 4, 5, 6],
            "q": [1] * 6 + [2] * 3,
            "s": ["hiv"] * 4 + ["flu", "cold", "hiv", "flu", "cold"],
        }
    )
    roles = {"person": "identifier", "q": "quasi-identifier", "s": "sensitive"}
    kept = dc.Job(
        attributes={name: {"role": role} for name, role in roles.items()},
        person={"column": "person", "rows": "keep"},
        requirements=[dc.KAnonymity(k=3), dc.PDiversity(l=2)],
        method=dc.Mondrian(),
    )
    verdict = saved(frame, kept, tmp_path).verdict()
    (certain,) = (one for one in verdict.figures if one.key == "certain" and one.value > 0)
    assert certain.sentence.id == "verdict.certain"
    assert certain.sentence.parameters["knows"].id == "attackers.knows.also"
    also = certain.sentence.parameters["knows"].parameters["also"]
    assert also.id == "also-knows.number-of-rows"


def test_nothing_tried_or_guaranteed_or_left_is_never_ready(tmp_path):
    untried = saved(SPREAD, job(), tmp_path, attack=None)
    assert untried.verdict().word == "Look at these"
    assert "No attacker was tried" in (tmp_path / "release.private.html").read_text()
    cut = saved(SPREAD, job(), tmp_path, attack=0, force=True).verdict()
    assert cut.word == "Look at these"
    assert any("acquaintance was not judged wholly" in one for one in cut.reasons)
    nothing = saved(SPREAD, job(requirements=[]), tmp_path, force=True).verdict()
    assert nothing.word != "Ready to sign"
    assert any("Nothing is guaranteed" in one for one in nothing.reasons)
    starred = job(
        attributes={
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "s": {"role": "sensitive"},
            "t": {"role": "sensitive"},
        },
        requirements=[dc.KAnonymity(k=60)],
        method=dc.FullDomain(),
    )
    empty = saved(SPREAD, starred, tmp_path, force=True).verdict()
    assert empty.word != "Ready to sign"
    assert any("say next to nothing" in one for one in empty.reasons)


CELLS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.sampled_from("uvw")),
    min_size=6, max_size=14,
)  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(CELLS)
def test_rows_at_risk_are_those_of_a_naive_count(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("risk")
    frame = pl.DataFrame(rows, schema=["q", "s", "t"], orient="row")
    exact = job(requirements=[dc.KAnonymity(k=1)], method=dc.FullDomain())
    saved(frame, exact, folder)
    place = folder / "release.private.rows.csv"
    listed = set()
    if place.exists():
        with place.open(newline="") as file:
            listed = {(int(one["row"]), one["attribute"]) for one in csv.DictReader(file)}
    groups = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row)
    expected = set()
    for number, row in enumerate(rows, 1):
        for place_of, other in ((1, 2), (2, 1)):
            alike = groups[row[0]]
            share = Counter(one[place_of] for one in rows)[row[place_of]] / len(rows)
            alone = sum(one[place_of] == row[place_of] for one in alike) / len(alike)
            known = [one for one in alike if one[other] == row[other]]
            certain = all(one[place_of] == row[place_of] for one in known)
            same = [one for one in rows if one[other] == row[other]]
            apart = all(one[place_of] == row[place_of] for one in same)  # by sensitive rows alone
            if (alone > 0.5 and share <= 0.5) or (certain and not apart):
                expected.add((number, "qst"[place_of]))
    assert listed == expected


def test_exact_releases_have_no_error_and_unlinked_tables_have_theirs():
    values = ["a"] * 15 + ["b"] * 5 + ["a"] * 5 + ["b"] * 15
    frame = pl.DataFrame({"q": [1] * 20 + [2] * 20, "s": values, "t": [10] * 20 + [30] * 20})
    exact = job(requirements=[dc.KAnonymity(k=1)], method=dc.FullDomain())
    release = dc.publish(frame, exact, seed=1)
    read = read_utility(release.coded_tables(), release.task, release.manifest)
    found = analyst_errors(read.original, read.implied)
    assert found.counts.release == found.shares.release == found.means.release == 0
    # Unlinked: 10 rows in each cell of q and s, of 15 and 5 (5 are too few to be judged).
    assert found.counts.unlinked == pytest.approx(5 / 15, abs=0.2)
    assert found.shares.unlinked == pytest.approx((0.25 + 0.5) / 2)
    assert found.means.unlinked == pytest.approx((20 / 10 - 1 + 1 - 20 / 30) / 2)


def test_the_private_page_shows_no_sensitive_cell_of_sampled_rows(tmp_path):
    secret = SPREAD.with_columns(pl.col("s").map_elements(lambda v: f"secret-{v}", str))
    saved(secret, job(), tmp_path)
    page = (tmp_path / "release.private.html").read_text(encoding="utf-8")
    assert "before and after" in page
    assert "secret-" not in page
    public = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert "secret-" not in public
    assert "Ready to sign" not in public
    assert oct((tmp_path / "release.private.rows.csv").stat().st_mode)[-3:] == "600"


def test_a_declaration_in_studio_names_the_attackers_of_its_verdict_and_the_others():
    chosen = {"verdict": "Look at these", "attackers": ["acquaintance", "insider"]}
    *_, about, others, _ = declaration_of(chosen)
    assert (about.id, about.parameters["attackers"]) == ("attackers.about", chosen["attackers"])
    assert "colleague" in others.parameters["attackers"]
    assert "bekannte Person; Insider" in about.text("de")
    declared = declaration_of({"verdict": "Look at these", "attackers": ["press"]})
    assert Statement("attackers.declared", names=["press"]) in declared
    assert [one.id for one in declaration_of(None)] == ["declaration.read", "declaration.hand-over"]
