"""Queries on terms: estimates against those worked out row by row from the published file."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release
from discreet.releases.measure import read_utility
from discreet.utility.implied import ImpliedUnlinked, exact
from discreet.utility.queries import QueryWorkload, sides_of

NAMES = ("q", "n", "s", "symptoms", "habits")
PLAIN, MULTI = NAMES[:3], NAMES[3:]
TERMS = {"symptoms": ["ache", "cough", "fever", "rash"], "habits": ["run", "sing", "smoke"]}
LABELS = ("flu", "cold", "gout")
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from("12345"),
        st.sampled_from("xyz"),
        *(st.sets(st.sampled_from(TERMS[name]), max_size=3).map(sorted) for name in MULTI),
    ),
    min_size=6,
    max_size=20,
)
KNOWLEDGE = st.tuples(
    *(
        st.fixed_dictionaries(
            {
                label: st.sets(st.sampled_from(TERMS[name]), min_size=1, max_size=2)
                for label in LABELS
            }
        )
        for name in MULTI
    )
)


def release_of(rows, tables, requirement, folder):
    """A release of the rows, saved to a folder, or None where it cannot be."""
    attributes = {
        "q": {"role": "quasi-identifier"},
        "n": {"role": "quasi-identifier", "type": "integer"},
        "s": {"role": "sensitive"},
    }
    for name, table in zip(MULTI, tables, strict=True):
        lines = [f"{label},{'|'.join(sorted(terms))}" for label, terms in table.items()]
        path = folder / f"{name}.csv"
        path.write_text("\n".join(["label,terms", *lines]))
        knowledge = {"path": str(path), "label": "label", "term": "terms", "separator": "|"}
        attributes[name] = {
            "role": "quasi-sensitive", "multi_valued": "|", "knowledge": knowledge,
        }  # fmt: skip
    frame = pl.DataFrame(
        [(*row[:3], *("|".join(terms) or None for terms in row[3:])) for row in rows],
        schema=dict.fromkeys(NAMES, pl.String),
        orient="row",
    )
    job = dc.Job(
        attributes=attributes,
        requirements=[{"k-anonymity": {"k": 2}}, requirement],
        method="quasi-sensitive",
    )
    try:
        release = make_release(frame, job, seed=1)
    except dc.InfeasibleError:
        return None
    release.save(folder / "release", **UNATTACKED)
    return release


def terms_in(cell):
    return set() if cell in ("", "*") else set(cell.split("|"))


def covered_share(cell, wanted, domain):
    """How much of the values that a cell covers a query asks for."""
    inside = [value for value in domain if naive.covers(cell, value)]
    return sum(value in wanted for value in inside) / len(inside)


class Reader:
    """What the published file says beside the original's domains, one query at a time."""

    def __init__(self, rows, folder):
        self.rows = rows
        self.published = naive.read_csv(folder / "release" / "records.csv")
        self.suppressed = len(rows) - len(self.published)
        self.domain = {n: sorted({row[i] for row in rows}) for i, n in enumerate(PLAIN)}
        self.terms = {n: set().union(*(row[NAMES.index(n)] for row in rows)) for n in MULTI}
        self.removed = {}
        for n in MULTI:
            before = sum(len(row[NAMES.index(n)]) for row in rows) / len(rows)
            after = sum(len(terms_in(row[n])) for row in self.published) / len(self.published)
            self.removed[n] = max(before - after, 0)

    def estimate(self, query):
        """Every published row by what it shows and hides, suppressed ones over the domain."""
        total = self.suppressed * math.prod(self.share(n, wanted) for n, wanted in query.items())
        for row in self.published:
            likely = 1.0
            for n, wanted in query.items():
                if n in PLAIN:
                    likely *= covered_share(row[n], wanted, self.domain[n])
                elif not terms_in(row[n]) & wanted:
                    others = 1 - len(wanted) / max(len(self.terms[n]), 1)
                    likely *= 1 - others ** self.removed[n]
            total += likely
        return total

    def share(self, n, wanted):
        """What a query asks for of an attribute's values, or of its different sets."""
        if n in PLAIN:
            return len(wanted) / len(self.domain[n])
        sets = {tuple(row[NAMES.index(n)]) for row in self.rows}
        return sum(bool(wanted & set(one)) for one in sets) / len(sets)

    def count(self, query):
        """The original's rows that answer."""
        return sum(
            all(
                row[NAMES.index(n)] in wanted if n in PLAIN else wanted & set(row[NAMES.index(n)])
                for n, wanted in query.items()
            )
            for row in self.rows
        )

    def queries(self, batch, original):
        """What each query of a batch asks for, by attribute."""
        text = {n: original[n].text.to_list() for n in batch.members}
        text |= {n: sorted(self.terms[n]) for n in batch.terms}
        asked = {**batch.members, **{n: terms.asked for n, terms in batch.terms.items()}}
        return [
            {
                n: {text[n][code] for code in np.flatnonzero(member[:, query])}
                for n, member in asked.items()
            }
            for query in range(len(batch.number))
        ]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=ROWS,
    tables=KNOWLEDGE,
    requirement=st.sampled_from(
        [{"qs-cl-diversity": {"c": 1, "l": 2}}, {"qs-cl-diversity": {"c": 0.5, "l": 2}},
         {"qs-t-closeness": {"t": 0.1}}, {"qs-t-closeness": {"t": 0.4}}]
    ),
    sides=st.sampled_from([(1, 1), (2, 1), (0, 1), (1, 2), (2, 3), (0, 3)]),
)  # fmt: skip
def test_estimates_equal_those_of_the_published_file(rows, tables, requirement, sides):
    with tempfile.TemporaryDirectory() as name:
        release = release_of(rows, tables, requirement, Path(name))
        assume(release is not None)
        reader = Reader(rows, Path(name))
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    original = reading.original
    columns = sides_of(original, sets=True)
    truth, unlinked = (
        exact([*columns[0], *columns[1]], len(rows)),
        ImpliedUnlinked(columns, len(rows)),
    )
    qd, m = sides
    workload = QueryWorkload(queries=30, quasi_identifiers=qd, sensitive=m, selectivity=0.2)
    for batch in workload.batches(original, np.random.default_rng(7), sets=True):
        found = [one.estimate(batch) for one in (reading.implied, truth, unlinked)]
        for number, query in enumerate(reader.queries(batch, original)):
            assert found[0][number] == pytest.approx(reader.estimate(query))
            assert found[1][number] == pytest.approx(reader.count(query))
            known = reader.count({n: wanted for n, wanted in query.items() if n in "qn"})
            hidden = reader.count({n: wanted for n, wanted in query.items() if n not in "qn"})
            assert found[2][number] == pytest.approx(known * hidden / len(rows))
