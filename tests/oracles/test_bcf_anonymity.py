"""BCF-anonymity against all worlds of small series, and judged before a release joins a series."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations, product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive_series import assignments
from tests.saving import UNATTACKED
from tests.series_readers import series_of

import discreet as dc
from discreet.attacks.cross_release import correspondences


def small_series(draw: random.Random):
    """Two releases of a few people with values that stay; some come, some leave, some are fake."""
    value = {name: draw.choice("ab" if draw.random() < 0.7 else "abc") for name in "uvwxyz"}
    releases = []
    for _ in range(2):
        here = [name for name in value if draw.random() < 0.75] or ["u"]
        draw.shuffle(here)
        cut = draw.randint(1, len(here))
        groups = []
        for people in (here[:cut], here[cut:]):
            if people:
                fakes = [draw.choice("abc")] if draw.random() < 0.2 else []
                groups.append((people, [value[name] for name in people] + fakes))
        releases.append(groups)
    return releases


def owned_rows(releases, target):
    """The least number of rows of each value in a group that earlier people own in any world."""
    earlier = {name for people, _ in releases[0] for name in people}
    least: dict[str, int] = {}
    for before, after in product(assignments(releases[0]), assignments(releases[1])):
        if all(before[name] == after[name] for name in before.keys() & after.keys()):
            owned = Counter(after[name] for name in target if name in earlier)
            for value in "abc":
                least[value] = min(least.get(value, 99), owned[value])
    return least


def matched_rows(releases, person):
    """The rows of a person's groups that can be the person's in both, value by value."""
    groups = [
        Counter(values) for release in releases for people, values in release if person in people
    ]
    return sum(min(group[value] for group in groups) for value in "abc"), len(groups)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_excluded_rows_are_rows_that_earlier_people_own_in_every_world(seed):
    releases = small_series(random.Random(seed))
    series = series_of(releases)
    earlier = {name for people, _ in releases[0] for name in people}
    later = {name: group for group in releases[1] for name in group[0]}
    found = correspondences(series, 2)
    expected = [
        rows for name in earlier & later.keys()
        for rows, groups in [matched_rows(releases, name)] if groups == 2
    ]  # fmt: skip
    assert found.returning == min(expected, default=None)
    before = {name: group for group in releases[0] for name in group[0]}
    arriving = [later[name] for name in later.keys() - earlier]
    leaving = [before[name] for name in earlier - later.keys()]
    if not arriving and not leaving:
        assert found.arriving is None
        return
    truly_left = [
        len(values) - sum(owned_rows(order, people).values())
        for order, groups in ((releases, arriving), (releases[::-1], leaving))
        for people, values in groups
    ]
    largest = max(len(values) for _, values in arriving + leaving)
    assert min(truly_left) <= found.arriving <= largest


def test_a_newcomer_among_rows_that_must_be_old():
    """Two a of the first release have one group to go to, so the newcomer is b or c."""
    releases = [[(["u", "v"], ["a", "a"])], [(["u", "v", "w", "x"], ["a", "a", "b", "c"])]]
    found = correspondences(series_of(releases), 3)
    assert (found.returning, found.arriving, found.below) == (2, 2, 4)
    people = list("uvwx")
    worlds = {
        dict(zip(people, rows, strict=True))["w"]
        for rows in permutations("aabc")
        if rows[:2] == ("a", "a")
    }
    assert worlds == {"b", "c"}


ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi-identifier", "type": "integer"},
    "disease": {"role": "sensitive"},
}


def frame(people: dict[str, str]) -> pl.DataFrame:
    ages = [ord(name) for name in people]
    return pl.DataFrame({"name": list(people), "age": ages, "disease": list(people.values())})


def series_job(folder, method, k):
    ledger = dc.LedgerSettings(path=folder / "people.ledger", bcf_anonymity=k).located(folder)
    if not (folder / "people.ledger").exists():
        with dc.Ledger.create(ledger):
            pass
    return dc.Job(attributes=ATTRIBUTES, method=method, ledger=ledger)


def test_a_release_that_breaks_bcf_anonymity_never_appears(tmp_path):
    first = frame({"u": "a", "v": "b", "w": "c"})
    second = frame({"u": "a", "x": "d", "y": "e"})
    job = series_job(tmp_path, {"anatomy": {"l": 3}}, 2)
    dc.publish(first, job, seed=1).save(tmp_path / "r1", report=False, **UNATTACKED)
    with pytest.raises(dc.AuditError, match="fewer than 2 rows for 1 records, down to 1"):
        dc.publish(second, job, seed=1).save(tmp_path / "r2", report=False, **UNATTACKED)
    assert not (tmp_path / "r2").exists()
    later = series_job(tmp_path, {"anatomy": {"l": 3}}, None)  # the series has the guarantee
    with pytest.raises(dc.AuditError, match="BCF-anonymity of the series"):
        dc.publish(second, later, seed=1).save(tmp_path / "r2", report=False, **UNATTACKED)


def test_bcf_anonymity_is_stated_and_audited_with_the_series(tmp_path):
    job = series_job(tmp_path, dc.MInvariance(m=3), 3)
    people = {name: "abcd"[at % 4] for at, name in enumerate("abcdefghijkl")}
    for number in range(2):
        release = dc.publish(frame(people), job, seed=number)
        release.save(tmp_path / f"r{number}", report=False, **UNATTACKED)
        people = {**dict(list(people.items())[2:]), "x": "a", "y": "b"}
    stated = {promise.requirement: promise for promise in release.manifest.promises}
    assert stated["bcf-anonymity-in-series"].parameters == {"k": 3}
    assert stated["bcf-anonymity-in-series"].holds
    alone = {one.requirement: one for one in dc.audit(tmp_path / "r1").promises}
    assert alone["bcf-anonymity-in-series"].unproved is not None
    found = dc.audit_series(ledger=tmp_path / "people.ledger")
    assert found.ok
    assert found.correspondences.returning >= 3
    assert "Correspondence attacks leave at least this many rows: " in str(found)


def test_bcf_anonymity_needs_numbered_groups(tmp_path):
    job = series_job(tmp_path, "mondrian", 2)
    with pytest.raises(dc.InputError, match="bcf_anonymity needs releases with numbered groups"):
        dc.publish(frame({"u": "a", "v": "b"}), job, seed=0)
