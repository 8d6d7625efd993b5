"""Whatever decomposition and anatomy publish keeps its promise, as derived from the files."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

VALUES = [
    ["a", "b", "c", "d", "e", "f"],
    ["x", "y", "z", ""],
    ["1", "2", "3", "4", "5", "40", "007"],
    ["ü", 'p, "q"', "r"],
    [str(number) for number in range(30)],
]


@st.composite
def tables(draw):
    """Rows of two quasi-identifiers and one to five sensitive attributes, skewed and tied."""
    attributes = draw(st.integers(1, 5))
    columns = []
    for values in VALUES[:attributes]:
        skewed = draw(st.booleans())
        columns.append(st.sampled_from([values[0]] * 6 + values if skewed else values))
    if attributes > 1 and draw(st.booleans()):  # the second attribute follows from the first
        row = st.tuples(*columns).map(lambda r: (r[0], "xyz"["abcdef".index(r[0]) % 3], *r[2:]))
    else:
        row = st.tuples(*columns)
    quasi = st.tuples(st.sampled_from(["1", "2", "3", ""]), st.sampled_from(["u", "v"]))
    return draw(st.lists(st.tuples(quasi, row), min_size=1, max_size=40))


def write(path: Path, rows) -> list[str]:
    names = [f"s{number}" for number in range(len(rows[0][1]))]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "age", "sex", *names, "note"])
        for number, (quasi, sensitive) in enumerate(rows):
            writer.writerow([f"person {number}", *quasi, *sensitive, f"note {number % 3}"])
    return names


def attributes_for(names: list[str]) -> dict:
    return {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier"},
        **{name: {"role": "sensitive"} for name in names},
        "note": {"role": "insensitive", "allow_identifying": True},
    }


def permissible(rows, place: int) -> int:
    return len(rows) // max(Counter(sensitive[place] for _, sensitive in rows).values())


@given(rows=tables(), data=st.data(), seed=st.integers(0, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_set_is_full_and_no_value_can_be_struck_out(rows, data, seed):
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        names = write(source, rows)
        most = [permissible(rows, number) for number in range(len(names))]
        ell = {name: data.draw(st.integers(1, most[i])) for i, name in enumerate(names)}
        chosen = {name: ell[name] for name in data.draw(st.sets(st.sampled_from(names)))}
        chosen |= {name: 1 for i, name in enumerate(names) if most[i] == 1}  # never a default
        conditional = data.draw(st.sampled_from([None, None, "pair", "row"]))
        method: dict = {"l": chosen, "prefer": data.draw(st.sampled_from([None, "nearby"]))}
        if conditional:
            method["conditional_l"] = {"l": 2, "reader": conditional}
        else:
            method["noise"] = data.draw(st.sampled_from(["supported", "linkable"]))
        job = dc.Job(attributes=attributes_for(names), method={"decomposition": method})
        try:
            make_release(source, job, seed=seed).save(place, **UNATTACKED)
        except dc.InfeasibleError as error:
            if method.get("noise") == "linkable":
                assert "Use 'noise: supported'." in str(error)
            else:
                assert "merging" in str(error) or "conditional_l" in str(error)
            assert not place.exists()
            assume(False)
        assert dc.audit(place).ok

        manifest = naive.read_manifest(place)
        primary = manifest["method"]["primary"]
        assert most[names.index(primary)] == max(most)
        wanted = manifest["method"]["l"]
        expected = {name: chosen.get(name, most[i]) for i, name in enumerate(names)}
        assert wanted == expected
        people = naive.read_csv(place / "groups.csv")
        assert Counter((p["age"], p["sex"], p["note"]) for p in people) == Counter(
            (*quasi, f"note {i % 3}") for i, (quasi, _) in enumerate(rows)
        )
        sensitive = [tuple(r[n] for n in names) for r in naive.read_csv(place / "sensitive.csv")]
        assert Counter(sensitive) == Counter(row for _, row in rows)
        sets = naive.group_sets(place / "group_values.csv", names)
        size = Counter(p["group"] for p in people)
        assert set(sets) == set(size)
        for group, values in sets.items():
            assert size[group] >= wanted[primary]
            assert all(len(values[name]) >= wanted[name] for name in names)
        supported = naive.supported_rows(sets, sensitive, names)
        for group, values in sets.items():
            for number, name in enumerate(names):
                assert values[name] == {row[number] for row in supported[group]}
        private = json.loads(place.with_name(f"{place.name}.private.json").read_text())["method"]
        if not private["merged_groups"]:
            occurrences = Counter(v for values in sets.values() for v in values[primary])
            assert occurrences == Counter(row[names.index(primary)] for row in sensitive)
        own_values(rows, people, sets, names)
        noise = sum(len(v[n]) for v in sets.values() for n in names)
        assert private["noise_values"] <= noise
        if conditional:
            left = naive.left_to_reader(sets, sensitive, names, primary, conditional)
            assert min(left, default=2) >= 2


def own_values(rows, people, sets, names):
    """Somebody whose published quasi-identifiers are in one group only has a value of its set."""
    groups = defaultdict(set)
    for person in people:
        groups[person["age"], person["sex"], person["note"]].add(person["group"])
    for number, (quasi, sensitive) in enumerate(rows):
        found = groups[(*quasi, f"note {number % 3}")]
        if len(found) == 1:
            values = sets[next(iter(found))]
            assert all(v in values[name] for v, name in zip(sensitive, names, strict=True))


@given(rows=tables(), data=st.data(), seed=st.integers(0, 3))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_anatomy_groups_have_distinct_values(rows, data, seed):
    rows = [(quasi, sensitive[:1]) for quasi, sensitive in rows]
    most = permissible(rows, 0)
    ell = data.draw(st.integers(1, most))
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        write(source, rows)
        method = {"l": ell, "prefer": data.draw(st.sampled_from([None, "nearby"]))}
        job = dc.Job(attributes=attributes_for(["s0"]), method={"anatomy": method})
        make_release(source, job, seed=seed).save(place, **UNATTACKED)
        assert dc.audit(place).ok
        people = naive.read_csv(place / "quasi_identifiers.csv")
        values = naive.read_csv(place / "sensitive.csv")
        size = Counter(person["group"] for person in people)
        of_group = Counter(row["group"] for row in values)
        assert size == of_group  # each value once
        assert all(row["count"] == "1" for row in values)
        assert len({(row["group"], row["s0"]) for row in values}) == len(values)
        assert min(size.values()) >= ell
        assert Counter(row["s0"] for row in values) == Counter(s for _, (s,) in rows)


def test_anatomy_says_which_requirement_it_cannot_meet(tmp_path):
    source = tmp_path / "table.csv"
    write(source, [(("1", "u"), ("abc"[i % 3],)) for i in range(9)])
    asked = [{"t-closeness": {"t": 0.1}}]
    job = dc.Job(
        attributes=attributes_for(["s0"]), method={"anatomy": {"l": 2}}, requirements=asked
    )
    with pytest.raises(dc.InfeasibleError, match="t-closeness") as caught:
        make_release(source, job).save(tmp_path / "release", **UNATTACKED)
    assert caught.value.failures[0]["requirement"] == "t-closeness"
    assert "use mondrian" in str(caught.value)
    assert not (tmp_path / "release").exists()


def harmless_values(data, rows, names) -> dict[str, set[str]]:
    """Some values of each attribute that are no secret, the most frequent one more often."""
    found = {}
    for place, name in enumerate(names):
        counts = Counter(sensitive[place] for _, sensitive in rows)
        values = [v for v, _ in counts.most_common() if v not in ("", "007")]
        chosen = data.draw(st.sets(st.sampled_from([values[0]] * 3 + values))) if values else set()
        if chosen and data.draw(st.booleans()):
            found[name] = chosen
    return found


def with_harmless(attributes: dict, harmless: dict[str, set[str]]) -> dict:
    return {
        name: entry | ({"non_sensitive_values": sorted(harmless[name])} if name in harmless else {})
        for name, entry in attributes.items()
    }


@given(rows=tables(), data=st.data(), seed=st.integers(0, 3), ell=st.integers(2, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_list_with_a_sensitive_value_is_full(rows, data, seed, ell):
    """A list contains no sensitive value, or ℓ values; and rows of T^S support each of them."""
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        names = write(source, rows)
        harmless = harmless_values(data, rows, names)
        method = {
            "beyond_permissible": True,
            "prefer": data.draw(st.sampled_from([None, "nearby"])),
            "insider": data.draw(st.booleans()),
        }
        job = dc.Job(
            attributes=with_harmless(attributes_for(names), harmless),
            requirements=[{"distinct-l-diversity": {"l": ell}}],
            method={"decomposition": method},
        )
        try:
            make_release(source, job, seed=seed).save(place, **UNATTACKED)
        except dc.InfeasibleError as error:
            assert re.search("merging|l_per|values in all", str(error))
            assert not place.exists()
            assume(False)
        assert dc.audit(place).ok
        people = naive.read_csv(place / "groups.csv")
        assert len(people) == len(rows)
        sensitive = [tuple(r[n] for n in names) for r in naive.read_csv(place / "sensitive.csv")]
        assert Counter(sensitive) == Counter(row for _, row in rows)
        sets = naive.group_sets(place / "group_values.csv", names)
        supported = naive.supported_rows(sets, sensitive, names)
        for group, values in sets.items():
            for number, name in enumerate(names):
                assert len(values[name]) >= ell or values[name] <= harmless.get(name, set())
                assert values[name] == {row[number] for row in supported[group]}
        own_values(rows, people, sets, names)


@given(rows=tables(), data=st.data(), seed=st.integers(0, 3))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_anatomy_keeps_the_shares_of_sensitive_values(rows, data, seed):
    rows = [(quasi, sensitive[:1]) for quasi, sensitive in rows]
    harmless = harmless_values(data, rows, ["s0"]).get("s0", set())
    counts = Counter(s for _, (s,) in rows)
    most = max((n for value, n in counts.items() if value not in harmless), default=1)
    ell = data.draw(st.integers(1, len(rows) // most + 1))
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        write(source, rows)
        method = {"l": ell, "prefer": data.draw(st.sampled_from([None, "nearby"]))}
        attributes = with_harmless(attributes_for(["s0"]), {"s0": harmless} if harmless else {})
        job = dc.Job(attributes=attributes, method={"anatomy": method})
        if ell * most > len(rows):
            with pytest.raises(dc.InfeasibleError):
                make_release(source, job, seed=seed).save(place, **UNATTACKED)
            return
        make_release(source, job, seed=seed).save(place, **UNATTACKED)
        assert dc.audit(place).ok
        size, shares = Counter(), defaultdict(list)
        for row in naive.read_csv(place / "sensitive.csv"):
            size[row["group"]] += int(row["count"])
            if row["s0"] not in harmless:
                shares[row["group"]].append(int(row["count"]))
        assert sum(size.values()) == len(rows)
        assert all(n * ell <= size[group] for group, own in shares.items() for n in own)
