"""What quasi-sensitive and mondrian publish keeps its promise, derived from files and table."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import knowledge_tables as plain
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

TERMS = ["husten", "fièvre", 'a, "b"', "d", "e", "unknown"]
LABELS = ["flu", "cold", "gout", "ünknown"]
SETS = st.sets(st.sampled_from(TERMS), max_size=4).map(sorted)
TABLES = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", ""]),
        st.sampled_from(["1", "2", "3", "9"]),
        SETS,
        st.sampled_from(["s", "t", "u"]),
    ),
    min_size=1,
    max_size=25,
)
KNOWLEDGE = st.fixed_dictionaries(
    {label: st.frozensets(st.sampled_from(TERMS[:-1]), max_size=4) for label in LABELS}
).filter(lambda table: any(table.values()))
REQUIREMENTS = st.one_of(
    st.builds(
        lambda c, ell, w: {"qs-cl-diversity": {"c": c, "l": ell, "weights": w}},
        st.sampled_from([0.5, 1, 2, 3]),
        st.integers(1, 3),
        st.sampled_from(["equal", "prior"]),
    ),
    st.builds(
        lambda t, d, w: {"qs-t-closeness": {"t": t, "distance": d, "weights": w}},
        st.sampled_from([0.1, 0.25, 0.4, 0.7]),
        st.sampled_from(["l1", "l2"]),
        st.sampled_from(["equal", "prior"]),
    ),
)
METHODS = st.sampled_from(
    [{"quasi-sensitive": one} for one in (
        {}, {"search": "exact"}, {"search": "paper", "order": "plain", "nodes": 20},
        {"nodes": 0}, {"seconds": 0.01})
    ] + [{"mondrian": {}}, {"mondrian": {"cuts": "relaxed"}}]
)  # fmt: skip


def write(folder: Path, rows, table, weights) -> None:
    with (folder / "table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "q", "n", "symptoms", "s"])
        for number, (q, n, terms, s) in enumerate(rows):
            writer.writerow([f"person {number}", q, n, "|".join(terms), s])
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "terms", "weight"])
        for label, terms in table.items():
            writer.writerow([label, "|".join(sorted(terms)), weights[label]])


def job_for(folder: Path, requirements, method, given: bool) -> dc.Job:
    knowledge = {
        "path": str(folder / "labels.csv"),
        "label": "label",
        "term": "terms",
        "separator": "|",
        **({"weight": "weight"} if given else {}),
    }
    return dc.Job(
        attributes={
            "name": {"role": "identifier"},
            "q": {"role": "quasi-identifier"},
            "n": {"role": "quasi-identifier", "type": "integer"},
            "symptoms": {
                "role": "quasi-sensitive",
                "multi_valued": "|",
                "knowledge": knowledge,
            },
            "s": {"role": "sensitive"},
        },
        requirements=requirements,
        method=method or "quasi-sensitive",
    )


def terms_in(cell: str) -> list[str]:
    return [] if cell in ("", "*") else cell.split("|")


@given(
    rows=TABLES,
    table=KNOWLEDGE,
    weights=st.fixed_dictionaries({label: st.integers(1, 4) for label in LABELS}),
    given_prior=st.booleans(),
    k=st.integers(1, 3),
    distinct=st.sampled_from([None, 2]),
    requirement=REQUIREMENTS,
    method=METHODS,
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_group_passes_and_no_term_is_added(
    rows, table, weights, given_prior, k, distinct, requirement, method
):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows, table, weights)
        others = [] if distinct is None else [{"distinct-l-diversity": {"l": distinct}}]
        job = job_for(
            folder, [{"k-anonymity": {"k": k}}, *others, requirement], method, given_prior
        )
        try:
            make_release(folder / "table.csv", job, seed=1).save(folder / "release", **UNATTACKED)
        except dc.InfeasibleError as error:
            assert error.failures
            assert not (folder / "release").exists()
            assume(False)
        published = naive.read_csv(folder / "release" / "records.csv")
        manifest = naive.read_manifest(folder / "release")
        private = json.loads((folder / "release.private.json").read_text(encoding="utf-8"))
        assert str(folder) not in (folder / "release" / "manifest.json").read_text()
        assert str(folder) not in (folder / "release" / "report.html").read_text()

        sets = [terms for _, _, terms, _ in rows]
        total = sum(weights.values())
        prior = (
            {label: Fraction(weights[label], total) for label in table}
            if given_prior
            else plain.estimated(table, sets)
        )
        groups = naive.classes(published, ["q", "n"])
        assert naive.k_of(groups) >= k
        if distinct:
            assert naive.distinct_of(groups, "s") >= distinct
        ((kind, asked),) = requirement.items()
        for group in groups:
            cells = [terms_in(row["symptoms"]) for row in group]
            found = plain.belief(table, cells, prior if asked["weights"] == "prior" else None)
            check(kind, asked, found, prior)
        if "mondrian" in method:
            assert Counter(row["symptoms"] for row in published) == Counter(
                "|".join(terms) for terms in sets
            )
        else:
            check_terms(rows, published, manifest, private)


def check(kind, asked, found, prior) -> None:
    slack = Fraction(1, 10**6)
    if kind == "qs-cl-diversity":
        assert plain.diverse(found, Fraction(str(asked["c"])) + slack, asked["l"])
    else:
        assert plain.close(found, prior, Fraction(str(asked["t"])) + slack, asked["distance"])


def check_terms(rows, published, manifest, private) -> None:
    before = Counter(term for _, _, terms, _ in rows for term in terms)
    after = Counter(term for row in published for term in terms_in(row["symptoms"]))
    assert not after - before
    if not manifest["suppressed_rows"]:
        removed = before.total() - after.total()
        assert private["method"]["suppressed_terms"] == removed
        assert private["utility"]["terms"]["symptoms"]["suppressed_terms"] == removed
    # an empty cell never had a term; a star always had one
    empty = sum(not terms for _, _, terms, _ in rows)
    assert sum(row["symptoms"] == "" for row in published) <= empty
    assert 0 <= private["method"]["cost"] <= 1


def test_the_audit_says_what_it_cannot_derive(tmp_path):
    rows = [("x", "1", ["d"], "s"), ("x", "1", ["e"], "t"), ("y", "2", ["d"], "s")] * 2
    table = {"flu": {"d", "e"}, "cold": {"d"}, "gout": {"e"}, "ünknown": set()}
    write(tmp_path, rows, table, dict.fromkeys(table, 1))
    requirements = [{"k-anonymity": {"k": 2}}, {"qs-cl-diversity": {"c": 3, "l": 2}},
                    {"qs-t-closeness": {"t": 0.6}}]  # fmt: skip
    place = tmp_path / "release"
    for given_prior, proved in ((False, [True, True, False]), (True, [True, True, True])):
        job = job_for(tmp_path, requirements, {}, given_prior)
        make_release(tmp_path / "table.csv", job, seed=1).save(place, force=True, **UNATTACKED)
        bare = dc.audit(place)
        assert [p.unproved is None for p in bare.promises] == [True, False, False]
        assert [p.holds for p in bare.promises] == [True, False, False]
        assert bare.ok  # nothing fails
        with_table = dc.audit(place, knowledge=tmp_path / "labels.csv")
        assert [p.holds for p in with_table.promises] == proved
        assert with_table.ok
        assert len(with_table.unproved) == proved.count(False)
        job.__pydantic_private__["_folder"] = tmp_path
        source = job.model_copy(update={"source": dc.Source(path=Path("table.csv"))})
        assert dc.audit(place, original=source).ok


def test_another_knowledge_table_is_noticed(tmp_path):
    rows = [("x", "1", ["d"], "s"), ("x", "1", ["e"], "t")]
    table = {"flu": {"d", "e"}, "cold": {"d"}, "gout": {"e"}, "ünknown": set()}
    write(tmp_path, rows, table, dict.fromkeys(table, 1))
    job = job_for(tmp_path, [{"qs-cl-diversity": {"c": 3, "l": 2}}], {}, False)
    make_release(tmp_path / "table.csv", job, seed=1).save(tmp_path / "release", **UNATTACKED)
    write(tmp_path, rows, {**table, "ünknown": {"d"}}, dict.fromkeys(table, 1))
    found = dc.audit(tmp_path / "release", knowledge={"symptoms": tmp_path / "labels.csv"})
    assert not found.ok
    assert "not the one" in found.problems[0]
    with pytest.raises(dc.InputError, match="no knowledge table for 'q'"):
        dc.audit(tmp_path / "release", knowledge={"q": tmp_path / "labels.csv"})
