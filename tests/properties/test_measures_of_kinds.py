"""Every kind of release: p2 written out value by value, and all measures computed from that."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.api.compare import Original
from discreet.releases.measure import read_utility
from discreet.utility.comparison import Point, mark_dominated
from discreet.utility.divergence import beliefs_in
from discreet.utility.implied import QueryBatch
from discreet.utility.queries import QueryWorkload

NAMES = ("q", "r", "s", "t")
TREE = {"ab": "ab", "cd": "cd"}
METHODS = {
    "full-domain": ({"full-domain": {"suppression": 0.4}}, [{"k-anonymity": {"k": 2}}], "st"),
    "mondrian": ("mondrian", [{"k-anonymity": {"k": 2}}], "st"),
    "li-ye": ({"li-ye": {"alpha_qi": 2, "alpha_sa": 2}}, [], "st"),
    "msa-diversity": (
        {"msa-diversity": {"suppression": 0.5}}, [{"p-diversity": {"l": 1.5}}], "st",
    ),
    "msa buckets": (
        {"msa-diversity": {"suppression": 0.5, "publish": "buckets"}},
        [{"p-diversity": {"l": 1.5}}], "st",
    ),
    "anatomy": ("anatomy", [], "s"),
    "m-invariance": ("m-invariance", [], "s"),
    "generalized m-invariance": ({"m-invariance": {"publish": "generalized"}}, [], "s"),
    "decomposition": ("decomposition", [], "st"),
    "codip": ({"codip": {"plan": "given", "tables": [["s"], ["t"]], "recoding": "full-domain"}},
              [{"k-anonymity": {"k": 2}}], "st"),
}  # fmt: skip
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcd"), st.integers(0, 4), st.sampled_from("xyz"), st.sampled_from("uvw")
    ),
    min_size=4,
    max_size=14,
)


def published(rows, name):
    """The release of a method, or None where it cannot be."""
    method, requirements, sensitive = METHODS[name]
    frame = pl.DataFrame(rows, schema=list(NAMES), orient="row")
    tree = {"tree": {label: list(members) for label, members in TREE.items()}}
    job = dc.Job(
        attributes={
            "q": {"role": "quasi-identifier", "hierarchy": tree},
            "r": {"role": "quasi-identifier", "hierarchy": {"intervals": [2, "*"]}},
            **{n: {"role": "sensitive" if n in sensitive else "drop"} for n in "st"},
        },
        requirements=requirements,
        method=method,
    )
    try:
        original = Original.read(job, frame)
        return original.release(original.job, 0, None, lambda *_: None)
    except dc.PromiseError:
        return None


def covered(cell, domain):
    """The values that a cell covers, read without the product's parser."""
    if cell == "*":
        return set(domain)
    if str(cell).startswith("["):
        low, high = str(cell)[1:-1].split(", ")
        last = int(high) if str(cell).endswith("]") else int(high) - 1
        return {v for v in domain if int(low) <= int(v) <= last}
    if str(cell).startswith("{"):
        return {v for v in domain if str(v) in str(cell)[1:-1].split(", ")}
    return (
        {v for v in domain if str(v) in TREE.get(cell, cell)}
        if cell in TREE
        else {v for v in domain if str(v) == str(cell)}
    )


def spread(frame, names, domains, suppressed=0):
    """Rows laid evenly over what their cells cover."""
    whole = math.prod(len(domains[n]) for n in names)
    p2 = dict.fromkeys(product(*(domains[n] for n in names)), suppressed / whole)
    for row in frame.rows(named=True):
        parts = [covered(row[n], domains[n]) for n in names]
        for point in product(*parts):
            p2[point] += 1 / math.prod(map(len, parts))
    return p2


def marginal(p2, names, wanted):
    """The masses of some attributes."""
    found: dict = defaultdict(float)
    places = [names.index(n) for n in wanted]
    for point, mass in p2.items():
        found[tuple(point[i] for i in places)] += mass
    return found


def bucket_mass(release, names, domains):
    """Everybody with each of the group's rows, by count; suppressed rows evenly."""
    sensitive = release.tables["sensitive"].rows(named=True)
    held: dict = defaultdict(list)
    for row in sensitive:
        held[row["group"]] += [tuple(row[n] for n in names[2:])] * row.get("count", 1)
    suppressed = release.manifest.suppressed_rows
    whole = math.prod(len(domains[n]) for n in names)
    p2 = dict.fromkeys(product(*(domains[n] for n in names)), suppressed / whole)
    for person in release.tables["quasi_identifiers"].rows(named=True):
        rows = held[person["group"]]
        cells = list(product(*(covered(person[n], domains[n]) for n in "qr")))
        for cell, values in product(cells, rows):
            p2[(*cell, *values)] += 1 / (len(rows) * len(cells))
    return p2


