"""Edges of local recoding, and the example job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.api.audit import audit
from discreet.pipeline.run import make_release

ROOT = Path(__file__).resolve().parents[2]


def job(requirements=({"k-anonymity": {"k": 2}},), **parameters) -> dc.Job:
    return dc.Job(
        attributes={
            "größe": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [10, 20, "*"]},
            },
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "s": {"role": "sensitive"},
        },
        requirements=list(requirements),
        method={"local-recoding": parameters},
    )


def frame(size: list[int | None], q: list[str | None], s: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"größe": size, "q": q, "s": s})


def cells(release: dc.Release) -> list[tuple[str | None, ...]]:
    table = release.tables["records"]
    return sorted(table.select("größe", "q").rows(), key=str)


def test_one_row_at_k_1_is_published_as_it_is():
    release = dc.publish(frame([7], ["ü"], ["flu"]), job([{"k-anonymity": {"k": 1}}]))
    assert cells(release) == [(7, "ü")]
    assert release.private["method"]["loss"] == 0


def test_one_row_at_k_2_cannot_be():
    with pytest.raises(dc.InfeasibleError, match="k = 1 there at best"):
        dc.publish(frame([7], ["ü"], ["flu"]), job())


def test_missing_values_are_values():
    release = dc.publish(frame([None, None, 1, 2], [None, None, "a", "a"], list("abab")), job())
    assert cells(release) == [("[0, 10)", "a")] * 2 + [(None, None)] * 2


def test_free_ranges_are_as_narrow_as_their_rows():
    table = frame([1, 2, 18, 19], list("aaaa"), list("abab"))
    release = dc.publish(table, job(ranges=True))
    assert cells(release) == [("[1, 2]", "a")] * 2 + [("[18, 19]", "a")] * 2
    assert release.private["method"]["loss"] == pytest.approx(1 / 18 / 2)


def test_a_row_alone_borrows_from_those_who_can_spare_one():
    table = frame([1, 1, 1, 1, 1, 2], list("aaaaaa"), list("ababab"))
    release = dc.publish(table, job(ranges=True, effort="good"))
    assert cells(release) == [("1", "a")] * 4 + [("[1, 2]", "a")] * 2


def test_the_report_says_the_bound():
    release = dc.publish(frame([1, 2, 18, 19], list("aabb"), list("abab")), job())
    assert any("can lose less than" in sentence for sentence in release.explanation)


def test_rows_that_say_nothing_are_counted():
    release = dc.publish(frame([1, 99], ["a", "b"], ["x", "y"]), job())
    assert cells(release) == [("*", "*")] * 2
    assert release.private["method"]["root_rows"] == 2
    assert any("effectively suppressed" in sentence for sentence in release.explanation)


def test_levels_without_a_common_root_stay_apart():
    made = job(cells="levels").model_dump(mode="json")
    made["attributes"]["größe"]["hierarchy"] = {"intervals": [10]}
    levels = dc.Job.model_validate(made)
    with pytest.raises(dc.InfeasibleError, match="top labels"):
        dc.publish(frame([1, 2, 30], list("aaa"), list("xyz")), levels)
    release = dc.publish(frame([1, 2, 30, 31], list("aaaa"), list("xyzx")), levels)
    assert {size for size, _ in cells(release)} == {"[0, 10)", "[30, 40)"}
    assert set(release.manifest.method.hierarchies) == {"größe", "q"}


def test_parameters_that_exclude_each_other():
    with pytest.raises(dc.JobError, match="exclude each other"):
        dc.Job.parse("attributes: {}\nmethod: {local-recoding: {ranges: true, cells: levels}}")


@pytest.mark.parametrize(
    ("effort", "passes"),
    [("quick", 1), ("good", 4), ("best", 8), (0.2, 1), (5, 5), (3600, 16)],
)
def test_an_effort_is_a_number_of_passes(effort, passes):
    assert dc.LocalRecoding(effort=effort).passes == passes


def test_the_example_publishes_and_passes_its_audit(tmp_path):
    path = ROOT / "examples" / "local-recoding" / "job.yaml"
    make_release(None, dc.Job.load(path), seed=1).save(tmp_path / "release", **UNATTACKED)
    assert audit(tmp_path / "release", original=path).ok


def scattered(rows=400):
    """Rows nearly all of which differ."""
    rng = np.random.default_rng(3)
    size, q = rng.integers(0, 100, rows), rng.choice(list("abcdefgh"), rows)
    return frame(size.tolist(), q.tolist(), rng.choice(list("xyz"), rows).tolist())


def test_ceilings_rise_from_the_one_up_to_which_all_candidates_fit(monkeypatch):
    from discreet.methods.local_recoding import candidates, greedy

    monkeypatch.setattr(greedy, "BLOCK", 100)
    monkeypatch.setattr(greedy, "FEW", 0)
    monkeypatch.setattr(candidates, "MOST_PAIRS", 300)
    opened = []
    find = greedy.find_candidates

    def spy(space, needs, ceiling):
        found = find(space, needs, ceiling)
        opened.append((len(space.rows), found.ceiling))
        return found

    monkeypatch.setattr(greedy, "find_candidates", spy)
    release = dc.publish(scattered(), job([{"k-anonymity": {"k": 4}}]))
    (whole, fitting), *later = opened
    assert whole > 100
    assert fitting < greedy.FIRST_CEILING
    assert all(units <= 100 for units, _ in later)
    facts = release.private["method"]
    assert 0 < facts["lower_bound"] <= facts["loss"]


@pytest.mark.parametrize("effort", ["quick", "good", 3])
def test_tables_of_several_blocks_meet_their_requirements_at_every_effort(
    effort, monkeypatch, tmp_path
):
    from discreet.methods.local_recoding import greedy

    monkeypatch.setattr(greedy, "BLOCK", 100)
    asked = [{"k-anonymity": {"k": 4}}, {"entropy-l-diversity": {"l": 2}}]
    dc.publish(scattered(300), job(asked, effort=effort)).save(tmp_path / "release", **UNATTACKED)
    assert audit(tmp_path / "release").ok


def test_more_passes_lose_no_more():
    asked = [{"k-anonymity": {"k": 4}}]
    losses = [
        dc.publish(scattered(), job(asked, effort=effort)).private["method"]["loss"]
        for effort in (1, 4, 16)
    ]
    assert losses == sorted(losses, reverse=True)
