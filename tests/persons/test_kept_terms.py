"""Quasi-sensitive terms of persons with several rows: labels that fit a person, or a row."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.knowledge_tables import belief, close, diverse, estimated
from tests.saving import UNATTACKED

import discreet as dc

TABLE = {
    "flu": frozenset("ab"),
    "cold": frozenset("ac"),
    "gout": frozenset("cd"),
    "rest": frozenset("abcd"),
}
ASKED: list[dict[str, Any]] = [
    {"qs-cl-diversity": {"c": 1.5, "l": 2}},
    {"qs-t-closeness": {"t": 0.4}},
    {"qs-t-closeness": {"t": 0.5, "distance": "l1"}},
]


def job(folder: Path, requirements: list[dict[str, Any]]) -> dc.Job:
    lines = [f"{label},{term}" for label, terms in TABLE.items() for term in sorted(terms)]
    (folder / "e.csv").write_text("\n".join(["l,t", *lines]) + "\n")
    return dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "q": {"role": "quasi-identifier", "type": "integer"},
            "s": {
                "role": "quasi-sensitive",
                "multi_valued": "|",
                "knowledge": {"path": str(folder / "e.csv"), "label": "l", "term": "t"},
            },
        },
        person={"column": "id", "rows": "keep"},
        requirements=requirements,
        method="quasi-sensitive",
    )


def terms(cell: str | None) -> set[str]:
    return set() if cell in (None, "*") else set(str(cell).split("|"))


def kept(requirement: dict[str, Any], units: list[set[str]], prior: Any) -> bool:
    ((name, asked),) = requirement.items()
    found = belief(TABLE, units, None)
    slack = Fraction(1, 10**6)
    if name == "qs-cl-diversity":
        return diverse(found, Fraction(asked["c"]) + slack, asked["l"])
    return close(found, prior, Fraction(str(asked["t"])) + slack, asked.get("distance", "l2"))


ROWS = st.lists(
    st.tuples(
        st.sampled_from("pqrstuvw"),
        st.integers(1, 4).map(str),
        st.sets(st.sampled_from("abcde"), max_size=3).map(lambda t: "|".join(sorted(t)) or None),
    ),
    min_size=1,
    max_size=30,
)


@settings(deadline=None, max_examples=80)
@given(ROWS, st.lists(st.sampled_from(ASKED), min_size=1, max_size=2), st.sampled_from([1, 2]))
def test_persons_and_rows_of_every_group_keep_what_is_guaranteed(
    rows: list[Any], requirements: list[dict[str, Any]], k: int
):
    frame = pl.DataFrame(
        rows, schema={"id": pl.String, "q": pl.String, "s": pl.String}, orient="row"
    )
    with tempfile.TemporaryDirectory() as folder:
        described = job(Path(folder), [*requirements, {"k-anonymity": {"k": k}}])
        try:
            release = dc.publish(frame, described)
        except dc.InfeasibleError:
            return
    source = release.formed.source_rows()["records"]  # type: ignore[attr-defined]
    prior = estimated(TABLE, [terms(cell) for _, _, cell in rows])
    groups: dict[Any, dict[str, list[set[str]]]] = defaultdict(lambda: defaultdict(list))
    for row, (cells, shown) in zip(source, release.tables["records"].rows(), strict=True):
        person, _, own = rows[row]
        assert terms(shown) <= terms(own)
        assert (shown is None) is (own is None)
        groups[cells][person].append(terms(shown))
    assert sum(len(group) for group in groups.values()) == len({rows[row][0] for row in source})
    for group in groups.values():
        assert len(group) >= k
        for requirement in requirements:
            assert kept(requirement, [set().union(*own) for own in group.values()], prior)
            assert kept(requirement, [one for own in group.values() for one in own], prior)


def test_the_union_of_harmless_rows_may_give_a_label_away(tmp_path: Path):
    """Each row of p fits two labels or more; together they fit flu and rest, then rest alone."""
    rows = [("p", "1", "a"), ("p", "1", "b"), ("p", "1", "d"), ("q", "1", "a"), ("q", "1", "b")]
    frame = pl.DataFrame(rows, schema=["id", "q", "s"], orient="row")
    frame.write_csv(tmp_path / "rows.csv")
    asked = [{"qs-cl-diversity": {"c": 1, "l": 2}}]
    described = job(tmp_path, asked).model_copy(
        update={"source": dc.Source(path=tmp_path / "rows.csv")}
    )
    release = dc.publish(None, described)
    assert release.private["method"]["suppressed_terms"] > 0
    by_row = dc.publish(
        frame.drop("id"),
        described.model_copy(
            update={
                "person": None,
                "source": None,
                "attributes": {n: a for n, a in described.attributes.items() if n != "id"},
            }
        ),
    )
    assert by_row.private["method"]["suppressed_terms"] == 0
    folder = release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(folder).unproved
    proved = dc.audit(folder, original=described)
    assert proved.ok and not proved.unproved


def test_mondrian_judges_no_terms_of_persons(tmp_path: Path):
    frame = pl.DataFrame([("p", "1", "a"), ("p", "1", "b")], schema=["id", "q", "s"], orient="row")
    described = job(tmp_path, ASKED[:1]).using(dc.Mondrian())
    with pytest.raises(dc.JobError, match="several rows is met by quasi-sensitive, not by"):
        dc.publish(frame, described)
