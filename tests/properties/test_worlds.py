"""Small releases in groups, read by enumerating every world: no belief is above what is reported.

A world gives every person of a published group one sensitive row that the group may have; worlds
are as likely. Nothing of discreet is used to enumerate them (``tests/naive.py``).
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.properties import test_publish_m_invariance_and_rho_different as series
from tests.saving import UNATTACKED

import discreet as dc

EXAMPLES = 12 if settings.default.derandomize else 400  # `make explore` looks at more
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
CLOSE = 1e-9

Beliefs = dict[str, list[tuple[Fraction, Counter]]]  # by quasi-identifier: of each person alike


@st.composite
def tables(draw, sensitive: int) -> pl.DataFrame:
    """Up to 8 people, some with the same quasi-identifier, with skewed sensitive values."""
    rows = draw(st.integers(2, 8))
    alike = draw(st.sampled_from([1, 1, 2]))
    columns = {"q": [str(number // alike) for number in range(rows)]}
    for name, values in zip(["p", "s", "t"][:sensitive], ["abcd", "xyz", "12"], strict=False):
        drawn = st.lists(st.sampled_from(values), min_size=rows, max_size=rows)
        columns[name] = draw(drawn)
    return pl.DataFrame(columns)


def rows_by_group(rows) -> dict[str, Counter]:
    """How often each row is given to each person of a group, over all worlds: by permutations."""
    return Counter(world[0] for world in permutations(rows))


def read_buckets(folder: Path, names: list[str]) -> dict[str, list[Counter]]:
    """For each quasi-identifier the rows that each person with it has, over all worlds."""
    held = defaultdict(list)
    for row in naive.read_csv(folder / "sensitive.csv"):
        held[row["group"]] += [tuple(row[n] for n in names)] * int(row.get("count", 1))
    people = defaultdict(list)
    for person in naive.read_csv(folder / "quasi_identifiers.csv"):
        people[person["q"]].append(rows_by_group(held[person["group"]]))
    return people


def read_sets(folder: Path, names: list[str], primary: str) -> dict[str, list[Counter]]:
    people = naive.read_csv(folder / "groups.csv")
    groups = [person["group"] for person in people]
    sets = naive.group_sets(folder / "group_values.csv", names)
    rows = [tuple(row[n] for n in names) for row in naive.read_csv(folder / "sensitive.csv")]
    held = [Counter() for _ in people]
    for world in naive.worlds(groups, sets, rows, names, primary):
        for person, row in zip(held, world, strict=True):
            person[row] += 1
    for group, values in sets.items():
        had = [row for g, person in zip(groups, held, strict=True) if g == group for row in person]
        for place, name in enumerate(names):
            assert values[name] == {row[place] for row in had}, "a value can be struck out"
    alike = defaultdict(list)
    for person, own in zip(people, held, strict=True):
        alike[person["q"]].append(own)
    return alike


def beliefs_in(alike: list[Counter], aim: int, known: int | None, value) -> dict[str, Fraction]:
    """What to believe of a person who is one of these, given the value of a known attribute."""
    joint: Counter = Counter()
    for person in alike:
        worlds = sum(person.values())
        for row, count in person.items():
            if known is None or row[known] == value:
                joint[row[aim]] += Fraction(count, worlds)
    return {one: share / sum(joint.values()) for one, share in joint.items()}


def compare(frame: pl.DataFrame, people, names: list[str], finding) -> None:
    """The finding of a reader of all worlds has just the beliefs of enumeration."""
    known = finding.details.get("known")
    assert known is None or len(known) == 1
    given_place = None if known is None else names.index(known[0])
    aim = names.index(finding.aim)
    found = []
    for row in frame.iter_rows(named=True):
        value = None if known is None else row[known[0]]
        belief = beliefs_in(people[row["q"]], aim, given_place, value)
        found.append(float(belief[row[finding.aim]]))
        if finding.bound is not None:
            assert max(belief.values()) <= finding.bound + CLOSE
    assert finding.method == "exact"
    assert finding.targets == frame.height
    assert finding.greatest == pytest.approx(max(found))
    assert finding.mean == pytest.approx(sum(found) / len(found))
    certain = sum(belief >= 1 - CLOSE for belief in found) / len(found)
    assert finding.certain == pytest.approx(certain)


def job_for(names: list[str], method, requirements=()) -> dc.Job:
    attributes = {"q": {"role": "quasi-identifier"}, **{n: {"role": "sensitive"} for n in names}}
    return dc.Job(attributes=attributes, method=method, requirements=list(requirements))


def published(folder: str, frame: pl.DataFrame, job: dc.Job, seed: int) -> Path:
    try:
        return dc.publish(frame, job, seed=seed).save(Path(folder) / "release", **UNATTACKED)
    except (dc.InfeasibleError, dc.InputError):
        assume(False)
        raise


BUCKETS = {
    "anatomy": (1, {"anatomy": {"l": 2}}, []),
    "anatomy nearby": (1, {"anatomy": {"l": 2, "prefer": "nearby"}}, []),
    "mmdcf": (2, {"mmdcf": {"l": 2}}, []),
    "msa-diversity": (
        2,
        {"msa-diversity": {"suppression": 0.5, "publish": "buckets"}},
        [{"m-diversity": {"l": 2}}],
    ),
}


@pytest.mark.parametrize("name", BUCKETS)
@given(data=st.data(), seed=st.integers(0, 3))
@SETTINGS
def test_readers_of_buckets_believe_what_all_worlds_say(name, data, seed):
    sensitive, method, requirements = BUCKETS[name]
    frame = data.draw(tables(sensitive))
    names = frame.columns[1:]
    job = job_for(names, method, requirements)
    with tempfile.TemporaryDirectory() as folder:
        release = published(folder, frame, job, seed)
        assume(naive.read_manifest(release)["suppressed_rows"] == 0)
        people = read_buckets(release, names)
        attacks = ["homogeneity", "background-join"]
        report = dc.attack(release, original=frame, job=job, attacks=attacks)
    assert report.findings
    for finding in report.findings:
        compare(frame, people, names, finding)


@given(data=st.data(), seed=st.integers(0, 3), l=st.sampled_from([None, 2]))
@SETTINGS
def test_readers_of_sets_believe_what_all_worlds_say(data, seed, l):  # noqa: E741
    frame = data.draw(tables(data.draw(st.integers(1, 3))))
    names = frame.columns[1:]
    method = {"decomposition": {"beyond_permissible": True} if l is None else {}}
    if l:
        method["decomposition"] |= {"l": dict.fromkeys(names, l), "beyond_permissible": True}
    job = job_for(names, method)
    with tempfile.TemporaryDirectory() as folder:
        release = published(folder, frame, job, seed)
        assert dc.audit(release).ok
        manifest = naive.read_manifest(release)
        people = read_sets(release, names, manifest["method"]["primary"])
        attacks = ["set-homogeneity", "link-through-sensitive-table"]
        report = dc.attack(release, original=frame, job=job, attacks=attacks)
    for finding in report.findings:
        if finding.details["reader"] == "matching":
            compare(frame, people, names, finding)
    readers = [finding.details["reader"] for finding in report.findings]
    assert readers.count("matching") == len(names) ** 2
    for alike in people.values():
        for place, name in enumerate(names):
            left = beliefs_in(alike, place, None, None)
            assert len(left) >= manifest["method"]["l"][name]


SERIES = {
    "m-invariance": dc.MInvariance(m=2),
    "rho-different": dc.RhoDifferent(rho=0.5, group_size=2),
}


@pytest.mark.parametrize("name", SERIES)
@given(values=st.lists(st.sampled_from("abcd"), min_size=2, max_size=7), seed=st.integers(0, 3))
@SETTINGS
def test_readers_of_a_first_release_believe_what_all_worlds_say(name, values, seed):
    """Counterfeit rows of a group are rows that nobody has: people draw without them returned."""
    frame = pl.DataFrame(
        {
            "name": [f"P{number}" for number in range(len(values))],
            "age": list(range(len(values))),
            "disease": values,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        job = series.make_job(Path(folder), SERIES[name])
        release = published(folder, frame, job, seed)
        held = defaultdict(list)
        for row in naive.read_csv(release / "sensitive.csv"):
            held[row["group"]].append(row["disease"])
        beliefs = {}
        for person in naive.read_csv(release / "quasi_identifiers.csv"):
            worlds = rows_by_group(held[person["group"]])
            total = sum(worlds.values())
            beliefs[person["age"]] = {v: Fraction(n, total) for v, n in worlds.items()}
        report = dc.attack(release, original=frame, job=job, attacks=["homogeneity"])
    (finding,) = report.findings
    truth = dict(zip(map(str, frame["age"]), values, strict=True))
    assert all(beliefs[age][truth[age]] <= finding.greatest + CLOSE for age in beliefs)
    assert finding.bound is not None
    assert all(max(one.values()) <= finding.bound + CLOSE for one in beliefs.values())