def raked_mass(release, names):
    """Rows of T^S fitted in turn to (group, primary value) and to their own counts."""
    rows = Counter(release.tables["sensitive"].select(names[2:]).rows())
    people = defaultdict(list)
    for person in release.tables["groups"].rows(named=True):
        people[person["group"]].append((person["q"], str(person["r"])))
    sets: dict = defaultdict(lambda: defaultdict(set))
    for row in release.tables["group_values"].rows(named=True):
        sets[row["group"]][row["attribute"]].add(row["value"])
    primary = names[2:].index(release.manifest.method.primary)
    mass, cell, target = {}, {}, {}
    for group, own in sets.items():
        single = len(own[names[2 + primary]]) == len(people[group])
        for row, count in rows.items():
            if all(value in own[n] for n, value in zip(names[2:], row, strict=True)):
                mass[group, row] = float(count)
                cell[group, row] = (group, row[primary] if single else None)
                target[cell[group, row]] = 1 if single else len(people[group])
    for _ in range(200):
        for of, wanted in ((lambda key: cell[key], target), (lambda key: key[1], rows)):
            total: dict = defaultdict(float)
            for key, one in mass.items():
                total[of(key)] += one
            mass = {key: one * wanted[of(key)] / total[of(key)] for key, one in mass.items()}
    total = defaultdict(float)
    for key, one in mass.items():
        total[cell[key]] += one
    p2: dict = defaultdict(float)
    for (group, row), one in mass.items():
        one *= target[cell[group, row]] / total[cell[group, row]]
        for person in people[group]:
            p2[(*person, *row)] += one / len(people[group])
    return p2


class Naive:
    """p2 of a release, one mass for each combination of values."""

    def __init__(self, release, measures, rows, names):
        self.names = names
        self.domains = {n: sorted({str(row[NAMES.index(n)]) for row in rows}) for n in names}
        kind = release.manifest.kind
        self.tables = None
        if kind == "generalized":
            suppressed = release.manifest.suppressed_rows
            self.p2 = spread(release.tables["records"], names, self.domains, suppressed)
        elif kind in ("bucketized", "generalized-buckets"):
            self.p2 = bucket_mass(release, names, self.domains)
        elif kind == "decomposed":
            self.p2 = raked_mass(release, names)
        else:
            self.tables = {}
            for frame in release.tables.values():
                (own,) = [n for n in names[2:] if n in frame.columns]
                self.tables[own] = spread(frame, ["q", "r", own], self.domains)
            by_loss = {m.loss: t for t, m in reversed(measures.tables.items())}
            base = release.tables[by_loss[min(by_loss)]]
            (self.base,) = [n for n in names[2:] if n in base.columns]
            self.p2 = self._joined()

    def _joined(self):
        """p_b(q, s_b) · p_u(s_u | q), by the whole table where q is in no class of u."""
        (other,) = [n for n in self.names[2:] if n != self.base]
        given = marginal(self.tables[other], ["q", "r", other], ["q", "r"])
        alone = marginal(self.tables[other], ["q", "r", other], [other])
        rows = sum(alone.values())
        p2 = {}
        for (q, r, b), mass in self.tables[self.base].items():
            for u in self.domains[other]:
                share = alone[u,] / rows
                if given[q, r] > 0:
                    share = self.tables[other][q, r, u] / given[q, r]
                values = {self.base: b, other: u}
                p2[(q, r, *(values[n] for n in self.names[2:]))] = mass * share
        return p2

    def of(self, wanted):
        """The masses of some attributes; of one table where that has them all."""
        hidden = [n for n in wanted if n in self.names[2:]]
        if self.tables is not None and len(hidden) == 1:
            return marginal(self.tables[hidden[0]], ["q", "r", hidden[0]], wanted)
        return marginal(self.p2, list(self.names), wanted)


def information(table):
    total = sum(table.values())
    first, second = (marginal(table, [0, 1], [i]) for i in (0, 1))
    return sum(
        m / total * math.log(m * total / (first[a,] * second[b,]))
        for (a, b), m in table.items() if m > 0
    )  # fmt: skip


def away(original, release):
    total = sum(original.values())
    return sum(c / total * math.log(c / release[key]) for key, c in original.items())


