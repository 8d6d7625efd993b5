"""A recommendation is never dominated, by another release or by two tables without a link."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.api import compare
from discreet.api.compare import compared_job
from discreet.utility.comparison import Point, Use, recommend

AXES = ("divergence_ratio", "belief_99", "query_error")


def table(seed: int) -> pl.DataFrame:
    """Tables with all strengths of association, many and few values, skewed or even."""
    rng = np.random.default_rng(seed)
    rows = 120
    age = rng.integers(20, 20 + 5 * (1 + seed % 4), rows)
    zip_code = rng.integers(0, 3 + seed % 5, rows)
    values = 3 + seed % 6
    noise = rng.random(rows) < (seed % 3) / 2
    ill = np.where(noise, rng.integers(0, values, rows), (age + zip_code) % values)
    if seed % 2:
        ill = np.minimum(ill, rng.integers(0, values, rows))
    pay = np.where(rng.random(rows) < 0.5, ill % 4, rng.integers(0, 4, rows))
    return pl.DataFrame(
        {
            "age": age,
            "zip": [f"z{one}" for one in zip_code],
            "ill": [f"i{one}" for one in ill],
            "pay": [f"p{one}" for one in pay],
        }
    )


def job() -> dc.Job:
    return dc.Job(
        attributes={
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [5, 10, "*"]},
            },
            "zip": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive"},
            "pay": {"role": "sensitive"},
        },
        requirements=[dc.KAnonymity(k=4), dc.DistinctLDiversity(l=2, attribute="ill")],
        method=dc.Mondrian(),
    )


def no_worse_and_somewhere_better(one: dict, other: dict) -> bool:
    """Dominance from the written figures alone."""
    shared = [(one[name], other[name]) for name in AXES if name in one and name in other]
    return len(shared) >= 2 and all(a <= b for a, b in shared) and any(a < b for a, b in shared)


@pytest.mark.parametrize("seed", range(12))
def test_no_candidate_dominates_a_recommendation(seed):
    found = dc.compare(table(seed), job(), queries=80, ceiling=0.6, seed=seed).to_dict()
    made = [point for point in found["points"] if "failure" not in point]
    assert {point["method"] for point in made} >= {"mondrian", "decomposition", "codip"}, [
        (p["label"], p.get("failure")) for p in found["points"]
    ]
    for advice in found["recommendations"]:
        if advice["label"] is None:
            continue
        every = {point["label"]: point for point in [*made, found["unlinked"]]}
        chosen = every[advice["label"]]
        assert chosen["belief_99"] <= 0.6 + 1e-9
        rivals = made if advice["for"] != "records" else [p for p in made if p.get("has_records")]
        for rival in [*rivals, found["unlinked"]]:
            assert not no_worse_and_somewhere_better(rival, chosen), (advice, rival)
    for point in made:
        beaten = any(no_worse_and_somewhere_better(one, point) for one in every_candidate(found))
        assert point["dominated"] == beaten, point["label"]
        gain = point["belief_99"] - found["unlinked"]["belief_99"]
        assert point["belief_gain"] == pytest.approx(gain)


def every_candidate(found: dict) -> list[dict]:
    return [*(p for p in found["points"] if "failure" not in p), found["unlinked"]]


def point(label: str, **figures) -> Point:
    return Point(label, label, {}, **figures)


UNLINKED = point("unlinked", divergence_ratio=0.9, belief_99=0.3, query_error=0.1)


def test_where_nothing_beats_unlinked_tables_the_sentence_says_so():
    worse = point("m", divergence_ratio=0.95, belief_99=0.4, query_error=0.2, has_records=True,
                  loss=0.1)  # fmt: skip
    found = recommend([worse], UNLINKED, Use.QUERIES, 0.5)
    assert found.label == "unlinked"
    assert "no release beats two tables without a link" in found.sentence
    assert recommend([worse], UNLINKED, Use.RECORDS, 0.5).label is None
    better = point("b", divergence_ratio=0.5, belief_99=0.4, query_error=0.05)
    assert recommend([worse, better], UNLINKED, Use.QUERIES, 0.5).label == "b"


def test_unlinked_tables_that_do_not_meet_the_job_are_not_recommended():
    worse = point("m", divergence_ratio=0.8, belief_99=0.4, query_error=0.2)
    unpublished = replace(UNLINKED, failure="unlinked: not all requirements", infeasible=True)
    assert recommend([worse], unpublished, Use.QUERIES, 0.5).label == "m"


def test_unlinked_tables_are_published_by_their_name(tmp_path):
    frame = table(2)
    found = dc.compare(frame, job(), methods=["mondrian", "unlinked"], queries=20)
    assert [one.label for one in found.points] == ["mondrian"]
    chosen = compared_job(job(), found.save(tmp_path / "comparison"), "unlinked")
    release = dc.publish(frame, chosen, seed=1)
    assert release.manifest.method.name == "unlinked"
    measured = dc.measure(release, original=frame)
    assert measured.divergence.release.ratio == pytest.approx(found.unlinked.divergence_ratio)


def test_a_ceiling_below_what_is_known_without_a_release_is_raised_to_it():
    """A frequent value is believed whatever is published: that excludes no release."""
    worse = point("w", divergence_ratio=0.5, belief_99=0.31, query_error=0.01)
    found = recommend([worse], UNLINKED, Use.QUERIES, 0.2)
    assert found.label == "unlinked"
    within = point("m", divergence_ratio=0.5, belief_99=0.25, query_error=0.05)
    assert recommend([worse, within], UNLINKED, Use.QUERIES, 0.2).label == "m"


def test_a_compared_release_is_published_by_its_name(tmp_path):
    frame = table(2)
    frame.write_csv(tmp_path / "table.csv")
    asked = job().model_copy(update={"source": dc.Source(path=str(tmp_path / "table.csv"))})
    found = dc.compare(frame, asked, queries=20)
    folder = found.save(tmp_path / "comparison")
    written = json.loads((folder / "comparison.json").read_text())
    name = next(p["label"] for p in written["points"] if p["label"].startswith("codip"))
    chosen = compared_job(asked, folder, name)
    assert chosen.method == dc.Codip(recoding="mondrian", beta=0.5)
    release = dc.publish(None, chosen, seed=1)
    assert release.manifest.method.name == "codip"
    split = compared_job(asked, folder, "decomposition l=2")
    assert split.requirements == ()
    assert split.method == dc.Decomposition(l={"ill": 2, "pay": 2})
    with pytest.raises(dc.InputError, match="no release 'codipp'"):
        compared_job(asked, folder, "codipp")


def test_a_setting_that_exceeds_its_share_is_stopped_and_the_others_have_their_turn(monkeypatch):
    measured = compare._Runner._measured

    def slow(self, point, release):
        if point.method == "msa-diversity":
            time.sleep(60)
        return measured(self, point, release)

    monkeypatch.setattr(compare._Runner, "_measured", slow)
    begun = time.monotonic()
    found = dc.compare(table(1), job(), methods=["msa-diversity", "mondrian"], queries=0, budget=24)
    assert time.monotonic() - begun < 40
    assert [one.label for one in found.points] == ["mondrian"]
    (stopped,) = found.untried
    assert stopped.startswith("msa-diversity (stopped after ")


def test_a_larger_l_than_an_infeasible_one_is_not_run():
    found = dc.compare(table(1), job(), methods=["mondrian"], vary={"l": [2, 90, 100]}, queries=0)
    assert [one.label for one in found.points] == ["mondrian l=2", "mondrian l=90"]
    assert found.untried == ("mondrian l=100 (infeasible, as mondrian l=90 is)",)


def test_a_refused_release_is_not_recommended():
    best = point("m", divergence_ratio=0.5, belief_99=0.25, query_error=0.01)
    second = point("n", divergence_ratio=0.5, belief_99=0.25, query_error=0.05)
    assert recommend([best, second], UNLINKED, Use.QUERIES, 0.5).label == "m"
    refused = replace(best, verdict="Do not publish")
    assert recommend([refused, second], UNLINKED, Use.QUERIES, 0.5).label == "n"


def test_a_budget_leaves_settings_out_and_names_them():
    found = dc.compare(table(1), job(), queries=0, budget=0)
    assert found.points == ()
    assert {"mondrian", "codip l=2 beta=0.5"} <= set(found.untried)
    assert "Not tried within the time budget: " in str(found)
