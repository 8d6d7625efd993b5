"""Two tables without a link: what is published, what holds, and what no other method can better."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import permutations

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED

import discreet as dc

ROWS = {
    "age": ["30", "30", "41", "52", "63", "63"],
    "disease": ["flu", "flu", "gout", "gout", "ague", "ague"],
    "test": ["no", "no", "no", "no", "no", "yes"],
}
ATTRIBUTES = {
    "age": {"role": "quasi-identifier"},
    "disease": {"role": "sensitive"},
    "test": {"role": "sensitive"},
}


def published(rows=ROWS, place=None, requirements=(), **changes):
    attributes = {name: {**ATTRIBUTES[name], **changes.get(name, {})} for name in rows}
    job = dc.Job(attributes=attributes, requirements=list(requirements), method="unlinked")
    release = dc.publish(pl.DataFrame(rows), job, seed=1)
    if place is not None:
        release.save(place, **UNATTACKED)
    return release


def test_the_tables_are_those_of_the_source_and_share_nothing_that_differs_between_rows(tmp_path):
    release = published(place=tmp_path / "release")
    people = pl.read_csv(tmp_path / "release" / "quasi_identifiers.csv", infer_schema=False)
    sensitive = pl.read_csv(tmp_path / "release" / "sensitive.csv", infer_schema=False)
    assert Counter(people["age"]) == Counter(ROWS["age"])
    rows = zip(ROWS["disease"], ROWS["test"], strict=True)
    assert Counter(sensitive.select("disease", "test").iter_rows()) == Counter(rows)
    shared = set(people.columns) & set(sensitive.columns)
    assert all(table[name].n_unique() == 1 for name in shared for table in (people, sensitive))
    assert release.manifest.method.groups == 1
    assert dc.audit(tmp_path / "release").ok


def test_the_manifest_states_shares_that_the_audit_derives_from_files(tmp_path):
    release = published(place=tmp_path / "release")
    stated = {p.to_requirement().named: p for p in release.manifest.promises}
    assert stated["disease",].parameters["l"] == 3  # two of six rows
    assert ("test",) not in stated  # five of six rows: a bound of one in one says nothing
    (closeness,) = [p for p in release.manifest.promises if p.requirement == "t-closeness"]
    assert closeness.achieved == {"t": 0}
    share = {"disease": pytest.approx(1 / 3), "test": pytest.approx(5 / 6)}
    assert release.manifest.method.greatest_share == share
    place = tmp_path / "release" / "manifest.json"
    place.write_text(place.read_text().replace(f"{5 / 6!r}", "0.5"))
    assert not dc.audit(tmp_path / "release").ok


def test_a_second_group_is_refused_by_the_audit(tmp_path):
    published(place=tmp_path / "release")
    for name in ("quasi_identifiers", "sensitive"):
        place = tmp_path / "release" / f"{name}.csv"
        head, *rows = place.read_text().splitlines()
        at = head.split(",").index("group")
        split = [row.split(",") for row in rows]
        for row in split[:3]:
            row[at] = "2"
        place.write_text("\n".join([head, *map(",".join, split), ""]))
    assert not dc.audit(tmp_path / "release").ok
    place = tmp_path / "release" / "manifest.json"
    written = json.loads(place.read_text())
    written["method"]["groups"] = 2
    place.write_text(json.dumps(written))
    with pytest.raises(dc.DiscreetError):
        dc.audit(tmp_path / "release")


def test_values_that_are_not_sensitive_do_not_bound_the_guarantee():
    release = published(test={"sensitive_values": ["yes"]})
    stated = {p.to_requirement().named: p for p in release.manifest.promises}
    assert stated["test",].parameters == {"l": 6, "attribute": "test", "non_sensitive": ["no"]}
    assert release.audit.ok


def test_what_the_whole_table_does_not_meet_is_infeasible():
    published(requirements=[dc.PDiversity(l=3, attribute="disease")])
    with pytest.raises(dc.InfeasibleError, match="'test' fills 83.3%"):
        published(requirements=[dc.PDiversity(l=2)])


VALUES = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"))


@given(st.lists(VALUES, min_size=1, max_size=6))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_beliefs_are_those_of_all_worlds_that_fit_the_files(rows):
    """Enumerate every assignment of the sensitive rows to the people."""
    table = {
        "age": [str(number) for number in range(len(rows))],
        "disease": [disease for disease, _ in rows],
        "test": [test for _, test in rows],
    }
    release = published(table)
    sensitive = pl.DataFrame(release.tables["sensitive"]).select("disease", "test").rows()
    worlds = list(permutations(sensitive))
    stated = release.manifest.method.greatest_share
    for place, name in enumerate(("disease", "test")):
        for person in range(len(rows)):
            count = Counter(world[person][place] for world in worlds)
            greatest = Fraction(max(count.values()), len(worlds))
            assert float(greatest) == pytest.approx(stated[name])
            for promise in release.manifest.promises:
                requirement = promise.to_requirement()
                if isinstance(requirement, dc.PDiversity) and requirement.named == (name,):
                    assert greatest <= 1 / Fraction(requirement.l)


def test_no_method_that_suppresses_nothing_meets_more():
    """Groups of the same rows: the greatest share in some group is no smaller."""
    draw = random.Random(7)
    for _ in range(200):
        values = [draw.choice("aaab") for _ in range(8)]
        groups = [draw.randrange(3) for _ in values]
        of_table = max(Counter(values).values()) / len(values)
        shares = [
            max(Counter(members).values()) / len(members)
            for group in set(groups)
            if (members := [v for v, g in zip(values, groups, strict=True) if g == group])
        ]
        assert max(shares) >= of_table - 1e-12


@given(st.lists(VALUES, min_size=2, max_size=6))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_attackers_believe_what_all_worlds_say_and_become_certain_of_nothing_new(rows):
    table = {
        "age": [str(number) for number in range(len(rows))],
        "disease": [disease for disease, _ in rows],
        "test": [test for _, test in rows],
    }
    release = published(table)
    report = dc.attack(
        release, original=pl.DataFrame(table), attacks=["homogeneity", "background-join"]
    )
    worlds = list(permutations(rows))
    for finding in report.findings:
        place = ("disease", "test").index(finding.aim)
        known = finding.details.get("known")
        beliefs = []
        for person, truth in enumerate(rows):
            fitting = [w for w in worlds if not known or w[person][1 - place] == truth[1 - place]]
            right = sum(world[person][place] == truth[place] for world in fitting)
            beliefs.append(right / len(fitting))
        assert finding.greatest == pytest.approx(max(beliefs))
        assert finding.mean == pytest.approx(sum(beliefs) / len(beliefs))
        assert finding.baseline == pytest.approx(finding.mean)
        assert finding.newly_certain == 0


def test_msa_diversity_does_not_form_groups_where_the_whole_table_fails(monkeypatch):
    monkeypatch.setattr(dc.MsaDiversity, "_grouped", lambda *_: pytest.fail("groups were formed"))
    attributes = {"age": {"role": "quasi-identifier"}, "disease": {"role": "sensitive"}}
    job = dc.Job(
        attributes=attributes,
        requirements=[{"p-diversity": {"l": 2}}, {"recursive-cl-diversity": {"c": 1, "l": 3}}],
        method={"msa-diversity": {"suppression": 0}},
    )
    table = pl.DataFrame({"age": ["1", "2", "3", "4"], "disease": ["a", "a", "b", "b"]})
    with pytest.raises(dc.InfeasibleError, match="the whole table as one group"):
        dc.publish(table, job)


def test_no_generalized_release_counts_as_well_as_two_exact_tables_on_every_table():
    """Theorem 7: two tables with one release, whose counts differ, and are exact without a link."""
    classes, counts = [], []
    for rows_of_age in ({"30": 2, "41": 6}, {"30": 6, "41": 2}):
        rows = {
            "age": [age for age, n in rows_of_age.items() for _ in range(n)],
            "disease": ["flu", "gout"] * 4,
            "test": ["no", "no", "yes", "yes"] * 2,
        }
        counts.append(
            sum(pair == ("30", "flu") for pair in zip(rows["age"], rows["disease"], strict=True))
        )
        job = dc.Job(
            attributes={**ATTRIBUTES, "age": {"role": "quasi-identifier", "type": "integer"}},
            requirements=[dc.KAnonymity(k=3)], method="codip",
        )  # fmt: skip
        release = dc.publish(pl.DataFrame(rows), job, seed=1)
        classes.append({name: Counter(t.iter_rows()) for name, t in release.tables.items()})
        apart = published(rows).tables
        of_age = Counter(apart["quasi_identifiers"]["age"])["30"]
        share = Fraction(Counter(apart["sensitive"]["disease"])["flu"], 8)
        assert of_age * share == counts[-1]
    assert classes[0] == classes[1] and counts[0] != counts[1]
