"""The worked example of the decomposition paper: its table 1, groups of table 5, readers of 6."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.tables import coded_column, coded_table

import discreet as dc
from discreet.methods.decomposition.noise import (
    add_linkable_noise,
    add_noise,
    index_sensitive,
)
from discreet.releases.worlds.readers import link_through_sensitive_table
from discreet.requirements.feasibility import permissible_ell
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role

NAMES = ["Alice", "Betty", "Carl", "Diana", "Ella", "Finch", "Gavin", "Helen"]
MICRODATA = pl.DataFrame(
    {
        "gender": ["F", "F", "M", "F", "F", "M", "M", "F"],
        "zip": ["10078", "10077", "10076", "10075", "10085", "10085", "20086", "20087"],
        "birthday": [
            "1988-04-17", "1984-03-21", "1985-03-01", "1983-02-14",
            "1962-10-03", "1988-11-04", "1958-06-06", "1960-07-11",
        ],
        "occupation": ["nurse", "nurse", "police", "cook", "actor", "actor", "clerk", "clerk"],
        "salary": ["1", "4", "8", "9", "2", "7", "8", "2"],
    }
)  # fmt: skip
FIRST = ["Alice", "Ella", "Gavin", "Carl"]  # the first group of table 5
ATTRIBUTES = {
    **{name: {"role": "quasi-identifier"} for name in ("gender", "zip", "birthday")},
    "occupation": {"role": "sensitive"},
    "salary": {"role": "sensitive"},
}


def job(**parameters):
    return dc.Job(attributes=ATTRIBUTES, method={"decomposition": parameters})


def sensitive_columns():
    table = coded_table({name: MICRODATA[name].to_list() for name in ("occupation", "salary")})
    return [table["occupation"], table["salary"]]


def test_permissible_ell_of_both_attributes_is_four():
    assert [permissible_ell(column.counts) for column in sensitive_columns()] == [4, 4]


@pytest.mark.parametrize("seed", range(12))
def test_two_groups_of_four_with_every_set_full(seed):
    release = dc.publish(MICRODATA, job(), seed=seed)
    groups, values = release.tables["groups"], release.tables["group_values"]
    assert groups["group"].value_counts()["count"].to_list() == [4, 4]
    assert release.manifest.method.primary == "occupation"
    assert release.manifest.method.l == {"occupation": 4, "salary": 4}
    sizes = values.group_by("group", "attribute").len()["len"].to_list()
    assert len(sizes) == 4
    assert min(sizes) >= 4
    assert (
        release.tables["sensitive"]
        .sort("occupation", "salary")
        .equals(MICRODATA.select("occupation", "salary").sort("occupation", "salary"))
    )
    linked = groups.drop("group").sort("zip", "birthday")
    assert linked.equals(MICRODATA.drop("occupation", "salary").sort("zip", "birthday"))


@pytest.mark.parametrize("add", [add_noise, add_linkable_noise])
def test_noise_of_the_paper_s_first_group_is_four_or_seven_and_never_nine(add):
    columns = sensitive_columns()
    sensitive = index_sensitive(columns, 8)
    rows = [NAMES.index(name) for name in FIRST]
    member = sensitive.classes.class_of_row[rows]
    found = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noise = add(sensitive, np.array([0, 4]), member, [4, 4], rng)
        assert noise.attribute.tolist() == [1]
        assert not noise.lacking.any()
        found.add(columns[1].text[int(noise.value[0])])
    assert found == {"4", "7"}


def decomposed(noise: str) -> dict[str, CodedTable]:
    """Table 6, with the paper's noise or another."""
    first = [name in FIRST for name in NAMES]
    sets: dict[tuple[str, str], set[str]] = {}
    for row, in_first in zip(MICRODATA.iter_rows(named=True), first, strict=True):
        for attribute in ("occupation", "salary"):
            group = "1" if in_first else "2"
            sets.setdefault((group, attribute), set()).add(row[attribute])
    sets["1", "salary"].add(noise)
    listed = [(g, a, v) for (g, a), values in sets.items() for v in sorted(values)]
    return {
        "groups": coded_table(
            {"zip": MICRODATA["zip"].to_list(), "group": ["1" if f else "2" for f in first]}, "qi"
        ),
        "group_values": coded_table(
            dict(zip(("group", "attribute", "value"), map(list, zip(*listed, strict=True)),
                     strict=True)),
            "iii",
        ),
        "sensitive": CodedTable(
            {
                name: coded_column(name, MICRODATA[name].to_list(), Role.SENSITIVE)
                for name in ("occupation", "salary")
            },
            8,
        ),
    }  # fmt: skip