def compared(naive, points):
    """D and both associations, from two-way tables written out."""
    hidden = naive.names[2:]
    found = {True: [], False: []}
    for pair in [*product(["q", "r"], hidden), *combinations(hidden, 2)]:
        places = [naive.names.index(n) for n in pair]
        p1 = Counter(tuple(point[i] for i in places) for point in points)
        p2 = naive.of(list(pair))
        figures = information(p1), information(p2), away(p1, p2)
        found[pair[0] in "qr"].append(figures)
    every = [*found[True], *found[False]]
    linked = sum(i for i, _, _ in every)
    lost = {
        mixed: sum(abs(i - j) for i, j, _ in part) / sum(i for i, _, _ in part)
        if sum(i for i, _, _ in part) > 1e-9 else None
        for mixed, part in found.items()
    }  # fmt: skip
    ratio = sum(a for _, _, a in every) / linked if linked > 1e-9 else None
    return ratio, lost[True], lost[False]


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, data=st.data())
def test_measures_equal_those_of_p2_written_out(name, rows, data):
    release = published(rows, name)
    assume(release is not None)
    names = ("q", "r", *METHODS[name][2])
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    measures = reading.measured(QueryWorkload(queries=20), seed=1)
    naive = Naive(release, measures, rows, names)
    close = {"rel": 1e-3, "abs": 1e-4} if name == "decomposition" else {"rel": 1e-6, "abs": 1e-9}
    points = [tuple(str(row[NAMES.index(n)]) for n in names) for row in rows]
    assert sum(naive.p2.values()) == pytest.approx(len(rows), **close)

    assert measures.kl_divergence == pytest.approx(away(Counter(points), naive.of(names)), **close)
    ratio, mixed, between = compared(naive, points)
    found = measures.divergence.release
    assert found.ratio == (None if ratio is None else pytest.approx(ratio, **close))
    assert found.association == (None if mixed is None else pytest.approx(mixed, **close))
    if release.manifest.kind != "projected":  # there it is Γα, as the next test says
        expected = None if between is None else pytest.approx(between, **close)
        assert found.association_sensitive == expected

    for attribute in names[2:]:
        place = names.index(attribute)
        both = naive.of(["q", "r", attribute])
        known = marginal(both, ["q", "r", attribute], ["q", "r"])
        expected = [both[(*p[:2], p[place])] / known[p[:2]] for p in points]
        belief = beliefs_in(reading.original, reading.implied, attribute)
        assert belief == pytest.approx(np.array(expected), **close)

    asked = data.draw(st.sampled_from([("q", "s"), ("r", "s"), ("s",), ("q", "r"), names]))
    wanted = {n: data.draw(st.sets(st.sampled_from(naive.domains[n]), min_size=1)) for n in asked}
    members = {
        n: np.array([[v in values] for v in reading.original[n].text.to_list()])
        for n, values in wanted.items()
    }
    estimate = reading.implied.estimate(QueryBatch(np.array([0]), members))[0]
    if any(n in names[2:] for n in asked) or naive.tables is None:
        expected = sum(
            mass for point, mass in naive.of(list(asked)).items()
            if all(v in wanted[n] for n, v in zip(asked, point, strict=True))
        )  # fmt: skip
        assert estimate == pytest.approx(expected, **close)


@pytest.mark.parametrize("name", METHODS)
def test_drawn_tables_are_distributed_as_p2(name):
    rng = np.random.default_rng(3)
    rows = [
        (q, int(rng.integers(5)), "xyz"[int(rng.integers(3))], "uvw"[int(rng.integers(3))])
        for q in "abcdabcdabcd"
    ]
    release = published(rows, name)
    assert release is not None
    names = ("q", "r", *METHODS[name][2])
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    naive = Naive(release, reading.measures, rows, names)
    times = 3000
    count: Counter = Counter()
    text = {n: reading.original[n].text.to_list() for n in names}
    for _ in range(times):
        drawn = reading.implied.draw(rng)
        count.update(zip(*([text[n][c] for c in drawn[n]] for n in names), strict=True))
    assert sum(count.values()) == times * len(rows)
    for point, mass in naive.p2.items():
        # 5 standard deviations of people who are drawn apart from each other, at the most
        assert count[point] / times == pytest.approx(mass, abs=5 * math.sqrt(mass / times) + 2e-3)
    assert set(count) <= {point for point, mass in naive.p2.items() if mass > 0}


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.sampled_from([0.1, 0.5, 1.0])),
        max_size=8,
    )
)
def test_a_point_is_dominated_where_another_is_no_worse_and_somewhere_better(figures):
    points = [
        Point(str(i), "m", {}, divergence_ratio=d, belief_99=b) for i, (d, b) in enumerate(figures)
    ]
    unlinked = Point("unlinked", "m", {}, divergence_ratio=1.0, belief_99=0.4)
    everything = [*figures, (1.0, 0.4)]
    for point, (d, b) in zip(mark_dominated(points, unlinked), figures, strict=True):
        better = [(x, y) for x, y in everything if x <= d and y <= b and (x, y) != (d, b)]
        assert point.dominated == bool(better)