@pytest.mark.parametrize(("noise", "row", "matching"), [("4", 5, 8), ("7", 5, 6)])
def test_readers_of_table_6_who_know_the_occupation(noise, row, matching):
    found = {
        finding.reader: finding
        for finding in link_through_sensitive_table(decomposed(noise), "occupation", "occupation")
    }
    assert found["row"].certain == row
    assert found["matching"].certain == matching
    assert found["matching"].exact
    assert all(finding.people == 8 for finding in found.values())


def test_a_request_above_the_permissible_is_refused_with_both_numbers():
    with pytest.raises(dc.InfeasibleError, match=r"'salary': l = 5 is above l_per = 4"):
        dc.publish(MICRODATA, job(l={"salary": 5}), seed=0)
    with pytest.raises(dc.InfeasibleError, match=r"'occupation': l = 5 is above l_per = 4"):
        dc.publish(MICRODATA, job(l={"occupation": 5}, beyond_permissible=True), seed=0)
    release = dc.publish(MICRODATA, job(l={"salary": 5}, beyond_permissible=True), seed=0)
    assert release.manifest.promises[0].by_attribute["salary"] >= 5
    with pytest.raises(dc.InfeasibleError, match="l = 9, but it has 6 values in all"):
        dc.publish(MICRODATA, job(l={"salary": 9}, beyond_permissible=True), seed=0)


def test_a_reader_s_floor_that_a_value_cannot_meet_is_refused_with_both_numbers():
    asked = {"l": 3, "attacker": "pair"}
    with pytest.raises(dc.InfeasibleError, match=r"asks that 3 values of 'salary' .* with 1 only"):
        dc.publish(MICRODATA, job(conditional_l=asked), seed=0)


@pytest.mark.parametrize("seed", range(5))
def test_linkable_noise_that_the_sensitive_table_rules_out_is_refused(seed):
    """Every group of the paper's rule lists a value whose only rows have another third value."""
    rows = ["bz1", "ay1", "ax1", "bz1", "bz1", "ay2"]
    frame = pl.DataFrame(
        {"q": list("123456")} | {name: [row[i] for row in rows] for i, name in enumerate("psu")}
    )
    attributes = {"q": {"role": "quasi-identifier"}}
    attributes |= {name: {"role": "sensitive"} for name in "psu"}

    def published(**parameters):
        parameters |= {"primary": "p", "l": dict.fromkeys("psu", 2), "beyond_permissible": True}
        return dc.Job(attributes=attributes, method={"decomposition": parameters})

    with pytest.raises(dc.InfeasibleError, match="noise values can be ruled out") as caught:
        dc.publish(frame, published(noise="linkable"), seed=seed)
    assert caught.value.failures[0]["ruled_out"] >= 1
    assert dc.publish(frame, published(), seed=seed).audit.ok


def test_linkable_noise_and_a_reader_s_floor_exclude_each_other():
    with pytest.raises(dc.JobError, match="'noise: linkable' cannot guarantee"):
        dc.publish(MICRODATA, job(noise="linkable", conditional_l={"l": 2}), seed=0)


def test_table_25_of_abdalaal_is_a_possible_outcome():
    """Amy with Bob and Che with Dina: 23 of 40 seeds; else Amy is with Dina."""
    frame = pl.DataFrame(
        {
            "age": ["30", "20", "23", "27"],
            "zip": ["1200", "2400", "1500", "3400"],
            "I1": list("bcac"),
            "I2": list("wxwy"),
        }
    )
    attributes = {
        **{name: {"role": "quasi-identifier"} for name in ("age", "zip")},
        **{name: {"role": "sensitive"} for name in ("I1", "I2")},
    }
    method = {"decomposition": {"primary": "I1", "l": {"I1": 2, "I2": 2}}}
    printed = 0
    for seed in range(40):
        release = dc.publish(frame, dc.Job(attributes=attributes, method=method), seed=seed)
        listed: dict[int, dict[str, str]] = {}
        for group, attribute, value in release.tables["group_values"].sort("value").rows():
            sets = listed.setdefault(group, {})
            sets[attribute] = sets.get(attribute, "") + value
        assert all(len(sets[name]) == 2 for sets in listed.values() for name in ("I1", "I2"))
        printed += sorted(sets["I1"] + sets["I2"] for sets in listed.values()) == ["acwy", "bcwx"]
    assert printed == 23
